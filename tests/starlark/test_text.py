"""Values as text: what ``str``, ``repr``, the ``%`` operator and ``str.format`` make."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest

from plait.context import Cancelled, Context
from plait.starlark.errors import EvalError, StepLimitExceeded
from plait.starlark.native import native
from plait.starlark.text import format_text, percent, quote, quote_bytes, to_repr, to_text
from plait.starlark.thread import Thread
from plait.starlark.values import (
    FALSE,
    NAN,
    TRUE,
    BoundMethod,
    Bytes,
    FrozenDict,
    FrozenList,
    FrozenSet,
    HostValue,
    Module,
    Set,
    Struct,
    StructKind,
)


@native("twice", "x", positional=True)
def _twice(_thread: Thread, x: Any, /) -> Any:
    return x + x


def _script_function(_thread: Thread, /) -> None:
    """Stands for a function of a script, which is a Python function that nobody marked as a builtin."""


class _Point(HostValue):
    """A value of the host with a text of its own."""

    __slots__ = ()

    def text(self) -> str:  # type: ignore[explicit-override]  # Python 3.11 has no typing.override
        """Return a text."""
        return "<point>"


class _Broken(HostValue):
    """A value of the host that cannot say its text."""

    __slots__ = ()

    def text(self) -> str:  # type: ignore[explicit-override]  # Python 3.11 has no typing.override
        """Fail."""
        raise KeyError("x")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "None"),
        (TRUE, "True"),
        (FALSE, "False"),
        (-7, "-7"),
        (1 << 100, "1267650600228229401496703205376"),
        (1e6, "1e+06"),
        (NAN, "nan"),
        (math.inf, "+inf"),
        ("a", '"a"'),
        (Bytes(b"a"), 'b"a"'),
        (range(5), "range(5)"),
        (range(2, 5), "range(2, 5)"),
        (range(0, 5, 2), "range(0, 5, 2)"),
        ((), "()"),
        ((1,), "(1,)"),
        ((1, "x", None), '(1, "x", None)'),
        ([], "[]"),
        ([[], [1, [2]], 3], "[[], [1, [2]], 3]"),
        (FrozenList([1]), "[1]"),
        ({}, "{}"),
        ({"a": 1, (1, "b"): [2], 3: {}}, '{"a": 1, (1, "b"): [2], 3: {}}'),
        (FrozenDict({"a": ()}), '{"a": ()}'),
        (Set(), "set([])"),
        (Set({1: None, "a": None}), 'set([1, "a"])'),
        (FrozenSet({(1, 2): None}), "set([(1, 2)])"),
        (Struct({}), "struct()"),
        (Struct({"b": [1], "a": "x"}), 'struct(a = "x", b = [1])'),
        (Struct({"a": Struct({})}, StructKind("point")), "point(a = struct())"),
        (Struct({"a": 1, "b": 2}, _Point()), "<point>(a = 1, b = 2)"),
        (Struct({}, _Point()), "<point>()"),
        (Module("http", {"get": _twice}), '<module "http">'),
        (BoundMethod("append", [], _twice), "<built-in method append of list value>"),
        (_twice, "<built-in function twice>"),
        (_script_function, "<function _script_function>"),
        (lambda _thread: None, "<function lambda>"),
        (_Point(), "<point>"),
        ([_Point(), 1], "[<point>, 1]"),
    ],
)
def test_repr_shows_every_kind_of_value(value: Any, text: str) -> None:
    assert to_repr(Thread(), value) == text


def test_str_shows_strings_and_bytes_as_the_text_they_are_and_the_rest_as_repr() -> None:
    assert to_text(Thread(), 'a"b') == 'a"b'
    assert to_text(Thread(), Bytes(b"a")) == "a"
    assert to_text(Thread(), 5) == "5"
    assert to_text(Thread(), ["a"]) == '["a"]'


def test_a_list_or_dict_inside_itself_is_shown_by_dots() -> None:
    x: list[Any] = [1]
    x.append(x)
    y: dict[str, Any] = {}
    y["y"] = (y,)
    z: list[Any] = []
    z.append(Struct({"z": z}))
    assert to_repr(Thread(), x) == "[1, [...]]"
    assert to_repr(Thread(), y) == '{"y": ({...},)}'
    assert to_repr(Thread(), [x, x, {"x": x}]) == '[[1, [...]], [1, [...]], {"x": [1, [...]]}]'
    assert to_repr(Thread(), z) == "[struct(z = [...])]"


def test_a_value_nested_to_any_depth_is_shown() -> None:
    x: list[Any] = []
    for _ in range(50_000):
        x = [x]
    assert to_repr(Thread(), x) == "[" * 50_001 + "]" * 50_001


def test_a_value_shared_many_times_costs_what_its_text_costs() -> None:
    x: list[Any] = [1]
    for _ in range(40):
        x = [x, x]
    with pytest.raises(StepLimitExceeded):
        to_repr(Thread(), x)


def test_the_steps_for_a_text_are_charged_before_it_is_made() -> None:
    thread = Thread(max_steps=1_000)
    with pytest.raises(StepLimitExceeded):
        to_repr(thread, ["a" * 1_000_000])
    with pytest.raises(StepLimitExceeded):
        to_repr(Thread(max_steps=1_000), [1 << 100_000] * 10)
    with pytest.raises(StepLimitExceeded):
        percent(Thread(max_steps=1_000), "%s%s", ("a" * 10_000, "a" * 10_000))
    with pytest.raises(StepLimitExceeded):
        format_text(Thread(max_steps=1_000), "{0}{0}", "a" * 10_000)


def test_a_cancelled_script_stops_while_a_long_text_is_made() -> None:
    context = Context().child()
    thread = Thread(max_steps=None, context=context)
    context.cancel()
    with pytest.raises(Cancelled):
        to_repr(thread, list(range(10_000)))


def test_a_host_value_that_cannot_say_its_text_fails_the_script_and_nothing_else() -> None:
    with pytest.raises(EvalError, match="text of value: x"):
        to_repr(Thread(), _Broken())


@pytest.mark.parametrize(
    ("s", "literal"),
    [
        ("", '""'),
        ("plain é 世 😿", '"plain é 世 😿"'),
        ("a\"b'c\\", '"a\\"b\'c\\\\"'),
        ("\a\b\t\n\v\f\r", '"\\a\\b\\t\\n\\v\\f\\r"'),
        ("\x00\x1b\x7f", '"\\x00\\x1b\\x7f"'),
        ("\x80\xa0\xad\u2028", '"\\u0080\\u00a0\\u00ad\\u2028"'),
        ("\U000e0001", '"\\U000e0001"'),
        ("\udc80", '"\\udc80"'),
        ("\n" * 70_000, '"' + "\\n" * 70_000 + '"'),
    ],
)
def test_a_string_is_quoted_with_escapes_for_what_cannot_be_printed(s: str, literal: str) -> None:
    assert quote(s) == literal
    assert to_repr(Thread(), s) == literal


def test_bytes_are_quoted_with_escapes_for_what_is_no_text() -> None:
    assert quote_bytes(b'a\xff"\n') == 'b"a\\xff\\"\\n"'


@pytest.mark.parametrize(
    ("template", "args", "text"),
    [
        ("A", (), "A"),
        ("%s and %s", ("a", 1), "a and 1"),
        ("%s%d%i", ("", -1, 2), "-12"),
        ("%s", ["a"], '["a"]'),
        ("%s", ((1, 2),), "(1, 2)"),
        ("%s", {"a": 1}, '{"a": 1}'),
        ("%s|%r|%s", ("x", "y", TRUE), 'x|"y"|True'),
        ("%s %s", (Bytes(b"a"), 1.0), 'b"a" 1.0'),
        ("%d%% %d", (5.9, -5.9), "5% -5"),
        ("%d", 1 << 70, "1180591620717411303424"),
        ("%o %x %X %x", (8, 255, 255, -255), "10 ff FF -ff"),
        ("%e %f %g %G", (1.5, 1, 1e21, 1e21), "1.500000e+00 1.000000 1e+21 1E+21"),
        ("%f", 10**400, "+inf"),
        ("%e", -(10**400), "-inf"),
        ("%c%c%c", (65, "é", 0xD800), "Aé\ufffd"),
        ("%(a)s-%(b)d", {"a": "x", "b": 2}, "x-2"),
        ("%(a)s", FrozenDict({"a": None}), "None"),
        ("%s %(a)s", {"a": 1}, '{"a": 1} 1'),
        ("%(a)%", {"a": 1}, "%"),
        ("no holes", {"a": 1}, "no holes"),
        ("%%s", (), "%s"),
    ],
)
def test_the_percent_operator_fills_a_template(template: str, args: Any, text: str) -> None:
    assert percent(Thread(), template, args) == text
    assert percent(Thread(), template, args) == text


@pytest.mark.parametrize(
    ("template", "args", "message"),
    [
        ("%s %s", (1,), "not enough arguments for format string"),
        ("%s %s", 1, "not enough arguments for format string"),
        ("%(a)s %s", {"a": 1}, "not enough arguments for format string"),
        ("%s", (1, 2), "too many arguments for format string"),
        ("", 1, "too many arguments for format string"),
        ("%", 1, "incomplete format"),
        ("%s%", (1, 2), "incomplete format"),
        ("%(a", {"a": 1}, "incomplete format key"),
        ("%(a)s", (1,), "format requires a mapping"),
        ("%(b)s", {"a": 1}, "key not found: b"),
        ("%5d", 1, "unknown conversion %5"),
        ("%q", 1, "unknown conversion %q"),
        ("%d", "1", "%d format requires integer: cannot convert string to int"),
        ("%x", TRUE, "%x format requires integer: cannot convert bool to int"),
        ("%d", NAN, "%d format requires integer: cannot convert float NaN to integer"),
        ("%d", math.inf, "%d format requires integer: cannot convert float infinity to integer"),
        ("%f", "a", "%f format requires float, not string"),
        ("%c", "ab", "%c format requires a single-character string"),
        ("%c", -1, "%c format requires a valid Unicode code point, got -1"),
        ("%c", 65.0, "%c format requires int or single-character string, not float"),
    ],
)
def test_values_that_do_not_fit_a_template_are_an_error(template: str, args: Any, message: str) -> None:
    with pytest.raises(EvalError) as caught:
        percent(Thread(), template, args)
    assert caught.value.message == message


@pytest.mark.parametrize(
    ("template", "args", "kwargs", "text"),
    [
        ("", (), {}, ""),
        ("a{}b{}", (1, "x"), {}, "a1bx"),
        ("{}%s%%{}", ("a", "b"), {}, "a%s%%b"),
        ("{}", ([1, "a"],), {}, '[1, "a"]'),
        ("{}", (1, 2, 3), {}, "1"),
        ("{1}{0}{1}", ("a", "b"), {}, "bab"),
        ("{0000000000001}", (0, 1), {}, "1"),
        ("a{x}b{y}c{}", (1,), {"x": 2, "y": 3}, "a2b3c1"),
        ("{{}}{{", (), {}, "{}{"),
        ("{!r}{!s}{x!r}", ("a", "a"), {"x": "b"}, '"a"a"b"'),
        ("{}", (Bytes(b"a"),), {}, 'b"a"'),
    ],
)
def test_format_fills_a_template(template: str, args: tuple[Any, ...], kwargs: dict[str, Any], text: str) -> None:
    assert format_text(Thread(), template, *args, **kwargs) == text
    assert format_text(Thread(), template, *args, **kwargs) == text


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("{} {}", "format: tuple index out of range"),
        ("{5}", "format: tuple index out of range"),
        ("{x}", "format: keyword x not found"),
        ("{-1}", "format: keyword -1 not found"),
        ("{0}{}", "format: cannot switch from manual field specification to automatic field numbering"),
        ("{}{0}", "format: cannot switch from automatic field numbering to manual field specification"),
        ("{", "format: unmatched '{' in format"),
        ("}", "format: single '}' in format"),
        ("{{}", "format: single '}' in format"),
        ("{}}", "format: single '}' in format"),
        ("}{{", "format: single '}' in format"),
        ("{!z}", 'format: unknown conversion "z"'),
        ("{!}", 'format: unknown conversion ""'),
        ("{:>5}", "format spec features not supported in replacement fields: >5"),
        ("{0.__class__}", "format: attribute syntax x.y is not supported in replacement fields: 0.__class__"),
        ("{0[0]}", "format: element syntax a[i] is not supported in replacement fields: 0[0]"),
        ("{ {} }", "format: nested replacement fields not supported"),
        ("{99999999999999999999}", "format: keyword 99999999999999999999 not found"),
    ],
)
def test_a_field_reaches_nothing_but_an_argument(template: str, message: str) -> None:
    with pytest.raises(EvalError) as caught:
        format_text(Thread(), template, 1)
    assert caught.value.message == message


def test_a_template_costs_the_same_the_first_time_and_later() -> None:
    costs = []
    for _ in range(2):
        thread = Thread()
        percent(thread, "first %s then %r", (1, "a"))
        format_text(thread, "first {} then {!r}", 1, "a")
        costs.append(thread.steps)
    assert costs[0] == costs[1] > 0


def test_a_template_of_any_length_is_filled() -> None:
    assert percent(Thread(), "%s," * 5_000, ("a",) * 5_000) == "a," * 5_000
    assert format_text(Thread(), "{}," * 5_000, *(("a",) * 5_000)) == "a," * 5_000


def test_a_template_too_long_for_the_steps_that_are_left_is_not_even_taken_apart() -> None:
    with pytest.raises(StepLimitExceeded):
        format_text(Thread(max_steps=1_000), "{}" * 5_000)
    with pytest.raises(StepLimitExceeded):
        percent(Thread(max_steps=1_000), "%s" * 5_000, ())


def test_a_value_is_shown_alike_however_deep_and_long_it_is() -> None:
    short: Any = {"a": [1, 'b"', (2.5,), (), {}], "c": {"d": None}}
    shown = '{"a": [1, "b\\"", (2.5,), (), {}], "c": {"d": None}}'
    for _ in range(12):
        short, shown = [short], f"[{shown}]"
        assert to_repr(Thread(), short) == to_text(Thread(), short) == shown
    assert to_repr(Thread(), [short] * 100) == f"[{', '.join([shown] * 100)}]"


@pytest.mark.parametrize("depth", range(1, 9))
def test_a_list_is_found_inside_itself_at_any_depth(depth: int) -> None:
    value: list[Any] = []
    inner: Any = value
    for _ in range(depth - 1):
        inner = {"k": inner}
    value.append(inner)
    before, behind = '{"k": ' * (depth - 1), "}" * (depth - 1)
    assert to_repr(Thread(), value) == f"[{before}[...]{behind}]"


@pytest.mark.parametrize("template", ["%(a)s-%(b)d", "%(a)s-%(b)d%%", "%%%(b)x%(a)s%(b)e"])
def test_names_make_no_difference_to_a_template(template: str) -> None:
    bare = template.replace("(a)", "").replace("(b)", "")
    values = tuple(["v" if letter == "a" else 12 for letter in re.findall(r"\((.)\)", template)])
    assert percent(Thread(), template, {"a": "v", "b": 12}) == percent(Thread(), bare, values) == bare % values


@pytest.mark.parametrize("value", ["a", 1, 1 << 63, 1.5, 1e6, TRUE, [1]])
def test_a_named_field_fails_without_a_dict_that_has_it(value: Any) -> None:
    with pytest.raises(EvalError, match="format requires a mapping"):
        percent(Thread(), "%(a)s", value)
    with pytest.raises(EvalError, match="key not found: a"):
        percent(Thread(), "%(a)s", {"b": value})
