"""Rule 5: a cancel ends a job at once; its target in flight is stored, and nothing overwrites ``cancelled``."""

from __future__ import annotations

import threading
from collections import Counter

import pytest

from plait.jobs import Caller, JobStatus, Result, RetryLater, Runner, Store, TargetError
from tests.jobs.conftest import StartRunner
from tests.jobs.observed import Observed
from tests.jobs.sites import PATIENCE, Site, targets

ALICE, BOB = Caller("alice"), Caller("bob")


def found(runner: Runner, job_id: str) -> JobStatus:
    status = runner.status(job_id)
    assert status is not None
    return status


def target_statuses(runner: Runner, job_id: str) -> list[str]:
    return [each.status for each in found(runner, job_id).targets]


def let_the_worker_pass(runner: Runner, site: Site, seen: Observed, name: str = "pass") -> None:
    """Let the only worker do another job: whatever it was on before is over then."""
    site.hold(f"{name}1")
    runner.submit(Caller(name), "fleet", targets(name, 1))
    site.wait_started(f"{name}1")
    ended = len(seen.of("job_seconds"))
    site.release(f"{name}1")
    seen.wait_ended(ended + 1)


def test_rule_5_an_unknown_job_is_not_cancelled(store: Store, start: StartRunner, seen: Observed) -> None:
    runner = start(store)
    assert runner.cancel("0" * 32) is False
    assert runner.cancel("") is False
    assert seen.events == []


@pytest.mark.parametrize("answers", [[Result("x")] * 2, [TargetError("n")] * 2, [Result("x"), TargetError("n")]])
def test_rule_5_a_finished_job_is_not_cancelled(
    *, store: Store, start: StartRunner, site: Site, seen: Observed, answers: list[Result | TargetError]
) -> None:
    runner = start(store)
    for number, answer in enumerate(answers, 1):
        site.answer(f"a{number}", answer)
    made = runner.submit(ALICE, "fleet", targets("a", 2))
    seen.wait_ended()
    before = found(runner, made.id)
    assert runner.cancel(made.id) is False
    assert found(runner, made.id) == before
    assert len(seen.ended) == 1


def test_rule_5_a_cancelled_job_is_not_cancelled_again(
    store: Store, start: StartRunner, site: Site, seen: Observed
) -> None:
    runner = start(store)
    site.hold("a1")
    made = runner.submit(ALICE, "fleet", targets("a", 1))
    assert [runner.cancel(made.id) for _ in range(3)] == [True, False, False]
    assert seen.of("job") == ["created", "cancelled"]


def test_rule_5_a_queued_job_is_cancelled_and_none_of_its_targets_starts(
    store: Store, start: StartRunner, site: Site, seen: Observed
) -> None:
    runner = start(store)
    site.hold("a1")
    runner.submit(ALICE, "fleet", targets("a", 1))
    site.wait_started("a1")
    queued = runner.submit(BOB, "fleet", targets("b", 2))
    assert runner.cancel(queued.id) is True
    assert found(runner, queued.id).job.status == "cancelled"
    site.release()
    let_the_worker_pass(runner, site, seen)
    assert site.starts == ["a1", "pass1"]
    assert target_statuses(runner, queued.id) == ["pending", "pending"]
    assert found(runner, queued.id).job.targets_done == 0


@pytest.mark.parametrize(
    ("answer", "stored"), [(Result("in time"), "done"), (TargetError("no"), "failed"), (KeyError("bug"), "failed")]
)
def test_rule_5_the_target_in_flight_is_stored_and_later_ones_stay_pending(
    *, store: Store, start: StartRunner, site: Site, seen: Observed, answer: Result | Exception, stored: str
) -> None:
    runner = start(store)
    site.hold("a2")
    site.answer("a2", answer)
    made = runner.submit(ALICE, "fleet", targets("a", 4))
    site.wait_started("a2")
    assert runner.cancel(made.id) is True
    status = found(runner, made.id)
    assert (status.job.status, status.job.targets_done) == ("cancelled", 1)
    assert [each.status for each in status.targets] == ["done", "running", "pending", "pending"]
    site.release()
    let_the_worker_pass(runner, site, seen)
    status = found(runner, made.id)
    assert (status.job.status, status.job.targets_done) == ("cancelled", 2)
    assert [each.status for each in status.targets] == ["done", stored, "pending", "pending"]
    assert "a3" not in site.starts
    assert len(seen.of("target")) == 3
    assert seen.of("job").count("cancelled") == 1


def test_rule_5_a_cancel_does_not_cancel_the_context_of_the_target_in_flight(
    store: Store, start: StartRunner, site: Site
) -> None:
    runner = start(store)
    site.hold("a1")
    made = runner.submit(ALICE, "fleet", targets("a", 1))
    site.wait_started("a1")
    runner.cancel(made.id)
    assert not site.call_of("a1").context.cancelled


@pytest.mark.parametrize("answer", [Result("x"), TargetError("no")])
def test_rule_5_storing_the_last_target_does_not_overwrite_cancelled(
    *, store: Store, start: StartRunner, site: Site, seen: Observed, answer: Result | TargetError
) -> None:
    runner = start(store)
    site.hold("a2")
    site.answer("a2", answer)
    made = runner.submit(ALICE, "fleet", targets("a", 2))
    site.wait_started("a2")
    assert runner.cancel(made.id) is True
    site.release()
    let_the_worker_pass(runner, site, seen)
    status = found(runner, made.id)
    assert (status.job.status, status.job.targets_done, status.job.targets_total) == ("cancelled", 2, 2)
    assert seen.of("job") == ["created", "cancelled", "created", "done"]
    assert len(seen.of("job_seconds")) == 2


def test_rule_5_a_busy_target_in_flight_is_pending_after_a_cancel(
    store: Store, start: StartRunner, site: Site, seen: Observed
) -> None:
    runner = start(store)
    site.hold("a1")
    site.answer("a1", RetryLater())
    made = runner.submit(ALICE, "fleet", targets("a", 2))
    site.wait_started("a1")
    runner.cancel(made.id)
    site.release()
    let_the_worker_pass(runner, site, seen)
    assert target_statuses(runner, made.id) == ["pending", "pending"]
    assert site.starts == ["a1", "pass1"]


def test_rule_5_a_job_whose_target_waits_to_be_tried_again_is_cancelled(
    store: Store, start: StartRunner, site: Site, seen: Observed
) -> None:
    runner = start(store, retry_wait=3600)
    site.answer("a1", RetryLater())
    made = runner.submit(ALICE, "fleet", targets("a", 1))
    let_the_worker_pass(runner, site, seen)
    assert runner.cancel(made.id) is True
    assert (found(runner, made.id).job.status, target_statuses(runner, made.id)) == ("cancelled", ["pending"])
    assert seen.of("depth")[-1] == 0


def test_rule_5_a_cancel_from_the_hook_of_a_stored_target_starts_no_further_target(
    store: Store, start: StartRunner, site: Site, seen: Observed
) -> None:
    runner = start(store)
    ids: list[str] = []
    answers: list[bool] = []
    submitted = threading.Event()

    def cancel(*_: object) -> None:
        submitted.wait(PATIENCE)
        answers.append(runner.cancel(ids[0]))

    seen.react("target", cancel)
    ids.append(runner.submit(ALICE, "fleet", targets("a", 3)).id)
    submitted.set()
    seen.wait_ended()
    let_the_worker_pass(runner, site, seen)
    assert answers == [True, False]
    assert site.starts == ["a1", "pass1"]
    assert target_statuses(runner, ids[0]) == ["done", "pending", "pending"]
    assert seen.names("job", "target", "job_seconds")[:4] == [
        ("job", "created"),
        ("target",),
        ("job", "cancelled"),
        ("job_seconds",),
    ]


def test_rule_5_a_cancel_from_within_the_fetch_func_lets_that_target_be_stored(
    store: Store, start: StartRunner, site: Site, seen: Observed
) -> None:
    runner = start(store)
    site.answer("a1", lambda *_: Result(str(runner.cancel(site.calls[-1].job))))
    made = runner.submit(ALICE, "fleet", targets("a", 2))
    seen.wait_ended()
    let_the_worker_pass(runner, site, seen)
    status = found(runner, made.id)
    assert status.targets[0].result == Result("True")
    assert [each.status for each in status.targets] == ["done", "pending"]
    assert site.starts == ["a1", "pass1"]


def test_rule_5_a_cancel_from_the_created_hook_ends_the_job_before_it_begins(
    store: Store, start: StartRunner, site: Site, seen: Observed
) -> None:
    runner = start(store)
    site.hold("first1")
    runner.submit(BOB, "fleet", targets("first", 1))
    site.wait_started("first1")
    wanted = targets("a", 2)

    def cancel(outcome: str) -> None:
        if outcome == "created":
            seen.react("job", lambda _: None)
            runner.cancel(runner.submit(ALICE, "fleet", wanted).id)

    seen.react("job", cancel)
    made = runner.submit(ALICE, "fleet", wanted)
    site.release()
    let_the_worker_pass(runner, site, seen)
    assert found(runner, made.id).job.status == "cancelled"
    assert "a1" not in site.starts
    told = seen.of("job")
    assert told.index("cancelled") > 1
    assert Counter(told) == {"created": 3, "reused": 1, "cancelled": 1, "done": 2}


def test_rule_5_other_jobs_go_on_in_their_order_after_a_cancel(
    store: Store, start: StartRunner, site: Site, seen: Observed
) -> None:
    runner = start(store)
    site.hold("a1", "b1")
    runner.submit(ALICE, "fleet", targets("a", 2))
    site.wait_started("a1")
    middle = runner.submit(BOB, "fleet", targets("b", 2))
    site.release("a1")
    site.wait_started("b1")
    runner.submit(Caller("carol"), "fleet", targets("c", 2))
    runner.cancel(middle.id)
    site.release()
    seen.wait_ended(3)
    assert site.starts == ["a1", "b1", "c1", "a2", "c2"]


@pytest.mark.parametrize("workers", [1, 2])
def test_rule_5_of_a_cancel_and_a_last_target_at_once_one_wins_and_all_agree(
    store: Store, start: StartRunner, site: Site, seen: Observed, workers: int
) -> None:
    runner = start(store, workers=workers)
    barrier = threading.Barrier(2)

    def finish(*_: object) -> Result:
        barrier.wait(PATIENCE)
        return Result("x")

    won: Counter[bool] = Counter()
    for number in range(1, 101):
        site.answer(f"{number}-2", finish)
        made = runner.submit(ALICE, "fleet", targets(f"{number}-", 2))
        site.wait_started(f"{number}-2")
        barrier.wait(PATIENCE)
        cancelled = runner.cancel(made.id)
        seen.wait_for("target", 2 * number)
        seen.wait_ended(number)
        won[cancelled] += 1
        status = found(runner, made.id)
        assert status.job.status == ("cancelled" if cancelled else "done")
        assert [each.status for each in status.targets] == ["done", "done"]
        assert seen.ended[number - 1 :] == [status.job.status]
    assert won.total() == 100
    assert len(seen.of("job_seconds")) == 100
    assert seen.of("depth")[-1] == 0


def test_rule_5_of_a_cancel_and_a_next_target_at_once_the_cancel_lets_none_start_after_it(
    store: Store, start: StartRunner, site: Site, seen: Observed
) -> None:
    runner = start(store)
    barrier = threading.Barrier(2)

    def pass_on(*_: object) -> Result:
        barrier.wait(PATIENCE)
        return Result("x")

    for number in range(1, 51):
        site.answer(f"{number}-1", pass_on)
        made = runner.submit(ALICE, "fleet", targets(f"{number}-", 5))
        barrier.wait(PATIENCE)
        if not runner.cancel(made.id):
            continue
        running = target_statuses(runner, made.id).count("running")
        assert running <= 1
        let_the_worker_pass(runner, site, seen, f"pass{number}-")
        status = found(runner, made.id)
        begun = sum(name.startswith(f"{number}-") for name in site.starts)
        assert status.job.status == "cancelled"
        assert [each.status for each in status.targets] == ["done"] * begun + ["pending"] * (5 - begun)
        assert status.job.targets_done == begun


def test_rule_5_of_many_cancels_at_once_exactly_one_says_yes(
    store: Store, start: StartRunner, site: Site, seen: Observed
) -> None:
    runner = start(store)
    site.hold("a1")
    made = runner.submit(ALICE, "fleet", targets("a", 1))
    barrier = threading.Barrier(16)
    answers: list[bool] = []

    def cancel() -> None:
        barrier.wait(PATIENCE)
        answers.append(runner.cancel(made.id))

    threads = [threading.Thread(target=cancel) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Counter(answers) == {True: 1, False: 15}
    assert seen.ended == ["cancelled"]


def test_rule_5_a_job_of_a_closed_runner_can_still_be_cancelled(
    store: Store, start: StartRunner, site: Site, seen: Observed
) -> None:
    runner = start(store, retry_wait=3600)
    site.answer("a1", RetryLater())
    made = runner.submit(ALICE, "fleet", targets("a", 1))
    site.wait_ended("a1")
    runner.close()
    assert runner.cancel(made.id) is True
    assert seen.ended == ["cancelled"]
