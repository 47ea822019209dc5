"""The methods of bytes, and the iterables that strings and bytes give."""

from __future__ import annotations

from typing import Any

import pytest

from plait.starlark.errors import EvalError
from plait.starlark.methods import strings
from plait.starlark.methods.bytestrings import METHODS
from plait.starlark.methods.elements import BytesElements
from plait.starlark.text import to_repr, to_text
from plait.starlark.thread import Thread
from plait.starlark.values import Bytes, truth, type_name


def _elements(value: Any, name: str) -> Any:
    methods = METHODS if type(value) is Bytes else strings.METHODS
    return methods[name](Thread(), value)


def test_the_elements_of_bytes_are_numbers_that_can_only_be_iterated_over() -> None:
    elements = _elements(Bytes(b"a\xff"), "elems")
    assert list(elements) == [97, 255]
    assert type_name(elements) == "bytes.elems"
    assert to_text(Thread(), elements) == 'b"a\\xff".elems()'
    assert not hasattr(elements, "__len__")
    assert not hasattr(elements, "__getitem__")


@pytest.mark.parametrize(
    ("name", "elements", "kind"),
    [
        ("elems", ["a", "Й", "😿"], "string.elems"),
        ("elem_ords", [97, 1049, 128575], "string.elems"),
        ("codepoints", ["a", "Й", "😿"], "string.codepoints"),
        ("codepoint_ords", [97, 1049, 128575], "string.codepoints"),
    ],
)
def test_a_string_gives_its_code_points_as_strings_or_numbers(name: str, elements: list[Any], kind: str) -> None:
    iterable = _elements("aЙ😿", name)
    assert list(iterable) == elements
    assert type_name(iterable) == kind
    assert to_text(Thread(), [iterable]) == f'["aЙ😿".{name}()]'


def test_the_elements_of_a_string_have_a_length_and_can_be_indexed_as_the_string_itself() -> None:
    elements = _elements("aЙ", "elems")
    assert (len(elements), elements[0], elements[-1]) == (2, "a", "Й")
    assert _elements("aЙ", "elem_ords")[1] == 1049


def test_the_code_points_of_a_string_have_no_length_and_no_index() -> None:
    codepoints = _elements("a", "codepoints")
    assert not hasattr(codepoints, "__len__")
    assert not hasattr(codepoints, "__getitem__")


@pytest.mark.parametrize(
    ("s", "index", "message"),
    [
        ("ab", 2, "string.elems index 2 out of range [-2:1]"),
        ("ab", -3, "string.elems index -3 out of range [-2:1]"),
        ("", 0, "index 0 out of range: empty string.elems"),
        ("ab", "a", "string.elems index: got string, want int"),
        ("ab", 1.0, "string.elems index: got float, want int"),
        ("ab", slice(0, 1), "invalid slice operand string.elems"),
    ],
)
def test_an_index_that_does_not_fit_is_an_error(s: str, index: Any, message: str) -> None:
    with pytest.raises(EvalError) as caught:
        _elements(s, "elems")[index]
    assert caught.value.message == message


def test_such_iterables_are_true_compared_by_what_they_were_made_of_and_not_hashable() -> None:
    assert truth(_elements("", "elems"))
    assert truth(_elements(Bytes(b""), "elems"))
    assert _elements("a", "elems") == _elements("a", "elems")
    assert _elements("a", "elems") != _elements("a", "elem_ords")
    assert _elements("a", "elems") != _elements("b", "elems")
    assert _elements("a", "elems") != _elements("a", "codepoints")
    assert BytesElements(Bytes(b"a")) != "a"
    with pytest.raises(EvalError, match=r"unhashable: string\.codepoints"):
        hash(_elements("a", "codepoints"))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (b"", 'b""'),
        (b'a"\\', 'b"a\\"\\\\"'),
        ("hello, 世界".encode()[:-1], 'b"hello, 世\\xe7\\x95"'),
        ("\t\n\x7f\u200d\x80".encode(), 'b"\\t\\n\\x7f\\u200d\\u0080"'),
        (b"\xed\xb0\x80", 'b"\\xed\\xb0\\x80"'),
        (b"\xff" * 70_000, 'b"' + "\\xff" * 70_000 + '"'),
        ("世".encode() * 70_000, 'b"' + "世" * 70_000 + '"'),
    ],
)
def test_bytes_are_shown_as_the_text_they_are_with_escapes_for_what_is_none(value: bytes, text: str) -> None:
    assert to_repr(Thread(), Bytes(value)) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (b"", ""),
        ("hello, 世界".encode(), "hello, 世界"),
        ("hello, 世界".encode()[:-1], "hello, 世\ufffd\ufffd"),
        (b"\xed\xb0\x80", "\ufffd\ufffd\ufffd"),
        (b"\xff" * 70_000, "\ufffd" * 70_000),
        ("世".encode() * 70_000, "世" * 70_000),
    ],
)
def test_the_text_of_bytes_has_a_replacement_character_for_every_byte_that_is_no_text(value: bytes, text: str) -> None:
    assert to_text(Thread(), Bytes(value)) == text
