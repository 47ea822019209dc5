"""Rule 8: a store that fails is logged with the job's id, and the job goes on."""

from __future__ import annotations

import sqlite3
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from plait.jobs import (
    Caller,
    Config,
    JobStatus,
    Result,
    RetryLater,
    Runner,
    Store,
    StoreError,
    Submission,
    Target,
    TargetError,
)
from tests.jobs.conftest import StartRunner
from tests.jobs.faults import BreakingConnection, Fault, breaking, locked, refuse, relent, set_pragma
from tests.jobs.observed import TERMINAL, Clock, Listener, Observed
from tests.jobs.sites import PATIENCE, Site, targets

ALICE, BOB = Caller("alice", "loft", "5ec2e7" * 10), Caller("bob")
UNSTORED = "cannot store an outcome"


def found(runner: Runner, job_id: str) -> JobStatus:
    status = runner.status(job_id)
    assert status is not None
    return status


def submit_again(runner: Runner, caller: Caller, wanted: list[Target]) -> Submission:
    """Submit as a client does that is told to try again."""
    for _ in range(5):
        try:
            return runner.submit(caller, "fleet", wanted)
        except StoreError:
            continue
    raise AssertionError("the store failed five times")


def wait_terminal(runner: Runner, seen: Observed, job_id: str) -> str:
    seen.wait_until(lambda: found(runner, job_id).job.status in TERMINAL, f"end of a job: {runner.status(job_id)}")
    return found(runner, job_id).job.status


# --- every statement fails once


class Runs:
    """Runs of a few jobs on one runner, each with another statement that fails."""

    def __init__(self, runner: Runner, store: Store, site: Site, seen: Observed) -> None:
        self._runner = runner
        self._database: Any = store._database
        self._store = store
        self._site = site
        self._seen = seen
        self.broken: list[str] = []

    def arm(self, fault: Callable[[int, str], Fault]) -> BreakingConnection:
        """Let statements fail from now on; the connection may have been replaced in the last run."""
        with self._database._lock:
            writer = self._database._writer
            if isinstance(writer, BreakingConnection):
                self._database._writer = writer.real
        return breaking(self._store, fault)

    def run(self, number: int, jobs: int, fault: Callable[[int, str], Fault]) -> list[Submission]:
        """Submit jobs of two targets under a fault, wait for their end and check what must hold in any case."""
        told = len(self._seen.events)
        connection = self.arm(fault)
        names = [f"{number}{'abc'[job]}" for job in range(jobs)]
        made = [submit_again(self._runner, Caller(name), targets(name, 2)) for name in names]
        self._seen.wait_until(
            lambda: self._told(told, "job_seconds") >= jobs and self._told(told, "target") >= 2 * jobs,
            f"end of the jobs after {connection.broken} failed: {[self._runner.status(each.id) for each in made]}",
        )
        self.broken = connection.broken
        started = Counter(self._site.starts)
        assert {name: started[name] for each in names for name in (f"{each}1", f"{each}2")} == {
            name: 1 for each in names for name in (f"{each}1", f"{each}2")
        }, connection.broken
        assert self._told(told, "target") == 2 * jobs, connection.broken
        assert self._told(told, "job_seconds") == jobs, connection.broken
        assert self._seen.ended[-jobs:] == ["done"] * jobs, connection.broken
        return made

    def _told(self, since: int, name: str) -> int:
        return sum(event[0] == name for event in self._seen.events[since:])


@pytest.mark.parametrize(("jobs", "width"), [(1, 1), (2, 1), (1, 2)])
def test_rule_8_whichever_statement_fails_each_target_is_fetched_once_and_stored_once(
    *, file_store: Store, start: StartRunner, site: Site, seen: Observed, jobs: int, width: int
) -> None:
    runs = Runs(start(file_store, max_bytes=1), file_store, site, seen)
    broken: list[str] = []
    for number in range(1, 200):
        made = runs.run(number, jobs, lambda n, _, first=number: "instead" if first <= n < first + width else "")  # type: ignore[misc]  # mypy cannot infer a lambda with a default
        assert [submission.reused for submission in made] == [False] * jobs
        if not runs.broken:
            break
        broken += runs.broken
    beginnings = {" ".join(sql.split()[:3]) for sql in broken}
    assert beginnings >= {
        "BEGIN IMMEDIATE",
        "INSERT INTO plait_jobs",
        "INSERT INTO plait_targets",
        "UPDATE plait_jobs SET",
        "UPDATE plait_targets SET",
        "DELETE FROM plait_jobs",
        "COMMIT",
    }
    assert ("ROLLBACK" in beginnings) == (width == 2)
    assert Counter(seen.of("job"))["created"] == len(seen.ended)
    assert seen.of("depth")[-1] == 0
    assert seen.of("inflight")[-1] == 0


@pytest.mark.parametrize("jobs", [1, 2])
def test_rule_8_whichever_commit_succeeds_but_seems_to_fail_each_target_is_fetched_once_and_stored_once(
    *, file_store: Store, start: StartRunner, site: Site, seen: Observed, jobs: int
) -> None:
    runs = Runs(start(file_store), file_store, site, seen)
    for number in range(1, 60):
        commits = iter(range(1, 10_000))

        def seems_to_fail(_n: int, sql: str, first: int = number, commits: Any = commits) -> Fault:
            return "after" if sql == "COMMIT" and next(commits) == first else ""

        runs.run(number, jobs, seems_to_fail)
        if not runs.broken:
            break
    assert runs.broken == []
    assert number > 5


class SeemingFailure:
    """Lets the commit of one kind of transaction succeed and seem to fail, once.

    Args:
        part: What one of its statements holds.
    """

    def __init__(self, part: str) -> None:
        self._part = part
        self._met = False
        self.happened = False

    def __call__(self, _number: int, sql: str) -> Fault:
        """Whether this statement fails."""
        if sql.startswith("BEGIN"):
            self._met = False
        self._met = self._met or self._part in sql
        if self.happened or sql != "COMMIT" or not self._met:
            return ""
        self.happened = True
        return "after"


@pytest.mark.parametrize("count", [1, 2])
def test_rule_8_a_job_goes_on_after_an_outcome_whose_storing_only_seemed_to_fail(
    *, file_store: Store, start: StartRunner, site: Site, seen: Observed, count: int
) -> None:
    runner = start(file_store)
    failure = SeemingFailure("UPDATE plait_targets")
    breaking(file_store, failure)
    made = runner.submit(ALICE, "fleet", targets("a", count))
    assert wait_terminal(runner, seen, made.id) == "done"
    seen.wait_ended()
    seen.wait_for("target", count)
    assert failure.happened
    assert site.starts == [f"a{number}" for number in range(1, count + 1)]
    assert seen.of("target") == [None] * count
    assert seen.of("job") == ["created", "done"]


def test_rule_8_no_target_is_fetched_twice_when_an_earlier_ones_storing_only_seemed_to_fail(
    file_store: Store, start: StartRunner, site: Site, seen: Observed
) -> None:
    runner = start(file_store, workers=2)
    site.hold("a1", "a2", "b1")
    made = runner.submit(ALICE, "fleet", targets("a", 3))
    site.wait_started("a1")
    other = runner.submit(BOB, "fleet", targets("b", 2))
    site.wait_started("b1")
    connection = breaking(file_store, SeemingFailure("UPDATE plait_targets"))
    site.release("a1")
    site.wait_started("a2")
    seen.wait_for("target")  # a1 was stored again, while a2 is under way
    connection.restart(SeemingFailure("UPDATE plait_targets"))
    site.release("b1")  # the runner looks once more for turns that it may have forgotten
    assert wait_terminal(runner, seen, other.id) == "done"
    site.release()
    assert wait_terminal(runner, seen, made.id) == "done"
    assert Counter(site.starts) == {"a1": 1, "a2": 1, "a3": 1, "b1": 1, "b2": 1}


def test_rule_8_a_turn_whose_taking_only_seemed_to_fail_is_taken_again(
    file_store: Store, start: StartRunner, site: Site, seen: Observed
) -> None:
    runner = start(file_store)
    failure = SeemingFailure("turn_epoch")
    breaking(file_store, failure)
    runner.submit(ALICE, "fleet", targets("a", 2))
    seen.wait_ended()
    assert failure.happened
    assert (site.starts, seen.ended) == (["a1", "a2"], ["done"])


# --- what was fetched is stored once the store is healed


@pytest.mark.parametrize(
    ("table", "when"),
    [
        ("plait_jobs", "1"),
        ("plait_jobs", "NEW.targets_done > OLD.targets_done"),
        ("plait_jobs", "NEW.status = 'done'"),
        ("plait_targets", "1"),
        ("plait_targets", "NEW.status = 'done'"),
    ],
)
def test_rule_8_an_outcome_that_the_store_refuses_is_stored_once_it_takes_it(
    *,
    file_store: Store,
    path: Path,
    start: StartRunner,
    site: Site,
    seen: Observed,
    log: Listener,
    table: str,
    when: str,
) -> None:
    runner = start(file_store)
    site.hold("a1")
    made = runner.submit(ALICE, "fleet", targets("a", 1))
    site.wait_started("a1")
    refuse(path, table, "UPDATE", when)
    site.release()
    log.wait_for(UNSTORED, 2)
    status = found(runner, made.id)
    assert (status.job.status, status.job.targets_done, status.targets[0].status) == ("running", 0, "running")
    assert seen.of("target") == []
    relent(path)
    seen.wait_ended()
    assert found(runner, made.id).targets[0].result == Result("a1")
    assert site.starts == ["a1"]
    assert seen.names("job", "target", "job_seconds") == [
        ("job", "created"),
        ("target",),
        ("job", "done"),
        ("job_seconds",),
    ]


@pytest.mark.parametrize(
    "answer", [Result("x"), TargetError("no", "hint"), KeyError("bug")], ids=["done", "failed", "bug"]
)
def test_rule_8_whatever_a_target_comes_to_is_kept_while_the_store_refuses_it(
    *,
    file_store: Store,
    path: Path,
    start: StartRunner,
    site: Site,
    seen: Observed,
    log: Listener,
    answer: Result | Exception,
) -> None:
    runner = start(file_store)
    site.hold("a1")
    site.answer("a1", answer)
    made = runner.submit(ALICE, "fleet", targets("a", 2))
    site.wait_started("a1")
    refuse(path, "plait_targets", "UPDATE")
    site.release()
    log.wait_for(UNSTORED)
    relent(path)
    seen.wait_ended()
    first = found(runner, made.id).targets[0]
    if isinstance(answer, Result):
        assert first.result == answer
    else:
        assert first.error in {"no", "internal error"}
        assert first.hint in {"hint", ""}
    assert site.starts == ["a1", "a2"]
    assert len(seen.of("target")) == 2


def test_rule_8_a_busy_target_that_cannot_be_put_back_is_tried_again_once_it_can(
    *, file_store: Store, path: Path, start: StartRunner, site: Site, seen: Observed, log: Listener
) -> None:
    runner = start(file_store)
    site.hold("a1")
    site.answer("a1", RetryLater(), Result("x"))
    runner.submit(ALICE, "fleet", targets("a", 1))
    site.wait_started("a1")
    refuse(path, "plait_jobs", "UPDATE")
    site.release()
    log.wait_for(UNSTORED, 2)
    assert site.starts == ["a1"]
    relent(path)
    seen.wait_ended()
    assert (site.starts, seen.ended) == (["a1", "a1"], ["done"])


@pytest.mark.parametrize("workers", [1, 2])
def test_rule_8_other_jobs_go_on_while_an_outcome_cannot_be_stored(
    *,
    file_store: Store,
    path: Path,
    start: StartRunner,
    site: Site,
    seen: Observed,
    log: Listener,
    workers: int,
) -> None:
    runner = start(file_store, workers=workers)
    site.hold("a1")
    kept = runner.submit(ALICE, "fleet", targets("a", 2))
    site.wait_started("a1")
    refuse(path, "plait_targets", "UPDATE", "NEW.url LIKE '%/a1'")
    runner.submit(BOB, "fleet", targets("b", 5))
    site.release()
    log.wait_for(UNSTORED)
    seen.wait_ended()
    assert seen.ended == ["done"]
    assert found(runner, kept.id).job.targets_done == 0
    runner.submit(BOB, "fleet", targets("c", 5))
    seen.wait_ended(2)
    assert "a2" not in site.starts
    relent(path)
    seen.wait_ended(3)
    assert Counter(site.starts).most_common(1)[0][1] == 1
    assert seen.ended == ["done"] * 3


def test_rule_8_several_outcomes_of_several_jobs_are_kept_at_once(
    *, file_store: Store, path: Path, start: StartRunner, site: Site, seen: Observed, log: Listener
) -> None:
    runner = start(file_store)
    refuse(path, "plait_targets", "UPDATE")
    ids = [runner.submit(Caller(prefix), "fleet", targets(prefix, 1)).id for prefix in "abcd"]
    for job_id in ids:
        log.wait_for(f"job {job_id}: {UNSTORED}")
    assert sorted(site.starts) == ["a1", "b1", "c1", "d1"]
    relent(path)
    seen.wait_ended(4)
    assert sorted(site.starts) == ["a1", "b1", "c1", "d1"]
    assert seen.ended == ["done"] * 4


def test_rule_8_a_job_can_be_cancelled_while_its_outcome_cannot_be_stored(
    *, file_store: Store, path: Path, start: StartRunner, site: Site, seen: Observed, log: Listener
) -> None:
    runner = start(file_store)
    refuse(path, "plait_targets", "UPDATE")
    made = runner.submit(ALICE, "fleet", targets("a", 1))
    log.wait_for(UNSTORED)
    assert runner.cancel(made.id) is True
    relent(path)
    seen.wait_for("target")
    status = found(runner, made.id)
    assert (status.job.status, status.targets[0].status) == ("cancelled", "done")
    assert (seen.of("job"), site.starts) == (["created", "cancelled"], ["a1"])


def test_rule_8_an_outcome_is_stored_when_another_connection_gives_the_lock_back(
    *, file_store: Store, path: Path, start: StartRunner, site: Site, seen: Observed, log: Listener
) -> None:
    set_pragma(file_store, "busy_timeout = 0")
    runner = start(file_store)
    site.hold("a1")
    made = runner.submit(ALICE, "fleet", targets("a", 2))
    site.wait_started("a1")
    with locked(path):
        site.release()
        log.wait_for(f"job {made.id}: {UNSTORED}, attempt 2: SQLITE_BUSY")
        assert found(runner, made.id).targets[0].status == "running"
        with pytest.raises(StoreError, match="another process holds its write lock; try again"):
            runner.submit(BOB, "fleet", targets("b", 1))
        with pytest.raises(StoreError, match="cannot cancel the job"):
            runner.cancel(made.id)
    seen.wait_ended()
    assert (site.starts, seen.ended) == (["a1", "a2"], ["done"])


def test_rule_8_a_lock_that_is_held_for_less_than_the_patience_of_sqlite_is_not_noticed(
    *, file_store: Store, path: Path, start: StartRunner, site: Site, seen: Observed, log: Listener
) -> None:
    runner = start(file_store)
    site.hold("a1")
    runner.submit(ALICE, "fleet", targets("a", 2))
    site.wait_started("a1")
    with locked(path):
        site.release()
        site.wait_ended("a1")
    seen.wait_ended()
    assert (log.messages, seen.ended) == ([], ["done"])


def test_rule_8_an_outcome_is_stored_when_a_full_disk_has_room_again(
    *, file_store: Store, start: StartRunner, site: Site, seen: Observed, log: Listener
) -> None:
    runner = start(file_store)
    site.hold("a1")
    big = Result("x" * 500_000)
    site.answer("a1", big)
    made = runner.submit(ALICE, "fleet", targets("a", 2))
    site.wait_started("a1")
    set_pragma(file_store, f"max_page_count = {set_pragma(file_store, 'page_count')}")
    site.release()
    log.wait_for(f"job {made.id}: {UNSTORED}, attempt 2: SQLITE_FULL")
    set_pragma(file_store, "max_page_count = 1000000")
    seen.wait_ended()
    assert found(runner, made.id).targets[0].result == big
    assert (site.starts, seen.ended) == (["a1", "a2"], ["done"])


def test_rule_8_a_full_disk_leaves_the_live_jobs_counted_right(
    *, file_store: Store, start: StartRunner, site: Site, seen: Observed, log: Listener
) -> None:
    runner = start(file_store, jobs_total=2)
    site.hold("a1")
    site.answer("a1", Result("x" * 500_000))
    runner.submit(ALICE, "fleet", targets("a", 1))
    site.wait_started("a1")
    set_pragma(file_store, f"max_page_count = {set_pragma(file_store, 'page_count')}")
    with pytest.raises(StoreError, match="the disk is full; make room"):
        runner.submit(BOB, "fleet", [Target("x" * 60_000) for _ in range(30)])
    site.release()
    log.wait_for("SQLITE_FULL")
    set_pragma(file_store, "max_page_count = 1000000")
    seen.wait_ended()
    runner.submit(BOB, "fleet", targets("b", 1))
    seen.wait_ended(2)
    runner.close()
    assert seen.of("depth") == [1, 0, 1, 0]


# --- taking a turn


def test_rule_8_a_worker_that_cannot_take_a_turn_takes_it_later(
    *, file_store: Store, path: Path, start: StartRunner, site: Site, seen: Observed, log: Listener
) -> None:
    runner = start(file_store)
    refuse(path, "plait_jobs", "UPDATE", "NEW.turn_owner IS NOT NULL")
    made = runner.submit(ALICE, "fleet", targets("a", 2))
    log.wait_for("cannot take a turn: SQLITE_CONSTRAINT_TRIGGER", 2)
    assert found(runner, made.id).job.status == "queued"
    relent(path)
    seen.wait_ended()
    assert (site.starts, seen.ended) == (["a1", "a2"], ["done"])


def test_rule_8_an_outcome_is_stored_even_if_the_next_turn_cannot_be_taken(
    *, file_store: Store, path: Path, start: StartRunner, site: Site, seen: Observed, log: Listener
) -> None:
    runner = start(file_store)
    site.hold("a1")
    made = runner.submit(ALICE, "fleet", targets("a", 2))
    site.wait_started("a1")
    refuse(path, "plait_jobs", "UPDATE", "OLD.turn_owner IS NULL")
    site.release()
    log.wait_for(UNSTORED)
    seen.wait_for("target")
    assert found(runner, made.id).targets[0].status == "done"
    relent(path)
    seen.wait_ended()
    assert (site.starts, seen.ended) == (["a1", "a2"], ["done"])


def test_rule_8_other_jobs_go_on_while_the_turn_of_one_cannot_be_taken(
    *, file_store: Store, path: Path, start: StartRunner, site: Site, seen: Observed, log: Listener
) -> None:
    runner = start(file_store)
    site.hold("first1")
    runner.submit(ALICE, "fleet", targets("first", 1))
    site.wait_started("first1")
    stuck = runner.submit(ALICE, "fleet", targets("stuck", 1))
    other = runner.submit(BOB, "fleet", targets("other", 2))
    refuse(path, "plait_jobs", "UPDATE", f"NEW.turn_owner IS NOT NULL AND NEW.id = '{stuck.id}'")
    site.release()
    log.wait_for("SQLITE_CONSTRAINT_TRIGGER")
    assert wait_terminal(runner, seen, other.id) == "done"
    relent(path)
    assert wait_terminal(runner, seen, stuck.id) == "done"
    assert Counter(site.starts).most_common(1)[0][1] == 1


def test_rule_8_a_target_that_cannot_be_read_makes_no_other_be_fetched_again(
    *, file_store: Store, path: Path, start: StartRunner, site: Site, seen: Observed
) -> None:
    runner = start(file_store)
    site.hold("a1")
    first = runner.submit(ALICE, "fleet", targets("a", 2))
    site.wait_started("a1")
    runner.submit(BOB, "fleet", targets("unreadable", 1))
    third = runner.submit(BOB, "fleet", targets("c", 2))
    with closing(sqlite3.connect(path)) as second, second:
        second.execute("UPDATE plait_targets SET options = '{\"of a newer release\": 1}' WHERE url LIKE '%unreadable1'")
    site.release()
    assert wait_terminal(runner, seen, first.id) == "done"
    assert wait_terminal(runner, seen, third.id) == "done"
    assert Counter(name for name in site.starts if name != "unreadable1") == {"a1": 1, "a2": 1, "c1": 1, "c2": 1}


def test_rule_8_a_turn_that_cannot_be_given_back_is_given_back_later(
    *, file_store: Store, path: Path, start: StartRunner, site: Site, seen: Observed, log: Listener
) -> None:
    runner = start(file_store)

    def cancel_and_refuse(*_: object) -> None:
        if seen.ended == []:
            runner.cancel(site.calls[0].job)
            refuse(path, "plait_jobs", "UPDATE")

    seen.react("target", cancel_and_refuse)
    made = runner.submit(ALICE, "fleet", targets("a", 3))
    log.wait_for(f"job {made.id}: cannot put a target back: SQLITE_CONSTRAINT_TRIGGER")
    relent(path)
    runner.submit(BOB, "fleet", targets("b", 1))
    seen.wait_ended(2)
    status = found(runner, made.id)
    assert (status.job.status, [each.status for each in status.targets]) == (
        "cancelled",
        ["done", "pending", "pending"],
    )
    assert site.starts == ["a1", "b1"]


# --- submit, cancel, status


@pytest.mark.parametrize(
    ("table", "when"), [("plait_jobs", "1"), ("plait_targets", "1"), ("plait_targets", "NEW.idx = 2")]
)
def test_rule_8_a_submit_that_fails_leaves_nothing_half_stored(
    *, file_store: Store, path: Path, start: StartRunner, site: Site, seen: Observed, table: str, when: str
) -> None:
    runner = start(file_store, jobs_per_caller=1, jobs_total=1)
    refuse(path, table, "INSERT", when)
    for _ in range(3):
        with pytest.raises(StoreError, match=r"cannot submit the job in store 'plait.db'"):
            runner.submit(ALICE, "fleet", targets("a", 3))
    with closing(sqlite3.connect(path)) as second:
        assert second.execute("SELECT count(*) FROM plait_jobs").fetchone() == (0,)
        assert second.execute("SELECT count(*) FROM plait_targets").fetchone() == (0,)
    assert seen.events == []
    relent(path)
    assert not runner.submit(ALICE, "fleet", targets("a", 3)).reused
    seen.wait_ended()
    runner.close()
    assert site.starts == ["a1", "a2", "a3"]
    assert seen.of("job") == ["created", "done"]
    assert seen.of("depth") == [1, 0]


def test_rule_8_a_job_whose_submit_seemed_to_fail_is_done_when_it_is_submitted_again(
    file_store: Store, start: StartRunner, site: Site, seen: Observed
) -> None:
    runner = start(file_store)
    runner.submit(BOB, "fleet", targets("warm", 1))
    seen.wait_ended()
    connection = breaking(file_store, lambda _, sql: "after" if sql == "COMMIT" else "")
    with suppress(StoreError):  # or it finds out that the job was stored
        runner.submit(ALICE, "fleet", targets("a", 1))
    connection.restart(lambda *_: "")
    made = runner.submit(ALICE, "fleet", targets("a", 1))
    assert wait_terminal(runner, seen, made.id) == "done"
    assert site.starts == ["warm1", "a1"]
    assert site.call_of("a1").caller == ALICE


def test_rule_8_an_outcome_whose_commit_only_seemed_to_fail_is_told_before_its_job_goes_on(
    file_store: Store, start: StartRunner, site: Site, seen: Observed
) -> None:
    runner = start(file_store)
    site.hold("a1")
    runner.submit(ALICE, "fleet", targets("a", 3))
    site.wait_started("a1")
    connection = breaking(file_store, lambda _, sql: "after" if sql == "COMMIT" and not connection.broken else "")
    site.release()
    seen.wait_ended()
    runner.close()
    assert connection.broken == ["COMMIT"]
    assert site.starts == ["a1", "a2", "a3"]
    assert seen.names("job", "target") == [("job", "created"), ("target",), ("target",), ("target",), ("job", "done")]


def test_rule_8_a_cancel_that_fails_changes_nothing(
    *, file_store: Store, path: Path, start: StartRunner, site: Site, seen: Observed
) -> None:
    runner = start(file_store)
    site.hold("a1")
    made = runner.submit(ALICE, "fleet", targets("a", 2))
    site.wait_started("a1")
    refuse(path, "plait_jobs", "UPDATE", "NEW.status = 'cancelled'")
    with pytest.raises(StoreError, match="cannot cancel the job"):
        runner.cancel(made.id)
    assert found(runner, made.id).job.status == "running"
    assert seen.of("job") == ["created"]
    site.release()
    seen.wait_ended()
    assert (seen.ended, site.starts) == (["done"], ["a1", "a2"])
    assert site.call_of("a2").caller == ALICE


def test_rule_8_a_cancel_that_only_seemed_to_fail_is_told_when_it_is_asked_again(
    file_store: Store, start: StartRunner, site: Site, seen: Observed
) -> None:
    runner = start(file_store)
    site.hold("a1")
    made = runner.submit(ALICE, "fleet", targets("a", 2))
    site.wait_started("a1")
    connection = breaking(file_store, lambda _, sql: "after" if sql == "COMMIT" else "")
    with suppress(StoreError):  # or it finds out that the job was cancelled
        runner.cancel(made.id)
    connection.restart(lambda *_: "")
    runner.cancel(made.id)
    assert found(runner, made.id).job.status == "cancelled"
    site.release()
    seen.wait_for("target")
    runner.close()
    assert site.starts == ["a1"]
    assert seen.ended == ["cancelled"]
    assert seen.of("depth")[-1] == 0


def test_rule_8_a_status_that_cannot_be_read_is_a_store_error(start: StartRunner, site: Site, seen: Observed) -> None:
    with Store.open("sqlite://") as memory:
        runner = start(memory)
        made = runner.submit(ALICE, "fleet", targets("a", 1))
        seen.wait_ended()
        connection = breaking(memory, lambda _, sql: "instead" if sql.startswith("SELECT plait_jobs.seq") else "")
        with pytest.raises(StoreError, match=r"cannot read the job in the store in memory: .*disk I/O error"):
            runner.status(made.id)
        connection.restart(lambda *_: "")
        assert found(runner, made.id).job.status == "done"
        runner.close()
    assert site.starts == ["a1"]


# --- what goes


def test_rule_8_a_sweep_that_fails_is_only_logged(
    *, file_store: Store, path: Path, start: StartRunner, seen: Observed, clock: Clock, log: Listener
) -> None:
    runner = start(file_store, ttl=10)
    old = runner.submit(ALICE, "fleet", targets("a", 1))
    seen.wait_ended()
    refuse(path, "plait_jobs", "DELETE")
    clock.now += 11
    made = runner.submit(ALICE, "fleet", targets("b", 1))
    seen.wait_ended(2)
    assert log.messages == [f"job {made.id}: cannot sweep old jobs: SQLITE_CONSTRAINT_TRIGGER"]
    assert found(runner, old.id).job.status == "done"
    relent(path)
    runner.submit(ALICE, "fleet", targets("c", 1))
    assert runner.status(old.id) is None


def test_rule_8_an_eviction_that_fails_is_only_logged(
    *, file_store: Store, path: Path, start: StartRunner, seen: Observed, log: Listener
) -> None:
    runner = start(file_store, max_bytes=1)
    old = runner.submit(ALICE, "fleet", targets("a", 1))
    seen.wait_ended()
    log_before = log.messages
    refuse(path, "plait_jobs", "DELETE")
    made = runner.submit(ALICE, "fleet", targets("b", 2))
    seen.wait_ended(2)
    warning = f"job {made.id}: cannot evict old jobs: SQLITE_CONSTRAINT_TRIGGER"
    assert log.messages[len(log_before) :] == [warning] * 2
    assert found(runner, old.id).job.status == "done"
    relent(path)
    runner.submit(ALICE, "fleet", targets("c", 1))
    seen.wait_ended(3)
    assert runner.status(old.id) is None
    assert seen.ended == ["done"] * 3


# --- starting and closing


def test_rule_8_a_runner_that_cannot_start_leaves_the_store_to_the_next(
    *, file_store: Store, path: Path, start: StartRunner, site: Site, seen: Observed
) -> None:
    first = start(file_store, retry_wait=3600)
    site.answer("a1", RetryLater(), Result("x"))
    first.submit(ALICE, "fleet", targets("a", 1))
    site.wait_ended("a1")
    first.close()
    refuse(path, "plait_jobs", "UPDATE")
    with pytest.raises(StoreError, match="cannot recover from the last run"):
        start(file_store)
    relent(path)
    second = start(file_store)
    second.submit(ALICE, "fleet", targets("a", 1))
    seen.wait_ended(2)
    assert seen.of("job") == ["created", "failed", "created", "done"]


def test_rule_8_an_outcome_that_can_be_stored_when_the_runner_closes_is_stored(
    *, file_store: Store, path: Path, start: StartRunner, site: Site, seen: Observed, log: Listener
) -> None:
    runner = start(file_store)
    refuse(path, "plait_targets", "UPDATE")
    made = runner.submit(ALICE, "fleet", targets("a", 1))
    log.wait_for(UNSTORED, 3)
    relent(path)
    runner.close()
    assert found(runner, made.id).job.status == "done"
    assert (seen.ended, len(seen.of("target")), site.starts) == (["done"], 1, ["a1"])


def test_rule_8_an_outcome_that_cannot_be_stored_when_the_runner_closes_is_logged_as_lost(
    *, file_store: Store, path: Path, start: StartRunner, site: Site, seen: Observed, log: Listener
) -> None:
    runner = start(file_store)
    refuse(path, "plait_targets", "UPDATE")
    made = runner.submit(ALICE, "fleet", targets("a", 1))
    log.wait_for(UNSTORED)
    runner.close()
    assert log.messages[-1] == f"job {made.id}: an outcome is lost at closing: SQLITE_CONSTRAINT_TRIGGER"
    relent(path)
    second = start(file_store)
    status = found(second, made.id)
    assert (status.job.status, status.job.error) == ("failed", "interrupted by a restart")
    assert status.targets[0].status == "pending"
    assert site.starts == ["a1"]
    assert seen.ended == ["failed"]


def test_rule_8_a_hook_may_close_the_runner_while_another_thread_closes_it_and_a_last_outcome_is_stored(
    *, file_store: Store, path: Path, site: Site, seen: Observed, log: Listener
) -> None:
    # Not one of the fixture's runners: if the threads wait for each other, the end of the test must not join in.
    runner = Runner(file_store, site, Config(hooks=seen.hooks))
    seen.react("target", lambda *_: runner.close())
    refuse(path, "plait_targets", "UPDATE")
    made = runner.submit(ALICE, "fleet", targets("a", 1))
    log.wait_for(UNSTORED, 3)
    relent(path)
    thread = threading.Thread(target=runner.close, daemon=True)
    thread.start()
    thread.join(PATIENCE)
    assert not thread.is_alive()
    assert found(runner, made.id).job.status == "done"


def test_rule_8_a_store_whose_folder_is_gone_for_a_while_heals(
    *, file_store: Store, path: Path, start: StartRunner, site: Site, seen: Observed, log: Listener
) -> None:
    runner = start(file_store)
    site.hold("a1")
    made = runner.submit(ALICE, "fleet", targets("a", 2))
    site.wait_started("a1")
    away = path.parent.with_name(f"{path.parent.name}-away")
    # The connection is beyond use, and cannot be opened anew either.
    breaking(file_store, lambda _, sql: "instead" if sql.startswith("UPDATE") or sql == "ROLLBACK" else "")
    path.parent.rename(away)
    site.release()
    log.wait_for("")
    away.rename(path.parent)
    assert wait_terminal(runner, seen, made.id) == "done"
    assert site.starts == ["a1", "a2"]
    assert seen.ended == ["done"]


# --- what is logged


def test_rule_8_every_warning_of_a_failing_job_names_its_id_and_the_databases_code_and_nothing_else(
    *, file_store: Store, path: Path, start: StartRunner, site: Site, seen: Observed, log: Listener
) -> None:
    runner = start(file_store)
    refuse(path, "plait_targets", "UPDATE")
    made = runner.submit(ALICE, "fleet", targets("a", 1))
    log.wait_for(UNSTORED, 2)
    relent(path)
    seen.wait_ended()
    expected = [
        f"job {made.id}: {UNSTORED}, attempt {attempt}: SQLITE_CONSTRAINT_TRIGGER"
        for attempt in range(1, len(log.messages) + 1)
    ]
    assert log.messages == expected
    assert site.starts == ["a1"]


# --- what can never be stored


def test_rule_8_an_outcome_that_is_too_large_for_the_database_fails_its_target_and_not_its_job(
    *, file_store: Store, start: StartRunner, site: Site, seen: Observed
) -> None:
    runner = start(file_store)
    site.hold("a1")
    site.answer("a1", Result("x" * 200_000))
    made = runner.submit(ALICE, "fleet", targets("a", 2))
    site.wait_started("a1")
    database: Any = file_store._database
    with database._lock:
        database._writer.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 100_000)
    site.release()
    seen.wait_ended()
    first, second = found(runner, made.id).targets
    assert (first.status, second.status) == ("failed", "done")
    assert first.error.startswith("the outcome cannot be stored (")
    assert first.hint
    assert site.starts == ["a1", "a2"]


def test_rule_8_a_clock_that_fails_costs_no_outcome_and_no_worker(
    store: Store, site: Site, seen: Observed, log: Listener
) -> None:
    readings = iter([1000.0, 1000.0, *[float("nan")] * 3])

    def clock() -> float:
        return next(readings)  # and then StopIteration for ever

    with Runner(store, site, Config(hooks=seen.hooks), clock=clock) as runner:
        made = runner.submit(ALICE, "fleet", targets("a", 3))
        seen.wait_ended()
        assert found(runner, made.id).job.status == "done"
    assert site.starts == ["a1", "a2", "a3"]
    log.wait_for("the clock ")
