"""The store: jobs and outcomes in SQLite or PostgreSQL, behind one class."""

from __future__ import annotations

from plait.jobs.store.store import (
    Cancellation,
    Caps,
    Creation,
    Ending,
    Idle,
    Interrupted,
    NewJob,
    Store,
    Turn,
)

__all__ = ["Cancellation", "Caps", "Creation", "Ending", "Idle", "Interrupted", "NewJob", "Store", "Turn"]
