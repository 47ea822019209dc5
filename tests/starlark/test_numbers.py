"""Numbers as text: floats as the language shows them, integers of any size, and digits read back."""

from __future__ import annotations

import math

import pytest

from plait.starlark.errors import EvalError
from plait.starlark.text.numbers import INT_BITS_MAX, float_text, format_float, int_text, parse_digits
from plait.starlark.values import NAN


@pytest.mark.parametrize(
    ("x", "text"),
    [
        (0.0, "0.0"),
        (-0.0, "-0.0"),
        (1.0, "1.0"),
        (-2.5, "-2.5"),
        (0.1 + 0.2, "0.30000000000000004"),
        (999999.0, "999999.0"),
        (1e6, "1e+06"),
        (-1e6, "-1e+06"),
        (1234567.0, "1.234567e+06"),
        (-1234567.25, "-1.23456725e+06"),
        (1e15, "1e+15"),
        (123456789012345.6, "1.234567890123456e+14"),
        (1e16, "1e+16"),
        (1e21, "1e+21"),
        (1e300, "1e+300"),
        (0.0001, "0.0001"),
        (0.00001, "1e-05"),
        (5e-324, "5e-324"),
        (math.inf, "+inf"),
        (-math.inf, "-inf"),
        (math.nan, "nan"),
        (NAN, "nan"),
    ],
)
def test_a_float_is_shown_by_its_shortest_digits_with_an_exponent_from_a_million_on(x: float, text: str) -> None:
    assert float_text(x) == text


@pytest.mark.parametrize(
    ("verb", "x", "text"),
    [
        ("e", 12345.678, "1.234568e+04"),
        ("E", 12345.678, "1.234568E+04"),
        ("f", 12345.678, "12345.678000"),
        ("F", 0.5, "0.500000"),
        ("g", 1e21, "1e+21"),
        ("G", 1e21, "1E+21"),
        ("g", 100.0, "100.0"),
        ("f", math.inf, "+inf"),
        ("e", -math.inf, "-inf"),
        ("G", NAN, "nan"),
    ],
)
def test_a_conversion_shows_a_float_in_its_own_form(verb: str, x: float, text: str) -> None:
    assert format_float(x, verb) == text


@pytest.mark.parametrize("exponent", [1, 599, 600, 601, 640, 4_300, 4_301, 50_000, 78_000])
def test_an_integer_of_any_size_is_shown_in_decimal(exponent: int) -> None:
    n = 10**exponent
    assert int_text(n) == "1" + "0" * exponent
    assert int_text(n - 1) == "9" * exponent
    assert int_text(-n) == "-1" + "0" * exponent


def test_the_longest_integer_is_shown_and_read_back() -> None:
    n = (1 << INT_BITS_MAX) - 12_345
    digits = int_text(n)
    assert len(digits) == 78_914
    assert parse_digits(digits, 10) == n


@pytest.mark.parametrize(("base", "text"), [(2, "-11111111"), (8, "-377"), (10, "-255"), (16, "-ff")])
def test_an_integer_is_shown_in_other_bases_with_small_letters(base: int, text: str) -> None:
    assert int_text(-255, base) == text


@pytest.mark.parametrize("base", [2, 3, 7, 8, 10, 16, 35, 36])
def test_long_digits_of_any_base_are_read(base: int) -> None:
    digits = "1" + "0" * 3_000
    assert parse_digits("000" + digits, base) == base**3_000


@pytest.mark.parametrize(
    ("digits", "base"),
    [
        ("", 10),
        (" 1", 10),
        ("1 ", 10),
        ("+1", 10),
        ("1_0", 10),
        ("0x10", 10),
        ("٣", 10),
        ("8", 8),
        ("g", 16),
        ("1.0", 10),
    ],
)
def test_what_is_not_a_digit_of_the_base_is_refused(digits: str, base: int) -> None:
    with pytest.raises(ValueError, match=r"base|literal"):
        parse_digits(digits, base)
    with pytest.raises(ValueError, match=r"base|literal"):
        parse_digits("1" * 700 + digits + "!", base)


def test_an_integer_longer_than_the_language_allows_is_refused_before_it_is_made() -> None:
    with pytest.raises(EvalError, match="1000000 digits is too long"):
        parse_digits("9" * 1_000_000, 10)
    with pytest.raises(EvalError, match="262145 bits is too long"):
        parse_digits("1" + "0" * INT_BITS_MAX, 2)
    assert parse_digits("0" * 1_000_000, 10) == 0
