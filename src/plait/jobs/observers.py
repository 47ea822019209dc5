"""Calls the hooks of a runner, in an order that tells the truth, and lets none of them hurt it."""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from logging import Logger

    from plait.jobs.model import Hooks

__all__ = ["Observers"]


class Observers:
    """The hooks of one runner.

    Two things could make hooks lie. A worker may finish a job's target before the thread that submitted it
    has said ``created``: what is told of a job that is not announced yet waits for the announcement. And two
    threads may report a gauge in the wrong order: gauges go through one queue, in the order of the changes,
    which one thread at a time empties.

    ``_lock`` guards the queue and the announcements; it is never held while a hook runs.
    """

    def __init__(self, hooks: Hooks, log: Logger) -> None:
        self._hooks = hooks
        self._log = log
        self._lock = threading.Lock()
        self._unannounced: dict[str, list[Callable[[], None]]] = {}
        self._gauges: deque[tuple[str, Callable[[int], object], int]] = deque()
        self._emptying = False
        self._inflight = 0

    # --- jobs and targets

    def expect(self, job_id: str) -> None:
        """From now on, keep what is told of the job until ``announce``."""
        with self._lock:
            self._unannounced[job_id] = []

    def announce(self, job_id: str, outcome: str | None) -> None:
        """Tell that a job was ``created``, or nothing if it was not, and then what was kept of it."""
        try:
            if outcome is not None:
                self._call_job(outcome)
        finally:
            while kept := self._take_kept(job_id):
                for call in kept:
                    call()

    def _take_kept(self, job_id: str) -> list[Callable[[], None]]:
        """What was kept of a job; once there is nothing more, nothing more is kept."""
        with self._lock:
            kept = self._unannounced.pop(job_id, [])
            if kept:
                self._unannounced[job_id] = []
            return kept

    def reused(self) -> None:
        """Tell that a submit got a job that was there."""
        self._call_job("reused")

    def target(self, job_id: str, error: Exception | None, seconds: float, nbytes: int) -> None:
        """Tell of a stored target."""
        hook = self._hooks.target
        if hook is not None:
            self._tell(job_id, lambda: self._call("target", hook, error, seconds, nbytes))

    def ended(self, job_id: str, status: str, seconds: float) -> None:
        """Tell of a job's terminal status and of the seconds since its submit."""
        if self._hooks.job is None and self._hooks.job_seconds is None:
            return

        def call() -> None:
            self._call_job(status)
            if self._hooks.job_seconds is not None:
                self._call("job_seconds", self._hooks.job_seconds, seconds)

        self._tell(job_id, call)

    def _tell(self, job_id: str, call: Callable[[], None]) -> None:
        with self._lock:
            kept = self._unannounced.get(job_id)
            if kept is not None:
                kept.append(call)
                return
        call()

    def _call_job(self, outcome: str) -> None:
        if self._hooks.job is not None:
            self._call("job", self._hooks.job, outcome)

    # --- gauges

    def depth_changed(self, live: int) -> None:
        """Note the number of live jobs; told by the next ``flush``.

        Call it in the order of the changes: within the lock that orders them, since it calls nothing out.
        """
        hook = self._hooks.depth
        if hook is not None:
            with self._lock:
                self._gauges.append(("depth", hook, live))

    def inflight_changed(self, by: int) -> None:
        """Count the targets being fetched, and tell it."""
        hook = self._hooks.inflight
        if hook is None:
            return
        with self._lock:
            self._inflight += by
            self._gauges.append(("inflight", hook, self._inflight))
        self.flush()

    def flush(self) -> None:
        """Tell the gauges that were noted; returns at once while another thread is telling them."""
        while True:
            with self._lock:
                if self._emptying or not self._gauges:
                    return
                self._emptying = True
                name, hook, value = self._gauges.popleft()
            try:
                self._call(name, hook, value)
            finally:
                with self._lock:
                    self._emptying = False

    def _call(self, name: str, hook: Callable[..., object], *values: object) -> None:
        try:
            hook(*values)
        except BaseException as error:
            self._log.warning("hook %s raised %s", name, type(error).__qualname__)
            if isinstance(error, KeyboardInterrupt) and threading.current_thread() is threading.main_thread():
                raise
