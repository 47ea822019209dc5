"""Spelling: the name that somebody probably meant."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["nearest"]


def nearest(name: str, candidates: Iterable[str]) -> str | None:
    """Return the candidate closest to the name, or ``None`` when none is close.

    A letter's case and underscores do not count; half of the name's letters may differ.

    Args:
        name: What was written, of which at most 200 characters are looked at.
        candidates: What could have been meant.

    Returns:
        The closest candidate, the first of several that are equally close.
    """
    if len(name) > 200:
        return None
    wanted = _folded(name)
    best, best_distance = None, (len(wanted) + 1) // 2
    for candidate in candidates:
        distance = _distance(wanted, _folded(candidate), best_distance)
        if distance < best_distance:
            best, best_distance = candidate, distance
    return best


def _folded(name: str) -> str:
    return name.lower().replace("_", "")


def _distance(x: str, y: str, limit: int) -> int:
    """Return the Levenshtein distance, or anything from ``limit`` on when it is at least that."""
    if x == y:
        return 0
    if abs(len(x) - len(y)) > limit:
        return limit
    row = list(range(len(y) + 1))
    for i, a in enumerate(x, 1):
        previous, row[0] = row[0], i
        best = i
        for j, b in enumerate(y, 1):
            previous, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, previous + (a != b))
            best = min(best, row[j])
        if best > limit:
            return limit
    return row[-1]
