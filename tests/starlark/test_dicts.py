"""The methods of dicts, and their operators."""

from __future__ import annotations

from typing import Any

import pytest

from plait.starlark.errors import EvalError, FrozenError, StepLimitExceeded
from plait.starlark.methods.dicts import METHODS, update
from plait.starlark.methods.sets import dict_union
from plait.starlark.running.mutation import lock
from plait.starlark.thread import Thread
from plait.starlark.values import FALSE, TRUE, FrozenDict, HostValue

MUTATIONS = [
    ("clear", (), "cannot clear"),
    ("pop", ("a",), "pop: cannot delete from"),
    ("pop", ("absent", 0), "pop: cannot delete from"),
    ("popitem", (), "popitem: cannot delete from"),
    ("setdefault", ("b",), "setdefault: cannot insert into"),
    ("update", ([("a", 1)],), "update: cannot insert into"),
    ("update", ({"a": 1},), "update: cannot insert into"),
]


class Endless(HostValue):
    """A host's value that never ends and has no length."""

    type_name = "endless"

    def __iter__(self) -> Any:
        while True:
            yield 1


@pytest.fixture
def thread() -> Thread:
    return Thread()


def call(thread: Thread, name: str, receiver: dict[Any, Any], /, *arguments: Any, **named: Any) -> Any:
    return METHODS[name](thread, receiver, *arguments, **named)


def test_a_dict_has_the_methods_of_the_language() -> None:
    names = ["clear", "get", "items", "keys", "pop", "popitem", "setdefault", "update", "values"]
    assert list(METHODS) == names


@pytest.mark.parametrize(("name", "arguments", "problem"), MUTATIONS)
def test_a_frozen_dict_cannot_be_changed(thread: Thread, name: str, arguments: tuple[Any, ...], problem: str) -> None:
    frozen = FrozenDict({"a": 1})
    with pytest.raises(FrozenError, match=f"^{problem} frozen hash table$"):
        call(thread, name, frozen, *arguments)
    assert frozen == {"a": 1}


@pytest.mark.parametrize(("name", "arguments", "problem"), MUTATIONS)
def test_a_dict_cannot_be_changed_during_iteration(
    thread: Thread, name: str, arguments: tuple[Any, ...], problem: str
) -> None:
    values = {"a": 1}
    lock(thread, values)
    with pytest.raises(EvalError, match=f"^{problem} hash table during iteration$"):
        call(thread, name, values, *arguments)
    assert values == {"a": 1}


def test_what_changes_nothing_is_allowed_on_a_frozen_dict(thread: Thread) -> None:
    frozen = FrozenDict({"a": 1})
    assert call(thread, "setdefault", frozen, "a", 2) == 1
    call(thread, "update", frozen)
    call(thread, "update", frozen, {})
    call(thread, "update", frozen, [])
    with pytest.raises(FrozenError, match=r"^update: cannot insert into frozen hash table$"):
        call(thread, "update", frozen, b=1)
    with pytest.raises(FrozenError, match=r"^cannot clear frozen hash table$"):
        call(thread, "clear", FrozenDict())


def test_get_returns_the_value_or_the_default(thread: Thread) -> None:
    values = {"a": 1, (1, 2): 3}
    assert call(thread, "get", values, "a") == 1
    assert call(thread, "get", values, "b") is None
    assert call(thread, "get", values, "b", 2) == 2
    assert call(thread, "get", values, (1.0, 2)) == 3
    assert call(thread, "get", {1: "int"}, TRUE) is None


def test_pop_takes_out_a_key(thread: Thread) -> None:
    values = {"a": 1, "b": 2}
    assert call(thread, "pop", values, "a", 5) == 1
    assert call(thread, "pop", values, "a", None) is None
    assert values == {"b": 2}


def test_items_leave_in_the_order_in_which_they_came(thread: Thread) -> None:
    values = {"b": 1, "a": 2}
    assert [call(thread, "popitem", values), call(thread, "popitem", values)] == [("b", 1), ("a", 2)]


def test_many_items_leave_in_order_while_others_come(thread: Thread) -> None:
    values = {n: n for n in range(5_000)}
    for n in range(5_000):
        assert call(thread, "popitem", values) == (n, n)
        values[n + 10_000] = n
        if n % 2:
            assert call(thread, "pop", values, n + 10_000) == n
    assert list(values) == [n + 10_000 for n in range(0, 5_000, 2)]


def test_keys_values_and_items_are_new_lists(thread: Thread) -> None:
    values = {"a": 1, "b": 2}
    assert call(thread, "keys", values) == ["a", "b"]
    assert call(thread, "values", values) == [1, 2]
    assert call(thread, "items", values) == [("a", 1), ("b", 2)]
    large = {n: str(n) for n in range(150_000)}
    assert call(thread, "items", large) == list(large.items())


def test_setdefault_stores_only_what_is_absent(thread: Thread) -> None:
    values = {"a": 1}
    assert call(thread, "setdefault", values, "a", 2) == 1
    assert call(thread, "setdefault", values, "b") is None
    assert call(thread, "setdefault", values, "c", 2) == 2
    assert values == {"a": 1, "b": None, "c": 2}


def test_update_takes_a_dict_pairs_and_names(thread: Thread) -> None:
    values: dict[Any, Any] = {"a": 1}
    call(thread, "update", values, {"b": 2, "a": 3})
    call(thread, "update", values, [("c", 4), ["d", 5], range(2), {"x": 1, "y": 2}])
    call(thread, "update", values, {"e": 5}, e=6, thread=7, receiver=8)
    assert values == {"a": 3, "b": 2, "c": 4, "d": 5, 0: 1, "x": "y", "e": 6, "thread": 7, "receiver": 8}


def test_a_dict_may_be_updated_with_itself(thread: Thread) -> None:
    values = {"a": 1}
    call(thread, "update", values, values)
    assert values == {"a": 1}


@pytest.mark.parametrize(
    ("receiver", "name", "arguments", "message"),
    [
        ({}, "get", ([],), "get: unhashable type: list"),
        ({}, "setdefault", ({},), "setdefault: unhashable type: dict"),
        ({"a": 1}, "pop", ([],), "pop: unhashable type: list"),
        ({}, "pop", ("a",), "pop: missing key"),
        (FrozenDict(), "popitem", (), "popitem: empty dict"),
        ({}, "update", (None,), "update: got NoneType, want iterable"),
        ({}, "update", ("ab",), "update: got string, want iterable"),
        ({}, "update", ([1],), r"update: dictionary update sequence element #0 is not iterable \(int\)"),
        ({}, "update", ([(1, 2), "ab"],), r"update: dictionary update sequence element #1 is not iterable \(string\)"),
        ({}, "update", ([(1, 2, 3)],), "update: dictionary update sequence element #0 has length 3, want 2"),
        ({}, "update", ([Endless()],), r"update: dictionary update sequence element #0 has unknown length \(endless\)"),
        ({}, "update", ([([], 1)],), "update: unhashable type: list"),
    ],
)
def test_what_a_dict_cannot_do_is_said(
    thread: Thread, receiver: dict[Any, Any], name: str, arguments: tuple[Any, ...], message: str
) -> None:
    with pytest.raises(EvalError, match=f"^{message}$"):
        call(thread, name, receiver, *arguments)


def test_the_pairs_before_a_bad_one_are_stored(thread: Thread) -> None:
    values: dict[Any, Any] = {}
    with pytest.raises(EvalError, match="unhashable type: list"):
        call(thread, "update", values, [(1, 2), ([], 3), (4, 5)])
    assert values == {1: 2}


def test_a_dict_cannot_take_itself_as_a_pair(thread: Thread) -> None:
    values = {"a": 1, "b": 2}
    with pytest.raises(EvalError, match=r"^update: cannot insert into hash table during iteration$"):
        call(thread, "update", values, [values])


def test_updates_are_paid_for() -> None:
    source = {n: n for n in range(10_000)}
    for updates in (source, list(source.items()), Endless()):
        with pytest.raises(StepLimitExceeded):
            call(
                Thread(max_steps=5_000), "update", {}, [(1, 1)] * 10_000 if isinstance(updates, HostValue) else updates
            )
    for name in ("items", "keys", "values"):
        with pytest.raises(StepLimitExceeded):
            call(Thread(max_steps=5_000), name, source)


def test_a_union_has_the_keys_of_both_and_the_values_of_the_second(thread: Thread) -> None:
    x, y = FrozenDict({"b": 1, TRUE: 2}), {"a": 3, "b": 4, 1: 5, FALSE: 6}
    result = dict_union(thread, x, y)
    assert list(result.items()) == [("b", 4), (TRUE, 2), ("a", 3), (1, 5), (FALSE, 6)]
    assert type(result) is dict
    assert x == {"b": 1, TRUE: 2}
    update(thread, result, {"c": 7})
    assert len(result) == 6


def test_dicts_of_colliding_keys_cannot_be_merged(thread: Thread) -> None:
    modulus = (1 << 61) - 1
    halves = [{factor * modulus: 0 for factor in range(start, start + 100)} for start in (1, 101)]
    with pytest.raises(EvalError, match="keys with the same hash"):
        dict_union(thread, *halves)
