"""The workers: threads that take turns from the rotation and do their targets."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Final

from plait.context import Context
from plait.jobs.errors import StoreError, TargetError
from plait.jobs.ledger import back_off
from plait.jobs.model import TurnContext, TurnKey
from plait.jobs.outcomes import Failed, Outcome, Returned, of_error, of_value, place_of
from plait.jobs.store import Turn

if TYPE_CHECKING:
    from logging import Logger

    from plait.jobs.ledger import Ledger
    from plait.jobs.model import Caller, FetchFunc
    from plait.jobs.observers import Observers
    from plait.jobs.rotation import Rotation, WakeUp
    from plait.jobs.store import Idle

__all__ = ["Workers"]

_CLOSING: Final = "the runner is closing"
_UNREADABLE: Final = "the stored options cannot be read; a newer Plait may have written them"


class Workers:
    """The threads of one runner (``batch-runner.md``, rules 2 and 3).

    Each thread owns the turn that it works on; what they share is guarded by ``Rotation`` and ``Ledger``.
    """

    def __init__(
        self,
        *,
        fetch: FetchFunc,
        rotation: Rotation,
        ledger: Ledger,
        observers: Observers,
        wake_up: WakeUp,
        count: int,
        log: Logger,
    ) -> None:
        self._fetch = fetch
        self._rotation = rotation
        self._ledger = ledger
        self._observers = observers
        self._wake_up = wake_up
        self._log = log
        self._context = Context()
        self._threads = [
            threading.Thread(target=self._run, name=f"plait-worker-{number}", daemon=True) for number in range(count)
        ]

    def start(self) -> None:
        """Start the threads."""
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """Cancel the targets in flight and let every thread end after the one that it works on."""
        self._context.cancel(_CLOSING)
        self._wake_up.wake()

    def join(self) -> None:
        """Wait until every thread has ended."""
        for thread in self._threads:
            if thread.ident is not None:  # not all are started if the start of one failed
                thread.join()

    def is_own_thread(self) -> bool:
        """Whether one of the workers is calling."""
        return threading.current_thread() in self._threads

    def _run(self) -> None:
        turn: Turn | None = None
        failures = 0
        while not self._context.cancelled or turn is not None:
            try:
                turn = self._next_turn() if turn is None else self._do(turn)
                failures = 0
            except BaseException as error:  # noqa: BLE001 - a worker outlives whatever goes wrong in it
                failures += 1
                self._note(error)
                if turn is not None:
                    self._rotation.lose(turn)
                    turn = None
                self._context.wait(back_off(failures))

    def _note(self, error: BaseException) -> None:
        if isinstance(error, StoreError):
            self._log.warning("cannot take a turn: %s", error.reason)
        else:
            self._log.error("a worker met %s at %s", type(error).__qualname__, place_of(error))

    def _next_turn(self) -> Turn | None:
        """The next turn; ``None`` after a wait, when it is time to look again."""
        ticket = self._wake_up.ticket()
        if self._context.cancelled:
            return None
        found = self._rotation.take()
        if isinstance(found, Turn):
            return found
        self._wake_up.wait(ticket, found.wait)
        return None

    def _do(self, turn: Turn) -> Turn | None:
        """Do one turn to its end; the next turn if there is one at once."""
        caller = self._rotation.begin(turn)
        if caller is None:
            self._ledger.put_back(turn)
            return None
        self._observers.inflight_changed(+1)
        started = time.perf_counter()
        try:
            outcome = self._perform(turn, caller)
        finally:
            self._observers.inflight_changed(-1)
        seconds = time.perf_counter() - started
        following: Turn | Idle | None = self._ledger.end_turn(turn, outcome, seconds)
        return following if isinstance(following, Turn) else None

    def _perform(self, turn: Turn, caller: Caller) -> Outcome:
        context = TurnContext(self._context, TurnKey(turn.job_id, turn.idx, turn.epoch))
        if turn.target is None:
            self._log.warning("job %s target %d: %s", turn.job_id, turn.idx, _UNREADABLE)
            return of_error(TargetError(_UNREADABLE, hint="submit it anew"))
        try:
            value = self._fetch(context, caller, turn.target)
        except BaseException as error:  # noqa: BLE001 - a panic is an outcome too
            if self._context.cancelled:
                return Returned()
            outcome: Outcome = of_error(error)
        else:
            outcome = of_value(value)
        if isinstance(outcome, Failed) and outcome.bug:
            self._log.error("job %s target %d: internal error: %s", turn.job_id, turn.idx, outcome.bug)
        return outcome
