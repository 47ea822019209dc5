"""Running sums over all jobs, the live ones and the stored bytes, which no turn has to add up."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Final, NamedTuple

from typing_extensions import override

if TYPE_CHECKING:
    from plait.jobs.store.session import Session
    from plait.jobs.store.statements import Statements

__all__ = ["MemorySums", "Sums", "TableSums", "Usage"]

_SHARDS: Final = 16


class Usage(NamedTuple):
    """The number of live jobs, and the bytes of all stored outcomes."""

    live: int
    nbytes: int


class Sums(ABC):
    """The sums of one store; each method is called within a transaction and speaks of its state."""

    @abstractmethod
    def add(self, session: Session, *, live: int, nbytes: int) -> Usage:
        """Count a change in; the sums after it."""

    @abstractmethod
    def read(self, session: Session) -> Usage:
        """The sums as they stand."""

    def keep(self) -> None:  # noqa: B027 - a table keeps what its transaction does
        """The transaction was committed."""

    def forget(self) -> None:  # noqa: B027 - a table needs nothing for it
        """The transaction was rolled back, or its fate is unknown."""

    def forget_all(self) -> None:  # noqa: B027 - a table needs nothing for it
        """Somebody else may have changed the jobs."""


class MemorySums(Sums):
    """Sums kept in this process, for a database that no other process changes.

    They are counted from the rows at first and after the rollback of a change, so that no crash or failure
    leaves them wrong. The database's lock on its writing connection, which is held for each transaction, guards them.
    """

    def __init__(self, statements: Statements) -> None:
        self._sql = statements
        self._usage: Usage | None = None
        self._changed = False

    @override
    def add(self, session: Session, *, live: int, nbytes: int) -> Usage:
        self._changed = True
        if self._usage is None:
            return self.read(session)  # the rows hold the change already
        usage = self._usage
        self._usage = usage = Usage(usage.live + live, usage.nbytes + nbytes)
        return usage

    @override
    def read(self, session: Session) -> Usage:
        if self._usage is None:
            live, nbytes = session.rows(self._sql.count_usage, {})[0]
            self._usage = Usage(int(live or 0), int(nbytes or 0))
        return self._usage

    @override
    def keep(self) -> None:
        self._changed = False

    @override
    def forget(self) -> None:
        if self._changed:
            self.forget_all()

    @override
    def forget_all(self) -> None:
        self._usage = None
        self._changed = False


class TableSums(Sums):
    """Sums kept in the database, for one that many machines change.

    Each change goes to one of several rows, so that the machines do not queue for a single one; the truth is
    the sum of the rows.
    """

    def __init__(self, statements: Statements) -> None:
        self._sql = statements

    @override
    def add(self, session: Session, *, live: int, nbytes: int) -> Usage:
        shard = random.randrange(_SHARDS)  # noqa: S311 - spreads load, guards nothing
        session.run(self._sql.add_usage, {"shard": shard, "live": live, "nbytes": nbytes})
        return self.read(session)

    @override
    def read(self, session: Session) -> Usage:
        live, nbytes = session.rows(self._sql.read_usage, {})[0]
        return Usage(int(live), int(nbytes))
