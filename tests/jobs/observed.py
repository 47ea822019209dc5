"""Hooks for tests, which note what they are told and can be waited on, and a clock that stands still."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Any

from typing_extensions import override

from plait.jobs import Hooks
from tests.jobs.sites import PATIENCE

__all__ = ["TERMINAL", "Clock", "Listener", "Observed"]

TERMINAL = ("done", "partial", "failed", "cancelled")


class Clock:
    """Unix seconds that pass only when a test says so."""

    def __init__(self, now: float = 1_000_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        """The time."""
        return self.now


class Listener(logging.Handler):
    """What is logged, to be waited for; ``_changed`` guards and tells of the messages."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self._changed = threading.Condition()
        self._messages: list[str] = []

    @override
    def emit(self, record: logging.LogRecord) -> None:
        with self._changed:
            self._messages.append(record.getMessage())
            self._changed.notify_all()

    @property
    def messages(self) -> list[str]:
        """All that was logged so far."""
        with self._changed:
            return list(self._messages)

    def wait_for(self, part: str, times: int = 1) -> None:
        """Wait until so many messages hold this part."""
        with self._changed:
            arrived = self._changed.wait_for(
                lambda: sum(part in message for message in self._messages) >= times, PATIENCE
            )
            messages = list(self._messages)
        assert arrived, f"nobody logged {part!r}; logged: {messages}"


class Observed:
    """All that a runner's hooks were told, in order.

    ``_changed`` guards ``events`` and is told of each; it is not held while a reaction runs.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._reactions: dict[str, Callable[..., object]] = {}
        self.events: list[tuple[Any, ...]] = []
        self.hooks = Hooks(
            job=lambda outcome: self._note("job", outcome),
            target=lambda error, seconds, nbytes: self._note("target", error, seconds, nbytes),
            job_seconds=lambda seconds: self._note("job_seconds", seconds),
            depth=lambda live: self._note("depth", live),
            inflight=lambda count: self._note("inflight", count),
        )

    def _note(self, name: str, *values: object) -> None:
        with self._changed:
            self.events.append((name, *values))
            self._changed.notify_all()
        reaction = self._reactions.get(name)
        if reaction is not None:
            reaction(*values)

    def react(self, name: str, reaction: Callable[..., object]) -> None:
        """Call ``reaction`` from within the hook of that name, with what the hook was told."""
        self._reactions[name] = reaction

    def of(self, name: str) -> list[Any]:
        """The first value of everything that one hook was told."""
        with self._changed:
            return [event[1] for event in self.events if event[0] == name]

    def names(self, *wanted: str) -> list[tuple[Any, ...]]:
        """What the wanted hooks were told, in order; of ``target`` and ``job_seconds`` only that they were."""
        with self._changed:
            return [
                event[:1] if event[0] in {"target", "job_seconds"} else event
                for event in self.events
                if event[0] in wanted
            ]

    @property
    def ended(self) -> list[str]:
        """The terminal statuses that were told."""
        return [outcome for outcome in self.of("job") if outcome in TERMINAL]

    def wait_until(self, condition: Callable[[], bool], what: str = "what was waited for") -> None:
        """Wait until a condition holds that can only come true before a hook is told of it."""
        with self._changed:
            arrived = self._changed.wait_for(condition, PATIENCE)
            events = list(self.events)
        assert arrived, f"no {what}; events: {events}"

    def wait_for(self, name: str, times: int = 1) -> None:
        """Wait until one hook was called so many times."""
        self.wait_until(lambda: sum(event[0] == name for event in self.events) >= times, f"call {times} of {name}")

    def wait_ended(self, jobs: int = 1) -> None:
        """Wait until so many jobs have ended, and all that is told of that was told."""
        self.wait_for("job_seconds", jobs)
        self.wait_until(lambda: True)
