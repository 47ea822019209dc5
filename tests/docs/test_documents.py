"""The documents are true: what they name exists, and what they show runs and prints what they say."""

from __future__ import annotations

import json
import re
import shutil
import socket
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from tests.docs.markdown import ROOT, Block, blocks, documents, inline_code, links, says
from tests.docs.names import environment, missing_extra, missing_link, missing_name, missing_target

_PROSE: Final = frozenset({"text", "output", "mermaid", "sql", "http", "jsonl"})
_SHELL: Final = frozenset({"console", "sh"})
_PARSED: Final[dict[str, Callable[[str], object]]] = {"json": json.loads, "toml": tomllib.loads}
_LANGUAGES: Final = _PROSE | _SHELL | _PARSED.keys() | {"python"}
_SECONDS: Final = 60
_SHOWN_PORT: Final = "8765"


def _cases(*languages: str) -> list[object]:
    """The blocks of all documents in one of these languages, for ``parametrize``."""
    return [
        pytest.param(block, id=f"{path.relative_to(ROOT)}:{block.line}")
        for path in documents()
        for block in blocks(path.read_text())
        if block.language in languages
    ]


each_document = pytest.mark.parametrize(
    "document", [pytest.param(path, id=str(path.relative_to(ROOT))) for path in documents()]
)


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """Where a reader sits: an empty directory but for a copy of the examples."""
    if (ROOT / "examples").exists():
        shutil.copytree(ROOT / "examples", tmp_path / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def commands(block: Block) -> list[tuple[str, str | None]]:
    """The commands of a block, each with the output shown under it, if there is any."""
    lines = block.code.replace("\\\n", " ").splitlines()
    if not any(line.startswith("$ ") for line in lines):
        return [(line.strip(), None) for line in lines if line.strip() and not line.startswith("#")]
    found: list[tuple[str, str | None]] = []
    for line in lines:
        if line.startswith("$ "):
            found.append((line[2:].strip(), None))
        elif found:
            command, output = found[-1]
            found[-1] = (command, f"{output or ''}{line}\n")
    return found


def free_port() -> str:
    """A port that nobody listens on, in the place of the one that the documents show."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return str(server.getsockname()[1])


def failure(command: str, output: str | None, desk: Path) -> str | None:
    """What a reader would see go wrong with a command; those that need a network are only looked at."""
    words = command.split()
    if words[0] == "cd" or words[:2] == ["git", "clone"]:
        return None
    if words[0] == "make":
        return missing_target(command)
    if "pip" in words and "install" in words:
        return missing_extra(command)
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command.replace(_SHOWN_PORT, free_port())],
        cwd=desk,
        env=environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )
    if done.returncode:
        return f"{command}: exit code {done.returncode}\n{done.stdout}{done.stderr}"
    if output and output.strip() and not says(output, done.stdout + done.stderr):
        return f"{command}: printed\n{done.stdout}{done.stderr}\nnot\n{output}"
    return None


@each_document
def test_every_block_says_a_language_that_is_checked(document: Path) -> None:
    unknown = [(b.line, b.language) for b in blocks(document.read_text()) if b.language not in _LANGUAGES]
    assert unknown == []


@each_document
def test_every_path_and_command_and_name_exists(document: Path) -> None:
    found = (missing_name(code, document) for code in inline_code(document.read_text()))
    assert [fault for fault in found if fault] == []


@each_document
def test_every_link_into_the_repository_has_a_target(document: Path) -> None:
    found = (missing_link(target, document) for target in links(document.read_text()))
    assert [fault for fault in found if fault] == []


@pytest.mark.parametrize("block", _cases("python"))
def test_every_python_snippet_runs_and_prints_what_is_shown(block: Block, desk: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", block.code],
        cwd=desk,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    if block.output is not None:
        assert says(block.output, done.stdout), done.stdout


@pytest.mark.parametrize("block", _cases("console", "sh"))
def test_every_command_runs_and_prints_what_is_shown(block: Block, desk: Path) -> None:
    assert [fault for command, output in commands(block) if (fault := failure(command, output, desk))] == []


@each_document
def test_every_block_of_data_can_be_read(document: Path) -> None:
    for block in blocks(document.read_text()):
        if block.language in _PARSED:
            assert _PARSED[block.language](block.code) is not None


def test_the_readme_names_the_command_that_ci_runs() -> None:
    (command,) = re.findall(r"^exec (make .*)$", (ROOT / ".ci" / "run").read_text(), re.MULTILINE)
    shown = "\n".join(block.code for block in blocks((ROOT / "README.md").read_text()))
    assert command in shown


# The checks themselves: a check that finds nothing anywhere would let every document pass.


@pytest.mark.parametrize(
    ("code", "fault"),
    [
        ("Makefile", None),
        ("tests/conftest.py", None),
        ("tests/*.py", None),
        ("src/plait/", None),
        ("tests/test_fixtures.py::test_a_fresh_database_is_empty_and_takes_tables", None),
        ("plait.context.Context", None),
        ("plait.db", None),
        ("application/json", None),
        ("make check", None),
        ("make PYTHON=python3 test", None),
        ("make coffee", "the Makefile has no target coffee"),
        ("tests/nowhere.py", "there is no tests/nowhere.py"),
        ("nowhere.py", "there is no nowhere.py"),
        ("tests/conftest.py::test_x", "there is no test_x in tests/conftest.py"),
        ("plait.context.Nothing", "there is no plait.context.Nothing"),
        ("plait.nowhere.Nothing", "there is no plait.nowhere.Nothing"),
        ("plait brew tea", "there is no command plait brew"),
        ("plait --brew", "plait  has no option --brew"),
    ],
)
def test_a_name_that_breaks_its_promise_is_found(code: str, fault: str | None) -> None:
    assert missing_name(code, ROOT / "README.md") == fault


@pytest.mark.parametrize(
    ("target", "fault"),
    [
        ("https://a.example/x", None),
        ("Makefile", None),
        ("README.md#plait", None),
        ("nowhere.md", "the link nowhere.md points to no file"),
        ("README.md#nowhere", "the link README.md#nowhere points to no heading"),
    ],
)
def test_a_link_without_a_target_is_found(target: str, fault: str | None) -> None:
    assert missing_link(target, ROOT / "README.md") == fault


@pytest.mark.parametrize(
    ("command", "output", "found"),
    [
        ("true", None, None),
        ("echo one two", "one ...\n", None),
        ("echo one", "two\n", "echo one: printed\none\n\nnot\ntwo\n"),
        ("exit 3", None, "exit 3: exit code 3\n"),
        ("cd plait", None, None),
        ("pip install 'plait[all]'", None, None),
        ("pip install 'plait[tea]'", None, "Plait has no extra tea"),
    ],
)
def test_a_command_that_fails_or_prints_something_else_is_found(
    command: str, output: str | None, found: str | None, tmp_path: Path
) -> None:
    assert failure(command, output, tmp_path) == found


def test_blocks_carry_their_language_their_line_and_their_output() -> None:
    text = "# A\n\n```python\nprint(1)\n```\n\nIt prints:\n\n```text\n1\n```\n\n```\nx\n```\n\n- a\n\n      y\n"
    assert blocks(text) == [
        Block("python", "print(1)\n", 3, "1\n"),
        Block("text", "1\n", 9),
        Block("", "x\n", 13),
        Block("", "y\n", 19),
    ]


def test_commands_are_told_from_their_output() -> None:
    assert commands(Block("console", "$ a \\\n  b\nout\n$ c\n", 1)) == [("a    b", "out\n"), ("c", None)]
    assert commands(Block("sh", "# why\na\n\nb\n", 1)) == [("a", None), ("b", None)]
