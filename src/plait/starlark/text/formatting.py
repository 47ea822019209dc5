"""Formatting: the ``%`` operator and ``str.format``."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from plait.starlark.errors import EvalError
from plait.starlark.text.numbers import FLOAT_VERBS, format_float, int_text
from plait.starlark.text.representation import to_repr
from plait.starlark.text.templates import FORMATS, PERCENTS, Format, Percent, format_plan, percent_plan
from plait.starlark.values import FrozenDict, type_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plait.starlark.thread import Thread

__all__ = ["format_text", "percent"]

_LOW, _HIGH = -(1 << 63), 1 << 63
"""Integers between these are shown at no cost of their own."""

_BASES = {"d": 10, "i": 10, "o": 8, "x": 16, "X": 16}


def percent(thread: Thread, template: str, args: Any) -> str:  # noqa: C901, PLR0912 - a call for a part costs time
    """Carry out ``template % args``.

    Args:
        thread: The running thread, charged in proportion to the template and the text made.
        template: Literal text with conversions ``%s %r %d %i %o %x %X %e %f %g %E %F %G %c``, ``%%`` for a per cent
            sign, and a name in brackets before the letter for a value of a dict. There are no widths and no flags.
        args: A tuple of as many values as there are conversions, one value for one conversion, or a dict.

    Raises:
        EvalError: The values do not fit the template.
    """
    try:
        plan = PERCENTS[template]
    except KeyError:
        plan = percent_plan(thread, template)
    if type(args) is str and plan.affixes is not None:
        thread.left -= ((plan.size + len(args)) >> 4) + 1
        if thread.left < 0:
            thread.refuel()
        before, behind = plan.affixes
        return f"{before}{args}{behind}"
    values = _members(plan, args) if plan.named else args if type(args) is tuple else (args,)
    if plan.native:
        size = plan.size
        for value in values:
            kind = type(value)
            if kind is str:
                size += len(value)
            elif kind is int:
                if not _LOW < value < _HIGH:
                    break
            elif kind is not float or not -1e6 < value < 1e6:
                break
        else:
            thread.left -= (size >> 4) + 1
            if thread.left < 0:
                thread.refuel()
            try:
                return plan.bare % values
            except TypeError:
                pass  # too many values or too few, or a string for a number
    if plan.sound and values and len(values) == len(plan.verbs):
        return _percent_general(thread, plan, values)
    return _percent_checked(thread, plan, args, args if type(args) is tuple else (args,))


def _members(plan: Percent, args: Any) -> tuple[Any, ...]:
    """Return the members of a dict that a template names; none when something is wrong, to be found in its turn."""
    if type(args) is not dict and type(args) is not FrozenDict:
        return ()
    try:
        return tuple([args[key] for key in plan.keys])
    except KeyError:
        return ()


def _percent_general(thread: Thread, plan: Percent, values: Sequence[Any]) -> str:
    """Carry out the ``%`` operator where there is a value for each conversion."""
    size = plan.size
    texts = []
    conversions = iter(plan.verbs)
    for value in values:
        verb = next(conversions)
        if verb == "s" and type(value) is str:
            text = value
        elif verb == "s" or verb == "r":  # noqa: PLR1714 - a set takes longer
            text = to_repr(thread, value)
        else:
            text = _converted(thread, verb, value)
        texts.append(text)
        size += len(text)
    thread.left -= (size >> 4) + 1
    if thread.left < 0:
        thread.refuel()
    return plan.filled % (*texts,)


def _percent_checked(thread: Thread, plan: Percent, args: Any, values: tuple[Any, ...]) -> str:
    """Carry out the ``%`` operator where names occur or something does not fit, looking at one field after another."""
    mapping = args if type(args) is dict or type(args) is FrozenDict else None
    pieces = plan.pieces.copy()
    size = plan.size
    for index, (hole, verb, key) in enumerate(zip(plan.holes, plan.verbs, plan.keys, strict=True)):
        thread.charge(1)
        if key is not None:
            value = _member(mapping, key)
        elif index < len(values):
            value = values[index]
        else:
            raise EvalError("not enough arguments for format string")
        pieces[hole] = _converted(thread, verb, value)
        size += len(pieces[hole])
    if plan.failure:
        raise EvalError(plan.failure)
    if len(plan.holes) < len(values) and mapping is None:
        raise EvalError("too many arguments for format string")
    thread.charge((size >> 4) + 1)
    return "".join(pieces)


def _member(mapping: dict[Any, Any] | None, key: str) -> Any:
    if mapping is None:
        raise EvalError("format requires a mapping")
    try:
        return mapping[key]
    except KeyError:
        raise EvalError(f"key not found: {key}") from None


def _converted(thread: Thread, verb: str, value: Any) -> str:
    if verb == "s":
        return value if type(value) is str else to_repr(thread, value)
    if verb == "r":
        return to_repr(thread, value)
    if verb in _BASES and verb:
        return _integer(thread, verb, value)
    if verb and verb in FLOAT_VERBS:
        return _floating(verb, value)
    if verb == "c":
        return _character(value)
    if verb == "%":
        return "%"
    raise EvalError(f"unknown conversion %{verb}" if verb else "incomplete format")


def _integer(thread: Thread, verb: str, value: Any) -> str:
    if type(value) is not int:
        value = _truncated(verb, value)
    thread.charge((value.bit_length() >> 6) + 1)
    digits = int_text(value, _BASES[verb])
    return digits.upper() if verb == "X" else digits


def _truncated(verb: str, value: Any) -> int:
    if type_name(value) != "float":
        raise EvalError(f"%{verb} format requires integer: cannot convert {type_name(value)} to int")
    if not math.isfinite(value):
        what = "NaN" if math.isnan(value) else "infinity"
        raise EvalError(f"%{verb} format requires integer: cannot convert float {what} to integer")
    return int(value)


def _floating(verb: str, value: Any) -> str:
    if type(value) is int:
        try:
            return format_float(float(value), verb)
        except OverflowError:
            return format_float(math.inf if value > 0 else -math.inf, verb)
    if type_name(value) != "float":
        raise EvalError(f"%{verb} format requires float, not {type_name(value)}")
    return format_float(value, verb)


def _character(value: Any) -> str:
    if type(value) is int:
        if not 0 <= value <= 0x10FFFF:
            raise EvalError(f"%c format requires a valid Unicode code point, got {int_text(value)}")
        return "\ufffd" if 0xD800 <= value <= 0xDFFF else chr(value)
    if type(value) is not str:
        raise EvalError(f"%c format requires int or single-character string, not {type_name(value)}")
    if len(value) != 1:
        raise EvalError("%c format requires a single-character string")
    return value


def format_text(thread: Thread, template: str, /, *args: Any, **kwargs: Any) -> str:
    """Carry out ``template.format(*args, **kwargs)``.

    Args:
        thread: The running thread, charged in proportion to the template and the text made.
        template: Literal text with fields ``{}``, ``{0}`` and ``{name}``, each perhaps with ``!s`` or ``!r``; ``{{``
            and ``}}`` stand for braces. A field reaches nothing but an argument: no attribute, no element.
        args: The positional arguments.
        kwargs: The keyword arguments.

    Raises:
        EvalError: The template is wrong, or an argument is missing.
    """
    try:
        plan = FORMATS[template]
    except KeyError:
        plan = format_plan(thread, template)
    values = args
    if len(args) != plan.simple:
        try:
            values = tuple([args[each] if type(each) is int else kwargs[each] for each in plan.selectors])
        except LookupError:
            values = ()
        if not values:
            return _format_checked(thread, plan, args, kwargs)
    if not plan.quoted:
        size = plan.size
        for value in values:
            kind = type(value)
            if kind is str:
                size += len(value)
            elif kind is int:
                if not _LOW < value < _HIGH:
                    break
            elif kind is not float or not -1e6 < value < 1e6:
                break
        else:
            thread.left -= (size >> 4) + 1
            if thread.left < 0:
                thread.refuel()
            return plan.filled % values
    return _format_general(thread, plan, values)


def _format_general(thread: Thread, plan: Format, values: tuple[Any, ...]) -> str:
    """Carry out ``str.format`` where there is a value for each field."""
    size = plan.size
    texts = []
    fields = iter(plan.fields)
    for value in values:
        text = to_repr(thread, value) if next(fields).quoted or type(value) is not str else value
        texts.append(text)
        size += len(text)
    thread.left -= (size >> 4) + 1
    if thread.left < 0:
        thread.refuel()
    return plan.filled % (*texts,)


def _format_checked(thread: Thread, plan: Format, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """Carry out ``str.format`` where fields say more than ``{}`` or something does not fit, one field after another."""
    pieces = plan.pieces.copy()
    size = plan.size
    for hole, field in zip(plan.holes, plan.fields, strict=True):
        thread.charge(1)
        value = _argument(field.selector, args, kwargs)
        if field.spec:
            raise EvalError(f"format spec features not supported in replacement fields: {field.spec}")
        if field.conversion == "s":
            pieces[hole] = value if type(value) is str else to_repr(thread, value)
        elif field.conversion == "r":
            pieces[hole] = to_repr(thread, value)
        else:
            raise EvalError(f"format: unknown conversion {to_repr(thread, field.conversion)}")
        size += len(pieces[hole])
    if plan.failure:
        raise EvalError(plan.failure)
    thread.charge((size >> 4) + 1)
    return "".join(pieces)


def _argument(selector: int | str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if isinstance(selector, int):
        if selector >= len(args):
            raise EvalError("format: tuple index out of range")
        return args[selector]
    if selector in kwargs:
        return kwargs[selector]
    if "." in selector:
        raise EvalError(f"format: attribute syntax x.y is not supported in replacement fields: {selector}")
    if "[" in selector:
        raise EvalError(f"format: element syntax a[i] is not supported in replacement fields: {selector}")
    if "{" in selector:
        raise EvalError("format: nested replacement fields not supported")
    raise EvalError(f"format: keyword {selector} not found")
