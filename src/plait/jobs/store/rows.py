"""From rows to what they stand for, and back to the parameters of statements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from plait.jobs.errors import StoreError
from plait.jobs.model import Caller, Job, Options, Result, Target, TargetStatus
from plait.jobs.outcomes import Done
from plait.jobs.states import TARGET_TRANSITIONS, TargetEvent, TargetState
from plait.jobs.store.records import Turn

if TYPE_CHECKING:
    from plait.jobs.outcomes import Settled

__all__ = ["as_id", "job_of", "options_json", "outcome_parameters", "target_status_of", "turn_of", "turn_parameters"]

_ID_CHARACTERS: Final = 32
_NO_OPTIONS: Final = Options()
_encode_options: Final = msgspec.json.Encoder().encode
_decode_options: Final = msgspec.json.Decoder(Options).decode
_decode_result: Final = msgspec.json.Decoder(Result).decode


def as_id(job_id: object) -> str:
    """``job_id`` if it looks like one; else a text that no job has, and that every database takes."""
    looks = isinstance(job_id, str) and len(job_id) == _ID_CHARACTERS and job_id.isascii() and job_id.isprintable()
    return str(job_id) if looks else ""


def options_json(options: Options) -> str:
    """The JSON that a target's options are stored as."""
    return "{}" if options == _NO_OPTIONS else _encode_options(options).decode()


def _options(encoded: str) -> Options:
    return _NO_OPTIONS if encoded == "{}" else _decode_options(encoded)


_STATUS_DONE: Final = TARGET_TRANSITIONS[TargetState.RUNNING, TargetEvent.SUCCEED].value
_STATUS_FAILED: Final = TARGET_TRANSITIONS[TargetState.RUNNING, TargetEvent.FAIL].value


def turn_of(row: tuple[Any, ...], owner: str, now: float) -> Turn:
    """The turn that ``take_job`` took at ``now`` (monotonic seconds)."""
    seq, job_id, epoch, name, workspace, total, done, failed, created_at, busy_for, url, options = row
    caller = Caller(name, workspace)
    target = _target(url, options)
    return Turn(seq, job_id, owner, epoch, caller, total, done, failed, created_at, busy_for, now, target)


def _target(url: str, options: str) -> Target | None:
    try:
        return Target(url, _options(options))
    except (msgspec.MsgspecError, TypeError):  # a newer Plait may have written options that this one does not know
        return None


def turn_parameters(turn: Turn) -> dict[str, object]:
    """What names a turn in the statements that end it."""
    return {"seq": turn.seq, "idx": turn.done, "owner": turn.owner, "epoch": turn.epoch}


def outcome_parameters(outcome: Settled) -> dict[str, object]:
    """What ``settle_target`` stores of an outcome."""
    if isinstance(outcome, Done):
        return {"target_status": _STATUS_DONE, "result": outcome.result.decode(), "error": None, "hint": None}
    return {"target_status": _STATUS_FAILED, "result": None, "error": outcome.error, "hint": outcome.hint or None}


def job_of(row: tuple[Any, ...]) -> Job:
    """The job that ``read_job`` found."""
    _seq, job_id, caller, status, error, total, done, created_at = row
    return Job(job_id, caller, status, error, total, done, int(created_at))


def target_status_of(row: tuple[Any, ...]) -> TargetStatus:
    """The target that ``read_targets`` found."""
    idx, url, status, result, error, hint = row
    return TargetStatus(idx, url, status, _result(result), error or "", hint or "")


def _result(encoded: str | None) -> Result | None:
    if encoded is None:
        return None
    try:
        return _decode_result(encoded)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise StoreError(f"a stored result cannot be read: {type(error).__name__}", permanent=True) from error
