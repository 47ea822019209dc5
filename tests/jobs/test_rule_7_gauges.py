"""Rule 7: the hooks are told the live jobs and the targets being fetched, whenever either changes."""

from __future__ import annotations

import threading
from itertools import pairwise

import pytest

from plait.jobs import Busy, Caller, Hooks, Result, RetryLater, Store, TargetError
from tests.jobs.conftest import StartRunner
from tests.jobs.observed import Observed
from tests.jobs.sites import PATIENCE, Site, targets, when_closing

ALICE, BOB = Caller("alice"), Caller("bob")


def test_rule_7_one_job_on_one_worker_is_told_step_by_step(store: Store, start: StartRunner, seen: Observed) -> None:
    runner = start(store)
    runner.submit(ALICE, "fleet", targets("a", 2))
    seen.wait_ended()
    seen.wait_for("depth", 2)
    runner.close()
    assert seen.names("inflight") == [("inflight", 1), ("inflight", 0)] * 2
    assert seen.names("depth") == [("depth", 1), ("depth", 0)]
    assert seen.names("inflight", "target", "job_seconds") == [
        ("inflight", 1),
        ("inflight", 0),
        ("target",),
        ("inflight", 1),
        ("inflight", 0),
        ("target",),
        ("job_seconds",),
    ]


def test_rule_7_depth_follows_every_submit_end_and_cancel(
    store: Store, start: StartRunner, site: Site, seen: Observed
) -> None:
    runner = start(store, jobs_total=3)
    site.hold("a1", "b1", "c1")
    runner.submit(ALICE, "fleet", targets("a", 1))
    site.wait_started("a1")
    second = runner.submit(ALICE, "fleet", targets("b", 1))
    runner.submit(ALICE, "fleet", targets("c", 1))
    assert seen.of("depth") == [1, 2, 3]
    with pytest.raises(Busy):
        runner.submit(BOB, "fleet", targets("d", 1))
    assert runner.submit(ALICE, "fleet", targets("c", 1)).reused
    assert seen.of("depth") == [1, 2, 3]
    runner.cancel(second.id)
    runner.cancel(second.id)
    assert seen.of("depth") == [1, 2, 3, 2]
    site.release()
    seen.wait_for("depth", 6)
    runner.close()
    assert seen.of("depth") == [1, 2, 3, 2, 1, 0]


def test_rule_7_depth_is_the_number_of_live_jobs_in_the_store_not_of_this_run(
    store: Store, start: StartRunner, site: Site, seen: Observed
) -> None:
    first = start(store, hooks=Hooks(), retry_wait=3600)
    site.answer("a1", RetryLater())
    first.submit(ALICE, "fleet", targets("a", 1))
    site.wait_ended("a1")
    first.close()
    second = start(store)
    site.hold("b1")
    second.submit(ALICE, "fleet", targets("b", 1))
    assert seen.of("depth")[-1] == 1


@pytest.mark.parametrize(
    "answer", [Result("x"), TargetError("no"), KeyError("bug"), SystemExit()], ids=["done", "failed", "panic", "exit"]
)
def test_rule_7_a_target_is_in_flight_while_it_is_fetched_whatever_it_comes_to(
    *, store: Store, start: StartRunner, site: Site, seen: Observed, answer: Result | BaseException
) -> None:
    runner = start(store)
    site.hold("a1")
    site.answer("a1", answer)
    runner.submit(ALICE, "fleet", targets("a", 1))
    site.wait_started("a1")
    assert seen.of("inflight") == [1]
    site.release()
    seen.wait_ended()
    assert seen.of("inflight") == [1, 0]


def test_rule_7_every_try_of_a_busy_target_is_in_flight(
    store: Store, start: StartRunner, site: Site, seen: Observed
) -> None:
    runner = start(store)
    site.answer("a1", RetryLater(), RetryLater(), Result("x"))
    runner.submit(ALICE, "fleet", targets("a", 1))
    seen.wait_ended()
    runner.close()
    assert seen.of("inflight") == [1, 0, 1, 0, 1, 0]
    assert seen.of("depth") == [1, 0]


def test_rule_7_a_target_that_ends_with_the_runner_is_in_flight_no_more(
    store: Store, start: StartRunner, site: Site, seen: Observed
) -> None:
    runner = start(store)
    site.answer("a1", when_closing(OSError("torn down")))
    runner.submit(ALICE, "fleet", targets("a", 1))
    site.wait_started("a1")
    runner.close()
    assert seen.of("inflight") == [1, 0]


def test_rule_7_two_workers_never_make_the_gauges_leave_their_range(
    store: Store, start: StartRunner, site: Site, seen: Observed
) -> None:
    runner = start(store, workers=2)
    site.hold("a1")
    for prefix in "abcdefgh":
        runner.submit(Caller(prefix), "fleet", targets(prefix, 8))
    site.release()
    seen.wait_ended(8)
    runner.close()
    inflight, depth = seen.of("inflight"), seen.of("depth")
    assert len(inflight) == 2 * 64
    assert set(inflight) <= {0, 1, 2}
    assert inflight[-1] == 0
    assert all(abs(later - earlier) == 1 for earlier, later in pairwise([0, *inflight]))
    assert depth[-1] == 0
    assert all(abs(later - earlier) == 1 for earlier, later in pairwise([0, *depth]))


def test_rule_7_submits_from_many_threads_are_told_in_the_order_of_the_changes(
    store: Store, start: StartRunner, site: Site, seen: Observed
) -> None:
    runner = start(store, workers=2)
    barrier = threading.Barrier(8)

    def submit(prefix: str) -> None:
        barrier.wait(PATIENCE)
        for number in range(5):
            made = runner.submit(Caller(prefix), "fleet", targets(f"{prefix}{number}-", 1))
            if number % 2:
                runner.cancel(made.id)

    threads = [threading.Thread(target=submit, args=(letter,)) for letter in "abcdefgh"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seen.wait_ended(40)
    runner.close()
    depth = seen.of("depth")
    assert len(depth) == 80
    assert all(abs(later - earlier) == 1 for earlier, later in pairwise([0, *depth]))
    assert depth[-1] == 0
    assert site.most_of_one_job == 1


def test_rule_7_a_hook_that_submits_is_told_of_its_own_job_too(
    store: Store, start: StartRunner, seen: Observed
) -> None:
    runner = start(store)
    more = [targets("b", 1)]

    def submit(live: int) -> None:
        if live and more:
            runner.submit(BOB, "fleet", more.pop())

    seen.react("depth", submit)
    runner.submit(ALICE, "fleet", targets("a", 1))
    seen.wait_ended(2)
    runner.close()
    assert seen.of("depth")[-1] == 0
    assert len(seen.of("depth")) == 4


def test_rule_7_gauges_are_told_even_if_no_other_hook_is_there(store: Store, start: StartRunner, site: Site) -> None:
    depth: list[int] = []
    inflight: list[int] = []
    only_depth = start(store, hooks=Hooks(depth=depth.append))
    only_depth.submit(ALICE, "fleet", targets("a", 1))
    site.wait_ended("a1")
    only_depth.close()
    only_inflight = start(store, hooks=Hooks(inflight=inflight.append))
    only_inflight.submit(ALICE, "fleet", targets("b", 1))
    site.wait_ended("b1")
    only_inflight.close()
    assert (depth, inflight) == ([1, 0], [1, 0])
