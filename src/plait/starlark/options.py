"""Options: which extensions of the language a file may use."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Options"]


@dataclass(frozen=True, slots=True)
class Options:
    """Which extensions of the language a file may use.

    Attributes:
        set: The builtin ``set``.
        while_loops: ``while`` statements.
        top_level_control: ``if``, ``for`` and ``while`` outside functions.
        global_reassign: Global names may be assigned more than once, and top-level ``x += y``.
        load_binds_globally: ``load`` binds names of the module rather than of the file.
        recursion: Functions may call themselves, and ``while`` statements.
    """

    set: bool = True
    while_loops: bool = False
    top_level_control: bool = False
    global_reassign: bool = False
    load_binds_globally: bool = False
    recursion: bool = False
