"""Encoding JSON: a script's value as text, without recursion, charged before it is written."""

from __future__ import annotations

from json.encoder import encode_basestring
from math import isinf
from typing import TYPE_CHECKING, Any, Final

from plait.starlark.comparison import sort
from plait.starlark.errors import EvalError
from plait.starlark.modules.json_standard import standard_text
from plait.starlark.running.iteration import collect, is_iterable
from plait.starlark.text import float_text, int_text, quote
from plait.starlark.universe import attributes
from plait.starlark.values import (
    TRUE,
    Bool,
    FrozenDict,
    FrozenList,
    FrozenSet,
    HostValue,
    Module,
    NaN,
    Set,
    Struct,
    type_name,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from plait.starlark.thread import Thread

__all__ = ["DEPTH", "encoded"]

DEPTH: Final = 400
"""How many containers may stand inside one another."""

_PART: Final = 16_384
"""Elements that are written in one go."""

_LONG: Final = 1 << 19
"""Characters that are quoted in one go."""

_SHORT: Final = 4_096
"""Characters of which a look at each is not worth its while."""

_QUICK_INT: Final = 1 << 64
_LISTS: Final = frozenset({list, FrozenList, tuple, range, Set, FrozenSet})
_ESCAPED: Final = (("<", "\\u003c"), (">", "\\u003e"), ("&", "\\u0026"), ("\u2028", "\\u2028"), ("\u2029", "\\u2029"))


class _UnencodableError(Exception):
    """There is no JSON for a value; the message says why, without the place."""


def encoded(thread: Thread, function: str, value: Any) -> str:
    """Return a value as JSON on one line, the keys of its objects sorted.

    Args:
        thread: Charged for each value and for the lengths of strings and ints, before they are written.
        function: The builtin's name, for messages.
        value: Any value of a script.

    Returns:
        The text.

    Raises:
        EvalError: It has something in it that JSON has not, contains itself, or is nested more than ``DEPTH`` deep.
    """
    text = standard_text(thread, value)
    if text is not None:
        return text
    writer = _Writer(thread)
    try:
        return writer.text(value)
    except _UnencodableError as error:
        places = "".join(level.place() for level in writer.levels)
        raise EvalError(f"{function}: {places}{error}") from None


class _Level:
    """A container that is being written.

    Args:
        container: The value.
        phrase: How messages name the place of a child: ``at list index``.
        pending: What is still to come of it, each child with its key or index.
        closing: ``]`` or ``}``.
    """

    __slots__ = ("child", "closing", "container", "lead", "pending", "phrase")

    def __init__(self, container: Any, phrase: str, pending: Iterator[tuple[Any, Any]], closing: str) -> None:
        self.container = container
        self.phrase = phrase
        self.pending = pending
        self.closing = closing
        self.lead = ""
        self.child: Any = None

    def place(self) -> str:
        """Say where the child is that is being written."""
        if self.child is None:
            return ""
        shown = quote(self.child) if self.phrase.endswith("key") else self.child
        return f"{self.phrase}{'' if self.phrase.endswith('.') else ' '}{shown}: "


class _Writer:
    """Writes one value.

    Args:
        thread: The running thread.
    """

    def __init__(self, thread: Thread) -> None:
        self.thread = thread
        self.parts: list[str] = []
        self.levels: list[_Level] = []
        self.path: set[int] = set()

    def text(self, value: Any) -> str:
        """Return the value's JSON."""
        _charge_scalars(self.thread, [value])
        if type(value) is str:
            return self._string(value)
        if (scalar := _SCALARS.get(type(value))) is not None:
            return scalar(value)
        self._write(value)
        while self.levels:
            self._continue(self.levels[-1])
        return "".join(self.parts)

    def _continue(self, level: _Level) -> None:
        """Write children up to the next container that is not written in one go, or the end."""
        parts = self.parts
        keyed = level.closing == "}"
        for child, value in level.pending:
            level.child = child
            parts.append(f"{level.lead}{self._string(child)}:" if keyed else level.lead)
            level.lead = ","
            scalar = _SCALARS.get(type(value))
            if scalar is None:
                if self._write(value):
                    return
            elif type(value) is str:
                parts.append(self._string(value))
            else:
                parts.append(scalar(value))
        parts.append(level.closing)
        self.levels.pop()
        self.path.discard(id(level.container))

    def _string(self, text: str) -> str:
        return _quoted(text) if len(text) <= _LONG else _long_quoted(self.thread, text)

    def _write(self, value: Any) -> bool:
        """Write a container in one go, or open it; tell whether it was opened."""
        kind = type(value)
        if len(self.levels) == 1 and (text := standard_text(self.thread, value)) is not None:
            self.parts.append(text)
            return False
        if id(value) in self.path:
            raise _UnencodableError("cycle in JSON structure")
        if len(self.levels) >= DEPTH:
            raise _UnencodableError(f"nested too deeply (more than {DEPTH} values inside one another)")
        self.thread.charge(1)
        if kind in _LISTS:
            return self._write_list(value, value)
        if kind is dict or kind is FrozenDict:
            return self._write_dict(value)
        return self._write_other(value)

    def _write_list(self, container: Any, values: Any) -> bool:
        items: Sequence[Any] = list(values) if isinstance(values, Set) and self._charged(len(values)) else values
        self.parts.append("[")
        start = 0
        while start < len(items) and self._write_plain(items[start : start + _PART], start):
            start += _PART
        if start >= len(items):
            self.parts.append("]")
            return False
        level = _Level(container, f"at {type_name(container)} index", self._indexed(items, start), "]")
        level.lead = "," if start else ""
        self._open(level)
        return True

    def _write_plain(self, items: Sequence[Any], start: int) -> bool:
        """Write a part of a list if there are only scalars in it; tell whether it was written."""
        if not _charge_scalars(self.thread, items) <= _SCALAR_TYPES:
            return False
        try:
            written = ",".join([_SCALARS[type(item)](item) for item in items])
        except _UnencodableError:
            return False  # to be written one by one, to find out where
        self.parts.append(f",{written}" if start else written)
        return True

    def _write_dict(self, container: dict[Any, Any]) -> bool:
        self.thread.charge(len(container))
        for key in container:
            if type(key) is not str:
                raise _UnencodableError(f"dict has {type_name(key)} key, want string")
        if len(container) <= _PART:
            self.thread.charge(len(container) * len(container).bit_length())
            names = sorted(container)
            kinds = _charge_scalars(self.thread, names) | _charge_scalars(self.thread, container.values())
            if kinds <= _SCALAR_TYPES:
                try:
                    written = [f"{_quoted(name)}:{_SCALARS[type(v)](v)}" for name in names for v in (container[name],)]
                except _UnencodableError:
                    pass  # written once more, to find out where
                else:
                    self.parts.append(f"{{{','.join(written)}}}")
                    return False
        else:
            names = sort(self.thread, list(container), None, False)
        self.parts.append("{")
        self._open(_Level(container, "in dict key", self._named(names, container), "}"))
        return True

    def _write_other(self, value: Any) -> bool:
        if isinstance(value, HostValue) and is_iterable(value):
            return self._write_list(value, collect(self.thread, value))
        if type(value) is Struct:
            members = value.fields
        elif type(value) is Module:
            members = value.members
        elif isinstance(value, HostValue) and type(value).attribute_names is not HostValue.attribute_names:
            members = {name: attributes.get(self.thread, value, name) for name in attributes.names(value)}
        else:
            raise _UnencodableError(f"cannot encode {type_name(value)} as JSON")
        if len(members) <= _PART:
            _charge_scalars(self.thread, members.keys())
            _charge_scalars(self.thread, members.values())
        self.parts.append("{")
        self._open(_Level(value, "in field .", self._named(sorted(members), members), "}"))
        return True

    def _charged(self, steps: int) -> bool:
        self.thread.charge(steps)
        return True

    def _open(self, level: _Level) -> None:
        self.path.add(id(level.container))
        self.levels.append(level)

    def _indexed(self, items: Sequence[Any], first: int) -> Iterator[tuple[int, Any]]:
        for start in range(first, len(items), _PART):
            part = items[start : start + _PART]
            if start > first:
                _charge_scalars(self.thread, part)
            yield from enumerate(part, start)

    def _named(self, names: Sequence[str], container: dict[str, Any]) -> Iterator[tuple[str, Any]]:
        for start in range(0, len(names), _PART):
            part = names[start : start + _PART]
            if len(names) > _PART:
                _charge_scalars(self.thread, part)
                _charge_scalars(self.thread, [container[name] for name in part])
            for name in part:
                yield name, container[name]


def _charge_scalars(thread: Thread, values: Any) -> set[type]:
    """Charge for writing the strings, numbers and so on among at most ``_PART`` values.

    Returns:
        The values' types, and ``_Long`` when there is a string that must be written in slices.
    """
    kinds = set(map(type, values))
    steps = len(values)
    if str in kinds:
        strings = values if len(kinds) == 1 else [v for v in values if type(v) is str]
        characters = sum(map(len, strings))
        steps += characters // 16
        if characters > _SHORT:
            # One character may become six.
            steps += sum(len(v) for v in strings if not (v.isascii() and v.isprintable())) // 8
            if characters > _LONG:
                kinds.add(_Long)
    if int in kinds:
        for value in values if len(kinds) == 1 else [v for v in values if type(v) is int]:
            if not -_QUICK_INT < value < _QUICK_INT:
                steps += value.bit_length() // 16
    thread.charge(steps)
    return kinds


class _Long:
    """Stands among types for a string that must be written in slices."""


def _quoted(text: str) -> str:
    """Return a string as JSON; characters that are special in HTML are escaped only beside unprintable or wide ones."""
    written = encode_basestring(text)
    if text.isascii() and text.isprintable():
        return written
    for char, escape in _ESCAPED:
        if char in written:
            written = written.replace(char, escape)
    try:
        written.encode()
    except UnicodeEncodeError:
        written = written.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    return written


def _long_quoted(thread: Thread, text: str) -> str:
    """Return a long string as JSON, written in slices."""
    slices = [text[start : start + _LONG] for start in range(0, len(text), _LONG)]
    plain = all(part.isascii() and part.isprintable() for part in slices)
    written = ['"']
    for part in slices:
        thread.refuel()
        written.append(encode_basestring(part)[1:-1] if plain else _quoted(f"{part}\x7f")[1:-2])
    written.append('"')
    return "".join(written)


def _int(value: int) -> str:
    return repr(value) if -_QUICK_INT < value < _QUICK_INT else int_text(value)


def _float(value: float) -> str:
    if isinf(value):
        raise _UnencodableError(f"cannot encode non-finite float {float_text(value)}")
    return float_text(value)


def _nan(value: float) -> str:
    raise _UnencodableError("cannot encode non-finite float nan")


_SCALARS: Final[dict[type, Callable[[Any], str]]] = {
    str: _quoted,
    int: _int,
    float: _float,
    NaN: _nan,
    type(None): lambda _: "null",
    Bool: lambda value: "true" if value is TRUE else "false",
}

_SCALAR_TYPES: Final = frozenset(_SCALARS)
