"""Rule 6: a status is a pure read of one state of the store, and a touch sets the lease and nothing else."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import pytest

from plait.jobs import Caller, JobStatus, Result, Runner, Store, TargetError
from tests.jobs.conftest import StartRunner
from tests.jobs.faults import Trace, locked, refuse, set_pragma
from tests.jobs.observed import TERMINAL, Clock, Observed
from tests.jobs.sites import PATIENCE, Site, target, targets

ALICE, BOB = Caller("alice"), Caller("bob")


def found(runner: Runner, job_id: str) -> JobStatus:
    status = runner.status(job_id)
    assert status is not None
    return status


def lease_of(path: Path, job_id: str) -> float:
    with closing(sqlite3.connect(path)) as second:
        (lease,) = second.execute("SELECT lease FROM plait_jobs WHERE id = ?", (job_id,)).fetchone()
    assert isinstance(lease, float)
    return lease


# --- status


def test_rule_6_an_unknown_job_has_no_status(store: Store, start: StartRunner) -> None:
    runner = start(store)
    assert runner.status("0" * 32) is None
    assert runner.status("") is None
    assert runner.status("' OR 1=1 --") is None


def test_rule_6_a_status_tells_all_of_a_job_and_its_targets(
    store: Store, start: StartRunner, site: Site, clock: Clock
) -> None:
    clock.now = 1_700_000_000.9
    runner = start(store)
    site.answer("a1", Result("text", {"status": 200}))
    site.answer("a2", TargetError("gone", "look elsewhere"))
    site.hold("a3")
    made = runner.submit(ALICE, "fleet", targets("a", 4))
    site.wait_started("a3")
    status = found(runner, made.id)
    job = status.job
    assert (job.id, job.caller, job.status, job.error) == (made.id, "alice", "running", "")
    assert (job.targets_total, job.targets_done, job.created_at) == (4, 2, 1_700_000_000)
    assert [(each.idx, each.url) for each in status.targets] == [(n, target(f"a{n + 1}").url) for n in range(4)]
    assert [(each.status, each.result, each.error, each.hint) for each in status.targets] == [
        ("done", Result("text", {"status": 200}), "", ""),
        ("failed", None, "gone", "look elsewhere"),
        ("running", None, "", ""),
        ("pending", None, "", ""),
    ]


def test_rule_6_a_status_writes_nothing(store: Store, start: StartRunner, site: Site, seen: Observed) -> None:
    runner = start(store)
    site.hold("b1")
    done = runner.submit(ALICE, "fleet", targets("a", 2)).id
    seen.wait_ended()
    running = runner.submit(ALICE, "fleet", targets("b", 2)).id
    site.wait_started("b1")
    queued = runner.submit(ALICE, "fleet", targets("c", 2)).id
    cancelled = runner.submit(ALICE, "fleet", targets("d", 2)).id
    runner.cancel(cancelled)
    trace = Trace(store)
    told = list(seen.events)
    for job_id in (done, running, queued, cancelled, "unknown") * 3:
        runner.status(job_id)
    assert {sql.split()[0] for sql in trace.statements} <= {"BEGIN", "SELECT", "COMMIT"}
    assert seen.events == told


def test_rule_6_a_status_changes_no_byte_of_the_file(
    file_store: Store, path: Path, start: StartRunner, site: Site, seen: Observed
) -> None:
    runner = start(file_store)
    site.hold("b1")
    done = runner.submit(ALICE, "fleet", targets("a", 2)).id
    seen.wait_ended()
    running = runner.submit(ALICE, "fleet", targets("b", 2)).id
    site.wait_started("b1")

    def digests() -> dict[str, str]:
        # The -shm file is SQLite's index of locks and readers: readers mark themselves in it.
        files = [file for file in path.parent.iterdir() if not file.name.endswith("-shm")]
        return {file.name: sha256(file.read_bytes()).hexdigest() for file in files}

    with closing(sqlite3.connect(path, isolation_level=None)) as second:
        before = digests(), second.execute("PRAGMA data_version").fetchone()
        for job_id in (done, running, "unknown") * 3:
            runner.status(job_id)
        assert (digests(), second.execute("PRAGMA data_version").fetchone()) == before
    assert set(before[0]) >= {"plait.db", "plait.db-wal"}


def test_rule_6_a_status_can_be_read_while_another_connection_holds_the_write_lock(
    file_store: Store, path: Path, start: StartRunner, seen: Observed
) -> None:
    runner = start(file_store)
    made = runner.submit(ALICE, "fleet", targets("a", 2))
    seen.wait_ended()
    with locked(path):
        assert found(runner, made.id).job.status == "done"


def test_rule_6_a_status_is_one_state_of_the_store_while_workers_run(
    store: Store, start: StartRunner, site: Site, seen: Observed
) -> None:
    runner = start(store, workers=2, targets_per_job=150)
    for number in range(1, 151, 3):
        site.answer(f"a{number}", TargetError("no", "hint"))
    site.hold("a1")
    ids = [runner.submit(ALICE, "fleet", targets(prefix, 150)).id for prefix in "ab"]
    snapshots: list[JobStatus] = []
    ready = threading.Barrier(4)

    def read(job_id: str) -> None:
        ready.wait(PATIENCE)
        while True:
            snapshots.append(found(runner, job_id))
            if snapshots[-1].job.status in TERMINAL:
                return

    threads = [threading.Thread(target=read, args=(ids[number % 2],)) for number in range(3)]
    for thread in threads:
        thread.start()
    ready.wait(PATIENCE)
    site.release()
    for thread in threads:
        thread.join()
    seen.wait_ended(2)
    for snapshot in snapshots:
        statuses = [each.status for each in snapshot.targets]
        stored = [status for status in statuses if status in {"done", "failed"}]
        done = snapshot.job.targets_done
        assert len(stored) == done
        assert statuses[done:] in (["running"] + ["pending"] * (149 - done), ["pending"] * (150 - done))
        assert (snapshot.job.status in TERMINAL) == (done == 150)
        assert [each.result is not None for each in snapshot.targets] == [status == "done" for status in statuses]


def test_rule_6_a_status_never_goes_back(store: Store, start: StartRunner, seen: Observed) -> None:
    runner = start(store, targets_per_job=100)
    made = runner.submit(ALICE, "fleet", targets("a", 100))
    counts = [0]
    while counts[-1] < 100:
        counts.append(found(runner, made.id).job.targets_done)
    assert counts == sorted(counts)
    seen.wait_ended()


def test_rule_6_many_threads_read_at_once(store: Store, start: StartRunner, seen: Observed) -> None:
    runner = start(store)
    made = runner.submit(ALICE, "fleet", targets("a", 2))
    seen.wait_ended()
    barrier = threading.Barrier(24)
    read: list[JobStatus] = []

    def look() -> None:
        barrier.wait(PATIENCE)
        read.extend(found(runner, made.id) for _ in range(5))

    threads = [threading.Thread(target=look) for _ in range(24)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert read == [found(runner, made.id)] * 120


def test_rule_6_a_job_can_be_read_after_its_runner_has_closed(store: Store, start: StartRunner, seen: Observed) -> None:
    runner = start(store)
    made = runner.submit(ALICE, "fleet", targets("a", 1))
    seen.wait_ended()
    runner.close()
    assert found(runner, made.id).job.status == "done"


# --- touch


def test_rule_6_a_touch_sets_the_lease_to_now_and_nothing_else(
    file_store: Store, path: Path, start: StartRunner, seen: Observed, clock: Clock
) -> None:
    runner = start(file_store)
    made = runner.submit(ALICE, "fleet", targets("a", 1))
    other = runner.submit(ALICE, "fleet", targets("b", 1))
    seen.wait_ended(2)
    before = found(runner, made.id)
    told = list(seen.events)
    touched_at, clock.now = clock.now, clock.now + 50
    runner.touch(made.id)
    assert (lease_of(path, made.id), lease_of(path, other.id)) == (clock.now, touched_at)
    assert found(runner, made.id) == before
    assert seen.events == told


def test_rule_6_a_status_is_no_touch(
    file_store: Store, path: Path, start: StartRunner, seen: Observed, clock: Clock
) -> None:
    runner = start(file_store)
    made = runner.submit(ALICE, "fleet", targets("a", 1))
    seen.wait_ended()
    before = lease_of(path, made.id)
    clock.now += 50
    runner.status(made.id)
    assert lease_of(path, made.id) == before


def test_rule_6_an_end_sets_the_lease_to_its_own_time(
    *, file_store: Store, path: Path, start: StartRunner, site: Site, clock: Clock, seen: Observed
) -> None:
    runner = start(file_store)
    site.hold("a1")
    done = runner.submit(ALICE, "fleet", targets("a", 1))
    site.wait_started("a1")
    cancelled = runner.submit(ALICE, "fleet", targets("b", 1))
    clock.now += 7
    runner.cancel(cancelled.id)
    assert lease_of(path, cancelled.id) == clock.now
    clock.now += 7
    site.release()
    seen.wait_ended(2)
    assert lease_of(path, done.id) == clock.now


def test_rule_6_a_touched_job_outlives_the_sweep_of_an_untouched_one(
    store: Store, start: StartRunner, seen: Observed, clock: Clock
) -> None:
    runner = start(store, ttl=100)
    kept = runner.submit(ALICE, "fleet", targets("a", 1))
    swept = runner.submit(ALICE, "fleet", targets("b", 1))
    seen.wait_ended(2)
    clock.now += 100
    runner.touch(kept.id)
    clock.now += 1
    runner.submit(ALICE, "fleet", targets("c", 1))
    assert (runner.status(kept.id) is None, runner.status(swept.id)) == (False, None)


def test_rule_6_a_touch_of_an_unknown_job_is_passed_over(
    store: Store, start: StartRunner, discreet_log: pytest.LogCaptureFixture
) -> None:
    runner = start(store)
    runner.touch("0" * 32)
    assert discreet_log.records == []


def test_rule_6_a_touch_of_a_live_job_leaves_it_live(
    store: Store, start: StartRunner, site: Site, seen: Observed
) -> None:
    runner = start(store)
    site.hold("a1")
    made = runner.submit(ALICE, "fleet", targets("a", 1))
    site.wait_started("a1")
    runner.touch(made.id)
    assert found(runner, made.id).job.status == "running"
    site.release()
    seen.wait_ended()


def test_rule_6_a_touch_that_the_store_refuses_is_logged_and_raises_nothing(
    file_store: Store, path: Path, start: StartRunner, seen: Observed, discreet_log: pytest.LogCaptureFixture
) -> None:
    runner = start(file_store)
    made = runner.submit(ALICE, "fleet", targets("a", 1))
    seen.wait_ended()
    refuse(path, "plait_jobs", "UPDATE", "NEW.lease <> OLD.lease OR 1")
    runner.touch(made.id)
    (record,) = discreet_log.records
    assert record.levelname == "WARNING"
    assert record.getMessage() == f"job {made.id}: cannot touch it: SQLITE_CONSTRAINT_TRIGGER"
    assert found(runner, made.id).job.status == "done"


def test_rule_6_a_touch_of_a_locked_store_is_logged_and_raises_nothing(
    file_store: Store, path: Path, start: StartRunner, seen: Observed, discreet_log: pytest.LogCaptureFixture
) -> None:
    runner = start(file_store)
    made = runner.submit(ALICE, "fleet", targets("a", 1))
    seen.wait_ended()
    set_pragma(file_store, "busy_timeout = 0")
    with locked(path):
        runner.touch(made.id)
    assert [record.getMessage() for record in discreet_log.records] == [f"job {made.id}: cannot touch it: SQLITE_BUSY"]
