"""Bringing a database to this Plait's schema, or refusing one that a newer Plait wrote."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from sqlalchemy import inspect, text

from plait.jobs.errors import StoreTooNew
from plait.jobs.store.schema import VERSION_TABLE

if TYPE_CHECKING:
    from alembic.config import Config
    from sqlalchemy import Connection

__all__ = ["HEAD_REVISION", "alembic_config", "migrate"]

HEAD_REVISION: Final = "0001"
"""The newest revision, known without loading Alembic, which most openings of a store do not need."""


def migrate(connection: Connection, where: str) -> None:
    """Bring the database to ``HEAD_REVISION`` within the connection's open transaction.

    Args:
        connection: The database, in a transaction that no other migration can enter.
        where: What to call the database in an error.

    Raises:
        StoreTooNew: Its revision is not one of ours.
    """
    revision = _revision_of(connection)
    if revision == HEAD_REVISION:
        return
    from alembic import command, script  # noqa: PLC0415 - costs 200 ms, and a database at the head needs none of it

    config = alembic_config(connection)
    known = {entry.revision for entry in script.ScriptDirectory.from_config(config).walk_revisions()}
    if revision is not None and revision not in known:
        raise StoreTooNew(
            f"{where} was written by a newer Plait (schema {revision}, this one knows up to {HEAD_REVISION}); "
            "upgrade Plait, or name another store"
        )
    command.upgrade(config, HEAD_REVISION)


def alembic_config(connection: Connection) -> Config:
    """Alembic's configuration for ``connection``; there is no ``alembic.ini``."""
    from alembic.config import Config  # noqa: PLC0415 - see migrate

    config = Config()
    here = str(Path(__file__).parent / "migrations")
    config.set_main_option("script_location", here.replace("%", "%%"))
    config.attributes["connection"] = connection
    return config


def _revision_of(connection: Connection) -> str | None:
    if not inspect(connection).has_table(VERSION_TABLE):
        return None
    row = connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).first()  # noqa: S608 - our own constant
    return None if row is None else str(row[0])
