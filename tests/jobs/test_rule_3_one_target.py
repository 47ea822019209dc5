"""Rule 3: one target is fetched, and what it comes to is stored; one that was only busy is tried again."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any, Final

import pytest

from plait.context import Cancelled
from plait.jobs import Caller, JobStatus, Result, RetryLater, Runner, Store, TargetError
from tests.jobs.conftest import StartRunner
from tests.jobs.observed import Clock, Observed
from tests.jobs.sites import PATIENCE, Site, target, targets, wait_for_close, when_closing

ALICE, BOB = Caller("alice"), Caller("bob")
LONG: Final = 3600.0


def found(runner: Runner, job_id: str) -> JobStatus:
    status = runner.status(job_id)
    assert status is not None
    return status


def wrapped(inner: BaseException, *outer: Exception) -> Exception:
    """The last of ``outer``, with ``inner`` at the far end of its chain of causes."""
    chain: BaseException = inner
    for error in outer:
        error.__cause__ = chain
        chain = error
    assert isinstance(chain, Exception)
    return chain


# --- what is stored


def test_rule_3_a_success_is_stored_done_with_its_result(
    store: Store, start: StartRunner, site: Site, seen: Observed
) -> None:
    runner = start(store)
    result = Result("grün \N{CLOUD} \ud800", {"status": 200, "list": [1, None, 2.5, {"deep": True}], "ü": "x"})
    site.answer("a1", result)
    made = runner.submit(ALICE, "fleet", targets("a", 1))
    seen.wait_ended()
    only = found(runner, made.id).targets[0]
    assert (only.idx, only.url, only.status, only.error, only.hint) == (0, target("a1").url, "done", "", "")
    assert only.result == Result("grün \N{CLOUD} \N{REPLACEMENT CHARACTER}", result.meta)


def test_rule_3_a_target_error_is_stored_failed_with_its_message_and_hint(
    store: Store, start: StartRunner, site: Site, seen: Observed
) -> None:
    runner = start(store)
    error = TargetError("the page is gone", "look in an archive", status=410)
    site.answer("a1", error)
    made = runner.submit(ALICE, "fleet", targets("a", 1))
    seen.wait_ended()
    only = found(runner, made.id).targets[0]
    assert (only.status, only.result, only.error, only.hint) == (
        "failed",
        None,
        "the page is gone",
        "look in an archive",
    )
    assert seen.of("target") == [error]


def test_rule_3_any_other_error_is_stored_failed_with_its_text_and_no_hint(
    store: Store, start: StartRunner, site: Site, seen: Observed
) -> None:
    runner = start(store)
    error = OSError("connection reset")
    site.answer("a1", error)
    made = runner.submit(ALICE, "fleet", targets("a", 1))
    seen.wait_ended()
    only = found(runner, made.id).targets[0]
    assert (only.status, only.result, only.error, only.hint) == ("failed", None, "connection reset", "")
    assert seen.of("target") == [error]


def test_rule_3_a_panic_is_stored_as_an_internal_error_and_the_worker_lives(
    store: Store, start: StartRunner, site: Site, seen: Observed
) -> None:
    runner = start(store)
    panics = [KeyError("k"), AssertionError("a"), SystemExit(1), KeyboardInterrupt(), GeneratorExit(), RecursionError()]
    for number, panic in enumerate(panics, 1):
        site.answer(f"a{number}", panic)
    made = runner.submit(ALICE, "fleet", targets("a", len(panics) + 1))
    seen.wait_ended()
    status = found(runner, made.id)
    assert [each.error for each in status.targets] == ["internal error"] * len(panics) + [""]
    assert [each.hint for each in status.targets] == [""] * (len(panics) + 1)
    assert status.job.status == "partial"
    assert len({call.thread for call in site.calls}) == 1


def test_rule_3_the_hook_hears_of_each_stored_target_with_error_seconds_and_bytes(
    store: Store, start: StartRunner, site: Site, seen: Observed
) -> None:
    runner = start(store)
    site.answer("a1", Result("héllo", {"n": 1}))
    site.answer("a2", TargetError("no", "hint"))
    site.answer("a3", lambda *_: 1 // 0)
    made = runner.submit(ALICE, "fleet", targets("a", 3))
    seen.wait_ended()
    told = [event[1:] for event in seen.events if event[0] == "target"]
    assert [nbytes for _, _, nbytes in told] == [len('{"content":"héllo","meta":{"n":1}}'.encode()), 0, 0]
    assert all(0 <= seconds < PATIENCE for _, seconds, _ in told)
    assert told[0][0] is None
    assert isinstance(told[1][0], TargetError)
    panic = told[2][0]
    assert isinstance(panic, TargetError)
    assert (panic.msg, panic.hint, panic.status, panic.__cause__, panic.__context__) == (
        "internal error",
        "",
        500,
        None,
        None,
    )
    assert found(runner, made.id).job.status == "partial"


def test_rule_3_the_hook_is_told_the_seconds_that_fetching_took(
    store: Store, start: StartRunner, site: Site, seen: Observed
) -> None:
    runner = start(store)
    taken: list[float] = []

    def take_time(*_: object) -> Result:
        began = time.perf_counter()
        while time.perf_counter() - began < 0.02:
            pass
        taken.append(time.perf_counter() - began)
        return Result("x")

    site.answer("a1", take_time)
    runner.submit(ALICE, "fleet", targets("a", 1))
    seen.wait_ended()
    (seconds,) = [event[2] for event in seen.events if event[0] == "target"]
    assert seconds >= taken[0]


def test_rule_3_a_target_is_stored_before_its_hook_is_called(store: Store, start: StartRunner, seen: Observed) -> None:
    runner = start(store)
    stored: list[list[str]] = []
    ids: list[str] = []
    submitted = threading.Event()

    def look(*_: object) -> None:
        submitted.wait(PATIENCE)
        stored.append([each.status for each in found(runner, ids[0]).targets])

    seen.react("target", look)
    ids.append(runner.submit(ALICE, "fleet", targets("a", 2)).id)
    submitted.set()
    seen.wait_ended()
    assert stored[0] == ["done", "running"]  # the next turn is taken with the storing of the last
    assert stored[1] == ["done", "done"]


# --- a target that was only busy


@pytest.mark.parametrize(
    "busy",
    [
        RetryLater("try later"),
        wrapped(RetryLater(), OSError("one deep")),
        wrapped(RetryLater(), ValueError("two"), TargetError("three", "h")),
        wrapped(RetryLater(), *(OSError(str(depth)) for depth in range(2000))),
        wrapped(RetryLater(), KeyError("even a panic")),
        type("MyRetry", (RetryLater,), {})("of a class of the caller's own"),
    ],
    ids=["itself", "one deep", "two deep", "2000 deep", "under a panic", "a subclass"],
)
def test_rule_3_retry_later_is_tried_again_wherever_it_stands_in_the_causes(
    *, store: Store, start: StartRunner, site: Site, seen: Observed, busy: Exception
) -> None:
    runner = start(store)
    site.answer("a1", busy, busy, Result("at last"))
    made = runner.submit(ALICE, "fleet", targets("a", 1))
    seen.wait_ended()
    assert site.starts == ["a1"] * 3
    assert found(runner, made.id).targets[0].result == Result("at last")
    assert seen.of("target") == [None]


def test_rule_3_a_circle_of_causes_without_retry_later_is_a_plain_error(
    store: Store, start: StartRunner, site: Site, seen: Observed
) -> None:
    runner = start(store)
    one, two = OSError("one"), OSError("two")
    one.__cause__, two.__cause__ = two, one
    site.answer("a1", one)
    made = runner.submit(ALICE, "fleet", targets("a", 1))
    seen.wait_ended()
    assert found(runner, made.id).targets[0].error == "one"


def test_rule_3_a_circle_of_causes_with_retry_later_in_it_is_busy(
    store: Store, start: StartRunner, site: Site, seen: Observed
) -> None:
    runner = start(store)
    one, two = OSError("one"), RetryLater("two")
    one.__cause__, two.__cause__ = two, one
    site.answer("a1", one, Result("x"))
    runner.submit(ALICE, "fleet", targets("a", 1))
    seen.wait_ended()
    assert (site.starts, seen.ended) == (["a1", "a1"], ["done"])


def test_rule_3_retry_later_as_a_mere_context_is_no_wrapping(
    store: Store, start: StartRunner, site: Site, seen: Observed
) -> None:
    runner = start(store)

    def stumble(*_: object) -> object:
        try:
            raise RetryLater
        except RetryLater:
            raise OSError("something else")  # noqa: B904 - an implicit context is what is tested

    site.answer("a1", stumble)
    made = runner.submit(ALICE, "fleet", targets("a", 1))
    seen.wait_ended()
    assert (site.starts, found(runner, made.id).targets[0].error) == (["a1"], "something else")


def test_rule_3_a_busy_target_is_pending_and_no_outcome_while_it_waits(
    store: Store, start: StartRunner, site: Site, seen: Observed
) -> None:
    runner = start(store, retry_wait=LONG)
    site.answer("a1", RetryLater("busy"))
    made = runner.submit(ALICE, "fleet", targets("a", 2))
    runner.submit(BOB, "fleet", targets("b", 1))
    seen.wait_ended()  # with one worker, a1 was put back by now
    status = found(runner, made.id)
    assert (status.job.status, status.job.targets_done) == ("running", 0)
    assert [each.status for each in status.targets] == ["pending", "pending"]
    assert [each.error for each in status.targets] == ["", ""]
    assert len(seen.of("target")) == 1


def test_rule_3_the_rotation_goes_on_while_a_busy_target_waits(
    store: Store, start: StartRunner, site: Site, seen: Observed
) -> None:
    runner = start(store, retry_wait=LONG)
    site.hold("a1")
    site.answer("a1", RetryLater("busy"))
    runner.submit(ALICE, "fleet", targets("a", 3))
    site.wait_started("a1")
    runner.submit(BOB, "fleet", targets("b", 3))
    site.release()
    seen.wait_ended()
    assert site.starts == ["a1", "b1", "b2", "b3"]


def test_rule_3_a_jobs_later_targets_wait_for_its_busy_one(
    store: Store, start: StartRunner, site: Site, seen: Observed
) -> None:
    runner = start(store)
    site.answer("a2", RetryLater("busy"), RetryLater("busy"), Result("x"))
    runner.submit(ALICE, "fleet", targets("a", 3))
    seen.wait_ended()
    assert site.starts == ["a1", "a2", "a2", "a2", "a3"]


def test_rule_3_a_busy_target_is_left_alone_for_the_retry_wait(
    store: Store, start: StartRunner, site: Site, seen: Observed
) -> None:
    runner = start(store, retry_wait=0.1)
    at: list[float] = []

    def note(*_: object) -> Result:
        at.append(time.monotonic())
        if len(at) < 3:
            raise RetryLater
        return Result("x")

    site.answer("a1", note)
    runner.submit(ALICE, "fleet", targets("a", 1))
    seen.wait_ended()
    assert at[1] - at[0] >= 0.1
    assert at[2] - at[1] >= 0.1


def test_rule_3_a_target_that_asks_for_more_time_gets_it(
    store: Store, start: StartRunner, site: Site, seen: Observed
) -> None:
    runner = start(store)
    at: list[float] = []

    def note(*_: object) -> Result:
        at.append(time.monotonic())
        if len(at) < 2:
            raise RetryLater("busy", after=0.15)
        return Result("x")

    site.answer("a1", note)
    runner.submit(ALICE, "fleet", targets("a", 1))
    seen.wait_ended()
    assert at[1] - at[0] >= 0.15


def test_rule_3_a_target_that_asks_for_more_than_retry_for_is_tried_once_more_after_that(
    store: Store, start: StartRunner, site: Site, seen: Observed
) -> None:
    runner = start(store, retry_for=0.1)
    site.answer("a1", RetryLater("come back in an hour", after=LONG))
    made = runner.submit(ALICE, "fleet", targets("a", 1))
    seen.wait_ended()
    assert site.starts == ["a1", "a1"]
    assert found(runner, made.id).targets[0].error == "come back in an hour"


@pytest.mark.parametrize("after", [-1.0, 0.0, float("nan"), float("-inf"), float("inf"), "soon", True, None, 10**400])
def test_rule_3_a_wish_that_is_no_time_hurts_nothing(
    *, store: Store, start: StartRunner, site: Site, seen: Observed, after: Any
) -> None:
    runner = start(store, retry_for=0.05)
    site.answer("a1", RetryLater("busy", after=after), Result("x"))
    runner.submit(ALICE, "fleet", targets("a", 1))
    seen.wait_ended()
    assert (site.starts, seen.ended) == (["a1", "a1"], ["done"])


@pytest.mark.parametrize(
    ("busy", "error", "hint"),
    [
        (RetryLater("the site is busy"), "the site is busy", ""),
        (RetryLater(), "retry later", ""),
        (
            wrapped(RetryLater("inner"), TargetError("429 from the site", "ask for less")),
            "429 from the site",
            "ask for less",
        ),
        (wrapped(RetryLater("inner"), OSError("outer")), "outer", ""),
    ],
    ids=["its text", "its own words", "a target error", "what wraps it"],
)
def test_rule_3_a_target_busy_for_longer_than_retry_for_fails_with_the_errors_text(
    *, store: Store, start: StartRunner, site: Site, seen: Observed, busy: Exception, error: str, hint: str
) -> None:
    runner = start(store, retry_for=0.03)
    site.answer("a1", busy)
    made = runner.submit(ALICE, "fleet", targets("a", 2))
    seen.wait_ended()
    first, second = found(runner, made.id).targets
    assert (first.status, first.error, first.hint) == ("failed", error, hint)
    assert second.status == "done"
    assert seen.of("target") == [busy, None]
    assert site.starts.count("a1") >= 2


def test_rule_3_a_target_that_stayed_busy_has_the_hint_that_came_with_it(
    store: Store, start: StartRunner, site: Site, seen: Observed
) -> None:
    runner = start(store, retry_wait=0.01, retry_for=0.01)
    site.answer("a1", *[RetryLater("busy", hint="come tomorrow")] * 50)
    made = runner.submit(ALICE, "fleet", targets("a", 1))
    target = runner.wait(made.id, PATIENCE).targets[0]
    assert (target.status, target.error, target.hint) == ("failed", "busy", "come tomorrow")


def test_rule_3_patience_is_counted_for_each_target_from_its_first_busy_return(
    store: Store, start: StartRunner, site: Site, seen: Observed
) -> None:
    runner = start(store, retry_for=0.1)
    until = threading.Event()

    def slow(*_: object) -> object:
        until.wait(0.2)  # longer than retry_for, but not busy
        raise RetryLater

    site.answer("a1", slow, Result("x"))
    site.answer("a2", slow, Result("y"))
    runner.submit(ALICE, "fleet", targets("a", 2))
    seen.wait_ended()
    assert site.starts == ["a1", "a1", "a2", "a2"]
    assert seen.ended == ["done"]


def test_rule_3_two_busy_jobs_wait_side_by_side(store: Store, start: StartRunner, site: Site, seen: Observed) -> None:
    runner = start(store, retry_wait=0.05)
    site.hold("a1")
    site.answer("a1", RetryLater(), Result("x"))
    site.answer("b1", RetryLater(), Result("y"))
    runner.submit(ALICE, "fleet", targets("a", 1))
    site.wait_started("a1")
    runner.submit(BOB, "fleet", targets("b", 1))
    site.release()
    seen.wait_ended(2)
    assert site.starts == ["a1", "b1", "a1", "b1"]


@pytest.mark.parametrize("workers", [1, 2])
def test_rule_3_no_worker_sleeps_for_a_busy_target_while_another_job_has_work(
    store: Store, start: StartRunner, site: Site, seen: Observed, workers: int
) -> None:
    runner = start(store, workers=workers, retry_wait=LONG)
    for prefix in "abc":
        site.answer(f"{prefix}1", RetryLater())
        runner.submit(Caller(prefix), "fleet", targets(prefix, 1))
    for prefix in "abc":
        site.wait_ended(f"{prefix}1")
    runner.submit(Caller("late"), "fleet", targets("late", 20))
    seen.wait_ended()
    assert seen.ended == ["done"]


def test_rule_3_an_idle_worker_comes_back_for_a_target_that_another_put_back(
    store: Store, start: StartRunner, site: Site, seen: Observed
) -> None:
    runner = start(store, workers=2, retry_wait=0.05)
    site.hold("a1", "b1")
    site.answer("b1", RetryLater(), Result("x"))
    runner.submit(ALICE, "fleet", targets("a", 1))
    runner.submit(BOB, "fleet", targets("b", 1))
    site.wait_started("a1")
    site.wait_started("b1")
    site.release("b1")
    site.wait_ended("b1", 2)
    assert site.ends == ["b1", "b1"]
    site.release()
    seen.wait_ended(2)


def test_rule_3_a_cancelled_job_is_not_tried_again(
    store: Store, start: StartRunner, site: Site, seen: Observed
) -> None:
    runner = start(store, retry_wait=0.02)
    site.hold("a1")
    site.answer("a1", RetryLater())
    made = runner.submit(ALICE, "fleet", targets("a", 1))
    site.wait_started("a1")
    assert runner.cancel(made.id)
    site.release()
    site.wait_ended("a1")
    site.answer("b1", RetryLater(), RetryLater(), RetryLater(), Result("x"))
    runner.submit(BOB, "fleet", targets("b", 1))  # outlasts the wait of a1
    seen.wait_ended(2)
    assert site.starts.count("a1") == 1
    status = found(runner, made.id)
    assert (status.job.status, status.targets[0].status) == ("cancelled", "pending")


# --- closing


def closing(runner: Runner) -> threading.Thread:
    """A thread that closes the runner."""
    thread = threading.Thread(target=runner.close)
    thread.start()
    return thread


@pytest.mark.parametrize(
    "error", [Cancelled(), OSError("torn down"), KeyError("x"), RetryLater(), SystemExit()], ids=repr
)
def test_rule_3_close_cancels_the_context_and_what_then_fails_is_not_stored(
    *, store: Store, start: StartRunner, site: Site, seen: Observed, error: BaseException
) -> None:
    runner = start(store)
    site.answer("a1", when_closing(error))
    made = runner.submit(ALICE, "fleet", targets("a", 2))
    site.wait_started("a1")
    closing(runner).join()
    status = found(runner, made.id)
    assert [each.status for each in status.targets] == ["pending", "pending"]
    assert (status.job.status, status.job.targets_done) == ("running", 0)
    assert seen.of("target") == []
    assert site.starts == ["a1"]


def test_rule_3_a_result_that_comes_while_the_runner_closes_is_stored(
    store: Store, start: StartRunner, site: Site, seen: Observed
) -> None:
    runner = start(store)
    site.answer("a1", when_closing(Result("just in time")))
    made = runner.submit(ALICE, "fleet", targets("a", 2))
    site.wait_started("a1")
    closing(runner).join()
    status = found(runner, made.id)
    assert [each.status for each in status.targets] == ["done", "pending"]
    assert status.targets[0].result == Result("just in time")
    assert site.starts == ["a1"]
    assert seen.of("target") == [None]


def test_rule_3_a_last_result_that_comes_while_the_runner_closes_ends_its_job(
    store: Store, start: StartRunner, site: Site, seen: Observed
) -> None:
    runner = start(store)
    site.hold("a1")
    made = runner.submit(ALICE, "fleet", targets("a", 1))
    site.wait_started("a1")
    thread = closing(runner)
    wait_for_close(site.call_of("a1").context)
    site.release()
    thread.join()
    assert found(runner, made.id).job.status == "done"
    assert (seen.ended, len(seen.of("job_seconds"))) == (["done"], 1)


def test_rule_3_close_waits_for_the_target_in_flight(store: Store, start: StartRunner, site: Site) -> None:
    runner = start(store)
    site.hold("a1")
    runner.submit(ALICE, "fleet", targets("a", 1))
    site.wait_started("a1")
    thread = closing(runner)
    wait_for_close(site.call_of("a1").context)
    assert thread.is_alive()
    site.release()
    thread.join()
    assert site.ends == ["a1"]


def test_rule_3_the_context_is_not_cancelled_before_the_runner_closes(
    store: Store, start: StartRunner, site: Site, seen: Observed
) -> None:
    runner = start(store)
    runner.submit(ALICE, "fleet", targets("a", 2))
    seen.wait_ended()
    assert [call.context.reason for call in site.calls] == [None, None]
    runner.close()
    assert [call.context.reason for call in site.calls] == ["the runner is closing"] * 2


def test_rule_3_an_idle_runner_closes_while_a_busy_target_waits_for_an_hour(
    store: Store, start: StartRunner, site: Site
) -> None:
    runner = start(store, retry_wait=LONG)
    site.answer("a1", RetryLater())
    made = runner.submit(ALICE, "fleet", targets("a", 1))
    site.wait_ended("a1")
    runner.close()
    assert found(runner, made.id).targets[0].status == "pending"


# --- eviction


def results_of(size: int) -> Callable[..., Result]:
    return lambda *_: Result("x" * size)


def test_rule_3_the_oldest_finished_jobs_are_evicted_when_the_outcomes_are_too_many_bytes(
    store: Store, start: StartRunner, site: Site, seen: Observed, clock: Clock
) -> None:
    runner = start(store, max_bytes=2500)
    ids: list[str] = []
    for number, prefix in enumerate("abcd", 1):
        site.answer(f"{prefix}1", results_of(1000))
        ids.append(runner.submit(ALICE, "fleet", targets(prefix, 1)).id)
        seen.wait_ended(number)
        clock.now += 1
    assert [runner.status(job_id) is None for job_id in ids] == [True, True, False, False]
    assert seen.ended == ["done"] * 4


def test_rule_3_a_touched_job_outlives_an_untouched_one(
    store: Store, start: StartRunner, site: Site, seen: Observed, clock: Clock
) -> None:
    runner = start(store, max_bytes=2500)
    ids: list[str] = []
    for number, prefix in enumerate("abc", 1):
        site.answer(f"{prefix}1", results_of(1000))
        clock.now += 1
        if prefix == "c":
            runner.touch(ids[0])
        clock.now += 1
        ids.append(runner.submit(ALICE, "fleet", targets(prefix, 1)).id)
        seen.wait_ended(number)
    assert [runner.status(job_id) is None for job_id in ids] == [False, True, False]


def test_rule_3_a_live_job_is_never_evicted_and_neither_is_the_one_just_finished(
    store: Store, start: StartRunner, site: Site, seen: Observed
) -> None:
    runner = start(store, max_bytes=1)
    site.hold("b2")
    site.answer("b1", results_of(1000))
    live = runner.submit(ALICE, "fleet", targets("b", 2)).id
    site.wait_started("b2")
    runner.cancel(runner.submit(BOB, "fleet", targets("c", 1)).id)
    site.release()
    seen.wait_ended(2)
    status = found(runner, live)
    assert [each.status for each in status.targets] == ["done", "done"]
    assert status.job.status == "done"


def test_rule_3_a_finished_job_is_evicted_by_the_targets_of_live_ones(
    store: Store, start: StartRunner, site: Site, seen: Observed
) -> None:
    runner = start(store, max_bytes=1500)
    site.answer("a1", results_of(1000))
    first = runner.submit(ALICE, "fleet", targets("a", 1)).id
    seen.wait_ended()
    site.answer("b1", results_of(1000))
    site.hold("b2")
    runner.submit(ALICE, "fleet", targets("b", 2))
    site.wait_started("b2")
    assert runner.status(first) is None


def test_rule_3_a_job_that_was_evicted_is_made_anew(
    store: Store, start: StartRunner, site: Site, seen: Observed
) -> None:
    runner = start(store, max_bytes=1)
    first = runner.submit(ALICE, "fleet", targets("a", 1)).id
    seen.wait_ended()
    runner.submit(ALICE, "fleet", targets("b", 1))
    seen.wait_ended(2)
    again = runner.submit(ALICE, "fleet", targets("a", 1))
    assert (again.reused, again.id == first) == (False, False)
    seen.wait_ended(3)
    assert site.starts == ["a1", "b1", "a1"]


def test_rule_3_sweep_takes_finished_jobs_of_every_status_and_leaves_live_ones(
    store: Store, start: StartRunner, site: Site, seen: Observed, clock: Clock
) -> None:
    runner = start(store, ttl=100)
    site.answer("failed1", TargetError("no"))
    site.answer("partial1", TargetError("no"))
    site.hold("live1", "cancelled1")
    done = runner.submit(ALICE, "fleet", targets("done", 1)).id
    failed = runner.submit(ALICE, "fleet", targets("failed", 1)).id
    partial = runner.submit(ALICE, "fleet", targets("partial", 2)).id
    seen.wait_ended(3)
    live = runner.submit(ALICE, "fleet", targets("live", 1)).id
    site.wait_started("live1")
    queued = runner.submit(ALICE, "fleet", targets("queued", 1)).id
    cancelled = runner.submit(ALICE, "fleet", targets("cancelled", 1)).id
    runner.cancel(cancelled)
    clock.now += 101
    runner.submit(BOB, "fleet", targets("new", 1))
    ids = {"done": done, "failed": failed, "partial": partial, "live": live, "queued": queued, "cancelled": cancelled}
    assert {name for name, job_id in ids.items() if runner.status(job_id) is not None} == {"live", "queued"}
