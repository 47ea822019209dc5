"""Rule 2: the workers share one rotation of live jobs in submit order, and each job is serial."""

from __future__ import annotations

import threading
from itertools import pairwise

import pytest

from plait.jobs import Caller, JobStatus, Result, RetryLater, Runner, Store
from tests.jobs.conftest import StartRunner
from tests.jobs.faults import Trace
from tests.jobs.observed import Observed
from tests.jobs.sites import Site, targets

ALICE, BOB, CAROL = Caller("alice"), Caller("bob"), Caller("carol")


def found(runner: Runner, job_id: str) -> JobStatus:
    status = runner.status(job_id)
    assert status is not None
    return status


# --- one worker


def test_rule_2_with_one_worker_two_jobs_alternate(
    store: Store, start: StartRunner, site: Site, seen: Observed
) -> None:
    runner = start(store, jobs_per_caller=1)
    site.hold("a1")
    runner.submit(ALICE, "fleet", targets("a", 3))
    site.wait_started("a1")
    runner.submit(BOB, "fleet", targets("b", 3))
    site.release()
    seen.wait_ended(2)
    assert site.starts == ["a1", "b1", "a2", "b2", "a3", "b3"]


def test_rule_2_three_jobs_take_turns_in_submit_order(
    store: Store, start: StartRunner, site: Site, seen: Observed
) -> None:
    runner = start(store)
    site.hold("a1")
    runner.submit(ALICE, "fleet", targets("a", 3))
    site.wait_started("a1")
    runner.submit(BOB, "fleet", targets("b", 2))
    runner.submit(CAROL, "fleet", targets("c", 3))
    site.release()
    seen.wait_ended(3)
    assert site.starts == ["a1", "b1", "c1", "a2", "b2", "c2", "a3", "c3"]


@pytest.mark.parametrize(
    ("held", "order"),
    [
        ("a2", ["a1", "b1", "a2", "b2", "c1", "a3", "b3", "c2"]),
        ("b2", ["a1", "b1", "a2", "b2", "c1", "a3", "b3", "c2"]),
    ],
)
def test_rule_2_a_job_submitted_late_joins_after_the_last_one(
    *, store: Store, start: StartRunner, site: Site, seen: Observed, held: str, order: list[str]
) -> None:
    runner = start(store)
    site.hold("a1", held)
    runner.submit(ALICE, "fleet", targets("a", 3))
    site.wait_started("a1")
    runner.submit(BOB, "fleet", targets("b", 3))
    site.release("a1")
    site.wait_started(held)
    runner.submit(CAROL, "fleet", targets("c", 2))
    site.release()
    seen.wait_ended(3)
    assert site.starts == order


def test_rule_2_a_short_job_waits_for_no_more_than_its_share_of_a_long_one(
    store: Store, start: StartRunner, site: Site, seen: Observed
) -> None:
    runner = start(store, targets_per_job=1000)
    site.hold("a1")
    long = runner.submit(ALICE, "fleet", targets("a", 1000))
    site.wait_started("a1")
    runner.submit(BOB, "fleet", targets("b", 10))
    site.release()
    seen.wait_ended(1)
    runner.cancel(long.id)
    places = [place for place, name in enumerate(site.starts, 1) if name.startswith("b")]
    assert places == [2, 4, 6, 8, 10, 12, 14, 16, 18, 20]


def test_rule_2_an_outcome_is_stored_before_the_jobs_next_target_starts(
    store: Store, start: StartRunner, site: Site, seen: Observed
) -> None:
    runner = start(store)

    def look(context: object, caller: object, wanted: object) -> Result:
        del context, caller, wanted
        job = found(runner, site.calls[-1].job)
        return Result(" ".join(target.status for target in job.targets))

    for name in ("a1", "a2", "a3"):
        site.answer(name, look)
    made = runner.submit(ALICE, "fleet", targets("a", 3))
    seen.wait_ended()
    assert [target.result for target in found(runner, made.id).targets] == [
        Result("running pending pending"),
        Result("done running pending"),
        Result("done done running"),
    ]


def test_rule_2_a_job_is_queued_until_a_worker_reaches_it_and_running_from_then_on(
    store: Store, start: StartRunner, site: Site, seen: Observed
) -> None:
    runner = start(store)
    site.hold("a1", "b1")
    site.answer("a2", lambda *_: Result(found(runner, second.id).job.status))
    first = runner.submit(ALICE, "fleet", targets("a", 2))
    site.wait_started("a1")
    second = runner.submit(BOB, "fleet", targets("b", 2))
    assert found(runner, first.id).job.status == "running"
    assert found(runner, second.id).job.status == "queued"
    assert {target.status for target in found(runner, second.id).targets} == {"pending"}
    site.release("a1")
    site.wait_started("b1")
    assert found(runner, second.id).job.status == "running"
    site.release()
    seen.wait_ended(2)
    assert found(runner, first.id).targets[1].result == Result("running")


def test_rule_2_the_hand_goes_on_from_where_it_was_when_jobs_end(
    store: Store, start: StartRunner, site: Site, seen: Observed
) -> None:
    runner = start(store)
    site.hold("a1")
    runner.submit(ALICE, "fleet", targets("a", 1))
    site.wait_started("a1")
    runner.submit(BOB, "fleet", targets("b", 3))
    runner.submit(CAROL, "fleet", targets("c", 1))
    runner.submit(ALICE, "fleet", targets("d", 2))
    site.release()
    seen.wait_ended(4)
    assert site.starts == ["a1", "b1", "c1", "d1", "b2", "d2", "b3"]


# --- two workers


def test_rule_2_two_workers_never_do_two_targets_of_one_job_at_once(
    store: Store, start: StartRunner, site: Site, seen: Observed
) -> None:
    runner = start(store, workers=2)
    site.hold("a1")
    jobs = {
        prefix: runner.submit(Caller(prefix), "fleet", targets(prefix, 20)).id for prefix in ("a", "b", "c", "d", "e")
    }
    site.release()
    seen.wait_ended(5)
    assert site.most_of_one_job == 1
    for prefix, job_id in jobs.items():
        assert [name for name in site.starts if name.startswith(prefix)] == [f"{prefix}{n}" for n in range(1, 21)]
        assert [target.status for target in found(runner, job_id).targets] == ["done"] * 20


def test_rule_2_the_second_worker_leaves_a_single_job_to_the_first(
    store: Store, start: StartRunner, site: Site, seen: Observed
) -> None:
    trace = Trace(store)
    runner = start(store, workers=2)
    trace.wait_idle(workers=2)
    before = trace.count()
    site.hold("a1")
    runner.submit(ALICE, "fleet", targets("a", 3))
    site.wait_started("a1")
    trace.wait_idle(after=before)  # the other one was woken too, and found nothing that it may take
    assert site.most_at_once == 1
    site.release()
    seen.wait_ended()
    assert site.starts == ["a1", "a2", "a3"]
    assert site.most_of_one_job == 1


def test_rule_2_two_workers_are_both_busy_while_two_jobs_live(
    store: Store, start: StartRunner, site: Site, seen: Observed
) -> None:
    runner = start(store, workers=2)
    names = [f"{prefix}{number}" for prefix in "ab" for number in range(1, 6)]
    site.hold(*names)
    runner.submit(ALICE, "fleet", targets("a", 5))
    runner.submit(BOB, "fleet", targets("b", 5))
    for number in range(1, 6):
        site.wait_started(f"a{number}")
        site.wait_started(f"b{number}")
        site.release(f"a{number}", f"b{number}")
    seen.wait_ended(2)
    assert site.most_at_once == 2
    threads = {call.thread for call in site.calls}
    assert len(threads) == 2


def test_rule_2_a_slow_job_holds_up_one_worker_only(
    store: Store, start: StartRunner, site: Site, seen: Observed
) -> None:
    runner = start(store, workers=2)
    site.hold("a1", "b1")
    runner.submit(ALICE, "fleet", targets("a", 2))
    site.wait_started("a1")
    runner.submit(BOB, "fleet", targets("b", 3))
    site.wait_started("b1")
    runner.submit(CAROL, "fleet", targets("c", 3))
    site.release("b1")
    seen.wait_ended(2)
    assert site.starts == ["a1", "b1", "c1", "b2", "c2", "b3", "c3"]


def test_rule_2_a_third_job_gets_the_worker_that_is_free_first(store: Store, start: StartRunner, site: Site) -> None:
    runner = start(store, workers=2)
    site.hold("a1", "b1", "c1")
    runner.submit(ALICE, "fleet", targets("a", 2))
    runner.submit(BOB, "fleet", targets("b", 2))
    site.wait_started("a1")
    site.wait_started("b1")
    third = runner.submit(CAROL, "fleet", targets("c", 1))
    assert found(runner, third.id).job.status == "queued"
    site.release("b1")
    site.wait_started("c1")
    assert "a2" not in site.starts


# --- waiting for work


@pytest.mark.parametrize("workers", [1, 2])
def test_rule_2_idle_workers_ask_the_store_for_nothing(store: Store, start: StartRunner, workers: int) -> None:
    trace = Trace(store)
    start(store, workers=workers)
    trace.wait_idle(workers)
    before = trace.count()
    assert not trace.wait_more(before, seconds=0.3)


def test_rule_2_workers_that_have_worked_ask_for_nothing_afterwards(
    store: Store, start: StartRunner, site: Site, seen: Observed
) -> None:
    trace = Trace(store)
    runner = start(store)
    trace.wait_idle()
    site.hold("a1")
    made = runner.submit(ALICE, "fleet", targets("a", 1))
    site.wait_started("a1")
    working = trace.count()
    site.release()
    seen.wait_ended()
    trace.wait_idle(2, after=working)  # once with storing the outcome, once more before it waits
    before = trace.count()
    assert not trace.wait_more(before, seconds=0.3)
    assert runner.cancel(made.id) is False


def test_rule_2_while_a_busy_target_waits_idle_workers_ask_for_nothing(
    store: Store, start: StartRunner, site: Site
) -> None:
    trace = Trace(store)
    runner = start(store, workers=2, retry_wait=3600)
    trace.wait_idle(2)
    before = trace.count()
    site.answer("a1", RetryLater("busy"))
    runner.submit(ALICE, "fleet", targets("a", 1))
    site.wait_ended("a1")
    trace.wait_idle(3, after=before)
    looked = trace.count()
    while trace.wait_more(looked, seconds=0.3):  # the other worker may be on its last look
        looked = trace.count()
        assert looked < 100
    assert site.starts == ["a1"]


def test_rule_2_a_submit_wakes_an_idle_worker_every_time(
    store: Store, start: StartRunner, site: Site, seen: Observed
) -> None:
    runner = start(store, workers=2)
    for number in range(1, 51):
        runner.submit(ALICE, "fleet", targets(f"{number}-", 1))
        seen.wait_ended(number)
    assert site.starts == [f"{number}-1" for number in range(1, 51)]


def test_rule_2_submits_from_many_threads_are_all_done_in_turns(
    store: Store, start: StartRunner, site: Site, seen: Observed
) -> None:
    runner = start(store, workers=2)
    site.hold("held1")
    runner.submit(Caller("first"), "fleet", targets("held", 1))
    site.wait_started("held1")

    def submit(prefix: str) -> None:
        runner.submit(Caller(prefix), "fleet", targets(prefix, 5))

    threads = [threading.Thread(target=submit, args=(f"{letter}",)) for letter in "abcdefgh"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    site.release()
    seen.wait_ended(9)
    names = [f"{letter}{number}" for letter in "abcdefgh" for number in range(1, 6)]
    assert sorted(site.ends) == sorted([*names, "held1"])
    for letter in "abcdefgh":
        numbers = [int(name[1:]) for name in site.starts if name in names and name[0] == letter]
        assert all(second == first + 1 for first, second in pairwise(numbers))
