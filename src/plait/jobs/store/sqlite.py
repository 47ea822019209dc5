"""SQLite as a store's database: one file or memory, one connection that writes, one runner at a time."""

from __future__ import annotations

import sqlite3
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sqlalchemy import create_engine, event
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import QueuePool, StaticPool
from typing_extensions import override

from plait.jobs.errors import StoreError, StoreInUse
from plait.jobs.store.database import Database
from plait.jobs.store.migrate import migrate
from plait.jobs.store.schema import VERSION_TABLE
from plait.jobs.store.session import Session
from plait.jobs.store.sums import MemorySums

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from types import TracebackType

    from sqlalchemy import Connection, Engine
    from sqlalchemy.engine import URL
    from sqlalchemy.pool import PoolProxiedConnection

__all__ = ["SQLiteDatabase"]

_OLDEST: Final = (3, 35, 0)  # the first with RETURNING
_BUSY_SECONDS: Final = 5.0
_BUSY_WAIT_SECONDS: Final = 0.01
_SHOWN_CHARACTERS: Final = 80
_TOUCH: Final = f"UPDATE {VERSION_TABLE} SET version_num = version_num"  # noqa: S608 - our own constant


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

    def __init__(self, url: URL, synchronous: str) -> None:
        self.path = _file_of(url)
        self.in_memory = self.path is None
        _check_sqlite_version()
        super().__init__(_sqlite_engine(url, synchronous, in_memory=self.path is None), _sqlite_name(self.path))
        self.sums = MemorySums(self.statements)
        self._lock = threading.Lock()
        self._claim: sqlite3.Connection | None = None
        self._claimed_memory = False
        self._closed = False
        try:
            _check_file(self.path)
            with self.engine.connect() as connection, connection.begin():
                migrate(connection, self.name)
                # SQLite says that a file is read-only when it is written to, and not before.
                connection.exec_driver_sql(_TOUCH)
            self._pooled: PoolProxiedConnection | None = None
            self._writer: sqlite3.Connection = self._connect()
        except StoreError:
            self.engine.dispose()
            raise
        except (sqlite3.Error, SQLAlchemyError, OSError) as error:
            self.engine.dispose()
            raise StoreError(f"cannot open {self.name}: {_sqlite_advice(error)}") from error

    @override
    def transaction(self, act: str) -> AbstractContextManager[Session]:
        return _WriterTransaction(self, act, "BEGIN IMMEDIATE")

    @override
    def snapshot(self, act: str) -> AbstractContextManager[Session]:
        self.check_open(act)
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
            self.sums.forget_all()  # another runner may have worked on the file since they were counted

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
                if self._pooled is not None:
                    self._pooled.close()
                self.engine.dispose()

    def begin(self, act: str, begin: str) -> Session:
        """Start a transaction on the writing connection and take its lock; for ``_WriterTransaction``."""
        self._lock.acquire()
        try:
            self.check_open(act)
            if self._pooled is None:
                self._writer = self._connect()
            self._writer.execute(begin)
        except (sqlite3.Error, SQLAlchemyError) as error:
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
                self.sums.keep()
            except sqlite3.Error as error:
                self._roll_back()
                raise self.refused(act, error) from error
        finally:
            self._lock.release()

    def refused(self, act: str, error: BaseException) -> StoreError:
        """The error that a caller gets for a driver's."""
        code = _sqlite_code(error)
        message = f"cannot {act} in {self.name}: {_sqlite_advice(error)}"
        return StoreError(message, code, permanent=code in _PERMANENT)

    def check_open(self, act: str) -> None:
        """Refuse to do anything once the store is closed."""
        if self._closed:
            raise StoreError(f"cannot {act}: {self.name} is closed")

    def _roll_back(self) -> None:
        self.sums.forget()
        try:
            if self._writer.in_transaction:
                self._writer.execute("ROLLBACK")
        except sqlite3.Error:
            # The connection is beyond use, as after an I/O error; SQLite rolls back when the file is opened next,
            # which the next transaction does.
            if self._pooled is not None:
                self._pooled.invalidate()
                self._pooled = None

    def _connect(self) -> sqlite3.Connection:
        """The connection that writes, opened."""
        self._pooled = self.engine.raw_connection()
        return _sqlite_connection(self._pooled)


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
        _use_wal(connection)
        connection.execute(f"PRAGMA synchronous={synchronous}")
        connection.execute("PRAGMA foreign_keys=ON")

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        # Only migrations run through SQLAlchemy's own execution; this makes their DDL one transaction.
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    return engine


def _use_wal(connection: sqlite3.Connection) -> None:
    """Turn on the write-ahead log; of several processes that do so to a fresh file at once, one after the other.

    SQLite does not wait for a lock here, whatever its busy time-out, when waiting could be for ever.
    """
    until = time.monotonic() + _BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
            time.sleep(_BUSY_WAIT_SECONDS)
        else:
            return


def _sqlite_connection(pooled: PoolProxiedConnection) -> sqlite3.Connection:
    connection = pooled.driver_connection
    if not isinstance(connection, sqlite3.Connection):
        raise TypeError(f"expected a connection of sqlite3, got {type(connection).__name__}")
    return connection


def _check_sqlite_version() -> None:
    if sqlite3.sqlite_version_info < _OLDEST:
        wanted = ".".join(map(str, _OLDEST))
        raise StoreError(f"this Python brings SQLite {sqlite3.sqlite_version}; Plait needs {wanted} or newer")


def _file_of(url: URL) -> Path | None:
    """The file that an SQLite URL names, links followed; ``None`` for memory."""
    if not url.database or url.database == ":memory:":
        return None
    try:
        return Path(url.database).resolve()
    except (ValueError, OSError) as error:
        raise StoreError(f"cannot open {_shown(url.database)}: it is no name that a file can have ({error})") from error


def _shown(name: str) -> str:
    return ascii(name) if len(name) <= _SHOWN_CHARACTERS else f"{name[:_SHOWN_CHARACTERS]!a}…"


def _sqlite_name(path: Path | None) -> str:
    return "the store in memory" if path is None else f"store {_shown(path.name)}"


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
    connection: sqlite3.Connection | None = None
    try:
        connection = sqlite3.connect(f"{path}-runner", timeout=0, isolation_level=None, check_same_thread=False)
        connection.execute("BEGIN EXCLUSIVE")
    except sqlite3.Error as error:
        if connection is not None:
            connection.close()
        if _sqlite_code(error).startswith("SQLITE_BUSY"):
            raise StoreInUse(
                f"{name} is in use by another process's runner; end that one, or name another store"
            ) from error
        raise StoreError(f"cannot lock {name}: {_sqlite_advice(error)}") from error
    return connection


_PERMANENT: Final = frozenset({"SQLITE_TOOBIG", "SQLITE_MISMATCH", "DataError", "OverflowError", "UnicodeEncodeError"})
_SQLITE_ADVICE: Final = {
    "SQLITE_BUSY": "another process holds its write lock; try again",
    "SQLITE_LOCKED": "another connection holds its write lock; try again",
    "SQLITE_FULL": "the disk is full; make room",
    "SQLITE_READONLY": "it cannot be written; check the permissions of the file and its folder",
    "SQLITE_CANTOPEN": "it cannot be opened or created; check the path and its permissions",
    "SQLITE_NOTADB": "it is no SQLite database; name another file",
    "SQLITE_CORRUPT": "it is damaged; restore it, or name another file",
    "SQLITE_IOERR": "the disk failed; check it",
    "SQLITE_TOOBIG": "it is too large for SQLite",
}


def _sqlite_code(error: BaseException) -> str:
    original = getattr(error, "orig", None) or error
    return str(getattr(original, "sqlite_errorname", "") or type(original).__name__)


def _sqlite_advice(error: BaseException) -> str:
    code = _sqlite_code(error)
    base = "_".join(code.split("_")[:2])
    advice = _SQLITE_ADVICE.get(base)
    text = str(getattr(error, "orig", None) or error).partition("\n")[0]
    return f"{advice or text} ({code})"
