"""Functions and values among threads: each thread pays for itself, and what is lent can only be read."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import pytest

from plait import starlark
from plait.context import Cancelled, Context

_AT_ONCE: Final = 8
_PATIENCE: Final = 60.0

_WORK: Final = """
table = {"a": [1, 2, 3], "b": [4, 5]}
names = ["x", "y"]

def step(total, item):
    return (total * 31 + item) % 1000003

def make(scale):
    kept = [scale]

    def work(n, start=[7], *rest, **named):
        meet()
        total = scale
        seen = {}
        rows = []
        for i in range(n):
            total = step(total, i + start[0] + len(rest))
            seen[str(total % 50)] = i
            rows.append((total, i))
            if i == n // 2:
                meet()
        ordered = sorted(rows, key=lambda row: -row[0])
        return (total, len(seen), ordered[0], sum(table["a"]) + kept[0] + len(names), sorted(named))

    return work

def sum(values):
    total = 0
    for value in values:
        total += value
    return total
"""


@pytest.fixture(autouse=True)
def _hasty() -> Iterator[None]:
    """Let Python change threads as often as it can; leave no thread and nothing running behind."""
    interval, before = sys.getswitchinterval(), set(threading.enumerate())
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)
    assert set(threading.enumerate()) <= before


def at_once(calls: list[Callable[[], Any]]) -> list[Any]:
    """The results of calls, each made by a thread of Python's; they have all begun before one of them returns."""
    barrier = threading.Barrier(len(calls))

    def started(call: Callable[[], Any]) -> Any:
        barrier.wait(_PATIENCE)
        return call()

    with ThreadPoolExecutor(len(calls)) as pool:
        return [future.result(_PATIENCE) for future in [pool.submit(started, call) for call in calls]]


def run(source: str, thread: starlark.Thread | None = None, **predeclared: Any) -> starlark.Globals:
    program = starlark.compile(source, filename="main.star", predeclared=predeclared.keys())
    return program.run(thread or starlark.Thread(), predeclared)


def call(function: Any, *args: Any, thread: starlark.Thread | None = None) -> Any:
    return starlark.to_python(starlark.call(thread or starlark.Thread(), function, args))


@starlark.builtin
def nothing() -> None:
    """Do nothing."""


def made(meet: Any = nothing) -> Any:
    """A function that one thread made."""
    return starlark.call(starlark.Thread("maker"), run(_WORK, meet=meet)["make"], (5,))


def test_one_function_runs_on_many_threads_at_once_and_gives_each_its_result() -> None:
    alone = [call(made(), 100 + n) for n in range(_AT_ONCE)]
    barrier = threading.Barrier(_AT_ONCE)

    @starlark.builtin
    def meet() -> None:
        barrier.wait(_PATIENCE)

    work = made(meet)
    together = at_once([lambda n=n: call(work, 100 + n) for n in range(_AT_ONCE)])  # type: ignore[misc]  # a lambda's default

    assert together == alone
    assert len(set(map(repr, together))) == _AT_ONCE


def test_each_thread_pays_for_its_own_steps_alone() -> None:
    work, threads = made(), [starlark.Thread(str(n)) for n in range(_AT_ONCE)]
    lone = starlark.Thread()
    call(work, 300, thread=lone)

    at_once([lambda thread=thread: call(work, 300, thread=thread) for thread in threads])  # type: ignore[misc]  # a lambda's default

    assert {thread.steps for thread in threads} == {lone.steps}


def test_the_thread_that_made_a_function_does_not_pay_for_its_calls() -> None:
    maker = starlark.Thread("maker", max_steps=1_000)
    work = starlark.call(maker, run(_WORK, meet=nothing)["make"], (5,))
    before = maker.steps

    call(work, 5_000, thread=starlark.Thread(max_steps=None))

    assert maker.steps == before


def test_a_thread_without_steps_leaves_the_others_theirs() -> None:
    work = made()
    poor = [starlark.Thread("poor", max_steps=200) for _ in range(4)]
    rich = [starlark.Thread("rich") for _ in range(4)]

    def spent(thread: starlark.Thread) -> bool:
        try:
            call(work, 500, thread=thread)
        except starlark.StepLimitExceeded:
            return True
        return False

    assert at_once([lambda thread=thread: spent(thread) for thread in poor + rich]) == [True] * 4 + [False] * 4  # type: ignore[misc]  # a lambda's default


def test_the_cancellation_of_one_thread_leaves_the_others_alone() -> None:
    contexts = [Context() for _ in range(_AT_ONCE)]

    def cancel() -> None:
        contexts[0].cancel("enough")

    barrier = threading.Barrier(_AT_ONCE, action=cancel)

    @starlark.builtin
    def meet(thread: starlark.Thread) -> None:
        if thread.locals.setdefault("met", 0) == 0:
            thread.locals["met"] = 1
            barrier.wait(_PATIENCE)

    work = made(meet)

    def ended(context: Context) -> Any:
        try:
            return call(work, 20_000, thread=starlark.Thread(max_steps=None, context=context))[0]
        except Cancelled as error:
            return error.reason

    alone = call(made(), 20_000, thread=starlark.Thread(max_steps=None))[0]
    assert at_once([lambda context=context: ended(context) for context in contexts]) == ["enough"] + [alone] * 7  # type: ignore[misc]  # a lambda's default


def test_a_cancelled_endless_loop_ends_while_others_go_on() -> None:
    started, context = threading.Event(), Context()

    @starlark.builtin
    def say() -> None:
        started.set()

    endless = run("def f():\n    say()\n    for i in range(1 << 60):\n        pass", say=say)["f"]

    def never() -> str:
        with pytest.raises(Cancelled):
            starlark.call(starlark.Thread(max_steps=None, context=context), endless)
        return "cancelled"

    def cancel() -> Any:
        assert started.wait(_PATIENCE)
        result = call(made(), 50)
        context.cancel()
        return result

    assert at_once([never, cancel]) == ["cancelled", call(made(), 50)]


def test_the_guard_against_recursion_is_each_thread_s_own() -> None:
    barrier = threading.Barrier(_AT_ONCE)

    @starlark.builtin
    def meet() -> None:
        barrier.wait(_PATIENCE)

    f = run("def apply(g): return g()\ndef f(g):\n    meet()\n    return apply(g)\ndef one(): return 1", meet=meet)
    calls = [lambda: call(f["f"], f["one"]) for _ in range(_AT_ONCE)]
    assert at_once(calls) == [1] * _AT_ONCE


def test_a_value_that_is_frozen_is_shared_and_cannot_be_changed() -> None:
    module = run("rows = [{'n': [1]}, {'n': [2]}]\ndef get(): return rows\ndef put(): rows[0]['n'].append(3)")

    def changed() -> str:
        with pytest.raises(starlark.FrozenError) as caught:
            starlark.call(starlark.Thread(), module["put"])
        return caught.value.message

    values = at_once([lambda: starlark.call(starlark.Thread(), module["get"])] * 4)
    assert all(value is values[0] for value in values)
    assert set(at_once([changed] * 4)) == {"append: cannot append to frozen list"}
    assert starlark.to_python(values[0]) == [{"n": [1]}, {"n": [2]}]


def test_the_state_of_a_module_is_each_thread_s_own() -> None:
    @starlark.builtin
    def add(thread: starlark.Thread, n: int) -> int:
        total: int = thread.locals.get("total", 0) + n
        thread.locals["total"] = total
        return total

    counter = starlark.Module("counter", {"add": add})
    source = "def f(n):\n    for i in range(200):\n        counter.add(n)\n    return counter.add(0)"
    f = run(source, counter=counter)["f"]

    assert at_once([lambda n=n: call(f, n) for n in range(_AT_ONCE)]) == [200 * n for n in range(_AT_ONCE)]  # type: ignore[misc]  # a lambda's default


def test_a_builtin_that_enters_another_thread_comes_back_to_its_own() -> None:
    inner = starlark.Thread("inner")

    @starlark.builtin
    def elsewhere(f: Callable[..., Any]) -> Any:
        return starlark.call(inner, f)

    @starlark.builtin
    def name(thread: starlark.Thread) -> str:
        return thread.name

    source = "def fails(): fail('x')\ndef f(g): return [name(), elsewhere(name), name(), elsewhere(g), name()]"
    module = run(source, elsewhere=elsewhere, name=name)

    assert call(module["f"], module["f"].__globals__ and name, thread=starlark.Thread("outer")) == [
        "outer", "inner", "outer", "inner", "outer",
    ]  # fmt: skip
    with pytest.raises(starlark.EvalError, match="fail: x"):
        call(module["f"], module["fails"], thread=starlark.Thread("outer"))


def test_the_engine_starts_no_thread_of_its_own() -> None:
    @starlark.builtin
    def alive() -> int:
        return threading.active_count()

    before = threading.active_count()
    assert run("n = alive()", starlark.Thread(context=Context(timeout=60)), alive=alive)["n"] == before


# ---- lending

_LENDING: Final = """
shared = [1, [2]]
table = {"k": {"deep": [3]}}

def closure():
    kept = [1, 2]
    def read(): return len(kept)
    def change(): kept.append(3)
    return read, change

def default(values=[1, 2, 3]):
    values.append(4)

def read_default(values=[1, 2, 3]):
    return len(values)

def change_global(): shared[1].append(1)
def read_global(): return len(shared) + len(table)
def change_deep(): table["k"]["deep"].append(1)
def own():
    values = [1]
    values.append(2)
    table = {}
    table["x"] = values
    return len(table["x"])

out = branch(CALL)
after = AFTER
"""

_LENT: Final = "lent to a concurrent branch"


@starlark.builtin
def branch(thread: starlark.Thread, *functions: Callable[..., Any]) -> list[str]:
    """Call functions at once, each on a thread of its own to which everything is lent."""
    threads = [starlark.Thread(str(n)) for n in range(len(functions))]
    loan = starlark.lend(functions, [thread, *threads])

    def ended(branch_thread: starlark.Thread, function: Any) -> str:
        try:
            return str(starlark.call(branch_thread, function))
        except starlark.EvalError as error:
            return error.message

    try:
        return at_once([lambda t=t, f=f: ended(t, f) for t, f in zip(threads, functions, strict=True)])  # type: ignore[misc]  # a lambda's defaults
    finally:
        starlark.restore(loan)


@pytest.mark.parametrize(
    ("calls", "ends", "after"),
    [
        ("closure()[0], closure()[0]", ["2", "2"], "0"),
        ("*closure()", ["2", f"append: cannot append to list: {_LENT}"], "0"),
        ("read_default, default", ["3", f"append: cannot append to list: {_LENT}"], "default()"),
        ("change_global, read_global", [f"append: cannot append to list: {_LENT}", "3"],
        "[shared[1].append(5), shared[1]][1]"),
        ("change_deep, read_global", [f"append: cannot append to list: {_LENT}", "3"],
        "[table.update(x=1), len(table)][1]"),
        ("own, own", ["2", "2"], "0"),
        ("lambda: shared.append(1), lambda: shared[0]", [f"append: cannot append to list: {_LENT}", "1"], "0"),
        ("lambda: table.clear(), lambda: len(table)", [f"cannot clear dict: {_LENT}", "1"],
        "[table.clear(), len(table)][1]"),
        ("lambda: table['k'].pop('deep'), lambda: 1", [f"pop: cannot delete from dict: {_LENT}", "1"], "0"),
        ("lambda f=shared.append: f(1), lambda f=shared[1].pop: f()", [f"append: cannot append to list: {_LENT}",
        f"pop: cannot pop from list: {_LENT}"], "0"),
        ("(lambda s: lambda: s.x.append(1))(struct(x=[1])), lambda: 1", [f"append: cannot append to list: {_LENT}",
        "1"], "0"),
        ("(lambda s: lambda: s.add(1))(set([0])), lambda: 1", [f"add: cannot insert into set: {_LENT}", "1"], "0"),
        ("(lambda t: lambda: t[0][1].append(1))(((0, []),)), lambda: 1", [f"append: cannot append to list: {_LENT}",
        "1"], "0"),
        ("(lambda *a, k=[1]: k.clear()), lambda: 1", [f"clear: cannot clear list: {_LENT}", "1"], "0"),
    ],
)  # fmt: skip
def test_what_is_lent_can_be_read_and_not_changed_until_it_is_restored(calls: str, ends: list[str], after: str) -> None:
    source = _LENDING.replace("CALL", calls).replace("AFTER", after)
    module = run(source, branch=branch, struct=starlark.struct)

    assert starlark.to_python(module["out"]) == ends
    assert "after" in module


def test_a_function_that_is_lent_sees_the_globals_of_a_module_that_is_still_loading() -> None:
    source = "def f(): return later\nlater = [1]\nfirst = branch(f, f)\nlater.append(2)\nsecond = branch(f)\n"
    module = run(source, branch=branch)

    assert starlark.to_python(module["first"]) == ["[1]", "[1]"] or module["first"] == []
    assert starlark.to_python(module["later"]) == [1, 2]


def test_a_value_that_is_iterated_over_stays_locked_after_a_loan() -> None:
    source = """
def f():
    values = [1, 2]
    for value in values:
        branch(lambda: values)
        values.append(value)
f()
"""
    with pytest.raises(starlark.EvalError, match="during iteration"):
        run(source, branch=branch)


def test_a_second_restore_does_nothing() -> None:
    thread, values = starlark.Thread(), [1]
    loan = starlark.lend([values], [thread])
    starlark.restore(loan)
    starlark.restore(loan)
    push = run("def push(values): values.append(2)")["push"]
    starlark.call(thread, push, (values,))
    assert values == [1, 2]


def test_a_loan_within_a_loan_ends_alone() -> None:
    outer, inner, values = starlark.Thread("outer"), starlark.Thread("inner"), [1]
    push = run("def push(values): values.append(2)")["push"]
    first = starlark.lend([values], [outer])
    second = starlark.lend([values], [outer, inner])
    starlark.restore(second)
    with pytest.raises(starlark.EvalError, match=_LENT):
        starlark.call(outer, push, (values,))
    starlark.restore(first)
    starlark.call(outer, push, (values,))
    assert values == [1, 2]
