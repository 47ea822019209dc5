"""A program that runs jobs on a store and tells on its output all that it was told, until somebody kills it."""

from __future__ import annotations

import os
import random
import sys
import threading
from collections.abc import Iterator

from plait import Caller, Config, Context, Hooks, Result, Runner, Store, Target, TargetError
from plait.jobs import TurnContext

__all__ = ["WORKERS", "content_of", "error_of", "main"]

WORKERS = 2
_CALLERS = 3
_LONGER_THAN_ANY_URL = 60


def content_of(url: str, number: int) -> str:
    """What fetching a target gives; its length follows from ``number`` alone, and names it within its process."""
    return url.ljust(_LONGER_THAN_ANY_URL + number, ".")


def error_of(url: str) -> str:
    """What a target that fails says."""
    return f"no {url}"


def tell(*words: object) -> None:
    """Write one line, in one piece, past every buffer that would die with this process."""
    os.write(sys.stdout.fileno(), (" ".join(map(str, words)) + "\n").encode())


class Witness:
    """Fetches targets and says which outcomes ``Hooks.target`` was told of as stored.

    A failure is known again by its error, a result by its length, which no other has: ``_lock`` guards the
    count that sees to it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sizes: dict[int, str] = {}
        self._results = 0

    def fetch(self, context: Context, caller: Caller, target: Target) -> Result:
        """Do a target: every fourth fails."""
        assert isinstance(context, TurnContext)
        place = f"{context.turn.job} {context.turn.idx}"
        tell("fetch", place)
        if target.url.endswith("3"):
            raise TargetError(error_of(target.url), hint=place)
        with self._lock:
            self._results += 1
            number = self._results
            result = Result(content_of(target.url, number))
            size = len('{"content":""}') + len(result.content)
            self._sizes[size] = f"{place} done {number}"
        tell("fetched", place)
        return result

    def stored(self, error: BaseException | None, _seconds: float, nbytes: int) -> None:
        """The hook: tell which target it was."""
        if isinstance(error, TargetError):
            tell("stored", error.hint, "failed", 0)
        else:
            tell("stored", self._sizes[nbytes])


def jobs(numbers: random.Random) -> Iterator[tuple[Caller, list[Target]]]:
    """Jobs of one to four targets, without an end."""
    while True:
        name = numbers.randrange(10**9)
        targets = [Target(f"https://site.example/{name}/{idx}") for idx in range(numbers.randint(1, 4))]
        yield Caller(f"caller {name % _CALLERS}"), targets


def main(url: str, seed: str) -> None:
    """Submit jobs as fast as they are drained."""
    numbers = random.Random(seed)
    witness = Witness()
    room = threading.Semaphore(6)
    hooks = Hooks(target=witness.stored, job_seconds=lambda _seconds: room.release())
    config = Config(workers=WORKERS, jobs_per_caller=100, jobs_total=100, hooks=hooks)
    with Store.open(url) as store, Runner(store, witness.fetch, config) as runner:
        for caller, targets in jobs(numbers):
            room.acquire()
            tell("submit", len(targets))
            submission = runner.submit(caller, "fleet", targets)
            tell("submitted", submission.id)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
