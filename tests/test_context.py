"""Every promise of ``Context``: deadlines, cancellation, waiting, watching, and what is left behind."""

from __future__ import annotations

import gc
import math
import pickle
import signal
import sys
import threading
import time
import weakref
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plait.context import Cancelled, Context, ContextError, DeadlineExceeded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

T = TypeVar("T")

THREADS = 8
LONG = 60.0
"""Seconds that nothing here takes: a wait this long that is not woken fails its test."""

numbers = st.floats(allow_nan=False) | st.integers(-(10**400), 10**400)
timeouts = st.none() | numbers
trees = st.lists(st.tuples(st.integers(0, 50), timeouts), min_size=1, max_size=12)
"""For each further node: which of the earlier ones is its parent (modulo their number), and its timeout."""


@pytest.fixture
def restless() -> Iterator[None]:
    """Make threads give way to each other as often as the interpreter can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def grow(tree: list[tuple[int, float | None]]) -> tuple[list[Context], list[list[int]]]:
    """The contexts of a tree, and for each the numbers of itself and its ancestors."""
    contexts, lines = [Context(tree[0][1])], [[0]]
    for number, (choice, timeout) in enumerate(tree[1:], 1):
        parent = choice % number
        contexts.append(contexts[parent].child(timeout))
        lines.append([number, *lines[parent]])
    return contexts, lines


def descend(ctx: Context, generations: int) -> Context:
    """A late descendant; it takes long to ask all its ancestors, so that other threads come in between."""
    for _ in range(generations):
        ctx = ctx.child()
    return ctx


def nobody_watches(*contexts: Context) -> bool:
    return not any(context._watchers for context in contexts)


def all_at_once(acts: Sequence[Callable[[], T]]) -> list[T]:
    """The results of ``acts``, each run in a thread of its own, all started at one barrier."""
    barrier = threading.Barrier(len(acts))

    def run(act: Callable[[], T]) -> T:
        barrier.wait(LONG)
        return act()

    with ThreadPoolExecutor(len(acts)) as pool:
        return list(pool.map(run, acts, timeout=LONG))


def note_thread(called: list[int]) -> None:
    called.append(threading.get_ident())


def watch_until_called(ctx: Context, note: Callable[[], None]) -> bool:
    woken = threading.Event()

    def callback() -> None:
        note()
        woken.set()

    with ctx.watch(callback):
        return woken.wait(LONG)


def cancel_and_look(ctx: Context, reason: str, leaf: Context) -> tuple[bool, str | None]:
    return ctx.cancel(reason), leaf.reason


# Deadlines


@pytest.mark.parametrize("timeout", [None, math.inf, 10**400])
def test_without_a_deadline_the_work_may_go_on_for_ever(timeout: float | None) -> None:
    ctx = Context(timeout)
    ctx.check()
    assert ctx.deadline == math.inf
    assert ctx.remaining() == math.inf


@pytest.mark.parametrize("timeout", [1, 5.5, 1e9, 1e308])
def test_remaining_counts_down_from_the_timeout(timeout: float) -> None:
    ctx = Context(timeout)
    first = ctx.remaining()
    assert first <= timeout
    assert 0.0 < ctx.remaining() <= first
    ctx.check()


@pytest.mark.parametrize("timeout", [0, 0.0, -0.0, -1, -1e308, -math.inf, -(10**400)])
def test_no_time_at_all_is_over_at_once(timeout: float) -> None:
    ctx = Context(timeout)
    assert ctx.remaining() == 0.0
    with pytest.raises(DeadlineExceeded):
        ctx.check()


def test_a_passed_deadline_is_not_a_cancellation() -> None:
    ctx = Context(0)
    assert (ctx.cancelled, ctx.reason) == (False, None)
    called: list[int] = []
    with ctx.watch(lambda: called.append(1)):
        assert not ctx.wait(LONG)
    assert called == []
    assert ctx.cancel("now it is")
    assert ctx.cancelled


@pytest.mark.parametrize("act", [Context, Context().child, Context().wait])
def test_nan_is_refused_as_a_time(act: Callable[[float], object]) -> None:
    with pytest.raises(ValueError, match="must be a number, got nan"):
        act(math.nan)


@pytest.mark.parametrize("act", [Context, Context().child, Context().wait])
def test_a_text_is_refused_as_a_time(act: Callable[[object], object]) -> None:
    with pytest.raises(TypeError):
        act("5")


@given(trees)
def test_no_child_outlives_an_ancestor(tree: list[tuple[int, float | None]]) -> None:
    contexts, lines = grow(tree)
    for ctx, line in zip(contexts, lines, strict=True):
        assert ctx.deadline == min(contexts[number].deadline for number in line)
        left = min(contexts[number].remaining() for number in line)
        assert ctx.remaining() <= left


@given(timeouts, timeouts)
def test_the_shorter_deadline_wins(of_parent: float | None, of_child: float | None) -> None:
    before = time.monotonic()
    child = Context(of_parent).child(of_child)
    after = time.monotonic()
    own = min(math.inf if timeout is None else timeout for timeout in (of_parent, of_child))
    if -1e300 < own < 1e300:
        assert before + own <= child.deadline <= after + own
    else:
        assert (child.deadline > after) == (own > 0)


# Cancellation


def test_errors_form_one_tree() -> None:
    assert issubclass(Cancelled, ContextError)
    assert issubclass(DeadlineExceeded, ContextError)
    assert issubclass(DeadlineExceeded, TimeoutError)
    assert str(DeadlineExceeded()) == "deadline exceeded"
    assert (str(Cancelled()), Cancelled().reason) == ("cancelled", "cancelled")


def test_errors_survive_the_way_to_another_process() -> None:
    copy = pickle.loads(pickle.dumps(Cancelled("the user left")))
    assert (type(copy), copy.reason) == (Cancelled, "the user left")
    assert str(pickle.loads(pickle.dumps(DeadlineExceeded("too late")))) == "too late"


def test_only_the_first_cancel_counts() -> None:
    ctx = Context()
    assert (ctx.cancelled, ctx.reason) == (False, None)
    assert ctx.cancel("first") is True
    assert ctx.cancel("second") is False
    assert (ctx.cancelled, ctx.reason) == (True, "first")


def test_an_empty_reason_is_a_reason() -> None:
    ctx = Context()
    assert ctx.cancel("")
    assert ctx.cancelled
    with pytest.raises(Cancelled):
        ctx.check()


def test_check_says_why_it_was_cancelled() -> None:
    parent = Context()
    child = parent.child()
    parent.cancel("the user left")
    with pytest.raises(Cancelled, match="the user left") as stopped:
        child.check()
    assert stopped.value.reason == "the user left"


def test_check_names_a_cancellation_before_a_deadline() -> None:
    parent = Context(0)
    parent.cancel()
    for ctx in (parent, parent.child(), parent.child(0)):
        with pytest.raises(Cancelled):
            ctx.check()


def test_cancelling_a_child_leaves_its_parent_and_siblings_alone() -> None:
    parent = Context()
    child, sibling = parent.child(), parent.child()
    child.cancel()
    assert not parent.cancelled
    assert not sibling.cancelled
    sibling.check()


def test_a_child_that_its_parent_cancelled_cannot_be_cancelled_again() -> None:
    parent = Context()
    child = parent.child()
    parent.cancel("parent")
    assert child.cancel("child") is False
    assert child.reason == "parent"


def test_a_child_of_a_cancelled_parent_is_born_cancelled() -> None:
    parent = Context()
    parent.cancel("too late")
    assert parent.child(LONG).reason == "too late"


@given(trees, st.lists(st.integers(0, 50), max_size=8))
def test_whoever_descends_from_a_cancelled_context_keeps_the_first_reason(
    tree: list[tuple[int, float | None]], choices: list[int]
) -> None:
    contexts, lines = grow(tree)
    expected: dict[int, str] = {}
    for turn, choice in enumerate(choices):
        cancelled = choice % len(contexts)
        assert contexts[cancelled].cancel(f"turn {turn}") is (cancelled not in expected)
        if cancelled not in expected:
            hit = [number for number, line in enumerate(lines) if cancelled in line]
            expected = dict.fromkeys(hit, f"turn {turn}") | expected
        assert [ctx.reason for ctx in contexts] == [expected.get(number) for number in range(len(contexts))]
        assert [ctx.cancelled for ctx in contexts] == [number in expected for number in range(len(contexts))]


# Waiting


@pytest.mark.parametrize("seconds", [0, 0.0, 0.002, -1, -math.inf, -(10**400)])
def test_wait_is_true_after_the_full_time(seconds: float) -> None:
    ctx = Context(LONG).child()
    start = time.monotonic()
    assert ctx.wait(seconds) is True
    assert time.monotonic() - start >= seconds


@pytest.mark.parametrize("seconds", [0, LONG, -1, -math.inf, math.inf, 1e308, 10**400])
def test_wait_is_false_once_the_time_is_over(seconds: float) -> None:
    assert Context(0).wait(seconds) is False
    assert Context(0).child(LONG).wait(seconds) is False


@pytest.mark.parametrize("seconds", [0, LONG, -1, -math.inf, math.inf, 1e308, 10**400])
def test_wait_is_false_once_it_was_cancelled(seconds: float) -> None:
    parent = Context()
    parent.cancel()
    assert parent.wait(seconds) is False
    assert parent.child().wait(seconds) is False


@pytest.mark.parametrize("seconds", [LONG, math.inf, 1e308])
def test_wait_ends_at_the_deadline_of_the_context_or_an_ancestor(seconds: float) -> None:
    for ctx in (Context(0.01), Context(0.01).child(), Context().child(0.01), Context(0.01).child(LONG)):
        assert ctx.wait(seconds) is False
        assert ctx.remaining() == 0.0


@pytest.mark.parametrize("seconds", [LONG, math.inf, 1e308, threading.TIMEOUT_MAX * 2, 10**400])
def test_wait_ends_when_another_thread_cancels_an_ancestor(seconds: float) -> None:
    root = Context()
    leaf = root.child().child(LONG)
    begun = threading.Event()

    def sleep() -> bool:
        begun.set()
        return leaf.wait(seconds)

    with ThreadPoolExecutor(1) as pool:
        slept = pool.submit(sleep)
        assert begun.wait(LONG)
        root.cancel()
        assert slept.result(LONG) is False
    assert nobody_watches(root, leaf)


def test_a_signal_handler_may_cancel_what_its_thread_waits_for() -> None:
    ctx = Context(LONG)
    main = threading.main_thread().ident
    assert main == threading.get_ident()
    before = signal.signal(signal.SIGUSR1, lambda *_: ctx.cancel("signal"))

    def interrupt() -> None:
        # More than once, since the interpreter may miss a signal that comes just before it falls asleep.
        while ctx.wait(0.001):
            signal.pthread_kill(main, signal.SIGUSR1)

    try:
        interrupter = threading.Thread(target=interrupt)
        interrupter.start()
        assert ctx.child().wait(math.inf) is False
        interrupter.join(LONG)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert ctx.reason == "signal"


# Watching


def test_watch_calls_back_from_the_thread_that_cancels() -> None:
    root = Context()
    called: list[int] = []
    child = root.child()
    with child.watch(partial(note_thread, called)) as watched:
        assert watched is child
        assert called == []
        canceller = threading.Thread(target=root.cancel)
        canceller.start()
        canceller.join(LONG)
        assert called == [canceller.ident]
    assert called == [canceller.ident]


def test_watch_calls_back_at_once_when_it_was_cancelled_before() -> None:
    parent = Context()
    parent.cancel()
    for ctx in (parent, parent.child()):
        called: list[int] = []
        with ctx.watch(partial(note_thread, called)):
            assert called == [threading.get_ident()]
        assert called == [threading.get_ident()]


def test_watch_calls_back_once_however_many_ancestors_are_cancelled() -> None:
    root = Context()
    child = root.child()
    leaf = child.child()
    called: list[str | None] = []
    with leaf.watch(lambda: called.append(leaf.reason)):
        assert [leaf.cancel("leaf"), child.cancel("child"), root.cancel("root")] == [True, True, True]
    assert called == ["leaf"]


def test_watch_calls_back_no_more_after_the_block() -> None:
    parent = Context()
    called: list[int] = []
    with parent.child().watch(lambda: called.append(1)):
        pass
    parent.cancel()
    assert called == []


def test_watch_calls_back_no_more_when_its_block_ends_during_the_cancellation() -> None:
    ctx = Context()
    called: list[int] = []
    with ExitStack() as block, ctx.watch(block.close):
        block.enter_context(ctx.watch(lambda: called.append(1)))
        ctx.cancel()
    assert called == []


def test_watchers_are_called_in_the_order_they_came() -> None:
    ctx = Context()
    called: list[int] = []
    with ExitStack() as blocks:
        for number in range(5):
            blocks.enter_context(ctx.watch(partial(called.append, number)))
        ctx.cancel()
    assert called == [0, 1, 2, 3, 4]


def test_one_callback_may_watch_twice() -> None:
    ctx = Context()
    called: list[int] = []

    def callback() -> None:
        called.append(1)

    with ctx.watch(callback):
        with ctx.watch(callback):
            pass
        ctx.cancel()
    assert called == [1]


def test_a_watcher_that_raises_keeps_nobody_asleep() -> None:
    ctx = Context()
    called: list[int] = []

    def fail() -> None:
        raise LookupError("the watcher's own fault")

    with ctx.watch(lambda: called.append(1)), ctx.watch(fail), ctx.watch(lambda: called.append(2)):
        with pytest.raises(LookupError, match="the watcher's own fault"):
            ctx.cancel("reason")
        assert called == [1, 2]
    assert ctx.reason == "reason"
    with pytest.raises(LookupError), ctx.watch(fail):
        pytest.fail("the block was entered")
    assert nobody_watches(ctx)


def test_a_watcher_may_use_the_context() -> None:
    root = Context()
    child = root.child()
    seen: list[object] = []

    def callback() -> None:
        seen.extend((child.reason, root.cancel("again"), child.wait(LONG), child.child().cancelled))
        with child.watch(lambda: seen.append("inner")):
            pass

    with child.watch(callback):
        root.cancel("first")
    assert seen == ["first", False, False, True, "inner"]


def test_an_exception_in_the_block_goes_on_and_ends_the_watch() -> None:
    parent = Context()
    child = parent.child()
    called: list[int] = []
    with pytest.raises(LookupError), child.watch(lambda: called.append(1)):
        raise LookupError
    assert nobody_watches(parent, child)
    parent.cancel()
    assert called == []


# What is left behind


def test_a_finished_child_leaves_nothing_behind() -> None:
    parent = Context(LONG)
    child = parent.child(LONG)
    assert child.wait(0)
    child.cancel()
    gone = weakref.ref(child)
    assert not any(referrer is parent for referrer in gc.get_referrers(child))
    del child
    gc.collect()
    assert gone() is None


def test_no_wait_or_watch_leaves_a_watcher_behind() -> None:
    root = Context()
    child = root.child()
    leaf = child.child(0.001)
    late = root.child(0)
    child.wait(0)
    leaf.wait(LONG)
    late.wait(LONG)
    with leaf.watch(lambda: None), leaf.watch(lambda: None):
        assert [len(ctx._watchers) for ctx in (root, child, leaf)] == [2, 2, 2]
    assert nobody_watches(root, child, leaf, late)
    child.cancel()
    leaf.wait(LONG)
    with leaf.watch(lambda: None):
        pass
    assert nobody_watches(root, child, leaf, late)


@pytest.mark.parametrize("cancel", [False, True])
def test_a_callback_is_forgotten_after_its_block(*, cancel: bool) -> None:
    class Callback:
        def __call__(self) -> None:
            assert cancel

    root = Context()
    callback = Callback()
    gone = weakref.ref(callback)
    with root.child().watch(callback):
        if cancel:
            root.cancel()
    del callback
    gc.collect()
    assert gone() is None


def test_a_very_long_line_of_descent_is_no_trouble() -> None:
    root = Context()
    leaf = descend(root, 50_000)
    with leaf.watch(lambda: None):
        assert len(root._watchers) == 1
    assert root.cancel("root")
    assert leaf.reason == "root"
    gone = weakref.ref(leaf)
    del leaf
    assert gone() is None


# Many threads


@pytest.mark.usefixtures("restless")
def test_every_sleeper_wakes_whoever_cancels_and_whenever() -> None:
    rounds = [Context() for _ in range(200)]
    barrier = threading.Barrier(THREADS)

    def work(number: int) -> list[bool]:
        slept = []
        for turn, root in enumerate(rounds):
            barrier.wait(LONG)
            if turn % THREADS == number:
                root.cancel(f"turn {turn}")
            else:
                slept.append(root.child().child(LONG).wait(LONG))
        return slept

    with ThreadPoolExecutor(THREADS) as pool:
        slept = [woke for each in pool.map(work, range(THREADS)) for woke in each]
    assert slept == [False] * (len(rounds) * (THREADS - 1))
    assert [root.reason for root in rounds] == [f"turn {turn}" for turn in range(len(rounds))]
    assert nobody_watches(*rounds)


@pytest.mark.usefixtures("restless")
def test_every_watcher_is_called_once_while_all_threads_cancel() -> None:
    for _ in range(50):
        root = Context()
        line = [root, root.child(), root.child().child()]
        called: list[int] = []

        watching = [partial(watch_until_called, line[n % 3], partial(called.append, n)) for n in range(THREADS // 2)]
        all_at_once(watching + [ctx.cancel for ctx in (line * 2)[: THREADS // 2]])
        assert sorted(called) == list(range(THREADS // 2))
        assert nobody_watches(*line)


@pytest.mark.usefixtures("restless")
def test_one_of_many_cancels_at_once_wins() -> None:
    late = descend(Context(), 20_000)
    for _ in range(20):
        ctx = late.child()
        results = all_at_once([partial(cancel_and_look, ctx, f"{n}", ctx) for n in range(THREADS)])
        assert [reason for _, reason in results] == [ctx.reason] * THREADS
        assert [f"{n}" for n, (won, _) in enumerate(results) if won] == [ctx.reason]


@pytest.mark.usefixtures("restless")
def test_a_reason_once_seen_never_changes() -> None:
    late = descend(Context(), 20_000)
    for _ in range(20):
        line = [late.child()]
        for _ in range(THREADS - 1):
            line.append(line[-1].child())
        leaf = line[-1]
        results = all_at_once([partial(cancel_and_look, ctx, f"{n}", leaf) for n, ctx in enumerate(line)])
        assert {reason for _, reason in results} == {leaf.reason}
        assert leaf.reason in [f"{n}" for n, (won, _) in enumerate(results) if won]


@pytest.mark.usefixtures("restless")
def test_children_come_and_go_while_others_cancel() -> None:
    root = Context()
    middle = root.child()

    def come_and_go() -> str:
        while True:
            child = middle.child(LONG)
            with child.watch(lambda: None):
                grandchild = child.child()
                grandchild.wait(0)
                grandchild.cancel("own")
            try:
                child.check()
            except Cancelled as stopped:
                return stopped.reason

    def cancel() -> str:
        for _ in range(200):
            middle.child().cancel("a sibling")
        middle.cancel("middle")
        return "middle"

    results = all_at_once([come_and_go] * (THREADS - 1) + [cancel])
    assert results == ["middle"] * THREADS
    assert nobody_watches(root, middle)
    assert not root.cancelled
