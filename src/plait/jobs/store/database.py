"""What a store asks of a database: transactions, the claim to be its runner, and running sums."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from plait.jobs.store.statements import compile_statements

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from sqlalchemy import Engine

    from plait.jobs.store.session import Session
    from plait.jobs.store.sums import Sums

__all__ = ["Database"]


class Database(ABC):
    """A database that holds a store: how its transactions begin and end, and what its errors mean.

    Args:
        engine: Owns the connections.
        name: What to call it in an error; never holds a password.
    """

    shared: bool
    """Whether several runners may work on it at once."""
    in_memory: bool = False
    """Whether reading uses the connection that writes."""
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
