"""Tests of ``@builtin``: what scripts may pass, what the host gets, and what comes back."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Optional, Union

import pytest
from typing_extensions import override

from plait.context import Cancelled, DeadlineExceeded
from plait.starlark.errors import EvalError, FrozenError, ParseError, StarlarkError
from plait.starlark.host.builtin import builtin
from plait.starlark.native import binding_error, info_of
from plait.starlark.thread import Thread
from plait.starlark.universe.attributes import MISSING, find
from plait.starlark.values import (
    FALSE,
    NAN,
    TRUE,
    Bytes,
    FrozenDict,
    FrozenList,
    HostValue,
    Module,
    Set,
    Struct,
    is_builtin,
    is_callable,
    type_name,
)

if TYPE_CHECKING:
    from collections.abc import Iterator


class Point(HostValue):
    """A value of a host."""

    type_name = "point"


class Sub(Point):
    """A value of a class derived from a host's."""


POINT = Point()


def starlark_function(_thread: Thread, /) -> Any:
    return None


def error_of(function: Callable[..., Any], *args: Any, **kwargs: Any) -> str:
    with pytest.raises(EvalError) as caught:
        function(Thread(), *args, **kwargs)
    return caught.value.message


def echo(annotation: Any) -> tuple[Callable[..., Any], list[Any]]:
    """Return a builtin with one parameter of this annotation, and the list of what its host function gets."""
    got: list[Any] = []

    def host(x: Any) -> None:
        got.append(x)

    host.__annotations__["x"] = annotation
    return builtin(host, name="f"), got


def test_a_builtin_is_a_python_function_that_takes_the_thread_first() -> None:
    @builtin
    def get(thread: Thread, url: str, limit: int = 5, *, flag: bool = False) -> Any:
        """Get it."""
        return (thread.name, url, limit, flag)

    thread = Thread("main")
    assert get(thread, "u") == ("main", "u", 5, FALSE)
    assert get(thread, url="u", limit=6, flag=TRUE) == ("main", "u", 6, TRUE)
    assert inspect.isfunction(get)
    assert is_builtin(get)
    assert is_callable(get)
    assert type_name(get) == "builtin_function_or_method"
    assert (get.__name__, get.__doc__) == ("get", "Get it.")
    assert get.__wrapped__(thread, "u") == ("main", "u", 5, False)  # type: ignore[attr-defined]  # set by the decorator


def test_a_script_cannot_reach_what_the_decorator_keeps() -> None:
    function, _ = echo(int)
    for name in dir(function):
        assert find(function, name) is MISSING


def test_what_the_engine_knows_of_it_comes_from_the_signature() -> None:
    def host(a: int, b: int = 1, *, c: int, d: int = 2) -> None: ...
    def closed(a: int, b: int = 1, /) -> None: ...
    def rest(a: int, *args: int, **kwargs: int) -> None: ...

    info = info_of(builtin(host, name="other"))
    assert info is not None
    assert (info.name, info.parameters, info.required, info.positional, info.maximum) == (
        "other",
        ("a", "b", "c", "d"),
        1,
        False,
        2,
    )
    info = info_of(builtin(closed))
    assert info is not None
    assert (info.name, info.parameters, info.required, info.positional, info.maximum) == (
        "closed",
        ("a", "b"),
        1,
        True,
        2,
    )
    info = info_of(builtin(rest))
    assert info is not None
    assert (info.parameters, info.required, info.positional, info.maximum) == (("a",), 1, False, -1)


@pytest.mark.parametrize(
    ("annotation", "value", "expected"),
    [
        (str, "a", "a"),
        (int, 1, 1),
        (float, 1.5, 1.5),
        (float, 2, 2.0),
        (bool, TRUE, True),
        (bool, FALSE, False),
        (bytes, Bytes(b"a"), b"a"),
        (None, None, None),
        (tuple, (1, TRUE), (1, TRUE)),
        (tuple[bool, str], (TRUE, "a"), (True, "a")),
        (tuple[bool, ...], (TRUE, FALSE), (True, False)),
        (tuple[()], (), ()),
        (list, FrozenList([TRUE]), [TRUE]),
        (list[str], ["a"], ["a"]),
        (list[str], FrozenList(["a"]), ["a"]),
        (list[bool], [TRUE], [True]),
        (list[list[bool]], [[TRUE]], [[True]]),
        (list[float], [1, NAN], [1.0, math.nan]),
        (list[Any], [TRUE], [TRUE]),
        (dict, FrozenDict({1: TRUE}), {1: TRUE}),
        (dict[str, int], {"a": 1}, {"a": 1}),
        (dict[str, int], FrozenDict({"a": 1}), {"a": 1}),
        (dict[str, bool], {"a": TRUE}, {"a": True}),
        (dict[str, Any], {"a": TRUE}, {"a": TRUE}),
        (set, Set({1: None}), {1}),
        (set[str], Set({"a": None}), {"a"}),
        (set[bool], Set({TRUE: None}), {True}),
        (str | None, None, None),
        (Optional[str], "a", "a"),  # noqa: UP045 - the old spelling serves too
        (Union[str, int], 3, 3),  # noqa: UP007 - the old spelling serves too
        (bool | int, TRUE, True),
        (list[str] | str, "a", "a"),
        (list[int] | list[str], ["a"], ["a"]),
        (list[bool] | None, [TRUE], [True]),
        (Any, TRUE, TRUE),
        (object, FALSE, FALSE),
        (str | Any, TRUE, TRUE),
        (Point, POINT, POINT),
        (range, range(3), range(3)),
        ("str | None", "a", "a"),
        ("dict[str, list[bool]]", {"a": [TRUE]}, {"a": [True]}),
    ],
)
def test_the_annotation_decides_what_the_host_gets(annotation: Any, value: Any, expected: Any) -> None:
    function, got = echo(annotation)
    assert function(Thread(), value) is None
    assert type(got[0]) is type(expected)
    assert repr(got[0]) == repr(expected)


@pytest.mark.parametrize(
    ("annotation", "value", "message"),
    [
        (str, 1, "got int, want string"),
        (str, None, "got NoneType, want string"),
        (int, TRUE, "got bool, want int"),
        (int, 1.0, "got float, want int"),
        (float, "1", "got string, want float or int"),
        (float, 1 << 2000, "int too large to convert to float"),
        (bool, 1, "got int, want bool"),
        (bytes, "a", "got string, want bytes"),
        (None, 1, "got int, want None"),
        (list, (), "got tuple, want list"),
        (list[str], "a", "got string, want list"),
        (list[str], ["a", 1], "at index 1, got int, want string"),
        (list[list[bool]], [[TRUE], [1]], "at index 1, at index 0, got int, want bool"),
        (tuple, [], "got list, want tuple"),
        (tuple[int, str], (1,), "got a tuple of length 1, want length 2"),
        (tuple[int, str], (1, 2), "at index 1, got int, want string"),
        (tuple[int, ...], (1, "a"), "at index 1, got string, want int"),
        (dict, [], "got list, want dict"),
        (dict[str, int], {1: 1}, "key 1: got int, want string"),
        (dict[str, int], {"a": "b"}, 'value of key "a": got string, want int'),
        (set, [1], "got list, want set"),
        (set[int], Set({"a": None}), "at index 0, got string, want int"),
        (str | None, 1, "got int, want string or None"),
        (list[str] | None, [1], "at index 0, got int, want string"),
        (Point, 1, "got int, want point"),
        (Struct, 1, "got int, want struct"),
        (Module, 1, "got int, want module"),
    ],
)
def test_a_value_that_does_not_fit_is_refused(annotation: Any, value: Any, message: str) -> None:
    function, got = echo(annotation)
    assert error_of(function, value) == f"f: for parameter x: {message}"
    assert got == []


def test_a_callable_and_a_derived_value_pass_as_they_are() -> None:
    function, got = echo(Callable[[int], int])
    bare, _ = echo(Callable)
    derived, found = echo(Point)
    sub = Sub()
    function(Thread(), starlark_function)
    bare(Thread(), function)
    derived(Thread(), sub)
    assert got == [starlark_function]
    assert found == [sub]
    assert error_of(function, 1) == "f: for parameter x: got int, want callable"


def test_a_list_without_conversion_is_the_scripts_own_and_a_frozen_one_a_copy() -> None:
    function, got = echo(list[str])
    mine = ["a"]
    frozen = FrozenList(["a"])
    function(Thread(), mine)
    function(Thread(), frozen)
    assert got[0] is mine
    got[1].append("b")
    assert frozen == ["a"]


def test_checking_elements_is_paid_for() -> None:
    function, _ = echo(list[str])
    thread = Thread()
    function(thread, ["a"] * 1_000)
    assert thread.steps == 1_000


def test_defaults_reach_the_host_as_they_are() -> None:
    marker = object()

    @builtin
    def f(a: str | int = marker, b: bool = True, c: Any = marker, *, d: list[str] | None = None) -> Any:  # type: ignore[assignment]  # a default may be what the annotation is not
        return [a is marker, b is True, c is marker, d is None]

    assert f(Thread()) == [TRUE, TRUE, TRUE, TRUE]
    assert f(Thread(), "x", FALSE) == [FALSE, FALSE, TRUE, TRUE]
    assert error_of(f, []) == "f: for parameter a: got list, want string or int"
    assert error_of(f, "a", 1) == "f: for parameter b: got int, want bool"


def test_star_arguments_are_checked_one_by_one() -> None:
    @builtin
    def f(first: str, *rest: bool, **named: int) -> Any:
        return [first, list(rest), named]

    assert f(Thread(), "a", TRUE, FALSE, x=1) == ["a", [TRUE, FALSE], {"x": 1}]
    assert error_of(f, "a", TRUE, 1) == "f: for parameter 3: got int, want bool"
    assert error_of(f, "a", x="b") == "f: for parameter x: got string, want int"
    assert error_of(f, x=1) == "f: missing argument for first"


def test_no_keyword_of_a_script_can_stand_in_for_the_thread() -> None:
    @builtin
    def f(thread: Thread, **named: Any) -> Any:
        return [thread.name, named]

    assert f(Thread("main"), _plait_thread=1) == ["main", {"_plait_thread": 1}]
    assert error_of(f, thread=1) == "f: unexpected keyword argument thread"


def test_a_missing_keyword_argument_is_named() -> None:
    @builtin
    def f(a: int = 1, *, b: int) -> int:
        return a + b

    assert f(Thread(), b=2) == 3
    assert error_of(f) == "f: missing argument for b"


def test_positional_only_parameters_stay_so() -> None:
    @builtin
    def f(a: int, b: int, /, c: int = 0) -> Any:
        return [a, b, c]

    assert f(Thread(), 1, 2, c=3) == [1, 2, 3]
    with pytest.raises(TypeError):
        f(Thread(), 1, b=2)


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (None, None),
        ("a", "a"),
        ("\ud800", "\ufffd"),
        (1, 1),
        (1 << 100, 1 << 100),
        (True, TRUE),
        (False, FALSE),
        (math.nan, NAN),
        (POINT, POINT),
        ([True, {"a": (False,)}], [TRUE, {"a": (FALSE,)}]),
    ],
)
def test_the_result_becomes_a_value_of_the_script(result: Any, expected: Any) -> None:
    @builtin
    def f() -> Any:
        return result

    found = f(Thread())
    assert found == expected
    assert type(found) is type(expected)


def test_a_list_that_the_host_keeps_is_not_the_scripts() -> None:
    kept = [1]

    @builtin
    def f() -> list[int]:
        return kept

    f(Thread()).append(2)
    assert kept == [1]


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (object(), "f: cannot return this: a Python object is no Starlark value"),
        ([1j], "f: cannot return this: a Python complex is no Starlark value"),
        ([1 << 300_000], "f: cannot return this: an integer of 300001 bits is too large for Starlark (at most 262144)"),
        (
            error_of,
            "f: cannot return this: the Python function error_of is no Starlark value: make it one with "
            "@starlark.builtin",
        ),
    ],
)
def test_a_result_that_is_no_value_of_the_language_is_an_error(result: Any, message: str) -> None:
    @builtin
    def f() -> Any:
        return result

    assert error_of(f) == message


class Unprintable(Exception):
    """An exception that cannot say its text."""

    @override
    def __str__(self) -> str:
        raise ValueError


@pytest.mark.parametrize(
    ("raised", "message"),
    [
        (ValueError("no such thing"), "f: no such thing"),
        (ValueError(), "f: ValueError"),
        (KeyError("k"), "f: k"),
        (MemoryError(), "f: out of memory"),
        (RecursionError("maximum recursion depth exceeded"), "f: calls nested too deeply"),
        (SystemExit(3), "f: 3"),
        (GeneratorExit(), "f: GeneratorExit"),
        (StopIteration(), "f: StopIteration"),
        (Unprintable(), "f: Unprintable"),
    ],
)
def test_what_the_host_raises_is_an_error_of_the_script(raised: BaseException, message: str) -> None:
    @builtin
    def f() -> None:
        raise raised

    with pytest.raises(EvalError) as caught:
        f(Thread())
    assert caught.value.message == message
    assert caught.value.__cause__ is raised
    assert "Python" not in caught.value.backtrace()


@pytest.mark.parametrize(
    "raised",
    [
        EvalError("no"),
        FrozenError("frozen"),
        ParseError("bad"),
        StarlarkError("other"),
        Cancelled(),
        DeadlineExceeded(),
        KeyboardInterrupt(),
    ],
)
def test_the_engines_errors_and_an_interrupt_pass_as_they_are(raised: BaseException) -> None:
    @builtin
    def f() -> None:
        raise raised

    with pytest.raises(type(raised)) as caught:
        f(Thread())
    assert caught.value is raised


class Shop:
    """A class whose methods and objects become builtins."""

    def price(self, thread: Thread, name: str) -> Any:
        return f"{thread.name} {name}"

    def __call__(self, count: int) -> int:
        return count + 1


def test_bound_methods_partial_functions_and_callable_objects_serve_too() -> None:
    thread = Thread("t")
    price = builtin(Shop().price)
    assert price(thread, "tea") == "t tea"
    assert price.__name__ == "price"
    assert error_of(price, 1) == "price: for parameter name: got int, want string"

    def add(x: int, y: int) -> int:
        return x + y

    increment = builtin(functools.partial(add, 1), name="increment")
    assert increment(thread, 2) == 3
    assert error_of(increment, "a") == "increment: for parameter y: got string, want int"
    count = builtin(Shop(), name="count")
    assert count(thread, 2) == 3
    assert error_of(count, "a") == "count: for parameter count: got string, want int"


def test_the_decorator_takes_a_name() -> None:
    @builtin(name="get")
    def fetch(url: str) -> str:
        return url

    assert fetch.__name__ == "get"
    assert error_of(fetch, 1) == "get: for parameter url: got int, want string"


def test_an_annotation_that_only_type_checkers_can_resolve_serves_for_the_thread() -> None:
    def f(running: NotImportedHere.Thread, x: int) -> int:  # type: ignore[name-defined]  # noqa: F821 - that is the case
        assert isinstance(running, Thread)
        return x

    assert builtin(f)(Thread(), 1) == 1


async def coroutine() -> None: ...


def generator() -> Iterator[int]:
    yield 1


def unknown(x: complex) -> None: ...


def unknown_element(x: list[complex]) -> None: ...


def unresolved(x: Nowhere) -> None: ...  # type: ignore[name-defined]  # noqa: F821 - that is the case


def reserved(_plait_x: int) -> None: ...


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (coroutine, "coroutine is a coroutine or a generator; a Starlark builtin returns its result"),
        (generator, "generator is a coroutine or a generator; a Starlark builtin returns its result"),
        (unknown, "unknown: annotation of parameter x: complex says nothing about a script's value"),
        (unknown_element, "unknown_element: annotation of parameter x: complex says nothing about a script's value"),
        (unresolved, "unresolved: annotation of parameter x: name 'Nowhere' is not defined"),
        (reserved, "reserved: a parameter cannot be named _plait_x"),
        (builtin(error_of, name="x"), "x is a Starlark builtin already"),
        (Shop, "a Starlark builtin is made of a function, not of"),
        (3, "a Starlark builtin is made of a function, not of 3"),
    ],
)
def test_a_function_that_cannot_be_one_is_refused_when_it_is_decorated(function: Any, message: str) -> None:
    with pytest.raises(TypeError) as caught:
        builtin(function)
    assert str(caught.value).startswith(message)


def test_a_name_that_only_keywords_can_give_is_not_taken_by_a_position() -> None:
    @builtin
    def f(a: int, *rest: int, b: int = 0) -> None:
        """Take any number of arguments."""

    info = info_of(f)
    assert info is not None
    assert info.places == 1
    assert binding_error(info, 3, ["b", "c"]).message == 'f: unexpected keyword argument "c"'
    assert binding_error(info, 3, ["a"]).message == 'f: got multiple values for keyword argument "a"'
