"""Alembic's entry: runs the revisions on the connection that ``Store.open`` hands over."""

from __future__ import annotations

from alembic import context

from plait.jobs.store.schema import METADATA, VERSION_TABLE

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=METADATA,
    version_table=VERSION_TABLE,
    transactional_ddl=True,
)
context.run_migrations()
