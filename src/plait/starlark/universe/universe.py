"""The universe: every name that a script knows without being given it, ``None``, ``len`` and ``print`` among them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from plait.starlark.comparison.hashing import LEAST, MOST
from plait.starlark.errors import EvalError, StepLimitExceeded
from plait.starlark.host.failures import PASSING, failure
from plait.starlark.native import native
from plait.starlark.text import to_repr, to_text
from plait.starlark.universe.attributes import MISSING, absence, find, names
from plait.starlark.universe.numbers import NUMBERS
from plait.starlark.universe.sequences import SEQUENCES
from plait.starlark.values import FALSE, TRUE, Bool, FrozenDict, FrozenList, Struct, type_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from plait.starlark.thread import Thread

__all__ = ["UNIVERSAL"]

_ABSENT: Final = object()


@native("dir", "x", positional=True, no_keywords="dir does not accept keyword arguments")
def _dir(thread: Thread, x: Any, /) -> list[str]:
    result = names(x)
    thread.charge(len(result))
    return result


@native("fail", "sep?", maximum=-1)
def _fail(thread: Thread, /, *args: Any, sep: Any = " ") -> None:
    raise EvalError(f"fail: {_joined(thread, 'fail', args, sep)}")


@native("getattr", "x", "name", "default?", positional=True)
def _getattr(_thread: Thread, x: Any, name: Any, default: Any = _ABSENT, /) -> Any:
    if type(x) is Struct and type(name) is str:
        value = x.fields.get(name, MISSING)
        if value is not MISSING:
            return value
    _check_name("getattr", name)
    try:
        value = find(x, name)
    except StepLimitExceeded:
        raise
    except EvalError as error:
        if default is _ABSENT:
            raise EvalError(f"getattr: {error.message}") from error
        return default
    if value is not MISSING:
        return value
    if default is _ABSENT:
        raise EvalError(f"getattr: {absence(x, name)}")
    return default


@native("hasattr", "x", "name", positional=True)
def _hasattr(_thread: Thread, x: Any, name: Any, /) -> Bool:
    if type(x) is Struct and type(name) is str:
        return TRUE if name in x.fields else FALSE
    _check_name("hasattr", name)
    try:
        found = find(x, name) is not MISSING
    except StepLimitExceeded:
        raise
    except EvalError:
        # It could be there and still fail to be computed.
        found = name in names(x)
    return TRUE if found else FALSE


def _check_name(builtin: str, name: Any) -> None:
    if type(name) is not str:
        raise EvalError(f"{builtin}: for parameter 2: got {type_name(name)}, want string")


@native("print", "sep?", maximum=-1)
def _print(thread: Thread, /, *args: Any, sep: Any = " ") -> None:
    text = _joined(thread, "print", args, sep)
    if thread.print is None:
        return
    try:
        thread.print(thread, text)
    except PASSING:
        raise
    except BaseException as error:
        raise failure("print", error) from error


def _joined(thread: Thread, name: str, args: tuple[Any, ...], sep: Any) -> str:
    if type(sep) is not str:
        raise EvalError(f'{name}: for parameter "sep": got {type_name(sep)}, want string')
    # A failure shows bytes as the literal they are, a print what they say.
    show = to_text if name == "print" else to_repr
    texts = []
    size = len(sep) * len(args)
    for x in args:
        text = x if type(x) is str else show(thread, x)
        size += len(text)
        texts.append(text)
    thread.charge(size // 16 + len(args))
    return sep.join(texts)


@native("repr", "x", positional=True)
def _repr(thread: Thread, x: Any, /) -> str:
    return to_repr(thread, x)


@native(
    "str",
    "x",
    positional=True,
    no_keywords="str does not accept keyword arguments",
    count="str: got {} arguments, want exactly 1",
)
def _str(thread: Thread, x: Any, /) -> str:
    kind = type(x)
    if kind is str:
        return x  # type: ignore[no-any-return]  # a string it is
    if kind is int and x < MOST and x > LEAST:
        return str(x)
    return to_text(thread, x)


_NAMES: Final[Mapping[type, str]] = {
    kind: type_name(value)
    for kind, value in (
        (type(None), None),
        (Bool, TRUE),
        (int, 0),
        (float, 0.0),
        (str, ""),
        (tuple, ()),
        (list, []),
        (dict, {}),
        (FrozenList, FrozenList()),
        (FrozenDict, FrozenDict()),
    )
}
"""The names of the types that most values have."""


@native(
    "type",
    "x",
    positional=True,
    no_keywords="type does not accept keyword arguments",
    count="type: got {} arguments, want exactly 1",
)
def _type(_thread: Thread, x: Any, /) -> str:
    name = _NAMES.get(type(x))
    return type_name(x) if name is None else name


UNIVERSAL: Final[dict[str, Any]] = {
    "None": None,
    "True": TRUE,
    "False": FALSE,
    **NUMBERS,
    **SEQUENCES,
    "dir": _dir,
    "fail": _fail,
    "getattr": _getattr,
    "hasattr": _hasattr,
    "print": _print,
    "repr": _repr,
    "str": _str,
    "type": _type,
}
"""Every universal name of go.starlark.net with its value."""
