"""An embedded run: one job on a runner of this process, its results written as they are stored."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from plait.cli.errors import ALL_DONE, BY_SIGNAL, SOME_FAILED, Refused
from plait.cli.events import InFlight, Signalled, Stored, Warned
from plait.jobs import StoreError
from plait.jobs.states import TargetState

if TYPE_CHECKING:
    from plait.cli.events import Event, Events
    from plait.cli.progress import Display
    from plait.cli.results import Results
    from plait.jobs import Runner, Submission

__all__ = ["EmbeddedRun"]

_SHOWN: Final = (TargetState.DONE, TargetState.FAILED, TargetState.RUNNING, TargetState.PENDING)
_PIECE: Final = 100  # targets read at once, so that a long job is never in memory as a whole


class EmbeddedRun:
    """Follows one job of a runner from its submit to its last line; used from the main thread alone.

    Args:
        runner: Has the job, and no other.
        submission: The job.
        total: How many targets it has.
        events: What the runner's hooks and signals tell.
        results: Where its lines go.
        display: Shows how far it is.
    """

    def __init__(
        self,
        runner: Runner,
        submission: Submission,
        *,
        total: int,
        events: Events,
        results: Results,
        display: Display,
    ) -> None:
        self._runner = runner
        self._job_id = submission.id
        self._reused = submission.reused
        self._total = total
        self._events = events
        self._results = results
        self._display = display
        self._stored = 0
        self._in_flight = 0
        self._signals: list[int] = []
        self._written = 0
        self._counts: Counter[str] = Counter()

    def follow(self) -> int:
        """Write the lines of all targets in their order, the last ones when the job has ended.

        A signal cancels the job and waits for the target in flight, a second one cancels that too; what has no
        outcome then is written as it stands, ``pending``.

        Returns:
            The exit code.

        Raises:
            StoreError: The store refused.
            OutputLost: A line cannot be written; the job is cancelled.
            ReaderGone: Nobody reads the lines any more; likewise.
        """
        try:
            interrupted = not self._reused and self._wait_for_end()
            self._write(self._total)
        except BaseException:
            with suppress(StoreError):  # then the error in hand says more
                self._runner.cancel(self._job_id)
            raise
        self._display.note(self._summary())
        if interrupted:
            return BY_SIGNAL + self._signals[0]
        return SOME_FAILED if self._counts[TargetState.FAILED.value] else ALL_DONE

    def _wait_for_end(self) -> bool:
        """Wait until all is stored, or a signal has ended the job before that; whether one has."""
        while self._stored < self._total:
            self._take(self._events.next())
            if self._signals and self._runner.cancel(self._job_id):
                self._wait_for_target_in_flight()
                return True
            self._write(self._stored)
        return False

    def _wait_for_target_in_flight(self) -> None:
        self._display.note("stopping: waiting for the target in flight; interrupt again to cut it short")
        while self._in_flight and len(self._signals) == 1:
            self._take(self._events.next())
        self._runner.close()  # stores what has just come back, and cancels what has not

    def _take(self, event: Event) -> None:
        match event:
            case Stored(error):
                self._stored += 1
                self._display.stored(self._stored, error)
            case InFlight(targets):
                self._in_flight = targets
            case Signalled(number):
                self._signals.append(number)
            case Warned(text):
                self._display.warn(text)

    def _write(self, end: int) -> None:
        """Write the lines of the targets before the one numbered ``end`` that are not written yet."""
        if self._written == end:
            return
        with self._display.aside():
            while self._written < end:
                self._write_piece(min(_PIECE, end - self._written))

    def _write_piece(self, size: int) -> None:
        targets = self._runner.targets(self._job_id, first=self._written, limit=size)
        if not targets:
            raise Refused("the job is no longer in the store: something else has removed it; run again")
        for target in targets:
            self._results.write(target)
            self._written += 1
            self._counts[target.status] += 1

    def _summary(self) -> str:
        states = [state.value for state in _SHOWN if self._counts[state.value] or state is TargetState.DONE]
        return ", ".join(f"{self._counts[state]} {state}" for state in states)
