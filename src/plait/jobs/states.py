"""The states of jobs and targets with their events, as one table that code, tests and the diagram derive from."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

__all__ = [
    "JOB_TRANSITIONS",
    "LIVE_STATES",
    "REUSABLE_STATES",
    "TARGET_TRANSITIONS",
    "JobEvent",
    "JobState",
    "TargetEvent",
    "TargetState",
    "after_outcome",
    "job_states_that_accept",
]


class JobState(StrEnum):
    """How a job stands; the four last are terminal."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    PARTIAL = "partial"
    FAILED = "failed"
    CANCELLED = "cancelled"


class JobEvent(StrEnum):
    """What can happen to a job."""

    TAKE = "take"  # a worker takes its next target
    RETURN = "return"  # the target came back unstored: busy, or the runner closes
    STORE_MORE = "store more"  # an outcome is stored, and targets are left
    STORE_LAST_ALL_DONE = "store last: all done"
    STORE_LAST_ALL_FAILED = "store last: all failed"
    STORE_LAST_MIXED = "store last: a mix"
    CANCEL = "cancel"
    INTERRUPT = "interrupt"  # a runner starts on a store whose last runner died


class TargetState(StrEnum):
    """How a target stands; the two last are terminal."""

    PENDING = "pending"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


class TargetEvent(StrEnum):
    """What can happen to a target."""

    TAKE = "take"
    RETURN = "return"
    SUCCEED = "succeed"
    FAIL = "fail"


JOB_TRANSITIONS: Final[dict[tuple[JobState, JobEvent], JobState]] = {
    (JobState.QUEUED, JobEvent.TAKE): JobState.RUNNING,
    (JobState.QUEUED, JobEvent.CANCEL): JobState.CANCELLED,
    (JobState.QUEUED, JobEvent.INTERRUPT): JobState.FAILED,
    (JobState.RUNNING, JobEvent.TAKE): JobState.RUNNING,
    (JobState.RUNNING, JobEvent.RETURN): JobState.RUNNING,
    (JobState.RUNNING, JobEvent.STORE_MORE): JobState.RUNNING,
    (JobState.RUNNING, JobEvent.STORE_LAST_ALL_DONE): JobState.DONE,
    (JobState.RUNNING, JobEvent.STORE_LAST_ALL_FAILED): JobState.FAILED,
    (JobState.RUNNING, JobEvent.STORE_LAST_MIXED): JobState.PARTIAL,
    (JobState.RUNNING, JobEvent.CANCEL): JobState.CANCELLED,
    (JobState.RUNNING, JobEvent.INTERRUPT): JobState.FAILED,
    # The target in flight when a job is cancelled finishes and is stored; that never changes the job again.
    (JobState.CANCELLED, JobEvent.RETURN): JobState.CANCELLED,
    (JobState.CANCELLED, JobEvent.STORE_MORE): JobState.CANCELLED,
    (JobState.CANCELLED, JobEvent.STORE_LAST_ALL_DONE): JobState.CANCELLED,
    (JobState.CANCELLED, JobEvent.STORE_LAST_ALL_FAILED): JobState.CANCELLED,
    (JobState.CANCELLED, JobEvent.STORE_LAST_MIXED): JobState.CANCELLED,
}
"""What follows from an event in a state; a pair that is not here is refused and changes nothing."""

TARGET_TRANSITIONS: Final[dict[tuple[TargetState, TargetEvent], TargetState]] = {
    (TargetState.PENDING, TargetEvent.TAKE): TargetState.RUNNING,
    (TargetState.RUNNING, TargetEvent.RETURN): TargetState.PENDING,
    (TargetState.RUNNING, TargetEvent.SUCCEED): TargetState.DONE,
    (TargetState.RUNNING, TargetEvent.FAIL): TargetState.FAILED,
}
"""What follows from an event in a state; a pair that is not here is refused and changes nothing."""


def job_states_that_accept(event: JobEvent) -> frozenset[JobState]:
    """The states in which ``event`` does something."""
    return frozenset(state for state, known in JOB_TRANSITIONS if known is event)


LIVE_STATES: Final = job_states_that_accept(JobEvent.CANCEL)
"""The states of a job that is in the rotation: those that can still be cancelled."""

REUSABLE_STATES: Final = LIVE_STATES | {JobState.DONE, JobState.PARTIAL}
"""The states of a job that an equal submit gets back (``batch-runner.md``, rule 1)."""


def after_outcome(*, total: int, done: int, failed: int) -> JobState:
    """The state of a running job once one more outcome is counted in (``batch-runner.md``, rule 4).

    Args:
        total: The job's targets.
        done: Outcomes stored, the new one among them.
        failed: How many of those failed.
    """
    return JOB_TRANSITIONS[JobState.RUNNING, _event_of_outcome(total, done, failed)]


def _event_of_outcome(total: int, done: int, failed: int) -> JobEvent:
    if done < total:
        return JobEvent.STORE_MORE
    if failed == 0:
        return JobEvent.STORE_LAST_ALL_DONE
    if failed == total:
        return JobEvent.STORE_LAST_ALL_FAILED
    return JobEvent.STORE_LAST_MIXED
