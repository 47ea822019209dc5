"""The rotation of one runner: its hand on the circle of jobs, and the turns that it has under way."""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Final, TypeVar

from plait.jobs.errors import RunnerClosed, StoreError
from plait.jobs.store import Turn

if TYPE_CHECKING:
    from plait.jobs.model import Caller
    from plait.jobs.observers import Observers
    from plait.jobs.outcomes import Settled
    from plait.jobs.store import Cancellation, Caps, Creation, Ending, Idle, NewJob, Store

__all__ = ["CLOSED", "Rotation", "WakeUp"]

CLOSED: Final = "the runner is closed and takes no more jobs; make a new one"

_Found = TypeVar("_Found", "Turn | Idle", "Turn | Idle | None")


class WakeUp:
    """What idle workers wait on.

    A thread takes a ticket, looks for work, and waits only if nothing has woken anybody since the ticket: so
    no wake-up between the look and the wait is lost. Its condition guards the count of wake-ups.
    """

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._count = 0

    def ticket(self) -> int:
        """The number of wake-ups so far."""
        with self._condition:
            return self._count

    def wake(self) -> None:
        """Let everybody who waits look for work again."""
        with self._condition:
            self._count += 1
            self._condition.notify_all()

    def wait(self, ticket: int, seconds: float | None) -> None:
        """Wait until a wake-up after ``ticket``, for ``seconds`` at most (``None``: for ever)."""
        longest = None if seconds is None else min(seconds, threading.TIMEOUT_MAX)
        with self._condition:
            self._condition.wait_for(lambda: self._count != ticket, longest)


class Rotation:
    """The circle is the store's rows; this is the hand on it (``batch-runner.md``, rule 2).

    ``_lock`` guards the hand, the turns under way, the callers and the order in which changes of the number
    of live jobs are noted. It is held during the store's transactions, so that the hand moves in the order
    of the turns, and never while a hook or a FetchFunc is called.
    """

    def __init__(self, store: Store, owner: str, observers: Observers) -> None:
        self._store = store
        self._owner = owner
        self._observers = observers
        self._lock = threading.Lock()
        self._hand = 0
        self._closing = False
        self._under_way: set[tuple[int, int]] = set()  # by the row of the job and the epoch of the turn
        self._not_begun: set[tuple[int, int]] = set()
        self._callers: dict[str, Caller] = {}
        self._unsure = False  # a commit may have taken a turn that we never heard of

    @property
    def turns_under_way(self) -> int:
        """How many turns this runner holds."""
        with self._lock:
            return len(self._under_way)

    def create(self, job: NewJob, caps: Caps) -> Creation:
        """Put a job on the circle; see ``Store.create``.

        Raises:
            RunnerClosed: No worker would ever come to it.
        """
        with self._lock:
            if self._closing:
                raise RunnerClosed(CLOSED)
            creation = self._store.create(job, caps)
            submission = creation.submission
            if not submission.reused:
                self._observers.depth_changed(creation.live)
            if creation.is_live:
                # Also for a job that was there: its submit may have failed by a commit of unknown fate.
                self._callers.setdefault(submission.id, job.caller)
            return creation

    def cancel(self, job_id: str, now: float) -> Cancellation | None:
        """Take a job off the circle; a turn of it that has not begun never will."""
        with self._lock:
            cancellation = self._store.cancel(job_id, now)
            if cancellation is not None:
                self._callers.pop(job_id, None)
                self._not_begun = {key for key in self._not_begun if key[0] != cancellation.seq}
                self._observers.depth_changed(cancellation.live)
            return cancellation

    def take(self) -> Turn | Idle:
        """Take the next turn after the hand; see ``Store.take_turn``."""
        with self._lock:
            if self._unsure:
                self._store.release_forgotten(self._owner, self._under_way)
                self._unsure = False
            try:
                return self._move(self._store.take_turn(self._hand, self._owner))
            except Exception:  # whatever it was, the commit may have been made
                self._unsure = True
                self._pass_over()
                raise

    def begin(self, turn: Turn) -> Caller | None:
        """Who the turn is for, if it may begin; not once its job was cancelled or the runner closes."""
        with self._lock:
            if self._closing or turn.key not in self._not_begun:
                return None
            self._not_begun.discard(turn.key)
            return self._callers.get(turn.job_id, turn.caller)

    def settle(
        self, turn: Turn, outcome: Settled, now: float, *, take_next: bool
    ) -> tuple[Ending | None, Turn | Idle | None]:
        """Store a turn's outcome and take the next turn; see ``Store.settle``."""
        with self._lock:
            hand = self._hand_if(take_next)
            try:
                ending, following = self._store.settle(turn, outcome, now, hand)
            except Exception:  # as in take
                self._unsure = True
                raise
            if hand is not None and following is None:
                self._unsure = True  # the store found out what a commit in doubt had done, of this turn only
            self._forget(turn)
            if ending is not None and ending.status is not None:
                self._callers.pop(turn.job_id, None)
                self._observers.depth_changed(ending.live)
            return ending, self._move(following)

    def defer(self, turn: Turn, delay: float, *, take_next: bool) -> tuple[bool, Turn | Idle | None]:
        """Put a busy target back for ``delay`` seconds and take the next turn; see ``Store.defer``."""
        with self._lock:
            try:
                returned, following = self._store.defer(turn, delay, self._hand_if(take_next))
            except Exception:  # as in take
                self._unsure = True
                raise
            self._forget(turn)
            return returned, self._move(following)

    def release(self, turn: Turn) -> None:
        """Put a target back that got no outcome; see ``Store.release``."""
        with self._lock:
            self._store.release(turn)
            self._forget(turn)

    def renew(self) -> None:
        """Prolong the leases of the turns under way; see ``Store.renew``."""
        self._store.renew(self._owner)

    def lose(self, turn: Turn) -> None:
        """Give up a turn whose fate is unknown; the next ``take`` gives it back to the store."""
        with self._lock:
            self._forget(turn)
            self._unsure = True

    def close(self) -> None:
        """Let no further turn begin."""
        with self._lock:
            self._closing = True

    def _hand_if(self, take_next: bool) -> int | None:
        return self._hand if take_next and not self._closing and not self._unsure else None

    def _pass_over(self) -> None:
        """Move the hand past the job whose turn cannot be taken, so that it does not hold up the others."""
        with suppress(StoreError):
            self._hand = self._store.next_job(self._hand)

    def _move(self, found: _Found) -> _Found:
        if isinstance(found, Turn):
            self._hand = found.seq
            self._under_way.add(found.key)
            self._not_begun.add(found.key)
        return found

    def _forget(self, turn: Turn) -> None:
        self._under_way.discard(turn.key)
        self._not_begun.discard(turn.key)
