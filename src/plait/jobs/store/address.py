"""From the address of a store to its database."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError

from plait.jobs.errors import StoreError
from plait.jobs.store.postgres import PostgresDatabase
from plait.jobs.store.sqlite import SQLiteDatabase

if TYPE_CHECKING:
    from plait.jobs.store.database import Database

__all__ = ["database_at"]

_SYNCHRONOUS: Final = ("NORMAL", "FULL")


def database_at(address: str | URL | Path, synchronous: str) -> Database:
    """Open the database at an address; see ``Store.open``."""
    if synchronous not in _SYNCHRONOUS:
        raise ValueError(f"synchronous must be one of {', '.join(_SYNCHRONOUS)}, got {synchronous!r}")
    return _opened(_parsed(address), synchronous)


def _parsed(address: str | URL | Path) -> URL:
    if isinstance(address, Path):
        return URL.create("sqlite", database=str(address))
    try:
        parsed = make_url(address)
        # SQLite's options are refused: one of them makes another path of the same text, and so of the runner's lock.
        if parsed.get_backend_name() == "postgresql" or (parsed.get_backend_name() == "sqlite" and not parsed.query):
            return parsed
        name = f"{parsed.drivername} with options" if parsed.query else parsed.drivername
    except (ArgumentError, NoSuchModuleError, ValueError):
        name = "this"
    raise _no_store_url(name)


def _no_store_url(name: str) -> StoreError:
    return StoreError(
        f"cannot open the store: {name} is no store URL; use sqlite:///FILE, sqlite:// or "
        "postgresql+psycopg://USER@HOST/DATABASE"
    )


def _opened(url: URL, synchronous: str) -> Database:
    try:
        if url.get_backend_name() == "sqlite":
            return SQLiteDatabase(url.set(drivername="sqlite"), synchronous)
        return PostgresDatabase(url.set(drivername="postgresql+psycopg"))
    except (ArgumentError, ValueError, TypeError) as error:  # an option or a form that the driver does not know
        raise _no_store_url(url.drivername) from error
