"""What the functions of the module math return, at the edges of their domains too."""

from __future__ import annotations

from math import copysign, inf, pi
from typing import Any

import pytest

from plait.starlark.errors import EvalError
from plait.starlark.modules.math import math
from plait.starlark.thread import Thread
from plait.starlark.values import NAN, TRUE


def call(name: str, *args: Any) -> Any:
    return math[name](Thread(), *args)


def test_the_module_has_these_members() -> None:
    assert " ".join(sorted(math.members)) == (
        "acos acosh asin asinh atan atan2 atanh ceil copysign cos cosh degrees e exp fabs floor gamma hypot log mod pi "
        "pow radians remainder round sin sinh sqrt tan tanh"
    )


@pytest.mark.parametrize(
    ("name", "args", "value"),
    [
        ("ceil", (0.4,), 1),
        ("ceil", (-0.5,), 0),
        ("floor", (-0.4,), -1),
        ("floor", (2**70,), 2**70),
        ("round", (2.5,), 3.0),
        ("round", (-2.5,), -3.0),
        ("round", (0.49999999999999994,), 0.0),
        ("round", (4503599627370497.5,), 4503599627370498.0),
        ("round", (inf,), inf),
        ("pow", (5, 3), 125.0),
        ("pow", (0.0, -1), inf),
        ("pow", (-0.0, -3), -inf),
        ("pow", (-1e300, 3), -inf),
        ("pow", (-1e300, 2), inf),
        ("pow", (1, NAN), 1.0),
        ("exp", (1000,), inf),
        ("sinh", (-1000,), -inf),
        ("cosh", (-1000,), inf),
        ("atanh", (1,), inf),
        ("atanh", (-1,), -inf),
        ("gamma", (5,), 24.0),
        ("gamma", (200,), inf),
        ("gamma", (-0.0,), -inf),
        ("gamma", (-1e-310,), -inf),
        ("log", (8, 2), 3.0),
        ("log", (0,), -inf),
        ("log", (10**400,), inf),
        ("mod", (1.0, inf), 1.0),
        ("remainder", (3, 5), -2.0),
        ("hypot", (inf, NAN), inf),
        ("degrees", (1.0,), 57.29577951308232),
        ("radians", (1,), 0.017453292519943295),
        ("atan2", (-0.0, -10.0), -pi),
        ("fabs", (-(10**400),), inf),
    ],
)
def test_a_function_returns(name: str, args: tuple[Any, ...], value: Any) -> None:
    result = call(name, *args)
    assert result == value
    assert type(result) is type(value)


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("sqrt", (-4,)),
        ("acos", (1.01,)),
        ("acosh", (0.5,)),
        ("atanh", (1.1,)),
        ("cos", (inf,)),
        ("mod", (1.0, 0.0)),
        ("remainder", (inf, 1)),
        ("pow", (-8, 0.5)),
        ("gamma", (-1,)),
        ("gamma", (-inf,)),
        ("log", (-1,)),
        ("log", (2, -1)),
        ("fabs", (NAN,)),
        ("copysign", (NAN, -1)),
    ],
)
def test_what_is_no_number_is_the_one_nan(name: str, args: tuple[Any, ...]) -> None:
    assert call(name, *args) is NAN


def test_rounding_keeps_the_sign_of_zero() -> None:
    assert copysign(1, call("round", -0.2)) == -1


@pytest.mark.parametrize(
    ("name", "args", "message"),
    [
        ("ceil", (inf,), "cannot convert float infinity to integer"),
        ("floor", (NAN,), "cannot convert float NaN to integer"),
        ("floor", ("0",), "got string, want float or int"),
        ("sqrt", ("0",), "sqrt: for parameter 1: got string, want float or int"),
        ("sqrt", (TRUE,), "sqrt: for parameter 1: got bool, want float or int"),
        ("pow", (1.0, None), "pow: for parameter 2: got NoneType, want float or int"),
        ("log", (2, 1), "division by zero"),
    ],
)
def test_a_wrong_argument_is_an_error(name: str, args: tuple[Any, ...], message: str) -> None:
    with pytest.raises(EvalError) as caught:
        call(name, *args)
    assert caught.value.message == message
