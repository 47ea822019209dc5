"""Random programs mean the same as to starlark-rust and, where the languages agree, as to CPython.

What the engines disagree on by design is left out of the grammar of the programs or evened out here:

- CPython: the quotes of ``repr``, ``str`` of floats, the sign of a remainder of zero, ``True == 1``, views instead of
  lists, iterable strings, Unicode's rules of case.
- starlark-rust: messages of errors; its binding hands out JSON, so a tuple arrives as a list, a range not at all, keys
  that are equal to Python are one, and the last digit of a float may be off; ``repr`` escapes what is not ASCII;
  ``hash`` and ``dir`` differ, and there are no bytes; a string slice with a step whose start is beyond the end is
  wrong; a large repetition aborts the process.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import pytest
import starlark as rust
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from plait import starlark
from tests.starlark.generators import common_program, starlark_program

_STEPS: Final = 5_000_000
_GLOBALS: Final = rust.Globals.standard()
_DIALECT: Final = rust.Dialect.extended()
_REPRODUCIBLE: Final = settings(
    deadline=None,
    derandomize=True,
    max_examples=150,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


class End(NamedTuple):
    """How a program ends.

    Attributes:
        fails: Whether it fails.
        value: What it leaves in ``out``, or how it fails.
    """

    fails: bool
    value: Any


def in_plait(source: str) -> End:
    try:
        module = starlark.compile(source).run(starlark.Thread(max_steps=_STEPS))
    except starlark.EvalError as error:
        return End(True, error.message)
    return End(False, starlark.to_python(module["out"]))


def in_rust(source: str) -> End:
    module = rust.Module()
    try:
        rust.eval(module, rust.parse("main.star", source, dialect=_DIALECT), _GLOBALS)
    except rust.StarlarkError as error:
        return End(True, str(error))
    return End(False, module["out"])


def in_python(source: str) -> End:
    variables: dict[str, Any] = {}
    try:
        exec(compile(source, "main.py", "exec", dont_inherit=True), variables)
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        return End(True, repr(error))
    return End(False, variables["out"])


def alike(x: Any, y: Any) -> bool:
    """Tell whether two values of Python are the same, their types and the order of dicts included."""
    if type(x) is not type(y):
        return False
    if isinstance(x, list | tuple):
        return len(x) == len(y) and all(map(alike, x, y))
    if isinstance(x, dict):
        return alike(list(x.items()), list(y.items()))
    if isinstance(x, float):
        return repr(x) == repr(y)
    return bool(x == y)


def listed(x: Any) -> Any:
    """A value as it comes out of the binding's JSON: without tuples, and with floats whose last digit may be off."""
    if isinstance(x, list | tuple):
        return [listed(item) for item in x]
    if isinstance(x, float):
        return float(f"{x:.14g}")
    return {key: listed(value) for key, value in x.items()} if isinstance(x, dict) else x


@_REPRODUCIBLE
@given(st.randoms(use_true_random=False))
def test_a_random_program_means_the_same_to_python(rng: random.Random) -> None:
    source = common_program(rng)
    ours, theirs = in_plait(source), in_python(source)
    assert ours.fails == theirs.fails, (source, ours, theirs)
    assert ours.fails or alike(ours.value, theirs.value), source


@_REPRODUCIBLE
@given(st.randoms(use_true_random=False))
def test_a_random_program_means_the_same_to_starlark_rust(rng: random.Random) -> None:
    source = starlark_program(rng)
    ours, theirs = in_plait(source), in_rust(source)
    assert ours.fails == theirs.fails, (source, ours, theirs)
    assert ours.fails or alike(listed(ours.value), listed(theirs.value)), source


@pytest.mark.slow
@pytest.mark.parametrize(
    ("other", "program"), [(in_python, common_program), (in_rust, starlark_program)], ids=["python", "starlark-rust"]
)
def test_many_random_programs_mean_the_same(
    other: Callable[[str], End], program: Callable[[random.Random], str]
) -> None:
    for seed in range(1_000):
        source = program(random.Random(seed))
        ours, theirs = in_plait(source), other(source)
        assert ours.fails == theirs.fails, (seed, source, ours, theirs)
        assert ours.fails or alike(listed(ours.value), listed(theirs.value)), (seed, source)


# ---- values: one operation, any operands

_INTS: Final = st.one_of(
    st.integers(-20, 20), st.integers(-(1 << 70), 1 << 70), st.sampled_from([2**31, -(2**63), 2**64 - 1])
)
_FLOATS: Final = st.floats(allow_nan=False, allow_infinity=False)
_TEXTS: Final = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
_NUMBERS: Final = st.one_of(_INTS, _FLOATS)


def evaluated(expression: str, *values: Any) -> End:
    """What an expression of ``x``, ``y`` and ``z`` is to the engine."""
    names = ", ".join("xyz"[: len(values)])
    function = starlark.compile(f"def f({names}):\n    return {expression}\n").run(starlark.Thread())["f"]
    try:
        result = starlark.call(starlark.Thread(), function, [starlark.from_python(value) for value in values])
    except starlark.EvalError as error:
        return End(True, error.message)
    return End(False, starlark.to_python(result))


def computed(expression: str, *values: Any) -> End:
    """What an expression is to Python."""
    try:
        value = eval(expression, dict(zip("xyz", values, strict=False)))
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        return End(True, repr(error))
    return End(False, value)


def assert_alike(expression: str, *values: Any) -> None:
    ours, theirs = evaluated(expression, *values), computed(expression, *values)
    if "%" in expression and ours.value == theirs.value == 0:
        return
    if isinstance(theirs.value, float) and not math.isfinite(theirs.value):
        return  # the language's own rules, which tests of its numbers know
    if theirs.fails and "too large" in str(theirs.value):
        return  # Python refuses where a float of the language is infinite
    assert ours.fails == theirs.fails, (expression, values, ours, theirs)
    assert ours.fails or alike(ours.value, theirs.value), (expression, values, ours, theirs)


@settings(deadline=None, derandomize=True, max_examples=200)
@given(st.sampled_from(["+", "-", "*", "/", "//", "%", "<", "<=", ">", ">=", "==", "!="]), _NUMBERS, _NUMBERS)
def test_arithmetic_is_python_s(operator: str, x: float, y: float) -> None:
    assert_alike(f"x {operator} y", x, y)


@settings(deadline=None, derandomize=True, max_examples=150)
@given(st.sampled_from(["x & y", "x | y", "x ^ y", "~x + y", "x << (y % 200)", "x >> (y % 200)", "-x", "abs(x)",
                        "str(x)",
                        "'%d' % x", "'%x' % x", "'%o' % x", "'%X' % x", "int(str(x)) + y", "x * x * x - y"]), _INTS,
                        _INTS)  # fmt: skip
def test_integers_are_python_s(expression: str, x: int, y: int) -> None:
    assert_alike(expression, x, y)


@settings(deadline=None, derandomize=True, max_examples=150)
@given(st.sampled_from(["int(x)", "float(int(x))", "abs(x)", "-x", "'%e' % x", "'%f' % x", "float(str(x))",
                        "x == int(x)",
                        "x < int(x)", "min(x, 1)", "max(x, 1.5)", "bool(x)", "sorted([x, 0, 1.5, -2])"]),
                        _FLOATS)  # fmt: skip
def test_floats_are_python_s(expression: str, x: float) -> None:
    assert_alike(expression, x)


@settings(deadline=None, derandomize=True, max_examples=250)
@given(st.sampled_from(["x + y", "x * 3", "x == y", "x < y", "x <= y", "x in y", "x.find(y)", "x.rfind(y)",
                        "x.count(y)", "x.startswith(y)",
                        "x.endswith(y)", "x.split(y or ',')", "x.rsplit(y or ',', 2)", "x.partition(y or ' ')",
                        "x.rpartition(y or ' ')",
                        "x.replace(y, '-')", "x.replace(y, '-', 2)", "y.join([x, x])", "x.removeprefix(y)",
                        "x.removesuffix(y)", "x.strip(y or ' ')",
                        "x.lstrip(y or ' ')", "x.rstrip(y or ' ')", "'%s|%s' % (x, y)", "'{}{}'.format(x, y)",
                        "'{1}{0}{a}'.format(x, y, a=x)",
                        "x.index(y)", "x.rindex(y)", "len(x + y)", "x[:len(y)]", "(x + y).split()"]),
       _TEXTS, _TEXTS)  # fmt: skip
def test_strings_are_python_s(expression: str, x: str, y: str) -> None:
    if expression.endswith("split()") and any(each in "\x1c\x1d\x1e\x1f" for each in x + y):
        return  # white space to Python alone
    assert_alike(expression, x, y)


_INDICES: Final = st.one_of(st.none(), st.integers(-8, 8), st.sampled_from([2**63, -(2**63)]))


@settings(deadline=None, derandomize=True, max_examples=200)
@given(st.one_of(_TEXTS, st.lists(st.integers(), max_size=6), st.lists(st.integers(), max_size=6).map(tuple)),
    _INDICES, _INDICES,
       st.one_of(st.none(), st.integers(-4, 4)))  # fmt: skip
def test_slices_are_python_s(x: Any, low: int | None, high: int | None, step: int | None) -> None:
    parts = ["" if part is None else str(part) for part in (low, high, step)]
    assert_alike(f"x[{':'.join(parts)}]", x)


@settings(deadline=None, derandomize=True, max_examples=150)
@given(st.one_of(st.lists(_NUMBERS, max_size=12), st.lists(_TEXTS, max_size=8), st.lists(st.tuples(st.integers(-2, 2),
    _TEXTS), max_size=8)),
       st.sampled_from(["sorted(x)", "sorted(x, reverse=True)", "min(x)", "max(x)",
                        "sorted(x, key=lambda v: str(type(v)))[:0]", "x == sorted(x)",
                        "sorted(x)[:1] < x", "[v for v in sorted(x) if v in x] == sorted(x)"]))  # fmt: skip
def test_sorting_and_order_are_python_s(x: list[Any], expression: str) -> None:
    assert_alike(expression, x)
