"""Contract 1: jobs of targets, drained one at a time in fair rotation, every outcome stored."""

from __future__ import annotations

from plait.jobs.errors import (
    Busy,
    CallerBusy,
    InvalidTarget,
    JobsError,
    NoTargets,
    RetryLater,
    RunnerClosed,
    StoreError,
    StoreInUse,
    StoreTooNew,
    SubmitError,
    TargetError,
    TooManyTargets,
    UnknownJob,
)
from plait.jobs.idempotency import idem_key
from plait.jobs.model import (
    CLASS_FLEET,
    CLASS_RESTRICTED,
    Caller,
    Config,
    FetchFunc,
    Hooks,
    Job,
    JobStatus,
    Options,
    Result,
    Submission,
    Target,
    TargetStatus,
    TurnContext,
    TurnKey,
)
from plait.jobs.runner import Runner
from plait.jobs.states import JobState, TargetState
from plait.jobs.store import Store

__all__ = [
    "CLASS_FLEET",
    "CLASS_RESTRICTED",
    "Busy",
    "Caller",
    "CallerBusy",
    "Config",
    "FetchFunc",
    "Hooks",
    "InvalidTarget",
    "Job",
    "JobState",
    "JobStatus",
    "JobsError",
    "NoTargets",
    "Options",
    "Result",
    "RetryLater",
    "Runner",
    "RunnerClosed",
    "Store",
    "StoreError",
    "StoreInUse",
    "StoreTooNew",
    "Submission",
    "SubmitError",
    "Target",
    "TargetError",
    "TargetState",
    "TargetStatus",
    "TooManyTargets",
    "TurnContext",
    "TurnKey",
    "UnknownJob",
    "idem_key",
]
