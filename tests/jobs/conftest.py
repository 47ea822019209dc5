"""What the tests of the jobs room share: stores in memory and in a file, a site, hooks, a clock and a runner."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from plait.jobs import Config, Hooks, Runner, Store
from tests.jobs.observed import Clock, Listener, Observed
from tests.jobs.sites import MARK, Site

__all__: list[str] = []


@pytest.fixture
def site() -> Site:
    """A FetchFunc that does what it is told to."""
    return Site()


@pytest.fixture
def seen() -> Observed:
    """Hooks that note what they are told."""
    return Observed()


@pytest.fixture
def clock() -> Clock:
    """A clock that stands still."""
    return Clock()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where ``file_store`` lives."""
    return tmp_path / "plait.db"


@pytest.fixture(scope="session")
def _empty_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with the schema and nothing in it: to copy it is faster than to make it anew for each test."""
    file = tmp_path_factory.mktemp("store") / "empty.db"
    Store.open(f"sqlite:///{file}").close()
    return file


@pytest.fixture
def file_store(_empty_file: Path, path: Path) -> Iterator[Store]:
    """A store in a file."""
    shutil.copyfile(_empty_file, path)
    with Store.open(f"sqlite:///{path}") as store:
        yield store


@pytest.fixture(params=["memory", "file"])
def store(request: pytest.FixtureRequest) -> Iterator[Store]:
    """A store in memory, and one in a file."""
    if request.param == "file":
        yield request.getfixturevalue("file_store")
        return
    with Store.open("sqlite://") as opened:
        yield opened


@pytest.fixture
def discreet_log(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    """All that is logged; in the end no record holds a target's host, a URL or a traceback."""
    with caplog.at_level(logging.DEBUG):
        yield caplog
    records = [record for when in ("setup", "call") for record in caplog.get_records(when)]
    for record in records:
        assert MARK not in record.getMessage()
        assert "://" not in record.getMessage()
        assert record.exc_info is None
        assert record.stack_info is None


@pytest.fixture
def log() -> Iterator[Listener]:
    """What is logged, to be waited for."""
    listener = Listener()
    logger = logging.getLogger("plait.jobs")
    logger.addHandler(listener)
    yield listener
    logger.removeHandler(listener)


StartRunner = Callable[..., Runner]


@pytest.fixture
def start(site: Site, seen: Observed, clock: Clock, discreet_log: pytest.LogCaptureFixture) -> Iterator[StartRunner]:
    """Starts runners on a store, with ``site``, ``seen`` and ``clock``; they are closed in the end."""
    runners: list[Runner] = []

    def started(on: Store, *, hooks: Hooks | None = None, **config: Any) -> Runner:
        settings = {"jobs_per_caller": 100, "jobs_total": 1000, "retry_wait": 0.001} | config
        runner = Runner(on, site, Config(hooks=seen.hooks if hooks is None else hooks, **settings), clock=clock)
        runners.append(runner)
        return runner

    yield started
    site.release()
    for runner in runners:
        runner.close()
