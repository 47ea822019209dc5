"""Every chunk of the corpus does what it says, and fails on the very lines that say so.

The corpus is the folder beside this file: our own programs, by topic, after the language's specification and
go.starlark.net's behaviour. A file is cut into chunks by lines ``---``; each chunk is a module that runs by itself.

- ``### regexp`` at the end of a line: the chunk fails there, with a message that the regexp is found in.
- ``# option: while_loops`` on a line of its own: the chunk has that option; with ``-set``, it has not.
- ``# dialect: …`` marks a chunk in which Plait differs from go.starlark.net on purpose.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from plait import starlark

CORPUS: Final = Path(__file__).parent / "corpus"
LIBRARY: Final = CORPUS / "lib"

_SEPARATOR: Final = "---"
_EXPECTED: Final = re.compile(r".*###\s*(?P<message>.*?)\s*$")
_OPTION: Final = re.compile(r"#\s*option:\s*(?P<off>-?)(?P<name>\w+)\s*$")
_STEPS: Final = 10_000_000

_TOOLS: Final = """
def equal(x, y):
    return x == y

def truth(x):
    return not not x

def text(x):
    return repr(x)
"""


class Chunk(NamedTuple):
    """One program of the corpus.

    Attributes:
        filename: The file's name.
        line: The chunk's first line in it, from 1.
        lines: The chunk's lines.
    """

    filename: str
    line: int
    lines: tuple[str, ...]

    @property
    def source(self) -> str:
        """The program, after as many empty lines as give it the line numbers of the file."""
        return "\n" * (self.line - 1) + "\n".join(self.lines) + "\n"

    @property
    def expected(self) -> dict[int, str]:
        """The regexp of each line that must fail."""
        numbered = enumerate(self.lines, self.line)
        return {number: found["message"] for number, line in numbered if (found := _EXPECTED.match(line))}

    @property
    def options(self) -> starlark.Options:
        """The options that the chunk asks for."""
        asked = [found for line in self.lines if (found := _OPTION.match(line))]
        return starlark.Options(**{found["name"]: not found["off"] for found in asked})


class Failure(NamedTuple):
    """One error of a chunk: its line in the file and its message."""

    line: int
    message: str


def chunks(path: Path) -> Iterator[Chunk]:
    """Cut a file of the corpus into its chunks."""
    first, lines = 1, list[str]()
    for number, line in enumerate([*path.read_text().splitlines(), _SEPARATOR], 1):
        if line == _SEPARATOR:
            yield Chunk(path.name, first, tuple(lines))
            first, lines = number + 1, []
        else:
            lines.append(line)


@functools.cache
def tools() -> Any:
    """What the assertions ask of the language itself, as a module."""
    return starlark.compile(_TOOLS, filename="tools.star").run(starlark.Thread())


def tool(thread: starlark.Thread, name: str, *args: Any) -> Any:
    """Ask the language itself for something about values."""
    return starlark.to_python(starlark.call(thread, tools()[name], args=args))


@starlark.builtin
def assert_eq(thread: starlark.Thread, x: Any, y: Any) -> None:
    if not tool(thread, "equal", x, y):
        raise starlark.EvalError(f"{tool(thread, 'text', x)} != {tool(thread, 'text', y)}")


@starlark.builtin
def assert_true(thread: starlark.Thread, x: Any) -> None:
    if not tool(thread, "truth", x):
        raise starlark.EvalError(f"{tool(thread, 'text', x)} is not true")


@starlark.builtin
def assert_fails(thread: starlark.Thread, f: Any, pattern: str) -> None:
    try:
        value = starlark.call(thread, f)
    except starlark.StepLimitExceeded:
        raise
    except starlark.EvalError as error:
        if not re.search(pattern, error.message):
            raise starlark.EvalError(f"the error is {error.message!r}, not {pattern!r}") from None
    else:
        raise starlark.EvalError(f"no error but {tool(thread, 'text', value)}; wanted {pattern!r}")


@starlark.builtin
def freeze(thread: starlark.Thread, x: Any) -> None:
    starlark.freeze(x, thread=thread)


PREDECLARED: Final[dict[str, Any]] = {
    "assert_eq": assert_eq,
    "assert_true": assert_true,
    "assert_fails": assert_fails,
    "freeze": freeze,
    "json": starlark.json,
    "math": starlark.math,
    "time": starlark.time,
    "struct": starlark.struct,
    "module": starlark.module,
}


def execute(filename: str, source: str, options: starlark.Options) -> Any:
    """Run one module of the corpus on a thread of its own, with the library to load from."""
    loaded: dict[str, Any] = {}

    def load(_: starlark.Thread, name: str) -> Any:
        path = LIBRARY / name
        if not path.exists():
            raise starlark.EvalError(f"no such module: {name}")
        if name not in loaded:
            loaded[name] = execute(name, path.read_text(), starlark.Options())
        return loaded[name]

    program = starlark.compile(source, filename=filename, predeclared=PREDECLARED.keys(), options=options)
    return program.run(starlark.Thread(max_steps=_STEPS, load=load), predeclared=PREDECLARED)


def place(error: starlark.EvalError, filename: str) -> int:
    """The line of the innermost call under way in a file."""
    lines = [frame.line for frame in error.frames if frame.filename == filename]
    return lines[-1] if lines else error.line


def failures(chunk: Chunk) -> list[Failure]:
    """Run a chunk and return how it failed: a resolve error has many places, any other one."""
    try:
        execute(chunk.filename, chunk.source, chunk.options)
    except starlark.ResolveError as error:
        return [Failure(one.line, one.message) for one in error.errors]
    except starlark.EvalError as error:
        return [Failure(place(error, chunk.filename), error.message)]
    except starlark.ParseError as error:
        return [Failure(error.line, error.message)]
    return []


def problems(chunk: Chunk) -> list[str]:
    """What a chunk did that it should not have done, and what it did not do."""
    missing = chunk.expected
    found = []
    for line, message in failures(chunk):
        wanted = missing.pop(line, None)
        if wanted is None:
            found.append(f"{chunk.filename}:{line}: unexpected error: {message}")
        elif not re.search(wanted, message):
            found.append(f"{chunk.filename}:{line}: the error is {message!r}, not {wanted!r}")
    return found + [f"{chunk.filename}:{line}: no error, wanted {wanted!r}" for line, wanted in missing.items()]


ALL: Final = [chunk for path in sorted(CORPUS.glob("*.star")) for chunk in chunks(path)]


@pytest.mark.parametrize("chunk", [pytest.param(chunk, id=f"{chunk.filename}:{chunk.line}") for chunk in ALL])
def test_a_chunk_of_the_corpus_does_what_it_says(chunk: Chunk) -> None:
    assert problems(chunk) == []


def test_a_chunk_that_does_not_do_what_it_says_is_found_out() -> None:
    silent = Chunk("silent.star", 3, ("x = 1 ### no error",))
    loud = Chunk("loud.star", 3, ("x = 1", "x.y"))
    other = Chunk("other.star", 3, ("x = 1", "x.y ### something else"))
    unequal = Chunk("unequal.star", 3, ("assert_eq(1, 2)",))
    assert [problem for chunk in (silent, loud, other, unequal) for problem in problems(chunk)] == [
        "silent.star:3: no error, wanted 'no error'",
        "loud.star:4: unexpected error: int has no .y field or method",
        "other.star:4: the error is 'int has no .y field or method', not 'something else'",
        "unequal.star:3: unexpected error: 1 != 2",
    ]
