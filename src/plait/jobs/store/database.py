"""The one door to the database drivers: opening, transactions on the driver's own cursor, and their errors."""

from __future__ import annotations

import sqlite3
import threading
from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from sqlalchemy import create_engine, event
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import QueuePool, StaticPool
from typing_extensions import override

from plait.jobs.errors import StoreError, StoreInUse
from plait.jobs.store.migrate import migrate
from plait.jobs.store.statements import Statement, Statements

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from contextlib import AbstractContextManager
    from types import TracebackType

    from sqlalchemy import Connection, Engine
    from sqlalchemy.engine import URL
    from sqlalchemy.pool import PoolProxiedConnection

__all__ = ["Database", "PostgresDatabase", "SQLiteDatabase", "Session"]

_SQLITE_OLDEST: Final = (3, 35, 0)  # the first with RETURNING
_BUSY_SECONDS: Final = 5.0
_TURN_LEASE_SECONDS: Final = 30.0
_MIGRATION_LOCK: Final = 0x706C6169  # "plai", any number that no other program locks


class _Cursor(Protocol):
    """What both drivers' cursors have in common, as far as it is used here."""

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
    usage_shards: int
    """Rows that the running sums are spread over."""

    def __init__(self, engine: Engine, name: str) -> None:
        self.engine = engine
        self.name = name
        self.statements: Statements = Statements(engine.dialect)

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


class SQLiteDatabase(Database):
    """An SQLite file or memory, which one runner at a time works on.

    One connection writes; ``_lock`` guards it and is held for the length of a transaction. A file's
    readers have connections of their own and never wait for the writer.

    Args:
        url: ``sqlite:///path`` or ``sqlite://``.
        synchronous: SQLite's durability, ``NORMAL`` or ``FULL``.
    """

    shared = False
    turn_lease_seconds = None
    usage_shards = 1

    def __init__(self, url: URL, synchronous: str) -> None:
        self.path = _file_of(url)
        _check_sqlite_version()
        super().__init__(_sqlite_engine(url, synchronous, in_memory=self.path is None), _sqlite_name(self.path))
        self._lock = threading.Lock()
        self._claim: sqlite3.Connection | None = None
        self._claimed_memory = False
        self._closed = False
        try:
            _check_file(self.path)
            with self.engine.connect() as connection, connection.begin():
                migrate(connection, self.name)
            self._pooled: PoolProxiedConnection = self.engine.raw_connection()
        except StoreError:
            self.engine.dispose()
            raise
        except (sqlite3.Error, SQLAlchemyError, OSError) as error:
            self.engine.dispose()
            raise StoreError(f"cannot open {self.name}: {_sqlite_advice(error)}") from error
        self._writer: sqlite3.Connection = _sqlite_connection(self._pooled)

    @override
    def transaction(self, act: str) -> AbstractContextManager[Session]:
        return _WriterTransaction(self, act, "BEGIN IMMEDIATE")

    @override
    def snapshot(self, act: str) -> AbstractContextManager[Session]:
        if self.path is None:
            return _WriterTransaction(self, act, "BEGIN")
        return _ReaderTransaction(self, act)

    @override
    def lock_submits(self, session: Session) -> None:
        """Nothing to do: ``BEGIN IMMEDIATE`` lets one writer in at a time."""

    @override
    def claim(self) -> None:
        with self._lock:
            if self._claim is not None or self._claimed_memory:
                raise StoreInUse(f"{self.name} has a runner in this process already; close that one first")
            if self.path is None:
                self._claimed_memory = True
            else:
                self._claim = _locked_beside(self.path, self.name)

    @override
    def unclaim(self) -> None:
        with self._lock:
            self._claimed_memory = False
            if self._claim is not None:
                self._claim.close()
                self._claim = None

    @override
    def close(self) -> None:
        self.unclaim()
        with self._lock:
            if not self._closed:
                self._closed = True
                self._pooled.close()
                self.engine.dispose()

    def begin(self, act: str, begin: str) -> Session:
        """Start a transaction on the writing connection and take its lock; for ``_WriterTransaction``."""
        self._lock.acquire()
        try:
            self._check_open(act)
            self._writer.execute(begin)
        except sqlite3.Error as error:
            self._lock.release()
            raise self.refused(act, error) from error
        except BaseException:
            self._lock.release()
            raise
        return Session(self._writer)

    def end(self, act: str, failure: BaseException | None) -> None:
        """Commit, or roll back after a failure, and release the lock; for ``_WriterTransaction``."""
        try:
            if failure is not None:
                self._roll_back()
                return
            try:
                self._writer.execute("COMMIT")
            except sqlite3.Error as error:
                self._roll_back()
                raise self.refused(act, error) from error
        finally:
            self._lock.release()

    def refused(self, act: str, error: BaseException) -> StoreError:
        """The error that a caller gets for a driver's."""
        return StoreError(f"cannot {act} in {self.name}: {_sqlite_advice(error)}", _sqlite_code(error))

    def _check_open(self, act: str) -> None:
        if self._closed:
            raise StoreError(f"cannot {act}: {self.name} is closed")

    def _roll_back(self) -> None:
        try:
            if self._writer.in_transaction:
                self._writer.execute("ROLLBACK")
        except sqlite3.Error:
            # The connection is beyond use, as after an I/O error; SQLite rolls back when the file is opened next.
            self._pooled.invalidate()
            self._pooled = self.engine.raw_connection()
            self._writer = _sqlite_connection(self._pooled)


class _WriterTransaction:
    """A transaction on the one connection that writes."""

    __slots__ = ("_act", "_begin", "_database")

    def __init__(self, database: SQLiteDatabase, act: str, begin: str) -> None:
        self._database = database
        self._act = act
        self._begin = begin

    def __enter__(self) -> Session:
        return self._database.begin(self._act, self._begin)

    def __exit__(
        self, _kind: type[BaseException] | None, error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._database.end(self._act, error)
        if isinstance(error, _DRIVER_FAULTS):
            raise self._database.refused(self._act, error) from error


class _ReaderTransaction:
    """A snapshot of a file, read on a connection of its own."""

    __slots__ = ("_act", "_connection", "_database", "_pooled")

    def __init__(self, database: SQLiteDatabase, act: str) -> None:
        self._database = database
        self._act = act

    def __enter__(self) -> Session:
        try:
            self._pooled = self._database.engine.raw_connection()
            self._connection = _sqlite_connection(self._pooled)
            self._connection.execute("BEGIN")
        except (sqlite3.Error, SQLAlchemyError) as error:
            raise self._database.refused(self._act, error) from error
        return Session(self._connection)

    def __exit__(
        self, _kind: type[BaseException] | None, error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._pooled.close()  # the pool rolls back, which ends the snapshot
        if isinstance(error, _DRIVER_FAULTS):
            raise self._database.refused(self._act, error) from error


_DRIVER_FAULTS: Final = (sqlite3.Error, OverflowError, UnicodeError)


def _sqlite_engine(url: URL, synchronous: str, *, in_memory: bool) -> Engine:
    engine = create_engine(
        url,
        poolclass=StaticPool if in_memory else QueuePool,
        connect_args={"check_same_thread": False, "timeout": _BUSY_SECONDS, "isolation_level": None},
        paramstyle="named",
    )

    @event.listens_for(engine, "connect")
    def _set_up(connection: sqlite3.Connection, _record: object) -> None:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute(f"PRAGMA synchronous={synchronous}")
        connection.execute("PRAGMA foreign_keys=ON")

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        # Only migrations run through SQLAlchemy's own execution; this makes their DDL one transaction.
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    return engine


def _sqlite_connection(pooled: PoolProxiedConnection) -> sqlite3.Connection:
    connection = pooled.driver_connection
    if not isinstance(connection, sqlite3.Connection):
        raise TypeError(f"expected a connection of sqlite3, got {type(connection).__name__}")
    return connection


def _check_sqlite_version() -> None:
    if sqlite3.sqlite_version_info < _SQLITE_OLDEST:
        wanted = ".".join(map(str, _SQLITE_OLDEST))
        raise StoreError(f"this Python brings SQLite {sqlite3.sqlite_version}; Plait needs {wanted} or newer")


def _file_of(url: URL) -> Path | None:
    """The file that an SQLite URL names, links followed; ``None`` for memory."""
    if not url.database or url.database == ":memory:":
        return None
    return Path(url.database).resolve()


def _sqlite_name(path: Path | None) -> str:
    return "the store in memory" if path is None else f"store {path.name!r}"


def _check_file(path: Path | None) -> None:
    """Say what SQLite's own "unable to open database file" leaves open."""
    if path is None:
        return
    name = _sqlite_name(path)
    if not path.parent.is_dir():
        raise StoreError(f"cannot open {name}: the folder {str(path.parent)!r} does not exist; create it first")
    if path.is_dir():
        raise StoreError(f"cannot open {name}: it is a folder; name a file in it")


def _locked_beside(path: Path, name: str) -> sqlite3.Connection:
    """Hold a lock on a file beside the store for as long as the answer is open.

    The lock is SQLite's own exclusive one on an empty database: it works wherever SQLite does, and the
    operating system drops it with the process, whatever ends that.
    """
    connection = sqlite3.connect(f"{path}-runner", timeout=0, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("BEGIN EXCLUSIVE")
    except sqlite3.Error as error:
        connection.close()
        if _sqlite_code(error).startswith("SQLITE_BUSY"):
            raise StoreInUse(
                f"{name} is in use by another process's runner; end that one, or name another store"
            ) from error
        raise StoreError(f"cannot lock {name}: {_sqlite_advice(error)}") from error
    return connection


_SQLITE_ADVICE: Final = {
    "SQLITE_BUSY": "another process holds its write lock; try again",
    "SQLITE_LOCKED": "another connection holds its write lock; try again",
    "SQLITE_FULL": "the disk is full; make room",
    "SQLITE_READONLY": "it cannot be written; check the permissions of the file and its folder",
    "SQLITE_CANTOPEN": "it cannot be opened or created; check the path and its permissions",
    "SQLITE_NOTADB": "it is no SQLite database; name another file",
    "SQLITE_CORRUPT": "it is damaged; restore it, or name another file",
    "SQLITE_IOERR": "the disk failed; check it",
}


def _sqlite_code(error: BaseException) -> str:
    original = getattr(error, "orig", error)
    return str(getattr(original, "sqlite_errorname", "") or type(original).__name__)


def _sqlite_advice(error: BaseException) -> str:
    code = _sqlite_code(error)
    base = "_".join(code.split("_")[:2])
    advice = _SQLITE_ADVICE.get(base)
    return f"{advice} ({code})" if advice else f"{error} ({code})"


class PostgresDatabase(Database):
    """A PostgreSQL database, which any number of runners on any number of machines may share.

    Each transaction has a connection of its own from the engine's pool.

    Args:
        url: ``postgresql+psycopg://…``.
    """

    shared = True
    turn_lease_seconds = _TURN_LEASE_SECONDS
    usage_shards = 16

    def __init__(self, url: URL) -> None:
        name = f"store {url.database!r} on PostgreSQL"
        try:
            engine = create_engine(url, pool_pre_ping=False)
        except ModuleNotFoundError as error:
            raise StoreError(
                f"cannot open {name}: its driver is not installed; run: pip install 'plait[postgres]'"
            ) from error
        super().__init__(engine, name)
        try:
            with engine.begin() as connection:
                connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_MIGRATION_LOCK})")
                migrate(connection, name)
        except StoreError:
            engine.dispose()
            raise
        except SQLAlchemyError as error:
            engine.dispose()
            raise StoreError(f"cannot open {name}: {_postgres_reason(error)}") from error

    @override
    def transaction(self, act: str) -> AbstractContextManager[Session]:
        return _PostgresTransaction(self, act)

    @override
    def snapshot(self, act: str) -> AbstractContextManager[Session]:
        return _PostgresTransaction(self, act, "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")

    @override
    def lock_submits(self, session: Session) -> None:
        """One lock for all callers: the cap on all jobs needs it, and it makes the caller's cap exact too."""
        session.rows(Statement("lock_submits", f"SELECT pg_advisory_xact_lock({_MIGRATION_LOCK + 1})"), {})

    @override
    def claim(self) -> None:
        """Nothing to do: leases keep runners apart."""

    @override
    def unclaim(self) -> None:
        """Nothing to do: see ``claim``."""

    @override
    def close(self) -> None:
        self.engine.dispose()


class _PostgresTransaction:
    """A transaction on a connection from the pool."""

    __slots__ = ("_act", "_database", "_pooled", "_set_up")

    def __init__(self, database: PostgresDatabase, act: str, set_up: str = "") -> None:
        self._database = database
        self._act = act
        self._set_up = set_up

    def __enter__(self) -> Session:
        try:
            self._pooled = self._database.engine.raw_connection()
            connection: Any = self._pooled.driver_connection
            if self._set_up:
                connection.execute(self._set_up)
        except (SQLAlchemyError, self._driver_error()) as error:
            raise self._refused(error) from error
        return Session(connection)

    def __exit__(
        self, _kind: type[BaseException] | None, error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        driver_error = self._driver_error()
        try:
            if error is None:
                self._pooled.commit()
        except driver_error as failure:
            error = failure
        if isinstance(error, driver_error):
            self._pooled.invalidate()  # it may be broken, and a new connection is cheap beside an error
            raise self._refused(error) from error
        self._pooled.close()  # the pool rolls back what was not committed

    def _driver_error(self) -> type[Exception]:
        dbapi: Any = self._database.engine.dialect.dbapi
        return dbapi.Error  # type: ignore[no-any-return]  # DBAPI modules are untyped

    def _refused(self, error: BaseException) -> StoreError:
        reason = _postgres_reason(error)
        return StoreError(f"cannot {self._act} in {self._database.name}: {reason}", reason)


def _postgres_reason(error: BaseException) -> str:
    """The kind of error and its SQLSTATE; the server's own words may quote a row, and so a URL."""
    original = getattr(error, "orig", None) or error
    state = getattr(original, "sqlstate", None)
    return f"{type(original).__name__} ({state})" if state else type(original).__name__
