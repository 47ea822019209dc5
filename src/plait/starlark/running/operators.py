"""Operators on values of any type: what compiled code calls when its inline form does not fit."""

from __future__ import annotations

from math import fmod
from typing import TYPE_CHECKING, Any, Final

from plait.starlark.comparison import check_hashable, store
from plait.starlark.errors import EvalError
from plait.starlark.methods import sets
from plait.starlark.running.iteration import is_iterable
from plait.starlark.running.mutation import check_mutable
from plait.starlark.text import to_repr
from plait.starlark.text.formatting import percent
from plait.starlark.text.numbers import FREE_BITS, INT_BITS_MAX, int_text
from plait.starlark.values import NAN, Bytes, FrozenDict, FrozenList, FrozenSet, HostValue, NaN, Set, Struct, type_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from plait.starlark.thread import Thread

__all__ = [
    "INT_BITS_MAX",
    "LOCKABLE",
    "SMALL",
    "augmented_add",
    "big",
    "binary",
    "grown",
    "index",
    "place",
    "set_index",
    "slice_of",
    "unary",
    "unpack",
]

SMALL: Final = 1 << 60
"""Integers below this in magnitude have hashes of their own and cost next to nothing."""
_INT32: Final = 1 << 31
_FREE: Final = 1 << FREE_BITS
_REPEAT_MAX: Final = 1 << 30

_INT_OR_FLOAT: Final = frozenset({int, float, NaN})
_LISTS: Final = frozenset({list, FrozenList})
_DICTS: Final = frozenset({dict, FrozenDict})
_SETS: Final = frozenset({Set, FrozenSet})
_TEXTS: Final = frozenset({str, Bytes})
LOCKABLE: Final = frozenset({list, dict, Set})
"""Types whose values may change, and so are locked while something iterates over them."""
_SEQUENCES: Final = frozenset({list, FrozenList, tuple, str, Bytes, range})


def grown(thread: Thread, result: Any) -> Any:
    """Pay for the result of an inline operation, and make a NaN the one NaN."""
    kind = type(result)
    if kind is float:
        return result if result == result else NAN  # noqa: PLR0124 - that is how a NaN shows
    if kind is int:
        big(thread, result)
    if kind is str or kind is Bytes:
        thread.charge(len(result) >> 4)
    elif kind is list or kind is tuple or kind is dict or kind is Set:
        thread.charge(len(result))
    elif kind is Struct:
        thread.charge(2 * len(result.fields))
    elif kind is bool:
        raise EvalError("internal error: an operator returned a value that is not Starlark's")
    return result


def big(thread: Thread, result: int) -> None:
    """Pay for a large integer; refuse one that is too large."""
    bits = result.bit_length()
    if bits > INT_BITS_MAX:
        raise EvalError(f"integer too large: {bits} bits, at most {INT_BITS_MAX}")
    if bits > FREE_BITS:
        thread.weigh(bits)
        thread.charge((bits >> 8) + (bits >> 12) ** 2)


def binary(thread: Thread, operator: str, x: Any, y: Any) -> Any:
    """Carry out an arithmetic, bitwise or sequence operator.

    Args:
        thread: Who pays.
        operator: ``+``, ``-``, ``*``, ``/``, ``//``, ``%``, ``&``, ``|``, ``^``, ``<<`` or ``>>``.
        x: Left operand.
        y: Right operand.

    Raises:
        EvalError: The operands do not fit.
    """
    return BINARY[operator](thread, x, y)


def _unknown(operator: str, x: Any, y: Any) -> EvalError:
    return EvalError(f"unknown binary op: {type_name(x)} {operator} {type_name(y)}")


def _host(operator: str, x: Any, y: Any, python: Callable[[Any, Any], Any]) -> Any:
    """Ask a host's value, which carries operators as Python's special methods."""
    if not (isinstance(x, HostValue) or isinstance(y, HostValue)):
        raise _unknown(operator, x, y)
    try:
        return python(x, y)
    except TypeError:
        raise _unknown(operator, x, y) from None


def _numbers(x: Any, y: Any) -> bool:
    return type(x) in _INT_OR_FLOAT and type(y) in _INT_OR_FLOAT


def _floats(x: Any, y: Any) -> tuple[float, float]:
    try:
        return float(x), float(y)
    except OverflowError:
        raise EvalError("int too large to convert to float") from None


def number(x: float) -> float:
    """Return the float, a NaN as the one NaN."""
    return x if x == x else NAN  # noqa: PLR0124 - that is how a NaN shows


def add(thread: Thread, x: Any, y: Any) -> Any:
    """Carry out ``x + y``."""
    kind, other = type(x), type(y)
    if kind is int and other is int:
        result = x + y
        if not -_FREE < result < _FREE:
            big(thread, result)
        return result
    if kind in _INT_OR_FLOAT and other in _INT_OR_FLOAT:
        a, b = _floats(x, y)
        return number(a + b)
    if (kind is other and (kind is str or kind is tuple)) or (kind in _LISTS and other in _LISTS):
        thread.charge((len(x) + len(y)) >> (4 if kind in _TEXTS else 0))
        return x + y
    if kind is Struct and other is Struct:
        thread.charge(2 * (len(x.fields) + len(y.fields)))
        return x + y
    return _host("+", x, y, lambda a, b: a + b)


def subtract(thread: Thread, x: Any, y: Any) -> Any:
    """Carry out ``x - y``."""
    if type(x) is int and type(y) is int:
        result = x - y
        if not -_FREE < result < _FREE:
            big(thread, result)
        return result
    if _numbers(x, y):
        a, b = _floats(x, y)
        return number(a - b)
    if type(x) in _SETS and type(y) in _SETS:
        return sets.set_binary(thread, "-", x, y)
    return _host("-", x, y, lambda a, b: a - b)


def multiply(thread: Thread, x: Any, y: Any) -> Any:
    """Carry out ``x * y``."""
    if type(x) is int:
        if type(y) is int:
            bits = x.bit_length() + y.bit_length()
            if bits > 1024:
                if bits > INT_BITS_MAX + 1:
                    raise EvalError(f"integer too large: about {bits} bits, at most {INT_BITS_MAX}")
                thread.weigh(bits)
                thread.charge((bits >> 8) + (bits >> 12) ** 2)
            return x * y
        if type(y) in _SEQUENCES and type(y) is not range:
            return _repeat(thread, y, x)
    elif type(y) is int and type(x) in _SEQUENCES and type(x) is not range:
        return _repeat(thread, x, y)
    if _numbers(x, y):
        a, b = _floats(x, y)
        return number(a * b)
    return _host("*", x, y, lambda a, b: a * b)


def _repeat(thread: Thread, x: Any, count: int) -> Any:
    size = len(x)
    if not size or (count < 1 and count.bit_length() <= 31):
        return x[:0] if type(x) is not FrozenList else []
    if count.bit_length() > 31:
        raise EvalError(f"repeat count {int_text(count)} too large")
    if size * count >= _REPEAT_MAX:
        raise EvalError(f"excessive repeat ({size} * {count} elements)")
    thread.charge(size * count >> (4 if type(x) in _TEXTS else 0))
    return Bytes(x * count) if type(x) is Bytes else x * count


def divide(thread: Thread, x: Any, y: Any) -> Any:
    """Carry out ``x / y``."""
    if not _numbers(x, y):
        return _host("/", x, y, lambda a, b: a / b)
    a, b = _floats(x, y)
    if b == 0.0:
        raise EvalError("floating-point division by zero")
    return number(a / b)


def floor_divide(thread: Thread, x: Any, y: Any) -> Any:
    """Carry out ``x // y``."""
    if type(x) is int and type(y) is int:
        if not y:
            raise EvalError("floored division by zero")
        _pay_for_division(thread, x, y)
        return x // y
    if not _numbers(x, y):
        return _host("//", x, y, lambda a, b: a // b)
    a, b = _floats(x, y)
    if b == 0.0:
        raise EvalError("floored division by zero")
    return _floor(a / b)


def _floor(x: float) -> float:
    if x != x or x in (float("inf"), float("-inf")):  # noqa: PLR0124 - that is how a NaN shows
        return number(x)
    floored = float(x.__floor__())
    return -0.0 if floored == 0.0 and str(x)[0] == "-" else floored


def _pay_for_division(thread: Thread, x: int, y: int) -> None:
    bits = x.bit_length()
    if bits > 64:
        thread.charge((bits >> 8) + (max(0, bits - y.bit_length()) >> 9) * (y.bit_length() >> 9))


def modulo(thread: Thread, x: Any, y: Any) -> Any:
    """Carry out ``x % y``; a string on the left is a template."""
    if type(x) is str:
        return percent(thread, x, y)
    if type(x) is int and type(y) is int:
        if not y:
            raise EvalError("integer modulo by zero")
        _pay_for_division(thread, x, y)
        return x % y
    if not _numbers(x, y):
        return _host("%", x, y, lambda a, b: a % b)
    a, b = _floats(x, y)
    if b == 0.0:
        raise EvalError("floating-point modulo by zero")
    return _float_modulo(a, b)


def _float_modulo(a: float, b: float) -> float:
    """Return the remainder with the sign of the right operand; a zero keeps the sign of the left one."""
    if a in (float("inf"), float("-inf")) or b != b:  # noqa: PLR0124 - that is how a NaN shows
        return NAN
    remainder = fmod(a, b)
    if remainder and (remainder < 0) != (b < 0):
        remainder += b
    return number(remainder)


def _bitwise(operator: str, python: Callable[[Any, Any], Any]) -> Callable[[Any, Any, Any], Any]:
    def carry_out(thread: Thread, x: Any, y: Any) -> Any:
        kind, other = type(x), type(y)
        if kind is int and other is int:
            return python(x, y)
        if kind in _SETS and other in _SETS:
            return sets.set_binary(thread, operator, x, y)
        if operator == "|" and kind in _DICTS and other in _DICTS:
            return sets.dict_union(thread, x, y)
        return _host(operator, x, y, python)

    return carry_out


def _check_shift(count: int) -> None:
    if not -_INT32 <= count < _INT32:
        raise EvalError(f"{int_text(count)} out of range")
    if count < 0:
        raise EvalError(f"negative shift count: {count}")


def left_shift(thread: Thread, x: Any, y: Any) -> Any:
    """Carry out ``x << y``."""
    if type(x) is not int or type(y) is not int:
        if type(x) is int and not isinstance(y, HostValue):
            raise EvalError(f"got {type_name(y)}, want int")
        return _host("<<", x, y, lambda a, b: a << b)
    _check_shift(y)
    if y > INT_BITS_MAX or x.bit_length() + y > INT_BITS_MAX:
        raise EvalError(f"shift count too large: {to_repr(thread, y)}")
    result = x << y
    big(thread, result)
    return result


def right_shift(thread: Thread, x: Any, y: Any) -> Any:
    """Carry out ``x >> y``."""
    if type(x) is not int or type(y) is not int:
        if type(x) is int and not isinstance(y, HostValue):
            raise EvalError(f"got {type_name(y)}, want int")
        return _host(">>", x, y, lambda a, b: a >> b)
    _check_shift(y)
    thread.charge(x.bit_length() >> 10)
    return x >> min(y, INT_BITS_MAX * 2)


BINARY: Final[dict[str, Callable[[Any, Any, Any], Any]]] = {
    "+": add,
    "-": subtract,
    "*": multiply,
    "/": divide,
    "//": floor_divide,
    "%": modulo,
    "&": _bitwise("&", lambda a, b: a & b),
    "|": _bitwise("|", lambda a, b: a | b),
    "^": _bitwise("^", lambda a, b: a ^ b),
    "<<": left_shift,
    ">>": right_shift,
}


def augmented_add(thread: Thread, x: Any, y: Any) -> Any:
    """Carry out ``x += y``: a list grows in place by anything iterable."""
    if type(x) in _LISTS and is_iterable(y):
        from plait.starlark.methods.lists import extend  # noqa: PLC0415 - lists builds on this module's neighbours

        check_mutable(thread, x, "apply += to")
        extend(thread, x, y)
        return x
    return add(thread, x, y)


def augmented_or(thread: Thread, x: Any, y: Any, /, *iterated: Any) -> Any:
    """Carry out ``x |= y``: a dict takes the other's entries in place."""
    if type(x) in _DICTS and type(y) in _DICTS:
        from plait.starlark.methods.dicts import update  # noqa: PLC0415 - dicts builds on this module's neighbours

        check_unlocked(thread, x, "apply |= to", iterated)
        update(thread, x, y)
        return x
    return BINARY["|"](thread, x, y)


def unary(thread: Thread, operator: str, x: Any) -> Any:
    """Carry out ``+x``, ``-x`` or ``~x``."""
    kind = type(x)
    if kind is int:
        return -x if operator == "-" else ~x if operator == "~" else x
    if kind in _INT_OR_FLOAT and operator != "~":
        return number(-x) if operator == "-" else number(x)
    if isinstance(x, HostValue):
        try:
            return -x if operator == "-" else ~x if operator == "~" else +x  # type: ignore[operator]  # the host's own type
        except TypeError:
            pass
    raise EvalError(f"unknown unary op: {operator} {kind and type_name(x)}")


def index(thread: Thread, x: Any, key: Any) -> Any:
    """Carry out ``x[key]``."""
    kind = type(x)
    if kind in _DICTS:
        check_hashable(thread, key)
        try:
            return x[key]
        except KeyError:
            raise EvalError(f"key {to_repr(thread, key)} not in dict") from None
    if kind in _SEQUENCES:
        if type(key) is not int or not -_INT32 <= key < _INT32:
            what = f"got {type_name(key)}, want int" if type(key) is not int else f"{int_text(key)} out of range"
            raise EvalError(f"{type_name(x)} index: {what}")
        return x[place(x, key)]
    if isinstance(x, HostValue) and hasattr(x, "__getitem__"):
        try:
            return x[key]
        except TypeError:
            pass
        except (IndexError, KeyError):
            raise EvalError(f"key {to_repr(thread, key)} not in {type_name(x)}") from None
    raise EvalError(f"unhandled index operation {type_name(x)}[{type_name(key)}]")


def place(x: Any, key: Any) -> int:
    """Return an index of a sequence, if it is one.

    Raises:
        EvalError: It is no integer, or out of range.
    """
    if type(key) is not int:
        raise EvalError(f"got {type_name(key)}, want int")
    size = len(x)
    if -size <= key < size:
        return key
    if not -_INT32 <= key < _INT32:
        raise EvalError(f"{int_text(key)} out of range")
    if not size:
        raise EvalError(f"index {key} out of range: empty {type_name(x)}")
    raise EvalError(f"{type_name(x)} index {key} out of range [{-size}:{size - 1}]")


def set_index(thread: Thread, x: Any, key: Any, value: Any, *iterated: Any) -> None:
    """Carry out ``x[key] = value``; ``iterated`` are the values that loops around it iterate over."""
    kind = type(x)
    if kind is dict and thread.guard is None and not iterated:
        store(thread, x, key, value)
    elif kind in _LISTS:
        check_unlocked(thread, x, "assign to element of", iterated)
        x[place(x, key)] = value
    elif kind in _DICTS:
        check_unlocked(thread, x, "insert into", iterated)
        store(thread, x, key, value)
    elif isinstance(x, HostValue):
        try:
            x.set_item(key, value)
        except LookupError:
            raise EvalError(f"{type_name(x)} value does not support item assignment") from None
    else:
        raise EvalError(f"{type_name(x)} value does not support item assignment")


def check_unlocked(thread: Thread, x: Any, verb: str, iterated: tuple[Any, ...]) -> None:
    """Refuse to change a value that must not change, or that a loop around iterates over."""
    check_mutable(thread, x, verb)
    for value in iterated:
        if x is value:
            noun = "list" if type(x) is list else "hash table"
            raise EvalError(f"cannot {verb} {noun} during iteration")


def slice_of(thread: Thread, x: Any, low: Any, high: Any, step: Any) -> Any:
    """Carry out ``x[low:high:step]``."""
    kind = type(x)
    if kind not in _SEQUENCES:
        if isinstance(x, HostValue) and hasattr(x, "__getitem__"):
            try:
                return x[slice(low, high, step)]
            except TypeError:
                pass
        raise EvalError(f"invalid slice operand {type_name(x)}")
    for what, part in (("slice step", step), ("start index", low), ("end index", high)):
        if part is not None and type(part) is not int:
            raise EvalError(f"invalid {what}: got {type_name(part)}, want int")
    if step == 0:
        raise EvalError("zero is not a valid slice step")
    if kind is range:
        return x[low:high:step]
    thread.charge(len(range(*slice(low, high, step).indices(len(x)))) >> (4 if kind in _TEXTS else 0))
    result = x[low:high:step]
    return list(result) if kind is FrozenList else result


def unpack(thread: Thread, x: Any, want: int) -> Any:
    """Return the elements of something iterable, of which there must be so many."""
    kind = type(x)
    if kind not in _LISTS and kind is not tuple:
        if not is_iterable(x):
            raise EvalError(f"got {type_name(x)} in sequence assignment")
        x = _few(thread, x, want)
        if type(x) is int:
            raise EvalError(f"too many values to unpack (got {x}, want {want})")
    got = len(x)
    if got == want:
        return x
    many = "many" if got > want else "few"
    raise EvalError(f"too {many} values to unpack (got {got}, want {want})")


def _few(thread: Thread, x: Any, want: int) -> Any:
    """Return the elements, or their number when there are too many to be worth copying."""
    try:
        count = len(x)
    except (TypeError, OverflowError):
        count = None
    if count is not None and count > want:
        return count
    elements = []
    for element in x:
        thread.charge(1)
        elements.append(element)
        if len(elements) > want:
            break
    return elements
