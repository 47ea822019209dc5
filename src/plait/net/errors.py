"""Every error of the guarded HTTP client, in one tree."""

from __future__ import annotations

from typing import ClassVar

__all__ = [
    "BadEncoding",
    "BadHeader",
    "BadResponse",
    "BadUrl",
    "Blocked",
    "BlockedAddress",
    "BlockedPort",
    "InsecureRedirect",
    "NetError",
    "TimedOut",
    "TlsFailed",
    "TooLarge",
    "TooManyRedirects",
    "Unreachable",
    "Unresolved",
]


class NetError(Exception):
    """A request that was refused or that failed.

    The tree, with the code and the HTTP status of each::

        NetError
        ├── BadUrl              bad_url              422  not a URL that every parser reads alike
        ├── BadHeader           bad_header           422  a request header that may not be sent
        ├── Blocked                                  403  the policy forbids it; nothing was sent
        │   ├── BlockedAddress  blocked_address           not a public address
        │   └── BlockedPort     blocked_port              a port of another service
        ├── Unresolved          unresolved           502  the name has no address
        ├── Unreachable         unreachable          502  no connection; why is not told
        ├── TlsFailed           tls                  502  the server could not prove who it is
        ├── BadResponse         bad_response         502  not HTTP, or it broke off
        ├── BadEncoding         bad_encoding         502  a content coding that cannot be undone
        ├── TooManyRedirects    too_many_redirects   502  ``Limits.redirects`` were not enough
        ├── InsecureRedirect    insecure_redirect    502  from https to http
        ├── TooLarge            too_large            413  more than ``Limits`` allows
        └── TimedOut            timeout              504  ``Limits.total_seconds`` or the context's deadline

    No text of theirs holds a URL or a host, so that they can be shown and stored.

    Args:
        message: What was wrong.
        hint: What can be done about it.
    """

    code: ClassVar[str] = "net"
    """A stable name for programs."""

    status: ClassVar[int] = 502
    """The HTTP status of the same failure."""

    hop: int = 0
    """Which redirect led to it, from 1; 0 for the URL that was asked for."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class BadUrl(NetError):
    """The URL is not one that every parser reads alike, so it is not used at all."""

    code = "bad_url"
    status = 422


class BadHeader(NetError):
    """A request header that is not on the allow-list, or that cannot be written on the wire."""

    code = "bad_header"
    status = 422


class Blocked(NetError):
    """The policy forbids the request; nothing was sent."""

    code = "blocked"
    status = 403


class BlockedAddress(Blocked):
    """The host is, or resolves to, an address that is not public."""

    code = "blocked_address"


class BlockedPort(Blocked):
    """The port belongs to a service that does not speak HTTP."""

    code = "blocked_port"


class Unresolved(NetError):
    """The name has no address, or its look-up did not end in time."""

    code = "unresolved"


class Unreachable(NetError):
    """No connection: one code and one text for refused, filtered and silent, so that nobody scans ports."""

    code = "unreachable"


class TlsFailed(NetError):
    """The handshake failed; there is no way round the verification of a certificate."""

    code = "tls"


class BadResponse(NetError):
    """What came back is not HTTP, or broke off."""

    code = "bad_response"


class BadEncoding(NetError):
    """The body's content coding is unknown, nested too deep, or broken."""

    code = "bad_encoding"


class TooManyRedirects(NetError):
    """More redirects than ``Limits.redirects``, or a loop."""

    code = "too_many_redirects"


class InsecureRedirect(NetError):
    """A redirect from https to http."""

    code = "insecure_redirect"


class TooLarge(NetError):
    """The headers or the body are larger than ``Limits`` allows; reading has stopped."""

    code = "too_large"
    status = 413


class TimedOut(NetError):
    """``Limits.total_seconds`` or the context's deadline has passed."""

    code = "timeout"
    status = 504
