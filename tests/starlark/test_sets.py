"""The methods of sets, and their operators."""

from __future__ import annotations

from typing import Any

import pytest

from plait.starlark.errors import EvalError, FrozenError, StepLimitExceeded
from plait.starlark.methods.sets import METHODS, set_binary
from plait.starlark.running.mutation import lock
from plait.starlark.thread import Thread
from plait.starlark.values import FALSE, TRUE, FrozenSet, HostValue, Set

MUTATIONS = [
    ("add", (4,), "insert into"),
    ("add", (1,), "insert into"),
    ("clear", (), "clear"),
    ("discard", (9,), "delete from"),
    ("pop", (), "delete from"),
    ("remove", (9,), "delete from"),
    ("update", ([1],), "insert into"),
]


class Endless(HostValue):
    """A host's value that never ends."""

    type_name = "endless"

    def __iter__(self) -> Any:
        while True:
            yield 1


@pytest.fixture
def thread() -> Thread:
    return Thread()


def make(*elements: Any) -> Set:
    return Set((element, None) for element in elements)


def call(thread: Thread, name: str, receiver: Set, *arguments: Any, **named: Any) -> Any:
    return METHODS[name](thread, receiver, *arguments, **named)


def test_a_set_has_the_methods_of_the_language() -> None:
    names = "add clear difference discard intersection issubset issuperset pop remove symmetric_difference union update"
    assert list(METHODS) == names.split()


@pytest.mark.parametrize(("name", "arguments", "verb"), MUTATIONS)
def test_a_frozen_set_cannot_be_changed_not_even_to_what_it_is(
    thread: Thread, name: str, arguments: tuple[Any, ...], verb: str
) -> None:
    frozen = FrozenSet(make(1, 2))
    with pytest.raises(FrozenError, match=f"^{name}: cannot {verb} frozen hash table$"):
        call(thread, name, frozen, *arguments)
    assert list(frozen) == [1, 2]


@pytest.mark.parametrize(("name", "arguments", "verb"), MUTATIONS)
def test_a_set_cannot_be_changed_during_iteration(
    thread: Thread, name: str, arguments: tuple[Any, ...], verb: str
) -> None:
    values = make(1, 2)
    lock(thread, values)
    with pytest.raises(EvalError, match=f"^{name}: cannot {verb} hash table during iteration$"):
        call(thread, name, values, *arguments)
    assert list(values) == [1, 2]


def test_a_frozen_set_may_be_updated_with_nothing_and_cleared_when_it_is_empty(thread: Thread) -> None:
    call(thread, "update", FrozenSet(make(1)))
    call(thread, "update", FrozenSet(make(1)), [], ())
    call(thread, "clear", FrozenSet())


def test_a_set_cannot_be_updated_with_itself_but_united(thread: Thread) -> None:
    values = make(1)
    with pytest.raises(EvalError, match=r"^update: cannot insert into hash table during iteration$"):
        call(thread, "update", values, values)
    assert list(call(thread, "union", values, values)) == [1]


def test_elements_are_added_and_taken_out_in_order(thread: Thread) -> None:
    values = make(3, 1)
    call(thread, "add", values, 2)
    call(thread, "add", values, 3.0)
    call(thread, "discard", values, 7)
    call(thread, "remove", values, 1)
    assert [call(thread, "pop", values), call(thread, "pop", values)] == [3, 2]
    call(thread, "update", values, [5, 5], (6,), {7: 8})
    assert list(values) == [5, 6, 7]
    call(thread, "clear", values)
    assert not values


def test_booleans_are_not_the_numbers_one_and_zero(thread: Thread) -> None:
    assert list(call(thread, "union", make(1), [TRUE, 1.0, 0, FALSE])) == [1, TRUE, 0, FALSE]


@pytest.mark.parametrize(
    ("method_and_operator", "x", "y", "expected"),
    [
        ("union |", (1, 2), (3, 1), [1, 2, 3]),
        ("intersection &", (1, 2, 3), (3, 1), [3, 1]),
        ("difference -", (1, 2, 3), (3, 4), [1, 2]),
        ("symmetric_difference ^", (1, 2, 3), (3, 4), [1, 2, 4]),
        ("union |", (), (2,), [2]),
        ("intersection &", (), (2,), []),
        ("difference -", (), (2,), []),
        ("symmetric_difference ^", (), (2,), [2]),
        ("difference -", ((1, 2), "a"), ((1.0, 2),), ["a"]),
    ],
)
def test_an_operator_and_its_method_give_a_new_set(
    thread: Thread, method_and_operator: str, x: tuple[Any, ...], y: tuple[Any, ...], expected: list[Any]
) -> None:
    name, op = method_and_operator.split()
    for receiver in (make(*x), FrozenSet(make(*x))):
        results = [set_binary(thread, op, receiver, make(*y)), call(thread, name, receiver, list(y))]
        assert [list(result) for result in results] == [expected, expected]
        assert [type(result) for result in results] == [Set, Set]
        assert list(receiver) == list(x)


def test_a_symmetric_difference_toggles_repeated_elements(thread: Thread) -> None:
    assert list(call(thread, "symmetric_difference", make(1, 2), [2, 2, 3, 3, 3])) == [1, 2, 3]


def test_union_takes_any_number_of_iterables(thread: Thread) -> None:
    assert list(call(thread, "union", make(1))) == [1]
    assert list(call(thread, "union", make(1), [2], (3,), {4: 0}, make(5), range(7))) == [1, 2, 3, 4, 5, 0, 6]


@pytest.mark.parametrize(
    ("x", "y", "subset", "superset"),
    [
        ((1, 2), [1, 2, 3], TRUE, FALSE),
        ((1, 2, 3), [3, 3, 1], FALSE, TRUE),
        ((1, 2), [2, 1], TRUE, TRUE),
        ((1, 2), [2, 3], FALSE, FALSE),
        ((), [], TRUE, TRUE),
        ((), [[]], TRUE, None),
        ((1,), [1.0, []], TRUE, None),
    ],
)
def test_subsets_and_supersets_are_of_any_iterable(
    thread: Thread, x: tuple[Any, ...], y: list[Any], subset: Any, superset: Any
) -> None:
    assert call(thread, "issubset", make(*x), y) is subset
    if superset is None:
        with pytest.raises(EvalError, match=r"^issuperset: unhashable type: list$"):
            call(thread, "issuperset", make(*x), y)
    else:
        assert call(thread, "issuperset", make(*x), y) is superset


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("add", ([],), "add: unhashable type: list"),
        ("discard", ([],), "discard: unhashable type: list"),
        ("remove", ({},), "remove: unhashable type: dict"),
        ("remove", (9,), "remove: missing key"),
        ("update", ([2, {}],), "update: unhashable type: dict"),
        ("update", (9,), "update: argument #1 is not iterable: int"),
        ("union", ([], "ab"), "union: argument #2 is not iterable: string"),
        ("difference", (1,), "difference: for parameter 1: got int, want iterable"),
        ("difference", ([[]],), "difference: unhashable type: list"),
        ("intersection", ("ab",), "intersection: for parameter 1: got string, want iterable"),
        ("intersection", ([[]],), "intersection: unhashable type: list"),
        ("symmetric_difference", ([{}],), "symmetric_difference: unhashable type: dict"),
        ("issubset", ([[]],), "issubset: unhashable type: list"),
        ("issuperset", (), "issuperset: got 0 arguments, want 1"),
    ],
)
def test_what_a_set_cannot_do_is_said(thread: Thread, name: str, arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(EvalError, match=f"^{message}$"):
        call(thread, name, make(1), *arguments)


def test_an_empty_set_has_nothing_to_take_out(thread: Thread) -> None:
    with pytest.raises(EvalError, match=r"^pop: empty set$"):
        call(thread, "pop", FrozenSet())
    with pytest.raises(EvalError, match=r"^remove: missing key$"):
        call(thread, "remove", make(), 1)


@pytest.mark.parametrize("name", ["union", "update"])
def test_union_and_update_refuse_names(thread: Thread, name: str) -> None:
    with pytest.raises(EvalError, match=f"^{name}: does not accept keyword arguments$"):
        call(thread, name, make(1), gee=[2])


def test_the_elements_before_a_bad_one_are_stored(thread: Thread) -> None:
    values = make()
    with pytest.raises(EvalError, match="unhashable type: list"):
        call(thread, "update", values, [1, [], 2])
    assert list(values) == [1]


@pytest.mark.parametrize(
    "name", ["union", "update", "difference", "intersection", "symmetric_difference", "issubset", "issuperset"]
)
def test_what_never_ends_uses_up_the_steps(name: str) -> None:
    with pytest.raises(StepLimitExceeded):
        call(Thread(max_steps=10_000), name, make(1, 2), Endless())


@pytest.mark.parametrize("op", ["|", "&", "-", "^"])
def test_operators_on_large_sets_are_paid_for_and_right(op: str) -> None:
    x, y = make(*range(100_000)), make(*range(50_000, 150_000))
    results = {
        "|": list(range(150_000)),
        "&": list(range(50_000, 100_000)),
        "-": list(range(50_000)),
        "^": [*range(50_000), *range(100_000, 150_000)],
    }
    thread = Thread()
    assert list(set_binary(thread, op, x, y)) == results[op]
    assert thread.steps >= 200_000


def test_sets_of_colliding_elements_are_refused(thread: Thread) -> None:
    elements = [factor * ((1 << 61) - 1) for factor in range(1, 1_000)]
    for name in ("union", "update", "difference", "symmetric_difference"):
        with pytest.raises(EvalError, match=f"^{name}: more than 128 keys with the same hash$"):
            call(thread, name, make(1), elements)
