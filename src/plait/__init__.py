"""Plait: fair, durable jobs and sandboxed parallel extensions; this is its public face, nothing is defined here.

A name is loaded when it is first used, so that ``import plait`` costs little, and ``plait.context`` and
``plait.starlark`` need nothing but Python's standard library.
"""

from __future__ import annotations

from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING

if _TYPE_CHECKING:
    from plait import starlark
    from plait.context import Cancelled, Context, ContextError, DeadlineExceeded
    from plait.jobs import (
        CLASS_FLEET,
        CLASS_RESTRICTED,
        Busy,
        Caller,
        CallerBusy,
        Config,
        FetchFunc,
        Hooks,
        InvalidTarget,
        Job,
        JobsError,
        JobState,
        JobStatus,
        NoTargets,
        Options,
        Result,
        RetryLater,
        Runner,
        RunnerClosed,
        Store,
        StoreError,
        StoreInUse,
        StoreTooNew,
        Submission,
        SubmitError,
        Target,
        TargetError,
        TargetState,
        TargetStatus,
        TooManyTargets,
        TurnContext,
        TurnKey,
        UnknownJob,
        idem_key,
    )

__all__ = [
    "CLASS_FLEET",
    "CLASS_RESTRICTED",
    "Busy",
    "Caller",
    "CallerBusy",
    "Cancelled",
    "Config",
    "Context",
    "ContextError",
    "DeadlineExceeded",
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
    "starlark",
]

_OF_CONTEXT = frozenset({"Cancelled", "Context", "ContextError", "DeadlineExceeded"})


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'plait' has no attribute {name!r}")
    if name == "starlark":
        return _import_module("plait.starlark")
    value: object = getattr(_import_module("plait.context" if name in _OF_CONTEXT else "plait.jobs"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
