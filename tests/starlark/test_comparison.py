"""Comparison: what is equal, what comes first, what is in what, and what may be a key."""

from __future__ import annotations

import functools
import itertools
import random
from typing import TYPE_CHECKING, Any

import pytest
from typing_extensions import override

from plait.context import Cancelled, Context
from plait.starlark.comparison import check_hashable, contains, equal, ordered, sort, store
from plait.starlark.comparison.hashing import note_key, store_keys
from plait.starlark.errors import EvalError, StepLimitExceeded
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
)

if TYPE_CHECKING:
    from collections.abc import Callable

MERSENNE = (1 << 61) - 1


class Version(HostValue):
    """A host's value with an order and members."""

    type_name = "version"

    def __init__(self, number: int) -> None:
        self.number = number

    @override
    def __eq__(self, other: object) -> bool:
        return isinstance(other, Version) and self.number == other.number

    @override
    def __hash__(self) -> int:
        return hash(self.number)

    def __lt__(self, other: object) -> bool:
        return self.number < other.number if isinstance(other, Version) else NotImplemented

    def __contains__(self, item: object) -> bool:
        return item == self.number


class Opaque(HostValue):
    """A host's value that knows nothing."""

    type_name = "opaque"


class Unhashable(HostValue):
    """A host's value without a hash."""

    type_name = "slippery"
    __hash__ = None


def nested(levels: int, kind: type = list) -> Any:
    """Return a list or tuple with others inside."""
    value: Any = kind()
    for _ in range(levels):
        value = kind((value,))
    return value


def dismantle(value: Any) -> None:
    """Take a deep value apart level by level, so that Python does not do it by recursion."""
    while value:
        value = value[0]


def doubled(levels: int) -> list[Any]:
    """Return a small value that is huge when it is looked through."""
    value: list[Any] = [1]
    for _ in range(levels):
        value = [value, value]
    return value


@pytest.fixture
def thread() -> Thread:
    return Thread(max_steps=None)


def key_of(first: Any) -> Any:
    """Return a key function of the engine's form."""

    def key(_thread: Thread, value: Any, /) -> Any:
        return first(value)

    return key


EQUAL = [
    (1, 1.0),
    (NAN, NAN),
    (0.0, -0.0),
    (2**53, float(2**53)),
    ("é", "é"),
    (Bytes(b"a"), Bytes(b"a")),
    (None, None),
    (TRUE, TRUE),
    ([1, [2.0]], FrozenList([1.0, FrozenList([2])])),
    ((1, (2,)), (1, (2,))),
    ({1: [2], "a": 3}, FrozenDict({"a": 3, 1.0: [2]})),
    (Set.fromkeys([1, 2]), FrozenSet.fromkeys([2, 1])),
    (range(0, 3, 2), range(0, 4, 2)),
    (range(0), range(2, 1, 3)),
    (Struct({"a": [1], "b": 2}), Struct({"b": 2, "a": [1]})),
    ([NAN], [NAN]),
    (Version(1), Version(1)),
]

UNEQUAL = [
    (1, TRUE),
    (0, FALSE),
    (None, FALSE),
    (2**53 + 1, float(2**53)),
    ("a", Bytes(b"a")),
    ([], ()),
    ([1], [TRUE]),
    ([1], [1, 2]),
    ((1, [0]), (1, [FALSE])),
    ({"k": [0]}, {"k": [FALSE]}),
    ({"a": 1}, {"b": 1}),
    ({"a": 1}, {"a": 1, "b": 1}),
    ({1: None}, Set.fromkeys([1])),
    (Set.fromkeys([1]), Set.fromkeys([2])),
    (range(3), [0, 1, 2]),
    (Struct({"a": 1}), Struct({"a": 2})),
    (Struct({"a": 1}), Struct({"b": 1})),
    (Struct({"a": 1}), Struct({"a": 1}, kind="other")),
    (Module("m", {}), Module("m", {})),
    (Version(1), Version(2)),
    (Version(1), 1),
    (Opaque(), Opaque()),
]


@pytest.mark.parametrize(("x", "y"), EQUAL)
def test_equal_values_are_equal_both_ways_and_inside_lists(thread: Thread, x: Any, y: Any) -> None:
    assert equal(thread, x, y)
    assert equal(thread, y, x)
    assert equal(thread, [[x]] * 10, [[y]] * 10)


@pytest.mark.parametrize(("x", "y"), UNEQUAL)
def test_unequal_values_are_unequal_both_ways_and_inside_lists(thread: Thread, x: Any, y: Any) -> None:
    assert not equal(thread, x, y)
    assert not equal(thread, y, x)
    assert not equal(thread, [0] * 9 + [x], [0] * 9 + [y])


def test_functions_and_bound_methods_are_equal_to_themselves_alone(thread: Thread) -> None:
    values = [key_of(len), key_of(len), BoundMethod("count", "", key_of(len)), BoundMethod("count", "", key_of(len))]
    assert all(equal(thread, x, y) == (x is y) for x, y in itertools.product(values, values))


def test_a_list_that_contains_itself_is_not_equal_even_to_itself(thread: Thread) -> None:
    cyclic: list[Any] = [1, 2]
    cyclic[1] = cyclic
    for compare in (equal, lambda t, x, y: ordered(t, "<", x, y)):
        with pytest.raises(EvalError, match=r"^comparison exceeded maximum recursion depth$"):
            compare(thread, cyclic, cyclic)
    cyclic.clear()


@pytest.mark.parametrize("kind", [list, tuple])
def test_values_nested_too_deeply_are_not_compared(thread: Thread, kind: type) -> None:
    deep, shallow = nested(100_000, kind), nested(150, kind)
    assert equal(thread, shallow, nested(150, kind))
    assert not ordered(thread, "<", shallow, nested(150, kind))
    for compare in (equal, lambda t, x, y: ordered(t, "<", x, y), contains_itself):
        with pytest.raises(EvalError, match="recursion depth"):
            compare(thread, deep, deep)
    dismantle(deep)


def contains_itself(thread: Thread, x: Any, y: Any) -> bool:
    return contains(thread, [x], y)


@pytest.mark.parametrize(
    "compare",
    [
        equal,
        lambda t, x, y: ordered(t, "<", x, y),
        contains_itself,
        lambda t, x, y: sort(t, [x, y], None, reverse=False),
    ],
)
def test_comparing_what_is_shared_many_times_uses_up_the_steps(compare: Any) -> None:
    with pytest.raises(StepLimitExceeded):
        compare(Thread(max_steps=10_000), doubled(40), doubled(40))


def test_comparing_costs_a_step_for_each_element_and_more_for_long_strings(thread: Thread) -> None:
    def cost(x: Any, y: Any) -> int:
        before = thread.steps
        equal(thread, x, y)
        return thread.steps - before

    assert cost(list(range(1_000)), list(range(1_000))) == 1_000
    assert cost("a" * 64_000, "b" * 64_000) == 1_000
    assert cost(["a" * 64_000] * 100, ["b" * 64_000] * 100) >= 1_000
    assert cost({"k": (1, 2, 3)}, {"k": (1, 2, 3)}) >= 4
    assert cost(list(range(1_000)), list(range(2_000))) == 0


def test_long_lists_are_compared_to_their_last_element(thread: Thread) -> None:
    x = [*range(200_000), [1]]
    assert equal(thread, x, [*range(200_000), [1]])
    assert not equal(thread, x, [*range(200_000), [2]])
    assert not equal(thread, list(range(200_000)), [*range(199_999), 0])
    assert ordered(thread, "<", x, [*range(200_000), [2]])
    big = {i: [i] for i in range(100_000)}
    assert equal(thread, big, {i: [i] for i in reversed(range(100_000))})
    assert not equal(thread, big, big | {99_999: [0]})


ORDERED = [
    (FALSE, TRUE),
    (1, 2.5),
    (-1.5, 0),
    (10**400, float("inf")),
    (float("inf"), NAN),
    (10**400, NAN),
    ("Z", "a"),
    ("\uffff", "\U00010000"),
    (Bytes(b"a"), Bytes(b"b")),
    ([1, 2], [1, 3]),
    ([1], FrozenList([1, 0])),
    ((1, [2, 3]), (1, [2, 4])),
    ((), (None,)),
    (Set.fromkeys([1]), FrozenSet.fromkeys([2, 1])),
]


@pytest.mark.parametrize(("x", "y"), ORDERED)
def test_the_four_orders_agree(thread: Thread, x: Any, y: Any) -> None:
    results = [ordered(thread, op, a, b) for op in ("<", "<=", ">", ">=") for a, b in ((x, y), (y, x), (x, x))]
    assert results == [True, False, False, True, False, True, False, True, False, False, True, True]


def test_sets_without_a_common_subset_have_no_order(thread: Thread) -> None:
    x, y = Set.fromkeys([1, 2]), Set.fromkeys([2, 3])
    assert not any(ordered(thread, op, x, y) for op in ("<", "<=", ">", ">="))


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        (1, "a", "int < string"),
        (1, TRUE, "int < bool"),
        (None, None, "NoneType < NoneType"),
        ({}, {}, "dict < dict"),
        (range(1), range(1), "range < range"),
        ([], (), "list < tuple"),
        ((1, "a"), (1, 2), "string < int"),
        (Struct({}), Struct({}), "struct < struct"),
        (Opaque(), Opaque(), "opaque < opaque"),
        (Version(1), 1, "version < int"),
        (key_of(len), 0, "function < int"),
    ],
)
def test_what_has_no_order_says_so(thread: Thread, x: Any, y: Any, message: str) -> None:
    with pytest.raises(EvalError, match=f"^{message} not implemented$"):
        ordered(thread, "<", x, y)


def test_a_host_value_is_ordered_by_its_own_method(thread: Thread) -> None:
    assert ordered(thread, "<", Version(1), Version(2))
    assert ordered(thread, ">", Version(2), Version(1))
    assert [v.number for v in sort(thread, [Version(n) for n in (3, 1, 2)], None, reverse=False)] == [1, 2, 3]


NUMBERS = random.Random(7)
SORTED = [
    [NUMBERS.randrange(10_000) for _ in range(3_000)],
    [NUMBERS.random() for _ in range(500)],
    [str(NUMBERS.randrange(1_000)) for _ in range(500)],
    [(NUMBERS.randrange(5), str(NUMBERS.randrange(5))) for _ in range(500)],
    [[NUMBERS.randrange(3)] * NUMBERS.randrange(4) for _ in range(500)],
    [(NUMBERS.randrange(3), ((NUMBERS.randrange(3),),)) for _ in range(300)],
    ["x" * 40_000 + str(NUMBERS.randrange(100)) for _ in range(30)],
    [Bytes(b"b"), Bytes(b""), Bytes(b"a")],
]


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("values", SORTED)
def test_sorting_agrees_with_python_where_python_can(thread: Thread, values: list[Any], *, reverse: bool) -> None:
    before = values[:]
    assert sort(thread, values, None, reverse=reverse) == sorted(values, reverse=reverse)
    assert values == before


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("size", [15, 300, 100_000])
def test_sorting_by_a_key_keeps_equal_elements_in_order(thread: Thread, size: int, *, reverse: bool) -> None:
    pairs = [(NUMBERS.randrange(50), place) for place in range(size)]
    by_first = key_of(lambda pair: pair[0])
    assert sort(thread, pairs, by_first, reverse=reverse) == sorted(pairs, key=lambda p: p[0], reverse=reverse)


def test_very_many_values_are_sorted_by_merging(thread: Thread) -> None:
    values = [NUMBERS.randrange(100_000) for _ in range(150_000)]
    assert sort(thread, values, None, reverse=False) == sorted(values)
    halves = [*range(100_000, 200_000), *range(100_000)]
    assert sort(thread, halves, None, reverse=True) == sorted(halves, reverse=True)


@pytest.mark.parametrize("big", [1 << 29, 1 << 30, 1 << 31, 1 << 70, 1 << 5_000])
def test_integers_of_every_size_are_sorted(thread: Thread, big: int) -> None:
    values = [3, big, -big, 0, big + 1, 5, -big - 1]
    expected = [-big - 1, -big, 0, 3, 5, big, big + 1]
    assert sort(thread, values, None, reverse=False) == expected
    assert sort(thread, values, None, reverse=True) == expected[::-1]
    assert sort(thread, values, lambda _thread, x: -x, reverse=False) == expected[::-1]
    assert sort(thread, values, lambda _thread, x: (x, "a"), reverse=False) == expected


def test_nan_sorts_last(thread: Thread) -> None:
    values = [7, 3, NAN, float("inf"), 1, -0.5]
    assert sort(thread, values, None, reverse=False) == [-0.5, 1, 3, 7, float("inf"), NAN]
    assert sort(thread, values, None, reverse=True) == [NAN, float("inf"), 7, 3, 1, -0.5]
    assert sort(thread, [(NAN, 1), (1.0, 2)], None, reverse=False) == [(1.0, 2), (NAN, 1)]


def test_booleans_sort_false_first(thread: Thread) -> None:
    assert sort(thread, [TRUE, FALSE, TRUE], None, reverse=False) == [FALSE, TRUE, TRUE]


@pytest.mark.parametrize(
    ("values", "reverse", "message"),
    [
        ([1, 2, None, 3], False, "int < NoneType"),
        ([1, 2, None, 3], True, "NoneType < int"),
        ([1, "one"], False, "string < int"),
        ([TRUE, 0], False, "int < bool"),
        ([(1, "a"), (1, 2)], False, "int < string"),
        ([None] * 2, False, "NoneType < NoneType"),
        ([{}, {}], False, "dict < dict"),
    ],
)
def test_sorting_what_has_no_order_fails(thread: Thread, values: list[Any], message: str, *, reverse: bool) -> None:
    with pytest.raises(EvalError, match=f"^{message} not implemented$"):
        sort(thread, values, None, reverse=reverse)
    with pytest.raises(EvalError, match=r"not implemented$"):
        sort(thread, values * 50, None, reverse=reverse)


def test_one_value_needs_no_order(thread: Thread) -> None:
    assert sort(thread, [None], None, reverse=True) == [None]
    assert sort(thread, [], None, reverse=False) == []


def test_the_key_is_called_once_for_each_value(thread: Thread) -> None:
    seen: list[Any] = []
    assert sort(thread, [3], key_of(seen.append), reverse=False) == [3]
    assert seen == [3]


def test_sorting_costs_more_than_a_step_for_each_value() -> None:
    with pytest.raises(StepLimitExceeded):
        sort(Thread(max_steps=3_000), list(range(1_000)), None, reverse=False)
    with pytest.raises(StepLimitExceeded):
        sort(Thread(max_steps=10_000), ["a" * 30_000 + str(n) for n in range(100)], None, reverse=False)
    with pytest.raises(StepLimitExceeded):
        sort(Thread(max_steps=50_000), [[0] * 5_000 + [n % 7] for n in range(20)], None, reverse=False)


def test_a_cancelled_context_stops_a_sort() -> None:
    context = Context()
    context.cancel("enough")
    thread = Thread(max_steps=None, context=context)
    with pytest.raises(Cancelled):
        sort(thread, list(range(100_000)), None, reverse=False)


CONTAINED = [
    (3, [1, 2, 3], True),
    (TRUE, [1], False),
    (NAN, [NAN], True),
    (1.0, (1,), True),
    ((1, 2), [(1, 3), (1, 2)], True),
    ([1], [[0], FrozenList([1])], True),
    ([[1]], [[[1]]], True),
    ({"a": 1}, [{"a": 1}], True),
    (Struct({}), [Struct({})], True),
    ("a", {"a": 1}, True),
    (1, {TRUE: 0}, False),
    ([], {1: 2}, False),
    ((1, [2]), {1: 2}, False),
    ((1, 2), {(1.0, 2): 0}, True),
    (2, Set.fromkeys([2]), True),
    ("b", "abc", True),
    ("", "", True),
    ("abcd", "abc", False),
    (Bytes(b"b"), Bytes(b"abc"), True),
    (98, Bytes(b"abc"), True),
    (0, Bytes(b"abc"), False),
    (3.0, range(5), True),
    (2.5, range(5), True),
    (5, range(5), False),
    (4, range(10, 0, -3), True),
    (10**30, range(5), False),
    (1, Version(1), True),
    (2, Version(1), False),
]


@pytest.mark.parametrize(("x", "container", "expected"), CONTAINED)
def test_in_looks_for_an_equal_element(thread: Thread, x: Any, container: Any, *, expected: bool) -> None:
    assert contains(thread, container, x) is expected


@pytest.mark.parametrize(
    ("x", "container", "message"),
    [
        (1, "abc", "'in <string>' requires string as left operand, not int"),
        ("a", Bytes(b"abc"), "'in bytes' requires bytes or int as left operand, not string"),
        (256, Bytes(b"abc"), r"int in bytes: 256 out of range \(want value in unsigned 8-bit range\)"),
        (-1, Bytes(b"abc"), r"int in bytes: -1 out of range \(want value in unsigned 8-bit range\)"),
        ("one", range(3), "'in <range>' requires integer as left operand, not string"),
        (TRUE, range(3), "'in <range>' requires integer as left operand, not bool"),
        (NAN, range(3), "'in <range>' requires integer as left operand, not float"),
        ([], Set.fromkeys([1]), "unhashable type: list"),
        (1, 2, "unknown binary op: int in int"),
        ("a", Struct({"a": 1}), "unknown binary op: string in struct"),
        (1, Opaque(), "unknown binary op: int in opaque"),
    ],
)
def test_in_refuses_what_cannot_be_looked_for(thread: Thread, x: Any, container: Any, message: str) -> None:
    with pytest.raises(EvalError, match=f"^{message}$"):
        contains(thread, container, x)


def test_looking_through_a_list_is_paid_for(thread: Thread) -> None:
    before = thread.steps
    assert not contains(thread, list(range(100_000)), -1)
    assert thread.steps - before == 100_000
    before = thread.steps
    assert not contains(thread, "a" * 160_000, "b")
    assert thread.steps - before >= 10_000
    with pytest.raises(StepLimitExceeded):
        contains(Thread(max_steps=100_000), ["a" * 100_000] * 1_000, "a" * 99_999 + "b")


def test_a_string_is_found_across_the_windows_of_a_long_search(thread: Thread) -> None:
    text = "a" * 4_000_000 + "b" + "a" * 500_000
    assert contains(thread, text, "ab")
    assert contains(thread, text, "ba")
    assert not contains(thread, text, "bb")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([], "unhashable type: list"),
        (FrozenList(), "unhashable type: list"),
        ({}, "unhashable type: dict"),
        (Set(), "unhashable type: set"),
        (range(1), "unhashable: range"),
        (Module("m", {}), "unhashable: module"),
        ((1, (2, {})), "unhashable type: dict"),
        (Struct({"a": 1, "b": []}), "unhashable type: list"),
        (Unhashable(), "unhashable: slippery"),
        (nested(1_000, tuple), "unhashable: tuple nested more than 200 deep"),
    ],
)
def test_unhashable_values_are_no_keys(thread: Thread, value: Any, message: str) -> None:
    with pytest.raises(EvalError, match=f"^{message}$"):
        check_hashable(thread, value)
    with pytest.raises(EvalError, match=f"^{message}$"):
        store(thread, {}, value, None)


def test_hashable_values_are_keys(thread: Thread) -> None:
    table: dict[Any, Any] = {}
    keys = [1, 2**70, "a", None, TRUE, NAN, Bytes(b"a"), (1, ("a", None)), key_of(len), Version(1), nested(150, tuple)]
    for place, key in enumerate(keys):
        store(thread, table, key, place)
    store(thread, table, 1.0, "again")
    assert [equal(thread, x, y) for x, y in zip(table, keys, strict=True)] == [True] * len(keys)
    assert table[1] == "again"


def test_hashing_what_is_shared_many_times_uses_up_the_steps() -> None:
    pair: tuple[Any, ...] = (1,)
    pair = functools.reduce(lambda value, _: (value, value), range(40), pair)
    with pytest.raises(StepLimitExceeded):
        check_hashable(Thread(max_steps=10_000), pair)


def test_keys_made_to_share_one_hash_are_refused(thread: Thread) -> None:
    assert hash(5 * MERSENNE) == hash(7 * MERSENNE)
    table: dict[Any, Any] = {}
    for factor in range(1, 130):
        store(thread, table, factor * MERSENNE, None)
    with pytest.raises(EvalError, match=r"^more than 128 keys with the same hash$"):
        store(thread, table, 1_000 * MERSENNE, None)
    store(thread, table, 2 * MERSENNE + 1, None)
    assert len(table) == 130


@pytest.mark.parametrize("width", [1, 2, 3])
def test_tuples_made_to_share_one_hash_are_refused(thread: Thread, width: int) -> None:
    table: dict[Any, Any] = {}
    # A look-up may come by one place of the table twice, so that the last few of those allowed can be refused.
    for factor in range(1, 110):
        store(thread, table, (factor * MERSENNE,) * width, None)
    with pytest.raises(EvalError, match=r"^more than 128 keys with the same hash$"):
        store_keys(thread, table, [(factor * MERSENNE,) * width for factor in range(110, 131)])
    size = len(table)
    store(thread, table, (MERSENNE,) * width, "again")
    assert (len(table), table[(MERSENNE,) * width]) == (size, "again")


@pytest.mark.parametrize("key_of", [lambda factor: factor * MERSENNE, lambda factor: (1, factor * MERSENNE)])
def test_noted_keys_made_to_share_one_hash_are_refused(thread: Thread, key_of: Callable[[int], Any]) -> None:
    for factor in range(1, 130):
        note_key(thread, key_of(factor))
        note_key(thread, key_of(1))
    with pytest.raises(EvalError, match=r"^more than 128 keys with the same hash$"):
        note_key(thread, key_of(1_000))


def test_honest_keys_may_be_noted_again_and_again(thread: Thread) -> None:
    keys = [*range(10_000), *((x, str(x)) for x in range(10_000)), "a", None, TRUE, NAN, 2**70]
    assert [note_key(thread, key) for key in keys * 2] == keys * 2
    with pytest.raises(EvalError, match=r"^unhashable type: list$"):
        note_key(thread, (1, []))


def test_many_honest_large_keys_are_stored(thread: Thread) -> None:
    table: dict[Any, Any] = {}
    for number in range(2_000):
        store(thread, table, 2**70 + number, None)
        store(thread, table, (number, str(number)), None)
    assert len(table) == 4_000
