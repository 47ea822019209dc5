"""Random programs, and programs of the corpus with something changed: none breaks what the engine promises.

A program is drawn from a number, to look at a finding again: ``python tests/starlark/test_fuzz.py --number 17``.
``python tests/starlark/test_fuzz.py --minutes 10`` goes on for as long as it is told to and shrinks what it finds.
"""

# ruff: noqa: T201 - run as a program, it prints what it finds

from __future__ import annotations

import argparse
import collections
import contextlib
import json
import os
import random
import re
import resource
import select
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any, Final, NamedTuple

import pytest

if __name__ == "__main__":  # run as a program, not as a part of the package of tests
    sys.path.insert(0, str(Path(__file__).parents[2]))

from plait import starlark
from plait.context import Context, ContextError
from plait.starlark.native import native
from plait.starlark.text import to_repr
from tests.starlark.generators import hostile_bytes, mutated, starlark_program, wild_program
from tests.starlark.shrinking import shrunk
from tests.starlark.test_corpus import ALL
from tests.starlark.test_corpus import PREDECLARED as OF_THE_CORPUS

_ROOT: Final = Path(__file__).parents[2]
_STEPS: Final = 100_000
_PATIENCE: Final = 5.0
_ADDRESS_SPACE: Final = 3 << 30
_HANGS_AFTER: Final = 60.0
_TIMEOUT: Final = 0.05
_OVERRUN: Final = 0.05
"""Seconds of CPU that a script may go on for after its deadline."""
_NANOSECONDS: Final = 1_600_000_000_000_000_000
_INTERNALS: Final = re.compile(
    r"internal error|cannot be compiled|at 0x[0-9a-f]{8,}|object at|<class|site-packages|\.py\b"
    r"|NoneType' |unhashable type: '|__\w+__\(\)"
)
_SOURCES: Final = [chunk.source.lstrip("\n") for chunk in ALL]


@native("attempt", "function", "default?", positional=True)  # what the public decorator makes would copy the result
def attempt(thread: starlark.Thread, function: Any, default: Any = None, /) -> Any:
    """Call a function; return the default, or the message, when it fails."""
    try:
        return starlark.call(thread, function)
    except (starlark.StepLimitExceeded, ContextError):
        raise
    except starlark.EvalError as error:
        return error.message if default is None else default


PREDECLARED: Final = OF_THE_CORPUS | {"attempt": attempt}


class End(NamedTuple):
    """How a run of a program ends.

    Attributes:
        kind: What it raises, ``ok`` for nothing.
        text: The error with its place, or the values that the program leaves.
        steps: What it has used up.
    """

    kind: str
    text: str
    steps: int


def program(number: int) -> str:
    """The program of a number."""
    rng = random.Random(number)
    choice = number % 10
    if choice < 5:
        return wild_program(rng)
    if choice == 5:
        return starlark_program(rng)
    source = rng.choice(_SOURCES)
    return hostile_bytes(rng, source) if choice == 9 else mutated(rng, source, _SOURCES)


def options(number: int) -> starlark.Options:
    """What the program of a number may use."""
    rng = random.Random(-number - 1)
    names = ("while_loops", "top_level_control", "global_reassign", "load_binds_globally", "recursion")
    return starlark.Options(**{name: rng.randrange(3) == 0 for name in names})


def _load(_thread: starlark.Thread, name: str) -> Any:
    raise starlark.EvalError(f"no such module: {name}")


def ended(compiled: starlark.Program, *, steps: int | None = _STEPS, timeout: float = _PATIENCE) -> End:
    """Run a program on a thread of its own."""
    thread = starlark.Thread(max_steps=steps, context=Context(timeout), load=_load)
    starlark.set_clock(thread, lambda: _NANOSECONDS)
    try:
        module = compiled.run(thread, PREDECLARED)
    except starlark.StarlarkError as error:
        return End(
            type(error).__name__,
            f"{error}\n{error.backtrace() if isinstance(error, starlark.EvalError) else ''}",
            thread.steps,
        )
    except ContextError as error:
        return End(type(error).__name__, "", 0)
    used = thread.steps
    return End("ok", "\n".join(_shown(value) for _, value in module.items()) if steps else "", used)


def _shown(value: Any) -> str:
    try:
        return to_repr(starlark.Thread(max_steps=_STEPS), value)
    except starlark.EvalError as error:
        return error.message


@contextlib.contextmanager
def traced() -> Iterator[None]:
    """Trace every line, as debuggers and coverage do."""

    def tracer(_frame: FrameType, _event: str, _arg: Any) -> Any:
        return tracer

    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        yield
    finally:
        sys.settrace(before)


@contextlib.contextmanager
def hasty() -> Iterator[None]:
    """Let Python look for other threads as often as it can."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        yield
    finally:
        sys.setswitchinterval(interval)


def faults(source: str, chosen: starlark.Options, *, timed: bool = False) -> list[str]:
    """What a program shows that no program should.

    Args:
        source: The program.
        chosen: What it may use.
        timed: Whether to look at how long it goes on after its deadline.
    """
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        found = _faults(source, chosen, timed=timed)
    return found + [f"warns: {each.message}" for each in warned]


def _faults(source: str, chosen: starlark.Options, *, timed: bool) -> list[str]:
    try:
        compiled = starlark.compile(source, "fuzz.star", PREDECLARED.keys(), chosen)
    except (starlark.ParseError, starlark.ResolveError) as error:
        return _internals(str(error))
    except Exception as error:  # noqa: BLE001 - whatever gets out is a fault
        return [f"compile raises {type(error).__name__}: {error}"]
    try:
        first = ended(compiled)
        found = _internals(first.text)
        found += _differences(first, "the same again", ended(compiled))
        again = starlark.compile(source, "fuzz.star", PREDECLARED.keys(), chosen)
        found += _differences(first, "another compilation", ended(again))
        found += _differences(first, "its bytes", ended(starlark.Program.from_bytes(compiled.to_bytes())))
        if first.steps < _STEPS // 4:
            with traced(), hasty():
                found += _differences(first, "traced", ended(compiled))
    except Exception as error:  # noqa: BLE001 - whatever gets out is a fault
        return [f"run raises {type(error).__name__}: {error}"]
    return found + (_overrun(compiled) if timed and first.kind in {"StepLimitExceeded", "DeadlineExceeded"} else [])


def _internals(text: str) -> list[str]:
    match = _INTERNALS.search(text)
    return [f"says {match[0]!r}: {text[:200]!r}"] if match else []


def _differences(first: End, what: str, other: End) -> list[str]:
    if "stack overflow" in first.text and "stack overflow" in other.text:
        return []  # how deep the stack may be is the host's to say
    if "DeadlineExceeded" in {first.kind, other.kind}:
        return [] if first.kind == other.kind else [f"takes too long: {first.kind}, {what} {other.kind}"]
    return [
        f"differs: {what}: {name} {mine!r:.200} {theirs!r:.200}"
        for name, mine, theirs in zip(End._fields, first, other, strict=True)
        if mine != theirs
    ]


def _overrun(compiled: starlark.Program) -> list[str]:
    before = time.process_time()
    end = ended(compiled, steps=None, timeout=_TIMEOUT)
    late = time.process_time() - before - _TIMEOUT
    return [f"overstays: {late * 1000:.0f} ms of CPU after its deadline, {end.kind}"] if late > _OVERRUN else []


# ---- the long run


class Finding(NamedTuple):
    """What the program of a number shows."""

    number: int
    fault: str


def worker(first: int, *, timed: bool) -> None:
    """Try the programs of numbers from one on; for each, say so first, and what it shows in the end."""
    resource.setrlimit(resource.RLIMIT_AS, (_ADDRESS_SPACE, _ADDRESS_SPACE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    number = first
    while True:
        print(json.dumps({"begins": number}), flush=True)
        print(json.dumps({"ends": number, "faults": faults(program(number), options(number), timed=timed)}), flush=True)
        number += 1


def search(first: int, go_on: Callable[[int], bool], *, timed: bool) -> Iterator[Finding]:
    """Try programs in a process of their own, started again when one breaks it, for as long as the caller likes.

    Args:
        first: The first program's number.
        go_on: Told the next program's number, tells whether to try it.
        timed: Whether to look at how long programs go on after their deadlines.
    """
    number = first
    while go_on(number):
        command = [sys.executable, str(Path(__file__)), "--worker", str(number), *(["--timed"] if timed else [])]
        with subprocess.Popen(command, cwd=_ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            assert process.stdout is not None
            try:
                for line in _lines(process, process.stdout.fileno()):
                    answer = json.loads(line)
                    if "ends" not in answer:
                        continue
                    number = answer["ends"] + 1
                    yield from (Finding(answer["ends"], fault) for fault in answer["faults"])
                    if not go_on(number):
                        return
            finally:
                process.kill()
        ending = process.returncode
        yield Finding(number, f"breaks the process: {signal.Signals(-ending).name if ending < 0 else ending}")
        number += 1


def _lines(process: subprocess.Popen[bytes], descriptor: int) -> Iterator[bytes]:
    """The lines that a process writes, until it ends or says nothing for long."""
    rest = b""
    while select.select([descriptor], [], [], _HANGS_AFTER)[0]:
        piece = os.read(descriptor, 65_536)
        if not piece:
            process.wait()
            return
        *lines, rest = (rest + piece).split(b"\n")
        yield from lines
    process.kill()
    process.wait()


def _kind(fault: str) -> str:
    """What findings of the same kind have in common."""
    return re.sub(r"\d+|'.*'", "", fault)[:60]


def _smallest(finding: Finding) -> str:
    kind, chosen = _kind(finding.fault), options(finding.number)
    if finding.fault.startswith(("breaks", "overstays", "takes")):
        return program(finding.number)
    return shrunk(program(finding.number), lambda source: any(_kind(fault) == kind for fault in faults(source, chosen)))


def main() -> int:
    """Search for as long as the command line says, and print each kind of finding once, shrunk."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument(
        "--first", type=int, default=None, help="the first program's number; by default another one each time"
    )
    parser.add_argument("--number", type=int, help="only the program of this number")
    parser.add_argument("--worker", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--timed", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker is not None:
        worker(arguments.worker, timed=arguments.timed)
    if arguments.number is not None:
        print(
            program(arguments.number),
            options(arguments.number),
            *faults(program(arguments.number), options(arguments.number), timed=True),
            sep="\n",
        )
        return 0
    first = random.SystemRandom().randrange(1 << 32) if arguments.first is None else arguments.first
    until: float = time.monotonic() + arguments.minutes * 60
    last = [first]

    def go_on(number: int) -> bool:
        last[0] = number
        return time.monotonic() < until

    kinds: collections.Counter[str] = collections.Counter()
    for finding in search(first, go_on, timed=True):
        kinds[_kind(finding.fault)] += 1
        if kinds[_kind(finding.fault)] <= 3:
            print(
                f"--- {finding.number}: {finding.fault}",
                options(finding.number),
                _smallest(finding),
                "",
                sep="\n",
                flush=True,
            )
    print(
        f"{last[0] - first} programs from {first} on",
        *(f"{count} of {kind}" for kind, count in kinds.most_common()),
        sep="\n",
    )
    return 1 if kinds else 0


# ---- the short run


def test_some_random_programs_keep_the_rules() -> None:
    assert [Finding(number, fault) for number in range(60) for fault in faults(program(number), options(number))] == []


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_many_random_programs_keep_the_rules() -> None:
    assert list(search(1_000, lambda number: number < 2_500, timed=False)) == []


def test_a_fault_is_found() -> None:
    other = End("ok", "1", 2)
    assert _differences(End("ok", "1", 1), "traced", other) == ["differs: traced: steps 1 2"]
    assert _internals("<x object at 0x7f0000000000>") != []
    assert shrunk("def f():\n    a = 1\n    b = (2 + (3))\n", lambda source: "3" in source) == "3"


if __name__ == "__main__":
    sys.exit(main())
