"""Tests of the conversion between a host's Python values and values of a script."""

from __future__ import annotations

import decimal
import enum
import math
from typing import Any

import pytest

from plait.starlark.errors import EvalError, StarlarkError
from plait.starlark.host.conversion import from_python, script_value, to_python
from plait.starlark.text import to_repr
from plait.starlark.thread import Thread
from plait.starlark.universe.universe import UNIVERSAL
from plait.starlark.values import (
    FALSE,
    NAN,
    TRUE,
    BoundMethod,
    FrozenDict,
    FrozenList,
    FrozenSet,
    HostValue,
    Module,
    Set,
    Struct,
)


class Point(HostValue):
    """A value of a host."""

    type_name = "point"


class Colour(enum.IntEnum):
    RED = 3


class Word(str):
    __slots__ = ()


def starlark_function(_thread: Thread, /) -> Any:
    return None


POINT = Point()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "None"),
        (True, "True"),
        (False, "False"),
        (3, "3"),
        (-(1 << 100), str(-(1 << 100))),
        (1.5, "1.5"),
        (math.nan, "nan"),
        ("é", '"é"'),
        (b"a", 'b"a"'),
        (bytearray(b"a"), 'b"a"'),
        (range(3), "range(3)"),
        ([True, [None]], "[True, [None]]"),
        ((1, (False,)), "(1, (False,))"),
        ({"a": {"b": True}, 1: 2, (1, True): 3}, '{"a": {"b": True}, 1: 2, (1, True): 3}'),
        ({1}, "set([1])"),
        (frozenset({"x"}), 'set(["x"])'),
        (Set({1: None}), "set([1])"),
        (Colour.RED, "3"),
        (Word("w"), '"w"'),
        ([], "[]"),
        ({}, "{}"),
    ],
)
def test_python_values_become_values_of_a_script(value: Any, text: str) -> None:
    assert to_repr(Thread(), from_python(value)) == text


def test_only_the_languages_own_types_come_out() -> None:
    converted = from_python([True, math.nan, Colour.RED, Word("w"), {1}, {True: False}, float("inf")])
    assert converted[0] is TRUE
    assert converted[1] is NAN
    assert [type(x) for x in converted[2:]] == [int, str, Set, dict, float]
    assert converted[5] == {TRUE: FALSE}


@pytest.mark.parametrize(
    "value",
    [
        FrozenList([1]),
        FrozenDict({"a": 1}),
        FrozenSet({1: None}),
        Struct({"a": 1}),
        Module("m", {}),
        POINT,
        TRUE,
        NAN,
        UNIVERSAL["len"],
        starlark_function,
        BoundMethod("append", [], starlark_function),
    ],
)
def test_values_that_scripts_know_pass_as_they_are(value: Any) -> None:
    assert from_python(value) is value
    assert from_python([value])[0] is value


def test_containers_are_copied_and_what_is_shared_stays_shared() -> None:
    inner = [1]
    outer = [inner, inner, (inner,)]
    converted = from_python(outer)
    assert converted == outer
    assert converted is not outer
    assert converted[0] is not inner
    assert converted[0] is converted[1] is converted[2][0]


def test_a_value_of_shared_parts_takes_no_more_time_than_it_is_large() -> None:
    value: list[Any] = [1]
    for _ in range(100):
        value = [value, value]
    assert len(from_python(value)) == 2
    assert len(to_python(value)) == 2


def test_half_a_character_becomes_a_replacement_and_two_halves_one_character() -> None:
    assert from_python("a\ud800é") == "a\ufffdé"
    assert from_python(["\ud83d\ude00"]) == ["😀"]
    assert from_python({"\ud800": 1}) == {"\ufffd": 1}


def cyclic() -> list[Any]:
    value: list[Any] = []
    value.append({"again": (value,)})
    return value


def deep() -> list[Any]:
    value: list[Any] = []
    for _ in range(100_000):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (decimal.Decimal(1), "a Python Decimal is no Starlark value"),
        ([object()], "a Python object is no Starlark value"),
        (1j, "a Python complex is no Starlark value"),
        (int, "a Python type is no Starlark value"),
        (deep, "the Python function deep is no Starlark value: make it one with @starlark.builtin"),
        ([1 << 262_144], "an integer of 262145 bits is too large for Starlark (at most 262144)"),
        (cyclic(), "cannot convert a list that contains itself"),
        (deep(), "cannot convert a value that is nested more than 400 deep"),
        ({frozenset({1}): 1}, "unhashable type: set"),
        ({(frozenset({1}),): 1}, "unhashable type: set"),
        ({range(3)}, "unhashable type: range"),
    ],
)
def test_what_has_no_value_in_the_language_is_refused(value: Any, message: str) -> None:
    with pytest.raises(StarlarkError) as caught:
        from_python(value)
    assert caught.value.message == message


def test_values_of_a_script_become_plain_python() -> None:
    value = [
        TRUE,
        FrozenList([FALSE]),
        FrozenDict({"a": NAN}),
        Struct({"b": (TRUE, None)}),
        Set({1: None, 2: None}),
        Set({Struct({"a": 1}): None}),
        Set({1: None, TRUE: None}),
        range(3),
        POINT,
        Module("m", {"pi": 3.0}),
    ]
    converted = to_python(value)
    assert converted[0] is True
    assert converted[1] == [False]
    assert type(converted[1]) is list
    assert type(converted[2]) is dict
    assert type(converted[2]["a"]) is float
    assert math.isnan(converted[2]["a"])
    assert converted[3:] == [{"b": (True, None)}, {1, 2}, [{"a": 1}], [1, True], range(3), POINT, {"pi": 3.0}]


def test_the_way_there_and_back_gives_an_equal_copy() -> None:
    value = {"a": [1, 2.5, "x", b"y", None, True, (1, [2])], "s": {1, 2}}
    assert to_python(from_python(value)) == value


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (UNIVERSAL["len"], "a Starlark builtin_function_or_method has no Python value"),
        ([starlark_function], "a Starlark function has no Python value"),
        (
            {"m": BoundMethod("append", [], starlark_function)},
            "a Starlark builtin_function_or_method has no Python value",
        ),
        (cyclic(), "cannot convert a list that contains itself"),
        (deep(), "cannot convert a value that is nested more than 400 deep"),
        ({1: "i", TRUE: "t"}, "a dict has two keys that Python cannot tell apart, such as 1 and True"),
        ({Struct({"a": 1}): 1}, "a dict has a key that Python cannot hash"),
    ],
)
def test_what_has_no_plain_python_value_is_refused(value: Any, message: str) -> None:
    with pytest.raises(StarlarkError) as caught:
        to_python(value)
    assert caught.value.message == message


def test_what_a_hosts_value_hands_out_is_not_copied() -> None:
    held = [1]
    assert script_value("point", held) is held
    assert script_value("point", True) is TRUE
    assert script_value("point", math.nan) is NAN
    with pytest.raises(EvalError, match=r"^point: a Python set is no Starlark value$"):
        script_value("point", {1})
