"""Collisions: keys that a script made to share one hash are found before looking them up takes long."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from plait.starlark.errors import EvalError

if TYPE_CHECKING:
    from plait.starlark.thread import Thread

__all__ = ["FORGEABLE_BITS", "check_collisions", "note_hash"]

FORGEABLE_BITS: Final = 60
"""Integers of more bits than this can share a hash: CPython's is the remainder modulo 2**61 - 1."""

_COLLISIONS_MAX: Final = 128
"""Keys of one table that may share a hash; honest ones do so by the dozen at most."""

_NOTED: Final = object()
"""Key in ``Thread.locals``: a key for each hash that was noted, and how many others had it."""

_NOTED_MAX: Final = 4_096
"""Hashes that are noted at a time."""


class _Probe:
    """A key that is equal to no other and counts those that have its hash."""

    __slots__ = ("code", "met")

    def __init__(self, code: int) -> None:
        self.code = code
        self.met = 0

    def __hash__(self) -> int:
        return self.code

    def __eq__(self, other: object) -> bool:
        self.met += 1
        if self.met > _COLLISIONS_MAX + 1:  # the key itself is among them
            raise _too_many()
        return False


class _TupleProbe(tuple[Any, ...]):
    """A probe for tuples, which hashes itself without a call of Python code."""

    met = 0

    __hash__ = tuple.__hash__

    def __eq__(self, other: object) -> bool:
        # As the instance of a subclass it is asked first, whichever of the two stands on the left.
        self.met += 1
        if self.met > _COLLISIONS_MAX + 1:  # the key itself is among them
            raise _too_many()
        return False


def _too_many() -> EvalError:
    return EvalError(f"more than {_COLLISIONS_MAX} keys with the same hash")


def check_collisions(table: dict[Any, Any], key: Any) -> None:
    """Refuse a key whose hash too many others of the table have: each look-up would compare it with all of them.

    Args:
        table: A dict or set, which has the key already.
        key: The key.

    Raises:
        EvalError: There are too many.
    """
    if type(key) is tuple:
        _TupleProbe(key) in table  # noqa: B015 - the look-up itself is what counts them
    elif type(key) is not int or key.bit_length() > FORGEABLE_BITS:
        _Probe(hash(key)) in table  # noqa: B015 - as above


def note_hash(thread: Thread, key: Any) -> None:
    """Count the keys that have a hash in common, of the last ones that a thread stored out of reach.

    Args:
        thread: The thread, which remembers them.
        key: Another such key, which is hashable.

    Raises:
        EvalError: Too many different ones have its hash.
    """
    noted: tuple[dict[int, Any], dict[int, int]] | None = thread.locals.get(_NOTED)
    if noted is None or len(noted[0]) >= _NOTED_MAX:
        noted = thread.locals[_NOTED] = ({}, {})
    seen, counts = noted
    code = hash(key)
    first = seen.setdefault(code, key)
    if first is key or first == key:
        return
    counts[code] = counts.get(code, 0) + 1
    if counts[code] > _COLLISIONS_MAX:
        raise _too_many()
