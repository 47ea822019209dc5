"""The ledger: stores what turns come to, tells the hooks, and keeps trying where the store fails."""

from __future__ import annotations

import math
import threading
import time
from typing import TYPE_CHECKING, Final

import msgspec

from plait.jobs.errors import StoreError
from plait.jobs.outcomes import Busy, Failed, Outcome, Returned, Settled, place_of, unstorable
from plait.jobs.store import Turn

if TYPE_CHECKING:
    from collections.abc import Callable
    from logging import Logger

    from plait.jobs.model import Config
    from plait.jobs.observers import Observers
    from plait.jobs.rotation import Rotation, WakeUp
    from plait.jobs.store import Ending, Idle, Store

__all__ = ["Ledger", "back_off"]

_FIRST_WAIT: Final = 0.05
_LONGEST_WAIT: Final = 5.0


def back_off(attempts: int) -> float:
    """Seconds to wait after the store has failed ``attempts`` times in a row: doubling from 50 ms to 5 s."""
    return min(_LONGEST_WAIT, _FIRST_WAIT * 2.0 ** min(attempts - 1, 16))


class _Kept(msgspec.Struct):
    """An outcome whose storing failed: what it is, how long it took, how often it failed, when to try again."""

    turn: Turn
    outcome: Settled | Busy
    seconds: float
    attempts: int
    due: float


class Ledger:
    """What turns come to (``batch-runner.md``, rules 3, 4 and 8).

    An outcome whose storing fails is kept here and stored again by a thread of the ledger's own, with
    back-off; its target is not fetched again, its job waits, and the workers go on with others. The same
    thread renews the leases of turns under way where the store is shared.

    ``_condition`` guards the outcomes kept and ``_closing``; it is not held while the store or a hook is
    called.
    """

    def __init__(
        self,
        *,
        store: Store,
        rotation: Rotation,
        observers: Observers,
        wake_up: WakeUp,
        job_ended: WakeUp,
        config: Config,
        clock: Callable[[], float],
        log: Logger,
    ) -> None:
        self._store = store
        self._rotation = rotation
        self._observers = observers
        self._wake_up = wake_up
        self._job_ended = job_ended
        self._config = config
        self._clock = clock
        self._log = log
        self._condition = threading.Condition()
        self._kept: list[_Kept] = []
        self._closing = False
        lease = store.turn_lease_seconds
        self._renew_every = None if lease is None else lease / 3
        self._thread = threading.Thread(target=self._run, name="plait-ledger", daemon=True)

    def start(self) -> None:
        """Start the thread that stores again."""
        self._thread.start()

    def close(self) -> None:
        """Try a last time to store what is kept, and end the thread."""
        with self._condition:
            self._closing = True
            self._condition.notify()
        if self._thread.ident is not None:
            self._thread.join()

    def is_own_thread(self) -> bool:
        """Whether the thread that stores again is calling."""
        return threading.current_thread() is self._thread

    def end_turn(self, turn: Turn, outcome: Outcome, seconds: float) -> Turn | Idle | None:
        """Store what a turn came to and take the next one.

        Args:
            turn: The turn.
            outcome: What it came to.
            seconds: How long its fetching took.

        Returns:
            The next turn, or that there is none now, or ``None`` if it was not looked for.
        """
        if isinstance(outcome, Returned):
            self.put_back(turn)
            return None
        final = self._patience_ended(turn, outcome) if isinstance(outcome, Busy) else outcome
        try:
            return self._store_outcome(turn, final, seconds, take_next=True)
        except StoreError as error:
            self._keep(_Kept(turn, final, seconds, 0, 0.0), error)
            return None

    def put_back(self, turn: Turn) -> None:
        """Make the target of a turn that ended without an outcome pending again."""
        try:
            self._rotation.release(turn)
        except StoreError as error:
            self._log.warning("job %s: cannot put a target back: %s", turn.job_id, error.reason)
            self._rotation.lose(turn)

    def _patience_ended(self, turn: Turn, busy: Busy) -> Busy | Failed:
        """``busy``, or its failure once the target has been coming back busy for longer than ``retry_for``."""
        if turn.busy_for is None:
            return busy
        busy_for = turn.busy_for + time.monotonic() - turn.taken_at
        return busy.failure if busy_for > self._config.retry_for else busy

    def _store_outcome(
        self, turn: Turn, outcome: Settled | Busy, seconds: float, *, take_next: bool
    ) -> Turn | Idle | None:
        if isinstance(outcome, Busy):
            delay = max(self._config.retry_wait, min(outcome.after, self._config.retry_for))
            returned, following = self._rotation.defer(turn, delay, take_next=take_next)
            if not returned:
                self._log.warning("job %s: a turn was lost to another runner", turn.job_id)
            self._wake_up.wake()  # an idle worker must learn when to come back
            return following
        ending, following = self._rotation.settle(turn, outcome, self._clock(), take_next=take_next)
        if ending is None:
            self._log.warning("job %s: an outcome came too late and was dropped", turn.job_id)
        else:
            self._report(turn, outcome, seconds, ending)
        return following

    def _report(self, turn: Turn, outcome: Settled, seconds: float, ending: Ending) -> None:
        failed = isinstance(outcome, Failed)
        error = outcome.cause if isinstance(outcome, Failed) else None
        self._observers.target(turn.job_id, error, seconds, 0 if failed else outcome.nbytes)
        if ending.nbytes > self._config.max_bytes:
            self._evict(turn)
        if ending.status is not None:
            self._observers.ended(turn.job_id, ending.status, max(0.0, self._clock() - turn.created_at))
            self._observers.flush()
            self._job_ended.wake()

    def _evict(self, turn: Turn) -> None:
        try:
            self._store.evict(self._config.max_bytes, keep=turn.seq)
        except StoreError as error:
            self._log.warning("job %s: cannot evict old jobs: %s", turn.job_id, error.reason)

    # --- storing again

    def _keep(self, kept: _Kept, error: StoreError) -> None:
        kept.attempts += 1
        if error.permanent:
            kept.outcome = unstorable(error.reason)
        kept.due = time.monotonic() + back_off(kept.attempts)
        self._log.warning(
            "job %s: cannot store an outcome, attempt %d: %s", kept.turn.job_id, kept.attempts, error.reason
        )
        with self._condition:
            self._kept.append(kept)
            self._condition.notify()

    def _run(self) -> None:
        renew_at = time.monotonic() + (self._renew_every or 0.0)
        while True:
            with self._condition:
                self._wait(renew_at)
                closing = self._closing
                due = self._take_due(everything=closing)
            for kept in due:
                self._store_again(kept, last=closing)
            if closing:
                return
            if self._renew_every is not None and time.monotonic() >= renew_at:
                self._renew()
                renew_at = time.monotonic() + self._renew_every

    def _wait(self, renew_at: float) -> None:
        if self._closing:
            return
        times = [kept.due for kept in self._kept]
        if self._renew_every is not None:
            times.append(renew_at)
        self._condition.wait(max(0.0, min(times) - time.monotonic()) if times else None)

    def _take_due(self, *, everything: bool) -> list[_Kept]:
        now = math.inf if everything else time.monotonic()
        due = [kept for kept in self._kept if kept.due <= now]
        self._kept = [kept for kept in self._kept if kept.due > now]
        return due

    def _store_again(self, kept: _Kept, *, last: bool) -> None:
        try:
            self._store_outcome(kept.turn, kept.outcome, kept.seconds, take_next=False)
        except StoreError as error:
            if last:
                self._log.warning("job %s: an outcome is lost at closing: %s", kept.turn.job_id, error.reason)
                return
            self._keep(kept, error)
        except Exception as error:  # noqa: BLE001 - the thread outlives whatever goes wrong in it
            self._log.error(
                "job %s: storing again met %s at %s", kept.turn.job_id, type(error).__qualname__, place_of(error)
            )
            self._rotation.lose(kept.turn)
        else:
            self._wake_up.wake()

    def _renew(self) -> None:
        if self._rotation.turns_under_way == 0:
            return
        try:
            self._rotation.renew()
        except StoreError as error:
            self._log.warning("cannot renew the leases of turns under way: %s", error.reason)
