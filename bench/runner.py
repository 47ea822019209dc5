"""The runner's benchmark: Plait, huey and a bare sqlite3 loop in one run, printed as tables.

Every figure is a median of rounds in which the contestants take turns, so that a noisy machine hits all of them.
"""

from __future__ import annotations

import argparse
import os
import sqlite3
import statistics
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Literal, NamedTuple

from huey import SqliteHuey

from plait import Caller, Config, Context, Hooks, Result, Runner, Store, Target

Durability = Literal["NORMAL", "FULL"]
ANN, BOB = Caller("ann"), Caller("bob")
UNLIMITED = 1 << 40


class Rate(NamedTuple):
    """Targets per second by the clock on the wall, and the CPU of this process for each, in µs."""

    per_second: float
    cpu_us: float


class Stopwatch:
    """Wall and CPU time from its making on."""

    def __init__(self) -> None:
        self._wall, self._cpu = time.perf_counter(), time.process_time()

    def rate(self, count: int) -> Rate:
        """What it comes to for ``count`` targets."""
        wall, cpu = time.perf_counter() - self._wall, time.process_time() - self._cpu
        return Rate(count / wall, cpu / count * 1e6)


class Drain:
    """A FetchFunc that does nothing but hold the very first target until it is let go."""

    def __init__(self) -> None:
        self.go = threading.Event()
        self.order: list[str] = []
        self._fetch: Callable[[Target], Result] = self._first

    def __call__(self, _context: Context, _caller: Caller, target: Target) -> Result:
        """Do the target."""
        return self._fetch(target)

    def _first(self, target: Target) -> Result:
        self.go.wait()
        self._fetch = self._later
        return self._later(target)

    def _later(self, target: Target) -> Result:
        return Result("ok")


def config(hooks: Hooks) -> Config:
    """A configuration with the caps out of the way."""
    return Config(
        targets_per_job=UNLIMITED, jobs_per_caller=UNLIMITED, jobs_total=UNLIMITED, max_bytes=UNLIMITED, hooks=hooks
    )


def counting(ended: threading.Semaphore) -> Hooks:
    """Hooks that count the jobs that ended."""
    return Hooks(job=lambda outcome: ended.release() if outcome not in {"created", "reused"} else None)


def plait_rate(folder: Path, count: int, synchronous: Durability, jobs: int = 1, measured: int | None = None) -> Rate:
    """No-op targets drained by one worker, in ``jobs`` live jobs; the first ``measured`` of them are timed."""
    drain, enough = Drain(), threading.Event()
    timed = count if measured is None else measured
    stored = 0

    def target_stored(_error: BaseException | None, _seconds: float, _nbytes: int) -> None:
        nonlocal stored
        stored += 1
        if stored == timed:
            enough.set()

    with (
        Store.open(f"sqlite:///{folder}/plait.db", synchronous=synchronous) as store,
        Runner(store, drain, config(Hooks(target=target_stored))) as runner,
    ):
        for job in range(jobs):
            runner.submit(ANN, "fleet", [Target(f"{job}/{number}") for number in range(count // jobs)])
        _checkpoint(folder)
        watch = Stopwatch()
        drain.go.set()
        enough.wait()
        return watch.rate(timed)


def _checkpoint(folder: Path) -> None:
    """Write the submits out of the WAL, so that the turns do not pay for them."""
    connection = sqlite3.connect(folder / "plait.db")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()


def floor_rate(folder: Path, count: int, synchronous: str, commits: int) -> Rate:
    """A bare sqlite3 loop: one UPDATE and one commit to store each target, and the same before to mark it."""
    connection = sqlite3.connect(folder / "floor.db", isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute(f"PRAGMA synchronous={synchronous}")
    connection.execute("CREATE TABLE target (id INTEGER PRIMARY KEY, status TEXT, result TEXT)")
    connection.execute("BEGIN")
    connection.executemany("INSERT INTO target VALUES (?, 'pending', NULL)", [(number,) for number in range(count)])
    connection.execute("COMMIT")
    watch = Stopwatch()
    for number in range(count):
        if commits == 2:
            _commit(connection, "UPDATE target SET status = 'running' WHERE id = ?", (number,))
        _commit(connection, "UPDATE target SET status = 'done', result = ? WHERE id = ?", ('{"content":"ok"}', number))
    rate = watch.rate(count)
    connection.close()
    return rate


def _commit(connection: sqlite3.Connection, statement: str, parameters: tuple[object, ...]) -> None:
    connection.execute("BEGIN IMMEDIATE")
    connection.execute(statement, parameters)
    connection.execute("COMMIT")


def huey_rate(folder: Path, count: int, longest_poll: float) -> Rate:
    """Huey with its consumer's one thread, results stored, at its default durability, which is FULL."""
    huey = SqliteHuey(filename=str(folder / "huey.db"))
    done = threading.Semaphore(0)

    @huey.task()  # type: ignore[untyped-decorator]  # huey has no types
    def work() -> str:
        done.release()
        return "ok"

    for _ in range(count):
        work()
    consumer = huey.create_consumer(
        workers=1, periodic=False, check_worker_health=False, initial_delay=longest_poll, max_delay=longest_poll
    )
    watch = Stopwatch()
    consumer.start()
    for _ in range(count):
        done.acquire()
    rate = watch.rate(count)
    consumer.stop(graceful=True)
    return rate


def rounds(count: int, contestants: dict[str, Callable[[Path], Rate]]) -> dict[str, Rate]:
    """Let the contestants take turns ``count`` times; each one's medians."""
    results: dict[str, list[Rate]] = {name: [] for name in contestants}
    for _ in range(count):
        for name, run in contestants.items():
            with tempfile.TemporaryDirectory() as folder:
                results[name].append(run(Path(folder)))
    return {
        name: Rate(
            statistics.median(rate.per_second for rate in rates), statistics.median(rate.cpu_us for rate in rates)
        )
        for name, rates in results.items()
    }


def table(title: str, reference: str, rates: dict[str, Rate]) -> None:
    """Print rates, each with its ratio to the reference's."""
    print(f"\n{title}\n{'':34}{'targets/s':>12}{'ratio':>8}{'CPU µs/target':>16}")
    for name, rate in rates.items():
        ratio = rate.per_second / rates[reference].per_second
        print(f"{name:34}{rate.per_second:>12,.0f}{ratio:>8.2f}{rate.cpu_us:>16.1f}")


def throughput(repeat: int, count: int) -> None:
    """No-op targets per second against the floor and huey, at both durabilities."""
    for synchronous, targets in (("NORMAL", count), ("FULL", count // 10)):
        contestants: dict[str, Callable[[Path], Rate]] = {
            "bare sqlite3, two commits": lambda folder, s=synchronous, n=targets: floor_rate(folder, n, s, 2),  # type: ignore[misc]  # defaults bind the loop's values
            "Plait": lambda folder, s=synchronous, n=targets: plait_rate(folder, n, s),  # type: ignore[misc]  # as above
            "bare sqlite3, one commit": lambda folder, s=synchronous, n=targets: floor_rate(folder, n, s, 1),  # type: ignore[misc]  # as above
        }
        if synchronous == "FULL":
            contestants["huey, polling every 100 ms"] = lambda folder, n=targets // 2: huey_rate(folder, n, 0.1)  # type: ignore[misc]  # as above
            contestants["huey, polling every 1 ms"] = lambda folder, n=targets // 2: huey_rate(folder, n, 0.001)  # type: ignore[misc]  # as above
        table(f"Throughput, synchronous={synchronous}", "bare sqlite3, two commits", rounds(repeat, contestants))


def flatness(repeat: int) -> None:
    """The time of a turn with many pending targets, and with many live jobs."""
    turns = 2_000
    pending: dict[str, Callable[[Path], Rate]] = {
        f"{count:,} pending targets": lambda folder, n=count: plait_rate(  # type: ignore[misc]  # a default binds the loop's value
            folder, n, "NORMAL", measured=min(n, turns)
        )
        for count in (100, 10_000, 100_000)
    }
    table("A turn with many pending targets", "100 pending targets", rounds(repeat, pending))
    live: dict[str, Callable[[Path], Rate]] = {
        f"{jobs:,} live jobs": lambda folder, j=jobs: plait_rate(  # type: ignore[misc]  # as above
            folder, max(turns * 2, j * 2), "NORMAL", jobs=j, measured=turns
        )
        for jobs in (1, 100, 10_000)
    }
    table("A turn with many live jobs", "100 live jobs", rounds(repeat, live))


def latency(quiet_seconds: float) -> None:
    """Submitting, and submit to stored outcome on an idle runner."""
    ended = threading.Semaphore(0)
    drain = Drain()
    drain.go.set()
    with (
        tempfile.TemporaryDirectory() as folder,
        Store.open(f"sqlite:///{folder}/plait.db") as store,
        Runner(store, drain, config(counting(ended))) as runner,
    ):

        def timed(label: str, targets: int, waits_for_outcome: bool) -> float:
            started = time.perf_counter()
            runner.submit(BOB, "fleet", [Target(f"{label}/{number}") for number in range(targets)])
            if waits_for_outcome:
                ended.acquire()
                return time.perf_counter() - started
            seconds = time.perf_counter() - started
            ended.acquire()
            return seconds

        submits = [timed(f"submit {number}", 32, False) for number in range(200)]
        outcomes = [timed(f"outcome {number}", 1, True) for number in range(200)]
        time.sleep(quiet_seconds)
        quiet = timed("quiet", 1, True)
    print("\nLatency                                    median ms    99th percentile ms")
    for name, seconds in (("submit of 32 targets", submits), ("submit to stored outcome, idle", outcomes)):
        ordered = sorted(seconds)
        print(f"{name:40}{statistics.median(seconds) * 1e3:>12.2f}{ordered[int(len(ordered) * 0.99)] * 1e3:>22.2f}")
    print(f"{f'the same after {quiet_seconds:g} s of quiet':40}{quiet * 1e3:>12.2f}")


def fairness() -> None:
    """Where ten targets end that come when another caller has a thousand queued."""
    ended = threading.Semaphore(0)
    order: list[str] = []
    first, go = threading.Event(), threading.Event()

    def fetch(_context: Context, caller: Caller, _target: Target) -> Result:
        first.set()
        go.wait()
        order.append(caller.name)
        return Result("ok")

    with Store.open("sqlite://") as store, Runner(store, fetch, config(counting(ended))) as runner:
        runner.submit(ANN, "fleet", [Target(str(number)) for number in range(1_000)])
        first.wait()
        runner.submit(BOB, "fleet", [Target(str(number)) for number in range(10)])
        go.set()
        ended.acquire()
        ended.acquire()
    places = [place for place, name in enumerate(order, 1) if name == BOB.name]
    print(f"\nFairness: A has 1,000 targets queued, B submits 10; B's end at places {places}")


def _resident_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def memory(turns: int) -> None:
    """Resident memory before and after many turns of one runner."""
    ended = threading.Semaphore(0)
    drain = Drain()
    drain.go.set()
    per_job = 10_000
    with (
        tempfile.TemporaryDirectory() as folder,
        Store.open(f"sqlite:///{folder}/plait.db") as store,
        Runner(store, drain, config(counting(ended))) as runner,
    ):
        sizes: list[int] = []
        for job in range(turns // per_job + 1):
            runner.submit(ANN, "fleet", [Target(f"{job}/{number}") for number in range(per_job)])
            ended.acquire()
            sizes.append(_resident_bytes())
    grown = (sizes[-1] - sizes[0]) / 2**20
    print(f"\nMemory: {sizes[0] / 2**20:.1f} MiB after {per_job:,} turns; {grown:+.1f} MiB after {turns:,} more")


def main() -> None:
    """Run all of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="rounds in which the contestants take turns")
    parser.add_argument("--targets", type=int, default=10_000, help="targets in a round of throughput")
    parser.add_argument("--quiet-seconds", type=float, default=20.0, help="the quiet spell before a submit")
    parser.add_argument("--turns", type=int, default=100_000, help="turns over which memory is watched")
    arguments = parser.parse_args()
    throughput(arguments.rounds, arguments.targets)
    flatness(arguments.rounds)
    latency(arguments.quiet_seconds)
    fairness()
    memory(arguments.turns)


if __name__ == "__main__":
    main()
