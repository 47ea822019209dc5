"""The methods of strings, on texts of every size."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from plait.context import Cancelled, Context
from plait.starlark.errors import EvalError, StepLimitExceeded
from plait.starlark.methods import searching, string_parts, string_searches, strings
from plait.starlark.native import info_of
from plait.starlark.text import to_repr
from plait.starlark.thread import Thread
from plait.starlark.values import FALSE, TRUE, Bytes, FrozenList, Set


def _call(receiver: str, method: str, /, *args: Any, **kwargs: Any) -> Any:
    return strings.METHODS[method](Thread(max_steps=None), receiver, *args, **kwargs)


def test_the_methods_are_those_of_the_language() -> None:
    assert " ".join(sorted(strings.METHODS)) == (
        "capitalize codepoint_ords codepoints count elem_ords elems endswith find format index isalnum isalpha isdigit "
        "islower isspace istitle isupper join lower lstrip partition removeprefix removesuffix replace rfind rindex "
        "rpartition rsplit rstrip split splitlines startswith strip title upper"
    )
    for name, method in strings.METHODS.items():
        info = info_of(method)
        assert info is not None
        assert (info.name, info.positional) == (name, name != "format")


@pytest.mark.parametrize(
    ("s", "name", "args", "result"),
    [
        ("hElLo, WoRlD!", "upper", (), "HELLO, WORLD!"),
        ("straße ŉ ᾳ ﬁ", "upper", (), "STRAßE ŉ ᾼ ﬁ"),
        ("ÀÉ", "lower", (), "àé"),
        ("\u0391\u03a3 \u0130", "lower", (), "\u03b1\u03c3 i"),
        ("hello wORLD's", "title", (), "Hello World'S"),
        ("ǉubović ß ŉa", "title", (), "ǈubović ß ŉA"),
        ("hELLO", "capitalize", (), "Hello"),
        ("ßA", "capitalize", (), "ßa"),
        ("éA", "capitalize", (), "Éa"),
        ("", "capitalize", (), ""),
        ("foofoo", "find", ("oo",), 1),
        ("foofoo", "find", ("ox",), -1),
        ("foofoo", "find", ("oo", 2), 4),
        ("foofoo", "find", ("",), 0),
        ("abc", "find", ("", 5), 3),
        ("abc", "find", ("", 2, 1), 2),
        ("foofoo", "rfind", ("oo",), 4),
        ("foofoo", "rfind", ("oo", 1, 4), 1),
        ("foofoo", "rfind", ("",), 6),
        ("abcabc", "index", ("c", -3), 5),
        ("abcabc", "rindex", ("c", None, -1), 2),
        ("banana", "count", ("a",), 3),
        ("banana", "count", ("a", -4, -2), 1),
        ("banana", "count", ("a", 0, -100), 0),
        ("aaaa", "count", ("aa",), 2),
        ("abc", "count", ("",), 4),
        ("abc", "count", ("", 2, 1), 1),
        ("foo", "startswith", ("fo",), TRUE),
        ("foo", "startswith", ("x",), FALSE),
        ("abc", "startswith", ("bc", 1), TRUE),
        ("abc", "startswith", ("b", 999), FALSE),
        ("abc", "startswith", ("", 999), TRUE),
        ("abc", "startswith", (("x", "a"),), TRUE),
        ("abc", "startswith", ((),), FALSE),
        ("abc", "startswith", (("a", 1),), TRUE),
        ("foo", "endswith", ("oo",), TRUE),
        ("abc", "endswith", ("ab", None, -1), TRUE),
        ("abc", "endswith", ("b", None, -999), FALSE),
        ("abc", "endswith", (("x", "c"),), TRUE),
        ("a.b.c", "split", (".",), ["a", "b", "c"]),
        ("a.b.c", "split", (".", 1), ["a", "b.c"]),
        ("a.b.c", "split", (".", 0), ["a.b.c"]),
        ("", "split", (".",), [""]),
        (" a\x1cb\u3000c\x85", "split", (), ["a\x1cb", "c"]),
        ("  a  b c ", "split", (None, 1), ["a", "b c "]),
        (" \x1f a b", "split", (None, 1), ["\x1f", "a b"]),
        ("a.b.c", "rsplit", (".", 1), ["a.b", "c"]),
        ("aaa", "rsplit", ("aa",), ["", "a"]),
        ("aaaaa", "rsplit", ("aa", 1), ["aa", "a"]),
        (" a b c ", "rsplit", (None, 1), [" a b", "c"]),
        (" a b\x1dc ", "rsplit", (None, 1), [" a", "b\x1dc"]),
        ("\na\rb\n\nc\n", "splitlines", (), ["", "a\rb", "", "c"]),
        ("a\nb\u2028c", "splitlines", (TRUE,), ["a\n", "b\u2028c"]),
        ("a\n", "splitlines", (TRUE,), ["a\n"]),
        ("", "splitlines", (), []),
        ("a/b/c", "partition", ("/",), ("a", "/", "b/c")),
        ("a/b/c", "partition", (".",), ("a/b/c", "", "")),
        ("a/b/c", "rpartition", ("/",), ("a/b", "/", "c")),
        ("a/b/c", "rpartition", (".",), ("", "", "a/b/c")),
        (",", "join", ([],), ""),
        (",", "join", (["a", "b"],), "a,b"),
        (",", "join", (FrozenList(["a", "b"]),), "a,b"),
        (",", "join", (("a",),), "a"),
        (",", "join", ({"a": 1, "b": 2},), "a,b"),
        (",", "join", (Set({"a": None, "b": None}),), "a,b"),
        ("banana", "replace", ("a", "o"), "bonono"),
        ("banana", "replace", ("a", "o", 1), "bonana"),
        ("banana", "replace", ("a", "o", -5), "bonono"),
        ("abc", "replace", ("", "-"), "-a-b-c-"),
        ("abc", "replace", ("", "-", 2), "-a-bc"),
        ("AprApricot", "removeprefix", ("Apr",), "Apricot"),
        ("Apricotcot", "removesuffix", ("cot",), "Apricot"),
        ("a", "removesuffix", ("",), "a"),
        (" \t\x85\u3000foo\n ", "strip", (), "foo"),
        ("\x1cfoo ", "strip", (), "\x1cfoo"),
        (" foo ", "lstrip", ("",), "foo "),
        (" foo ", "rstrip", (), " foo"),
        ("blah.h", "strip", ("b.h",), "la"),
        ("blah.h", "lstrip", ("b.h",), "lah.h"),
        ("blah.h", "rstrip", ("b.h",), "bla"),
        ("abcba", "strip", ("ab" * 50,), "c"),
    ],
)
def test_a_method_returns_what_the_language_says(s: str, name: str, args: tuple[Any, ...], result: Any) -> None:
    assert _call(s, name, *args) == result


def test_format_takes_positional_and_keyword_arguments() -> None:
    assert _call("{}-{thread}-{s}", "format", 1, thread=2, s="x") == "1-2-x"


@pytest.mark.parametrize(
    ("s", "answers"),
    [
        ("", ""),
        ("Hello, World!", "title"),
        ("hello, world!", "lower"),
        ("base64", "alnum lower"),
        ("HAL-9000", "upper"),
        ("\n\t\r\u3000", "space"),
        ("\x1c", ""),
        ("abc", "alnum alpha lower"),
        ("ABC", "alnum alpha upper"),
        ("123", "alnum digit"),
        ("٣", "alnum digit"),
        ("²", ""),
        ("a²", "lower"),
        ("一", "alnum alpha"),
        ("é", "alnum alpha lower"),
        ("É", "alnum alpha upper"),
        ("ß", "alnum alpha lower upper"),
        ("ŉ", "alnum alpha"),
        ("ǄǇ", "alnum alpha upper"),
        ("ǅǈ", "alnum alpha"),
        ("ǅ ǈ", "title"),
        ("ǆǉ", "alnum alpha lower"),
        ("École", "alnum alpha"),
        ("Caf\u00e9 Noir", "title"),
    ],
)
def test_a_question_is_answered_by_the_categories_of_the_characters(s: str, answers: str) -> None:
    names = ["alnum", "alpha", "digit", "lower", "space", "title", "upper"]
    assert " ".join(name for name in names if _call(s, f"is{name}") is TRUE) == answers
    assert all(_call(s, f"is{name}") in {TRUE, FALSE} for name in names)


@pytest.mark.parametrize(
    ("s", "name", "args", "message"),
    [
        ("a", "find", (1,), "find: for parameter 1: got int, want string"),
        ("a", "find", ("a", "b"), "find: invalid start index: got string, want int"),
        ("a", "find", ("a", 1 << 31), "find: invalid start index: 2147483648 out of range"),
        ("a", "count", ("a", 0, 1.0), "count: invalid end index: got float, want int"),
        ("a", "count", (None,), "count: for parameter 1: got NoneType, want string"),
        ("a", "index", ("b",), "index: substring not found"),
        ("a", "rindex", ("b",), "rindex: substring not found"),
        ("a", "startswith", (1,), "startswith: got int, want string or tuple of string"),
        ("a", "startswith", (["a"],), "startswith: got list, want string or tuple of string"),
        ("a", "endswith", (("b", 2),), "endswith: want string, got int, for element 1"),
        ("a", "split", ("",), "split: empty separator"),
        ("a", "rsplit", ("",), "split: empty separator"),
        ("a", "split", (1,), "split: got int for separator, want string"),
        ("a", "split", (",", TRUE), "split: for parameter 2: got bool, want int"),
        (
            "a",
            "rsplit",
            (",", 1 << 63),
            "rsplit: for parameter 2: 9223372036854775808 out of range (want value in signed 64-bit range)",
        ),
        ("a", "splitlines", (1,), "splitlines: for parameter 1: got int, want bool"),
        ("a", "partition", ("",), "partition: empty separator"),
        ("a", "rpartition", (Bytes(b""),), "rpartition: for parameter 1: got bytes, want string"),
        ("a", "join", ("ab",), "join: for parameter 1: got string, want iterable"),
        ("a", "join", (None,), "join: for parameter 1: got NoneType, want iterable"),
        ("a", "join", (["a", 1],), "join: in list, want string, got int"),
        ("a", "join", (["a", Bytes(b"b")],), "join: in list, want string, got bytes"),
        ("a", "join", ([range(1 << 64)],), "join: in list, want string, got range"),
        ("a", "replace", (1, "b"), "replace: for parameter 1: got int, want string"),
        ("a", "replace", ("a", 1), "replace: for parameter 2: got int, want string"),
        ("a", "replace", ("a", "b", None), "replace: for parameter 3: got NoneType, want int"),
        ("a", "removeprefix", (1,), "removeprefix: for parameter 1: got int, want string"),
        ("a", "removesuffix", (1,), "removesuffix: for parameter 1: got int, want string"),
        ("a", "strip", (None,), "strip: for parameter 1: got NoneType, want string"),
        ("a", "lstrip", (1,), "lstrip: for parameter 1: got int, want string"),
    ],
)
def test_an_argument_that_does_not_fit_is_an_error(s: str, name: str, args: tuple[Any, ...], message: str) -> None:
    with pytest.raises(EvalError) as caught:
        _call(s, name, *args)
    assert caught.value.message == message


_TEXTS = [
    "",
    "a",
    "aaaaaaaaa",
    "abaab abab aabb ba",
    "   lead and trail \t\n ",
    "one\ntwo\n\nthree\n",
    "Hello World Again Friend",
    "hello World's end, ok",
    "ÀÉß ŉǆ ΑΣΑΣ İx ᾳ",
    "ǅa ǈb Cd Ef Gh ",
    "١٢٣٤٥٦٧٨٩",
    "\x1c a \x1d b \u3000 c",
    "ABCDEFG HIJ KLM",
]
_CALLS: list[tuple[Any, ...]] = [
    *itertools.product(["upper", "lower", "title", "capitalize", "strip", "lstrip", "rstrip", "split", "rsplit"]),
    *itertools.product(["isalnum", "isalpha", "isdigit", "islower", "isspace", "istitle", "isupper", "splitlines"]),
    *itertools.product(
        ["find", "rfind", "count", "partition", "rpartition", "split", "rsplit"], ["a", "aa", "ab", " "]
    ),
    *itertools.product(["find", "rfind", "count"], ["a", "aba", ""], [2, -7], [None, 9, -1]),
    *itertools.product(["split", "rsplit"], [None, "a", "aa", "ab"], [0, 1, 2, 3]),
    *itertools.product(["replace"], ["a", "aa", ""], ["", "x", "longer"], [-1, 0, 2, 5]),
    *itertools.product(["strip", "lstrip", "rstrip"], ["a", "ab ", "xyz"]),
    ("splitlines", TRUE),
    ("join", ["a", "bb", "ccc", "dd", "e", "ffff", "g", "h", "i", "jj"]),
]


def _outcomes() -> list[str]:
    return [to_repr(Thread(), _call(text, *call)) for text in _TEXTS for call in _CALLS]


def test_a_text_worked_on_in_slices_gives_what_it_gives_in_one_go(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = _outcomes()
    for module in (searching, string_parts, string_searches, strings):
        monkeypatch.setattr(module, "LONG", 4)
    monkeypatch.setattr(searching, "_FEW", 3)
    monkeypatch.setattr(searching, "_SHORT_NEEDLE", 1)
    monkeypatch.setattr(string_parts, "_SHORT_CUTSET", 1)
    assert _outcomes() == whole


@pytest.mark.parametrize(
    ("s", "name", "args"),
    [
        ("a" * 100_000, "replace", ("a", "b" * 100_000)),
        ("a" * 100_000, "replace", ("", "b" * 1_000)),
        ("x" * 30_000, "join", (["y"] * 30_000,)),
        ("", "join", (["y" * 1_000_000] * 100,)),
        ("a" * 100_000, "upper", ()),
        ("a " * 100_000, "split", ()),
        ("a" * 20_000_000, "find", ("b",)),
        ("a" * 20_000_000, "split", ("a",)),
        ("a", "strip", ("b" * 100_000,)),
        ("a" * 100_000, "islower", ()),
    ],
)
def test_the_work_is_charged_before_it_is_done(s: str, name: str, args: tuple[Any, ...]) -> None:
    with pytest.raises(StepLimitExceeded):
        strings.METHODS[name](Thread(max_steps=5_000), s, *args)


@pytest.mark.parametrize(
    ("name", "sub", "found"),
    [("rfind", "ab" + "a" * 500_000, -1), ("find", "a" * 500_000 + "b", -1), ("rfind", "a" * 500_000, 500_000)],
)
def test_a_long_string_is_sought_in_linear_time_in_both_directions(name: str, sub: str, found: int) -> None:
    thread = Thread()
    assert strings.METHODS[name](thread, "a" * 1_000_000, sub) == found
    assert thread.steps >= 1_000_000 // 16


def test_a_cancelled_script_stops_in_the_middle_of_a_long_text() -> None:
    context = Context().child()
    thread = Thread(max_steps=None, context=context)
    context.cancel()
    with pytest.raises(Cancelled):
        strings.METHODS["split"](thread, "ab," * 1_000_000, ",")


@pytest.mark.parametrize("size", [1, 30, 62, 63, 64, 65, 200])
def test_a_method_answers_alike_for_texts_of_any_length(size: int) -> None:
    s = "a" * (size - 1) + "b"
    assert _call(s, "find", "b") == _call(s, "rfind", "b") == _call(s, "index", "b") == size - 1
    assert _call(s, "partition", "b") == _call(s, "rpartition", "b") == (s[:-1], "b", "")
    assert _call(s, "split", "b") == _call(s, "rsplit", "b", 1) == [s[:-1], ""]
    assert _call(f" \n{s}\v", "strip") == _call(f"\u2003{s}\x85", "strip") == _call(s, "strip", "xy") == s
    assert _call(f"\x1c{s} ", "rstrip") == f"\x1c{s}"
    assert _call(s, "upper").lower() == _call(s.upper(), "lower") == s
    assert _call(s, "title") == _call(s, "capitalize") == s[0].upper() + s[1:]
    assert _call(s, "islower") is _call(s, "isalpha") is _call(s, "isalnum") is TRUE
    assert _call(s, "isupper") is _call(s, "isdigit") is _call(s, "isspace") is FALSE
    assert _call(s, "replace", "b", "ccc") == s[:-1] + "ccc"
    assert _call(s, "count", "b") == 1
    assert _call(f"{s}\n{s}\n", "splitlines") == [s, s]


@pytest.mark.parametrize("size", [2, 20, 40])
def test_separators_that_overlap_are_sought_from_the_left(size: int) -> None:
    s = f"{'a' * (2 * size - 1)}"
    assert _call(s, "rsplit", "aa", 1) == ["aa" * (size - 2), "a"]
