"""Waiting for a job's end, and reading a long job piece by piece."""

from __future__ import annotations

import threading

import pytest

from plait.jobs import Caller, JobStatus, RetryLater, Runner, Store, UnknownJob
from tests.jobs.conftest import StartRunner
from tests.jobs.observed import Observed
from tests.jobs.sites import PATIENCE, Site, targets

ALICE = Caller("alice")


def waiting(runner: Runner, job_id: str) -> tuple[threading.Thread, list[JobStatus]]:
    """A thread that waits for a job, and what it gets."""
    got: list[JobStatus] = []
    thread = threading.Thread(target=lambda: got.append(runner.wait(job_id, PATIENCE)))
    thread.start()
    return thread, got


def test_a_wait_ends_with_the_job(store: Store, start: StartRunner, site: Site) -> None:
    runner = start(store)
    site.hold("a1")
    made = runner.submit(ALICE, "fleet", targets("a", 2))
    thread, got = waiting(runner, made.id)
    site.release()
    thread.join(PATIENCE)
    assert [status.job.status for status in got] == ["done"]
    assert got[0].job.targets_done == 2


def test_a_wait_ends_with_a_cancel_even_if_nothing_else_happens(
    store: Store, start: StartRunner, site: Site, seen: Observed
) -> None:
    runner = start(store, retry_wait=3600)
    site.answer("a1", RetryLater())
    made = runner.submit(ALICE, "fleet", targets("a", 1))
    site.wait_ended("a1")
    thread, got = waiting(runner, made.id)
    runner.cancel(made.id)
    thread.join(PATIENCE / 2)
    assert [status.job.status for status in got] == ["cancelled"]


def test_a_wait_ends_when_the_runner_closes_with_the_job_as_it_stands(
    store: Store, start: StartRunner, site: Site
) -> None:
    runner = start(store, retry_wait=3600)
    site.answer("a1", RetryLater())
    made = runner.submit(ALICE, "fleet", targets("a", 1))
    site.wait_ended("a1")
    thread, got = waiting(runner, made.id)
    runner.close()
    thread.join(PATIENCE / 2)
    assert [status.job.status for status in got] == ["running"]


def test_a_wait_ends_with_its_time_and_tells_how_the_job_stands(store: Store, start: StartRunner, site: Site) -> None:
    runner = start(store)
    site.hold("a1")
    made = runner.submit(ALICE, "fleet", targets("a", 1))
    site.wait_started("a1")
    assert runner.wait(made.id, 0.0).job.status == "running"
    assert runner.wait(made.id, 0.01).job.status == "running"


def test_a_wait_for_a_finished_job_is_over_at_once(store: Store, start: StartRunner) -> None:
    runner = start(store)
    made = runner.submit(ALICE, "fleet", targets("a", 1))
    assert runner.wait(made.id, PATIENCE) == runner.wait(made.id)


def test_nobody_waits_for_a_job_that_is_not_there(store: Store, start: StartRunner) -> None:
    with pytest.raises(UnknownJob, match="there is no such job"):
        start(store).wait("0" * 32)


def test_a_long_job_is_read_piece_by_piece(store: Store, start: StartRunner) -> None:
    runner = start(store)
    made = runner.submit(ALICE, "fleet", targets("a", 7))
    whole = runner.wait(made.id, PATIENCE).targets
    pieces = [runner.targets(made.id, first, 3) or [] for first in (0, 3, 6, 7)]
    assert [[target.idx for target in piece] for piece in pieces] == [[0, 1, 2], [3, 4, 5], [6], []]
    assert [target for piece in pieces for target in piece] == whole
    assert runner.targets(made.id) == whole


def test_a_piece_of_a_job_that_is_not_there_is_none(store: Store, start: StartRunner) -> None:
    assert start(store).targets("0" * 32) is None


@pytest.mark.parametrize(("first", "limit"), [(-1, 1), (0, -1)])
def test_a_piece_that_begins_or_ends_before_the_job_is_refused(
    store: Store, start: StartRunner, first: int, limit: int
) -> None:
    with pytest.raises(ValueError, match="must be 0 or more"):
        start(store).targets("0" * 32, first, limit)
