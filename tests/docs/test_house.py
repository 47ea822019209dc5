"""The house rules that no linter knows: sizes, names, reasons, and nothing that belongs to one machine."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.docs.markdown import ROOT, tracked

_LINES: Final = 500
_STATEMENTS: Final = 40
_NO_NAMES: Final = frozenset({
    "common", "helper", "helpers", "manager", "managers", "misc", "util", "utils",
})  # fmt: skip
_DIRECTIVE: Final = re.compile(
    r"\b(?P<noqa>noqa)(?::\s*(?P<rules>[A-Z]+\d+(?:\s*,\s*[A-Z]+\d+)*))?"
    r"|\btype:\s*ignore(?:\[(?P<codes>[\w, -]+)\])?"
)
_MACHINES: Final = re.compile(
    r"(?<![\w.-])/(?:work|root)[/]"
    # each with a bracket, so that this file does not name it itself
    r"|pypi[.]org|python[h]osted|npm[j]s|debian[.]org"
)

Function = ast.FunctionDef | ast.AsyncFunctionDef


def python_files(*folders: str) -> list[Path]:
    """The Python files of the repository in these folders."""
    return [path for folder in folders for path in tracked(f"{folder}/**") if path.suffix == ".py"]


def shown(path: Path) -> str:
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else path.name


def is_one_thing(node: Function | ast.Module) -> bool:
    """Whether something long says in its docstring that, and so why, it is one thing."""
    return "one thing" in (ast.get_docstring(node) or "")


def statements(function: Function) -> int:
    """How many statements a function has, those of inner functions included and docstrings not."""
    nested = sum(isinstance(node, ast.stmt) for child in function.body for node in ast.walk(child))
    documented = [node for node in ast.walk(function) if isinstance(node, Function) and ast.get_docstring(node)]
    return nested - len(documented)


def too_long(path: Path) -> list[str]:
    """The module, if it is too long, and its functions that are."""
    source = path.read_text()
    tree = ast.parse(source)
    found = []
    if (lines := len(source.splitlines())) > _LINES and not is_one_thing(tree):
        found.append(f"{shown(path)}: {lines} lines")
    functions = [node for node in ast.walk(tree) if isinstance(node, Function) and not is_one_thing(node)]
    found.extend(
        f"{shown(path)}:{function.lineno}: {function.name} has {count} statements"
        for function in functions
        if (count := statements(function)) > _STATEMENTS
    )
    return found


def comments(source: str) -> Iterator[tuple[int, str]]:
    """Every comment with its line."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def unexplained(path: Path) -> list[str]:
    """The exemptions from a rule that name no code, or that give no reason after it."""
    found = []
    for line, comment in comments(path.read_text()):
        directives = list(_DIRECTIVE.finditer(comment))
        coded = all(each["rules"] if each["noqa"] else each["codes"] for each in directives)
        reason = re.sub(r"[\W_]+", " ", _DIRECTIVE.sub("", comment)).removesuffix("ruff ")
        if directives and not (coded and len(reason.split()) > 1):
            found.append(f"{shown(path)}:{line}: {comment}")
    return found


def sleeps(path: Path) -> list[str]:
    """Where a file waits for time to pass instead of for an event."""
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        match node:
            case ast.Attribute(value=ast.Name(id="time"), attr="sleep", lineno=line):
                found.append(line)
            case ast.ImportFrom(module="time", names=names, lineno=line) if any(n.name == "sleep" for n in names):
                found.append(line)
            case _:
                pass
    return [f"{shown(path)}:{line}" for line in sorted(found)]


def machines(path: Path) -> list[str]:
    """Where a file speaks of the machine that it was written on, or of a registry's address."""
    lines = path.read_bytes().decode(errors="replace").splitlines()
    return [f"{shown(path)}:{place}" for place, line in enumerate(lines, 1) if _MACHINES.search(line)]


def test_modules_and_functions_are_short_or_say_why_they_are_one_thing() -> None:
    assert [fault for path in python_files("src") for fault in too_long(path)] == []


def test_every_exemption_has_a_code_and_a_reason() -> None:
    assert [fault for path in python_files("src", "tests") for fault in unexplained(path)] == []


def test_modules_are_named_by_the_domain() -> None:
    parts = {part for path in python_files("src", "tests") for part in path.relative_to(ROOT).with_suffix("").parts}
    assert sorted(parts & _NO_NAMES) == []


def test_no_test_sleeps() -> None:
    assert [place for path in python_files("tests") for place in sleeps(path)] == []


def test_no_file_speaks_of_the_machine_it_was_written_on() -> None:
    assert [place for path in tracked() for place in machines(path)] == []


# The checks themselves: a check that finds nothing anywhere would keep no rule.


@pytest.fixture
def module(tmp_path: Path) -> Path:
    return tmp_path / "module.py"


def test_a_long_function_and_a_long_module_are_found(module: Path) -> None:
    body = "    x = 1\n" * (_STATEMENTS + 1)
    module.write_text(f"def f():\n{body}\n\ndef g():\n    '''A table is one thing.'''\n{body}")
    assert too_long(module) == ["module.py:1: f has 41 statements"]
    module.write_text("\n" * (_LINES + 1))
    assert too_long(module) == ["module.py: 501 lines"]
    module.write_text("'''A grammar is one thing.'''\n" + "\n" * _LINES)
    assert too_long(module) == []


@pytest.mark.parametrize(
    "comment",
    [
        "noqa: S101  the caller checked it",
        "noqa: S101, B008 - the caller checked it",
        "type: ignore[arg-type]  # the stub is wrong",
        "type: ignore[arg-type]  # noqa: S101  the stub is wrong",
        "ruff: noqa: E501 - generated by a program",
        "an ordinary comment",
    ],
)
def test_an_exemption_with_code_and_reason_passes(module: Path, comment: str) -> None:
    module.write_text(f"x = 1  # {comment}\n")
    assert unexplained(module) == []


@pytest.mark.parametrize(
    "comment",
    [
        "noqa",
        "noqa: S101",
        "noqa because I say so",
        "type: ignore",
        "type: ignore[arg-type]",
        "type: ignore  # why not",
    ],
)
def test_an_exemption_without_code_or_reason_is_found(module: Path, comment: str) -> None:
    module.write_text(f"x = 1  # {comment}\n")
    assert unexplained(module) == [f"module.py:1: # {comment}"]


def test_a_sleeping_test_is_found(module: Path) -> None:
    module.write_text("import time\ntime.sleep(1)\nfrom time import sleep\nclock.sleep(1)\n")
    assert sleeps(module) == ["module.py:2", "module.py:3"]


@pytest.mark.parametrize(
    "line",
    [
        "{slash}work/main",
        "see https://pypi{dot}org/p",
        "sqlite:///{slash}root/a.db",
        "@registry.npm{nothing}js.org",
    ],
)
def test_a_machine_is_found(module: Path, line: str) -> None:
    module.write_text("\n" + line.format(slash="/", dot=".", nothing="") + "\n")
    assert machines(module) == ["module.py:2"]


def test_an_ordinary_path_is_no_machine(module: Path) -> None:
    module.write_text("/teamwork/x a/work/y /etc/hosts pypi-org")
    assert machines(module) == []
