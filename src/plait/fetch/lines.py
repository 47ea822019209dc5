"""The ``grep`` option: the lines that match an RE2 pattern, with their numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import re2

from plait.jobs.errors import TargetError

if TYPE_CHECKING:
    from plait.context import Context

__all__ = ["MAX_MATCHES", "MAX_MATCH_BYTES", "Matches", "compile_pattern", "matching_lines"]

MAX_MATCHES: Final = 1000
MAX_MATCH_BYTES: Final = 256 * 1024
_MAX_LINE: Final = 4000  # characters of one matching line that are shown
_MAX_PATTERN: Final = 1000
_MAX_MEMORY: Final = 8 * 1024 * 1024
_LINES_PER_CHECK: Final = 1000

_HINT: Final = "write the pattern in RE2's syntax: no backreferences, no look-around, repetitions of at most 1000"


@dataclass(frozen=True)
class Matches:
    """What ``grep`` found.

    Args:
        text: One ``LINENO:line`` for each matching line, numbers from 1.
        count: How many lines are in ``text``.
        truncated: True when there may be more, or a line was cut.
    """

    text: str
    count: int
    truncated: bool


def compile_pattern(pattern: str) -> Any:
    """Compile a pattern; RE2 runs in time linear in the text, whatever the pattern.

    Args:
        pattern: In RE2's syntax, at most 1000 characters.

    Raises:
        TargetError: 422, with RE2's reason.
    """
    if len(pattern) > _MAX_PATTERN:
        raise TargetError(f"the grep pattern is longer than {_MAX_PATTERN} characters", "shorten it", 422)
    options = re2.Options()
    options.log_errors = False  # RE2 would write the pattern to standard error
    options.max_mem = _MAX_MEMORY
    try:
        return re2.compile(pattern, options)
    except (re2.error, UnicodeError) as error:
        raise TargetError(f"the grep pattern is not valid: {_reason(error)}", _HINT, 422) from None


def matching_lines(ctx: Context, pattern: Any, text: str) -> Matches:
    r"""The lines of ``text`` that hold a match.

    Args:
        ctx: Ends the search when it ends.
        pattern: From ``compile_pattern``.
        text: Lines that end in ``\n`` or ``\r\n``.

    Raises:
        ContextError: The context ended.
    """
    found: list[str] = []
    size = 0
    truncated = False
    for number, line in enumerate(text.split("\n"), start=1):
        if number % _LINES_PER_CHECK == 0:
            ctx.check()
        bare = line.removesuffix("\r")
        if pattern.search(bare) is None:
            continue
        if len(found) == MAX_MATCHES:
            return Matches("\n".join(found), len(found), truncated=True)
        shown = f"{number}:{bare[:_MAX_LINE]}"
        size += len(shown.encode()) + 1
        if size > MAX_MATCH_BYTES:
            return Matches("\n".join(found), len(found), truncated=True)
        truncated = truncated or len(bare) > _MAX_LINE
        found.append(shown)
    return Matches("\n".join(found), len(found), truncated)


def _reason(error: Exception) -> str:
    """RE2's own words, which come as bytes or as text."""
    if isinstance(error, UnicodeError):
        return "it holds a character that is no text"
    reason = error.args[0] if error.args else "unknown"
    text = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
    return text[:200]
