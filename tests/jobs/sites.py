"""A site for tests: a FetchFunc whose targets can be held, told what to answer, and waited for."""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from plait.context import Context
from plait.jobs import Caller, Options, Result, Target, TurnContext

__all__ = [
    "MARK",
    "PATIENCE",
    "Answer",
    "Call",
    "Site",
    "name_of",
    "target",
    "targets",
    "wait_for_close",
    "when_closing",
]

PATIENCE: Final = 10.0
"""Seconds after which a test that waits for something gives up; nothing that works takes so long."""
MARK: Final = "kestrel"
"""Part of every target's host, so that a log line that holds one is found."""

Answer = Result | BaseException | Callable[[Context, Caller, Target], object]


def target(name: str, options: Options | None = None) -> Target:
    """The target that the site knows as ``name``."""
    return Target(f"https://{MARK}.example/{name}", options or Options())


def targets(prefix: str, count: int) -> list[Target]:
    """Targets ``a1``, ``a2``, … for the prefix ``a``."""
    return [target(f"{prefix}{number}") for number in range(1, count + 1)]


def name_of(wanted: Target) -> str:
    """What the site knows a target as."""
    return wanted.url.rpartition("/")[2]


def wait_for_close(context: Context) -> None:
    """Wait until the runner closes."""
    closing = threading.Event()
    with context.watch(closing.set):
        assert closing.wait(PATIENCE)


def when_closing(answer: Result | BaseException) -> Answer:
    """An answer that comes when the runner closes."""

    def wait_and_give(context: Context, caller: Caller, wanted: Target) -> Result:
        del caller, wanted
        wait_for_close(context)
        if isinstance(answer, Result):
            return answer
        raise answer

    return wait_and_give


@dataclass(frozen=True)
class Call:
    """What the FetchFunc was called with, and on which thread."""

    context: Context
    caller: Caller
    target: Target
    thread: threading.Thread

    @property
    def job(self) -> str:
        """The id of the job whose turn it is."""
        assert isinstance(self.context, TurnContext)
        return self.context.turn.job


class Site:
    """A FetchFunc: a target that nothing else was said of is done at once.

    ``_changed`` guards all fields and is told of every start and end.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._held: set[str] = set()
        self._answers: dict[str, deque[Answer]] = {}
        self._in_flight: Counter[str] = Counter()
        self.calls: list[Call] = []
        self.ends: list[str] = []
        self.most_at_once = 0
        self.most_of_one_job = 0

    def __call__(self, context: Context, caller: Caller, wanted: Target) -> Result:
        """Do a target as it was told to."""
        name = name_of(wanted)
        call = Call(context, caller, wanted, threading.current_thread())
        with self._changed:
            self.calls.append(call)
            self._in_flight[call.job] += 1
            self.most_at_once = max(self.most_at_once, self._in_flight.total())
            self.most_of_one_job = max(self.most_of_one_job, self._in_flight[call.job])
            self._changed.notify_all()
            self._changed.wait_for(lambda: name not in self._held, PATIENCE)
            answer = self._answer(name)
        try:
            return self._give(answer, call)
        finally:
            with self._changed:
                self._in_flight[call.job] -= 1
                self.ends.append(name)
                self._changed.notify_all()

    def _answer(self, name: str) -> Answer:
        answers = self._answers.get(name)
        if not answers:
            return Result(name)
        return answers.popleft() if len(answers) > 1 else answers[0]

    def _give(self, answer: Answer, call: Call) -> Result:
        if isinstance(answer, BaseException):
            raise answer
        if isinstance(answer, Result):
            return answer
        # Some tests give back what is no Result, as a FetchFunc without types may.
        return answer(call.context, call.caller, call.target)  # type: ignore[return-value]  # wrong on purpose

    @property
    def starts(self) -> list[str]:
        """The names of the targets in the order in which they were started."""
        with self._changed:
            return [name_of(call.target) for call in self.calls]

    def answer(self, name: str, *answers: Answer) -> None:
        """Say what a target comes to, one answer for each try; the last one stays."""
        with self._changed:
            self._answers[name] = deque(answers)

    def hold(self, *names: str) -> None:
        """Let these targets start but not end."""
        with self._changed:
            self._held.update(names)

    def release(self, *names: str) -> None:
        """Let held targets end; all of them if none is named."""
        with self._changed:
            self._held.difference_update(names or list(self._held))
            self._changed.notify_all()

    def wait_started(self, name: str, times: int = 1) -> None:
        """Wait until a target was started so many times."""
        self._wait(lambda: sum(name_of(call.target) == name for call in self.calls) >= times, f"start of {name}")

    def wait_ended(self, name: str, times: int = 1) -> None:
        """Wait until a target has ended so many times; its outcome may not be stored yet."""
        self._wait(lambda: self.ends.count(name) >= times, f"end of {name}")

    def call_of(self, name: str) -> Call:
        """The first call for a target."""
        with self._changed:
            return next(call for call in self.calls if name_of(call.target) == name)

    def _wait(self, condition: Callable[[], bool], what: str) -> None:
        with self._changed:
            arrived = self._changed.wait_for(condition, PATIENCE)
            started = [name_of(call.target) for call in self.calls]
        assert arrived, f"no {what}; started: {started}, ended: {self.ends}"
