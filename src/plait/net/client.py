"""The client: one request with its redirects, each hop parsed, judged and bounded anew."""

from __future__ import annotations

import functools
import re
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Final

import httpcore

from plait.context import DeadlineExceeded
from plait.net.decode import ACCEPT_ENCODING, decoded
from plait.net.dial import Dialer
from plait.net.errors import (
    BadHeader,
    BadResponse,
    InsecureRedirect,
    NetError,
    TimedOut,
    TooLarge,
    TooManyRedirects,
)
from plait.net.guard import Policy
from plait.net.resolve import Resolver, system_resolver
from plait.net.silence import silence, silenced
from plait.net.url import Url, parse_url

if TYPE_CHECKING:
    import ssl
    from collections.abc import Generator, Iterable, Sequence

    from plait.context import Context

__all__ = ["Client", "Limits", "Response", "Wanted"]

silence("httpcore.connection", "httpcore.http11", "httpcore.http2", "httpcore.proxy", "httpcore.socks")

_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_CREDENTIALS: Final = frozenset({"authorization", "cookie", "x-api-key", "x-auth-token"})
_ALLOWED_HEADERS: Final = _CREDENTIALS | {
    "accept",
    "accept-language",
    "cache-control",
    "if-modified-since",
    "if-none-match",
    "referer",
    "user-agent",
    "x-request-id",
}
_HEADER_VALUE: Final = re.compile(r"[\x20-\x7e\xa0-\xff\t]*")
_DEFAULT_HEADERS: Final = {"accept": "*/*", "user-agent": "Plait"}
_BROKEN_HINT: Final = "try again later"
_SLOW_HINT: Final = "try again later, or fetch a smaller resource"
_REDIRECT_HINT: Final = "find out where they lead, and use that address"

Wanted = Callable[[int, str], bool]
"""Whether a response's body is worth reading, by its status and its content type."""


@dataclass(frozen=True)
class Limits:
    """How much one request may take, its redirects included.

    Args:
        total_seconds: From the call to the last byte.
        connect_seconds: For look-up, connect and TLS handshake of one hop.
        body_bytes: The body, decoded and as it came.
        wire_bytes: Everything behind the head of a response, the framing of its chunks included.
        head_bytes: Status line and headers of a response, interim responses included.
        headers: How many headers a response may have.
        redirects: How many redirects are followed.

    Raises:
        ValueError: A limit is not above zero (``redirects``: below zero).
    """

    total_seconds: float = 30.0
    connect_seconds: float = 10.0
    body_bytes: int = 8 * 1024 * 1024
    wire_bytes: int = 16 * 1024 * 1024
    head_bytes: int = 64 * 1024
    headers: int = 256
    redirects: int = 10

    def __post_init__(self) -> None:
        for limit in fields(self):
            value = getattr(self, limit.name)
            least = 0 if limit.name == "redirects" else 1e-9
            if not least <= value < float("inf"):
                raise ValueError(f"Limits.{limit.name} must be above zero and finite, got {value}")


@dataclass(frozen=True)
class Response:
    """What a server answered.

    Args:
        url: Where it came from in the end, normalised and without a fragment.
        status: The HTTP status.
        headers: Names in lower case, in the order received.
        body: Decoded; empty when it was not wanted.
        seconds: From the call to the last byte.
        hops: How many redirects were followed.
    """

    url: str
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    seconds: float
    hops: int

    def header(self, name: str) -> str | None:
        """The first header of that name, in any case; ``None`` without one."""
        return _first(self.headers, name)


@dataclass(frozen=True)
class _Answer:
    """What one hop gave: a whole response, or where to go on."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    location: str | None


class Client:
    """A guarded HTTP client: no proxies, no netrc, no cookies, no pool, nothing shared between two requests.

    Every hop of every request makes one look-up, judges all its addresses and connects to one that it
    judged; the name stays in ``Host`` and in the TLS handshake. May be used from any thread.

    Args:
        policy: What may be reached.
        limits: How much one request may take.
        resolver: Looks names up; the operating system by default.
        tls: The TLS settings; Mozilla's roots and full verification by default.
    """

    def __init__(
        self,
        policy: Policy | None = None,
        limits: Limits | None = None,
        *,
        resolver: Resolver = system_resolver,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.policy = policy or Policy()
        self.limits = limits or Limits()
        self._resolver = resolver
        self._tls = tls

    def get(
        self,
        ctx: Context,
        url: str,
        headers: Mapping[str, str] | None = None,
        *,
        wanted: Wanted | None = None,
    ) -> Response:
        """Get a resource, following redirects.

        Args:
            ctx: Its cancellation breaks a blocked read at once; its deadline counts besides ``Limits``.
            url: An absolute http or https URL.
            headers: Of an allow-list: ``Accept``, ``Authorization``, ``Cookie`` and a few more.
            wanted: Whether to read the final response's body; always, without it.

        Returns:
            Any final response, errors of the server included.

        Raises:
            NetError: It was refused or it failed; ``TimedOut`` also for the context's deadline.
            Cancelled: The context was cancelled.
        """
        checked = _checked_headers(headers or {})
        return self._follow(ctx.child(self.limits.total_seconds), parse_url(url), checked, wanted)

    def _follow(self, ctx: Context, url: Url, headers: dict[str, str], wanted: Wanted | None) -> Response:
        started = time.monotonic()
        seen: list[str] = []
        try:
            while True:
                answer = self._answer(ctx, url, headers, wanted)
                seen.append(str(url))
                if answer.location is None:
                    seconds = time.monotonic() - started
                    return Response(str(url), answer.status, answer.headers, answer.body, seconds, len(seen) - 1)
                target = url.join(answer.location)
                headers = _headers_for(url, target, headers)
                self._check_redirect(target, seen)
                url = target
        except NetError as error:
            error.hop = len(seen)
            raise

    def _check_redirect(self, target: Url, seen: Sequence[str]) -> None:
        if str(target) in seen:
            raise TooManyRedirects("the redirects go round in a circle", _REDIRECT_HINT)
        if len(seen) > self.limits.redirects:
            raise TooManyRedirects(f"there are more than {self.limits.redirects} redirects", _REDIRECT_HINT)

    def _answer(self, ctx: Context, url: Url, headers: Mapping[str, str], wanted: Wanted | None) -> _Answer:
        self.policy.check_url(url)
        dialer = Dialer(ctx, url, self.policy, self._resolver, self.limits.connect_seconds)
        with ctx.watch(dialer.abort), closing(dialer), silenced():
            try:
                ctx.check()
                return self._exchange(ctx, url, headers, dialer, wanted)
            except DeadlineExceeded:
                raise TimedOut("the site did not answer in time", _SLOW_HINT) from None
            except (httpcore.NetworkError, httpcore.ProtocolError):
                raise BadResponse("the answer is not HTTP, or the connection broke", _BROKEN_HINT) from None

    def _exchange(
        self, ctx: Context, url: Url, headers: Mapping[str, str], dialer: Dialer, wanted: Wanted | None
    ) -> _Answer:
        dialer.allow("headers", self.limits.head_bytes)
        with closing(self._connection(url, dialer).handle_request(_request(url, headers))) as response:
            return self._read(ctx, response, dialer, wanted)

    def _read(self, ctx: Context, response: httpcore.Response, dialer: Dialer, wanted: Wanted | None) -> _Answer:
        received = self._received_headers(response)
        if response.status < 200:
            raise BadResponse("the site switched to another protocol", "this address is not for fetching")
        location = _first(received, "location") if response.status in _REDIRECTS else None
        if location is not None:
            return _Answer(response.status, received, b"", location)
        if wanted is not None and not wanted(response.status, _first(received, "content-type") or ""):
            return _Answer(response.status, received, b"", None)
        dialer.allow("bytes of the body", self.limits.wire_bytes)
        encoding = ", ".join(value for name, value in received if name == "content-encoding")
        return _Answer(response.status, received, self._body(ctx, response, encoding), None)

    def _connection(self, url: Url, dialer: Dialer) -> httpcore.HTTPConnection:
        origin = httpcore.Origin(url.scheme.encode(), url.host.encode(), url.port)
        tls = (self._tls or _default_tls()) if url.scheme == "https" else None
        return httpcore.HTTPConnection(origin, ssl_context=tls, network_backend=dialer)

    def _received_headers(self, response: httpcore.Response) -> tuple[tuple[str, str], ...]:
        if len(response.headers) > self.limits.headers:
            raise TooLarge(f"the response has more than {self.limits.headers} headers", "fetch another resource")
        return tuple((name.decode("latin-1").lower(), _decoded(value)) for name, value in response.headers)

    def _body(self, ctx: Context, response: httpcore.Response, encoding: str) -> bytes:
        body = bytearray()
        with closing(_chunks(response)) as chunks:  # closed here, so that httpcore's last words are heard here too
            for piece in decoded(chunks, encoding, self.limits.body_bytes):
                ctx.check()
                body += piece
        return bytes(body)


def _chunks(response: httpcore.Response) -> Generator[bytes, None, None]:
    yield from response.iter_stream()


@functools.cache
def _default_tls() -> ssl.SSLContext:
    """One for all clients: to load the roots takes tens of milliseconds."""
    return httpcore.default_ssl_context()


def _request(url: Url, headers: Mapping[str, str]) -> httpcore.Request:
    sent = {"host": url.netloc, **_DEFAULT_HEADERS, **headers}
    sent |= {"accept-encoding": ACCEPT_ENCODING, "connection": "close"}
    return httpcore.Request(
        "GET",
        httpcore.URL(
            scheme=url.scheme.encode(),
            host=url.host.encode(),
            port=url.port,
            target=url.target.encode("ascii"),
        ),
        headers=[(name.encode("ascii"), value.encode("latin-1")) for name, value in sent.items()],
    )


def _checked_headers(headers: Mapping[str, str]) -> dict[str, str]:
    checked: dict[str, str] = {}
    for name, value in headers.items():
        lower = name.lower()
        if lower not in _ALLOWED_HEADERS:
            raise BadHeader(
                f"the request header {name[:40]!r} may not be sent",
                f"use one of: {', '.join(sorted(_ALLOWED_HEADERS))}",
            )
        if not _HEADER_VALUE.fullmatch(value):
            raise BadHeader(
                f"the value of the request header {lower!r} holds a character that no header can",
                "use printable Latin-1 without line ends",
            )
        checked[lower] = value.strip()
    return checked


def _headers_for(source: Url, target: Url, headers: dict[str, str]) -> dict[str, str]:
    """What a redirect may carry on: no credentials to another origin."""
    if source.scheme == "https" and target.scheme == "http":
        raise InsecureRedirect("the site redirects from https to http", "fetch the http address itself if you trust it")
    if source.origin == target.origin:
        return headers
    return {name: value for name, value in headers.items() if name not in _CREDENTIALS}


def _decoded(value: bytes) -> str:
    """A header's value: UTF-8, as sites send it today, else Latin-1 as it was meant."""
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return value.decode("latin-1")


def _first(headers: Iterable[tuple[str, str]], name: str) -> str | None:
    wanted = name.lower()
    return next((value for key, value in headers if key == wanted), None)
