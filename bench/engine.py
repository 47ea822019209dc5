"""The engine's benchmark: CPython itself, Plait and three other Starlark engines in one table.

Each engine has its own process, and each peer its own environment. A figure is the CPU time of one unit of a workload:
the best of rounds in which the engines take turns, so that a noisy machine hits all of them. Slow engines do fewer
units of a workload. Every engine must come to CPython's result.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import select
import shutil
import statistics
import subprocess
import sys
import venv
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
REFERENCE, SUBJECT = "cpython", "plait"
REQUIREMENTS = {
    "starlark-pyo3": "starlark-pyo3==2026.1.3",
    "starlark-go": "starlark-go==1.0.1",
    "starlark": "starlark==0.6.0",
}
PEERS = [REFERENCE, SUBJECT, *REQUIREMENTS]
KINDS = {
    "small_ints": "arithmetic, small integers",
    "big_ints": "arithmetic, big integers",
    "nested_loops": "nested loops over lists",
    "sieve": "sieve",
    "dict_count": "counting in dicts",
    "strings": "strings",
    "comprehension_sort": "comprehensions, keyed sort",
    "calls": "calls of a small function",
    "records": "records",
    "cold": "cold script",
    "hot_call": "hot call of a function",
    "rerun": "hot run of a module",
    "host_calls": "calls of a host function",
}
MODES = {"cold": "cold", "rerun": "rerun", "hot_call": "handle"}
"""How the kinds are driven that are not a call of ``run`` with the number of units."""

MEAN_LIMIT, MEAN_AIM, KIND_LIMIT = 1.9, 1.5, 3.0
KIND_LIMITS = {"cold": 6.0}
HOT_CALL_LIMIT_US, HOST_CALL_LIMIT, THREADS_LIMIT, SHARE_LIMIT = 1.0, 3.0, 3.0, 0.8 / 3
THREADS, STEPS = 8, 1_000_000

PROBE = """
def run(n):
    total = 0
    for i in range(n):
        total = (total + (i & 1023) * 37 % 11) & 1048575
    return total

def handle(x):
    return x + 1

def empty(n):
    for i in range(n):
        pass
    return n

def hosted(n):
    for i in range(n):
        host(i)
    return n
"""


class Failed(Exception):
    """An engine could not do what it was asked; the text says why."""


class Workload(NamedTuple):
    """A script and how many units of work an engine as fast as CPython does of it."""

    source: str
    units: int
    mode: str

    @classmethod
    def read(cls, folder: Path, kind: str, scale: float) -> Workload:
        """Read a kind's workload from a folder."""
        source = (folder / f"{kind}.star").read_text(encoding="utf-8")
        header = re.search(r"^# count: (\d+)$", source, re.MULTILINE)
        if header is None:
            raise SystemExit(f"{kind}.star: a line '# count: N' must say how many units are a turn")
        return cls(source, max(1, int(int(header[1]) * scale)), MODES.get(kind, "run"))


class Figure(NamedTuple):
    """One goal: what was measured, how it reads, and whether it is met."""

    name: str
    text: str
    met: bool


class Engine:
    """The process of one engine.

    Args:
        name: Which one.
        python: The interpreter of its environment.
    """

    def __init__(self, name: str, python: Path) -> None:
        self.name = name
        self._python = python
        self._process = self._started()

    def _started(self) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [self._python, HERE / "engine_driver.py", self.name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._process = process
        self._read(timeout=60)
        return process

    def ask(self, request: str, timeout: float = 120, **arguments: object) -> dict[str, Any]:
        """Have something done.

        Args:
            request: What: a method of the driver.
            timeout: Seconds after which the process is ended.
            arguments: Its arguments.

        Returns:
            Its answer.

        Raises:
            Failed: It could not be done; the process is there for the next request all the same.
        """
        assert self._process.stdin is not None
        try:
            print(json.dumps({"do": request, **arguments}), file=self._process.stdin, flush=True)
            return self._read(timeout)
        except (EOFError, OSError) as error:
            self.close()
            self._process = self._started()
            raise Failed(str(error)) from None

    def _read(self, timeout: float) -> dict[str, Any]:
        output = self._process.stdout
        assert output is not None
        if not select.select([output], [], [], timeout)[0]:
            raise TimeoutError(f"took more than {timeout:g} s")
        line = output.readline()
        if not line:
            raise EOFError(f"crashed with exit status {self._process.wait()}")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise Failed(answer["error"])
        return answer

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()


def interpreter(peer: str) -> Path:
    """The interpreter of a peer's environment, which is made on first use and kept in the user's cache."""
    if peer not in REQUIREMENTS:
        return Path(sys.executable)
    cache = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "plait-bench"
    folder = cache / f"{REQUIREMENTS[peer]}-{sys.implementation.cache_tag}"
    python, ready = folder / "bin" / "python", folder / ".ready"
    if not ready.exists():
        print(f"Installing {REQUIREMENTS[peer]} into {folder}", flush=True)
        shutil.rmtree(folder, ignore_errors=True)
        venv.create(folder, with_pip=True)
        pip = [str(python), "-m", "pip", "-qq", "--disable-pip-version-check"]
        subprocess.run([*pip, "install", REQUIREMENTS[peer]], check=True)
        ready.touch()
    return python


def engines(peers: Iterable[str]) -> dict[str, Engine]:
    """Start the engines that can be had; say which cannot."""
    started: dict[str, Engine] = {}
    for peer in peers:
        try:
            started[peer] = Engine(peer, interpreter(peer))
        except (Failed, OSError, EOFError, subprocess.CalledProcessError) as error:
            print(f"{peer} is left out: {error}", flush=True)
    return started


def unit_seconds(contestants: dict[str, Engine], workload: Workload, rounds: int, notes: list[str]) -> dict[str, float]:
    """Let the engines take turns at a workload; CPU seconds of a unit for each that can do it.

    Args:
        contestants: The engines; the first one's result is the right one.
        workload: The workload.
        rounds: How often each one's turn comes.
        notes: Where reasons go for what an engine cannot do.
    """
    expected: str | None = None
    able: dict[str, list[float]] = {}
    for name, engine in contestants.items():
        try:
            answer = engine.ask(
                "load", source=workload.source, mode=workload.mode, count=workload.units, budget=workload_budget(name)
            )
        except Failed as error:
            if name == REFERENCE:
                raise SystemExit(f"{name}: {error}") from None
            notes.append(f"{name}: {error}")
            continue
        expected = answer["result"] if expected is None else expected
        if answer["result"] == expected:
            able[name] = []
        else:
            notes.append(f"{name}: came to {answer['result'][:60]} instead of {expected[:60]}")
    for _ in range(rounds):
        for name in list(able):
            try:
                able[name].append(contestants[name].ask("measure")["seconds"])
            except Failed as error:
                notes.append(f"{name}: {error}")
                del able[name]
    return {name: min(times) for name, times in able.items()}


def workload_budget(name: str) -> float:
    """CPU seconds for one turn of an engine."""
    return 2.0 if name in {REFERENCE, SUBJECT} else 0.5


def duration(seconds: float) -> str:
    """A time in four digits or so."""
    for factor, unit in ((1.0, "s"), (1e3, "ms"), (1e6, "µs")):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


class Table:
    """Measured kinds, printed as they come.

    Args:
        peers: The columns.
    """

    def __init__(self, peers: Iterable[str]) -> None:
        self._peers = list(peers)
        self.seconds: dict[str, dict[str, float]] = {}
        print(f"\nCPU time of a unit, and its ratio to CPython's\n{'':28}", end="")
        print("".join(f"{peer:>18}" for peer in self._peers), flush=True)

    def row(self, kind: str, seconds: dict[str, float]) -> None:
        """Print one kind."""
        self.seconds[kind] = seconds
        cells = [f"{KINDS[kind]:28}"]
        for peer in self._peers:
            if peer not in seconds:
                cells.append(f"{'-':>18}")
            elif peer == REFERENCE:
                cells.append(f"{duration(seconds[peer]):>18}")
            else:
                cells.append(f"{duration(seconds[peer]):>10}{self.ratio(kind, peer):>8.3g}")
        print("".join(cells), flush=True)

    def ratio(self, kind: str, peer: str) -> float:
        """How many times CPython's time a peer takes."""
        return self.seconds[kind][peer] / self.seconds[kind][REFERENCE]

    def ratios(self, peer: str) -> dict[str, float]:
        """The same for all kinds that it can do."""
        return {kind: self.ratio(kind, peer) for kind, seconds in self.seconds.items() if peer in seconds}

    def means(self) -> dict[str, float]:
        """Print and return each peer's geometric mean over the kinds that it can do."""
        means = {
            peer: math.exp(statistics.fmean(math.log(ratio) for ratio in ratios.values()))
            for peer in self._peers
            if (ratios := self.ratios(peer))
        }
        print(f"{'geometric mean':28}", end="")
        print("".join(f"{means[peer]:>18.3g}" if peer in means else f"{'-':>18}" for peer in self._peers), flush=True)
        return means


def ratio_figures(table: Table, means: dict[str, float]) -> list[Figure]:
    """The goals about the table."""
    if SUBJECT not in means:
        return [Figure("Plait", "could not be measured", met=False)]
    ratios = table.ratios(SUBJECT)
    figures = [
        Figure(
            "geometric mean", f"{means[SUBJECT]:.2f} (≤ {MEAN_LIMIT}, aim {MEAN_AIM})", means[SUBJECT] <= MEAN_LIMIT
        ),
        Figure("kinds done", f"{len(ratios)} of {len(table.seconds)}", len(ratios) == len(table.seconds)),
    ]
    for kind, ratio in ratios.items():
        limit = KIND_LIMITS.get(kind, KIND_LIMIT)
        if ratio > limit or kind in KIND_LIMITS:
            figures.append(Figure(KINDS[kind], f"{ratio:.2f} (≤ {limit:g})", ratio <= limit))
    return figures


def call_figures(contestants: dict[str, Engine], rounds: int, scale: float) -> list[Figure]:
    """What a call into a script and out of one costs."""
    pair = {name: contestants[name] for name in (REFERENCE, SUBJECT)}
    count = int(200_000 * scale)
    reasons: list[str] = []
    seconds = {
        mode: unit_seconds(pair, Workload(PROBE, count, mode), rounds, reasons)
        for mode in ("handle", "hosted", "empty")
    }
    if reasons:
        raise Failed(reasons[0])
    above = (seconds["handle"][SUBJECT] - seconds["handle"][REFERENCE]) * 1e6
    net = {name: seconds["hosted"][name] - seconds["empty"][name] for name in pair}
    ratio = net[SUBJECT] / net[REFERENCE]
    return [
        Figure(
            "hot call above Python's",
            f"{above:.2f} µs: {duration(seconds['handle'][SUBJECT])} against "
            f"{duration(seconds['handle'][REFERENCE])} (< {HOT_CALL_LIMIT_US:g} µs)",
            above < HOT_CALL_LIMIT_US,
        ),
        Figure(
            "host builtin to Python call",
            f"{ratio:.2f}: {duration(net[SUBJECT])} against {duration(net[REFERENCE])} (< {HOST_CALL_LIMIT:g})",
            ratio < HOST_CALL_LIMIT,
        ),
    ]


def turns_of(subject: Engine, steps: int) -> int:
    """Turns of the probe's loop that take so many steps."""
    few, many = (subject.ask("steps", source=PROBE, count=count)["steps"] for count in (50_000, 100_000))
    if many <= few:
        raise Failed("a longer loop takes no more steps")
    return int(steps * 50_000 / (many - few))


def thread_figures(contestants: dict[str, Engine], rounds: int, scale: float) -> list[Figure]:
    """Eight threads that use up their steps, against CPython's doing the same loops."""
    turns = turns_of(contestants[SUBJECT], int(STEPS * scale))
    cpu: dict[str, float] = {}
    wall: dict[str, float] = {}
    for _ in range(rounds):
        for name in (REFERENCE, SUBJECT):
            answer = contestants[name].ask("side_by_side", source=PROBE, count=turns, threads=THREADS)
            cpu[name] = min(answer["cpu"], cpu.get(name, math.inf))
            wall[name] = min(answer["wall"], wall.get(name, math.inf))
    ratio = cpu[SUBJECT] / cpu[REFERENCE]
    name = f"{THREADS} threads of {int(STEPS * scale):,} steps"
    text = f"{ratio:.2f}: CPU {duration(cpu[SUBJECT])} against {duration(cpu[REFERENCE])}, {turns:,} turns each"
    return [Figure(name, f"{text}; wall {duration(wall[SUBJECT])} (ratio ≤ {THREADS_LIMIT:g})", ratio <= THREADS_LIMIT)]


def shares(contestants: dict[str, Engine], rounds: int) -> dict[str, tuple[float, float]]:
    """Print what a third thread gets while two are in scripts; the share and the longest wait in seconds, medians."""
    print("\nA third Python thread while two are in scripts     its share      its longest wait")
    result: dict[str, tuple[float, float]] = {}
    for name, engine in contestants.items():
        try:
            answers = [engine.ask("share", source=PROBE) for _ in range(rounds)]
        except Failed as error:
            print(f"{name:40}{'-':>20}  {error}")
            continue
        share = statistics.median(answer["share"] for answer in answers)
        wait = statistics.median(answer["longest_wait"] for answer in answers)
        result[name] = share, wait
        print(f"{name:40}{share:>18.1%}{duration(wait):>22}", flush=True)
    return result


def report(figures: list[Figure]) -> bool:
    """Print the goals; whether all are met."""
    if figures:
        print("\nPlait's goals")
    for figure in figures:
        print(f"  {'met   ' if figure.met else 'MISSED'}  {figure.name:30}{figure.text}")
    return all(figure.met for figure in figures)


def figures_of(contestants: dict[str, Engine], rounds: int, scale: float) -> list[Figure]:
    """Measure the goals that are not about the table."""
    share = shares(contestants, max(1, rounds // 2))
    if SUBJECT not in contestants:
        return []
    if SUBJECT not in share:
        return [Figure("a third thread's share", "could not be measured", met=False)]
    part = share[SUBJECT][0]
    try:
        return [
            *call_figures(contestants, rounds, scale),
            *thread_figures(contestants, rounds, scale),
            Figure("a third thread's share", f"{part:.1%} (≥ {SHARE_LIMIT:.0%}; a third is fair)", part >= SHARE_LIMIT),
        ]
    except Failed as error:
        return [Figure("calls and threads", f"could not be measured: {error}", met=False)]


def measure(arguments: argparse.Namespace, contestants: dict[str, Engine]) -> bool:
    """Print all tables; whether every goal is met."""
    scale, rounds = (0.2, min(2, arguments.rounds)) if arguments.quick else (1.0, arguments.rounds)
    table, notes = Table(contestants), []
    for kind in arguments.only or KINDS:
        reasons: list[str] = []
        workload = Workload.read(arguments.workloads, kind, scale)
        table.row(kind, unit_seconds(contestants, workload, rounds, reasons))
        notes += [f"  {KINDS[kind]}: {reason}" for reason in reasons]
    means = table.means()
    print("".join(f"{note}\n" for note in notes), end="")
    figures = [] if arguments.only else figures_of(contestants, rounds, scale)
    if SUBJECT in arguments.peers:
        figures = ratio_figures(table, means) + figures
    met = report(figures)
    if arguments.json:
        content = {
            "python": sys.version,
            "seconds": table.seconds,
            "means": means,
            "figures": [figure._asdict() for figure in figures],
            "met": met,
        }
        arguments.json.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    return met


def names(text: str) -> list[str]:
    """Names between commas."""
    return [name.strip() for name in text.split(",")]


def main() -> int:
    """Run all of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="rounds in which the engines take turns")
    parser.add_argument("--only", type=names, help=f"kinds of workload, between commas: {', '.join(KINDS)}")
    parser.add_argument("--peers", type=names, default=PEERS, help=f"engines beside CPython: {', '.join(PEERS[1:])}")
    parser.add_argument("--workloads", type=Path, default=HERE / "workloads", help="folder of the thirteen scripts")
    parser.add_argument("--json", type=Path, help="file to write the figures to")
    parser.add_argument("--quick", action="store_true", help="a fifth of the work in two rounds: a first impression")
    parser.add_argument("--check", action="store_true", help="exit with status 1 if a goal is missed")
    arguments = parser.parse_args()
    for given, known in ((arguments.only or [], KINDS), (arguments.peers, PEERS)):
        if unknown := [name for name in given if name not in known]:
            parser.error(f"no such name: {', '.join(unknown)}; there are {', '.join(known)}")
    contestants = engines([peer for peer in PEERS if peer == REFERENCE or peer in arguments.peers])
    try:
        met = measure(arguments, contestants)
    finally:
        for engine in contestants.values():
            engine.close()
    return 0 if met or not arguments.check else 1


if __name__ == "__main__":
    sys.exit(main())
