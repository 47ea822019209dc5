"""PostgreSQL as a store's database: any number of runners on any number of machines share it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import create_engine
from sqlalchemy.exc import SQLAlchemyError
from typing_extensions import override

from plait.jobs.errors import StoreError
from plait.jobs.store.database import Database
from plait.jobs.store.migrate import migrate
from plait.jobs.store.session import Session
from plait.jobs.store.statements import Statement
from plait.jobs.store.sums import TableSums

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from types import TracebackType

    from sqlalchemy.engine import URL
    from sqlalchemy.pool import PoolProxiedConnection

__all__ = ["PostgresDatabase"]

_TURN_LEASE_SECONDS: Final = 30.0
_CONNECT_SECONDS: Final = 10
# Correctness rests on READ COMMITTED; and no peer that was stopped within a transaction may hold up the others.
_SESSION: Final = (
    "-c default_transaction_isolation=read\\ committed -c lock_timeout=10s -c statement_timeout=60s "
    "-c idle_in_transaction_session_timeout=20s"
)
_MIGRATION_LOCK: Final = 0x706C6169  # "plai", any number that no other program locks

_LOCK_SUBMITS: Final = Statement("lock_submits", f"SELECT pg_advisory_xact_lock({_MIGRATION_LOCK + 1})", dict)


class PostgresDatabase(Database):
    """A PostgreSQL database, which any number of runners on any number of machines may share.

    Each transaction has a connection of its own from the engine's pool.

    Args:
        url: ``postgresql+psycopg://…``.
    """

    shared = True
    turn_lease_seconds = _TURN_LEASE_SECONDS

    def __init__(self, url: URL) -> None:
        name = f"store {url.database!r} on PostgreSQL"
        try:
            # A connection is tried before it is used: after a restart of the server, all in the pool are dead.
            engine = create_engine(
                url, pool_pre_ping=True, connect_args={"connect_timeout": _CONNECT_SECONDS, "options": _SESSION}
            )
        except ModuleNotFoundError as error:
            raise StoreError(
                f"cannot open {name}: its driver is not installed; run: pip install 'plait[postgres]'"
            ) from error
        super().__init__(engine, name)
        self.sums = TableSums(self.statements)
        self._closed = False
        try:
            with engine.begin() as connection:
                connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_MIGRATION_LOCK})")
                migrate(connection, name)
        except StoreError:
            engine.dispose()
            raise
        except SQLAlchemyError as error:
            engine.dispose()
            raise StoreError(f"cannot open {name}: {_postgres_advice(error)}", _postgres_reason(error)) from error

    @override
    def transaction(self, act: str) -> AbstractContextManager[Session]:
        return _PostgresTransaction(self, act)

    @override
    def snapshot(self, act: str) -> AbstractContextManager[Session]:
        return _PostgresTransaction(self, act, "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")

    @override
    def lock_submits(self, session: Session) -> None:
        """One lock for all callers: the cap on all jobs needs it, and it makes the caller's cap exact too."""
        session.rows(_LOCK_SUBMITS, {})

    @override
    def claim(self) -> None:
        """Nothing to do: leases keep runners apart."""

    @override
    def unclaim(self) -> None:
        """Nothing to do: see ``claim``."""

    @override
    def close(self) -> None:
        self._closed = True
        self.engine.dispose()

    def connect(self, act: str) -> PoolProxiedConnection:
        """A connection from the pool, for ``_PostgresTransaction``."""
        if self._closed:
            raise StoreError(f"cannot {act}: {self.name} is closed")
        return self.engine.raw_connection()


class _PostgresTransaction:
    """A transaction on a connection from the pool."""

    __slots__ = ("_act", "_database", "_pooled", "_set_up")

    def __init__(self, database: PostgresDatabase, act: str, set_up: str = "") -> None:
        self._database = database
        self._act = act
        self._set_up = set_up

    def __enter__(self) -> Session:
        try:
            self._pooled = self._database.connect(self._act)
        except (SQLAlchemyError, self._driver_error()) as error:
            raise self._refused(error) from error
        connection: Any = self._pooled.driver_connection
        if self._set_up:
            self._run_set_up(connection)
        return Session(connection)

    def _run_set_up(self, connection: Any) -> None:
        try:
            connection.execute(self._set_up)
        except self._driver_error() as error:
            self._pooled.invalidate()
            raise self._refused(error) from error

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
            if _sqlstate(error)[:2] in _CONNECTION_LOST:
                self._database.engine.dispose()  # then the others in the pool are lost as well
            raise self._refused(error) from error
        self._pooled.close()  # the pool rolls back what was not committed
        if isinstance(error, UnicodeError):
            raise self._refused(error) from error

    def _driver_error(self) -> type[Exception]:
        dbapi: Any = self._database.engine.dialect.dbapi
        return dbapi.Error  # type: ignore[no-any-return]  # DBAPI modules are untyped

    def _refused(self, error: BaseException) -> StoreError:
        message = f"cannot {self._act} in {self._database.name}: {_postgres_advice(error)}"
        permanent = _sqlstate(error)[:2] in _PERMANENT or isinstance(error, UnicodeError)
        return StoreError(message, _postgres_reason(error), permanent=permanent)


def _postgres_reason(error: BaseException) -> str:
    """The kind of error and its SQLSTATE; the server's own words may quote a row, and so a URL."""
    original = getattr(error, "orig", None) or error
    state = _sqlstate(error)
    return f"{type(original).__name__} ({state})" if state else type(original).__name__


def _sqlstate(error: BaseException) -> str:
    """The server's code for an error; empty for one that it did not report."""
    original = getattr(error, "orig", None) or error
    return getattr(original, "sqlstate", None) or ""


_SERVER_ADVICE: Final = "see that the server runs and that the URL's host, port and user are right"
_PERMANENT: Final = frozenset({"22", "54"})  # bad values, and values beyond a limit
_CONNECTION_LOST: Final = frozenset({"", "08", "57"})
_ADVICE: Final = {
    "08": _SERVER_ADVICE,
    "28": "it refuses this user or password; check the URL's",
    "3D": "there is no such database; create it first",
    "40": "another transaction was in the way; try again",
    "42501": "this user lacks a right; grant it CREATE and USAGE on the schema and all rights on its tables",
    "53": "the server is short of connections, memory or disk; make room",
    "57": "the server is shutting down or starting; try again",
}

_ADVICE_WITHOUT_CODE: Final = {  # what libpq meets before there is a session
    "OperationalError": _SERVER_ADVICE,
    "ProgrammingError": "the URL has an option that libpq does not know; correct or remove it",
}


def _postgres_advice(error: BaseException) -> str:
    """What can be done, and the reason; never the server's or driver's own words, see ``_postgres_reason``."""
    original = getattr(error, "orig", None) or error
    state = _sqlstate(error)
    advice = _ADVICE.get(state) or _ADVICE.get(state[:2])
    if advice is None and not state:
        advice = _ADVICE_WITHOUT_CODE.get(type(original).__name__)
    reason = _postgres_reason(error)
    return f"{advice} ({reason})" if advice else reason
