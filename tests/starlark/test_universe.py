"""Tests of the universal builtins: what they return, what they say when they refuse, and what they cost."""

from __future__ import annotations

import math
from typing import Any

import pytest
from typing_extensions import override

from plait.context import Cancelled, Context
from plait.starlark import compile  # noqa: A004 - the engine's name for it
from plait.starlark.errors import EvalError, StepLimitExceeded
from plait.starlark.running.failing import call_error
from plait.starlark.text import to_repr
from plait.starlark.thread import Thread
from plait.starlark.universe.universe import UNIVERSAL
from plait.starlark.values import FALSE, NAN, TRUE, Bytes, HostValue, Module, Set, Struct, is_builtin

NAMES = [
    *("None", "True", "False"),
    *("abs", "all", "any", "bool", "bytes", "chr", "dict", "dir", "enumerate", "fail", "float", "getattr", "hasattr"),
    *("hash", "int", "len", "list", "max", "min", "ord", "print", "range", "repr", "reversed", "set", "sorted", "str"),
    *("tuple", "type", "zip"),
]


def call(name: str, *args: Any, **kwargs: Any) -> Any:
    function = UNIVERSAL[name]
    try:
        return function(Thread(), *args, **kwargs)
    except TypeError:
        # What the engine does with arguments that Python cannot bind.
        raise call_error(function, len(args), tuple(kwargs)) from None


def shown(name: str, *args: Any, **kwargs: Any) -> str:
    return to_repr(Thread(), call(name, *args, **kwargs))


def error_of(name: str, *args: Any, **kwargs: Any) -> str:
    with pytest.raises(EvalError) as caught:
        call(name, *args, **kwargs)
    return caught.value.message


def negated(_thread: Thread, x: Any, /) -> Any:
    return -x


class Counted(HostValue):
    """A value of a host that has a length and elements."""

    type_name = "counted"

    def __init__(self, *elements: Any, size: int | None = None) -> None:
        self.elements = elements
        self.size = len(elements) if size is None else size

    def __len__(self) -> int:
        return self.size

    def __iter__(self) -> Any:
        return iter(self.elements)


class Endless(HostValue):
    """A value of a host whose elements never end."""

    type_name = "endless"

    def __iter__(self) -> Any:
        while True:
            yield 1


def test_the_universe_has_exactly_the_names_of_the_language() -> None:
    assert sorted(UNIVERSAL) == sorted(NAMES)
    assert [UNIVERSAL["None"], UNIVERSAL["True"], UNIVERSAL["False"]] == [None, TRUE, FALSE]
    assert all(is_builtin(UNIVERSAL[name]) for name in NAMES[3:])


@pytest.mark.parametrize(
    ("name", "args", "text"),
    [
        ("abs", (-5,), "5"),
        ("abs", (-2.5,), "2.5"),
        ("abs", (NAN,), "nan"),
        ("abs", (-(1 << 70),), str(1 << 70)),
        ("all", ([],), "True"),
        ("all", ([1, TRUE, "x"],), "True"),
        ("all", ([1, TRUE, ""],), "False"),
        ("any", ([0, FALSE, "x"],), "True"),
        ("any", ({"": 1},), "False"),
        ("bool", (), "False"),
        ("bool", ([],), "False"),
        ("bool", (TRUE,), "True"),
        ("bytes", ("é",), 'b"é"'),
        ("bytes", ([65, 66],), 'b"AB"'),
        ("bytes", (Bytes(b"x"),), 'b"x"'),
        ("chr", (0x1F600,), '"😀"'),
        ("chr", (0xD800,), '"\ufffd"'),
        ("dict", (), "{}"),
        ("dict", ({"a": 1},), '{"a": 1}'),
        ("dict", ([("a", 1), ["b", 2]],), '{"a": 1, "b": 2}'),
        ("dict", ([(TRUE, "t"), (1, "i")],), '{True: "t", 1: "i"}'),
        ("dict", ([Counted("k", "v")],), '{"k": "v"}'),
        ("dir", (1,), "[]"),
        ("dir", ([],), '["append", "clear", "extend", "index", "insert", "pop", "remove"]'),
        ("dir", (Struct({"b": 1, "a": 2}),), '["a", "b"]'),
        ("enumerate", ([FALSE, TRUE, None], 42), "[(42, False), (43, True), (44, None)]"),
        ("enumerate", (range(2),), "[(0, 0), (1, 1)]"),
        ("enumerate", (Counted("a"),), '[(0, "a")]'),
        ("float", (), "0.0"),
        ("float", (10,), "10.0"),
        ("float", (TRUE,), "1.0"),
        ("float", (1.5,), "1.5"),
        ("getattr", ([], "nope", 3), "3"),
        ("getattr", (Struct({"a": 1}), "a"), "1"),
        ("getattr", (Module("m", {"a": 1}), "a"), "1"),
        ("hasattr", ([], "append"), "True"),
        ("hasattr", ([], "__class__"), "False"),
        ("hasattr", ("", "up\0per"), "False"),
        ("hash", ("hello",), "99162322"),
        ("hash", ("Hello, 世界!",), "417292677"),
        ("hash", ("Hello World!",), "-969099747"),
        ("hash", (Bytes(b"a"),), "3826002220"),
        ("hash", ("",), "0"),
        ("len", ("é",), "1"),
        ("len", (range(10),), "10"),
        ("len", (Set({1: None}),), "1"),
        ("len", (Counted(1, 2),), "2"),
        ("list", (), "[]"),
        ("list", ({"a": 1},), '["a"]'),
        ("max", (1, NAN), "nan"),
        ("max", (["a", "bb", "b"],), '"bb"'),
        ("max", (range(5),), "4"),
        ("max", (TRUE, FALSE), "True"),
        ("min", (1, 1.0), "1"),
        ("min", (5, -2, 1), "-2"),
        ("min", ({3: 0, 2: 0},), "2"),
        ("min", ((1, "b"), (1, "a")), '(1, "a")'),
        ("ord", ("é",), "233"),
        ("ord", (Bytes(b"\xff"),), "255"),
        ("print", ("x",), "None"),
        ("range", (10,), "range(0, 10)"),
        ("range", (1, 5), "range(1, 5)"),
        ("range", (5, 0, -2), "range(5, 0, -2)"),
        ("repr", ('a"b',), r'"\"a\\\"b\""'),
        ("reversed", ((1, 2),), "[2, 1]"),
        ("set", ([1, TRUE, 1.0],), "set([1, True])"),
        ("set", (["b", "a", "b"],), 'set(["b", "a"])'),
        ("set", (Counted(1, 1),), "set([1])"),
        ("sorted", ([3, 1, 2],), "[1, 2, 3]"),
        ("str", (Bytes(b"\xff"),), '"\ufffd"'),
        ("str", ([1, "a"],), r'"[1, \"a\"]"'),
        ("str", ("a",), '"a"'),
        ("tuple", ([1],), "(1,)"),
        ("tuple", (), "()"),
        ("type", (TRUE,), '"bool"'),
        ("type", (Counted(),), '"counted"'),
        ("type", (UNIVERSAL["len"],), '"builtin_function_or_method"'),
        ("zip", (), "[]"),
        ("zip", ([1], [2, 3]), "[(1, 2)]"),
        ("zip", ([1, 2], Counted("a")), '[(1, "a")]'),
        ("zip", (Counted(1, 2), Counted("a", "b")), '[(1, "a"), (2, "b")]'),
        ("zip", (range(2_000_000_000), [1]), "[(0, 1)]"),
    ],
)
def test_a_builtin_returns_what_the_language_says(name: str, args: tuple[Any, ...], text: str) -> None:
    expected = text.replace("range(0, ", "range(") if text.startswith("range(0, ") else text
    assert shown(name, *args) == expected


@pytest.mark.parametrize(
    ("name", "args", "message"),
    [
        ("abs", ("0",), "got string, want int or float"),
        ("abs", (TRUE,), "got bool, want int or float"),
        ("all", (3,), "all: for parameter 1: got int, want iterable"),
        ("any", ("ab",), "any: for parameter 1: got string, want iterable"),
        ("bytes", (), "bytes: got 0 arguments, want exactly 1"),
        ("bytes", (3,), "bytes: got int, want string, bytes, or iterable of ints"),
        ("bytes", ([65, 300],), "bytes: at index 1, 300 out of range (want value in unsigned 8-bit range)"),
        ("bytes", (["a"],), "bytes: at index 0, got string, want int"),
        ("chr", (1, 2), "chr: got 2 arguments, want 1"),
        ("chr", (TRUE,), "chr: got bool, want int"),
        ("chr", (-1,), "chr: Unicode code point -1 out of range (<0)"),
        ("chr", (0x110000,), "chr: Unicode code point U+110000 out of range (>0x10FFFF)"),
        ("chr", (1 << 40,), "chr: 1099511627776 out of range"),
        ("dict", (1,), "dict: got int, want iterable"),
        ("dict", ([], []), "dict: got 2 arguments, want at most 1"),
        ("dict", ([1],), "dict: dictionary update sequence element #0 is not iterable (int)"),
        ("dict", ([("a", 1, 2)],), "dict: dictionary update sequence element #0 has length 3, want 2"),
        ("dict", ([Endless()],), "dict: dictionary update sequence element #0 has unknown length (endless)"),
        ("dict", ([Counted(1, size=2)],), "dict: dictionary update sequence element #0 has length 1, want 2"),
        ("dict", ([([], 1)],), "dict: unhashable type: list"),
        ("dir", (), "dir: got 0 arguments, want 1"),
        ("enumerate", ([1], TRUE), "enumerate: for parameter 2: got bool, want int"),
        ("enumerate", (1,), "enumerate: for parameter 1: got int, want iterable"),
        ("fail", (), "fail: "),
        ("fail", (1, "a", [Bytes(b"x")]), 'fail: 1 a [b"x"]'),
        ("float", (None,), "float got NoneType, want number or string"),
        ("float", (1, 2), "float got 2 arguments, wants 1"),
        ("float", ("",), "float: empty string"),
        ("float", ("1e400",), "floating-point number too large"),
        ("float", (1 << 2000,), "int too large to convert to float"),
        ("getattr", ([], "__class__"), "getattr: list has no .__class__ field or method"),
        ("getattr", ([], 3), "getattr: for parameter 2: got int, want string"),
        ("getattr", (Struct({"a": 1}), "b"), "getattr: struct has no .b attribute"),
        ("hasattr", ([], None), "hasattr: for parameter 2: got NoneType, want string"),
        ("hash", (1,), "hash: got int, want string or bytes"),
        ("len", (1,), "len: value of type int has no len"),
        ("len", (Endless(),), "len: value of type endless has no len"),
        ("len", (Counted(size=-1),), "counted: __len__() should return >= 0"),
        ("list", (None,), "list: for parameter 1: got NoneType, want iterable"),
        ("max", (), "max requires at least one positional argument"),
        ("max", ([],), "max: argument is an empty sequence"),
        ("max", ({},), "max: argument is an empty sequence"),
        ("max", (1,), "max: int value is not iterable"),
        ("min", (1, "a"), "min: string < int not implemented"),
        ("ord", ("ab",), "ord: string encodes 2 Unicode code points, want 1"),
        ("ord", (Bytes(b""),), "ord: bytes has length 0, want 1"),
        ("ord", (1,), "ord: got int, want string or bytes"),
        ("range", (1.5,), "range: for parameter 1: got float, want int"),
        ("range", (1, None), "range: for parameter 2: got NoneType, want int"),
        ("range", (1, 2, 0), "range: step argument must not be zero"),
        (
            "range",
            (1 << 63,),
            "range: for parameter 1: 9223372036854775808 out of range (want value in signed 64-bit range)",
        ),
        ("range", (-(1 << 63), 1), "range: too many elements (want at most 9223372036854775807)"),
        ("reversed", ("ab",), "reversed: for parameter 1: got string, want iterable"),
        ("set", ([[]],), "set: unhashable type: list"),
        ("set", ("ab",), "set: for parameter 1: got string, want iterable"),
        ("sorted", ("ba",), "sorted: for parameter iterable: got string, want iterable"),
        ("sorted", ([], None), "sorted: for parameter key: got NoneType, want callable"),
        ("str", (), "str: got 0 arguments, want exactly 1"),
        ("tuple", (1,), "tuple: for parameter 1: got int, want iterable"),
        ("type", (1, 2), "type: got 2 arguments, want exactly 1"),
        ("zip", ([1], 2), "zip: argument #2 is not iterable: int"),
    ],
)
def test_a_refusal_says_what_was_wrong_in_the_languages_words(name: str, args: tuple[Any, ...], message: str) -> None:
    assert error_of(name, *args) == message


@pytest.mark.parametrize("name", ["bytes", "chr", "dir", "float", "ord", "str", "type", "zip"])
def test_a_builtin_that_knows_no_keywords_says_so(name: str) -> None:
    assert error_of(name, x=1) == f"{name} does not accept keyword arguments"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1_000.5", 1000.5),
        ("1_23.50_0_0e+1_2", 123.5e12),
        ("+.5e-3", 0.0005),
        ("1.", 1.0),
        ("0x1p-2", 0.25),
        ("0x_1_2.3p1", 36.375),
        ("Infinity", math.inf),
        ("+inf", math.inf),
        ("-INF", -math.inf),
        ("1e-999", 0.0),
    ],
)
def test_float_reads_the_literals_of_go(text: str, value: float) -> None:
    assert call("float", text) == value


@pytest.mark.parametrize("text", ["nan", "+NaN", "-nan"])
def test_float_gives_the_one_nan(text: str) -> None:
    assert call("float", text) is NAN


@pytest.mark.parametrize(
    "text",
    [
        " 1",
        "1 ",
        "1__0",
        "_1",
        "1_",
        "1_.5",
        "1._5",
        "1e_5",
        "e5",
        ".",
        "1e",
        "+-inf",
        "0x1",
        "0b1p1",
        "\u0661",
        "\u0131nf",
    ],
)
def test_float_refuses_what_go_refuses(text: str) -> None:
    assert error_of("float", text) == f"invalid float literal: {text}"


@pytest.mark.parametrize(
    ("args", "value"),
    [
        (("5", 36), 5),
        (("zZ", 36), 35 * 37),
        (("0x1f", 16), 31),
        (("0b1", 16), 177),
        (("-0b11", 0), -3),
        (("+0O17", 0), 15),
        (("00", 0), 0),
        (("0", 0), 0),
        (("12", 0), 12),
        (("-5",), -5),
        (("0" * 100_000 + "7",), 7),
        ((TRUE,), 1),
        ((-1.9,), -1),
        ((1e20,), 10**20),
        ((1 << 70,), 1 << 70),
    ],
)
def test_int_reads_numbers_in_any_base(args: tuple[Any, ...], value: int) -> None:
    assert call("int", *args) == value


@pytest.mark.parametrize("name", ["int", "float"])
def test_a_very_long_text_is_no_number(name: str) -> None:
    message = f"{name}: a text of 2000000 characters is too long (at most 1048576)"
    assert error_of(name, "0" * 2_000_000) == message


def test_int_reads_more_digits_than_python_would() -> None:
    assert call("int", "9" * 10_000) == 10**10_000 - 1


@pytest.mark.parametrize(
    ("text", "base"),
    [
        ("", 10),
        ("-", 10),
        ("+-1", 10),
        ("1_000", 10),
        ("\u0663", 10),
        (" 1", 10),
        ("0755", 0),
        ("0x", 16),
        ("0x1", 10),
        ("8", 8),
    ],
)
def test_int_refuses_what_is_no_number(text: str, base: int) -> None:
    assert error_of("int", text, base) == f"int: invalid literal with base {base}: {text}"


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ((None,), "int: cannot convert NoneType to int"),
        ((NAN,), "int: cannot convert float NaN to integer"),
        ((-math.inf,), "int: cannot convert float infinity to integer"),
        ((1, 10), "int: can't convert non-string with explicit base"),
        (("1", 99), "int: base must be an integer >= 2 && <= 36"),
        (("1", 1 << 40), "int: for base, got int, want int"),
        (("1", TRUE), "int: for base, got bool, want int"),
        (("9" * 79_000,), "int: integer of 79000 digits is too long (the limit is 262144 bits)"),
    ],
)
def test_int_says_why_it_cannot_convert(args: tuple[Any, ...], message: str) -> None:
    assert error_of("int", *args) == message


def test_keywords_of_a_dict_follow_its_pairs_and_replace_them() -> None:
    assert shown("dict", [("a", 1)], b=2, a=3) == '{"a": 3, "b": 2}'
    assert shown("dict", pairs=1) == '{"pairs": 1}'


def test_an_extremum_is_the_first_of_equals_and_decided_by_the_key() -> None:
    assert shown("max", 5, -2, 1, key=negated) == "-2"
    assert shown("min", [(1, "b"), (1, "a")], key=lambda _thread, x, /: x[0]) == '(1, "b")'
    assert error_of("max", [1], key=None) == 'max: for parameter "key": got NoneType, want callable'
    assert error_of("min", ["a", 1], key=lambda _thread, x, /: x) == "min: int < string not implemented"


def test_the_options_of_sorted_may_be_given_by_position() -> None:
    assert shown("sorted", [1, 3, 2], negated, TRUE) == "[1, 2, 3]"
    assert error_of("sorted", [1], 1) == "sorted: for parameter key: got int, want callable"
    assert error_of("sorted", [1], negated, 1) == "sorted: for parameter reverse: got int, want bool"
    assert error_of("sorted", [1], negated, TRUE, 1) == "sorted: got 4 arguments, want at most 3"
    assert error_of("sorted", [1], negated, key=negated) == 'sorted: got multiple values for keyword argument "key"'
    twice = error_of("sorted", [1], negated, TRUE, reverse=TRUE)
    assert twice == 'sorted: got multiple values for keyword argument "reverse"'


@pytest.mark.parametrize("call_with_key", ["sorted([1], key=f)", "max([1], key=f)", "min([1, 2], key=f)"])
def test_a_key_that_takes_no_argument_is_named(call_with_key: str) -> None:
    with pytest.raises(EvalError, match=r"function f accepts no arguments \(1 given\)$"):
        compile(f"def f():\n    return 1\n{call_with_key}").run(Thread())


@pytest.mark.parametrize("call_with_key", ["sorted([1], key=f)", "max([1], key=f)"])
def test_what_goes_wrong_within_a_key_is_told_as_it_is(call_with_key: str) -> None:
    with pytest.raises(EvalError, match=r"unknown binary op: int \+ string$"):
        compile(f"def f(x):\n    return x + 'a'\n{call_with_key}").run(Thread())


@pytest.mark.parametrize("name", ["max", "min"])
def test_extrema_of_a_few_arguments_are_the_first_of_equal_ones(name: str) -> None:
    assert shown(name, 1, 1.0) == shown(name, 1, 1.0, 1.0) == shown(name, [1, 1.0, 1]) == "1"
    assert shown(name, 1.0, 1) == "1.0"
    assert shown(name, 2, 1, 3) == shown(name, [2, 1, 3]) == ("3" if name == "max" else "1")
    assert shown(name, "b", "a", "c") == ('"c"' if name == "max" else '"a"')
    assert error_of(name, 1) == f"{name}: int value is not iterable"


def test_sorted_takes_a_key_and_a_direction() -> None:
    assert shown("sorted", [1, 3, 2], key=negated) == "[3, 2, 1]"
    assert shown("sorted", [1, 3, 2], reverse=TRUE) == "[3, 2, 1]"
    assert error_of("sorted", [1], reverse=1) == 'sorted: for parameter "reverse": got int, want bool'


@pytest.mark.parametrize("name", ["sorted", "max", "min"])
def test_a_key_function_cannot_change_what_is_gone_through(name: str) -> None:
    values = [2, 1]
    thread = Thread()
    append = UNIVERSAL["getattr"](thread, values, "append")

    def key(running: Thread, x: Any, /) -> Any:
        append(running, x)
        return x

    with pytest.raises(EvalError, match="cannot append to list during iteration"):
        UNIVERSAL[name](thread, values, key=key)
    append(thread, 3)
    assert values == [2, 1, 3]


def test_print_joins_texts_and_calls_the_threads_sink() -> None:
    printed: list[str] = []
    thread = Thread(print=lambda _thread, text: printed.append(text))
    assert UNIVERSAL["print"](thread, "a", Bytes(b"b"), [Bytes(b"c")], 1.0, sep="-") is None
    assert printed == ['a-b-[b"c"]-1.0']
    assert error_of("print", sep=1) == 'print: for parameter "sep": got int, want string'


def test_a_sink_that_fails_is_an_error_of_print() -> None:
    def sink(_thread: Thread, _text: str) -> None:
        raise OSError("disk full")

    with pytest.raises(EvalError, match=r"^print: disk full$"):
        UNIVERSAL["print"](Thread(print=sink), "x")


def test_fail_joins_with_its_separator() -> None:
    assert error_of("fail", 1, 2, sep="/") == "fail: 1/2"


class Moody(HostValue):
    """A value of a host with an attribute that cannot be computed."""

    type_name = "moody"

    @override
    def attribute(self, name: str) -> Any:
        raise EvalError(f"no {name} today")

    @override
    def attribute_names(self) -> list[str]:
        return ["there"]


def test_an_attribute_that_cannot_be_computed_is_there_but_getattr_fails() -> None:
    assert call("hasattr", Moody(), "there") is TRUE
    assert call("hasattr", Moody(), "elsewhere") is FALSE
    assert call("getattr", Moody(), "there", 1) == 1
    assert error_of("getattr", Moody(), "there") == "getattr: no there today"


HUGE = range(2_000_000_000)


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("all", (range(1, 2_000_000_000),)),
        ("any", (Endless(), 1)[:1]),
        ("bytes", ([0] * 1_000_001,)),
        ("enumerate", (HUGE,)),
        ("list", (HUGE,)),
        ("list", (Endless(),)),
        ("max", (HUGE,)),
        ("reversed", (HUGE,)),
        ("set", (HUGE,)),
        ("sorted", (HUGE,)),
        ("tuple", (HUGE,)),
        ("zip", (HUGE, HUGE)),
        ("zip", (Endless(),)),
        ("hash", ("x" * 5_000_000,)),
        ("bytes", ("x" * 20_000_000,)),
        ("max", (["x" * 1_000_000] * 20,)),
    ],
)
def test_large_work_ends_at_the_limit_of_steps(name: str, args: tuple[Any, ...]) -> None:
    if name == "any":
        assert call(name, *args) is TRUE
        return
    with pytest.raises(StepLimitExceeded):
        call(name, *args)


@pytest.mark.parametrize(
    ("name", "args", "steps"),
    [
        ("list", (range(100),), 100),
        ("enumerate", ([0] * 100,), 100),
        ("zip", ([0] * 10, [0] * 20), 30),
        ("set", (range(100),), 200),
        ("len", ([0] * 100,), 0),
        ("range", (1 << 40,), 0),
        ("max", ([1] * 100,), 100),
        ("dict", ({i: i for i in range(10)},), 10),
    ],
)
def test_the_cost_is_that_of_the_elements(name: str, args: tuple[Any, ...], steps: int) -> None:
    thread = Thread()
    UNIVERSAL[name](thread, *args)
    assert thread.steps <= steps
    again = Thread()
    UNIVERSAL[name](again, *args)
    assert again.steps == thread.steps


@pytest.mark.parametrize(("name", "args"), [("max", (HUGE,)), ("enumerate", (HUGE,)), ("zip", (HUGE, HUGE))])
def test_large_work_stops_when_its_context_is_cancelled(name: str, args: tuple[Any, ...]) -> None:
    context = Context()
    context.cancel("enough")
    with pytest.raises(Cancelled):
        UNIVERSAL[name](Thread(max_steps=None, context=context), *args)


def test_keys_with_one_hash_are_refused_before_they_take_their_time() -> None:
    assert "same hash" in error_of("set", [i * ((1 << 61) - 1) for i in range(30_000)])
    assert "same hash" in error_of("dict", [(i * ((1 << 61) - 1), 0) for i in range(30_000)])


def test_lists_from_builtins_are_new_and_may_change() -> None:
    original = [2, 1]
    for name in ("list", "sorted", "reversed"):
        made = call(name, original)
        made.append(0)
    assert original == [2, 1]
