"""The ``grep`` option: the lines that match an RE2 pattern, with their numbers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import re2

from plait.jobs.errors import TargetError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plait.context import Context

__all__ = ["MAX_MATCHES", "MAX_MATCH_BYTES", "Matches", "Pattern", "compile_pattern", "matching_lines"]

MAX_MATCHES: Final = 1000
MAX_MATCH_BYTES: Final = 256 * 1024
_MAX_SHOWN: Final = 4000  # characters of one matching line
_MAX_SEARCHED: Final = 64 * 1024  # characters of one line; RE2 cannot be interrupted within it
_BLOCK: Final = 16 * 1024  # characters that are searched at once, to see whether their parts are worth a look
_PART: Final = 512  # characters of a block that are searched at once, to see whether their lines are
_MAX_PATTERN: Final = 1000
_MAX_MEMORY: Final = 1024 * 1024

_HINT: Final = "write the pattern in RE2's syntax: no backreferences, no look-around, repetitions of at most 1000"
# What means the line's edge when a line is searched by itself, but not within a block; or undoes the block's flag.
_ONLY_BY_LINE: Final = re.compile(r"\\[AzQ]|\(\?[a-zA-Z]*-")

_OVERLONG_REPETITION: Final = re.compile(r"(?<!\\)\{(?:[0-9]+,)?[0-9]{5,}(?:,[0-9]*)?\}")
_GROUP_NAME: Final = re.compile(r"(?<!\\)\(\?P?<(\w+)>")


@dataclass(frozen=True)
class Pattern:
    """A compiled pattern.

    Args:
        line: Matches within one line.
        block: Matches many lines if it matches one of them; ``None`` when that cannot be had.
    """

    line: Any
    block: Any | None


@dataclass(frozen=True)
class Matches:
    """What ``grep`` found.

    Args:
        text: One ``LINENO:line`` for each matching line, numbers from 1.
        count: How many lines are in ``text``.
        truncated: True when there may be more, or a line was not shown or searched to its end.
    """

    text: str
    count: int
    truncated: bool


def compile_pattern(pattern: str) -> Pattern:
    """Compile a pattern; RE2 runs in time linear in the text, whatever the pattern.

    Args:
        pattern: In RE2's syntax, at most 1000 characters.

    Raises:
        TargetError: 422, with RE2's reason.
    """
    if len(pattern) > _MAX_PATTERN:
        raise TargetError(f"the grep pattern is longer than {_MAX_PATTERN} characters", "shorten it", 422)
    flaw = _flaw(pattern)
    if flaw:
        raise TargetError(f"the grep pattern is not valid: {flaw}", _HINT, 422)
    try:
        line = re2.compile(pattern, _re2_options())
    except (re2.error, UnicodeError) as error:
        raise TargetError(f"the grep pattern is not valid: {_reason(error)}", _HINT, 422) from None
    return Pattern(line, None if _ONLY_BY_LINE.search(pattern) else _block_pattern(pattern))


def matching_lines(ctx: Context, pattern: Pattern, text: str) -> Matches:
    r"""The lines of ``text`` that hold a match.

    Args:
        ctx: Ends the search when it ends.
        pattern: From ``compile_pattern``.
        text: Lines that end in ``\n`` or ``\r\n``.

    Raises:
        ContextError: The context ended.
    """
    if not text:
        return Matches("", 0, truncated=False)
    found: list[str] = []
    size = 0
    truncated = False
    for number, line in _candidates(ctx, pattern, text.replace("\r\n", "\n").removesuffix("\n")):
        truncated = truncated or len(line) > _MAX_SEARCHED
        if pattern.line.search(line[:_MAX_SEARCHED]) is None:
            continue
        shown = f"{number}:{line[:_MAX_SHOWN]}"
        size += len(shown.encode()) + 1
        if len(found) == MAX_MATCHES or size > MAX_MATCH_BYTES:
            return Matches("\n".join(found), len(found), truncated=True)
        truncated = truncated or len(line) > _MAX_SHOWN
        found.append(shown)
    return Matches("\n".join(found), len(found), truncated)


def _candidates(ctx: Context, pattern: Pattern, text: str) -> Iterator[tuple[int, str]]:
    """The lines that may match, with their numbers: to search a block is far cheaper than to search its lines."""
    number = 1
    for block in _pieces(text, _BLOCK):
        ctx.check()
        parts = _pieces(block, _PART) if _may_match(pattern, block) else ()
        first = number
        number += block.count("\n") + 1
        for part in parts:
            if _may_match(pattern, part):
                yield from enumerate(part.split("\n"), start=first)
            first += part.count("\n") + 1


def _may_match(pattern: Pattern, piece: str) -> bool:
    return pattern.block is None or len(piece) > _MAX_SEARCHED or pattern.block.search(piece) is not None


def _pieces(text: str, size: int) -> Iterator[str]:
    """``text`` in pieces of whole lines, the line end between two of them left out."""
    at = 0
    while at <= len(text):
        end = text.find("\n", at + size)
        end = len(text) if end < 0 else end
        yield text[at:end]
        at = end + 1


def _flaw(pattern: str) -> str:
    """What RE2 lets pass in silence, though nobody can mean it; empty without such."""
    if _OVERLONG_REPETITION.search(pattern):
        return "a repetition is larger than 1000"  # RE2 would look for the braces themselves
    names = _GROUP_NAME.findall(pattern)
    return "two groups have the same name" if len(names) != len(set(names)) else ""


def _block_pattern(pattern: str) -> Any | None:
    """``pattern`` for many lines at once: ``^`` and ``$`` at every line, and no match across lines."""
    options = _re2_options()
    options.never_nl = True
    try:
        return re2.compile(f"(?m){pattern}", options)
    except re2.error:
        return None


def _re2_options() -> Any:
    options = re2.Options()
    options.log_errors = False  # RE2 would write the pattern to standard error
    options.max_mem = _MAX_MEMORY
    return options


def _reason(error: Exception) -> str:
    """RE2's own words, which come as bytes or as text."""
    if isinstance(error, UnicodeError):
        return "it holds a character that is no text"
    reason = error.args[0] if error.args else "unknown"
    text = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
    return text[:200]
