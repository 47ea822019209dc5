"""Encoding JSON by the standard encoder: the same text as the language's own, or none."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plait.starlark import StepLimitExceeded, Thread
from plait.starlark.modules.json import json
from plait.starlark.modules.json_standard import standard_text
from plait.starlark.values import FALSE, NAN, TRUE, FrozenDict, FrozenList, Set, Struct

_texts = st.text(st.sampled_from('ab"\\/\n\x01\x1f\x7f<>&é\u2028\u2029\ud800\U0001f600'))
_values = st.recursive(
    st.one_of(
        st.none(),
        st.sampled_from([TRUE, FALSE]),
        st.integers(),
        st.floats(allow_nan=False, allow_infinity=False),
        _texts,
    ),
    lambda inner: st.one_of(
        st.lists(inner),
        st.lists(inner).map(tuple),
        st.lists(inner).map(FrozenList),
        st.dictionaries(_texts, inner),
        st.dictionaries(_texts, inner).map(FrozenDict),
    ),
)


def _cyclic() -> list[Any]:
    value: list[Any] = []
    value.append({"again": value})
    return value


def _deep(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


@given(_values)
def test_the_text_is_the_one_that_is_written_otherwise(value: Any) -> None:
    # A range is not for the standard encoder, so that what stands beside it is written without it.
    written = json["encode"](Thread(), [[value, range(0)]])
    text = standard_text(Thread(), [value])
    assert text is None or f"[{text[:-1]},[]]]" == written


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ([], "[]"),
        ({}, "{}"),
        ({"b": 1, "a": [TRUE, FALSE, None]}, '{"a":[true,false,null],"b":1}'),
        ((1.5, -0.0, 1e-7), "[1.5,-0.0,1e-07]"),
        (["<a>", "\n<a>", "\\n<", '"<', "é&"], r'["<a>","\n\u003ca\u003e","\\n<","\"<","é\u0026"]'),
        (["\ud800<", "<"], '["\ufffd\ufffd\ufffd\\u003c","<"]'),
        ({"\u2028": "<"}, r'{"\u2028":"<"}'),
        (FrozenList([FrozenDict({"k": (1,)})]), '[{"k":[1]}]'),
    ],
)
def test_a_value_of_the_usual_types_is_written(value: Any, text: str) -> None:
    assert standard_text(Thread(), value) == text


@pytest.mark.parametrize(
    "value",
    [
        "a",
        1,
        [1e6],
        [float("inf")],
        [NAN],
        [1 << 64],
        [range(1)],
        [Set({1: None})],
        Struct({"a": 1}),
        {"a": Struct({"a": 1})},
        {1: 2},
        {"a": {1: 2}},
        _cyclic(),
        _deep(40),
        ["a" * 300_000],
    ],
)
def test_other_values_are_left_to_others(value: Any) -> None:
    assert standard_text(Thread(), value) is None


@pytest.mark.parametrize("size", [255, 256, 257, 1_000, 60_000])
def test_a_list_of_any_length_is_written(size: int) -> None:
    thread = Thread(max_steps=None)
    assert standard_text(thread, [*range(size)]) == f"[{','.join(map(str, range(size)))}]"
    assert thread.steps > size


def test_a_long_list_within_an_object_is_written_too() -> None:
    value = {"values": [[n] for n in range(30_000)]}
    thread = Thread(max_steps=None)
    assert json["encode"](thread, value) == f'{{"values":[{",".join(f"[{n}]" for n in range(30_000))}]}}'


@pytest.mark.parametrize("value", [[0] * 250, {str(n): n for n in range(250)}, ["a" * 10_000]])
def test_the_text_is_charged_before_it_is_written(value: Any) -> None:
    with pytest.raises(StepLimitExceeded):
        standard_text(Thread(max_steps=200), value)


def test_a_dag_that_weighs_too_much_is_left_to_others_before_long() -> None:
    value: list[Any] = [1]
    for _ in range(28):
        value = [value, value]
    thread = Thread(max_steps=None)
    assert standard_text(thread, value) is None
    assert thread.steps < 100_000
