"""Every error that the jobs room raises or that a FetchFunc may raise, in one tree."""

from __future__ import annotations

__all__ = [
    "Busy",
    "CallerBusy",
    "InvalidTarget",
    "JobsError",
    "NoTargets",
    "RetryLater",
    "RunnerClosed",
    "StoreError",
    "StoreInUse",
    "StoreTooNew",
    "SubmitError",
    "TargetError",
    "TooManyTargets",
    "UnknownJob",
]


class JobsError(Exception):
    """What goes wrong in the jobs room.

    The tree::

        JobsError
        ├── SubmitError           the job was not taken; nothing was stored
        │   ├── NoTargets         the list of targets is empty
        │   ├── TooManyTargets    more than ``targets_per_job``
        │   ├── CallerBusy        the caller has ``jobs_per_caller`` live jobs
        │   ├── Busy              the runner has ``jobs_total`` live jobs
        │   └── InvalidTarget     a target that cannot be stored (also a ``ValueError``)
        ├── RunnerClosed          the runner takes no more work
        ├── UnknownJob            there is no such job (also a ``LookupError``)
        └── StoreError            the database refused or could not be reached
            ├── StoreInUse        another runner works on this file
            └── StoreTooNew       a newer Plait wrote this database

    A FetchFunc raises two more: ``TargetError`` (it failed) and ``RetryLater`` (it was only busy).
    """


class SubmitError(JobsError):
    """A job was not taken; nothing was stored."""


class NoTargets(SubmitError):
    """The list of targets is empty (``batch-runner.md``, rule 1)."""


class TooManyTargets(SubmitError):
    """The job has more targets than ``Config.targets_per_job`` (``batch-runner.md``, rule 1)."""


class CallerBusy(SubmitError):
    """The caller has ``Config.jobs_per_caller`` live jobs already (``batch-runner.md``, rule 1)."""


class Busy(SubmitError):
    """All callers together have ``Config.jobs_total`` live jobs already (``batch-runner.md``, rule 1)."""


class InvalidTarget(SubmitError, ValueError):
    """A target, an option or a caller has a wrong type or text that no store can hold."""


class RunnerClosed(JobsError):
    """The runner was closed and takes no more work."""


class UnknownJob(JobsError, LookupError):
    """There is no such job, or it was swept or evicted."""


class StoreError(JobsError):
    """The database refused a statement, or could not be opened or reached.

    Args:
        message: What could not be done, where and why.
        reason: The kind of failure and the database's code for it, without any value: fit for a log.
        permanent: Whether the same statement with the same values can never succeed.
    """

    def __init__(self, message: str, reason: str = "", *, permanent: bool = False) -> None:
        super().__init__(message)
        self.reason = reason or type(self).__name__
        self.permanent = permanent


class StoreInUse(StoreError):
    """Another runner, here or in another process, works on this SQLite file."""


class StoreTooNew(StoreError):
    """The database was written by a newer Plait than this one."""


class TargetError(Exception):
    """A target failed, with a hint for the agent that asked (``batch-runner.md``, interfaces).

    Args:
        msg: What went wrong; stored as the target's error.
        hint: What the agent can do next; stored as the target's hint.
        status: The HTTP status of the same failure; the runner ignores it, ``Hooks.target`` may read it.
    """

    def __init__(self, msg: str, hint: str = "", status: int = 502) -> None:
        super().__init__(msg)
        self.msg = msg
        self.hint = hint
        self.status = status


class RetryLater(Exception):
    """The target was only busy: try it again later (``batch-runner.md``, rule 3).

    It counts when it is raised itself or stands anywhere in the ``__cause__`` chain of what is raised.

    Args:
        msg: Stored as the target's error if it stays busy for longer than ``Config.retry_for``.
        after: Seconds to wait at least, from a ``Retry-After`` for example; ``None`` for no wish.
        hint: Stored as the target's hint in that case.
    """

    def __init__(self, msg: str = "retry later", after: float | None = None, hint: str = "") -> None:
        super().__init__(msg)
        self.after = after
        self.hint = hint
