"""The decorator ``@builtin``, which makes a builtin of Starlark out of a typed Python function."""

from __future__ import annotations

import functools
import inspect
import keyword
import typing
from collections.abc import Callable
from types import FunctionType, SimpleNamespace
from typing import Any, Final, NamedTuple, overload

from plait.starlark.errors import EvalError, StarlarkError
from plait.starlark.host.annotations import ANYTHING, Check, Refused, check_for
from plait.starlark.host.conversion import from_python
from plait.starlark.host.failures import PASSING, failure
from plait.starlark.thread import Thread
from plait.starlark.values import BUILTIN, FALSE, TRUE, BuiltinInfo, is_builtin

__all__ = ["builtin"]

_PREFIX: Final = "_plait_"
"""What the names begin with that the generated code uses for itself."""

_ABSENT: Final = object()

_KNOWN_NAMES: Final = {"Any": Any, "Callable": Callable}
"""What an annotation may say although its module imports it for type checkers only."""

_POSITIONAL_ONLY: Final = inspect.Parameter.POSITIONAL_ONLY
_KEYWORD_ONLY: Final = inspect.Parameter.KEYWORD_ONLY
_VAR_POSITIONAL: Final = inspect.Parameter.VAR_POSITIONAL
_VAR_KEYWORD: Final = inspect.Parameter.VAR_KEYWORD


@overload
def builtin(function: Callable[..., Any], /, *, name: str | None = None) -> Callable[..., Any]: ...


@overload
def builtin(*, name: str | None = None) -> Callable[[Callable[..., Any]], Callable[..., Any]]: ...


def builtin(function: Callable[..., Any] | None = None, /, *, name: str | None = None) -> Callable[..., Any]:
    """Make a builtin that scripts can call out of a typed Python function.

    Its parameters, defaults and checks come from the signature::

        @starlark.builtin
        def get(thread: Thread, url: str, *, headers: dict[str, str] | None = None) -> dict[str, Any]:
            ...

    - A first parameter that is annotated ``Thread`` or named ``thread`` receives the running thread.
    - The annotations decide what a script may pass: ``str``, ``int``, ``float`` (an int becomes a float), ``bool``
      (arrives as Python's), ``bytes``, ``list``, ``list[str]``, ``dict``, ``dict[str, int]``, ``tuple``, ``set``,
      ``None``, ``Callable`` (called as ``f(thread, …)``), a subclass of ``HostValue``, unions of these. ``Any``, or no
      annotation, passes the script's value as it is. Lists and dicts arrive as exact ``list`` and ``dict``: the
      script's own while it needs no conversion, else a copy.
    - The result becomes a script's value as by ``from_python``.
    - An exception becomes an ``EvalError`` with its text; ``StarlarkError``, ``plait.context``'s errors and
      ``KeyboardInterrupt`` pass as they are.

    Args:
        function: A function, a bound method, a ``functools.partial``, or an object with ``__call__``.
        name: What scripts and messages call it; by default the function's own name.

    Returns:
        A function to call as ``f(thread, *args, **kwargs)`` with values of a script, whose ``__wrapped__`` is the
        original; or a decorator, when only the name is given.

    Raises:
        TypeError: The signature has an annotation that says nothing about values of a script, or the function is a
            coroutine or generator function, or a builtin already.
    """
    if function is None:
        return functools.partial(builtin, name=name)
    original = _original(function)
    _check_function(function, original)
    called = name or getattr(function, "__name__", None) or original.__name__
    face = _Face(called, function, _parameters(called, function, original))
    made = _generated(face)
    functools.update_wrapper(made, function)
    made.__name__ = called
    setattr(made, BUILTIN, face.info())
    return made


class _Parameter(NamedTuple):
    """One parameter of the host's function, without the thread.

    Attributes:
        name: Its name.
        kind: One of ``inspect``'s kinds.
        default: Its default, ``inspect.Parameter.empty`` for none.
        check: What its annotation accepts.
    """

    name: str
    kind: Any
    default: Any
    check: Check

    @property
    def required(self) -> bool:
        return self.default is inspect.Parameter.empty and self.kind not in {_VAR_POSITIONAL, _VAR_KEYWORD}


class _Parameters(NamedTuple):
    """The parameters of the host's function, and the name of the one that receives the thread, if there is one."""

    listed: list[_Parameter]
    thread: str | None


def _original(function: Callable[..., Any]) -> Any:
    """Return the Python function behind partial objects, bound methods, callable objects and wrappers."""
    while True:
        if isinstance(function, functools.partial):
            function = function.func
        elif inspect.ismethod(function):
            function = function.__func__
        elif hasattr(function, "__wrapped__"):
            function = function.__wrapped__
        elif isinstance(function, FunctionType) or not isinstance(type(function).__call__, FunctionType):
            return function
        else:
            function = type(function).__call__


def _check_function(function: Callable[..., Any], original: Any) -> None:
    if is_builtin(function):
        raise TypeError(f"{function.__name__} is a Starlark builtin already")
    if isinstance(function, type) or not callable(function):
        raise TypeError(f"a Starlark builtin is made of a function, not of {function!r}")
    if (
        inspect.iscoroutinefunction(original)
        or inspect.isgeneratorfunction(original)
        or inspect.isasyncgenfunction(original)
    ):
        raise TypeError(f"{original.__name__} is a coroutine or a generator; a Starlark builtin returns its result")


def _parameters(called: str, function: Callable[..., Any], original: Any) -> _Parameters:
    found = list(inspect.signature(function).parameters.values())
    thread = found.pop(0).name if found and _takes_thread(found[0]) else None
    names = {**_KNOWN_NAMES, **getattr(original, "__globals__", {})}
    return _Parameters([_parameter(called, parameter, names) for parameter in found], thread)


def _takes_thread(parameter: inspect.Parameter) -> bool:
    if parameter.kind in {_KEYWORD_ONLY, _VAR_POSITIONAL, _VAR_KEYWORD}:
        return False
    said = parameter.annotation
    # A string need not be resolved for that, since the module may import the name for type checkers only.
    return parameter.name == "thread" or said is Thread or (isinstance(said, str) and said.split(".")[-1] == "Thread")


def _parameter(called: str, parameter: inspect.Parameter, names: dict[str, Any]) -> _Parameter:
    if parameter.name.startswith(_PREFIX) or keyword.iskeyword(parameter.name):
        raise TypeError(f"{called}: a parameter cannot be named {parameter.name}")
    try:
        check = _check_of(parameter, names)
    except (TypeError, NameError, SyntaxError, AttributeError) as error:
        raise TypeError(f"{called}: annotation of parameter {parameter.name}: {error}") from error
    return _Parameter(parameter.name, parameter.kind, parameter.default, check)


def _check_of(parameter: inspect.Parameter, names: dict[str, Any]) -> Check:
    if parameter.annotation is inspect.Parameter.empty:
        return ANYTHING
    said = SimpleNamespace(__annotations__={parameter.name: parameter.annotation})
    return check_for(typing.get_type_hints(said, names)[parameter.name])


class _Face:
    """What the script sees of the host's function, and the code that stands between the two.

    Args:
        name: What the script calls it.
        function: The host's function.
        parameters: Its parameters.
    """

    def __init__(self, name: str, function: Callable[..., Any], parameters: _Parameters) -> None:
        self.name = name
        self.function = function
        self.parameters = parameters.listed
        self.thread = parameters.thread
        kinds = [parameter.kind for parameter in parameters.listed]
        self.open_positions = _VAR_POSITIONAL in kinds
        self.open_keywords = _VAR_KEYWORD in kinds

    def info(self) -> BuiltinInfo:
        """Return what the engine needs to say about arguments that cannot be bound."""
        by_position = [p for p in self.parameters if p.kind not in {_VAR_POSITIONAL, _VAR_KEYWORD, _KEYWORD_ONLY}]
        by_keyword = [p for p in self.parameters if p.kind is _KEYWORD_ONLY]
        return BuiltinInfo(
            self.name,
            tuple(p.name for p in (*by_position, *by_keyword)),
            sum(p.required for p in by_position),
            positional=bool(by_position) and all(p.kind is _POSITIONAL_ONLY for p in self.parameters),
            maximum=-1 if self.open_positions else len(by_position),
            places=len(by_position),
        )

    def checked_when_bound(self, parameter: _Parameter) -> bool:
        """Tell whether the generated code, not Python's binding, finds that this argument is missing.

        Python's binding leaves the engine with the names that were given, which is not enough for a message when the
        function takes any keyword, or when what is missing stands behind something optional.
        """
        return parameter.required and (self.open_keywords or parameter.kind is _KEYWORD_ONLY)


def _generated(face: _Face) -> FunctionType:
    """Write, compile and define the function that stands between the script and the host's function.

    Source form → target form, for ``def get(thread, url: str, *, limit: int = 5)``::

        def _plait_builtin(_plait_thread, /, url, *, limit=_plait_default_1):
            if type(url) is not str: url = _plait_accept_0(_plait_thread, url)
            if type(limit) is not int and limit is not _plait_default_1: limit = _plait_accept_1(_plait_thread, limit)
            try:
                _plait_result = _plait_function(_plait_thread, url, limit=limit)
            except …
            return _plait_result, when it needs no conversion, else _plait_convert(_plait_name, _plait_result)
    """
    names: dict[str, Any] = {
        "__builtins__": {},
        f"{_PREFIX}function": face.function,
        f"{_PREFIX}name": face.name,
        f"{_PREFIX}type": type,
        f"{_PREFIX}str": str,
        f"{_PREFIX}int": int,
        f"{_PREFIX}true": TRUE,
        f"{_PREFIX}false": FALSE,
        f"{_PREFIX}absent": _ABSENT,
        f"{_PREFIX}missing": _missing,
        f"{_PREFIX}passing": PASSING,
        f"{_PREFIX}anything": BaseException,
        f"{_PREFIX}failure": failure,
        f"{_PREFIX}convert": _converted,
    }
    lines = [f"def _plait_builtin({', '.join(_heads(face, names))}):"]
    for index, parameter in enumerate(face.parameters):
        lines += [f"    {line}" for line in _guards(face, names, index, parameter)]
    lines += [
        "    try:",
        f"        _plait_result = _plait_function({', '.join(_arguments(face))})",
        "    except _plait_passing:",
        "        raise",
        "    except _plait_anything as _plait_error:",
        "        raise _plait_failure(_plait_name, _plait_error) from _plait_error",
        # Integers of one of CPython's digits compare in no time, those of a few in little.
        "    if _plait_type(_plait_result) is _plait_int:",
        "        if _plait_result < 0x3fffffff and _plait_result > -0x3fffffff: return _plait_result",
        "        if _plait_result.bit_length() < 64: return _plait_result",
        "    elif _plait_type(_plait_result) is _plait_str:",
        "        if _plait_result.isascii(): return _plait_result",
        "    elif _plait_result is None:",
        "        return None",
        "    return _plait_convert(_plait_name, _plait_result)",
    ]
    code = compile("\n".join(lines), f"<builtin {face.name}>", "exec", dont_inherit=True, optimize=0)
    exec(code, names)  # noqa: S102 - the text is ours but for the parameters' names, which are identifiers
    made: FunctionType = names["_plait_builtin"]
    return made


def _heads(face: _Face, names: dict[str, Any]) -> list[str]:
    """Return the parameters of the generated function, and put their defaults among its names."""
    heads = ["_plait_thread"]
    last_positional = sum(parameter.kind is _POSITIONAL_ONLY for parameter in face.parameters)
    if not last_positional:
        heads.append("/")
    starred = False
    for index, parameter in enumerate(face.parameters):
        if parameter.kind is _KEYWORD_ONLY and not starred and not face.open_positions:
            heads.append("*")
            starred = True
        heads.append(_head(face, names, index, parameter))
        if index + 1 == last_positional:
            heads.append("/")
    return heads


def _head(face: _Face, names: dict[str, Any], index: int, parameter: _Parameter) -> str:
    if parameter.kind is _VAR_POSITIONAL:
        return f"*{parameter.name}"
    if parameter.kind is _VAR_KEYWORD:
        return f"**{parameter.name}"
    if face.checked_when_bound(parameter):
        return f"{parameter.name}=_plait_absent"
    if parameter.required:
        return parameter.name
    names[f"_plait_default_{index}"] = parameter.default
    return f"{parameter.name}=_plait_default_{index}"


def _guards(face: _Face, names: dict[str, Any], index: int, parameter: _Parameter) -> list[str]:
    """Return the lines that check and convert one argument, and put what they call among the names."""
    name, check = parameter.name, parameter.check
    lines = []
    if face.checked_when_bound(parameter):
        lines.append(f"if {name} is _plait_absent: raise _plait_missing(_plait_name, {name!r})")
    accept = f"{name} = _plait_accept_{index}(_plait_thread, {name})"
    if parameter.kind is _VAR_KEYWORD:
        names[f"_plait_accept_{index}"] = _keywords(face.name, face.thread, check)
        return [*lines, f"if {name}: {accept}"]
    if check is ANYTHING:
        return lines
    if parameter.kind is _VAR_POSITIONAL:
        names[f"_plait_accept_{index}"] = _rest(face.name, index + 1, check)
        return [*lines, f"if {name}: {accept}"]
    names[f"_plait_accept_{index}"] = _one(face.name, parameter.name, check)
    given = [] if parameter.required else [f"{name} is not _plait_default_{index}"]
    if check is check_for(bool):
        otherwise = f"elif {given[0]}" if given else "else"
        lines += [f"if {name} is _plait_true: {name} = True", f"elif {name} is _plait_false: {name} = False"]
        return [*lines, f"{otherwise}: {accept}"]
    conditions = []
    for number, kind in enumerate(sorted(check.unchanged, key=lambda kind: kind.__name__)):
        if kind is type(None):
            conditions.append(f"{name} is not None")
        else:
            names[f"_plait_kind_{index}_{number}"] = kind
            conditions.append(f"_plait_type({name}) is not _plait_kind_{index}_{number}")
    condition = " and ".join(conditions + given)
    return [*lines, f"if {condition}: {accept}" if condition else accept]


def _arguments(face: _Face) -> list[str]:
    arguments = [] if face.thread is None else ["_plait_thread"]
    for parameter in face.parameters:
        if parameter.kind is _VAR_POSITIONAL:
            arguments.append(f"*{parameter.name}")
        elif parameter.kind is _VAR_KEYWORD:
            arguments.append(f"**{parameter.name}")
        elif parameter.kind is _KEYWORD_ONLY:
            arguments.append(f"{parameter.name}={parameter.name}")
        else:
            arguments.append(parameter.name)
    return arguments


def _one(called: str, parameter: str | int, check: Check) -> Callable[[Thread, Any], Any]:
    """Return what checks one argument."""
    accept = check.accept

    def accepted(thread: Thread, value: Any) -> Any:
        try:
            return accept(thread, value)
        except Refused as refused:
            raise EvalError(f"{called}: for parameter {parameter}: {refused}") from None

    return accepted


def _rest(called: str, first: int, check: Check) -> Callable[[Thread, tuple[Any, ...]], tuple[Any, ...]]:
    """Return what checks the arguments of ``*args``, the first of which has this place, from 1."""

    def accepted(thread: Thread, values: tuple[Any, ...]) -> tuple[Any, ...]:
        thread.charge(len(values))
        return tuple(_one(called, place, check)(thread, value) for place, value in enumerate(values, first))

    return accepted


def _keywords(called: str, reserved: str | None, check: Check) -> Callable[[Thread, dict[str, Any]], dict[str, Any]]:
    """Return what checks the arguments of ``**kwargs`` and refuses the name of the thread's parameter."""

    def accepted(thread: Thread, values: dict[str, Any]) -> dict[str, Any]:
        if reserved in values:
            raise EvalError(f"{called}: unexpected keyword argument {reserved}")
        thread.charge(len(values))
        return {name: _one(called, name, check)(thread, value) for name, value in values.items()}

    return accepted


def _missing(called: str, parameter: str) -> EvalError:
    return EvalError(f"{called}: missing argument for {parameter}")


def _converted(called: str, result: Any) -> Any:
    try:
        return from_python(result)
    except StarlarkError as error:
        raise EvalError(f"{called}: cannot return this: {error.message}") from None
    except PASSING:
        raise
    except BaseException as error:
        raise failure(called, error) from error
