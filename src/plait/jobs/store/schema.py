"""The tables of a store, declared once for SQLite and PostgreSQL."""

from __future__ import annotations

from typing import Final

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    text,
)

from plait.jobs.states import LIVE_STATES

__all__ = ["JOBS", "METADATA", "TARGETS", "USAGE", "VERSION_TABLE"]

METADATA: Final = MetaData()
VERSION_TABLE: Final = "plait_version"
"""Where Alembic keeps the revision, under our own name so that a host may keep its tables beside ours."""

_LIVE_STATES: Final = ", ".join(f"'{state}'" for state in sorted(LIVE_STATES))
_RowNumber = BigInteger().with_variant(Integer, "sqlite")  # SQLite numbers its rows only in an INTEGER column

JOBS: Final = Table(
    "plait_jobs",
    METADATA,
    Column("seq", _RowNumber, primary_key=True, autoincrement=True, comment="place in the rotation"),
    Column("id", String(32), nullable=False, unique=True),
    Column("caller", Text, nullable=False),
    Column("workspace", Text, nullable=False),
    Column("caller_class", Text, nullable=False),
    Column("idem_key", String(64), nullable=False),
    Column("status", String(16), nullable=False),
    Column("error", Text, nullable=False, server_default=""),
    Column("targets_total", Integer, nullable=False),
    Column("targets_done", Integer, nullable=False, server_default="0", comment="outcomes stored"),
    Column("targets_failed", Integer, nullable=False, server_default="0"),
    Column("nbytes", BigInteger, nullable=False, server_default="0", comment="bytes of stored outcomes"),
    Column("created_at", Double, nullable=False, comment="unix seconds"),
    Column("lease", Double, nullable=False, comment="last touch, unix seconds"),
    Column("finished_at", Double, comment="unix seconds; null while the job is live"),
    Column("turn_owner", Text, comment="the runner that has a turn of this job under way"),
    Column("turn_epoch", BigInteger, nullable=False, server_default="0", comment="fencing token"),
    Column("turn_until", Double, comment="end of the turn's lease, store clock; null if it never ends"),
    Column("retry_at", Double, comment="a busy target waits until then, store clock"),
    Column("busy_since", Double, comment="the next target has come back busy since then, store clock"),
    CheckConstraint(f"(finished_at IS NULL) = (status IN ({_LIVE_STATES}))", name="plait_jobs_live_or_finished"),
    sqlite_autoincrement=True,
)
"""One row a job. Its next target is the one numbered ``targets_done``, since a job is serial."""


def _partial_index(name: str, *columns: Column[object], where: str, unique: bool = False) -> Index:
    predicate = text(where)
    return Index(name, *columns, unique=unique, sqlite_where=predicate, postgresql_where=predicate)


_partial_index(
    "plait_jobs_ready",
    JOBS.c.seq,
    # The few jobs with a turn under way are passed over when it is searched: that costs less than to move
    # each job out of the index and back in with every turn.
    where="finished_at IS NULL AND retry_at IS NULL",
)
_partial_index("plait_jobs_retry", JOBS.c.retry_at, where="retry_at IS NOT NULL")
_partial_index("plait_jobs_turn_until", JOBS.c.turn_until, where="turn_until IS NOT NULL")
_partial_index("plait_jobs_live", JOBS.c.caller, JOBS.c.idem_key, where="finished_at IS NULL", unique=True)
_partial_index("plait_jobs_lease", JOBS.c.lease, where="finished_at IS NOT NULL")
Index("plait_jobs_idem", JOBS.c.caller, JOBS.c.idem_key, JOBS.c.seq)

TARGETS: Final = Table(
    "plait_targets",
    METADATA,
    Column("job_seq", _RowNumber, ForeignKey(JOBS.c.seq, ondelete="CASCADE"), primary_key=True, nullable=False),
    Column("idx", Integer, primary_key=True, nullable=False),
    Column("url", Text, nullable=False),
    Column("options", Text, nullable=False),
    Column("status", String(16), nullable=False),
    Column("epoch", BigInteger, comment="the turn that stored the outcome"),
    Column("result", Text),
    Column("error", Text),
    Column("hint", Text),
)
"""One row a target; a pending one whose job has a turn under way is the one being fetched."""

USAGE: Final = Table(
    "plait_usage",
    METADATA,
    Column("shard", Integer, primary_key=True, autoincrement=False),
    Column("live", BigInteger, nullable=False, server_default="0"),
    Column("nbytes", BigInteger, nullable=False, server_default="0"),
    info={"only_on": "postgresql"},
)
"""Running sums over all jobs; see ``TableSums``. Only PostgreSQL has this table."""
