"""Two runners in two processes on one PostgreSQL database share its jobs, also when one of them dies.

Nobody wakes a runner of another process yet. So each runner here gets jobs of its own, which let it look for work;
it goes on looking after every target that it has done, and whenever the lease of another runner's turn may have
run out. The lease is short: a runner that looked in the very moment when another's transaction held the rows of
all jobs looks again after that.
"""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Final, NamedTuple

import pytest

from plait import Store
from plait.jobs.errors import StoreError
from tests.jobs.rows import assert_sound, read_rows

PATIENCE: Final = 60.0  # seconds until a test that hangs says so

RUN: Final = """
import queue, sys, threading
from plait import Caller, Config, Hooks, Result, Runner, Store, Target

url, name, lease = sys.argv[1:]
go_ahead = queue.SimpleQueue()
lock = threading.Lock()

def tell(*words):
    with lock:
        print(*words, flush=True)

def fetch(context, caller, target):
    tell("fetch", context.turn.job, context.turn.idx, context.turn.epoch, target.url, caller.key_sha256 or "-")
    if target.url.startswith("hold"):
        go_ahead.get()
    return Result(f"{target.url} by {name}")

def ended(outcome):
    if outcome not in ("created", "reused"):
        tell("ended", outcome)

hooks = Hooks(job=ended, target=lambda error, seconds, nbytes: tell("stored", error))
with Store.open(url) as store:
    store._database.turn_lease_seconds = float(lease)
    with Runner(store, fetch, Config(jobs_per_caller=100, jobs_total=100, hooks=hooks)) as runner:
        for line in sys.stdin:
            act, *urls = line.split()
            if act == "submit":
                job = runner.submit(Caller("ann", "space", f"key-of-{name}"), "fleet", [Target(url) for url in urls])
                tell("submitted", job.id)
            else:
                go_ahead.put(None)
"""


class Fetch(NamedTuple):
    """A target that a runner began to fetch."""

    runner: str
    job_id: str
    idx: int
    epoch: int
    url: str
    key: str


class Elsewhere:
    """A runner in another process."""

    def __init__(self, name: str, process: subprocess.Popen[str], told: queue.SimpleQueue[tuple[str, str]]) -> None:
        self.name = name
        self.process = process
        self._told = told
        self._lines = process.stdout
        self._thread = threading.Thread(target=self._read)
        self._thread.start()

    def _read(self) -> None:
        assert self._lines is not None
        for line in self._lines:
            self._told.put((self.name, line.rstrip("\n")))

    def say(self, *words: str) -> None:
        """Tell it to submit, or to go on with what it holds."""
        assert self.process.stdin is not None
        self.process.stdin.write(" ".join(words) + "\n")
        self.process.stdin.flush()

    def end(self) -> None:
        """Let it close its runner."""
        with contextlib.suppress(BrokenPipeError):
            assert self.process.stdin is not None
            self.process.stdin.close()
        self.process.send_signal(signal.SIGCONT)
        self.process.wait(PATIENCE)
        self._thread.join(PATIENCE)


class Runners:
    """The runners, of which the second starts when it is told to, and all that they tell in the order it is read."""

    def __init__(self, url: str, lease: float, stack: contextlib.ExitStack) -> None:
        self._told: queue.SimpleQueue[tuple[str, str]] = queue.SimpleQueue()
        self.fetches: list[Fetch] = []
        self._returned = 0
        self.words: list[tuple[str, str]] = []
        self._arguments = (url, str(lease))
        self._stack = stack
        self.one = self._start("one")

    def start_two(self) -> None:
        """Start the second runner, which finds what the first has under way taken."""
        self.two = self._start("two")

    def _start(self, name: str) -> Elsewhere:
        url, lease = self._arguments
        command = [sys.executable, "-c", RUN, url, name, lease]
        process = self._stack.enter_context(
            subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        )
        runner = Elsewhere(name, process, self._told)
        self._stack.callback(runner.end)
        return runner

    def read(self) -> str:
        """The first word of the next thing told."""
        name, line = self._told.get(timeout=PATIENCE)
        word, *rest = line.split(" ")
        self.words.append((name, word))
        if word == "fetch":
            job_id, idx, epoch, url, key = rest
            self.fetches.append(Fetch(name, job_id, int(idx), int(epoch), url, key))
        return word

    def wait_for(self, word: str, times: int = 1) -> None:
        """Read until a word was told so many times, by both runners together, from the beginning."""
        while sum(told == word for _, told in self.words) < times:
            self.read()

    def next_fetch(self) -> Fetch:
        """The target that a runner began after the one that was returned last; waits for it."""
        while len(self.fetches) == self._returned:
            self.read()
        self._returned += 1
        return self.fetches[self._returned - 1]

    def submit(self, runner: Elsewhere, *urls: str) -> None:
        """Submit a job there."""
        before = sum(word == "submitted" for _, word in self.words)
        runner.say("submit", *urls)
        self.wait_for("submitted", before + 1)


@contextlib.contextmanager
def two_runners(url: str, lease: float) -> Iterator[Runners]:
    with Store.open(url), contextlib.ExitStack() as stack:
        yield Runners(url, lease, stack)


def contents(url: str) -> dict[str, list[str]]:
    """What was stored, by the id of the job."""
    found = {}
    with Store.open(url) as store:
        for job_id in assert_sound(url, store).jobs:
            status = store.status(job_id)
            assert status is not None
            found[job_id] = [target.result.content if target.result else target.status for target in status.targets]
    return found


def test_two_runners_take_their_turns_on_one_circle(postgres_url: str) -> None:
    """Both have a target in flight all the time, so that each looks as soon as it has done its own."""
    with two_runners(postgres_url, 30.0) as runners:
        runners.submit(runners.one, "hold-a1", "hold-a2", "hold-a3")
        order = [runners.next_fetch()]
        runners.start_two()
        runners.submit(runners.two, "hold-b1", "hold-b2", "hold-b3")
        order.append(runners.next_fetch())
        runners.submit(runners.one, "hold-c1", "hold-c2", "hold-c3")
        for runner in [runners.one, runners.two] * 3 + [runners.one]:
            runner.say("go")
            order.append(runners.next_fetch())
        for runner in (runners.two, runners.one):
            runner.say("go")
        runners.wait_for("ended", 3)
    assert [fetch.url for fetch in order] == [f"hold-{job}{number}" for number in "123" for job in "abc"]
    assert [fetch.runner for fetch in order] == ["one", "two"] * 4 + ["one"]
    keys = {(fetch.runner, fetch.url[5], fetch.key) for fetch in order}
    assert {key for runner, job, key in keys if (runner == "one") == (job in "ac")} == {"key-of-one", "key-of-two"}
    assert {key for runner, job, key in keys if (runner == "one") != (job in "ac")} == {"-"}


FREE: Final = [f"free-{number}" for number in range(7)]


def test_two_runners_fetch_and_store_each_target_once(postgres_url: str) -> None:
    """The first target of each runner is held until both have one: so both work, then as fast as they can."""
    with two_runners(postgres_url, 5.0) as runners:
        runners.submit(runners.one, "hold-one", *FREE)
        runners.wait_for("fetch", 1)
        runners.start_two()
        runners.submit(runners.two, "hold-two", *FREE)
        runners.wait_for("fetch", 2)
        for number in range(4):
            runners.submit(runners.one if number % 2 else runners.two, f"free-{number}", *FREE)
        for runner in (runners.one, runners.two):
            runner.say("go")
        runners.wait_for("ended", 6)
        runners.wait_for("stored", 48)
    assert len({(fetch.job_id, fetch.idx) for fetch in runners.fetches}) == len(runners.fetches) == 48
    assert sum(word == "stored" for _, word in runners.words) == 48
    assert {fetch.runner for fetch in runners.fetches} == {"one", "two"}
    expected = {(fetch.job_id, fetch.idx): f"{fetch.url} by {fetch.runner}" for fetch in runners.fetches}
    for job_id, stored in contents(postgres_url).items():
        assert stored == [expected[job_id, idx] for idx in range(8)]


def test_the_target_of_a_runner_that_was_killed_is_done_by_the_other(postgres_url: str) -> None:
    """The other looked once when it had done its own job, and again when the dead one's lease had run out."""
    with two_runners(postgres_url, 1.0) as runners:
        runners.submit(runners.one, "hold-a1", "free-a2")
        lost = runners.next_fetch()
        runners.start_two()
        runners.submit(runners.two, "free-b1")
        assert runners.next_fetch().url == "free-b1"
        runners.wait_for("ended", 1)
        os.kill(runners.one.process.pid, signal.SIGKILL)
        again = runners.next_fetch()
        runners.two.say("go")
        runners.wait_for("ended", 2)
    assert (lost.runner, again.runner) == ("one", "two")
    assert again == lost._replace(runner="two", epoch=lost.epoch + 1, key="-")
    assert contents(postgres_url)[lost.job_id] == ["hold-a1 by two", "free-a2 by two"]


def test_the_outcome_of_a_runner_that_was_stopped_for_too_long_is_dropped(postgres_url: str) -> None:
    """As above; then the stopped one goes on, and its own new job shows that it is done with the old target."""
    with two_runners(postgres_url, 1.0) as runners:
        runners.submit(runners.one, "hold-a1")
        lost = runners.next_fetch()
        runners.start_two()
        runners.submit(runners.two, "free-b1")
        runners.wait_for("ended", 1)
        os.kill(runners.one.process.pid, signal.SIGSTOP)
        while (again := runners.next_fetch()).job_id != lost.job_id:
            pass
        runners.two.say("go")
        runners.wait_for("ended", 2)
        os.kill(runners.one.process.pid, signal.SIGCONT)
        runners.one.say("go")
        runners.submit(runners.one, "free-c1")
        last = runners.next_fetch()
        runners.wait_for("ended", 3)
    assert (again.runner, again.epoch) == ("two", lost.epoch + 1)
    assert last.url == "free-c1"
    assert sum(word == "stored" for _, word in runners.words) == 3
    assert contents(postgres_url)[lost.job_id] == ["hold-a1 by two"]


@pytest.mark.slow
def test_a_runner_keeps_the_lease_of_a_long_target(postgres_url: str) -> None:
    """The other looks after every job of its own, also when the lease that it saw at first has long run out."""
    with two_runners(postgres_url, 2.0) as runners:
        runners.submit(runners.one, "hold-a1")
        held = runners.next_fetch()
        runners.start_two()
        ends_of_lease: set[float] = set()
        while len(ends_of_lease) < 5:
            end = read_rows(postgres_url).jobs[held.job_id]["turn_until"]
            if end not in ends_of_lease:
                ends_of_lease.add(end)
                runners.submit(runners.two, f"free-b{len(ends_of_lease)}")
                assert runners.next_fetch().runner == "two"
        runners.one.say("go")
        runners.wait_for("ended", 6)
    assert max(ends_of_lease) - min(ends_of_lease) > 2.0
    assert [fetch for fetch in runners.fetches if fetch.job_id == held.job_id] == [held]
    assert contents(postgres_url)[held.job_id] == ["hold-a1 by one"]


def end_connection(store: Store) -> None:
    """Let the server end the connection in the middle of a transaction."""
    with store._database.transaction("end it") as session:
        session._connection.execute("SELECT pg_terminate_backend(pg_backend_pid())", {})


def test_a_connection_that_breaks_is_a_store_error_and_the_next_one_works(postgres_url: str) -> None:
    with Store.open(postgres_url) as store:
        assert store.status("f" * 32) is None
        with pytest.raises(StoreError, match=r"^cannot end it in store 'test_[^\n]*try again[^\n]*$"):
            end_connection(store)
        assert store.status("f" * 32) is None
