"""What a store asks of a database: transactions on the driver's own cursor, and the errors it may meet."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Protocol

from plait.jobs.store.statements import Statement, compile_statements

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from contextlib import AbstractContextManager

    from sqlalchemy import Engine

    from plait.jobs.store.sums import Sums

__all__ = ["Database", "Session"]


class _Cursor(Protocol):
    """What both drivers' cursors have in common, as far as it is used here."""

    @property
    def rowcount(self) -> int: ...

    def fetchall(self) -> list[tuple[Any, ...]]: ...


class _DriverConnection(Protocol):
    """What both drivers' connections have in common, as far as it is used here."""

    def execute(self, sql: str, parameters: Mapping[str, object], /) -> _Cursor: ...


class Session:
    """The statements of one transaction, run on the driver's own cursor.

    Parameters are always named, and a mapping may hold more than the statement uses.
    """

    __slots__ = ("_connection",)

    def __init__(self, connection: _DriverConnection) -> None:
        self._connection = connection

    def rows(self, statement: Statement, parameters: Mapping[str, object]) -> list[tuple[Any, ...]]:
        """Run a statement that returns rows; all are read, since an unread one would hold up the commit."""
        return self._connection.execute(statement.sql, parameters).fetchall()

    def row(self, statement: Statement, parameters: Mapping[str, object]) -> tuple[Any, ...] | None:
        """Run a statement that returns one row or none."""
        rows = self._connection.execute(statement.sql, parameters).fetchall()
        return rows[0] if rows else None

    def run(self, statement: Statement, parameters: Mapping[str, object]) -> None:
        """Run a statement that returns nothing."""
        self._connection.execute(statement.sql, parameters)

    def changes(self, statement: Statement, parameters: Mapping[str, object]) -> bool:
        """Run a statement that changes rows, or finds none to change."""
        return self._connection.execute(statement.sql, parameters).rowcount > 0

    def run_many(self, statement: Statement, parameters: Sequence[Mapping[str, object]]) -> None:
        """Run a statement once for each mapping."""
        for mapping in parameters:
            self._connection.execute(statement.sql, mapping)


class Database(ABC):
    """A database that holds a store: how its transactions begin and end, and what its errors mean.

    Args:
        engine: Owns the connections.
        name: What to call it in an error; never holds a password.
    """

    shared: bool
    """Whether several runners may work on it at once."""
    turn_lease_seconds: float | None
    """How long a turn's lease lasts unrenewed; ``None`` where nobody else could take the turn."""
    sums: Sums
    """The running sums over all jobs."""

    def __init__(self, engine: Engine, name: str) -> None:
        self.engine = engine
        self.name = name
        self.statements = compile_statements(engine.dialect)

    @abstractmethod
    def transaction(self, act: str) -> AbstractContextManager[Session]:
        """A transaction that writes: committed at the end of the block, rolled back when it raises.

        Args:
            act: What it does, for the error: ``"submit the job"``.

        Raises:
            StoreError: The database refused a statement or the commit; nothing of the block was kept.
        """

    @abstractmethod
    def snapshot(self, act: str) -> AbstractContextManager[Session]:
        """A transaction that only reads, and reads one state of the database; otherwise as ``transaction``."""

    @abstractmethod
    def lock_submits(self, session: Session) -> None:
        """Within a transaction, keep every other submit out until it ends."""

    @abstractmethod
    def claim(self) -> None:
        """Make this process the only runner, where the database allows just one.

        Raises:
            StoreInUse: Another runner works on it.
        """

    @abstractmethod
    def unclaim(self) -> None:
        """Let other runners in again."""

    @abstractmethod
    def close(self) -> None:
        """Close every connection."""
