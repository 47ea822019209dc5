"""The module json: values as JSON text and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from plait.starlark.errors import EvalError
from plait.starlark.modules.json_decoding import UndecodableError, decoded
from plait.starlark.modules.json_encoding import encoded
from plait.starlark.modules.json_grammar import MalformedError
from plait.starlark.modules.json_indenting import indented
from plait.starlark.modules.parameters import string
from plait.starlark.native import binding_error, info_of, native
from plait.starlark.values import Module

if TYPE_CHECKING:
    from plait.starlark.thread import Thread

__all__ = ["json"]

_ABSENT: Final = object()


@native("json.encode", "x", positional=True)
def _encode(thread: Thread, x: Any, /) -> str:
    return encoded(thread, "json.encode", x)


@native("json.decode", "x", "default?")
def _decode(thread: Thread, x: Any = _ABSENT, /, default: Any = _ABSENT, **others: Any) -> Any:
    if x is _ABSENT or others:
        given = [*others] if default is _ABSENT else ["default", *others]
        if x is _ABSENT and given and set(given) <= {"x", "default"} and "x" in others:
            raise EvalError('json.decode: unexpected keyword argument "x"')
        raise _misuse(_decode, 0 if x is _ABSENT else 1, given)
    text = string("json.decode", "x", x)
    try:
        return decoded(thread, text)
    except UndecodableError as error:
        if default is not _ABSENT:
            return default
        raise EvalError(f"json.decode: at offset {error.offset}, {error.message}") from None


@native("json.indent", "prefix?", "indent?", maximum=-1)
def _indent(thread: Thread, /, *args: Any, prefix: Any = "", indent: Any = "\t", **others: Any) -> str:
    margins = _margins(_indent, "json.indent", prefix, indent, others)
    return _indented(thread, "json.indent", string("json.indent", 1, _only("json.indent", args)), margins)


@native("json.encode_indent", "prefix?", "indent?", maximum=-1)
def _encode_indent(thread: Thread, /, *args: Any, prefix: Any = "", indent: Any = "\t", **others: Any) -> str:
    margins = _margins(_encode_indent, "json.encode_indent", prefix, indent, others)
    text = encoded(thread, "json.encode_indent", _only("json.encode_indent", args))
    return _indented(thread, "json.encode_indent", text, margins)


def _margins(function: Any, name: str, prefix: Any, indent: Any, others: dict[str, Any]) -> tuple[str, str]:
    if others:
        raise _misuse(function, 0, [*others])
    return string(name, '"prefix"', prefix), string(name, '"indent"', indent)


def _only(name: str, args: tuple[Any, ...]) -> Any:
    if len(args) != 1:
        raise EvalError(f"{name}: got {len(args)} arguments, want 1")
    return args[0]


def _misuse(function: Any, positional: int, keywords: list[str]) -> EvalError:
    info = info_of(function)
    return EvalError("unexpected arguments") if info is None else binding_error(info, positional, keywords)


def _indented(thread: Thread, name: str, text: str, margins: tuple[str, str]) -> str:
    try:
        return indented(thread, text, *margins)
    except MalformedError as error:
        raise EvalError(f"{name}: {error}") from None


json: Final = Module("json", {"encode": _encode, "encode_indent": _encode_indent, "decode": _decode, "indent": _indent})
"""What a script calls ``json``."""
