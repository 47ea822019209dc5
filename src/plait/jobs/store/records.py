"""What goes into a store and comes out of it, other than what callers see."""

from __future__ import annotations

import msgspec

from plait.jobs.errors import Busy, CallerBusy, TooManyTargets
from plait.jobs.model import Caller, Submission, Target
from plait.jobs.states import JobState, after_outcome

__all__ = ["Cancellation", "Caps", "Creation", "Ending", "Idle", "Interrupted", "NewJob", "Turn"]


class NewJob(msgspec.Struct, frozen=True):
    """A job to be stored: its id, whose it is, its key and its targets; ``now`` in unix seconds."""

    id: str
    caller: Caller
    caller_class: str
    idem_key: str
    targets: tuple[Target, ...]
    now: float


class Caps(msgspec.Struct, frozen=True):
    """What a submit must stay within, and the unix seconds from which a finished job is fresh."""

    targets_per_job: int
    jobs_per_caller: int
    jobs_total: int
    fresh_from: float

    def check_targets(self, count: int) -> None:
        """Refuse a job of too many targets."""
        if count > self.targets_per_job:
            raise TooManyTargets(
                f"too many targets: {count} submitted, at most {self.targets_per_job} in one job; "
                "submit them as several jobs"
            )

    def check_live_jobs(self, *, of_caller: int, total: int) -> None:
        """Refuse one more live job of this caller, or of all."""
        if of_caller >= self.jobs_per_caller:
            raise CallerBusy(
                f"busy: this caller has {of_caller} live job(s), at most {self.jobs_per_caller}; "
                "wait until one is finished, or cancel one"
            )
        if total >= self.jobs_total:
            raise Busy(
                f"jobs busy: all callers together have {total} live job(s), at most {self.jobs_total}; try again later"
            )


class Creation(msgspec.Struct, frozen=True):
    """What a submit came to, whether its job lives, and how many live jobs there are right after it."""

    submission: Submission
    is_live: bool
    live: int


class Turn(msgspec.Struct, frozen=True):
    """One target's go: the job and target, and the lease that lets its outcome be stored.

    ``busy_for`` says for how many seconds the target had been coming back busy at ``taken_at`` (monotonic
    seconds); it is ``None`` for one that has not. ``created_at`` is the job's, in unix seconds. ``target`` is
    ``None`` when what the store holds of it cannot be read.
    """

    seq: int
    job_id: str
    owner: str
    epoch: int
    caller: Caller
    total: int
    done: int
    failed: int
    created_at: float
    busy_for: float | None
    taken_at: float
    target: Target | None

    def job_status_after(self, *, failed: bool) -> JobState:
        """The job's status once this turn's outcome is stored, unless the job was cancelled meanwhile."""
        return after_outcome(total=self.total, done=self.done + 1, failed=self.failed + failed)

    @property
    def key(self) -> tuple[int, int]:
        """The row of the job and the epoch, which name the turn."""
        return self.seq, self.epoch

    @property
    def idx(self) -> int:
        """The target's place in its job; jobs are serial, so it is the number of outcomes before it."""
        return self.done


class Idle(msgspec.Struct, frozen=True):
    """No turn to take: look again after ``wait`` seconds, or when something changes if it is ``None``."""

    wait: float | None


class Ending(msgspec.Struct, frozen=True):
    """How a turn ended in the store.

    ``status`` is the job's if this very turn finished it, else ``None``; ``live`` counts the live jobs and
    ``nbytes`` the stored bytes of all jobs right after it.
    """

    status: str | None
    live: int
    nbytes: int


class Cancellation(msgspec.Struct, frozen=True):
    """A job that a cancel ended: its row, when it was submitted, and the live jobs right after it."""

    seq: int
    created_at: float
    live: int


class Interrupted(msgspec.Struct, frozen=True):
    """A job whose runner had died, and when it was submitted."""

    job_id: str
    created_at: float
