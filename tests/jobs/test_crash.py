"""Killed at any moment, a runner loses no outcome that it told of and leaves nothing half done."""

from __future__ import annotations

import contextlib
import os
import random
import selectors
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from plait import Caller, Config, Context, Hooks, Result, Runner, Store, Target
from tests.jobs.crash_child import content_of, error_of
from tests.jobs.rows import Rows, assert_sound

pytestmark = pytest.mark.slow

KILLS: Final = 50
SEED: Final = 20260101
EVENTS: Final = ("submit", "submitted", "fetch", "fetched", "stored")
ROOT: Final = Path(__file__).parents[2]
PATIENCE: Final = 30.0

Stored = dict[tuple[str, int], tuple[str, int]]
"""By job and index: the status told, and the number that the content was made of."""


def fetch(_context: Context, _caller: Caller, target: Target) -> Result:
    return Result(target.url)


@contextlib.contextmanager
def child(url: str, seed: str) -> Iterator[subprocess.Popen[bytes]]:
    """The program under way; it is killed in the end, if it still lives."""
    command = [sys.executable, "-m", "tests.jobs.crash_child", url, seed]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT) as process:
        try:
            yield process
        finally:
            process.kill()


def run_and_kill(url: str, numbers: random.Random) -> list[str]:
    """Kill the program as soon as it is seen to have told its nth event of some kind; all that it had told."""
    event, after = numbers.choice(EVENTS), numbers.randint(1, 60)
    with child(url, str(numbers.random())) as process:
        assert process.stdout is not None
        descriptor = process.stdout.fileno()
        told = b""
        with selectors.DefaultSelector() as selector:
            selector.register(descriptor, selectors.EVENT_READ)
            while told.count(f"{event} ".encode()) < after:
                assert selector.select(PATIENCE), told
                part = os.read(descriptor, 65536)
                assert part, told
                told += part
        process.kill()
        told += process.stdout.read()
    assert process.returncode == -9
    return told.decode().splitlines()


def stored_in(lines: list[str]) -> Stored:
    """The outcomes that the program was told of; none was told twice."""
    stored: Stored = {}
    for line in lines:
        word, *rest = line.split(" ")
        if word == "stored":
            job_id, idx, status, number = rest
            assert (job_id, int(idx)) not in stored
            stored[job_id, int(idx)] = (status, int(number))
    return stored


def check_integrity(path: Path) -> None:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []


def check_outcomes(store: Store, stored: Stored) -> None:
    """Every outcome told of is there, and is the one that was fetched."""
    for (job_id, idx), (status, number) in stored.items():
        found = store.status(job_id)
        assert found is not None
        target = found.targets[idx]
        assert target.status == status
        if status == "done":
            assert target.result == Result(content_of(target.url, number))
        else:
            assert (target.error, target.hint) == (error_of(target.url), f"{job_id} {idx}")


def check_submitted(store: Store, lines: list[str]) -> None:
    """A job whose id was answered is there."""
    for line in lines:
        if line.startswith("submitted "):
            assert store.status(line.split(" ")[1]) is not None


def recover(store: Store, before: Rows) -> None:
    """A new runner fails what was live, and tells so; equal submits make new jobs."""
    live = {job_id: job for job_id, job in before.jobs.items() if job["finished_at"] is None}
    told: list[str] = []
    config = Config(jobs_per_caller=1000, jobs_total=1000, hooks=Hooks(job=told.append))
    with Runner(store, fetch, config) as runner:
        assert told == ["failed"] * len(live)
        for job_id, job in live.items():
            status = store.status(job_id)
            assert status is not None
            assert (status.job.status, status.job.error) == ("failed", "interrupted by a restart")
            assert status.job.targets_done == job["targets_done"]
            assert {target.status for target in status.targets} <= {"pending", "done", "failed"}
            targets = [Target(target.url) for target in status.targets]
            again = runner.submit(Caller(status.job.caller), "fleet", targets)
            assert not again.reused
            assert again.id not in before.jobs


@pytest.mark.timeout(600)  # fifty children are started and killed
def test_a_runner_killed_at_random_moments_loses_nothing_it_told_of(tmp_path: Path) -> None:
    numbers = random.Random(SEED)
    path = tmp_path / "plait.db"
    url = f"sqlite:///{path}"
    Store.open(url).close()
    stored: Stored = {}
    interrupted = 0
    for _ in range(KILLS):
        lines = run_and_kill(url, numbers)
        told = stored_in(lines)
        stored |= told
        with Store.open(url) as store:
            rows = assert_sound(url, store)
            check_integrity(path)
            check_submitted(store, lines)
            check_outcomes(store, told)
            recover(store, rows)
            interrupted += sum(job["finished_at"] is None for job in rows.jobs.values())
            assert_sound(url, store)
    with Store.open(url) as store:
        check_outcomes(store, stored)
    assert len(stored) > KILLS
    assert interrupted > KILLS
