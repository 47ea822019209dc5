"""The check of what a caller submits, made before anything else looks at it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from plait.jobs.errors import InvalidTarget
from plait.jobs.model import Caller, Options, Target

__all__ = ["MAX_NAME_BYTES", "MAX_TEXT_BYTES", "check_submission"]

MAX_NAME_BYTES: Final = 1024
"""The most bytes, in UTF-8, of a caller's name: it stands in indices, whose rows PostgreSQL bounds."""

MAX_TEXT_BYTES: Final = 64 * 1024
"""The most bytes, in UTF-8, that one text of a submission may have."""

_OPTION_TEXTS: Final = ("mode", "question", "pages", "grep", "jq")
_NAME_REMEDY: Final = "pass Caller(name=...) with the name that jobs are counted by"
_SHOWN_CHARACTERS: Final = 60
_SHOWN_TYPES: Final = (str, bytes, bool, int, float)
"""What an error message may echo; anything else may hold a key, so that only its type is named."""


def check_submission(caller: Caller, caller_class: str, targets: Sequence[Target]) -> None:
    """Return if the submission can be stored and handed to a FetchFunc as it is.

    How many targets there are is not looked at: the contract has errors of its own for that
    (``batch-runner.md``, rule 1).

    Args:
        caller: Who submits.
        caller_class: The class of the caller, such as ``CLASS_FLEET``.
        targets: What is to be done.

    Raises:
        InvalidTarget: Something has a wrong type, or a text is empty that must not be, holds a lone surrogate
            or a NUL, or is longer than ``MAX_TEXT_BYTES`` (a caller's name:
            ``MAX_NAME_BYTES``). The message, of one line, names the target by its number (from 1) and the field,
            and says what to do.
    """
    fault = _caller_fault(caller) or _caller_class_fault(caller_class) or _list_fault(targets)
    if fault is not None:
        raise InvalidTarget(fault)
    for number, target in enumerate(targets, 1):
        fault = _target_fault(target)
        if fault is not None:
            raise InvalidTarget(f"target {number}: {fault}")


def _caller_fault(caller: object) -> str | None:
    if not isinstance(caller, Caller):
        return f"caller must be a Caller, got {_type_name(caller)}; {_NAME_REMEDY}"
    for name in ("name", "workspace", "key_sha256"):
        # A key may have slipped into any of these, so that a wrong value is never shown.
        longest = MAX_NAME_BYTES if name == "name" else MAX_TEXT_BYTES
        fault = _text_fault(getattr(caller, name), shown=_type_name, longest=longest)
        if fault is not None:
            return f"caller.{name} {fault}"
    return None if caller.name else f"caller.name is empty; {_NAME_REMEDY}"


def _caller_class_fault(caller_class: object) -> str | None:
    if caller_class == "":
        return "caller_class is empty; pass the caller's class, such as 'fleet'"
    fault = _text_fault(caller_class, shown=_type_name)
    return fault and f"caller_class {fault}"


def _list_fault(targets: object) -> str | None:
    if isinstance(targets, Target):
        return "targets must be a list of Target, got one Target; pass it in a list, [target]"
    if isinstance(targets, Sequence) and not isinstance(targets, (str, bytes, bytearray, memoryview, range)):
        return None
    return f"targets must be a list of Target, got {_type_name(targets)}; pass [Target(url), ...]"


def _target_fault(target: object) -> str | None:
    if type(target) is not Target:
        return f"must be a Target itself, got {_shown(target)}; pass Target(url, Options(...))"
    fault = _text_fault(target.url)
    if fault is not None:
        return f"url {fault}"
    if not target.url:
        return "url is empty; pass what is to be worked on"
    return _options_fault(target.options)


def _options_fault(options: object) -> str | None:
    if type(options) is not Options:
        return f"options must be an Options itself, got {_shown(options)}; pass Options(mode=..., ...)"
    for name in _OPTION_TEXTS:
        fault = _text_fault(getattr(options, name))
        if fault is not None:
            return f"options.{name} {fault}"
    return _flag_fault("context", options.context, may_be_none=True) or _flag_fault("recover", options.recover)


def _flag_fault(name: str, flag: object, *, may_be_none: bool = False) -> str | None:
    if type(flag) is bool or (flag is None and may_be_none):
        return None
    allowed = "True, False or None" if may_be_none else "True or False"
    return f"options.{name} must be {allowed}, got {_shown(flag)}; pass one of these"


def _shown(value: object) -> str:
    """The type of a wrong value, and the value itself when it is plain data, cut short."""
    if type(value) not in _SHOWN_TYPES or (isinstance(value, int) and value.bit_length() > _SHOWN_CHARACTERS):
        return _type_name(value)
    # A long text is cut before it is written out, not to spell a megabyte for sixty characters.
    shown = repr(value[:_SHOWN_CHARACTERS] if isinstance(value, (str, bytes)) else value)
    if len(shown) > _SHOWN_CHARACTERS:
        shown = shown[: _SHOWN_CHARACTERS - 1] + "…"
    return f"{_type_name(value)} {shown}"


def _type_name(value: object) -> str:
    return "None" if value is None else type(value).__name__


def _text_fault(text: object, *, shown: Callable[[object], str] = _shown, longest: int = MAX_TEXT_BYTES) -> str | None:
    """What is wrong with a text that may be empty, as the end of a sentence that begins with its name."""
    if type(text) is not str:
        return f"must be a plain str, got {shown(text)}; pass text"
    try:
        size = len(text) if text.isascii() else len(text.encode())
    except UnicodeEncodeError as error:
        return f"holds a lone surrogate at character {error.start}, which no store can hold; replace it"
    if "\0" in text:
        return f"holds a NUL at character {text.index(chr(0))}, which no store can hold; remove it"
    if size > longest:
        return f"has {size} bytes in UTF-8, more than {longest}; shorten it"
    return None
