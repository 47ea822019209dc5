"""A store that cannot be opened or shared says in one line which one it is and what to do."""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final, Literal

import pytest
import sqlalchemy as sa

from plait import Config, Context, Result, Runner, Store, StoreError, StoreInUse, StoreTooNew, Target
from plait.jobs import Caller
from tests.jobs.rows import NO_CAPS, assert_sound, connect, done, new_job, take

NOBODY: Final = 65534


def refusal(url: str, kind: type[StoreError] = StoreError) -> str:
    """What ``Store.open`` says: one line, of the kind wanted and no other."""
    with pytest.raises(StoreError) as caught:
        Store.open(url).close()
    assert type(caught.value) is kind
    message = str(caught.value)
    assert "\n" not in message
    assert "Traceback" not in message
    return message


def fetch(_context: Context, _caller: Caller, target: Target) -> Result:
    return Result(target.url)


# --- a path that cannot be a store


@pytest.mark.parametrize(
    ("place", "reason", "remedy"),
    [
        ("no/such/plait.db", "does not exist", "create it first"),
        (".", "it is a folder", "name a file in it"),
        ("text.db", "no SQLite database", "name another file"),
        ("word.db", "no SQLite database", "name another file"),
        ("text.db/plait.db", "does not exist", "create it first"),
    ],
)
def test_a_wrong_path_is_refused_with_a_remedy(tmp_path: Path, place: str, reason: str, remedy: str) -> None:
    (tmp_path / "text.db").write_text("This is a letter and no database. " * 100)
    (tmp_path / "word.db").write_text("word")
    path = tmp_path / place
    message = refusal(f"sqlite:///{path}")
    assert path.name in message
    assert reason in message
    assert remedy in message


def test_a_folder_that_takes_no_files_is_refused(tmp_path: Path) -> None:
    if not Path("/proc/self").exists():
        pytest.skip("this system has no folder that refuses even its administrator")
    message = refusal("sqlite:////proc/plait.db")
    assert "'plait.db'" in message
    assert "check the path and its permissions" in message


@pytest.mark.parametrize("name", ["a\0b.db", "\ud800.db", "x" * 5000], ids=["NUL", "surrogate", "too long"])
def test_a_name_that_no_file_can_have_is_refused(tmp_path: Path, name: str) -> None:
    assert "cannot open" in refusal(f"sqlite:///{tmp_path / name}")


@contextlib.contextmanager
def without_privileges() -> Iterator[None]:
    """Within the block, this thread's file accesses are those of a user that permissions bind."""
    libc = ctypes.CDLL(None)
    libc.setfsuid(NOBODY)
    try:
        yield
    finally:
        libc.setfsuid(os.geteuid())


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user may enter, unlike ``tmp_path``."""
    folder = Path(tempfile.mkdtemp(prefix="plait-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="setfsuid is Linux's own")
@pytest.mark.parametrize("folder_too", [False, True])
def test_a_file_that_may_not_be_written_is_refused(open_folder: Path, folder_too: bool) -> None:
    path = open_folder / "plait.db"
    Store.open(f"sqlite:///{path}").close()
    path.chmod(0o444)
    open_folder.chmod(0o555 if folder_too else 0o777)
    with without_privileges():
        message = refusal(f"sqlite:///{path}")
    assert "'plait.db'" in message
    assert "permissions" in message


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="setfsuid is Linux's own")
def test_a_folder_that_may_not_be_written_gets_no_store(open_folder: Path) -> None:
    open_folder.chmod(0o555)
    with without_privileges():
        message = refusal(f"sqlite:///{open_folder / 'plait.db'}")
    assert "permissions" in message
    assert list(open_folder.iterdir()) == []


# --- a file that is damaged


@pytest.mark.parametrize("length", [50, 512, 4096, 20_000])
def test_a_truncated_database_is_refused(tmp_path: Path, length: int) -> None:
    path = tmp_path / "plait.db"
    Store.open(f"sqlite:///{path}").close()
    path.write_bytes(path.read_bytes()[:length])
    message = refusal(f"sqlite:///{path}")
    assert "'plait.db'" in message
    assert "it is damaged; restore it, or name another file" in message


@pytest.mark.parametrize("offset", [100, 1000])
def test_a_database_with_a_broken_first_page_is_refused(tmp_path: Path, offset: int) -> None:
    path = tmp_path / "plait.db"
    Store.open(f"sqlite:///{path}").close()
    content = bytearray(path.read_bytes())
    content[offset : offset + 3000] = b"\xff" * 3000
    path.write_bytes(content)
    assert "it is damaged" in refusal(f"sqlite:///{path}")


def test_damage_that_shows_later_is_a_store_error_too(tmp_path: Path) -> None:
    path = tmp_path / "plait.db"
    with Store.open(f"sqlite:///{path}") as store:
        store.create(new_job(), NO_CAPS)
    content = bytearray(path.read_bytes())
    page = int.from_bytes(content[16:18], "big")
    with contextlib.closing(sqlite3.connect(path)) as connection:
        query = "SELECT rootpage FROM sqlite_master WHERE name IN ('plait_jobs', 'plait_targets')"
        for (root,) in connection.execute(query):
            content[page * (root - 1) : page * root] = b"\xff" * page
    path.write_bytes(content)
    with Store.open(f"sqlite:///{path}") as store, pytest.raises(StoreError, match=r"'plait\.db'.*it is damaged"):
        store.take_turn(0, "one")


# --- a database of somebody else's


def test_a_database_of_a_newer_plait_is_refused_and_left_alone(store_url: str) -> None:
    with Store.open(store_url) as store:
        store.create(new_job(), NO_CAPS)
    with connect(store_url) as connection:
        connection.execute(sa.text("UPDATE plait_version SET version_num = '9999'"))
    message = refusal(store_url, StoreTooNew)
    assert "newer Plait" in message
    assert "9999" in message
    assert "upgrade Plait, or name another store" in message
    assert len(assert_sound(store_url).jobs) == 1


def test_a_database_keeps_the_tables_that_are_not_ours(store_url: str) -> None:
    with connect(store_url) as connection:
        for statement in (
            "CREATE TABLE jobs (id INTEGER PRIMARY KEY, name TEXT)",
            "CREATE TABLE alembic_version (version_num TEXT)",
            "INSERT INTO jobs VALUES (1, 'theirs')",
            "INSERT INTO alembic_version VALUES ('their head')",
        ):
            connection.execute(sa.text(statement))
    for _ in range(2):
        with Store.open(store_url) as store:
            store.create(new_job(), NO_CAPS)
            store.settle(take(store), done(), 1000.0, None)
            store.sweep(10.0**10)
    with connect(store_url) as connection:
        assert connection.execute(sa.text("SELECT id, name FROM jobs")).all() == [(1, "theirs")]
        assert connection.execute(sa.text("SELECT version_num FROM alembic_version")).scalar_one() == "their head"


def test_a_database_with_somebody_elses_table_of_our_name_is_refused_in_one_line(store_url: str) -> None:
    with connect(store_url) as connection:
        connection.execute(sa.text("CREATE TABLE plait_jobs (mine TEXT)"))
    assert "CREATE TABLE" not in refusal(store_url)


# --- URLs


@pytest.mark.parametrize(
    "url",
    [
        "",
        "plait.db",
        "mysql://someone:secret@host/plait",
        "redis://:secret@host/0",
        "postgres://someone:secret@host/plait",
        "oracle://someone:secret@host/plait",
        "postgresql+psycopg://someone:secret@host:port/plait",
        "sqlite://folder/plait.db",
    ],
)
def test_what_is_no_store_url_is_refused_with_those_that_are(url: str) -> None:
    message = refusal(url)
    assert "use sqlite:///FILE, sqlite:// or postgresql+psycopg://USER@HOST/DATABASE" in message
    assert "secret" not in message


def test_an_option_of_a_url_that_makes_no_sense_is_a_store_error(tmp_path: Path) -> None:
    refusal(f"sqlite:///{tmp_path / 'plait.db'}?timeout=soon")


def test_an_unknown_durability_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="synchronous must be one of NORMAL, FULL, got 'OFF'"):
        Store.open(f"sqlite:///{tmp_path / 'plait.db'}", synchronous="OFF")  # type: ignore[arg-type]  # as an untyped caller may


@pytest.mark.parametrize("durability", ["NORMAL", "FULL"])
def test_a_file_is_written_ahead_with_the_durability_wanted(
    tmp_path: Path, durability: Literal["NORMAL", "FULL"]
) -> None:
    with Store.open(f"sqlite:///{tmp_path / 'plait.db'}", synchronous=durability) as store:
        store.create(new_job(), NO_CAPS)
        with store._database.engine.connect() as connection:
            pragmas = [
                connection.exec_driver_sql(f"PRAGMA {name}").scalar_one()
                for name in ("journal_mode", "synchronous", "foreign_keys")
            ]
    assert pragmas == ["wal", {"NORMAL": 1, "FULL": 2}[durability], 1]


# --- PostgreSQL out of reach


@pytest.fixture
def refusing_port() -> Iterator[int]:
    """A port of this machine that is taken and refuses connections."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]


@pytest.mark.parametrize("scheme", ["postgresql", "postgresql+psycopg", "postgresql+psycopg2"])
def test_a_postgresql_that_refuses_connections_is_named_without_its_password(refusing_port: int, scheme: str) -> None:
    url = f"{scheme}://someone:secret@127.0.0.1:{refusing_port}/plait"
    with pytest.raises(StoreError) as caught:
        Store.open(url)
    message = str(caught.value)
    assert "\n" not in message
    assert "store 'plait' on PostgreSQL" in message
    assert "see that the server runs" in message
    for secret in ("secret", "someone", "127.0.0.1", str(refusing_port)):
        assert secret not in message
        assert secret not in caught.value.reason


def test_a_postgresql_database_that_is_not_there_is_named(postgres_url: str) -> None:
    url = sa.make_url(postgres_url).set(database="nowhere")
    with pytest.raises(StoreError, match=r"store 'nowhere' on PostgreSQL: [^\n]*\(OperationalError\)$"):
        Store.open(url)


def test_a_postgresql_url_with_an_unknown_option_is_refused() -> None:
    message = refusal("postgresql+psycopg://someone:secret@127.0.0.1:1/plait?nonsense=1")
    assert "an option that libpq does not know; correct or remove it" in message
    assert "secret" not in message


# --- one runner at a time on SQLite


def test_a_second_runner_in_one_process_is_refused_until_the_first_is_closed(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'plait.db'}"
    with Store.open(url) as store, Store.open(url) as other:
        with Runner(store, fetch):
            for second in (store, other):
                with pytest.raises(StoreInUse, match=r"'plait\.db'"):
                    Runner(second, fetch)
        Runner(other, fetch).close()


def test_a_second_runner_in_memory_is_refused_until_the_first_is_closed() -> None:
    with Store.open("sqlite://") as store, Store.open("sqlite://") as other:
        with Runner(store, fetch), Runner(other, fetch), pytest.raises(StoreInUse, match="in memory"):
            Runner(store, fetch)
        Runner(store, fetch).close()


def test_a_link_to_a_store_is_the_same_store(tmp_path: Path) -> None:
    (tmp_path / "link.db").symlink_to(tmp_path / "plait.db")
    with (
        Store.open(f"sqlite:///{tmp_path / 'plait.db'}") as store,
        Store.open(f"sqlite:///{tmp_path / 'link.db'}") as link,
        Runner(store, fetch),
        pytest.raises(StoreInUse),
    ):
        Runner(link, fetch)


def test_closing_the_store_frees_it_for_another_runner(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'plait.db'}"
    store = Store.open(url)
    store.claim(1.0)
    store.close()
    with Store.open(url) as other:
        Runner(other, fetch).close()


def test_a_runner_that_could_not_lock_its_store_says_which(tmp_path: Path) -> None:
    (tmp_path / "plait.db-runner").mkdir()
    with Store.open(f"sqlite:///{tmp_path / 'plait.db'}") as store:
        with pytest.raises(StoreError, match=r"'plait\.db'"):
            Runner(store, fetch)
        (tmp_path / "plait.db-runner").rmdir()
        Runner(store, fetch).close()


RUN: Final = """
import sys
from plait import Runner, Store
with Store.open(sys.argv[1]) as store, Runner(store, lambda context, caller, target: None):
    print("runs", flush=True)
    sys.stdin.read()
print("closed", flush=True)
"""


@contextlib.contextmanager
def runner_elsewhere(url: str) -> Iterator[subprocess.Popen[str]]:
    """A runner in a process of its own, which closes it at the end of its input."""
    with subprocess.Popen(
        [sys.executable, "-c", RUN, url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "runs\n"
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize("end", ["close", "kill"])
def test_a_runner_in_another_process_keeps_the_store_until_it_ends(tmp_path: Path, end: str) -> None:
    url = f"sqlite:///{tmp_path / 'plait.db'}"
    with Store.open(url) as store, runner_elsewhere(url) as other:
        with pytest.raises(
            StoreInUse, match=r"'plait\.db' is in use by another process's runner; end that one"
        ) as caught:
            Runner(store, fetch)
        assert "\n" not in str(caught.value)
        if end == "kill":
            other.kill()
        else:
            assert other.stdin is not None
            other.stdin.close()
        other.wait()
        Runner(store, fetch).close()


def test_reading_goes_on_while_a_runner_elsewhere_has_the_store(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'plait.db'}"
    with Store.open(url) as store:
        job = new_job()
        store.create(job, NO_CAPS)
        with runner_elsewhere(url):
            status = store.status(job.id)
    assert status is not None
    assert (status.job.status, status.job.error) == ("failed", "interrupted by a restart")


def test_a_runner_counts_anew_what_another_left(tmp_path: Path) -> None:
    """The gauge of live jobs and the eviction go by sums, which another runner's work has changed."""
    url = f"sqlite:///{tmp_path / 'plait.db'}"
    with Store.open(url) as store, Store.open(url) as other:
        Runner(store, fetch).close()
        assert store.create(new_job(), NO_CAPS).live == 1
        Runner(other, fetch).close()  # fails the job
        other.create(new_job(), NO_CAPS)
        other.settle(take(other), done(), 1000.0, None)
        Runner(store, fetch, Config()).close()
        assert_sound(url, store)


# --- opening at once

OPEN: Final = """
import sys
from plait import Store
import alembic.command
print("ready", flush=True)
sys.stdin.readline()
Store.open(sys.argv[1]).close()
"""


@pytest.mark.parametrize("_round", range(3))
def test_processes_that_open_a_fresh_store_at_once_all_succeed(store_url: str, _round: int) -> None:
    with contextlib.ExitStack() as stack:
        openers = [
            stack.enter_context(
                subprocess.Popen(
                    [sys.executable, "-c", OPEN, store_url],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                )
            )
            for _ in range(3)
        ]
        for opener in openers:
            assert opener.stdout is not None
            assert opener.stdout.readline() == "ready\n"
        for opener in openers:
            assert opener.stdin is not None
            opener.stdin.write("go\n")
            opener.stdin.flush()
        errors = [opener.communicate()[1] for opener in openers]
    assert errors == [""] * 3
    assert [opener.returncode for opener in openers] == [0] * 3
    with connect(store_url) as connection:
        assert connection.execute(sa.text("SELECT count(*) FROM plait_version")).scalar_one() == 1
    assert_sound(store_url)
