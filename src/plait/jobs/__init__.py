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
)
from plait.jobs.runner import Runner
from plait.jobs.store import Store
from plait.jobs.workers import TurnContext, TurnKey

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
    "TargetStatus",
    "TooManyTargets",
    "TurnContext",
    "TurnKey",
    "idem_key",
]
