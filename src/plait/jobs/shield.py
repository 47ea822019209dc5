"""A shield for what must not be cut in half by Ctrl-C."""

from __future__ import annotations

import contextvars
import threading
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["uninterrupted"]

_T = TypeVar("_T")


class _Call:
    """One call on a thread of its own: what it returned or raised, and whether it has."""

    def __init__(self, work: Callable[[], object]) -> None:
        self._work = work
        self.ended = threading.Event()
        self.value: object = None
        self.error: BaseException | None = None

    def __call__(self) -> None:
        try:
            self.value = self._work()
        except BaseException as error:  # noqa: BLE001 - raised again on the thread that waits
            self.error = error
        finally:
            self.ended.set()


def uninterrupted(work: Callable[[], _T]) -> _T:
    """Do ``work`` where no signal handler can raise in the middle of it.

    Python runs signal handlers on the main thread, between any two of its instructions: a
    ``KeyboardInterrupt`` could leave a lock held or a transaction open. So on the main thread the work is done
    by another one; if the wait for it is interrupted, the work still comes to its end.

    Args:
        work: What to do; on any other thread than the main one it is simply called.

    Returns:
        What ``work`` returns.

    Raises:
        BaseException: What ``work`` raises, or what a signal handler raises in the wait for it.
    """
    if threading.current_thread() is not threading.main_thread():
        return work()
    call = _Call(work)
    thread = threading.Thread(target=contextvars.copy_context().run, args=(call,), name="plait-call", daemon=True)
    try:
        thread.start()
    except RuntimeError:  # no more threads, or the interpreter is shutting down
        return work()
    call.ended.wait()
    if call.error is not None:
        raise call.error
    return call.value  # type: ignore[return-value]  # it is what work returned
