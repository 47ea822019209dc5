"""The ``plait`` command as a whole: help, version, lazy loading, missing extras and surprises."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import version

import pytest

from tests.cli.program import run_here

_HEAVY = {"sqlalchemy", "sqlite3", "httpx", "httpcore", "rich", "trafilatura"}


def test_a_command_without_arguments_shows_its_help() -> None:
    assert run_here() == run_here("--help") == run_here("-h")
    assert "batch  Run batches of targets." in run_here().out
    assert run_here("batch") == run_here("batch", "--help")
    assert "run  Do targets here and now" in run_here("batch").out


def test_the_version_is_the_distributions() -> None:
    assert run_here("--version") == (0, f"plait {version('plait')}\n", "")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["bach"], "plait: No such command 'bach'"),
        (["batch", "runn"], "plait: No such command 'runn'"),
        (["--verson"], "plait: No such option '--verson'"),
    ],
)
def test_an_unknown_command_or_option_is_one_line(arguments: list[str], line: str) -> None:
    code, out, err = run_here(*arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(line)
    assert "--help" in err


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["batch", "--help"], ["nonsense"]])
def test_a_command_loads_no_more_than_it_uses(arguments: list[str]) -> None:
    program = (
        "import sys, json\nfrom plait.cli import main\n"
        f"main({arguments})\nprint(json.dumps(list(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert _HEAVY & set(json.loads(done.stderr.splitlines()[-1])) == set()


@pytest.mark.parametrize("name", ["click", "rich"])
def test_a_missing_library_of_the_command_names_its_extra(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setitem(sys.modules, name, None)
        ended = run_here("--help")
    assert ended == (
        2,
        "",
        f"plait: this command needs {name!r}, which is not installed: pip install 'plait[cli]'\n",
    )


@pytest.mark.parametrize("name", ["httpcore", "trafilatura", "re2"])
def test_a_missing_library_of_fetch_names_its_extra(name: str) -> None:
    program = (
        f"import sys\nsys.modules[{name!r}] = None\n"
        "from plait.cli import main\nsys.exit(main(['batch', 'run', 'https://a.example/']))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"plait: this part of Plait needs {name!r}, which is not installed: pip install 'plait[fetch]'\n"
    )


def _surprise(*_arguments: object) -> None:
    raise ZeroDivisionError("secret")


def test_a_surprise_is_one_line_without_its_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plait.cli.batch.read_targets", _surprise)
    code, out, err = run_here("batch", "run", "https://a.example/")
    assert (code, out, err.count("\n")) == (70, "", 1)
    assert err.startswith("plait: internal error: ZeroDivisionError; ")
    assert "secret" not in err


def test_a_surprise_shows_its_traceback_to_who_asks_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plait.cli.batch.read_targets", _surprise)
    monkeypatch.setenv("PLAIT_DEBUG", "1")
    code, _out, err = run_here("batch", "run", "https://a.example/")
    assert code == 70
    assert err.startswith("Traceback (most recent call last):")
    assert "ZeroDivisionError: secret" in err


def test_a_bug_while_a_command_is_loaded_is_no_missing_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "plait.cli.embedded", None)
    monkeypatch.delitem(sys.modules, "plait.cli.batch", raising=False)
    code, _out, err = run_here("batch", "run", "https://a.example/")
    assert code == 70
    assert err.startswith("plait: internal error: ModuleNotFoundError; ")
