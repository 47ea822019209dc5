"""Jobs, their targets and the running sums."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

USAGE_SHARDS = 16


def upgrade() -> None:
    """Apply this revision."""
    number = sa.BigInteger().with_variant(sa.Integer, "sqlite")
    _create_jobs(number)
    _create_targets(number)
    if op.get_bind().dialect.name == "postgresql":
        _create_usage()


def _create_jobs(number: sa.types.TypeEngine[int]) -> None:
    op.create_table(
        "plait_jobs",
        sa.Column("seq", number, primary_key=True, autoincrement=True, comment="place in the rotation"),
        sa.Column("id", sa.String(32), nullable=False, unique=True),
        sa.Column("caller", sa.Text, nullable=False),
        sa.Column("workspace", sa.Text, nullable=False),
        sa.Column("caller_class", sa.Text, nullable=False),
        sa.Column("idem_key", sa.String(64), nullable=False),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("error", sa.Text, nullable=False, server_default=""),
        sa.Column("targets_total", sa.Integer, nullable=False),
        sa.Column("targets_done", sa.Integer, nullable=False, server_default="0", comment="outcomes stored"),
        sa.Column("targets_failed", sa.Integer, nullable=False, server_default="0"),
        sa.Column("nbytes", sa.BigInteger, nullable=False, server_default="0", comment="bytes of stored outcomes"),
        sa.Column("created_at", sa.Double, nullable=False, comment="unix seconds"),
        sa.Column("lease", sa.Double, nullable=False, comment="last touch, unix seconds"),
        sa.Column("finished_at", sa.Double, comment="unix seconds; null while the job is live"),
        sa.Column("turn_owner", sa.Text, comment="the runner that has a turn of this job under way"),
        sa.Column("turn_epoch", sa.BigInteger, nullable=False, server_default="0", comment="fencing token"),
        sa.Column("turn_until", sa.Double, comment="end of the turn's lease, store clock; null if it never ends"),
        sa.Column("retry_at", sa.Double, comment="a busy target waits until then, store clock"),
        sa.Column("busy_since", sa.Double, comment="the next target has come back busy since then, store clock"),
        sa.CheckConstraint(
            "(finished_at IS NULL) = (status IN ('queued', 'running'))", name="plait_jobs_live_or_finished"
        ),
        sqlite_autoincrement=True,
    )
    _partial_index("plait_jobs_ready", ["seq"], "finished_at IS NULL AND retry_at IS NULL")
    _partial_index("plait_jobs_retry", ["retry_at"], "retry_at IS NOT NULL")
    _partial_index("plait_jobs_turn_until", ["turn_until"], "turn_until IS NOT NULL")
    _partial_index("plait_jobs_live", ["caller", "idem_key"], "finished_at IS NULL", unique=True)
    _partial_index("plait_jobs_lease", ["lease"], "finished_at IS NOT NULL")
    op.create_index("plait_jobs_idem", "plait_jobs", ["caller", "idem_key", "seq"])


def _partial_index(name: str, columns: list[str], where: str, *, unique: bool = False) -> None:
    predicate = sa.text(where)
    op.create_index(name, "plait_jobs", columns, unique=unique, sqlite_where=predicate, postgresql_where=predicate)


def _create_targets(number: sa.types.TypeEngine[int]) -> None:
    op.create_table(
        "plait_targets",
        sa.Column("job_seq", number, sa.ForeignKey("plait_jobs.seq", ondelete="CASCADE"), primary_key=True),
        sa.Column("idx", sa.Integer, primary_key=True),
        sa.Column("url", sa.Text, nullable=False),
        sa.Column("options", sa.Text, nullable=False),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("epoch", sa.BigInteger, comment="the turn that stored the outcome"),
        sa.Column("result", sa.Text),
        sa.Column("error", sa.Text),
        sa.Column("hint", sa.Text),
    )


def _create_usage() -> None:
    usage = op.create_table(
        "plait_usage",
        sa.Column("shard", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("live", sa.BigInteger, nullable=False, server_default="0"),
        sa.Column("nbytes", sa.BigInteger, nullable=False, server_default="0"),
    )
    op.bulk_insert(usage, [{"shard": shard} for shard in range(USAGE_SHARDS)])
