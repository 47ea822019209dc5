"""Whether a list, dict or set may change now: not when it is frozen, iterated or lent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plait.starlark.errors import EvalError, FrozenError
from plait.starlark.values import FrozenDict, FrozenList, FrozenSet, type_name

if TYPE_CHECKING:
    from plait.starlark.thread import Thread

__all__ = ["FROZEN", "LENT", "check_mutable", "lock", "unlock"]

FROZEN = "frozen"
LENT = "lent"

_FROZEN_TYPES = frozenset({FrozenList, FrozenDict, FrozenSet})


def check_mutable(thread: Thread, value: Any, verb: str) -> None:
    """Refuse to change a value that is frozen, iterated over or lent.

    Args:
        thread: The thread that wants to.
        value: A list, dict or set.
        verb: What it wants to do, for the message: ``append to``, ``insert into``, ``clear``.

    Raises:
        FrozenError: The value is frozen.
        EvalError: The value is being iterated over, or lent to a concurrent branch.
    """
    if type(value) in _FROZEN_TYPES:
        raise FrozenError(f"cannot {verb} frozen {_noun(value)}")
    if thread.guard is None or (entry := thread.guard.get(id(value))) is None:
        return
    if entry[2] == FROZEN:
        raise FrozenError(f"cannot {verb} frozen {_noun(value)}")
    if entry[2] == LENT:
        raise EvalError(f"cannot {verb} {type_name(value)}: lent to a concurrent branch")
    raise EvalError(f"cannot {verb} {_noun(value)} during iteration")


def _noun(value: Any) -> str:
    return "hash table" if isinstance(value, dict) else "list"


def lock(thread: Thread, value: Any) -> None:
    """Refuse changes of the value until as many calls of ``unlock``."""
    guard = thread.guard
    if guard is None:
        thread.guard = {id(value): [value, 1, None]}
    elif (entry := guard.get(id(value))) is None:
        guard[id(value)] = [value, 1, None]
    else:
        entry[1] += 1


def unlock(thread: Thread, value: Any) -> None:
    """Undo one ``lock`` of the value."""
    guard = thread.guard
    if guard is None or (entry := guard.get(id(value))) is None:
        return
    entry[1] -= 1
    if entry[1] <= 0 and entry[2] is None:
        del guard[id(value)]
        if not guard:
            thread.guard = None
