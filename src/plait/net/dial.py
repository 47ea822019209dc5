"""Connections: one look-up, all addresses judged, a socket to a judged one, one deadline for all of it."""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
import time
from typing import TYPE_CHECKING, Any, Final

import httpcore
from typing_extensions import override

from plait.context import DeadlineExceeded
from plait.net.errors import TlsFailed, TooLarge, Unreachable
from plait.net.resolve import resolve

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from plait.context import Context
    from plait.net.guard import Address, Policy
    from plait.net.resolve import Resolver
    from plait.net.url import Url

__all__ = ["Dialer"]

_MAX_CANDIDATES: Final = 4
_SHORTEST_WAIT: Final = 0.001  # zero would mean "do not block" to a socket

_UNREACHABLE: Final = "no connection to the host could be made"
_UNREACHABLE_HINT: Final = "check the address, or try again later"
_HANDSHAKE: Final = "the TLS handshake with the host failed"
# OpenSSL's X509_V_ERR numbers; its texts are not used, since they name the host.
_VERIFY_REASONS: Final = {
    9: "its certificate is not valid yet",
    10: "its certificate has expired",
    18: "its certificate is self-signed",
    19: "its certificate chain ends in a self-signed one",
    20: "the issuer of its certificate is unknown",
    62: "its certificate is for another host",
    64: "its certificate is for another address",
}


class Dialer(httpcore.NetworkBackend):
    """Makes the one connection of one attempt, and ends whatever blocks on it when it is told to.

    What it raises passes through httpcore unchanged: ``NetError`` and ``ContextError``.

    Args:
        ctx: Its deadline bounds everything here, reads and writes included.
        url: Where to.
        policy: Judges each address of the look-up.
        resolver: Makes the one look-up.
        connect_seconds: How long look-up, connect and handshake may take together.
    """

    def __init__(self, ctx: Context, url: Url, policy: Policy, resolver: Resolver, connect_seconds: float) -> None:
        self.ctx = ctx
        self._url = url
        self._policy = policy
        self._resolver = resolver
        self._until = time.monotonic() + connect_seconds
        self._lock = threading.Lock()  # guards _socket and _aborted: no socket is shut down while it is being closed
        self._socket: socket.socket | None = None
        self._aborted = False
        self._bytes_left = 0
        self._part = ""

    def allow(self, part: str, size: int) -> None:
        """Say how much may be read from now on.

        Args:
            part: What is being read, for the error.
            size: In bytes.
        """
        self._part = part
        self._bytes_left = size

    def spend(self, size: int) -> None:
        """Count bytes that were read."""
        self._bytes_left -= size

    def affordable(self, size: int) -> int:
        """How many bytes may be read now, of ``size`` wished for.

        Raises:
            TooLarge: None.
        """
        if self._bytes_left <= 0:
            raise TooLarge(f"the {self._part} of the response are larger than allowed", "fetch a smaller resource")
        return min(size, self._bytes_left)

    def abort(self) -> None:
        """Break whatever blocks on the connection; a watcher of the context, callable from any thread."""
        with self._lock:
            self._aborted = True
            if self._socket is not None:
                _shut_down(self._socket)

    def hold(self, sock: socket.socket) -> None:
        """Make ``sock`` the one that ``abort`` shuts down."""
        with self._lock:
            self._socket = sock
            if self._aborted:
                _shut_down(sock)

    def close(self) -> None:
        """Close the connection, if there is one."""
        with self._lock:
            if self._socket is not None:
                self._socket.close()

    def seconds_to_connect(self) -> float:
        """What is left for look-up, connect and handshake.

        Raises:
            ContextError: The context has ended.
        """
        self.ctx.check()
        return max(_SHORTEST_WAIT, min(self._until - time.monotonic(), self.ctx.remaining()))

    @override
    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        """Look up, judge and connect; the arguments repeat the URL that the dialer was made for."""
        return _Stream(self, self._connect(self._judged()))

    def _judged(self) -> list[Address]:
        if self._url.address is not None:
            return self._policy.check_addresses(self._url, [self._url.address])
        found = resolve(self.ctx, self._resolver, self._url.host, self.seconds_to_connect())
        return self._policy.check_addresses(self._url, found)

    def _connect(self, addresses: Sequence[Address]) -> socket.socket:
        candidates = _candidates(addresses)
        for tried, address in enumerate(candidates):
            share = self.seconds_to_connect() / (len(candidates) - tried)
            with contextlib.suppress(OSError):
                return self._connect_to(address, share)
            self.ctx.check()
        raise Unreachable(_UNREACHABLE, _UNREACHABLE_HINT)

    def _connect_to(self, address: Address, seconds: float) -> socket.socket:
        sock = socket.socket(socket.AF_INET if address.version == 4 else socket.AF_INET6, socket.SOCK_STREAM)
        try:
            self.hold(sock)
            sock.settimeout(seconds)
            sock.connect((str(address), self._url.port))
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except BaseException:
            self.close()
            raise
        return sock


class _Stream(httpcore.NetworkStream):
    """A connection whose every operation ends at the deadline of its dialer's context."""

    def __init__(self, dialer: Dialer, sock: socket.socket) -> None:
        self._dialer = dialer
        self._socket = sock

    @override
    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        size = self._dialer.affordable(max_bytes)
        self._arm()
        try:
            data = self._socket.recv(size)
        except OSError as error:
            raise self._ended(error, httpcore.ReadError("the connection broke")) from None
        if not data:
            self._dialer.ctx.check()  # a cancellation looks like the end of the stream
        self._dialer.spend(len(data))
        return data

    @override
    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        view = memoryview(buffer)
        while view:
            self._arm()
            try:
                view = view[self._socket.send(view) :]
            except OSError as error:
                raise self._ended(error, httpcore.WriteError("the connection broke")) from None

    @override
    def close(self) -> None:
        self._dialer.close()

    @override
    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        try:
            self._socket.settimeout(self._dialer.seconds_to_connect())
            # No handshake yet: abort must know the new socket before anything blocks on it.
            wrapped = ssl_context.wrap_socket(
                self._socket, server_hostname=server_hostname, do_handshake_on_connect=False
            )
            self._dialer.hold(wrapped)
            wrapped.do_handshake()
        except (OSError, ValueError) as error:
            self.close()
            self._dialer.ctx.check()
            raise _tls_failure(error) from None
        return _Stream(self._dialer, wrapped)

    @override
    def get_extra_info(self, info: str) -> Any:
        return self._socket if info == "ssl_object" and isinstance(self._socket, ssl.SSLSocket) else None

    def _arm(self) -> None:
        """Give the next operation what is left of the context's time."""
        ctx = self._dialer.ctx
        ctx.check()
        remaining = ctx.remaining()
        self._socket.settimeout(max(_SHORTEST_WAIT, remaining) if remaining < threading.TIMEOUT_MAX else None)

    def _ended(self, error: OSError, otherwise: Exception) -> Exception:
        """Why an operation failed: the context's end comes before what the socket says."""
        self._dialer.ctx.check()
        return DeadlineExceeded() if isinstance(error, TimeoutError) else otherwise


def _candidates(addresses: Sequence[Address]) -> list[Address]:
    """The few addresses to try: the first in the resolver's order, then the families in turn."""
    families: dict[int, list[Address]] = {}
    for address in dict.fromkeys(addresses):
        families.setdefault(address.version, []).append(address)
    rounds = max(len(family) for family in families.values())
    turns = [family[turn] for turn in range(rounds) for family in families.values() if turn < len(family)]
    return turns[:_MAX_CANDIDATES]


def _shut_down(sock: socket.socket) -> None:
    # The plain socket's method: that of an SSLSocket drops the TLS object under the thread that is reading.
    with contextlib.suppress(OSError):
        socket.socket.shutdown(sock, socket.SHUT_RDWR)


def _tls_failure(error: Exception) -> TlsFailed:
    if isinstance(error, ssl.SSLCertVerificationError):
        reason = _VERIFY_REASONS.get(error.verify_code, "its certificate could not be verified")
        return TlsFailed(f"{_HANDSHAKE}: {reason}", "use a host with a valid certificate")
    return TlsFailed(_HANDSHAKE, "check that the host speaks TLS at this port, or try again later")
