"""A store's tables as they are, read beside it, and the plain jobs that its tests put there."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import sqlalchemy as sa

from plait import Caller, Options, Result, Target
from plait.jobs.outcomes import Busy, Done, Failed, of_error, of_value
from plait.jobs.store import Caps, NewJob, Store, Turn
from plait.jobs.store.schema import JOBS, TARGETS, USAGE

__all__ = ["NO_CAPS", "Rows", "assert_sound", "connect", "done", "failed", "new_job", "read_rows", "recount", "take"]

NO_CAPS: Final = Caps(targets_per_job=10**6, jobs_per_caller=10**6, jobs_total=10**6, fresh_from=0.0)
_SUMS: Final = sa.select(sa.func.sum(USAGE.c.live), sa.func.sum(USAGE.c.nbytes))
_numbers: Final = itertools.count()

Row = dict[str, Any]


class Rows(NamedTuple):
    """Every row: jobs by their ids, targets by their job's id in order, and the sums where a table holds them."""

    jobs: dict[str, Row]
    targets: dict[str, list[Row]]
    sums: tuple[int, int] | None


def new_job(
    *urls: str, caller: str = "ann", now: float = 1000.0, key: str | None = None, options: Options | None = None
) -> NewJob:
    """A job of its own key and id, unless ``key`` says which."""
    number = next(_numbers)
    targets = tuple(Target(url, options or Options()) for url in urls or ("a",))
    return NewJob(f"{number:032x}", Caller(caller, "space"), "fleet", key or f"{number:064x}", targets, now)


def done(content: str = "text") -> Done:
    """The outcome of a target that was done."""
    outcome = of_value(Result(content))
    assert isinstance(outcome, Done)
    return outcome


def failed(error: Exception | None = None) -> Failed:
    """The outcome of a target that failed."""
    outcome = of_error(error or ValueError("it broke"))
    assert not isinstance(outcome, Busy)
    return outcome


def take(store: Store, hand: int = 0, owner: str = "one") -> Turn:
    """The next turn, which there must be."""
    found = store.take_turn(hand, owner)
    assert isinstance(found, Turn)
    return found


@contextlib.contextmanager
def connect(url: str) -> Iterator[sa.Connection]:
    """A connection beside the store, in a transaction that is committed."""
    engine = sa.create_engine(url, poolclass=sa.NullPool)
    with engine.begin() as connection:
        yield connection


def read_rows(url: str) -> Rows:
    """Every row of the store, in one snapshot."""
    with connect(url) as connection:
        postgres = connection.dialect.name == "postgresql"
        connection.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ" if postgres else "BEGIN")
        jobs = [dict(row._mapping) for row in connection.execute(sa.select(JOBS).order_by(JOBS.c.seq))]
        targets = [
            dict(row._mapping)
            for row in connection.execute(sa.select(TARGETS).order_by(TARGETS.c.job_seq, TARGETS.c.idx))
        ]
        sums = connection.execute(_SUMS).one() if postgres else None
    ids = {job["seq"]: job["id"] for job in jobs}
    by_job: dict[str, list[Row]] = {job["id"]: [] for job in jobs}
    for target in targets:
        by_job[ids[target["job_seq"]]].append(target)
    return Rows({job["id"]: job for job in jobs}, by_job, sums and (int(sums[0]), int(sums[1])))


def assert_sound(url: str, store: Store | None = None) -> Rows:
    """Assert all that must hold of the rows at any moment between two transactions, and return them.

    Args:
        url: The database.
        store: The store on it whose running sums are to be compared with the rows, too.
    """
    rows = read_rows(url)
    for job_id, job in rows.jobs.items():
        _check_job(job, rows.targets[job_id])
    live, nbytes = recount(rows)
    assert rows.sums in {None, (live, nbytes)}
    if store is not None:
        with store._database.transaction("read the sums") as session:
            assert store._database.sums.read(session) == (live, nbytes)
    return rows


def recount(rows: Rows) -> tuple[int, int]:
    """The live jobs, and the bytes of all stored outcomes."""
    live = sum(job["finished_at"] is None for job in rows.jobs.values())
    return live, sum(job["nbytes"] for job in rows.jobs.values())


def _check_job(job: Row, targets: list[Row]) -> None:
    stored = job["targets_done"]
    assert job["turn_owner"] is None or stored < len(targets)
    assert [target["idx"] for target in targets] == list(range(job["targets_total"]))
    statuses = [target["status"] for target in targets]
    assert all(status in {"done", "failed"} for status in statuses[:stored])
    assert set(statuses[stored:]) <= {"pending"}  # which of them is running derives from the turn
    assert statuses.count("failed") == job["targets_failed"]
    assert job["nbytes"] == sum(_nbytes(target) for target in targets)
    _check_epochs(job, [target["epoch"] for target in targets])
    assert (job["finished_at"] is None) == (job["status"] in {"queued", "running"})
    if job["status"] not in {"cancelled"} and not job["error"]:
        assert job["status"] == _status_of(statuses, job["turn_epoch"])
    assert job["retry_at"] is None or job["turn_owner"] is None


def _nbytes(target: Row) -> int:
    texts = [target[name] for name in ("result", "error", "hint") if target[name] is not None]
    if target["status"] == "pending":
        assert texts == []
    else:
        assert (target["result"] is not None) == (target["status"] == "done")
        assert (target["error"] is not None) == (target["status"] == "failed")
    return sum(len(text.encode()) for text in texts)


def _check_epochs(job: Row, epochs: list[int | None]) -> None:
    """Each outcome was stored by a turn of its own, in the order of the turns."""
    stored = [epoch for epoch in epochs if epoch is not None]
    assert len(stored) == job["targets_done"]
    assert stored == sorted(set(stored))
    assert all(epoch <= job["turn_epoch"] for epoch in stored)


def _status_of(statuses: list[str], epoch: int) -> str:
    if "pending" in statuses:
        return "running" if epoch else "queued"
    return statuses[0] if len(set(statuses)) == 1 else "partial"
