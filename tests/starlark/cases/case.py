"""Case: a hostile script and how it has to end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, NamedTuple

__all__ = ["Case", "Ending", "any_of", "failing", "refused", "valued"]

Ending = Literal["refused", "failing", "valued", "bounded"]
"""How a script ends: before it runs, with a clean error, with a value, or with one of the last two."""

_NO_FILES: Final[Mapping[str, str]] = {}


class Case(NamedTuple):
    """A hostile script and how it has to end.

    Attributes:
        name: What it tries.
        source: The script; its result is in the global ``out``.
        ending: How it has to end.
        value: What ``repr(out)`` is when it ends with a value; ``None`` when that does not matter.
        files: Other modules that it may load, by name.
        mb: How much memory the process may have used in the end.
    """

    name: str
    source: str
    ending: Ending
    value: str | None = None
    files: Mapping[str, str] = _NO_FILES
    mb: int = 256


def refused(sources: Mapping[str, str]) -> list[Case]:
    """Scripts that are no Starlark: nothing of them may run."""
    return [Case(name, f"print('it runs')\n{source}", "refused") for name, source in sources.items()]


def failing(sources: Mapping[str, str], files: Mapping[str, str] = _NO_FILES) -> list[Case]:
    """Scripts that end with an error, whether before they run or while they do."""
    return [Case(name, source, "failing", files=files) for name, source in sources.items()]


def valued(sources: Mapping[str, tuple[str, str]], files: Mapping[str, str] = _NO_FILES) -> list[Case]:
    """Scripts that are in order, each with the text of its result."""
    return [Case(name, source, "valued", value, files) for name, (source, value) in sources.items()]


def any_of(
    sources: Mapping[str, tuple[str, str | None]], files: Mapping[str, str] = _NO_FILES, *, mb: int = 256
) -> list[Case]:
    """Scripts of which an engine may refuse to do the work; if it does the work, then rightly."""
    return [Case(name, source, "bounded", value, files, mb) for name, (source, value) in sources.items()]
