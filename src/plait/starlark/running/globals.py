"""Globals: what the run of a module leaves behind."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Final

from plait.starlark.running.freezing import frozen_all
from plait.starlark.values import Bool

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Globals"]

_SCALARS: Final = frozenset({type(None), Bool, int, float, str})


class Globals:
    """What the run of a module leaves behind: its names and their values, frozen.

    Threads may share it. A module that nothing outside can know of yet is frozen when somebody first asks for a value
    that could change: most runs are made for a number or a text.

    Args:
        name: The module's file.
        names: The names that others may see, in the order of the file.
        values: The values by name, names that others may not see among them; taken over.
        later: Freeze when asked, not now: no reference to any of the values has left the module.
    """

    __slots__ = ("_lock", "_names", "_pending", "_values", "name")

    def __init__(self, name: str, names: tuple[str, ...], values: dict[str, Any], *, later: bool = False) -> None:
        self.name = name
        self._names = names
        self._values = values
        self._pending = True
        # Held while the values are frozen; nothing is called out to. Whoever reads `_pending` as false needs no lock.
        self._lock = threading.Lock()
        if not later:
            self._freeze()

    def _freeze(self) -> None:
        with self._lock:
            if self._pending:
                values = self._values
                self._values = dict(zip(values, frozen_all(list(values.values())), strict=True))
                self._pending = False

    def __getitem__(self, name: str) -> Any:
        """Return the value of a name.

        Raises:
            KeyError: The module does not bind it, or loaded it from another.
        """
        if name not in self:
            raise KeyError(name)
        if self._pending and type(self._values[name]) not in _SCALARS:
            self._freeze()
        return self._values[name]

    def __contains__(self, name: object) -> bool:
        return name in self._names and name in self._values

    def __iter__(self) -> Iterator[str]:
        return (name for name in self._names if name in self._values)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def get(self, name: str, default: Any = None) -> Any:
        """Return the value of a name, or the default."""
        return self[name] if name in self else default  # noqa: SIM401 - this is that very method

    def items(self) -> list[tuple[str, Any]]:
        """Return names and values in the order of the file."""
        return [(name, self[name]) for name in self]

    def __repr__(self) -> str:
        return f"<module {self.name!r}>"
