"""Events: what the main thread of a run waits for, told by the runner's hooks and by signals."""

from __future__ import annotations

import logging
import queue
import re
import signal
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, NamedTuple

from typing_extensions import override

from plait.cli.errors import STOPPING
from plait.jobs import Hooks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

__all__ = ["Event", "Events", "InFlight", "Signalled", "Stored", "Warned"]

_PATIENCE: Final = 2
_LISTEN_SECONDS: Final = 0.2
_QUIET_SECONDS: Final = 10.0
_NUMBER: Final = re.compile(r"\b\d+\b")  # an attempt, a target or a line; a job's id has letters


class Stored(NamedTuple):
    """One more target's outcome is stored; ``error`` says why it failed, if it did."""

    error: BaseException | None


class InFlight(NamedTuple):
    """So many targets are being fetched now."""

    targets: int


class Signalled(NamedTuple):
    """Somebody wants the run to end."""

    number: int


class Warned(NamedTuple):
    """The runner has met something that an operator should know."""

    text: str


Event = Stored | InFlight | Signalled | Warned


class Events:
    """Events in the order in which they happened.

    The queue is one that a signal handler may write to whatever it interrupted, a condition is not.

    Args:
        clock: Tells the seconds between warnings: one that differs from another in its numbers alone is an event
            every 10 seconds at most, so that a store that refuses for hours fills neither a screen nor a log.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._queue: queue.SimpleQueue[Event] = queue.SimpleQueue()

    @property
    def hooks(self) -> Hooks:
        """What tells a runner's events."""
        return Hooks(
            target=lambda error, _seconds, _nbytes: self._queue.put(Stored(error)),
            inflight=lambda count: self._queue.put(InFlight(count)),
        )

    @property
    def log(self) -> logging.Logger:
        """Where a runner's warnings go, to be shown by whoever shows the progress."""
        log = logging.Logger("plait.cli", logging.WARNING)  # noqa: LOG001 - a registered one would outlive the run
        log.addHandler(_Warnings(self._queue, self._clock))
        return log

    def next(self) -> Event:
        """Wait for the next event."""
        while True:
            try:
                return self._queue.get(timeout=_LISTEN_SECONDS)
            except queue.Empty:  # the system may have told another thread of a signal, which does not end this wait
                continue

    def left(self) -> Iterator[Event]:
        """Those events that nobody has taken, without waiting for any."""
        while True:
            try:
                yield self._queue.get_nowait()
            except queue.Empty:
                return

    @contextmanager
    def signals(self) -> Iterator[None]:
        """Within the block, SIGINT and SIGTERM are events; from the third one on they end the process.

        One that was ignored, as in a shell's background, stays so.
        """
        before = {number: signal.getsignal(number) for number in STOPPING}
        heard = {number: handler for number, handler in before.items() if handler is not signal.SIG_IGN}
        left = _PATIENCE

        def hear(number: int, _frame: FrameType | None) -> None:
            nonlocal left
            left -= 1
            if left == 0:
                restore()
            self._queue.put(Signalled(number))

        def restore() -> None:
            for number, handler in heard.items():
                signal.signal(number, handler)

        for number in heard:
            signal.signal(number, hear)
        try:
            yield
        finally:
            restore()


class _Warnings(logging.Handler):
    def __init__(self, events: queue.SimpleQueue[Event], clock: Callable[[], float]) -> None:
        super().__init__()
        self._events = events
        self._clock = clock
        self._due: dict[str, float] = {}  # when a warning of this shape may be an event again

    @override
    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        shape, now = _NUMBER.sub("#", text), self._clock()
        if now >= self._due.get(shape, now):
            self._due[shape] = now + _QUIET_SECONDS
            self._events.put(Warned(text))
