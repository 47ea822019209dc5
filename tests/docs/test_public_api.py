"""What Plait offers: each promised name exists and is documented, no other is public, and it loads light."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
import itertools
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Final

import pytest

_ROOMS: Final = ("plait", "plait.jobs", "plait.starlark", "plait.net", "plait.fetch", "plait.cli")
_HEAVY: Final = frozenset(
    [
        "alembic",
        "httpcore",
        "httpx",
        "litestar",
        "psycopg",
        "re2",
        "rich",
        "sqlalchemy",
        "sqlite3",
        "trafilatura",
        "uvicorn",
    ]
)

each_room = pytest.mark.parametrize("room", _ROOMS)


def documented_constants(package: Path) -> set[str]:
    """The names to which a module of this folder assigns at its top, with a string under the assignment."""
    found: set[str] = set()
    for path in package.rglob("*.py"):
        body = ast.parse(path.read_text()).body
        for statement, below in itertools.pairwise(body):
            targets = statement.targets if isinstance(statement, ast.Assign) else []
            if isinstance(statement, ast.AnnAssign):
                targets = [statement.target]
            match below:
                case ast.Expr(value=ast.Constant(value=str())):
                    found.update(target.id for target in targets if isinstance(target, ast.Name))
                case _:
                    pass
    return found


def is_documented(name: str, value: object, constants: set[str]) -> bool:
    """Whether a public thing says what it is, in words of its own and not in those of its base class."""
    if isinstance(value, ModuleType) or inspect.isroutine(value):
        return bool(inspect.getdoc(value))
    if isinstance(value, type):
        own = value.__dict__.get("__doc__") or ""
        return bool(own) and not own.startswith(f"{value.__name__}(")  # what a dataclass writes by itself
    return name in constants


def surplus(module: ModuleType) -> list[str]:
    """The public names of a module that its `__all__` does not promise and that are no rooms of its own."""
    rooms = {
        name
        for name, value in vars(module).items()
        if isinstance(value, ModuleType) and value.__name__ == f"{module.__name__}.{name}"
    }
    public = {name for name in dir(module) if not name.startswith("_")}
    return sorted(public - set(module.__all__) - rooms - {"annotations"})


def loaded_by(program: str) -> set[str]:
    """The names of all modules that a Python has loaded when it has run a line."""
    watched = (
        "import json, sys\n"
        f"try:\n    {program}\n"
        "except SystemExit as end:\n    assert not end.code, end.code\n"
        "finally:\n    print(json.dumps(sorted(sys.modules)), file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", watched], capture_output=True, text=True, check=True, timeout=60)
    return set(json.loads(done.stderr.splitlines()[-1]))


@each_room
def test_every_promised_name_exists_and_is_documented(room: str) -> None:
    module = importlib.import_module(room)
    constants = documented_constants(Path(importlib.import_module("plait").__path__[0]))
    bare = [name for name in module.__all__ if not is_documented(name, getattr(module, name), constants)]
    assert bare == []


@each_room
def test_promised_names_are_sorted_and_unique(room: str) -> None:
    promised = list(importlib.import_module(room).__all__)
    assert len(set(promised)) == len(promised)
    assert promised


@each_room
def test_nothing_else_is_public(room: str) -> None:
    assert surplus(importlib.import_module(room)) == []


@pytest.mark.parametrize(
    "program",
    [
        "import plait",
        "import sys; sys.argv = ['plait', '--help']; from plait.cli import main; main()",
    ],
    ids=["import plait", "plait --help"],
)
def test_it_loads_neither_a_driver_nor_a_web_stack(program: str) -> None:
    loaded = loaded_by(program)
    assert "plait" in loaded
    assert sorted(_HEAVY & loaded) == []


@pytest.mark.parametrize(
    ("program", "rooms"),
    [
        ("import plait", set()),
        ("from plait import Context", {"context"}),
        ("from plait import starlark", {"context", "starlark"}),
        ("import plait; plait.starlark.Thread()", {"context", "starlark"}),
        ("from plait import Runner", {"context", "jobs"}),
    ],
)
def test_a_name_loads_its_room_and_those_below_and_no_other(program: str, rooms: set[str]) -> None:
    loaded = loaded_by(program)
    assert {name.split(".")[1] for name in loaded if name.startswith("plait.")} == rooms


@pytest.mark.parametrize("room", ["plait.context", "plait.starlark"])
def test_a_room_of_the_language_needs_nothing_but_the_standard_library(room: str) -> None:
    tops = {name.partition(".")[0] for name in loaded_by(f"import {room}") - loaded_by("pass")}
    foreign = {name for name in tops - sys.stdlib_module_names if not name.startswith("_sysconfigdata")}  # Python's own
    assert foreign == {"plait"}


def test_a_name_without_words_of_its_own_is_found() -> None:
    class Bare(ValueError): ...

    assert not is_documented("Bare", Bare, set())
    assert not is_documented("LIMIT", 3, {"OTHER"})
    assert is_documented("LIMIT", 3, {"LIMIT"})
    assert is_documented("is_documented", is_documented, set())


def test_a_constant_is_documented_by_the_string_under_it(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text('A = 1\n"""One."""\nB: int = 2\n"""Two."""\nC = 3\nD = 4\n')
    assert documented_constants(tmp_path) == {"A", "B"}


def test_a_public_name_too_many_is_found() -> None:
    module = ModuleType("room")
    vars(module).update(__all__=["kept"], kept=1, json=json, extra=2, inner=ModuleType("room.inner"))
    assert surplus(module) == ["extra", "json"]
