"""Rule 4: with its last target stored a job gets its terminal status, and that is told exactly once."""

from __future__ import annotations

from collections import Counter
from itertools import product
from typing import Any

import pytest
from msgspec import structs

from plait.jobs import Caller, Hooks, JobStatus, Result, RetryLater, Runner, Store, TargetError
from tests.jobs.conftest import StartRunner
from tests.jobs.observed import Clock, Observed
from tests.jobs.sites import Answer, Site, targets, when_closing

ALICE, BOB = Caller("alice"), Caller("bob")


def found(runner: Runner, job_id: str) -> JobStatus:
    status = runner.status(job_id)
    assert status is not None
    return status


@pytest.mark.parametrize("fates", list(product((True, False), repeat=3)), ids=str)
def test_rule_4_a_job_is_done_when_all_are_done_failed_when_all_failed_and_partial_between(
    *, store: Store, start: StartRunner, site: Site, seen: Observed, fates: tuple[bool, ...]
) -> None:
    runner = start(store)
    for number, good in enumerate(fates, 1):
        site.answer(f"a{number}", Result("x") if good else TargetError("no"))
    made = runner.submit(ALICE, "fleet", targets("a", 3))
    seen.wait_ended()
    ending = {3: "done", 0: "failed"}.get(sum(fates), "partial")
    status = found(runner, made.id)
    assert (status.job.status, status.job.error) == (ending, "")
    assert (status.job.targets_total, status.job.targets_done) == (3, 3)
    assert [each.status for each in status.targets] == ["done" if good else "failed" for good in fates]
    assert seen.of("job") == ["created", ending]
    assert len(seen.of("job_seconds")) == 1


@pytest.mark.parametrize(("answer", "ending"), [(Result("x"), "done"), (TargetError("no"), "failed")])
def test_rule_4_a_job_of_one_target_is_done_or_failed(
    *, store: Store, start: StartRunner, site: Site, seen: Observed, answer: Any, ending: str
) -> None:
    runner = start(store)
    site.answer("a1", answer)
    runner.submit(ALICE, "fleet", targets("a", 1))
    seen.wait_ended()
    assert seen.ended == [ending]


def test_rule_4_a_target_that_stayed_busy_counts_as_failed(
    store: Store, start: StartRunner, site: Site, seen: Observed
) -> None:
    runner = start(store, retry_for=0.01)
    site.answer("a1", RetryLater())
    runner.submit(ALICE, "fleet", targets("a", 2))
    seen.wait_ended()
    assert seen.ended == ["partial"]


def test_rule_4_the_seconds_go_from_submit_to_end_by_the_runners_clock(
    store: Store, start: StartRunner, site: Site, seen: Observed, clock: Clock
) -> None:
    runner = start(store)
    site.hold("a1")
    runner.submit(ALICE, "fleet", targets("a", 1))
    site.wait_started("a1")
    clock.now += 12.5
    site.release()
    seen.wait_ended()
    assert seen.of("job_seconds") == [12.5]


def test_rule_4_a_clock_that_was_set_back_makes_no_negative_seconds(
    store: Store, start: StartRunner, site: Site, seen: Observed, clock: Clock
) -> None:
    runner = start(store)
    site.hold("a1", "b1")
    runner.submit(ALICE, "fleet", targets("a", 1))
    site.wait_started("a1")
    cancelled = runner.submit(BOB, "fleet", targets("b", 1))
    clock.now -= 100
    runner.cancel(cancelled.id)
    site.release()
    seen.wait_ended(2)
    assert seen.of("job_seconds") == [0.0, 0.0]


def test_rule_4_the_status_is_stored_before_its_hook_is_called(
    store: Store, start: StartRunner, seen: Observed
) -> None:
    runner = start(store)
    wanted = targets("a", 1)
    statuses: list[str] = []

    def look(outcome: str) -> None:
        if outcome == "done":
            made = runner.submit(ALICE, "fleet", wanted)
            statuses.append(found(runner, made.id).job.status)

    seen.react("job", look)
    runner.submit(ALICE, "fleet", wanted)
    seen.wait_ended()
    assert statuses == ["done"]


def test_rule_4_the_hooks_of_a_job_come_in_the_contracts_order(
    store: Store, start: StartRunner, site: Site, seen: Observed
) -> None:
    runner = start(store)
    site.answer("a2", TargetError("no"))
    runner.submit(ALICE, "fleet", targets("a", 2))
    seen.wait_ended()
    assert seen.names("job", "target", "job_seconds") == [
        ("job", "created"),
        ("target",),
        ("target",),
        ("job", "partial"),
        ("job_seconds",),
    ]


def test_rule_4_created_comes_first_even_when_the_job_ends_before_it_is_told(
    store: Store, start: StartRunner, site: Site, seen: Observed
) -> None:
    def dawdle(outcome: str) -> None:
        if outcome == "created" and "a1" in site.starts:
            site.release()  # the worker is awake, and so finds the new job before it is announced
            site.wait_ended("b2")
        assert seen.hooks.job is not None
        seen.hooks.job(outcome)

    runner = start(store, hooks=structs.replace(seen.hooks, job=dawdle))
    site.hold("a1")
    runner.submit(ALICE, "fleet", targets("a", 1))
    site.wait_started("a1")
    runner.submit(BOB, "fleet", targets("b", 2))
    seen.wait_ended(2)
    assert seen.names("job", "target", "job_seconds") == [
        ("job", "created"),
        ("target",),
        ("job", "done"),
        ("job_seconds",),
        ("job", "created"),
        ("target",),
        ("target",),
        ("job", "done"),
        ("job_seconds",),
    ]


def test_rule_4_a_cancelled_job_is_told_once_with_its_seconds(
    store: Store, start: StartRunner, site: Site, seen: Observed, clock: Clock
) -> None:
    runner = start(store)
    site.hold("a1")
    made = runner.submit(ALICE, "fleet", targets("a", 1))
    site.wait_started("a1")
    clock.now += 3
    runner.cancel(made.id)
    clock.now += 3
    site.release()
    seen.wait_for("target")
    runner.submit(BOB, "fleet", targets("b", 1))
    seen.wait_ended(2)
    assert seen.of("job") == ["created", "cancelled", "created", "done"]
    assert seen.of("job_seconds") == [3.0, 0.0]


def test_rule_4_jobs_that_a_restart_interrupted_are_failed_and_told_once(
    store: Store, start: StartRunner, site: Site, seen: Observed, clock: Clock
) -> None:
    first = start(store, hooks=Hooks())
    site.answer("a2", when_closing(OSError("torn down")))
    running = first.submit(ALICE, "fleet", targets("a", 3))
    site.wait_started("a2")
    clock.now += 1
    queued = first.submit(BOB, "fleet", targets("b", 1))
    first.close()
    clock.now += 10
    second = start(store)
    assert seen.names("job", "job_seconds", "target", "inflight") == [("job", "failed"), ("job_seconds",)] * 2
    assert sorted(seen.of("job_seconds")) == [10.0, 11.0]
    status = found(second, running.id)
    assert (status.job.status, status.job.error, status.job.targets_done) == ("failed", "interrupted by a restart", 1)
    assert [each.status for each in status.targets] == ["done", "pending", "pending"]
    assert found(second, queued.id).job.status == "failed"
    second.close()
    start(store)
    assert len(seen.of("job")) == 2


def test_rule_4_an_interrupted_jobs_targets_make_a_new_job(
    store: Store, start: StartRunner, site: Site, seen: Observed
) -> None:
    first = start(store, hooks=Hooks(), retry_wait=3600)
    site.answer("a1", RetryLater(), Result("x"))
    made = first.submit(ALICE, "fleet", targets("a", 1))
    site.wait_ended("a1")
    first.close()
    second = start(store, jobs_per_caller=1)
    again = second.submit(ALICE, "fleet", targets("a", 1))
    assert (again.reused, again.id == made.id) == (False, False)
    seen.wait_ended(2)
    assert seen.of("job") == ["failed", "created", "done"]


@pytest.mark.parametrize("name", ["job", "target", "job_seconds", "depth", "inflight"])
@pytest.mark.parametrize("error", [ValueError("secret"), SystemExit(3), KeyboardInterrupt("secret")], ids=repr)
def test_rule_4_a_hook_that_raises_is_logged_by_its_type_and_hurts_nothing(
    *,
    store: Store,
    start: StartRunner,
    seen: Observed,
    discreet_log: pytest.LogCaptureFixture,
    name: str,
    error: BaseException,
) -> None:
    def fail(value: object, *_: object) -> None:
        # The submitting thread is the main one here, where an interrupt goes on to the user.
        if not (isinstance(error, KeyboardInterrupt) and value in {"created", 1}):
            raise error

    seen.react(name, fail)
    runner = start(store)
    made = runner.submit(ALICE, "fleet", targets("a", 2))
    seen.wait_ended()
    runner.submit(ALICE, "fleet", targets("b", 1))
    seen.wait_ended(2)
    runner.close()
    assert found(runner, made.id).job.status == "done"
    assert seen.ended == ["done", "done"]
    warnings = [record.getMessage() for record in discreet_log.records]
    assert f"hook {name} raised {type(error).__name__}" in warnings
    assert [warning for warning in warnings if "secret" in warning] == []


def test_rule_4_a_runner_without_hooks_does_its_jobs(store: Store, start: StartRunner, site: Site) -> None:
    runner = start(store, hooks=Hooks())
    made = runner.submit(ALICE, "fleet", targets("a", 2))
    site.wait_ended("a2")
    runner.close()
    assert found(runner, made.id).job.status == "done"


@pytest.mark.parametrize("workers", [1, 2])
def test_rule_4_every_one_of_many_jobs_is_told_exactly_once(
    store: Store, start: StartRunner, site: Site, seen: Observed, workers: int
) -> None:
    runner = start(store, workers=workers)
    fates: dict[str, list[Answer]] = {
        "done": [Result("x")] * 2,
        "failed": [TargetError("n")] * 2,
        "partial": [Result("x"), TargetError("n")],
    }
    for number in range(20):
        for fate, answers in fates.items():
            for place, answer in enumerate(answers, 1):
                site.answer(f"{fate}{number}-{place}", answer)
            runner.submit(ALICE, "fleet", targets(f"{fate}{number}-", 2))
    seen.wait_ended(60)
    assert Counter(seen.of("job")) == {"created": 60, "done": 20, "failed": 20, "partial": 20}
    assert len(seen.of("target")) == 120
    assert len(seen.of("job_seconds")) == 60
