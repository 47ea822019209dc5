"""What json.encode, json.decode, json.indent and json.encode_indent make of values and of texts."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import inf
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plait.context import Cancelled, Context
from plait.starlark.errors import EvalError, StepLimitExceeded
from plait.starlark.modules.json import json
from plait.starlark.modules.math import math
from plait.starlark.modules.structs import make_module, make_struct
from plait.starlark.modules.time import time
from plait.starlark.thread import Thread
from plait.starlark.values import FALSE, NAN, TRUE, Bool, Bytes, FrozenDict, FrozenList, Set


def encode(value: Any, thread: Thread | None = None) -> str:
    return str(json["encode"](thread or Thread(), value))


def decode(text: str, *args: Any, thread: Thread | None = None, **kwargs: Any) -> Any:
    return json["decode"](thread or Thread(), text, *args, **kwargs)


def indent(text: str, **kwargs: str) -> str:
    return str(json["indent"](Thread(), text, **kwargs))


def message(function: Callable[..., Any], *args: Any, **kwargs: Any) -> str:
    with pytest.raises(EvalError) as caught:
        function(*args, **kwargs)
    return caught.value.message


def typed(value: Any) -> Any:
    """A value with the types of all that is in it, so that 1 and 1.0 differ."""
    if type(value) is list:
        return [typed(item) for item in value]
    if type(value) is dict:
        return {key: typed(item) for key, item in value.items()}
    return type(value), value


@contextmanager
def host_digits(limit: int) -> Iterator[None]:
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(limit)
    try:
        yield
    finally:
        sys.set_int_max_str_digits(before)


# Encoding.


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (TRUE, "true"),
        (FALSE, "false"),
        (-123, "-123"),
        (2**100, "1267650600228229401496703205376"),
        (1.0, "1.0"),
        (12.345e67, "1.2345e+68"),
        ("hello", '"hello"'),
        ('a"b\\', '"a\\"b\\\\"'),
        ("\x7f", '"\x7f"'),
        ("<&>", '"<&>"'),
        ("<&>é", '"\\u003c\\u0026\\u003eé"'),
        ("\n\x01\u2028", '"\\n\\u0001\\u2028"'),
        ("😹", '"😹"'),
        ([], "[]"),
        ([1, [2, "x"], ()], '[1,[2,"x"],[]]'),
        (range(3), "[0,1,2]"),
        (Set({"a": None, 1: None}), '["a",1]'),
        (FrozenList([TRUE]), "[true]"),
        ({}, "{}"),
        ({"y": "two", "x": [None]}, '{"x":[null],"y":"two"}'),
        (FrozenDict({"b": 1, "a": {}}), '{"a":{},"b":1}'),
        (make_struct(y=1, x=make_struct()), '{"x":{},"y":1}'),
        (make_module(Thread(), "m", y=2, x=1), '{"x":1,"y":2}'),
        (
            time["second"],
            '{"hours":0.0002777777777777778,"microseconds":1000000,"milliseconds":1000,'
            '"minutes":0.016666666666666666,"nanoseconds":1000000000,"seconds":1.0}',
        ),
    ],
)
def test_a_value_is_encoded_as(value: Any, text: str) -> None:
    assert encode(value) == text


def cyclic_list() -> list[Any]:
    values: list[Any] = []
    values.append(values)
    return values


def cyclic_dict() -> dict[str, Any]:
    values: dict[str, Any] = {}
    values["r"] = values
    return values


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (NAN, "cannot encode non-finite float nan"),
        (inf, "cannot encode non-finite float +inf"),
        ([1, -inf], "at list index 1: cannot encode non-finite float -inf"),
        ({"a": 1, "b": inf}, 'in dict key "b": cannot encode non-finite float +inf'),
        ({1: "two"}, "dict has int key, want string"),
        ([{"a": 1, TRUE: 2}], "at list index 0: dict has bool key, want string"),
        (math["sqrt"], "cannot encode builtin_function_or_method as JSON"),
        (Bytes(b"x"), "cannot encode bytes as JSON"),
        (
            make_struct(Thread(), x=[1, {"x": math["sqrt"]}]),
            'in field .x: at list index 1: in dict key "x": cannot encode builtin_function_or_method as JSON',
        ),
        (cyclic_list(), "at list index 0: cycle in JSON structure"),
        (cyclic_dict(), 'in dict key "r": cycle in JSON structure'),
        ((1, 2, cyclic_list()), "at tuple index 2: at list index 0: cycle in JSON structure"),
        ([*range(20_000), inf], "at list index 20000: cannot encode non-finite float +inf"),
    ],
)
def test_what_json_has_not_is_an_error_that_says_where(value: Any, problem: str) -> None:
    assert message(encode, value) == f"json.encode: {problem}"


def test_a_value_in_two_places_is_no_cycle() -> None:
    shared = [[1], []]
    assert encode([shared, {"x": shared}]) == '[[[1],[]],{"x":[[1],[]]}]'


def nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth - 1):
        value = [value]
    return value


def test_the_depth_is_limited_alike_in_both_directions() -> None:
    assert decode("[" * 400 + "]" * 400) == nested(400)
    assert encode(nested(400)) == "[" * 400 + "]" * 400
    assert "nested too deeply" in message(encode, nested(401))
    assert message(decode, "[" * 401 + "]" * 401).startswith("json.decode: at offset 400, nested too deeply")
    assert message(decode, '{"a":' * 100_000).startswith("json.decode: at offset 2000, nested too deeply")


def test_a_dag_that_grows_without_end_is_stopped_by_the_steps() -> None:
    value: list[Any] = [1]
    for _ in range(60):
        value = [value, value]
    with pytest.raises(StepLimitExceeded):
        encode(value, Thread(max_steps=10_000))


def test_encoding_is_charged_by_size_before_it_is_done() -> None:
    values = [
        [0] * 5_000,
        {str(n): n for n in range(1_000)},
        "a" * 100_000,
        range(10**9),
        1 << 262_143,
        "\x01" * 40_000,
    ]
    for value in values:
        with pytest.raises(StepLimitExceeded):
            encode(value, Thread(max_steps=1_000))


def test_long_lists_dicts_and_strings_are_written_in_parts() -> None:
    thread = Thread(max_steps=None)
    assert encode([*range(40_000), [1]], thread) == f"[{','.join(map(str, range(40_000)))},[1]]"
    assert encode({f"{n:06}": n for n in range(40_000)}, thread).startswith('{"000000":0,"000001":1,')
    plain = "a" * 600_000
    assert encode({"k": [plain, f"{plain}é<"]}, thread) == f'{{"k":["{plain}","{plain}é\\u003c"]}}'


# Decoding.


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (" null ", None),
        ("true", TRUE),
        ('[false,{"a":true}]', [FALSE, {"a": TRUE}]),
        ("-123", -123),
        ("-0", 0),
        ("3539537889086624823140625.0", 3.539537889086625e24),
        ("0e+1", 0.0),
        ("1.", 1.0),
        ("-.5", -0.5),
        ("1e-999", 0.0),
        ("[]", []),
        ("{}", {}),
        ('{"a": 1, "b": [2, {}], "a": 3}', {"a": 3, "b": [2, {}]}),
        (r'"\ud83d\ude39\u0041\/\b"', "😹A/\b"),
        (r'"\ud800"', "\ufffd"),
        (r'"\udc00\ud800\ud83d\ude39"', "\ufffd\ufffd😹"),
        (r'"\\ud800"', r"\ud800"),
        ('"a\nb\x00"', "a\nb\x00"),
        ('"\x7fé"', "\x7fé"),
    ],
)
def test_a_text_is_decoded_as(text: str, value: Any) -> None:
    assert typed(decode(text)) == typed(value)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("truefalse", "at offset 4, unexpected character 'f' after value"),
        ('"abc', "at offset 0, unclosed string literal"),
        ('"abc\\', "at offset 0, unclosed string literal"),
        ('"ab\\gc"', "at offset 7, invalid character 'g' in string escape code"),
        ('"ab\\u12"', "at offset 8, invalid character '\"' in \\u hexadecimal character escape"),
        ('"é\n"', "at offset 4, invalid character '\\n' in string literal"),
        ("'abc'", "at offset 0, unexpected character '\\''"),
        ("é", "at offset 0, unexpected character 'é'"),
        ("nul", "at offset 0, unexpected character 'n'"),
        ("NaN", "at offset 0, unexpected character 'N'"),
        ("[Infinity]", "at offset 1, unexpected character 'I'"),
        ("-Infinity", "at offset 1, invalid number: -"),
        ("1.2.3", "at offset 5, invalid number: 1.2.3"),
        ("+1", "at offset 0, unexpected character '+'"),
        ("-00", "at offset 3, invalid number: -00"),
        ("0123", "at offset 4, invalid number: 0123"),
        ("1e999", "at offset 5, invalid number: 1e999"),
        ("[1, -1e999]", "at offset 10, invalid number: -1e999"),
        ("0x123", "at offset 1, unexpected character 'x' after value"),
        ("", "at offset 0, unexpected end of file"),
        ("[1, 2 ", "at offset 6, unexpected end of file"),
        ("[1, 2, ]", "at offset 7, unexpected character ']'"),
        ("[1, 2}", "at offset 5, got '}', want ',' or ']'"),
        ('{"one" 1', "at offset 7, after object key, got '1', want ':' "),
        ('{"one": 1 "two": 2', "at offset 10, in object, got '\"', want ',' or '}'"),
        ("{1: 2}", "at offset 2, got int for object key, want string"),
        ("{[1]: 2}", "at offset 4, got list for object key, want string"),
    ],
)
def test_a_text_that_is_not_json_is_an_error_that_says_where(text: str, problem: str) -> None:
    assert message(decode, text) == f"json.decode: {problem}"


def test_integers_may_be_as_long_as_those_of_the_language() -> None:
    assert decode("9" * 5_000) == 10**5_000 - 1
    assert decode("[-" + "9" * 78_913 + "]") == [1 - 10**78_913]
    assert message(decode, "9" * 78_914) == (
        "json.decode: at offset 78914, integer of 262147 bits is too long (the limit is 262144)"
    )
    assert message(decode, "9" * 100_000) == (
        "json.decode: at offset 100000, integer of 100000 digits is too long (the limit is 262144 bits)"
    )


def test_a_default_is_returned_for_what_is_not_json_and_for_nothing_else() -> None:
    assert decode('{"valid": "json"}', "default") == {"valid": "json"}
    assert decode('{"invalid"', "default") == "default"
    assert decode('{"invalid"', default=None) is None
    assert decode("[" * 1_000, default=1) == 1
    with pytest.raises(StepLimitExceeded):
        decode("[" * 1_000, default=1, thread=Thread(max_steps=100))


def test_the_arguments_of_decode_are_checked() -> None:
    assert message(json["decode"], Thread(), 1) == "json.decode: for parameter x: got int, want string"
    assert message(json["decode"], Thread(), x="1") == 'json.decode: unexpected keyword argument "x"'
    assert message(json["decode"], Thread(), default=1) == "json.decode: missing argument for x"
    assert message(json["decode"], Thread(), "1", defalt=1) == (
        'json.decode: unexpected keyword argument "defalt" (did you mean default?)'
    )


def test_decoding_is_charged_by_size_before_it_is_done() -> None:
    for text in ("[" + "[]," * 1_000 + "1]", "{" + '"a":{},' * 500 + '"b":1}', '"' + "a" * 20_000 + '"'):
        with pytest.raises(StepLimitExceeded):
            decode(text, thread=Thread(max_steps=1_000))


def test_the_steps_do_not_depend_on_which_way_a_text_is_parsed() -> None:
    thread, other = Thread(), Thread()
    decode("[1,2,1.0]", thread=thread)
    decode("[1,2,1. ]", thread=other)
    assert thread.steps == other.steps > 0


@pytest.mark.parametrize("limit", [0, 640, 100_000])
def test_the_hosts_limit_for_digits_does_not_matter(limit: int) -> None:
    digits = "9" * 20_000
    with host_digits(limit):
        assert decode(f"[{digits}]") == [10**20_000 - 1]
        assert encode(10**20_000 - 1) == digits
        assert "is too long" in message(decode, "9" * 500_000)


def test_long_texts_are_parsed_too() -> None:
    escapes = r"\ud83d\ude39\"\\"
    for start in ("[" + "[]," * 250_000, '["' + "a" * 1_200_000 + '",', f'["{escapes * 60_000}",'):
        thread = Thread(max_steps=None)
        value = decode(f"{start}true]", thread=thread)
        assert value[-1] is TRUE
        assert encode(value, thread) == f"{start}true]".replace(r"\ud83d\ude39", "😹")


def test_a_long_text_is_parsed_under_the_eyes_of_the_context() -> None:
    context = Context()
    context.cancel("enough")
    with pytest.raises(Cancelled):
        decode("[" + "[]," * 400_000 + "1]", thread=Thread(context=context))


_texts = st.text(st.characters(codec="utf-8"))
_values = st.recursive(
    st.one_of(
        st.none(),
        st.sampled_from([TRUE, FALSE]),
        st.integers(),
        st.floats(allow_nan=False, allow_infinity=False),
        _texts,
    ),
    lambda inner: st.one_of(st.lists(inner), st.dictionaries(_texts, inner)),
)


@given(_values)
def test_what_is_encoded_is_decoded_again(value: Any) -> None:
    text = encode(value)
    assert typed(decode(text)) == typed(value)
    assert typed(decode(indent(text))) == typed(value)
    assert all(isinstance(item, Bool) or type(item) is not bool for item in (value if type(value) is list else [value]))


# Indenting.


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ('{"x":1,"y":["one",{}],"z":[]}', '{\n\t"x": 1,\n\t"y": [\n\t\t"one",\n\t\t{}\n\t],\n\t"z": []\n}'),
        (" [ 1 , -2.5e+3 ] \n", "[\n\t1,\n\t-2.5e+3\n] \n"),
        ("true", "true"),
        (r' "\u00e9<" ', r'"\u00e9<" '),
    ],
)
def test_a_text_is_indented_as(text: str, result: str) -> None:
    assert indent(text) == result


def test_prefix_and_indent_are_chosen_by_name() -> None:
    assert indent("[1,[2]]", prefix="¶", indent="--") == "[\n¶--1,\n¶--[\n¶----2\n¶--]\n¶]"
    assert json["encode_indent"](Thread(), {"b": 1, "a": (2,)}, prefix=">", indent=" ") == (
        '{\n> "a": [\n>  2\n> ],\n> "b": 1\n>}'
    )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("!@#", "invalid character '!' looking for beginning of value"),
        ("", "unexpected end of JSON input"),
        ("[1", "unexpected end of JSON input"),
        ("[1,]", "invalid character ']' looking for beginning of value"),
        ("[}", "invalid character '}' looking for beginning of value"),
        ("[1 2]", "invalid character '2' after array element"),
        ("01", "invalid character '1' after top-level value"),
        ('{"a" 1}', "invalid character '1' after object key"),
        ('{"a":1 2}', "invalid character '2' after object key:value pair"),
        ('{"a":1,}', "invalid character '}' looking for beginning of object key string"),
        ("{1:2}", "invalid character '1' looking for beginning of object key string"),
        ("trux", "invalid character 'x' in literal true (expecting 'e')"),
        ("nu", "invalid character ' ' in literal null (expecting 'l')"),
        ("-x", "invalid character 'x' in numeric literal"),
        ("1.x", "invalid character 'x' after decimal point in numeric literal"),
        ("1e+", "invalid character ' ' in exponent of numeric literal"),
        ('"\n"', "invalid character '\\n' in string literal"),
        ('"\\x"', "invalid character 'x' in string escape code"),
        ('"abc', "unexpected end of JSON input"),
    ],
)
def test_only_json_is_indented(text: str, problem: str) -> None:
    assert message(indent, text) == f"json.indent: {problem}"


def test_what_is_indented_may_be_deep_within_limits() -> None:
    thread = Thread(max_steps=None)
    assert json["indent"](thread, "[" * 10_000 + "]" * 10_000, indent="").count("\n") == 19_998
    assert message(json["indent"], thread, "[" * 10_001, indent="") == (
        "json.indent: invalid character '[' exceeded max depth"
    )


def test_the_arguments_of_indent_and_encode_indent_are_checked() -> None:
    assert message(json["encode_indent"], Thread(), "a", "b") == "json.encode_indent: got 2 arguments, want 1"
    assert message(json["indent"], Thread()) == "json.indent: got 0 arguments, want 1"
    assert message(json["indent"], Thread(), 1) == "json.indent: for parameter 1: got int, want string"
    assert (
        message(json["indent"], Thread(), "1", prefix=1) == 'json.indent: for parameter "prefix": got int, want string'
    )
    assert message(json["indent"], Thread(), "1", prefx="") == (
        'json.indent: unexpected keyword argument "prefx" (did you mean prefix?)'
    )
    assert message(json["encode_indent"], Thread(), cyclic_dict()) == (
        'json.encode_indent: in dict key "r": cycle in JSON structure'
    )


def test_a_wide_indent_of_a_deep_text_is_charged_before_it_is_written() -> None:
    with pytest.raises(StepLimitExceeded):
        indent("[" * 9_000 + "]" * 9_000, indent=" " * 1_000)
