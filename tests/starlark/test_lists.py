"""The methods of lists."""

from __future__ import annotations

from typing import Any

import pytest

from plait.starlark.errors import EvalError, FrozenError, StepLimitExceeded
from plait.starlark.methods.lists import METHODS
from plait.starlark.running.mutation import lock, unlock
from plait.starlark.thread import Thread
from plait.starlark.values import TRUE, FrozenList, Set

MUTATIONS = [
    ("append", (1,), "append to"),
    ("clear", (), "clear"),
    ("extend", ([],), "extend"),
    ("insert", (0, 1), "insert into"),
    ("pop", (), "pop from"),
    ("remove", (1,), "remove from"),
]


@pytest.fixture
def thread() -> Thread:
    return Thread()


def call(thread: Thread, name: str, receiver: list[Any], *arguments: Any) -> Any:
    return METHODS[name](thread, receiver, *arguments)


def test_a_list_has_the_methods_of_the_language() -> None:
    assert list(METHODS) == ["append", "clear", "extend", "index", "insert", "pop", "remove"]


@pytest.mark.parametrize(("name", "arguments", "verb"), MUTATIONS)
def test_a_frozen_list_cannot_be_changed(thread: Thread, name: str, arguments: tuple[Any, ...], verb: str) -> None:
    frozen = FrozenList([1])
    with pytest.raises(FrozenError, match=f"^{name}: cannot {verb} frozen list$"):
        call(thread, name, frozen, *arguments)
    assert frozen == [1]


@pytest.mark.parametrize(("name", "arguments", "verb"), MUTATIONS)
def test_a_list_cannot_be_changed_during_iteration(
    thread: Thread, name: str, arguments: tuple[Any, ...], verb: str
) -> None:
    values = [1]
    lock(thread, values)
    with pytest.raises(EvalError, match=f"^{name}: cannot {verb} list during iteration$"):
        call(thread, name, values, *arguments)
    unlock(thread, values)
    assert values == [1]
    call(thread, name, values, *arguments)


@pytest.mark.parametrize(
    ("iterable", "expected"),
    [
        ([3], [1, 2, 3]),
        ((3, 4), [1, 2, 3, 4]),
        (range(2), [1, 2, 0, 1]),
        ({"a": 1}, [1, 2, "a"]),
        (Set.fromkeys([5]), [1, 2, 5]),
        (FrozenList(), [1, 2]),
    ],
)
def test_extend_takes_any_iterable(thread: Thread, iterable: Any, expected: list[Any]) -> None:
    values = [1, 2]
    assert call(thread, "extend", values, iterable) is None
    assert values == expected


def test_a_list_may_be_extended_by_itself(thread: Thread) -> None:
    values = [1, 2]
    call(thread, "extend", values, values)
    assert values == [1, 2, 1, 2]


@pytest.mark.parametrize(("iterable", "kind"), [("ab", "string"), (1, "int"), (None, "NoneType")])
def test_extend_refuses_what_cannot_be_iterated(thread: Thread, iterable: Any, kind: str) -> None:
    receivers: list[list[Any]] = [[], FrozenList()]
    for receiver in receivers:
        with pytest.raises(EvalError, match=f"^extend: for parameter 1: got {kind}, want iterable$"):
            call(thread, "extend", receiver, iterable)


def test_extend_by_a_huge_range_is_refused_before_any_work(thread: Thread) -> None:
    values: list[Any] = []
    with pytest.raises(StepLimitExceeded):
        call(thread, "extend", values, range(2_000_000_000))
    assert values == []


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        (-99, [42, 0, 1, 2]),
        (-2, [0, 42, 1, 2]),
        (-1, [0, 1, 42, 2]),
        (0, [42, 0, 1, 2]),
        (2, [0, 1, 42, 2]),
        (3, [0, 1, 2, 42]),
        (99, [0, 1, 2, 42]),
    ],
)
def test_insert_clamps_the_index(thread: Thread, index: int, expected: list[int]) -> None:
    values = [0, 1, 2]
    call(thread, "insert", values, index, 42)
    assert values == expected


@pytest.mark.parametrize(
    ("index", "remaining", "value"), [(1, [1, 3], 2), (0, [2, 3], 1), (-1, [1, 2], 3), (-3, [2, 3], 1)]
)
def test_pop_takes_out_the_element_at_an_index(thread: Thread, index: int, remaining: list[int], value: int) -> None:
    values = [1, 2, 3]
    assert call(thread, "pop", values, index) == value
    assert values == remaining


def test_pop_without_an_index_takes_the_last_element(thread: Thread) -> None:
    values = [1, 2, 3]
    assert call(thread, "pop", values) == 3
    assert values == [1, 2]


@pytest.mark.parametrize(
    ("receiver", "name", "arguments", "message"),
    [
        ([1, 2, 3], "pop", (3,), r"pop: list index 3 out of range \[-3:2\]"),
        ([1, 2, 3], "pop", (-4,), r"pop: list index -4 out of range \[-3:2\]"),
        (FrozenList([1]), "pop", (3,), r"pop: list index 3 out of range \[-1:0\]"),
        ([], "pop", (), "pop: index -1 out of range: empty list"),
        ([], "pop", (0,), "pop: index 0 out of range: empty list"),
        ([1], "pop", ("a",), "pop: for parameter 1: got string, want int"),
        ([1], "pop", (TRUE,), "pop: for parameter 1: got bool, want int"),
        ([1], "pop", (1.0,), "pop: for parameter 1: got float, want int"),
        ([1], "pop", (None,), "pop: for parameter 1: got NoneType, want int"),
        (
            [1],
            "insert",
            (1 << 63, 0),
            r"insert: for parameter 1: 9223372036854775808 out of range \(want value in signed 64-bit range\)",
        ),
        ([1], "insert", ("a", 0), "insert: for parameter 1: got string, want int"),
        ([1], "remove", (42,), "remove: element not found"),
        ([1], "index", (42,), "index: value not in list"),
        ([1], "index", (TRUE,), "index: value not in list"),
        ([1], "index", (1, 1), "index: value not in list"),
        ([1], "index", (1, "a"), "index: invalid start index: got string, want int"),
        ([1], "index", (1, 0, TRUE), "index: invalid end index: got bool, want int"),
        ([1], "index", (1, 1 << 31), "index: invalid start index: 2147483648 out of range"),
    ],
)
def test_what_a_list_cannot_do_is_said(
    thread: Thread, receiver: list[Any], name: str, arguments: tuple[Any, ...], message: str
) -> None:
    with pytest.raises(EvalError, match=f"^{message}$"):
        call(thread, name, receiver, *arguments)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("a",), 1),
        (("a", -1000), 1),
        (("a", 2), 3),
        (("n", -3), 4),
        (("s", -2), 6),
        (("s", -1000, 7), 6),
        (("b", None, None), 0),
        (("b", None, -1), 0),
    ],
)
def test_index_looks_between_start_and_end(thread: Thread, arguments: tuple[Any, ...], expected: int) -> None:
    assert call(thread, "index", list("bananas"), *arguments) == expected


def test_index_and_remove_find_by_value(thread: Thread) -> None:
    values: list[Any] = [1, [2], (3, [4]), {"a": 1}]
    assert call(thread, "index", values, (3.0, [4])) == 2
    call(thread, "remove", values, FrozenList([2]))
    call(thread, "remove", values, {"a": 1.0})
    assert values == [1, (3, [4])]


def test_remove_takes_out_the_first_of_several(thread: Thread) -> None:
    values = [3, 1, 4, 1]
    call(thread, "remove", values, 1)
    assert values == [3, 4, 1]


def test_index_says_when_elements_are_too_deep_to_compare(thread: Thread) -> None:
    cyclic: list[Any] = []
    cyclic.append(cyclic)
    for name in ("index", "remove"):
        with pytest.raises(EvalError, match=f"^{name}: comparison exceeded maximum recursion depth$"):
            call(thread, name, [cyclic], cyclic)
    cyclic.clear()


@pytest.mark.parametrize(("name", "arguments"), [("insert", (0, 0)), ("pop", (0,))])
def test_moving_elements_is_paid_for(thread: Thread, name: str, arguments: tuple[Any, ...]) -> None:
    values = list(range(100_000))
    for _ in range(50):
        call(thread, name, values, *arguments)
    assert thread.steps > 5_000
    before = thread.steps
    call(thread, "insert", values, 100_000, 0)
    call(thread, "pop", values)
    assert thread.steps == before
