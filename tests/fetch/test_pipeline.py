"""A target becomes content, a target error or a retry, and each says what an agent needs."""

from __future__ import annotations

import hashlib
import json
import logging
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from typing_extensions import override

from plait.context import Cancelled, Context
from plait.fetch import Fetch
from plait.jobs.errors import RetryLater, TargetError
from plait.jobs.model import Caller, Options, Result, Target
from plait.net import Client, Limits, Policy, Response
from plait.net.client import Wanted
from tests.net.server import RawServer, plain

if TYPE_CHECKING:
    from examples.example_site import ExampleSite

CALLER = Caller("anna")


def run(fetch: Fetch, url: str, options: Options | None = None, ctx: Context | None = None) -> Result:
    return fetch(ctx or Context(), CALLER, Target(url, options or Options()))


def refused(fetch: Fetch, url: str, options: Options | None = None) -> TargetError:
    with pytest.raises(TargetError) as caught:
        run(fetch, url, options)
    assert caught.value.msg
    assert caught.value.hint
    return caught.value


def served(answer: bytes, options: Options | None = None) -> Result:
    with RawServer(answer) as server:
        return run(Fetch(Policy(allow=[server.authority])), server.url(), options)


# Content


def test_a_page_becomes_markdown_by_default(fetch: Fetch, site: ExampleSite) -> None:
    result = run(fetch, site.url("/plain-weave.html"))
    assert result.content.startswith("# Plain weave\n\nIn the plain weave each weft thread")
    assert "## Basket weave" in result.content
    assert "| Linen | flax | 16 |" in result.content
    assert "Home" not in result.content
    assert run(fetch, site.url("/plain-weave.html"), Options(mode="markdown")).content == result.content


def test_links_in_markdown_are_absolute(fetch: Fetch, site: ExampleSite) -> None:
    assert f"[plain weave]({site.url('/plain-weave.html')})" in run(fetch, site.url("/index.html")).content


def test_a_page_becomes_text_or_html(fetch: Fetch, site: ExampleSite) -> None:
    text = run(fetch, site.url("/twill.html"), Options(mode="text")).content
    html = run(fetch, site.url("/twill.html"), Options(mode="html")).content
    assert text.startswith("Twill\nA twill moves")
    assert "<h1>Twill</h1>" in html
    assert "Home" not in text + html


def test_raw_is_the_source_of_the_page(fetch: Fetch, site: ExampleSite) -> None:
    result = run(fetch, site.url("/twill.html"), Options(mode="raw"))
    assert result.content.startswith("<!doctype html>")
    assert result.content.endswith("</html>\n")
    assert result.meta["title"] == "Twill and its diagonal"


@pytest.mark.parametrize("mode", ["", "markdown", "text", "html", "raw"])
@pytest.mark.parametrize("path", ["/drafts.json", "/notes.txt"])
def test_json_and_text_pass_through_in_every_mode(fetch: Fetch, site: ExampleSite, path: str, mode: str) -> None:
    content = run(fetch, site.url(path), Options(mode=mode)).content
    assert content == (Path(__file__).parents[2] / "examples" / "site" / path.strip("/")).read_text()


def test_the_meta_says_what_else_is_to_be_known(fetch: Fetch, site: ExampleSite) -> None:
    body = (Path(__file__).parents[2] / "examples" / "site" / "index.html").read_bytes()
    meta = run(fetch, site.url("/redirect?to=/gzip")).meta
    seconds = meta.pop("seconds")
    assert 0 <= seconds < 30
    assert meta == {
        "status": 200,
        "url": site.url("/gzip"),
        "content_type": "text/html",
        "title": "The Weaver's Notebook",
        "bytes": len(body),
        "sha256": hashlib.sha256(body).hexdigest(),
        "main": True,
    }
    json.dumps(meta)


@pytest.mark.parametrize("body", ["", "  \n", "<html></html>", "<!doctype html><title>x</title>", "<html><body>"])
@pytest.mark.parametrize("mode", ["markdown", "text", "html", "raw"])
def test_an_empty_page_is_done_with_empty_content(body: str, mode: str) -> None:
    result = served(plain(body.encode(), "Content-Type: text/html"), Options(mode=mode))
    assert result.content == (body if mode == "raw" else "")


@pytest.mark.parametrize(
    ("content_type", "body", "kind"),
    [
        ("application/xhtml+xml", b"<html><title>t</title><p>a", "html"),
        ("TEXT/HTML ; x=y", b"<html><title>t</title><p>a", "html"),
        ("application/ld+json", b"<html><title>t</title>", "text"),
        ("application/rss+xml", b"<rss><title>t</title></rss>", "text"),
        ("text/csv", b"a,b", "text"),
        ("", b" \n<!DOCTYPE html><title>t</title><p>a", "html"),
        ("", b"<HTML><title>t</title><p>a", "html"),
        ("", b"a plain text <title>t</title>", "text"),
        ("nonsense", b"a plain text <title>t</title>", "text"),
    ],
    ids=["xhtml", "upper case", "json", "rss", "csv", "doctype", "html", "text", "nonsense"],
)
def test_the_content_type_decides_and_a_missing_one_is_guessed(content_type: str, body: bytes, kind: str) -> None:
    result = served(plain(body, f"Content-Type: {content_type}"))
    assert result.meta["title"] == ("t" if kind == "html" else "")
    if kind == "text":
        assert result.content == body.decode()


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        ("application/pdf", b"%PDF-1.7"),
        ("image/png", b"\x89PNG"),
        ("application/octet-stream", b"x"),
        ("text/event-stream", b"data: x\n\n"),
        ("multipart/x-mixed-replace", b"--x"),
        ("", b"\x7fELF\x00\x00"),
    ],
    ids=["pdf", "image", "bytes", "events", "multipart", "program"],
)
def test_another_content_type_is_refused(content_type: str, body: bytes) -> None:
    with RawServer(plain(body, f"Content-Type: {content_type}")) as server:
        error = refused(Fetch(Policy(allow=[server.authority])), server.url())
    assert error.status == 415


def test_hostile_json_is_text_like_any_other() -> None:
    for body in (b"[" * 100_000, b"9" * 5000, b"1e400", b"NaN", b'{"a":1,"a":2}'):
        assert served(plain(body, "Content-Type: application/json")).content == body.decode()


# Options


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (Options(pages="1-3"), "'pages'"),
        (Options(jq="."), "'jq'"),
        (Options(question="why"), "'question'"),
        (Options(context=True), "'context'"),
        (Options(context=False), "'context'"),
        (Options(recover=True), "'recover'"),
        (Options(mode="links"), "'links'"),
        (Options(mode="metadata"), "'metadata'"),
        (Options(mode="Markdown"), "'Markdown'"),
        (Options(grep="(a"), "missing )"),
        (Options(grep="a{1001}"), "invalid repetition size"),
        (Options(grep="a{4294967295}"), "larger than 1000"),
        (Options(grep="a{1,99999}"), "larger than 1000"),
        (Options(grep="(?P<x>a)(?P<x>b)"), "the same name"),
        (Options(grep="(a)\\1"), "invalid escape sequence"),
        (Options(grep="(?=a)"), "(?="),
        (Options(grep="(" * 500 + ")" * 500 + "("), "longer than 1000"),
        (Options(grep="x" * 1_000_000), "longer than 1000"),
        (Options(grep="\\pL{1,1000}"), "too large"),
        (Options(grep="a\ud800"), "no text"),
    ],
)
def test_an_option_that_cannot_be_done_is_refused_before_anything_is_fetched(
    fetch: Fetch, site: ExampleSite, options: Options, word: str
) -> None:
    error = refused(fetch, site.url("/index.html"), options)
    assert error.status == 422
    assert word in error.msg
    assert len(error.msg) < 300
    assert site.requests == []


def test_the_refusal_of_an_option_says_what_is_supported(fetch: Fetch, site: ExampleSite) -> None:
    hint = refused(fetch, site.url("/index.html"), Options(mode="links")).hint
    assert all(word in hint for word in ("markdown", "text", "html", "raw", "grep"))


# Failures


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 405, 406, 407, 408, 410, 418, 451, 500, 502, 504, 599])
def test_an_error_of_the_site_keeps_its_status(fetch: Fetch, site: ExampleSite, status: int) -> None:
    error = refused(fetch, site.url(f"/status/{status}"))
    assert error.status == status
    assert str(status) in error.msg


@pytest.mark.parametrize("status", [600, 700, 999])
def test_a_status_that_http_does_not_have_is_a_failure_of_the_site(status: int) -> None:
    with RawServer(plain(b"", status=f"{status} Denied")) as server:
        error = refused(Fetch(Policy(allow=[server.authority])), server.url())
    assert error.status == 502
    assert f"status {status}, which HTTP does not have" in error.msg


@pytest.mark.parametrize(
    ("status", "word"), [(404, "check"), (410, "gone for good"), (401, "credentials"), (403, "refuses"), (500, "later")]
)
def test_the_hint_fits_the_status(fetch: Fetch, site: ExampleSite, status: int, word: str) -> None:
    assert word in refused(fetch, site.url(f"/status/{status}")).hint


def test_a_redirect_without_a_location_is_a_failure(fetch: Fetch, site: ExampleSite) -> None:
    assert refused(fetch, site.url("/status/302")).status == 502


@pytest.mark.parametrize(
    ("url", "status"),
    [
        ("ftp://example.com/", 422),
        ("ext://package/function", 422),
        ("example.com", 422),
        ("http://user:pw@example.com/", 422),
        ("http://127.0.0.1/", 403),
        ("http://localhost/", 403),
        ("http://169.254.169.254/latest/meta-data/", 403),
        ("http://example.com:6379/", 403),
    ],
)
def test_an_address_that_may_not_be_fetched_is_refused(fetch: Fetch, url: str, status: int) -> None:
    assert refused(fetch, url).status == status


def test_a_failure_of_the_net_keeps_its_status(site: ExampleSite) -> None:
    allow = Policy(allow=[site.authority])
    assert refused(Fetch(allow), site.url("/huge")).status == 413
    assert refused(Fetch(allow, Limits(total_seconds=0.2)), site.url("/slow")).status == 504
    assert refused(Fetch(allow), site.url("/redirect?to=http://10.0.0.1/")).msg.startswith("redirect 1: ")
    assert refused(Fetch(allow), site.url("/redirect?to=http://10.0.0.1/")).status == 403
    assert refused(Fetch(allow), site.url("/redirect?to=file:///etc/passwd")).status == 502
    assert refused(Fetch(client=Client(resolver=lambda _host: [])), "http://no.test/").status == 502


def test_a_busy_site_is_retried_twice_and_then_answers(fetch: Fetch, site: ExampleSite) -> None:
    for _ in range(2):
        with pytest.raises(RetryLater) as caught:
            run(fetch, site.url("/guild.html"))
        assert caught.value.after == 0.0
    assert "first Saturday" in run(fetch, site.url("/guild.html")).content
    assert site.requests == ["/guild.html"] * 3


@pytest.mark.parametrize(("header", "after"), [("Retry-After: 7", 7.0), ("Retry-After: soon", None), ("X: y", None)])
def test_too_many_requests_wait_as_long_as_the_site_says(header: str, after: float | None) -> None:
    with pytest.raises(RetryLater) as caught:
        served(plain(b"", header, status="429 Slow Down"))
    assert caught.value.after == after


def test_a_cancelled_target_raises_the_cancellation(fetch: Fetch, site: ExampleSite) -> None:
    ctx = Context()
    with ThreadPoolExecutor() as pool:
        future = pool.submit(run, fetch, site.url("/slow"), None, ctx)
        assert site.slow_started.wait(10)
        ctx.cancel("the job was cancelled")
        assert isinstance(future.exception(timeout=10), Cancelled)


class Dawdling(Client):
    """A client that hands its response over when the target's time is over, or when it was cancelled."""

    def __init__(self, server: RawServer, limits: Limits | None = None, cancels: Context | None = None) -> None:
        super().__init__(Policy(allow=[server.authority]), limits)
        self._cancels = cancels

    @override
    def get(
        self, ctx: Context, url: str, headers: Mapping[str, str] | None = None, *, wanted: Wanted | None = None
    ) -> Response:
        response = super().get(ctx, url, headers, wanted=wanted)
        if self._cancels is not None:
            self._cancels.cancel("enough")
        ctx.wait(60)
        return response


# What is left to do once the response is there: to extract, to select, to do both, or nothing.
REST = [
    ("text/html", Options()),
    ("text/html", Options(mode="html", grep="warp")),
    ("text/html", Options(mode="raw")),
    ("text/plain", Options()),
    ("text/plain", Options(grep="warp")),
]
BODY = b"<p>warp and weft</p>\n" * 100


@pytest.mark.parametrize(("content_type", "options"), REST)
def test_one_deadline_covers_get_and_extract_and_select(content_type: str, options: Options) -> None:
    with RawServer(plain(BODY, f"Content-Type: {content_type}")) as server:
        error = refused(Fetch(client=Dawdling(server, Limits(total_seconds=1))), server.url(), options)
    assert error.status == 504
    assert "in time" in error.msg
    assert "smaller" in error.hint


@pytest.mark.parametrize(("content_type", "options"), REST)
def test_the_deadline_of_the_turn_covers_them_too(content_type: str, options: Options) -> None:
    with RawServer(plain(BODY, f"Content-Type: {content_type}")) as server, pytest.raises(TargetError) as caught:
        run(Fetch(client=Dawdling(server)), server.url(), options, Context(timeout=1))
    assert caught.value.status == 504


@pytest.mark.parametrize(("content_type", "options"), REST)
def test_a_cancellation_ends_what_is_left_to_do(content_type: str, options: Options) -> None:
    ctx = Context()
    with RawServer(plain(BODY, f"Content-Type: {content_type}")) as server, pytest.raises(Cancelled, match="enough"):
        run(Fetch(client=Dawdling(server, cancels=ctx)), server.url(), options, ctx)


def test_one_fetch_serves_many_threads(fetch: Fetch, site: ExampleSite) -> None:
    paths = ["/index.html", "/twill.html", "/looms.html", "/drafts.json"] * 5
    with ThreadPoolExecutor(8) as pool:
        titles = list(pool.map(lambda path: run(fetch, site.url(path)).meta["url"], paths))
    assert titles == [site.url(path) for path in paths]


def test_a_client_and_a_policy_are_one_too_many() -> None:
    with pytest.raises(ValueError, match="not both"):
        Fetch(Policy(), client=Client())


# Log


def test_no_log_line_holds_a_url_or_a_host(
    fetch: Fetch, site: ExampleSite, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    works: list[Callable[[], object]] = [
        lambda: run(fetch, site.url("/index.html")),
        lambda: run(fetch, site.url("/twill.html"), Options(mode="html", grep="twill")),
        lambda: refused(fetch, site.url("/gone.html")),
        lambda: refused(fetch, site.url("/status/500")),
        lambda: refused(fetch, site.url("/huge")),
        lambda: refused(fetch, site.url("/redirect?to=//10.0.0.1/")),
        lambda: refused(fetch, site.url("/index.html"), Options(grep="(")),
        lambda: refused(fetch, "http://user:pw@example.com/"),
        lambda: served(plain(b"", "Content-Type: text/html")),
        lambda: served(plain(b"<a href='http://inside.example/'>" * 300, "Content-Type: text/html")),
        lambda: served(plain(b"<html lang='xx'><p>a</p>", "Content-Type: text/html; charset=nonsense")),
    ]
    for work in works:
        work()
    assert caplog.records == []
    assert capfd.readouterr() == ("", "")


def test_the_example_site_holds_what_is_slow_until_it_is_released(fetch: Fetch, site: ExampleSite) -> None:
    done = threading.Event()
    with ThreadPoolExecutor() as pool:
        future = pool.submit(run, fetch, site.url("/slow"))
        future.add_done_callback(lambda _future: done.set())
        assert site.slow_started.wait(10)
        assert not done.is_set()
        site.release()
        assert future.result(10).content == "Slowly, slowly.\n"
