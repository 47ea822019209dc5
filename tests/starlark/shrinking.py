"""Shrinking: the smallest part of a program that still shows what the whole one shows."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

__all__ = ["shrunk"]

_TOKEN: Final = re.compile(r"\n *|[^\S\n]+|\w+|\"(?:\\.|[^\"\n\\])*\"|'(?:\\.|[^'\n\\])*'|[^\w\s]", re.DOTALL)
_SMALL: Final = ("", "1", "''", "[]")
_TRIES: Final = 4_000


def shrunk(source: str, shows: Callable[[str], bool]) -> str:
    """Shrink a program.

    Args:
        source: The program.
        shows: Tells whether a program shows what is looked for; true for the whole one.

    Returns:
        A program that shows it and of which no line and no token can be left out, within some thousand attempts.
    """
    left = [_TRIES]

    def tried(candidate: str) -> bool:
        left[0] -= 1
        return left[0] > 0 and shows(candidate)

    while left[0] > 0:
        before = source
        source = "\n".join(_fewest(source.split("\n"), lambda lines: tried("\n".join(lines))))
        tokens = _fewest(_TOKEN.findall(source), lambda tokens: tried("".join(tokens)))
        source = "".join(_without_brackets(tokens, lambda tokens: tried("".join(tokens))))
        if source == before:
            break
    return source


def _fewest(items: list[str], shows: Callable[[list[str]], bool]) -> list[str]:
    size = max(1, len(items) // 2)
    while size:
        at = 0
        while at < len(items):
            candidate = items[:at] + items[at + size :]
            if shows(candidate):
                items = candidate
            else:
                at += size
        size //= 2
    return items


def _without_brackets(tokens: list[str], shows: Callable[[list[str]], bool]) -> list[str]:
    at = 0
    while at < len(tokens):
        end = _closing(tokens, at)
        if end is not None:
            inner = tokens[at + 1 : end]
            for instead in (*([small] if small else [] for small in _SMALL), [tokens[at], tokens[end]], inner):
                candidate = [*tokens[:at], *instead, *tokens[end + 1 :]]
                if len("".join(candidate)) < len("".join(tokens)) and shows(candidate):
                    tokens = candidate
                    break
        at += 1
    return tokens


def _closing(tokens: Sequence[str], at: int) -> int | None:
    if tokens[at] not in "([{":
        return None
    depth = 0
    for end in range(at, len(tokens)):
        depth += (tokens[end] in "([{") - (tokens[end] in ")]}")
        if not depth:
            return end
    return None
