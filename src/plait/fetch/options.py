"""Options: what of a target's wishes this release can do, checked before anything is fetched."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from plait.fetch.extract import MODES
from plait.fetch.lines import compile_pattern
from plait.jobs.errors import TargetError
from plait.jobs.model import Options

__all__ = ["DEFAULT_MODE", "SUPPORTED_MODES", "Selection", "read_options"]

DEFAULT_MODE: Final = "markdown"
SUPPORTED_MODES: Final = (*MODES, "raw")
_LATER: Final = ("pages", "jq", "question", "context", "recover")
_NOTHING: Final = Options()
_SUPPORTED: Final = f"this release supports mode ({', '.join(SUPPORTED_MODES)}) and grep"


class Selection(msgspec.Struct, frozen=True):
    """A target's options, checked.

    Args:
        mode: One of ``SUPPORTED_MODES``.
        pattern: The compiled ``grep`` pattern, or ``None``.
    """

    mode: str
    pattern: Any = None


def read_options(options: Options) -> Selection:
    """Check a target's options.

    Args:
        options: As submitted.

    Raises:
        TargetError: 422: an option that this release does not have, an unknown mode, a pattern not of RE2.
    """
    for name in _LATER:
        if getattr(options, name) != getattr(_NOTHING, name):
            raise TargetError(f"the option {name!r} is not supported", f"leave it out: {_SUPPORTED}", 422)
    mode = options.mode or DEFAULT_MODE
    if mode not in SUPPORTED_MODES:
        raise TargetError(f"the mode {mode[:40]!r} is not supported", f"use another: {_SUPPORTED}", 422)
    return Selection(mode, compile_pattern(options.grep) if options.grep else None)
