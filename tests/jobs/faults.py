"""Ways for an SQLite store to fail: triggers that refuse, locks, full disks, and a connection that breaks."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, Literal

from plait.jobs import Store
from tests.jobs.sites import PATIENCE

__all__ = ["BreakingConnection", "Trace", "breaking", "locked", "refuse", "relent", "set_pragma"]


def refuse(path: Path, table: str, verb: str, when: str = "1") -> None:
    """Make the database refuse a statement on a table, from a second connection.

    Args:
        path: The store's file.
        table: The table's name.
        verb: ``INSERT``, ``UPDATE`` or ``DELETE``.
        when: A condition on ``OLD`` and ``NEW``.
    """
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as second:
        second.execute(
            f"CREATE TRIGGER refusal_{table}_{verb} BEFORE {verb} ON {table} WHEN {when} "
            "BEGIN SELECT RAISE(ABORT, 'refused'); END"
        )


def relent(path: Path) -> None:
    """Take all refusals back."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as second:
        names = second.execute("SELECT name FROM sqlite_master WHERE type = 'trigger' AND name LIKE 'refusal%'")
        for (name,) in names.fetchall():
            second.execute(f"DROP TRIGGER {name}")


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Within the block, a second connection holds the write lock."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as second:
        second.execute("BEGIN EXCLUSIVE")
        yield
        second.execute("ROLLBACK")


def set_pragma(store: Store, pragma: str) -> Any:
    """Set something on the connection with which a store writes, and return what it answers."""
    database: Any = store._database
    with database._lock:
        rows = database._writer.execute(f"PRAGMA {pragma}").fetchall()
    return rows[0][0] if rows else None


Fault = Literal["", "instead", "after"]


class BreakingConnection:
    """In the place of the connection with which a store writes: some statements fail.

    ``_lock`` guards the count of statements.

    Args:
        real: The connection.
        fault: Tells for each statement, by its number from 1 and its SQL, whether it fails instead of being
            executed, or after that, or not at all.
    """

    def __init__(self, real: sqlite3.Connection, fault: Callable[[int, str], Fault]) -> None:
        self.real = real
        self._fault = fault
        self._lock = threading.Lock()
        self._count = 0
        self.broken: list[str] = []

    def restart(self, fault: Callable[[int, str], Fault]) -> None:
        """Count anew, with other faults."""
        with self._lock:
            self._count = 0
            self._fault = fault
            self.broken = []

    def execute(self, sql: str, parameters: Any = ()) -> sqlite3.Cursor:
        """Execute a statement, or fail, or both."""
        with self._lock:
            self._count += 1
            fault = self._fault(self._count, sql)
            if fault:
                self.broken.append(sql)
        if fault == "instead":
            raise sqlite3.OperationalError("disk I/O error")
        cursor = self.real.execute(sql, parameters)
        if fault == "after":
            raise sqlite3.OperationalError("disk I/O error")
        return cursor

    def __getattr__(self, name: str) -> Any:
        return getattr(self.real, name)


def breaking(store: Store, fault: Callable[[int, str], Fault]) -> BreakingConnection:
    """Put a connection that breaks into a store."""
    database: Any = store._database
    with database._lock:
        connection = BreakingConnection(database._writer, fault)
        database._writer = connection
    return connection


_WRITES: Final = ("INSERT", "UPDATE", "DELETE", "REPLACE", "CREATE", "DROP", "ALTER")


class Trace:
    """Every statement that a store's writing connection executes; ``_changed`` guards and tells of them."""

    def __init__(self, store: Store) -> None:
        database: Any = store._database
        self._changed = threading.Condition()
        self.statements: list[str] = []
        database._writer.set_trace_callback(self._note)

    def _note(self, sql: str) -> None:
        with self._changed:
            self.statements.append(" ".join(sql.split()))
            self._changed.notify_all()

    @property
    def writes(self) -> list[str]:
        """Those that write."""
        with self._changed:
            return [sql for sql in self.statements if sql.upper().startswith(_WRITES)]

    def count(self) -> int:
        """How many there were."""
        with self._changed:
            return len(self.statements)

    def wait_more(self, than: int, seconds: float) -> bool:
        """Whether there are more than so many statements within some seconds."""
        with self._changed:
            return self._changed.wait_for(lambda: len(self.statements) > than, seconds)

    def wait_idle(self, workers: int = 1, after: int = 0) -> None:
        """Wait until so many looks for work, counted from a place in the trace on, have found none.

        A worker that has looked in vain does not look again before it is woken.
        """
        with self._changed:
            arrived = self._changed.wait_for(lambda: self._looks_in_vain(after) >= workers, PATIENCE)
            statements = list(self.statements)
        assert arrived, f"not idle; statements: {statements}"

    def _looks_in_vain(self, after: int) -> int:
        vain = 0
        for number in range(after, len(self.statements) - 1):
            look = self.statements[number].startswith("SELECT min(")
            vain += look and self.statements[number + 1] == "COMMIT"
        return vain
