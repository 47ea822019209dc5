"""The schema that the revisions make is the schema declared, and making it is all or nothing."""

from __future__ import annotations

import subprocess
import sys
from typing import Any, Final

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from plait import Store, StoreError
from plait.jobs.store.migrate import HEAD_REVISION, alembic_config
from plait.jobs.store.schema import METADATA, VERSION_TABLE
from tests.jobs.rows import NO_CAPS, connect, new_job


def declared_for(engine: str) -> sa.MetaData:
    """The tables declared for one engine."""
    metadata = sa.MetaData()
    for table in METADATA.tables.values():
        if table.info.get("only_on", engine) == engine:
            table.to_metadata(metadata)
    return metadata


def test_the_revisions_make_the_tables_columns_and_keys_declared(store_url: str) -> None:
    Store.open(store_url).close()
    with connect(store_url) as connection:
        # defaults are compared by the next test, since Alembic takes '' on SQLite for a change
        options = {"compare_type": True, "version_table": VERSION_TABLE}
        context = MigrationContext.configure(connection, opts=options)
        assert compare_metadata(context, declared_for(connection.dialect.name)) == []
        tables = set(sa.inspect(connection).get_table_names())
        assert tables == {*declared_for(connection.dialect.name).tables, VERSION_TABLE}


_SQLITE_CATALOG: Final = """
    SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY name
"""
_POSTGRES_CATALOG: Final = """
    SELECT 'index', indexname, indexdef FROM pg_indexes WHERE schemaname = current_schema()
    UNION SELECT 'constraint', conname, pg_get_constraintdef(oid) FROM pg_constraint
        WHERE connamespace = current_schema()::regnamespace AND contype <> 'n'
    UNION SELECT 'column', table_name || '.' || column_name,
        concat_ws(' ', data_type, character_maximum_length, is_nullable, column_default)
        FROM information_schema.columns WHERE table_schema = current_schema()
    ORDER BY 1, 2
"""


def catalog(connection: sa.Connection) -> list[tuple[Any, ...]]:
    """Everything that the database itself knows of our tables, in its own words."""
    query = _POSTGRES_CATALOG if connection.dialect.name == "postgresql" else _SQLITE_CATALOG
    rows = [tuple(row) for row in connection.execute(sa.text(query)) if VERSION_TABLE not in row[1]]
    return [(kind, name, " ".join(sorted(str(text).replace(",", " ").split()))) for kind, name, text in rows]


def test_the_revisions_make_the_same_indices_predicates_and_checks_as_the_declaration(store_url: str) -> None:
    with connect(store_url) as connection:
        metadata = declared_for(connection.dialect.name)
        metadata.create_all(connection)
        declared = catalog(connection)
        metadata.drop_all(connection)
    Store.open(store_url).close()
    with connect(store_url) as connection:
        assert catalog(connection) == declared
    names = {name for _, name, _ in declared}
    assert {"plait_jobs_ready", "plait_jobs_live", "plait_jobs_lease"} <= names
    assert any("plait_jobs_live_or_finished" in f"{name} {text}" for _, name, text in declared)


@pytest.mark.parametrize(
    ("status", "finished_at"), [("queued", 1.0), ("running", 1.0), ("done", None), ("cancelled", None)]
)
def test_a_status_and_its_end_cannot_contradict_each_other(
    store_url: str, status: str, finished_at: float | None
) -> None:
    with Store.open(store_url) as store:
        store.create(new_job(), NO_CAPS)
    change = sa.text("UPDATE plait_jobs SET status = :status, finished_at = :finished_at")
    with pytest.raises(sa.exc.IntegrityError), connect(store_url) as connection:
        connection.execute(change, {"status": status, "finished_at": finished_at})


def test_the_revision_that_opening_goes_to_is_the_head(store_url: str) -> None:
    Store.open(store_url).close()
    with connect(store_url) as connection:
        scripts = ScriptDirectory.from_config(alembic_config(connection))
        assert scripts.get_heads() == [HEAD_REVISION]
        version = connection.execute(sa.text(f"SELECT version_num FROM {VERSION_TABLE}")).scalars().all()
    assert version == [HEAD_REVISION]


@pytest.mark.parametrize("obstacle", ["plait_targets", "plait_jobs_idem"])
def test_a_migration_that_fails_leaves_nothing_and_succeeds_once_the_obstacle_is_gone(
    store_url: str, obstacle: str
) -> None:
    """The obstacle is a table of a name that the revision needs when half of its work is done."""
    with connect(store_url) as connection:
        connection.execute(sa.text(f"CREATE TABLE {obstacle} (mine TEXT)"))
    with pytest.raises(StoreError):
        Store.open(store_url)
    with connect(store_url) as connection:
        assert sa.inspect(connection).get_table_names() == [obstacle]
        connection.execute(sa.text(f"DROP TABLE {obstacle}"))
    with Store.open(store_url) as store:
        assert store.create(new_job(), NO_CAPS).live == 1


def test_opening_a_store_again_changes_nothing(store_url: str) -> None:
    Store.open(store_url).close()
    with connect(store_url) as connection:
        before = catalog(connection)
    Store.open(store_url).close()
    with connect(store_url) as connection:
        assert catalog(connection) == before


def test_opening_a_store_at_the_head_does_not_load_alembic(store_url: str) -> None:
    Store.open(store_url).close()
    program = (
        "import sys; from plait import Store; Store.open(sys.argv[1]).close(); "
        "print([name for name in sys.modules if name.partition('.')[0] in ('alembic', 'mako')])"
    )
    finished = subprocess.run([sys.executable, "-c", program, store_url], capture_output=True, text=True, check=True)
    assert finished.stdout == "[]\n"
