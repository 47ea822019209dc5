"""The types of a job: what is submitted, what comes back, and how a runner is set up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec

from plait.context import Context

__all__ = [
    "CLASS_FLEET",
    "CLASS_RESTRICTED",
    "Caller",
    "Config",
    "FetchFunc",
    "Hooks",
    "Job",
    "JobStatus",
    "Options",
    "Result",
    "Submission",
    "Target",
    "TargetStatus",
    "TurnContext",
    "TurnKey",
]

CLASS_FLEET: Final = "fleet"
"""The class of a caller with the fleet's rights."""
CLASS_RESTRICTED: Final = "restricted"
"""The class of a caller with fewer."""


class Caller(msgspec.Struct, frozen=True):
    """Who submits.

    Args:
        name: The caller's name; caps and idempotency are counted by it.
        workspace: The workspace it acts in, for the FetchFunc.
        key_sha256: The hex SHA-256 of its API key; kept in memory only, never stored.
    """

    name: str
    workspace: str = ""
    key_sha256: str = ""


class Options(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What to make of a target; JSON as the contract's Go struct writes it: in this order, empty ones left out.

    Args:
        mode: The form of the content; empty for the FetchFunc's default.
        question: Ask for the passages that answer it.
        pages: Pages of a document, such as ``"1-3,7"``.
        grep: A pattern; only matching lines come back.
        jq: A jq program over a JSON document.
        context: Whether passages come with their neighbours; ``None`` for the FetchFunc's default.
        recover: Whether a dead page may be looked up in an archive.
    """

    mode: str = ""
    question: str = ""
    pages: str = ""
    grep: str = ""
    jq: str = ""
    context: bool | None = None
    recover: bool = False


class Target(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One thing to do.

    Args:
        url: What the FetchFunc works on; the runner does not look into it.
        options: What to make of it.
    """

    url: str
    options: Options = Options()


class Result(msgspec.Struct, frozen=True, omit_defaults=True):
    """A finished target, stored as JSON.

    Args:
        content: What was asked for.
        meta: Anything else that is to be known, as JSON values.
    """

    content: str
    meta: dict[str, Any] = {}


class TurnKey(msgspec.Struct, frozen=True):
    """What names one turn among all, for a FetchFunc that must not act twice.

    Args:
        job: The job's id.
        idx: The target's place in it.
        epoch: Rises with every turn of the job, so also when a target is tried again.
    """

    job: str
    idx: int
    epoch: int


class TurnContext(Context):
    """The context of one turn: cancelled when the runner closes, and with the turn's key.

    Args:
        parent: The runner's context.
        turn: The turn's key.
    """

    __slots__ = ("turn",)

    def __init__(self, parent: Context, turn: TurnKey) -> None:
        super().__init__(parent=parent)
        self.turn = turn


FetchFunc = Callable[[TurnContext, Caller, Target], Result]
"""Does one target for the caller that submitted the job; see ``TargetError`` and ``RetryLater``."""


class Job(msgspec.Struct, frozen=True):
    """How a job stands.

    Args:
        id: 16 random bytes in hex.
        caller: The name of the caller that submitted it.
        status: ``queued``, ``running``, ``done``, ``partial``, ``failed`` or ``cancelled``.
        error: Why the job as a whole failed, if it did; empty otherwise.
        targets_total: How many targets it has.
        targets_done: How many outcomes are stored, good or bad.
        created_at: When it was submitted, in unix seconds.
    """

    id: str
    caller: str
    status: str
    error: str
    targets_total: int
    targets_done: int
    created_at: int


class TargetStatus(msgspec.Struct, frozen=True, omit_defaults=True):
    """How a target stands.

    Args:
        idx: Its place in the job, from 0.
        url: What was submitted.
        status: ``pending``, ``running``, ``done`` or ``failed``.
        result: What came back, when it is ``done``.
        error: What went wrong, when it ``failed``.
        hint: What can be done about it, when it ``failed``.
    """

    idx: int
    url: str
    status: str
    result: Result | None = None
    error: str = ""
    hint: str = ""


class JobStatus(msgspec.Struct, frozen=True):
    """A job and its targets, read in one snapshot.

    Args:
        job: The job.
        targets: Its targets, in the order submitted.
    """

    job: Job
    targets: list[TargetStatus]


class Submission(msgspec.Struct, frozen=True):
    """What ``Runner.submit`` answers.

    Args:
        id: The job's id.
        reused: True when the same targets were submitted before and that job is returned.
    """

    id: str
    reused: bool


class Hooks(msgspec.Struct, frozen=True):
    """Observers for metrics; any may be left out. One that raises is logged and hurts nothing.

    Args:
        job: Called with ``created``, ``reused``, ``done``, ``partial``, ``failed`` or ``cancelled``.
        target: Called once for each stored target with the error (``None`` on success), the seconds that
            fetching took and the bytes of the result's JSON.
        job_seconds: Called with the seconds from submit to terminal status, once for each job.
        depth: Called with the number of live jobs after every change of it.
        inflight: Called with the number of targets being fetched after every change of it.

    Raises:
        TypeError: One cannot be called.
    """

    job: Callable[[str], object] | None = None
    target: Callable[[BaseException | None, float, int], object] | None = None
    job_seconds: Callable[[float], object] | None = None
    depth: Callable[[int], object] | None = None
    inflight: Callable[[int], object] | None = None

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            hook = getattr(self, name)
            if hook is not None and not callable(hook):
                raise TypeError(f"Hooks.{name} must be something to call, got {type(hook).__name__}")


_DEFAULTS: Final[dict[str, float]] = {
    "ttl": 24 * 3600,
    "targets_per_job": 32,
    "jobs_per_caller": 1,
    "jobs_total": 8,
    "workers": 1,
    "max_bytes": 64 * 1024 * 1024,
    "retry_wait": 2.0,
    "retry_for": 600.0,
}
_LARGEST: Final = 2**62  # of anything, which leaves room for sums
_WHOLE: Final = frozenset({"targets_per_job", "jobs_per_caller", "jobs_total", "workers", "max_bytes"})
_MAX_WORKERS: Final = 2


class Config(msgspec.Struct, frozen=True):
    """How a runner works (``batch-runner.md``, interfaces). A zero means the default, as in the contract.

    Args:
        ttl: Seconds that a job is kept and reused after its last touch; 24 h.
        targets_per_job: The most targets in one job; 32.
        jobs_per_caller: The most live jobs of one caller; 1.
        jobs_total: The most live jobs of all callers; 8.
        workers: Threads that do targets; 1, and values above 2 are clamped to 2.
        max_bytes: Bytes of stored results above which the oldest finished jobs are evicted; 64 MiB.
        retry_wait: Seconds before a busy target is tried again; 2.
        retry_for: Seconds that one target may keep coming back busy; 600.
        hooks: Observers for metrics.

    Raises:
        TypeError: A value is no number, or ``hooks`` are no ``Hooks``.
        ValueError: A value is negative or not finite.
    """

    ttl: float = 0
    targets_per_job: int = 0
    jobs_per_caller: int = 0
    jobs_total: int = 0
    workers: int = 0
    max_bytes: int = 0
    retry_wait: float = 0
    retry_for: float = 0
    hooks: Hooks = Hooks()

    def __post_init__(self) -> None:
        for name, default in _DEFAULTS.items():
            value = _checked(name, getattr(self, name)) or default
            msgspec.structs.force_setattr(self, name, min(value, _MAX_WORKERS) if name == "workers" else value)
        if not isinstance(self.hooks, Hooks):
            raise TypeError(f"Config.hooks must be plait.Hooks, got {type(self.hooks).__name__}")


def _checked(name: str, value: object) -> float:
    """``value`` if it is a number that ``Config`` can hold."""
    whole = name in _WHOLE
    if isinstance(value, bool) or not isinstance(value, int if whole else (int, float)):
        kind = "a whole number" if whole else "a number of seconds"
        raise TypeError(f"Config.{name} must be {kind}, got {type(value).__name__}")
    if not 0 <= value <= _LARGEST:
        raise ValueError(f"Config.{name} must be 0 (for the default) or more and finite, got {value}")
    return value
