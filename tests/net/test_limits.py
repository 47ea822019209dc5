"""No server, resolver or body holds the client longer, or makes it larger, than its limits say."""

from __future__ import annotations

import gzip
import logging
import socket
import ssl
import threading
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from plait.context import Cancelled, Context
from plait.net import BadEncoding, Client, Limits, NetError, Policy, Response, TimedOut, TooLarge
from tests.net.server import RawServer, plain
from tests.net.test_client import PEM, client_for, redirecting, server_tls

KB = 1024
SMALL = Limits(body_bytes=64 * KB, wire_bytes=80 * KB, head_bytes=8 * KB, headers=20)


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor() as executor:
        yield executor


# Content codings

TEXT = b"over one, under one\n" * 100


def deflated(data: bytes) -> bytes:
    raw = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return raw.compress(data) + raw.flush()


@pytest.mark.parametrize(
    ("coding", "body"),
    [
        ("gzip", gzip.compress(TEXT)),
        ("X-GZIP", gzip.compress(TEXT)),
        ("gzip", gzip.compress(TEXT[:100]) + gzip.compress(TEXT[100:])),
        ("deflate", zlib.compress(TEXT)),
        ("deflate", deflated(TEXT)),
        ("identity", TEXT),
        ("", TEXT),
        ("gzip, deflate", zlib.compress(gzip.compress(TEXT))),
        ("gzip, identity, gzip", gzip.compress(gzip.compress(TEXT))),
    ],
    ids=[
        "gzip",
        "old name of gzip",
        "two members",
        "zlib",
        "bare deflate",
        "identity",
        "none",
        "two codings",
        "two codings and identity",
    ],
)
def test_a_content_coding_is_undone(coding: str, body: bytes) -> None:
    with RawServer(plain(body, f"Content-Encoding: {coding}")) as server:
        assert client_for(server).get(Context(), server.url()).body == TEXT


def test_an_empty_body_is_empty_in_every_coding() -> None:
    with RawServer(plain(b"", "Content-Encoding: gzip")) as server:
        assert client_for(server).get(Context(), server.url()).body == b""


def test_a_body_is_decoded_as_often_as_the_header_says() -> None:
    with RawServer(plain(gzip.compress(gzip.compress(TEXT)), "Content-Encoding: gzip")) as server:
        assert gzip.decompress(client_for(server).get(Context(), server.url()).body) == TEXT


@pytest.mark.parametrize(
    ("coding", "body"),
    [
        ("gzip", TEXT),
        ("gzip", gzip.compress(TEXT)[:-9]),
        ("gzip", gzip.compress(TEXT)[:15]),
        ("gzip", gzip.compress(TEXT) + b"garbage"),
        ("deflate", zlib.compress(TEXT)[:-5]),
        ("deflate", zlib.compress(TEXT) + b"garbage"),
        ("deflate", b"\xff" * 100),
        ("br", TEXT),
        ("zstd", b"\x28\xb5\x2f\xfd"),
        ("gzip, gzip, gzip", gzip.compress(gzip.compress(gzip.compress(TEXT)))),
        (", ".join(["gzip"] * 100), TEXT),
    ],
    ids=[
        "no gzip",
        "gzip without its end",
        "gzip broken off early",
        "garbage behind gzip",
        "zlib without its end",
        "garbage behind zlib",
        "no deflate",
        "br",
        "zstd",
        "three codings",
        "a hundred codings",
    ],
)
def test_a_content_coding_that_cannot_be_undone_is_an_error(coding: str, body: bytes) -> None:
    with RawServer(plain(body, f"Content-Encoding: {coding}")) as server, pytest.raises(BadEncoding) as caught:
        client_for(server).get(Context(), server.url())
    assert (caught.value.code, caught.value.status) == ("bad_encoding", 502)


@pytest.mark.parametrize("links", [1, 2])
def test_a_bomb_stops_at_the_cap_and_never_fills_the_memory(links: int) -> None:
    body = zlib.compressobj(9, wbits=31)
    bomb = b"".join(body.compress(bytes(1024 * KB)) for _ in range(100)) + body.flush()
    for _ in range(links - 1):
        bomb = gzip.compress(bomb)
    with RawServer(plain(bomb, f"Content-Encoding: {', '.join(['gzip'] * links)}")) as server:
        client = client_for(server, limits=Limits(body_bytes=1024 * KB))
        tracemalloc.start()
        try:
            with pytest.raises(TooLarge) as caught:
                client.get(Context(), server.url())
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert (caught.value.code, caught.value.status) == ("too_large", 413)
    assert peak < 4 * 1024 * KB


# Sizes


def sending(*pieces: bytes) -> Callable[[socket.socket, str], None]:
    """Send the first piece, then the last one for ever."""

    def answer(sock: socket.socket, _head: str) -> None:
        sock.sendall(pieces[0])
        while True:
            sock.sendall(pieces[-1])

    return answer


OK = b"HTTP/1.1 200 OK\r\n"


@pytest.mark.parametrize(
    "answer",
    [
        sending(OK + b"\r\n", b"x" * 1000),
        sending(OK + b"Content-Length: 99999999999999999999\r\n\r\n", b"x" * 1000),
        sending(OK + b"Transfer-Encoding: chunked\r\n\r\n", b"3e8\r\n" + b"x" * 1000 + b"\r\n"),
        sending(OK + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n" * 100),
        sending(OK + b"Transfer-Encoding: chunked\r\n\r\n0\r\n", b"X-Trailer: x\r\n" * 100),
        sending(OK + b"Content-Encoding: gzip\r\n\r\n", gzip.compress(b"")),
        sending(OK, b"X-Header: x\r\n" * 10),
        sending(OK + b"X-Header: ", b"x" * 1000),
        sending(b"HTTP/1.1 100 Continue\r\n\r\n" * 10),
        sending(b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"),
        OK + b"X: y\r\n" * 21 + b"\r\n",
        OK + b"Set-Cookie: a=b; Domain=.com\r\n" * 10000 + b"\r\n",
    ],
    ids=[
        "endless body",
        "length beyond belief",
        "endless chunks",
        "tiny chunks",
        "endless trailers",
        "endless empty gzip members",
        "endless headers",
        "endless header",
        "endless continues",
        "endless hints",
        "one header too many",
        "flood of cookies",
    ],
)
def test_a_response_without_end_is_cut_off_at_its_cap(answer: Callable[[socket.socket, str], None] | bytes) -> None:
    with RawServer(answer) as server, pytest.raises(TooLarge) as caught:
        client_for(server, limits=SMALL).get(Context(), server.url())
    assert caught.value.status == 413


def test_a_body_of_just_the_cap_is_read() -> None:
    with RawServer(plain(b"x" * 64 * KB)) as server:
        assert len(client_for(server, limits=SMALL).get(Context(), server.url()).body) == 64 * KB
    with RawServer(plain(b"x" * (64 * KB + 1))) as server, pytest.raises(TooLarge):
        client_for(server, limits=SMALL).get(Context(), server.url())


# Time


@pytest.mark.parametrize(
    "start",
    [b"", OK, OK + b"Content-Length: 1000\r\n\r\n", OK + b"Transfer-Encoding: chunked\r\n\r\n3e8\r\n"],
    ids=["status line", "headers", "body", "chunk"],
)
def test_a_trickling_server_is_ended_by_the_one_deadline(start: bytes) -> None:
    def answer(sock: socket.socket, _head: str) -> None:
        sock.sendall(start)
        while not server.closing.wait(0.02):  # no single read takes long
            sock.sendall(b"x")

    with RawServer(answer) as server, pytest.raises(TimedOut) as caught:
        client_for(server, limits=Limits(total_seconds=0.3)).get(Context(), server.url())
    assert (caught.value.code, caught.value.status) == ("timeout", 504)


def test_the_deadline_of_the_context_ends_a_request_too() -> None:
    def answer(_sock: socket.socket, _head: str) -> None:
        server.closing.wait()

    with RawServer(answer) as server:
        with pytest.raises(TimedOut):
            client_for(server).get(Context(timeout=0.2), server.url())
        with pytest.raises(TimedOut):
            client_for(server).get(Context(timeout=0), server.url())
    assert len(server.heads) == 1


def test_slow_redirects_share_one_deadline() -> None:
    def answer(sock: socket.socket, head: str) -> None:
        step = int(head.split(" ")[1].strip("/"))
        server.closing.wait(0.1 if step else 0)
        sock.sendall(plain(b"", f"Location: /{step + 1}", status="302 Found"))

    with RawServer(answer) as server, pytest.raises(TimedOut) as caught:
        client_for(server, limits=Limits(total_seconds=0.5)).get(Context(), server.url("/0"))
    assert caught.value.hop > 0


def test_a_resolver_that_hangs_is_left_behind() -> None:
    hang = threading.Event()

    def hanging(_host: str) -> list[str]:
        hang.wait()
        return []

    try:
        client = Client(limits=Limits(connect_seconds=0.1), resolver=hanging)
        with pytest.raises(NetError) as caught:
            client.get(Context(), "http://slow.test/")
        assert caught.value.code == "unresolved"
        with pytest.raises(TimedOut):
            Client(limits=Limits(total_seconds=0.1), resolver=hanging).get(Context(), "http://slow.test/")
    finally:
        hang.set()


# Cancellation


def cancelled_while(
    pool: ThreadPoolExecutor, blocked: threading.Event, get: Callable[[Context], Response]
) -> BaseException | None:
    """What ``get`` raises when its context is cancelled once it is blocked."""
    ctx = Context()
    future = pool.submit(get, ctx.child())
    assert blocked.wait(10)
    ctx.cancel("enough")
    return future.exception(timeout=10)


@pytest.mark.parametrize(
    "start", [b"", OK, OK + b"Content-Length: 10\r\n\r\nabc"], ids=["status line", "headers", "body"]
)
def test_a_cancellation_breaks_a_blocked_read(pool: ThreadPoolExecutor, start: bytes) -> None:
    blocked = threading.Event()

    def answer(sock: socket.socket, _head: str) -> None:
        sock.sendall(start)
        blocked.set()
        server.closing.wait()

    with RawServer(answer) as server:
        error = cancelled_while(pool, blocked, lambda ctx: client_for(server).get(ctx, server.url()))
    assert isinstance(error, Cancelled)
    assert error.reason == "enough"


def test_a_cancellation_breaks_a_read_within_tls(pool: ThreadPoolExecutor) -> None:
    blocked = threading.Event()
    trusting = ssl.create_default_context(cafile=str(PEM))

    def answer(_sock: socket.socket, _head: str) -> None:
        blocked.set()
        server.closing.wait()

    with RawServer(answer, server_tls()) as server:
        url = server.url(scheme="https")
        error = cancelled_while(pool, blocked, lambda ctx: client_for(server, tls=trusting).get(ctx, url))
    assert isinstance(error, Cancelled)


def test_a_cancellation_breaks_a_handshake(pool: ThreadPoolExecutor) -> None:
    blocked = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        client = Client(Policy(allow=[f"127.0.0.1:{port}"]))

        def accept() -> socket.socket:
            connection, _ = silent.accept()
            connection.recv(1)  # the handshake has begun
            blocked.set()
            return connection

        accepted = pool.submit(accept)
        error = cancelled_while(pool, blocked, lambda ctx: client.get(ctx, f"https://127.0.0.1:{port}/"))
        accepted.result().close()
    assert isinstance(error, Cancelled)


def test_a_cancellation_breaks_a_look_up(pool: ThreadPoolExecutor) -> None:
    blocked, hang = threading.Event(), threading.Event()

    def hanging(_host: str) -> list[str]:
        blocked.set()
        hang.wait()
        return []

    try:
        error = cancelled_while(pool, blocked, lambda ctx: Client(resolver=hanging).get(ctx, "http://slow.test/"))
    finally:
        hang.set()
    assert isinstance(error, Cancelled)


def test_a_context_that_was_cancelled_before_sends_nothing() -> None:
    ctx = Context()
    ctx.cancel("too late")
    with RawServer(plain(b"")) as server, pytest.raises(Cancelled, match="too late"):
        client_for(server).get(ctx, server.url())
    assert server.heads == []


# Log


def test_no_log_line_holds_a_url_or_a_host(caplog: pytest.LogCaptureFixture) -> None:
    for name in ("", "httpcore", "httpcore.connection", "httpcore.http11"):
        caplog.set_level(logging.DEBUG, name)
    with redirecting("/1", "//127.0.0.1:9/secret-path") as server, RawServer(b"nonsense", server_tls()) as broken:
        client = client_for(server, broken)
        client.get(Context(), server.url("/7"))
        for url in (server.url("/0"), broken.url(), broken.url(scheme="https", host="name.test")):
            with pytest.raises(NetError):
                client.get(Context(), url)
    assert caplog.records == []


def test_another_user_of_the_same_library_keeps_its_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    logging.getLogger("httpcore.connection").debug("not ours")
    assert caplog.messages == ["not ours"]
