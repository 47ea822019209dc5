"""The Store: jobs, targets and outcomes in a database, one verb for each act of a runner."""

from __future__ import annotations

import math
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, Literal, Self, TypeVar

from plait.jobs.errors import StoreError
from plait.jobs.model import Job, JobStatus, Submission, TargetStatus
from plait.jobs.outcomes import Failed, Settled
from plait.jobs.states import JobState
from plait.jobs.store.address import database_at
from plait.jobs.store.admission import admit
from plait.jobs.store.database import Database
from plait.jobs.store.records import Cancellation, Caps, Creation, Ending, Idle, Interrupted, NewJob, Turn
from plait.jobs.store.rows import (
    as_id,
    job_of,
    outcome_parameters,
    target_status_of,
    turn_of,
    turn_parameters,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import TracebackType

    from sqlalchemy.engine import URL

    from plait.jobs.store.session import Session

__all__ = ["Store"]

_Ended = TypeVar("_Ended")

INTERRUPTED: Final = "interrupted by a restart"
_ALL: Final = 2**31 - 1  # more targets than a job can have
_LOCKED_ROW_SECONDS: Final = 0.05


class Store:
    """Jobs and their outcomes in SQLite or PostgreSQL; made by ``Store.open``.

    A store may be used by any threads at once. It owns its connections; what guards them is said by
    ``SQLiteDatabase`` and ``PostgresDatabase``. A ``with`` block closes it.
    """

    def __init__(self, database: Database) -> None:
        if not isinstance(database, Database):
            raise TypeError(f"a store is made by Store.open(url), not by Store({type(database).__name__})")
        self._database = database
        self._sql = database.statements
        self._sums = database.sums
        self._earliest_retry = -math.inf

    @classmethod
    def open(cls, url: str | URL | Path, *, synchronous: Literal["NORMAL", "FULL"] = "NORMAL") -> Self:
        """Open a store and bring its schema up to date.

        Args:
            url: ``"sqlite:///plait.db"`` (a file), ``"sqlite://"`` (memory) or ``"postgresql+psycopg://…"``; a
                ``Path`` is an SQLite file, whatever characters its name has.
            synchronous: How durable a commit is on SQLite: ``"NORMAL"`` survives the end of the process,
                ``"FULL"`` the loss of power too.

        Returns:
            The open store; close it after the runner.

        Raises:
            StoreTooNew: A newer Plait wrote this database.
            StoreError: The URL is none, or the database cannot be opened, written or reached.
            ValueError: ``synchronous`` is neither of the two.
        """
        return cls(database_at(url, synchronous))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close every connection; closing twice is fine."""
        self._database.close()

    @property
    def shared(self) -> bool:
        """Whether several runners may work on this store at once."""
        return self._database.shared

    @property
    def in_memory(self) -> bool:
        """Whether reading uses the connection that writes."""
        return self._database.in_memory

    @property
    def turn_lease_seconds(self) -> float | None:
        """How long a turn's lease lasts unrenewed; ``None`` where it never ends."""
        return self._database.turn_lease_seconds

    # --- submit (rule 1)

    def create(self, job: NewJob, caps: Caps) -> Creation:
        """Store a job, or find the one that the same submit made before; one transaction.

        Raises:
            TooManyTargets: See ``Caps``; likewise ``CallerBusy`` and ``Busy``.
            StoreError: The database refused; nothing was stored, as far as it still answers.
        """
        try:
            with self._database.transaction("submit the job") as session:
                return admit(self._database, session, job, caps)
        except StoreError:
            if self._found(job.id) is None:
                raise
            return Creation(Submission(job.id, reused=False), is_live=True, live=self._count_live())

    def _found(self, job_id: str) -> Job | None:
        """What a commit that failed did to a job after all, if that can be read."""
        with suppress(StoreError):
            return self.job(job_id)
        return None

    def _count_live(self) -> int:
        with self._database.snapshot("count the live jobs") as session:
            return int(session.rows(self._sql.count_live, {})[0][0])

    # --- turns (rules 2 and 3)

    def take_turn(self, hand: int, owner: str) -> Turn | Idle:
        """Take the next turn after the hand: its target is ``running`` from here on; one transaction.

        Args:
            hand: The row number of the job whose turn was last; the circle is searched from the next one on.
            owner: The runner that takes it.

        Returns:
            The turn, or how long there will be none.

        Raises:
            StoreError: The database refused; no turn was taken.
        """
        _, found = self._end_and_take("take a turn", lambda _session: None, hand, owner)
        return Idle(None) if found is None else found

    def _end_and_take(
        self, act: str, end: Callable[[Session], _Ended], hand: int | None, owner: str
    ) -> tuple[_Ended, Turn | Idle | None]:
        """End one turn and, if there is a hand, take the next in the same transaction."""
        try:
            with self._database.transaction(act) as session:
                ended = end(session)
                return ended, None if hand is None else self._take(session, hand, owner)
        except BaseException:
            self._earliest_retry = -math.inf  # what it was set by may have been rolled back
            raise

    def _take(self, session: Session, hand: int, owner: str) -> Turn | Idle:
        now = time.monotonic()
        parameters: dict[str, object] = {
            "store_now": now,
            "owner": owner,
            "hand": hand,
            "lease_seconds": self._database.turn_lease_seconds,
        }
        if self._database.shared:
            session.run(self._sql.release_lost_turns, parameters)
        if self._database.shared or now >= self._earliest_retry:
            self._release_due_retries(session, parameters, now)
        job = self._next_turn(session, parameters)
        if job is None:
            return Idle(self._seconds_until_next(session, parameters))
        parameters["seq"], parameters["epoch"] = job[0], job[2]
        session.run(self._sql.take_job, parameters)
        return turn_of(job, owner, now)

    def _next_turn(self, session: Session, parameters: dict[str, object]) -> tuple[Any, ...] | None:
        if not self._database.shared:
            return session.row(self._sql.read_next_turn, parameters)
        # Two statements: the first locks the job, and only a later one is sure to see it as it is then.
        found = session.row(self._sql.next_job, parameters)
        if found is None or found[0] is None:
            return None
        return session.row(self._sql.read_turn, parameters | {"seq": found[0]})

    def _release_due_retries(self, session: Session, parameters: dict[str, object], now: float) -> None:
        session.run(self._sql.release_due_retries, parameters)
        if self._database.shared:
            return  # others put targets back too, so that the earliest is not known
        wait = session.rows(self._sql.next_wake, parameters)[0][0]
        self._earliest_retry = math.inf if wait is None else now + wait

    def _seconds_until_next(self, session: Session, parameters: dict[str, object]) -> float | None:
        waits = [session.rows(self._sql.next_wake, parameters)[0][0]]
        if self._database.shared:
            if session.row(self._sql.next_free, parameters) is not None:
                return _LOCKED_ROW_SECONDS  # another transaction has its row for a moment, and it was passed over
            waits.append(session.rows(self._sql.next_lost_turn, parameters)[0][0])
        return min((max(0.0, wait) for wait in waits if wait is not None), default=None)

    def settle(
        self, turn: Turn, outcome: Settled, now: float, hand: int | None
    ) -> tuple[Ending | None, Turn | Idle | None]:
        """Store a target's outcome with its job's counters and status; take the next turn; one transaction.

        It is stored under the epoch of its turn only, so once, whoever was late; storing again what a
        commit of unknown fate did store finds it and answers as the first time.

        Args:
            turn: The turn that came to an end.
            outcome: What it came to.
            now: Unix seconds.
            hand: Take the next turn after this row; ``None`` to take none.

        Returns:
            How it ended, or ``None`` if the turn was no longer this owner's; and the next turn.

        Raises:
            StoreError: The database refused; nothing was stored and no turn taken.
        """
        try:
            return self._end_and_take(
                "store an outcome", lambda session: self._settle(session, turn, outcome, now), hand, turn.owner
            )
        except StoreError:
            ending = self._settled_in_doubt(turn, outcome)
            if ending is None:
                raise
            return ending, None  # and if it took a turn too, the owner does not know of it

    def _settle(self, session: Session, turn: Turn, outcome: Settled, now: float) -> Ending | None:
        failed = isinstance(outcome, Failed)
        status = turn.job_status_after(failed=failed)
        parameters = turn_parameters(turn)
        parameters["failed"] = int(failed)
        parameters["nbytes"] = nbytes = outcome.nbytes
        ended = status is not JobState.RUNNING and self._finish(session, parameters, status, now)
        if not ended and not session.changes(self._sql.count_outcome, parameters):
            return self._settled_before(session, turn, status)
        parameters.update(outcome_parameters(outcome))
        session.run(self._sql.settle_target, parameters)
        usage = self._sums.add(session, live=-1 if ended else 0, nbytes=nbytes)
        return Ending(status.value if ended else None, usage.live, usage.nbytes)

    def _finish(self, session: Session, parameters: dict[str, object], status: JobState, now: float) -> bool:
        """Count a job's last outcome and give the job its terminal status, unless it was cancelled."""
        return session.changes(self._sql.finish_job, parameters | {"status": status.value, "finished_at": now})

    def _settled_in_doubt(self, turn: Turn, outcome: Settled) -> Ending | None:
        """How a turn ended if a commit that failed did store its outcome after all."""
        try:
            with self._database.snapshot("look for an outcome") as session:
                return self._settled_before(session, turn, turn.job_status_after(failed=isinstance(outcome, Failed)))
        except StoreError:
            return None

    def _settled_before(self, session: Session, turn: Turn, status: JobState) -> Ending | None:
        job = session.row(self._sql.settled_before, turn_parameters(turn))
        if job is None:
            return None
        live, nbytes = session.rows(self._sql.count_usage, {})[0]
        ended = status is not JobState.RUNNING and job[0] == status
        return Ending(job[0] if ended else None, live, nbytes or 0)

    def defer(self, turn: Turn, delay: float, hand: int | None) -> tuple[bool, Turn | Idle | None]:
        """Make a busy target pending again, to be tried after ``delay`` seconds; take the next turn.

        Returns:
            Whether the turn was still this owner's; and the next turn, as with ``settle``.

        Raises:
            StoreError: The database refused; nothing changed.
        """
        return self._end_and_take(
            "put a busy target back", lambda session: self._defer(session, turn, delay), hand, turn.owner
        )

    def _defer(self, session: Session, turn: Turn, delay: float) -> bool:
        now = time.monotonic()
        self._earliest_retry = min(self._earliest_retry, now + delay)
        return session.changes(self._sql.defer_job, turn_parameters(turn) | {"delay": delay, "store_now": now})

    def release(self, turn: Turn) -> bool:
        """Make a target that got no outcome pending again.

        Returns:
            Whether the turn was still this owner's.

        Raises:
            StoreError: The database refused; nothing changed.
        """
        with self._database.transaction("put a target back") as session:
            return session.changes(self._sql.return_job, turn_parameters(turn))

    def next_job(self, hand: int) -> int:
        """The row of the job whose turn is next after the hand, or the hand if there is none; takes nothing.

        Raises:
            StoreError: The database refused.
        """
        with self._database.transaction("look for the next job") as session:
            row = session.row(self._sql.next_job, {"hand": hand})
        return hand if row is None or row[0] is None else int(row[0])

    def release_forgotten(self, owner: str, known: set[tuple[int, int]]) -> None:
        """Give back turns of ``owner`` that it does not know of, as after a commit of unknown fate.

        Args:
            owner: The runner.
            known: Row of the job and epoch of the turns that it does know of.

        Raises:
            StoreError: The database refused; nothing changed.
        """
        with self._database.transaction("look for forgotten turns") as session:
            held = set(session.rows(self._sql.read_turns_of_owner, {"owner": owner}))
            for seq, epoch in held - known:
                session.run(self._sql.return_job, {"seq": seq, "owner": owner, "epoch": epoch})

    def renew(self, owner: str) -> None:
        """Prolong the leases of all turns of ``owner``.

        Raises:
            StoreError: The database refused; nothing changed.
        """
        with self._database.transaction("renew the leases") as session:
            session.run(
                self._sql.renew_turns,
                {
                    "owner": owner,
                    "lease_seconds": self._database.turn_lease_seconds,
                    "store_now": time.monotonic(),
                },
            )

    def cancel(self, job_id: str, now: float) -> Cancellation | None:
        """End a live job as ``cancelled``.

        Returns:
            What it ended, or ``None`` when there is no such live job.

        Raises:
            StoreError: The database refused; nothing changed.
        """
        job: tuple[Any, ...] | None = None
        try:
            with self._database.transaction("cancel the job") as session:
                job = session.row(self._sql.cancel_job, {"id": as_id(job_id), "now": now})
                if job is None:
                    return None
                return Cancellation(job[0], job[1], self._sums.add(session, live=-1, nbytes=0).live)
        except StoreError:
            found = self._found(job_id)
            if job is None or found is None or found.status != JobState.CANCELLED:
                raise
            return Cancellation(job[0], job[1], self._count_live())

    def touch(self, job_id: str, now: float) -> None:
        """Set the job's lease, which keeps it from sweep and eviction, to ``now`` (unix seconds).

        Raises:
            StoreError: The database refused; nothing changed.
        """
        with self._database.transaction("touch the job") as session:
            session.run(self._sql.touch_job, {"id": as_id(job_id), "now": now})

    def job(self, job_id: str) -> Job | None:
        """Read a job without its targets; writes nothing.

        Raises:
            StoreError: The database refused.
        """
        with self._database.snapshot("read the job") as session:
            row = session.row(self._sql.read_job, {"id": as_id(job_id)})
        return None if row is None else job_of(row)

    def status(self, job_id: str) -> JobStatus | None:
        """Read a job and its targets in one snapshot; writes nothing.

        Raises:
            StoreError: The database refused.
        """
        return self._read(job_id, 0, _ALL)

    def targets(self, job_id: str, first: int, limit: int) -> list[TargetStatus] | None:
        """Read some of a job's targets, from the one numbered ``first`` on; writes nothing.

        Raises:
            StoreError: The database refused.
        """
        status = self._read(job_id, first, min(first + limit, _ALL))
        return None if status is None else status.targets

    def _read(self, job_id: str, first: int, end: int) -> JobStatus | None:
        with self._database.snapshot("read the job") as session:
            job = session.row(self._sql.read_job, {"id": as_id(job_id)})
            if job is None:
                return None
            targets = session.rows(self._sql.read_targets, {"seq": job[0], "first": first, "end": end})
        return JobStatus(job_of(job), [target_status_of(row) for row in targets])

    def sweep(self, fresh_from: float) -> int:
        """Remove the finished jobs that were last touched before ``fresh_from`` (unix seconds).

        Returns:
            How many it removed.

        Raises:
            StoreError: The database refused; nothing changed.
        """
        with self._database.transaction("sweep old jobs") as session:
            swept = session.rows(self._sql.sweep_jobs, {"fresh_from": fresh_from})
            if swept:
                self._sums.add(session, live=0, nbytes=-sum(row[0] for row in swept))
        return len(swept)

    def evict(self, max_bytes: int, keep: int) -> int:
        """Remove finished jobs, oldest lease first, until all outcomes fit in ``max_bytes``.

        Args:
            max_bytes: The most bytes of stored outcomes.
            keep: The row of the job that was just worked on, which stays.

        Returns:
            How many it removed.

        Raises:
            StoreError: The database refused; nothing changed.
        """
        evicted = freed = 0
        with self._database.transaction("evict old jobs") as session:
            over = self._sums.read(session).nbytes - max_bytes
            while freed < over and (oldest := session.rows(self._sql.oldest_finished, {"keep": keep})):
                for seq, nbytes in oldest:
                    session.run(self._sql.delete_job, {"seq": seq})
                    evicted += 1
                    freed += nbytes
                    if freed >= over:
                        break
            if freed:
                # Once and last: a transaction that held one row of the sums and waited for another could deadlock.
                self._sums.add(session, live=0, nbytes=-freed)
        return evicted

    def claim(self, now: float) -> list[Interrupted]:
        """Make the caller this store's runner; where it is the only one, fail what a dead one left live.

        Args:
            now: Unix seconds.

        Returns:
            The jobs that were failed as interrupted.

        Raises:
            StoreInUse: Another runner works on this store.
            StoreError: The database refused; nothing changed.
        """
        self._database.claim()
        if self._database.shared:
            return []
        try:
            with self._database.transaction("recover from the last run") as session:
                session.run(self._sql.end_turns_of_dead_runner, {})
                rows = session.rows(self._sql.interrupt_jobs, {"reason": INTERRUPTED, "now": now})
                if rows:
                    self._sums.add(session, live=-len(rows), nbytes=0)
        except BaseException:
            self._database.unclaim()
            raise
        return [Interrupted(*row) for row in rows]

    def unclaim(self) -> None:
        """The runner is gone; another may come."""
        self._database.unclaim()
