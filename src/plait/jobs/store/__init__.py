"""The store: jobs and outcomes in SQLite or PostgreSQL, behind one class."""

from __future__ import annotations

from plait.jobs.store.records import Cancellation, Caps, Creation, Ending, Idle, Interrupted, NewJob, Turn
from plait.jobs.store.store import Store

__all__ = ["Cancellation", "Caps", "Creation", "Ending", "Idle", "Interrupted", "NewJob", "Store", "Turn"]
