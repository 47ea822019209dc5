"""Comparison: equality, order, membership and keys, gathered from the modules that decide them."""

from __future__ import annotations

from plait.starlark.comparison.equality import equal
from plait.starlark.comparison.hashing import check_hashable, store
from plait.starlark.comparison.membership import contains
from plait.starlark.comparison.sorting import ordered, sort

__all__ = ["check_hashable", "contains", "equal", "ordered", "sort", "store"]
