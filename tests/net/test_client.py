"""The client gets what a server sends, along redirects, and to judged addresses only."""

from __future__ import annotations

import socket
import ssl
from pathlib import Path

import pytest

from plait.context import Context
from plait.net import (
    BadHeader,
    BadResponse,
    BadUrl,
    BlockedAddress,
    Client,
    InsecureRedirect,
    Limits,
    NetError,
    Policy,
    TlsFailed,
    TooManyRedirects,
    Unreachable,
    Unresolved,
)
from plait.net.resolve import Resolver
from tests.net.server import RawServer, plain

PEM = Path(__file__).parent / "data" / "site.test.pem"


def client_for(*servers: RawServer, limits: Limits | None = None, tls: ssl.SSLContext | None = None) -> Client:
    """A client for which every name is 127.0.0.1, and only these servers are open."""
    policy = Policy(allow=[server.authority for server in servers])
    return Client(policy, limits, resolver=lambda _host: ["127.0.0.1"], tls=tls)


def server_tls() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(PEM)
    return context


def test_a_response_comes_with_its_status_headers_body_and_url() -> None:
    with RawServer(plain(b"cloth", "X-Weave: twill", "x-weave: plain", status="404 No")) as server:
        response = client_for(server).get(Context(), server.url("/a?b#c"))
    assert (response.status, response.body, response.hops) == (404, b"cloth", 0)
    assert response.url == server.url("/a?b")
    assert response.header("X-WEAVE") == "twill"
    assert response.header("x-missing") is None
    assert ("x-weave", "plain") in response.headers


def test_a_request_asks_for_codings_that_can_be_undone_and_for_the_end_of_the_connection() -> None:
    with RawServer(plain(b"")) as server:
        client_for(server).get(Context(), server.url("/a?b#c"))
    lines = server.heads[0].lower().split("\r\n")
    assert lines[0] == "get /a?b http/1.1"
    assert f"host: {server.authority}" in lines
    assert {"accept-encoding: gzip, deflate", "connection: close", "user-agent: plait"} <= set(lines)


def test_a_body_that_is_not_wanted_is_not_read() -> None:
    asked: list[tuple[int, str]] = []

    def wanted(status: int, content_type: str) -> bool:
        asked.append((status, content_type))
        return False

    short = b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\nContent-Type: audio/mpeg\r\n\r\nabc"
    with RawServer(lambda sock, _head: sock.sendall(short)) as server:
        response = client_for(server).get(Context(), server.url(), wanted=wanted)
    assert response.body == b""
    assert asked == [(200, "audio/mpeg")]


# Addresses


def test_a_name_is_looked_up_once_and_the_socket_goes_to_the_judged_address() -> None:
    with RawServer(plain(b"inside")) as server:
        answers = [["127.0.0.1"], ["127.0.0.2"]]
        asked: list[str] = []

        def rebinding(host: str) -> list[str]:
            asked.append(host)
            return answers.pop(0)

        client = Client(Policy(allow=[server.authority]), resolver=rebinding)
        response = client.get(Context(), server.url(host="rebind.test"))
    assert response.body == b"inside"
    assert asked == ["rebind.test"]
    assert f"host: rebind.test:{server.port}" in server.heads[0].lower()


@pytest.mark.parametrize("answers", [["93.184.216.34", "127.0.0.2"], ["127.0.0.2"], ["127.0.0.1", "::1"]])
def test_no_packet_goes_to_a_name_with_one_bad_address(answers: list[str]) -> None:
    with RawServer(plain(b"")) as server:
        client = Client(Policy(allow=[server.authority]), resolver=lambda _host: answers)
        with pytest.raises(BlockedAddress):
            client.get(Context(), server.url(host="mixed.test"))
    assert server.heads == []


def test_without_an_allow_list_the_loopback_is_closed() -> None:
    with RawServer(plain(b"")) as server:
        for host in ("127.0.0.1", "127.1", "2130706433", "0", "[::1]", "[::ffff:127.0.0.1]", "localhost"):
            with pytest.raises(BlockedAddress):
                Client().get(Context(), server.url(host=host))
    assert server.heads == []


def test_the_next_address_is_tried_when_one_does_not_answer() -> None:
    with RawServer(plain(b"second")) as server:
        policy = Policy(allow=[server.authority, f"127.0.0.9:{server.port}"])
        client = Client(policy, resolver=lambda _host: ["127.0.0.9", "127.0.0.1"])
        assert client.get(Context(), server.url(host="two.test")).body == b"second"


def test_the_environment_brings_no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    with RawServer(plain(b"direct")) as server, RawServer(plain(b"proxied")) as proxy:
        for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.url())
        assert client_for(server).get(Context(), server.url()).body == b"direct"
    assert proxy.heads == []


def test_cookies_do_not_stay() -> None:
    with RawServer(plain(b"", "Set-Cookie: a=b; Domain=127.0.0.1")) as server:
        client = client_for(server)
        client.get(Context(), server.url())
        client.get(Context(), server.url())
    assert "cookie" not in server.heads[1].lower()


def _no_such_name(host: str) -> list[str]:
    raise socket.gaierror(socket.EAI_NONAME, f"no such host: {host}")


@pytest.mark.parametrize("resolver", [_no_such_name, lambda _host: [], lambda _host: ["1.1.1.1"] * 300])
def test_a_name_without_usable_addresses_is_unresolved(resolver: Resolver) -> None:
    with pytest.raises(Unresolved) as caught:
        Client(resolver=resolver).get(Context(), "http://nowhere.test/")
    assert caught.value.status == 502


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "site.test",
        "1.2.3",
        "0x7f000001",
        "1.2.3.4/8",
        "1.2.3.4:80",
        "[::1]",
        "fe80::1%",
        "fe80::1%a%b",
        "fe80::1%\0",
        "fe80::1%\u00fc",
        "fe80::1%" + "x" * 1000,
        "\u0661.1.1.1",
        "9" * 10_000,
    ],
    ids=lambda answer: ascii(answer)[1:20],
)
def test_an_answer_of_the_look_up_that_is_no_address_is_an_error_of_the_net(answer: str) -> None:
    client = Client(Policy(allow=["site.test"]), resolver=lambda _host: ["127.0.0.9", answer])
    with pytest.raises(Unresolved, match="no address") as caught:
        client.get(Context(), "http://site.test/")
    assert caught.value.status == 502
    assert caught.value.hint
    assert caught.value.__cause__ is None
    assert "site.test" not in str(caught.value)


def test_refused_and_silent_ports_give_the_same_error() -> None:
    with socket.socket() as full, socket.socket() as unused, socket.socket() as queued:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        queued.connect(full.getsockname())  # the one place in the queue: the next one hears nothing
        unused.bind(("127.0.0.1", 0))
        errors = []
        for port in (full.getsockname()[1], unused.getsockname()[1]):
            client = Client(Policy(allow=[f"127.0.0.1:{port}"]), Limits(connect_seconds=0.2))
            with pytest.raises(Unreachable) as caught:
                client.get(Context(), f"http://127.0.0.1:{port}/")
            errors.append((caught.value.code, caught.value.message, caught.value.hint, caught.value.status))
    assert errors[0] == errors[1]


# Redirects


def redirecting(*locations: str) -> RawServer:
    """``/0`` leads to the first location, ``/1`` to the second, and so on; any other path is the end."""

    def answer(sock: socket.socket, head: str) -> None:
        path = head.split(" ")[1].strip("/")
        step = int(path) if path.isdigit() else len(locations)
        if step < len(locations):
            sock.sendall(plain(b"x", f"Location: {locations[step]}", status="302 Found"))
        else:
            sock.sendall(plain(b"the end"))

    return RawServer(answer)


def test_redirects_are_followed_and_counted() -> None:
    with redirecting("1", "/2", "?q") as server:
        response = client_for(server).get(Context(), server.url("/0"))
    assert (response.body, response.hops, response.url) == (b"the end", 3, server.url("/2?q"))


@pytest.mark.parametrize(
    "location",
    ["http://127.0.0.1:8080/admin", "//127.0.0.1/", "//localhost/", "http://[::1]/", "http://169.254.169.254/latest/"],
)
def test_a_redirect_inside_is_refused_with_its_number(location: str) -> None:
    with redirecting("/1", location) as server, pytest.raises(BlockedAddress) as caught:
        client_for(server).get(Context(), server.url("/0"))
    assert caught.value.hop == 2
    assert len(server.heads) == 2


@pytest.mark.parametrize(
    "location",
    [
        "/\\127.0.0.1",
        "http:127.0.0.1",
        "file:///etc/passwd",
        "gopher://127.0.0.1:6379/_x",
        "ftp://example.com/",
        "data:text/html,x",
        "javascript:alert(1)",
        "http://a:b@example.com/",
        "http://exa mple.com/",
        "",
    ],
)
def test_a_redirect_to_what_is_no_web_address_is_refused(location: str) -> None:
    with redirecting(location) as server, pytest.raises(BadUrl) as caught:
        client_for(server).get(Context(), server.url("/0"))
    assert caught.value.hop == 1


def test_ten_redirects_are_followed_and_eleven_are_too_many() -> None:
    with redirecting(*(f"/{step}" for step in range(1, 12))) as server:
        assert client_for(server).get(Context(), server.url("/1")).hops == 10
        with pytest.raises(TooManyRedirects):
            client_for(server).get(Context(), server.url("/0"))


@pytest.mark.parametrize("locations", [("/0",), ("/1", "/0"), ("/1", "/0#x")])
def test_a_circle_of_redirects_ends_at_once(locations: tuple[str, ...]) -> None:
    with redirecting(*locations) as server, pytest.raises(TooManyRedirects, match="circle"):
        client_for(server).get(Context(), server.url("/0"))
    assert len(server.heads) == len(locations)


def test_the_body_of_a_redirect_is_not_decoded() -> None:
    bomb = plain(b"\x1f\x8b not gzip", "Content-Encoding: gzip", "Location: /end", status="302 Found")
    with RawServer(lambda sock, head: sock.sendall(plain(b"end") if "/end" in head else bomb)) as server:
        assert client_for(server).get(Context(), server.url()).body == b"end"


def test_credentials_stay_with_their_origin() -> None:
    with RawServer(plain(b"other")) as other, redirecting("/1", other.url("/")) as server:
        client_for(server, other).get(
            Context(), server.url("/0"), {"Authorization": "secret", "Cookie": "secret", "Accept": "text/x"}
        )
    assert [head.count("secret") for head in server.heads] == [2, 2]
    assert "secret" not in other.heads[0]
    assert "accept: text/x" in other.heads[0].lower()


# Request headers


@pytest.mark.parametrize(
    "name",
    [
        "Host",
        "X-Forwarded-For",
        "Transfer-Encoding",
        "Connection",
        "Proxy-Authorization",
        "Metadata-Flavor",
        "A\r\nB",
        "",
    ],
)
def test_a_request_header_that_is_not_on_the_list_is_refused(name: str) -> None:
    with pytest.raises(BadHeader):
        Client().get(Context(), "http://example.com/", {name: "x"})


@pytest.mark.parametrize("value", ["a\r\nHost: x", "a\nb", "a\0b", "\u0142", "a\x7f"])
def test_a_request_header_that_cannot_be_written_is_refused(value: str) -> None:
    with pytest.raises(BadHeader) as caught:
        Client().get(Context(), "http://example.com/", {"Accept": value})
    assert (caught.value.code, caught.value.status) == ("bad_header", 422)


# TLS


def test_a_trusted_certificate_is_checked_against_the_name_that_the_handshake_names() -> None:
    named: list[str | None] = []
    tls = server_tls()
    tls.sni_callback = lambda _sock, name, _context: named.append(name)
    trusting = ssl.create_default_context(cafile=str(PEM))
    with RawServer(plain(b"safe"), tls) as server:
        client = client_for(server, tls=trusting)
        assert client.get(Context(), server.url(host="site.test", scheme="https")).body == b"safe"
        assert client.get(Context(), server.url(scheme="https")).body == b"safe"
        with pytest.raises(TlsFailed, match="another host"):
            client.get(Context(), server.url(host="other.test", scheme="https"))
    assert named == ["site.test", None, "other.test"]


def test_an_unknown_issuer_is_refused() -> None:
    with RawServer(plain(b""), server_tls()) as server, pytest.raises(TlsFailed, match="self-signed") as caught:
        client_for(server).get(Context(), server.url(host="site.test", scheme="https"))
    assert "site.test" not in str(caught.value)
    assert server.heads == []


def test_plain_http_at_a_tls_port_is_a_tls_error() -> None:
    with RawServer(plain(b"")) as server, pytest.raises(TlsFailed):
        client_for(server, limits=Limits(connect_seconds=0.2)).get(Context(), server.url(scheme="https"))


def test_a_redirect_from_https_to_http_is_refused() -> None:
    location = plain(b"", "Location: http://site.test/", status="301 Moved")
    trusting = ssl.create_default_context(cafile=str(PEM))
    with RawServer(location, server_tls()) as server, pytest.raises(InsecureRedirect) as caught:
        client_for(server, tls=trusting).get(Context(), server.url(host="site.test", scheme="https"))
    assert caught.value.hop == 1


# What is no HTTP


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"\x00\x01\x02\r\n\r\n",
        b"HTTP/1.1 99999 x\r\n\r\n",
        b"HTTP/1.1 000 x\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1, 2\r\n\r\nab",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFFFFFFFFF\r\nab",
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n",
    ],
    ids=[
        "nothing",
        "no text",
        "status of five digits",
        "status zero",
        "negative length",
        "list of lengths",
        "two lengths",
        "body too short",
        "chunk without a size",
        "chunk beyond belief",
        "another protocol",
    ],
)
def test_an_answer_that_is_no_http_is_a_bad_response(answer: bytes) -> None:
    with RawServer(answer) as server, pytest.raises(BadResponse) as caught:
        client_for(server).get(Context(), server.url())
    assert caught.value.status == 502


@pytest.mark.parametrize("status", ["204 No Content", "304 Not Modified"])
def test_a_status_without_a_body_has_none(status: str) -> None:
    with RawServer(plain(b"smuggled", status=status)) as server:
        assert client_for(server).get(Context(), server.url()).body == b""


def test_every_error_has_a_code_of_its_own_and_a_status() -> None:
    def leaves(kind: type[NetError]) -> list[type[NetError]]:
        below = kind.__subclasses__()
        return [leaf for sub in below for leaf in leaves(sub)] if below else [kind]

    codes = [leaf.code for leaf in leaves(NetError)]
    assert len(codes) == len(set(codes)) == 13
    assert {leaf.status for leaf in leaves(NetError)} == {403, 413, 422, 502, 504}


@pytest.mark.parametrize("name", ["total_seconds", "connect_seconds", "body_bytes", "head_bytes", "headers"])
def test_a_limit_of_nothing_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=name):
        Limits(**{name: 0})
