"""Look-ups of names, bounded in time, in number and in the length of the answer."""

from __future__ import annotations

import ipaddress
import re
import socket
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from typing_extensions import override

from plait.net.errors import Unresolved

if TYPE_CHECKING:
    from plait.context import Context
    from plait.net.guard import Address

__all__ = ["Resolver", "look_up", "resolve", "system_resolver"]

Resolver = Callable[[str], Sequence[str]]
"""Gives the addresses of a name as text, best first; raises ``OSError`` when it has none."""

_MAX_ANSWERS: Final = 256
# A look-up cannot be interrupted: one that outlives its request keeps its thread until libc gives up.
_MAX_LOOK_UPS: Final = 64
# What can be the name or the number of a network interface; whatever else stands behind a % reaches no socket.
_ZONE: Final = re.compile(r"[A-Za-z0-9_.:-]{1,32}", re.ASCII)
_look_ups = threading.BoundedSemaphore(_MAX_LOOK_UPS)


def system_resolver(host: str) -> list[str]:
    """Ask the operating system, in its order of preference.

    Args:
        host: A name in lower-case ASCII.

    Raises:
        OSError: There is no such name, or no answer.
    """
    found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(sockaddr[0]) for *_, sockaddr in found))


class _LookUp(threading.Thread):
    """One look-up in a thread of its own, so that whoever asked can leave before it ends."""

    def __init__(self, resolver: Resolver, host: str) -> None:
        super().__init__(name="plait-look-up", daemon=True)
        self._resolver = resolver
        self._host = host
        self.ended = threading.Event()
        self.woken = threading.Event()
        self.answers: Sequence[str] | None = None
        self.failure: BaseException | None = None

    @override
    def run(self) -> None:
        try:
            self.answers = self._resolver(self._host)
        except BaseException as error:  # noqa: BLE001  it is raised again in the thread that waits
            self.failure = error
        finally:
            _look_ups.release()
            self.ended.set()
            self.woken.set()


def look_up(ctx: Context, resolver: Resolver, host: str, seconds: float) -> Sequence[str]:
    """Ask once, and wait for the answer no longer than the context allows.

    Args:
        ctx: Its deadline and cancellation end the wait.
        resolver: Who is asked.
        host: The name.
        seconds: How long to wait at most.

    Raises:
        Unresolved: No answer, or none in time.
        ContextError: The context ended first.
    """
    if not _look_ups.acquire(blocking=False):
        raise Unresolved("too many look-ups of names are under way", "try again later")
    thread = _LookUp(resolver, host)
    try:
        thread.start()
    except RuntimeError:
        _look_ups.release()
        raise
    with ctx.watch(thread.woken.set):
        thread.woken.wait(min(seconds, ctx.remaining()))
    ctx.check()
    if not thread.ended.is_set():
        raise Unresolved("the look-up of the host's name did not end in time", "try again later")
    if thread.failure is not None:
        if isinstance(thread.failure, OSError | UnicodeError):
            raise Unresolved("the host's name has no address", "check the spelling of the host") from thread.failure
        raise thread.failure
    return thread.answers or ()


def resolve(ctx: Context, resolver: Resolver, host: str, seconds: float) -> list[Address]:
    """The addresses of a name, for the policy to judge.

    Args:
        ctx: Its deadline and cancellation end the wait.
        resolver: Who is asked, exactly once.
        host: The name.
        seconds: How long to wait at most.

    Raises:
        Unresolved: No answer, none in time, one that is no address, or more addresses than any site has.
        ContextError: The context ended first.
    """
    answers = look_up(ctx, resolver, host, seconds)
    if not answers:
        raise Unresolved("the host's name has no address", "check the spelling of the host")
    if len(answers) > _MAX_ANSWERS:
        raise Unresolved(f"the host's name has more than {_MAX_ANSWERS} addresses", "use another host")
    return [_address(answer) for answer in answers]


def _address(answer: str) -> Address:
    try:
        address = ipaddress.ip_address(answer)
    except ValueError:
        raise _no_address() from None
    zone = address.scope_id if isinstance(address, ipaddress.IPv6Address) else None
    if zone is not None and not _ZONE.fullmatch(zone):
        raise _no_address()
    return address


def _no_address() -> Unresolved:
    return Unresolved(
        "the look-up of the host's name gave what is no address", "use another host, or mend the resolver"
    )
