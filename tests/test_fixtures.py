"""The shared fixtures keep what they promise: every test gets an empty database that nobody else has."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import psycopg
import pytest
import sqlalchemy as sa

from tests.postgres import Server


@contextlib.contextmanager
def connection(url: str) -> Iterator[sa.Connection]:
    engine = sa.create_engine(url, poolclass=sa.NullPool)
    with engine.begin() as opened:
        yield opened


def test_a_fresh_database_is_empty_and_takes_tables(store_url: str) -> None:
    with connection(store_url) as opened:
        assert sa.inspect(opened).get_table_names() == []
        opened.execute(sa.text("CREATE TABLE thing (id INTEGER)"))
    with connection(store_url) as opened:
        assert sa.inspect(opened).get_table_names() == ["thing"]


def test_two_databases_of_one_server_are_separate(postgres_server: Server, postgres_url: str) -> None:
    with (
        postgres_server.database() as other_url,
        connection(postgres_url) as one,
        connection(other_url) as other,
    ):
        one.execute(sa.text("CREATE TABLE thing (id INTEGER)"))
        assert sa.inspect(one).get_table_names() == ["thing"]
        assert sa.inspect(other).get_table_names() == []


def test_a_server_commits_synchronously_and_answers_in_utf8(postgres_url: str) -> None:
    with connection(postgres_url) as opened:
        settings = ("server_encoding", "synchronous_commit", "fsync", "listen_addresses")
        shown = [opened.execute(sa.text(f"SHOW {name}")).scalar_one() for name in settings]
    assert shown == ["UTF8", "on", "off", ""]


def test_a_lone_server_can_be_stopped_and_started_and_keeps_its_data(lone_postgres_server: Server) -> None:
    server = lone_postgres_server
    with server.database() as url:
        with connection(url) as opened:
            opened.execute(sa.text("CREATE TABLE thing (id INTEGER)"))
        server.stop("immediate")
        with pytest.raises(sa.exc.OperationalError) as failure, connection(url):
            pass
        assert isinstance(failure.value.orig, psycopg.OperationalError)
        server.start()
        with connection(url) as opened:
            assert sa.inspect(opened).get_table_names() == ["thing"]
