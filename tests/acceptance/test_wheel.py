"""The built wheel works where nothing else is: in an empty environment and an empty directory."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import venv
from pathlib import Path
from typing import Final

import pytest

from tests.docs.markdown import ROOT, Block, blocks, says

# without the wheels below and with a cold cache, installing takes its time
pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

# set-up leaves the wheels of all dependencies here, so that this needs no network
_WHEELS: Final = Path(sys.prefix) / "wheels"
_OFFLINE: Final = ["--no-index", "--find-links", str(_WHEELS)] if _WHEELS.is_dir() else []

_JOB: Final = """
import threading
from plait import Caller, Config, Context, Hooks, Result, Runner, Store, Target

done = threading.Event()

def fetch(ctx: Context, caller: Caller, target: Target) -> Result:
    return Result(content=target.url.upper())

def watch(event: str) -> None:
    if event == "done":
        done.set()

with Store.open("sqlite://") as store, Runner(store, fetch, Config(hooks=Hooks(job=watch))) as runner:
    submission = runner.submit(Caller("alice"), "fleet", [Target("a"), Target("b")])
    assert done.wait(30)
    status = runner.status(submission.id)
    print(status.job.status, [target.result.content for target in status.targets])
"""


def run(*command: str | Path, cwd: Path, code: int = 0) -> str:
    """What a command prints, which must end with that exit code; it sees nothing of our own environment."""
    hidden = {"PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV"}
    done = subprocess.run(
        command,
        cwd=cwd,
        env={name: value for name, value in os.environ.items() if name not in hidden},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == code, f"{command}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from the files of this checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "pip", "wheel", "-qq", *_OFFLINE, "--no-deps", "-w", folder, ROOT, cwd=folder)
    (built,) = folder.glob("plait-*.whl")
    return built


def environment(folder: Path, requirement: str) -> Path:
    """The programs of a new environment that holds this and what it needs, in the pinned versions."""
    venv.create(folder, with_pip=False)
    programs = folder / "bin"
    install: list[str | Path] = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        programs / "python",
        "install",
        "-qq",
        *_OFFLINE,
    ]
    run(*install, "-c", ROOT / "constraints.txt", requirement, cwd=folder)
    return programs


@pytest.fixture(scope="module")
def full(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment with all that a user can want."""
    return environment(tmp_path_factory.mktemp("full"), f"plait[all] @ {wheel.as_uri()}")


@pytest.fixture(scope="module")
def bare(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment with Plait and no extra."""
    return environment(tmp_path_factory.mktemp("bare"), f"plait @ {wheel.as_uri()}")


def first_snippet() -> Block:
    return next(block for block in blocks((ROOT / "README.md").read_text()) if block.language == "python")


def test_the_full_wheel_imports_and_brings_its_command(full: Path, tmp_path: Path) -> None:
    place = run(full / "python", "-c", "import plait; print(plait.__file__)", cwd=tmp_path)
    assert Path(place.strip()).is_relative_to(full.parent)
    assert "Usage: plait" in run(full / "plait", "--help", cwd=tmp_path)


def test_the_full_wheel_has_no_development_dependency(full: Path, tmp_path: Path) -> None:
    search = "import importlib.util as u; print([m for m in ('pytest', 'mypy', 'hypothesis') if u.find_spec(m)])"
    assert run(full / "python", "-c", search, cwd=tmp_path) == "[]\n"


def test_the_full_wheel_runs_the_readmes_first_snippet(full: Path, tmp_path: Path) -> None:
    snippet = first_snippet()
    printed = run(full / "python", "-W", "error", "-c", snippet.code, cwd=tmp_path)
    assert says(snippet.output or "", printed), printed


def test_the_bare_wheel_runs_a_job_in_memory(bare: Path, tmp_path: Path) -> None:
    assert run(bare / "python", "-W", "error", "-c", _JOB, cwd=tmp_path) == "done ['A', 'B']\n"


def test_the_bare_wheel_says_which_extra_brings_the_command(bare: Path, tmp_path: Path) -> None:
    (line,) = run(bare / "plait", "--help", cwd=tmp_path, code=2).splitlines()
    assert re.search(r"pip install \S*plait\[(cli|all)\]", line), line
