"""The module math: functions of floating-point numbers, and two constants."""

from __future__ import annotations

import math as libm
from typing import TYPE_CHECKING, Any, Final

from plait.starlark.errors import EvalError
from plait.starlark.native import native
from plait.starlark.values import NAN, Module, NaN, type_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from plait.starlark.thread import Thread

__all__ = ["math"]

_INF: Final = libm.inf


def _number(function: str, place: int, value: Any) -> float:
    kind = type(value)
    if kind is float or kind is NaN:
        return float(value)
    if kind is int:
        try:
            return float(value)
        except OverflowError:
            return _INF if value > 0 else -_INF
    raise EvalError(f"{function}: for parameter {place}: got {type_name(value)}, want float or int")


def _result(value: float) -> float:
    return NAN if libm.isnan(value) else value


def _unary(name: str, compute: Callable[[float], float]) -> tuple[str, Callable[..., float]]:
    """Make the builtin of a function of one number; what is outside its domain gives NaN, an overflow infinity."""

    @native(name, "x", positional=True)
    def run(thread: Thread, x: Any, /) -> float:
        try:
            return _result(compute(_number(name, 1, x)))
        except ValueError:
            return NAN
        except OverflowError:
            return _INF

    return name, run


def _binary(
    name: str, first: str, second: str, compute: Callable[[float, float], float]
) -> tuple[str, Callable[..., float]]:
    """Make the builtin of a function of two numbers; what is outside its domain gives NaN, an overflow infinity."""

    @native(name, first, second, positional=True)
    def run(thread: Thread, x: Any, y: Any, /) -> float:
        try:
            return _result(compute(_number(name, 1, x), _number(name, 2, y)))
        except ValueError:
            return NAN
        except OverflowError:
            return _INF

    return name, run


def _rounding(name: str, compute: Callable[[float], int]) -> tuple[str, Callable[..., int]]:
    """Make the builtin that takes a number to an int."""

    @native(name, "x", positional=True)
    def run(thread: Thread, x: Any, /) -> int:
        kind = type(x)
        if kind is int:
            return int(x)
        if kind is NaN:
            raise EvalError("cannot convert float NaN to integer")
        if kind is not float:
            raise EvalError(f"got {type_name(x)}, want float or int")
        if libm.isinf(x):
            raise EvalError("cannot convert float infinity to integer")
        return compute(x)

    return name, run


def _pow(x: float, y: float) -> float:
    try:
        return libm.pow(x, y)
    except ValueError:
        if x != 0:
            return NAN
    except OverflowError:
        pass
    # A pole at zero or an overflow: negative for a negative base and an odd exponent.
    return libm.copysign(_INF, x) if libm.fmod(y, 2) in {1.0, -1.0} else _INF


def _round(x: float) -> float:
    if libm.isnan(x) or libm.isinf(x):
        return x
    whole = float(libm.trunc(x))
    if abs(x - whole) >= 0.5:
        whole += libm.copysign(1.0, x)
    return libm.copysign(whole, x)


def _sinh(x: float) -> float:
    try:
        return libm.sinh(x)
    except OverflowError:
        return libm.copysign(_INF, x)


def _atanh(x: float) -> float:
    return libm.copysign(_INF, x) if abs(x) == 1 else libm.atanh(x)


def _gamma(x: float) -> float:
    try:
        return libm.copysign(_INF, x) if x == 0 else libm.gamma(x)
    except OverflowError:
        return libm.copysign(_INF, x)


def _ln(x: float) -> float:
    if x < 0:
        return NAN
    return libm.log(x) if x else -_INF


@native("log", "x", "base?", positional=True)
def _log(thread: Thread, x: Any, base: Any = libm.e, /) -> float:
    number, over = _number("log", 1, x), _number("log", 2, base)
    if over == 1:
        raise EvalError("division by zero")
    return _result(_ln(number) / _ln(over))


math: Final = Module(
    "math",
    dict(
        [
            _rounding("ceil", libm.ceil),
            _binary("copysign", "x", "y", libm.copysign),
            _unary("fabs", libm.fabs),
            _rounding("floor", libm.floor),
            _binary("mod", "x", "y", libm.fmod),
            _binary("pow", "x", "y", _pow),
            _binary("remainder", "x", "y", libm.remainder),
            _unary("round", _round),
            _unary("exp", libm.exp),
            _unary("sqrt", libm.sqrt),
            _unary("acos", libm.acos),
            _unary("asin", libm.asin),
            _unary("atan", libm.atan),
            _binary("atan2", "y", "x", libm.atan2),
            _unary("cos", libm.cos),
            _binary("hypot", "x", "y", libm.hypot),
            _unary("sin", libm.sin),
            _unary("tan", libm.tan),
            _unary("degrees", lambda x: 360 * x / (2 * libm.pi)),
            _unary("radians", lambda x: 2 * libm.pi * x / 360),
            _unary("acosh", libm.acosh),
            _unary("asinh", libm.asinh),
            _unary("atanh", _atanh),
            _unary("cosh", libm.cosh),
            _unary("sinh", _sinh),
            _unary("tanh", libm.tanh),
            _unary("gamma", _gamma),
        ],
        log=_log,
        e=libm.e,
        pi=libm.pi,
    ),
)
"""What a script calls ``math``."""
