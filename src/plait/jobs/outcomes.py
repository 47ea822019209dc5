"""Outcomes: what a FetchFunc returned or raised, as one tagged value that all else follows from."""

from __future__ import annotations

import re
import sys
import traceback
from pathlib import Path
from typing import Any, Final

import msgspec

from plait.jobs.errors import RetryLater, TargetError
from plait.jobs.model import Result

__all__ = [
    "INTERNAL_ERROR",
    "Busy",
    "Done",
    "Failed",
    "Outcome",
    "Returned",
    "Settled",
    "of_error",
    "of_value",
    "place_of",
    "unstorable",
]

INTERNAL_ERROR: Final = "internal error"
_ERROR_CLASSES: Final = (TargetError, OSError, ValueError, RuntimeError)
_CLASSES_OF_A_BUG: Final = (RecursionError, NotImplementedError)


class Done(msgspec.Struct, frozen=True):
    """The target is done.

    Args:
        result: The JSON of the ``Result``.
    """

    result: bytes

    @property
    def nbytes(self) -> int:
        """Bytes that the store keeps of it."""
        return len(self.result)


class Failed(msgspec.Struct, frozen=True):
    """The target failed.

    Args:
        error: The text to store.
        hint: What an agent can do about it; empty for none.
        cause: What ``Hooks.target`` gets; never the value of a panic.
        bug: For a panic: the type and place of it, for the log; empty otherwise.
    """

    error: str
    hint: str
    cause: Exception
    bug: str = ""

    @property
    def nbytes(self) -> int:
        """Bytes that the store keeps of it."""
        return len(self.error.encode()) + len(self.hint.encode())


class Busy(msgspec.Struct, frozen=True):
    """The target was only busy and is tried again.

    Args:
        after: Seconds that the target asked to be left alone; 0 for no wish.
        failure: What it becomes when it stays busy for too long.
    """

    after: float
    failure: Failed


class Returned(msgspec.Struct, frozen=True):
    """The turn ended without an outcome, since the runner closes or its job was cancelled before it began."""


Settled = Done | Failed
"""What is stored as a target's outcome."""
Outcome = Settled | Busy | Returned
"""All that a turn can end with."""


def unstorable(reason: str) -> Failed:
    """What becomes of an outcome that the store will never take, such as one that is too large for it."""
    error = TargetError(f"the outcome cannot be stored ({reason})", hint="ask for less of the target", status=507)
    return Failed(error.msg, error.hint, error)


def of_value(value: object) -> Settled:
    """The outcome of a FetchFunc that returned.

    A value that is no ``Result``, or one that JSON cannot give back, is a bug of the FetchFunc: a panic.
    """
    if not isinstance(value, Result):
        return _panic(f"{type(value).__name__} returned instead of plait.Result")
    try:
        return Done(_encoded(value))
    except Exception as error:  # noqa: BLE001 - whatever a caller's own type does in its encoding is its bug
        return _panic(f"{type(error).__name__}: plait.Result holds a value that JSON cannot")


def of_error(error: BaseException) -> Failed | Busy:
    """The outcome of a FetchFunc that raised (``batch-runner.md``, rule 3).

    Whatever an exception does when it is looked at, it has an outcome: one that misbehaves is a bug too.
    """
    try:
        return _classified(error)
    except BaseException:  # noqa: BLE001 - its text, causes or attributes may raise anything
        return _panic("an exception that cannot be looked at")


def _classified(error: BaseException) -> Failed | Busy:
    if isinstance(error, Exception):
        busy = _retry_later_in(error)
        if busy is not None:
            return Busy(_seconds(getattr(busy, "after", None)), _failure(error))
        if not _is_bug(error):
            return _failure(error)
    return _panic(f"{_type_name(error)} at {place_of(error)}")


def _failure(error: Exception) -> Failed:
    try:
        text, hint = _texts(error)
    except Exception as broken:  # noqa: BLE001 - an exception whose own text cannot be had is a bug
        return _panic(f"{_type_name(broken)} in the text of {_type_name(error)}")
    return Failed(text, hint, error)


def _texts(error: Exception) -> tuple[str, str]:
    if isinstance(error, TargetError):
        return _storable(str(error.msg)), _storable(str(error.hint))
    hint = getattr(error, "hint", "") if isinstance(error, RetryLater) else ""
    return _storable(str(error)) or _type_name(error), _storable(str(hint))


def _panic(bug: str) -> Failed:
    return Failed(INTERNAL_ERROR, "", TargetError(INTERNAL_ERROR, status=500), bug)


def _retry_later_in(error: BaseException) -> RetryLater | None:
    seen: set[int] = set()
    link: BaseException | None = error
    while link is not None and id(link) not in seen:
        if isinstance(link, RetryLater):
            return link
        seen.add(id(link))
        link = link.__cause__
    return None


def _is_bug(error: Exception) -> bool:
    """Whether ``error`` is of one of Python's bug classes rather than something that was meant to be raised."""
    if isinstance(error, _CLASSES_OF_A_BUG):
        return True
    if isinstance(error, _ERROR_CLASSES):
        return False
    if isinstance(error, ExceptionGroup):
        return any(_is_bug(part) for part in error.exceptions)
    if type(error) is Exception:  # plain, and so raised on purpose by somebody who wanted no class
        return False
    return _is_python_own(type(error)) and isinstance(error, _PYTHON_BUGS)


_PYTHON_BUGS: Final[tuple[type[Exception], ...]] = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    BufferError,
    EOFError,
    ImportError,
    LookupError,
    MemoryError,
    NameError,
    ReferenceError,
    StopAsyncIteration,
    StopIteration,
    SyntaxError,
    SystemError,
    TypeError,
    Warning,
)


def _is_python_own(kind: type[BaseException]) -> bool:
    return kind.__module__.partition(".")[0] in _STDLIB


_STDLIB: Final = sys.stdlib_module_names | {"builtins"}


def _seconds(after: object) -> float:
    """A wish for ``RetryLater.after`` as a number that can be waited; what is none is no wish."""
    if isinstance(after, (int, float)) and 0 < after < _LONGEST_WISH:
        return float(after)
    return 0.0


def _type_name(error: BaseException) -> str:
    return _loggable(type(error).__qualname__)


def place_of(error: BaseException) -> str:
    """Where ``error`` was raised, for the log: a file's name, line and function, and nothing of its value."""
    frames = traceback.extract_tb(error.__traceback__, limit=-1)
    if not frames:
        return "an unknown place"
    frame = frames[-1]
    return f"{_loggable(Path(frame.filename).name)}:{frame.lineno} in {_loggable(frame.name)}"


def _loggable(name: str) -> str:
    """A name as far as it cannot hold a URL; types and files may be named anything."""
    return _NOT_IN_A_NAME.sub("?", name)[:_NAME_CHARACTERS]


def _storable(text: str) -> str:
    """``text`` as any store can hold it: no lone surrogates, no NUL."""
    return _NOT_STORABLE.sub(_REPLACEMENT, text)


def _encoded(result: Result) -> bytes:
    """The JSON of ``result``, sure to be read back as one; lone surrogates, which UTF-8 lacks, are replaced."""
    parts: tuple[object, object] = (result.content, result.meta)  # a struct checks no types when it is made
    if not isinstance(parts[0], str) or not isinstance(parts[1], dict):
        raise TypeError("content must be a str and meta a dict")
    try:
        encoded = _encoder.encode(result)
    except UnicodeEncodeError:
        encoded = _encoder.encode(_with_replacements(msgspec.to_builtins(result)))
    if result.meta:
        _decoder.decode(encoded)
    return encoded


def _with_replacements(value: Any) -> Any:
    if isinstance(value, str):
        return _SURROGATES.sub(_REPLACEMENT, value)
    if isinstance(value, dict):
        return {_with_replacements(key): _with_replacements(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_with_replacements(item) for item in value]
    return value


_LONGEST_WISH: Final = 1e12  # seconds; a wish beyond is none
_NOT_IN_A_NAME: Final = re.compile(r"[^\w.<>-]")
_NAME_CHARACTERS: Final = 80
_REPLACEMENT: Final = "\N{REPLACEMENT CHARACTER}"
_SURROGATES: Final = re.compile("[\ud800-\udfff]")
_NOT_STORABLE: Final = re.compile("[\0\ud800-\udfff]")
_encoder: Final = msgspec.json.Encoder()
_decoder: Final = msgspec.json.Decoder(Result)
