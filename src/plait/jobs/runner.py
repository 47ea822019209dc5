"""The Runner: takes jobs, lets workers drain them in fair rotation, and tells how far they are."""

from __future__ import annotations

import logging
import math
import secrets
import threading
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

from plait.context import Context
from plait.jobs.errors import NoTargets, RunnerClosed, StoreError, UnknownJob
from plait.jobs.idempotency import idem_key
from plait.jobs.ledger import Ledger
from plait.jobs.model import Config
from plait.jobs.observers import Observers
from plait.jobs.rotation import CLOSED, Rotation, WakeUp
from plait.jobs.shield import uninterrupted
from plait.jobs.states import LIVE_STATES, JobState
from plait.jobs.store import Caps, NewJob, Store
from plait.jobs.validation import check_submission
from plait.jobs.workers import Workers

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from plait.jobs.model import Caller, FetchFunc, JobStatus, Submission, Target, TargetStatus

__all__ = ["Runner"]

_T = TypeVar("_T")
_LOOK_AGAIN_SECONDS: Final = 1.0
_LARGEST_TIME: Final = 1e15  # unix seconds, 30 million years
_log = logging.getLogger("plait.jobs")


class Runner:
    """A store-backed job runner: each job serial, its workers in rotation over all jobs (``batch-runner.md``).

    All methods may be called from any threads, hooks and FetchFuncs included. A ``with`` block closes it.

    Args:
        store: Where jobs and outcomes are kept; it stays the caller's to close, after the runner.
        fetch: Does one target for the caller that submitted the job; called from the workers' threads.
        config: Caps, times and hooks.
        clock: Returns unix seconds; times of jobs go by it. Waits and retries go by the store's clock.
        log: Where warnings go; never a URL, a host or an exception's text among them.

    Raises:
        StoreInUse: Another runner works on this SQLite store.
        StoreError: The database refused.
        TypeError: An argument has the wrong type.
    """

    def __init__(
        self,
        store: Store,
        fetch: FetchFunc,
        config: Config | None = None,
        *,
        clock: Callable[[], float] = time.time,
        log: logging.Logger = _log,
    ) -> None:
        self._config = Config() if config is None else config
        _check_types(store, fetch, self._config)
        self._store = store
        self._clock = clock = _steady(clock, log)
        self._log = log
        self._observers = Observers(self._config.hooks, log)
        self._wake_up = WakeUp()
        self._job_ended = WakeUp()
        self._rotation = Rotation(store, secrets.token_hex(16), self._observers)
        self._ledger = Ledger(
            store=store,
            rotation=self._rotation,
            observers=self._observers,
            wake_up=self._wake_up,
            job_ended=self._job_ended,
            config=self._config,
            clock=clock,
            log=log,
        )
        self._workers = Workers(
            fetch=fetch,
            rotation=self._rotation,
            ledger=self._ledger,
            observers=self._observers,
            wake_up=self._wake_up,
            count=self._config.workers,
            log=log,
        )
        # Another machine's runner may end a job of a shared store, which nothing here is told of.
        self._look_again_after = _LOOK_AGAIN_SECONDS if store.shared else math.inf
        self._closing = False
        self._close_lock = threading.Lock()  # held by the one thread that waits for the others to end
        self._claimed = False
        try:
            uninterrupted(self._recover)
            self._ledger.start()
            self._workers.start()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.close()

    def submit(self, caller: Caller, caller_class: str, targets: Sequence[Target]) -> Submission:
        """Take a job, or find the one that the same submit made before (``batch-runner.md``, rule 1).

        Args:
            caller: Who submits; caps and idempotency are counted by its name.
            caller_class: ``"fleet"`` or ``"restricted"``, stored with the job.
            targets: What to do, in this order.

        Returns:
            The job's id, and whether it was there before.

        Raises:
            NoTargets: There are none.
            InvalidTarget: One cannot be stored.
            TooManyTargets: More than ``Config.targets_per_job``.
            CallerBusy: The caller has ``Config.jobs_per_caller`` live jobs.
            Busy: All callers have ``Config.jobs_total`` live jobs.
            RunnerClosed: The runner was closed.
            StoreError: The database refused; nothing was stored, as far as it still answers.
        """
        if self._closing:
            raise RunnerClosed(CLOSED)
        targets = _copied(targets)
        check_submission(caller, caller_class, targets)
        if len(targets) == 0:
            raise NoTargets("no targets: the list is empty; submit one target or more")
        now = self._clock()
        job = NewJob(secrets.token_hex(16), caller, caller_class, idem_key(caller.name, targets), tuple(targets), now)
        return uninterrupted(lambda: self._admit(job))

    def cancel(self, job_id: str) -> bool:
        """End a job at once; its target in flight finishes and is stored (``batch-runner.md``, rule 5).

        Args:
            job_id: The job's id.

        Returns:
            False for a job that is unknown or already terminal.

        Raises:
            StoreError: The database refused; nothing changed, as far as it still answers.
        """
        return uninterrupted(lambda: self._cancel(job_id))

    def status(self, job_id: str) -> JobStatus | None:
        """How a job and its targets stand, read in one snapshot (``batch-runner.md``, rule 6).

        Args:
            job_id: The job's id.

        Returns:
            The job and its targets, or ``None`` for one that is unknown, swept or evicted.

        Raises:
            StoreError: The database refused.
        """
        return self._read(lambda: self._store.status(job_id))

    def wait(self, job_id: str, timeout: float | None = None) -> JobStatus:
        """Wait until a job is terminal, and return its status.

        Args:
            job_id: The job's id.
            timeout: Seconds to wait at most; ``None`` for as long as it takes.

        Returns:
            As ``status``; of a job that still lives when the time is over or the runner closes.

        Raises:
            UnknownJob: There is no such job.
            StoreError: The database refused.
        """
        waiting = Context(timeout)
        while True:
            ticket = self._job_ended.ticket()
            job = self._read(lambda: self._store.job(job_id))
            if job is None or job.status not in LIVE_STATES or self._closing or waiting.remaining() == 0.0:
                return self._known_status(job_id)
            self._job_ended.wait(ticket, min(waiting.remaining(), self._look_again_after))

    def targets(self, job_id: str, first: int = 0, limit: int = 100) -> list[TargetStatus] | None:
        """How some of a job's targets stand, for one who reads a long job piece by piece; a pure read.

        Args:
            job_id: The job's id.
            first: The number of the first target, from 0.
            limit: The most targets to read.

        Returns:
            The targets, fewer at the end of the job; ``None`` for a job that is unknown, swept or evicted.

        Raises:
            StoreError: The database refused.
            ValueError: A number is negative.
        """
        if first < 0 or limit < 0:
            raise ValueError(f"first and limit must be 0 or more, got {first} and {limit}")
        return self._read(lambda: self._store.targets(job_id, first, limit))

    def touch(self, job_id: str) -> None:
        """Set the job's lease to now, which keeps it from sweep and eviction (``batch-runner.md``, rule 6).

        A store that fails is logged and no error: a touch follows a read, which has succeeded.

        Args:
            job_id: The job's id; one that is unknown is passed over.
        """
        try:
            uninterrupted(lambda: self._store.touch(job_id, self._clock()))
        except StoreError as error:
            self._log.warning("job %s: cannot touch it: %s", job_id, error.reason)

    def close(self) -> None:
        """Stop the workers and wait until the targets in flight have returned; closing twice is fine.

        Their context is cancelled; what comes back as an error for that is not stored, and its target stays
        ``pending``. Called from a FetchFunc, or from a hook on a thread of the runner's own, it cannot wait for
        itself: it only starts the closing, and another call finishes it.
        """
        self._closing = True
        self._rotation.close()
        self._workers.close()
        self._job_ended.wake()
        if self._workers.is_own_thread() or self._ledger.is_own_thread():
            return
        with self._close_lock:
            self._workers.join()
            self._ledger.close()
            if self._claimed:  # once: the store may have another runner since
                self._claimed = False
                self._store.unclaim()

    def _admit(self, job: NewJob) -> Submission:
        """Store a job or find it, tell of it, sweep, and wake a worker: the second half of ``submit``."""
        submission = self._create(job)
        if submission.reused:
            self._observers.reused()
            return submission
        self._sweep(job.id, job.now)
        self._wake_up.wake()
        return submission

    def _cancel(self, job_id: str) -> bool:
        now = self._clock()
        cancellation = self._rotation.cancel(job_id, now)
        if cancellation is None:
            return False
        self._observers.ended(job_id, JobState.CANCELLED.value, max(0.0, now - cancellation.created_at))
        self._observers.flush()
        self._job_ended.wake()
        return True

    def _read(self, read: Callable[[], _T]) -> _T:
        """Read from the store; a store in memory is read on the connection that writes."""
        return uninterrupted(read) if self._store.in_memory else read()

    def _known_status(self, job_id: str) -> JobStatus:
        status = self.status(job_id)
        if status is None:
            raise UnknownJob("there is no such job: its id is wrong, or it was swept or evicted")
        return status

    def _create(self, job: NewJob) -> Submission:
        config = self._config
        fresh_from = job.now - config.ttl
        caps = Caps(config.targets_per_job, config.jobs_per_caller, config.jobs_total, fresh_from)
        created: str | None = None
        self._observers.expect(job.id)
        try:
            submission = self._rotation.create(job, caps).submission
            created = None if submission.reused else "created"
        finally:
            self._observers.announce(job.id, created)
        self._observers.flush()
        return submission

    def _sweep(self, job_id: str, now: float) -> None:
        try:
            self._store.sweep(now - self._config.ttl)
        except StoreError as error:
            self._log.warning("job %s: cannot sweep old jobs: %s", job_id, error.reason)

    def _recover(self) -> None:
        now = self._clock()
        interrupted = self._store.claim(now)
        with self._close_lock:
            if self._closing:  # the start was interrupted, and nobody will close this runner again
                self._store.unclaim()
            else:
                self._claimed = True
        for job in interrupted:
            self._observers.ended(job.job_id, JobState.FAILED.value, max(0.0, now - job.created_at))


def _copied(targets: Any) -> Any:
    """A list of targets that nothing changes between the check and the storing; what is no list stays as it is."""
    if isinstance(targets, Sequence) and not isinstance(targets, (str, bytes, bytearray, memoryview)):
        return tuple(targets)
    return targets


def _steady(clock: Callable[[], float], log: logging.Logger) -> Callable[[], float]:
    """``clock``, but the system's for a reading that raises or is no time: no job may be lost for that."""

    def read() -> float:
        try:
            now = clock()
            if -_LARGEST_TIME < now < _LARGEST_TIME:
                return now
        except Exception as error:  # noqa: BLE001 - the caller's own function may raise anything
            log.error("the clock raised %s; the system's is used", type(error).__qualname__)  # noqa: TRY400 - the trace would show the value
        else:
            log.error("the clock gave a time that is none; the system's is used")
        return time.time()

    return read


def _check_types(store: Any, fetch: Any, config: Any) -> None:
    """Say at once what would fail later on another thread."""
    if not isinstance(store, Store):
        raise TypeError(f"Runner needs a store from Store.open, got {type(store).__name__}")
    if not callable(fetch):
        raise TypeError(f"Runner needs a FetchFunc to call, got {type(fetch).__name__}")
    if not isinstance(config, Config):
        raise TypeError(f"Runner needs a plait.Config, got {type(config).__name__}")
