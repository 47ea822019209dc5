"""Context: a deadline and a cancellation, handed from parent to child."""

# ruff: noqa: SLF001 - a context reads the private fields of its ancestors, which are of its own class

from __future__ import annotations

import math
import threading
import time
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["Cancelled", "Context", "ContextError", "DeadlineExceeded"]


class ContextError(Exception):
    """The work was told to stop.

    The tree::

        ContextError
        ├── Cancelled          somebody called ``cancel``; ``reason`` says why
        └── DeadlineExceeded   the time is over (also a ``TimeoutError``)
    """


class Cancelled(ContextError):
    """The context, or one of its ancestors, was cancelled.

    Args:
        reason: What ``cancel`` was called with.
    """

    def __init__(self, reason: str = "cancelled") -> None:
        super().__init__(reason)
        self.reason = reason


class DeadlineExceeded(ContextError, TimeoutError):
    """The context's deadline has passed."""

    def __init__(self, message: str = "deadline exceeded") -> None:
        super().__init__(message)


class Context:
    """A deadline and a cancellation that a caller hands to the work it starts.

    A child ends no later than its parent and sees its parent's cancellation, since it asks its parent:
    a parent holds no list of its children, so a finished child leaves nothing behind. Only somebody who
    waits is known to the ancestors, and only while they wait.

    All methods may be called from any thread, and from a signal handler that interrupted one of them.

    Args:
        timeout: Seconds until the deadline, infinity included; ``None`` means no deadline of its own.
        parent: The context this one descends from; use ``parent.child()`` rather than this.

    Raises:
        ValueError: ``timeout`` is not a number (``math.nan``).
    """

    __slots__ = ("__weakref__", "_lock", "_parent", "_reason", "_watchers", "deadline")

    deadline: float
    """When the work must end, on ``time.monotonic``'s clock in seconds; ``math.inf`` for never."""

    def __init__(self, timeout: float | None = None, *, parent: Context | None = None) -> None:
        self.deadline = math.inf if parent is None else parent.deadline
        if timeout is not None:
            self.deadline = min(self.deadline, _deadline_after(timeout))
        self._parent = parent
        # Guards `_reason`; never held while a watcher is called. One lock for a whole tree: of a parent and a
        # child cancelled at once, one is first for everybody. Reentrant for the sake of signal handlers.
        self._lock: threading.RLock = threading.RLock() if parent is None else parent._lock
        self._reason: str | None = None
        # Used as an ordered set, without the lock: every act on it is one atomic operation of the dict.
        self._watchers: dict[_OneCall, None] = {}

    def child(self, timeout: float | None = None) -> Context:
        """A context that never outlives this one.

        Args:
            timeout: Seconds until the child's own deadline; the shorter of both deadlines wins.

        Raises:
            ValueError: ``timeout`` is not a number (``math.nan``).
        """
        return Context(timeout, parent=self)

    @property
    def reason(self) -> str | None:
        """Why this context was cancelled, itself or through an ancestor; ``None`` while it was not."""
        node: Context | None = self
        while node is not None:
            if node._reason is not None:
                return node._reason
            node = node._parent
        return None

    @property
    def cancelled(self) -> bool:
        """True once this context or an ancestor was cancelled. A passed deadline is not a cancellation."""
        return self.reason is not None

    def remaining(self) -> float:
        """Seconds until the deadline: ``math.inf`` without one, 0.0 once it has passed."""
        if self.deadline == math.inf:
            return math.inf
        return max(0.0, self.deadline - time.monotonic())

    def check(self) -> None:
        """Return while the work may go on.

        Raises:
            Cancelled: This context or an ancestor was cancelled.
            DeadlineExceeded: The deadline has passed.
        """
        reason = self.reason
        if reason is not None:
            raise Cancelled(reason)
        if self.deadline != math.inf and time.monotonic() >= self.deadline:
            raise DeadlineExceeded

    def cancel(self, reason: str = "cancelled") -> bool:
        """Cancel this context and so all that descend from it; wake whoever waits on them.

        Every watcher is called, even if one of them raises; then the exception goes to the caller.

        Args:
            reason: Why, for ``Cancelled``; the first reason stays.

        Returns:
            True for the call that cancelled it, False when it or an ancestor was cancelled before.
        """
        with self._lock:
            if self.reason is not None:
                return False
            self._reason = reason
        # A watcher registers first and looks at the reason second; here it is the other way round. So whoever
        # is missing in this list has seen the reason.
        with ExitStack() as calls:
            for watcher in reversed(list(self._watchers)):
                calls.callback(watcher)
        return True

    def wait(self, seconds: float) -> bool:
        """Sleep, but end early on a cancellation or at the deadline.

        Args:
            seconds: How long to sleep at most; infinity is allowed, and a negative number counts as zero.

        Returns:
            True after the full time, False when a cancellation or the deadline ended it early.

        Raises:
            ValueError: ``seconds`` is not a number (``math.nan``).
        """
        until = _deadline_after(max(seconds, 0.0))
        # A bare lock, since an `Event` can block a signal handler that sets what its own thread waits for.
        asleep = threading.Lock()
        asleep.acquire()
        with self.watch(asleep.release):
            asleep.acquire(timeout=_lock_timeout(min(until, self.deadline) - time.monotonic()))
        return not self.cancelled and until <= self.deadline

    @contextmanager
    def watch(self, callback: Callable[[], None]) -> Iterator[Self]:
        """Within the block, call ``callback`` when this context or an ancestor is cancelled.

        Args:
            callback: Called at most once: from the cancelling thread, or at once from this one when the
                cancellation came before. It must be quick and should not raise. After the block it is not
                called, but a call that another thread has begun may still be under way when the block ends.
        """
        chain = self._chain()
        watcher = _OneCall(callback)
        try:
            for node in chain:
                node._watchers[watcher] = None
            if self.cancelled:
                watcher()
            yield self
        finally:
            watcher.revoke()
            for node in chain:
                node._watchers.pop(watcher, None)

    def _chain(self) -> list[Context]:
        nodes: list[Context] = []
        node: Context | None = self
        while node is not None:
            nodes.append(node)
            node = node._parent
        return nodes


class _OneCall:
    """A call that is made at most once, and never after it was revoked; atomic without a lock."""

    __slots__ = ("_left",)

    def __init__(self, callback: Callable[[], None]) -> None:
        self._left = [callback]

    def __call__(self) -> None:
        try:
            callback = self._left.pop()
        except IndexError:
            return
        callback()

    def revoke(self) -> None:
        self._left.clear()


def _deadline_after(seconds: float) -> float:
    try:
        deadline = time.monotonic() + seconds
    except OverflowError:  # a whole number that no float can hold
        return math.inf if seconds > 0 else -math.inf
    if math.isnan(deadline):
        raise ValueError("a timeout in seconds must be a number, got nan")
    return deadline


def _lock_timeout(seconds: float) -> float:
    """What ``Lock.acquire`` takes: -1 stands for ever, and ``threading.TIMEOUT_MAX`` is the most."""
    return -1 if seconds > threading.TIMEOUT_MAX else max(0.0, seconds)
