"""Events of a run: warnings that come again and again, and what they say in one line."""

from __future__ import annotations

import signal
import threading

import pytest

from plait.cli.events import Events, Signalled, Stored, Warned
from plait.cli.progress import Display, warn


class Clock:
    """Seconds that pass when a test says so."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


def warned(events: Events) -> list[str]:
    return [event.text for event in events.left() if isinstance(event, Warned)]


def test_a_warning_that_differs_in_its_numbers_alone_is_told_again_after_ten_seconds() -> None:
    clock = Clock()
    events = Events(clock)
    log = events.log
    for attempt in range(1, 4):
        log.warning("job %s: cannot store, attempt %d: %s", "a1", attempt, "full")
    assert warned(events) == ["job a1: cannot store, attempt 1: full"]
    clock.seconds += 9.9
    log.warning("job %s: cannot store, attempt %d: %s", "a1", 4, "full")
    assert warned(events) == []
    clock.seconds += 0.1
    for attempt in (5, 6):
        log.warning("job %s: cannot store, attempt %d: %s", "a1", attempt, "full")
    assert warned(events) == ["job a1: cannot store, attempt 5: full"]


def test_another_job_or_another_reason_is_told_at_once() -> None:
    events = Events(Clock())
    texts = ["job a1: cannot store: full", "job a1: cannot store: locked", "job a2: cannot store: full"]
    for text in texts:
        events.log.warning(text)
    assert warned(events) == texts


def test_a_signal_that_another_thread_is_told_of_is_heard() -> None:
    events = Events()
    with events.signals():
        thread = threading.Thread(target=lambda: signal.pthread_kill(threading.get_ident(), signal.SIGTERM))
        waits = threading.Timer(0.05, thread.start)  # most often while the main thread waits for an event
        waits.start()
        assert events.next() == Signalled(signal.SIGTERM)
        waits.join()
        thread.join()


def test_what_nobody_has_taken_is_left_once() -> None:
    events = Events(Clock())
    target = events.hooks.target
    assert target is not None
    target(None, 0.0, 0)
    assert list(events.left()) == [Stored(None)]
    assert list(events.left()) == []


def test_a_warning_of_many_lines_is_said_in_one(capsys: pytest.CaptureFixture[str]) -> None:
    warn("one\ntwo\r\n\x1b[31mthree\u2028four\x85\ud800")
    Display().warn("five\n")
    assert capsys.readouterr().err == "plait: warning: one two \ufffd[31mthree four \ufffd\nplait: warning: five\n"
