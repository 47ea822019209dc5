"""The statements of one transaction, run on the driver's own cursor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plait.jobs.store.statements import Parameters, Statement

__all__ = ["Session"]


class _Cursor(Protocol):
    """What both drivers' cursors have in common, as far as it is used here."""

    @property
    def rowcount(self) -> int: ...

    def fetchall(self) -> list[tuple[Any, ...]]: ...


class _DriverConnection(Protocol):
    """What both drivers' connections have in common, as far as it is used here."""

    def execute(self, sql: str, parameters: Any, /) -> _Cursor: ...


class Session:
    """The statements of one transaction, run on the driver's own cursor.

    Parameters are always named, and a mapping may hold more than the statement uses.
    """

    __slots__ = ("_connection",)

    def __init__(self, connection: _DriverConnection) -> None:
        self._connection = connection

    def rows(self, statement: Statement, parameters: Parameters) -> list[tuple[Any, ...]]:
        """Run a statement that returns rows; all are read, since an unread one would hold up the commit."""
        return self._connection.execute(statement.sql, statement.bind(parameters)).fetchall()

    def row(self, statement: Statement, parameters: Parameters) -> tuple[Any, ...] | None:
        """Run a statement that returns one row or none."""
        rows = self._connection.execute(statement.sql, statement.bind(parameters)).fetchall()
        return rows[0] if rows else None

    def run(self, statement: Statement, parameters: Parameters) -> None:
        """Run a statement that returns nothing."""
        self._connection.execute(statement.sql, statement.bind(parameters))

    def changes(self, statement: Statement, parameters: Parameters) -> bool:
        """Run a statement that changes rows, or finds none to change."""
        return self._connection.execute(statement.sql, statement.bind(parameters)).rowcount > 0

    def run_many(self, statement: Statement, parameters: Sequence[Parameters]) -> None:
        """Run a statement once for each mapping."""
        for mapping in parameters:
            self._connection.execute(statement.sql, statement.bind(mapping))
