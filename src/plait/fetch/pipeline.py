"""The pipeline: a FetchFunc made of get, extract and select."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Any, Final

from plait.context import DeadlineExceeded
from plait.fetch.busy import retry_after
from plait.fetch.charset import decode_text
from plait.fetch.extract import extract_page, page_title
from plait.fetch.lines import matching_lines
from plait.fetch.options import Selection, read_options
from plait.jobs.errors import RetryLater, TargetError
from plait.jobs.model import Result
from plait.net import Client, NetError

if TYPE_CHECKING:
    from plait.context import Context
    from plait.jobs.model import Caller, Target
    from plait.net import Limits, Policy, Response

__all__ = ["Fetch"]

_ACCEPT: Final = "text/html, application/xhtml+xml, application/json;q=0.9, text/*;q=0.9, */*;q=0.1"
_BUSY_HINT: Final = "the site stayed busy for as long as it was tried; ask again in some minutes"
_BUSY: Final = frozenset({429, 503})
_HTML_TYPES: Final = frozenset({"text/html", "application/xhtml+xml"})
_TEXT_TYPES: Final = frozenset(
    {
        "application/ecmascript", "application/javascript", "application/json", "application/jsonl",
        "application/ndjson", "application/sql", "application/toml", "application/x-javascript",
        "application/x-ndjson", "application/x-yaml", "application/xml", "application/yaml",
    }
)  # fmt: skip  # one type a line would be a dozen lines
_ENDLESS_TYPES: Final = frozenset({"text/event-stream"})
_TYPE: Final = re.compile(r"[a-z0-9!#$&^_.+-]{1,60}/[a-z0-9!#$&^_.+-]{1,60}")
_CHARSET: Final = re.compile(r";\s*charset\s*=\s*\"?([^\s\";]{1,40})", re.IGNORECASE)
_HTML_START: Final = re.compile(rb"\s{0,100}<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE)
_SNIFFED_BYTES: Final = 1024
_GREP_SECONDS: Final = 10.0

_STATUS_HINTS: Final = {
    400: "check the address and its query",
    401: "the site asks for credentials; use an address that is open to all",
    402: "the site asks for payment; use another source",
    403: "the site refuses; it may ask for credentials, or not want programs; use another source",
    404: "there is nothing at this address; check it, or search for the page's new one",
    405: "this address is not for reading; use another",
    406: "the site has this resource in no form that was asked for; use another address",
    407: "the site asks for a proxy; use another source",
    408: "the site was too slow; try again later",
    410: "the page is gone for good; remove the address, or look for the page's new one",
    451: "the site may not show this for legal reasons; use another source",
}
_CLIENT_HINT: Final = "check the address"
_SLOW_HINT: Final = "fetch a smaller page, or try again later"
_NO_STATUS_HINT: Final = "the site may not want programs; use another source, or try again later"
_SERVER_HINT: Final = "the site is broken at the moment; try again later"


class Fetch:
    """Does http and https targets: fetches the page, takes out its content, selects what was asked for.

    It is a FetchFunc: hand it to a ``Runner``. Nothing of it logs, so no log line holds a URL or a host.

    Args:
        policy: What may be reached; public addresses only by default.
        limits: How much one target may take; ``total_seconds`` count for get, extract and select together.
        client: The client to use, instead of one with ``policy`` and ``limits``.

    Raises:
        ValueError: Both a client and a policy or limits.
    """

    def __init__(
        self, policy: Policy | None = None, limits: Limits | None = None, *, client: Client | None = None
    ) -> None:
        if client is not None and (policy is not None or limits is not None):
            raise ValueError("Fetch takes a client, or a policy and limits for its own, not both")
        self._client = client or Client(policy, limits)

    def __call__(self, ctx: Context, caller: Caller, target: Target) -> Result:
        """Do one target.

        Args:
            ctx: Ends the work when it ends.
            caller: Not looked at: everybody fetches alike.
            target: An http or https URL with its options.

        Returns:
            The content, and in ``meta`` what else is to be known: ``status``, ``url``, ``content_type``,
            ``title``, ``bytes``, ``sha256``, ``seconds``, and where they apply ``main``, ``matches`` and ``truncated``.

        Raises:
            TargetError: It failed; the hint says what an agent can do next. 504 when the time was over.
            RetryLater: The site answered 429 or 503.
            Cancelled: The context was cancelled.
        """
        selection = read_options(target.options)
        bounded = ctx.child(self._client.limits.total_seconds)
        try:
            response = self._get(bounded, target.url)
            _check_status(response)
            bounded.check()
            return _selected(bounded, _extracted(bounded, response, selection), selection)
        except DeadlineExceeded:
            raise TargetError("the target was not done in time", _SLOW_HINT, 504) from None

    def _get(self, ctx: Context, url: str) -> Response:
        try:
            return self._client.get(ctx, url, {"Accept": _ACCEPT}, wanted=_is_wanted)
        except NetError as error:
            raise _failed(error) from error


def _failed(error: NetError) -> TargetError:
    if not error.hop:
        return TargetError(error.message, error.hint, error.status)
    # A bad URL in a redirect is the site's fault, not the caller's.
    status = 502 if error.status == 422 else error.status
    return TargetError(f"redirect {error.hop}: {error.message}", error.hint, status)


def _is_wanted(status: int, content_type: str) -> bool:
    """Whether a body is worth its bytes: not for an error, nor for a type that nobody reads."""
    return status < 400 and (not _media_type(content_type) or _kind(content_type) != "other")


def _kind(content_type: str) -> str:
    """``html``, ``text`` or ``other``."""
    media = _media_type(content_type)
    if media in _HTML_TYPES:
        return "html"
    if media in _ENDLESS_TYPES:
        return "other"
    readable = media.startswith("text/") or media in _TEXT_TYPES or media.endswith(("+json", "+xml"))
    return "text" if readable else "other"


def _media_type(content_type: str) -> str:
    media = content_type.partition(";")[0].strip().lower()
    return media if _TYPE.fullmatch(media) else ""


def _check_status(response: Response) -> None:
    status = response.status
    if not 100 <= status <= 599:
        raise TargetError(f"the site answered with status {status}, which HTTP does not have", _NO_STATUS_HINT, 502)
    if status in _BUSY:
        raise RetryLater(
            f"the site is busy (HTTP {status})", retry_after(response.header("retry-after")), hint=_BUSY_HINT
        )
    if status >= 400:
        hint = _STATUS_HINTS.get(status, _SERVER_HINT if status >= 500 else _CLIENT_HINT)
        raise TargetError(f"the site answered HTTP {status}", hint, status)
    if status >= 300:
        raise TargetError(f"the site answered HTTP {status} without saying where to go", _CLIENT_HINT, 502)


def _extracted(ctx: Context, response: Response, selection: Selection) -> Result:
    """The content in the mode asked for, with what is to be known about it."""
    content_type = response.header("content-type") or ""
    media = _media_type(content_type)
    kind = _kind(content_type) if media else _sniffed(response.body)
    if kind == "other":
        raise TargetError(
            f"the content type {media or 'unknown'} is not supported",
            "fetch a page, a text or a JSON document instead",
            415,
        )
    charset = _CHARSET.search(content_type)
    text = decode_text(response.body, charset[1] if charset else None)
    meta: dict[str, Any] = {
        "status": response.status,
        "url": response.url,
        "content_type": media,
        "title": "",
        "bytes": len(response.body),
        "sha256": hashlib.sha256(response.body).hexdigest(),
        "seconds": round(response.seconds, 3),
    }
    if kind == "html":
        meta["title"] = page_title(text)
    if kind == "text" or selection.mode == "raw":
        return Result(text, meta)
    page = extract_page(ctx, text, selection.mode, response.url)
    return Result(page.content, {**meta, "main": page.main})


def _sniffed(body: bytes) -> str:
    """The kind of a body whose server does not say: text unless it holds a NUL."""
    start = body[:_SNIFFED_BYTES]
    if _HTML_START.match(start):
        return "html"
    return "other" if b"\x00" in start else "text"


def _selected(ctx: Context, result: Result, selection: Selection) -> Result:
    if selection.pattern is None:
        return result
    try:
        matches = matching_lines(ctx.child(_GREP_SECONDS), selection.pattern, result.content)
    except DeadlineExceeded:
        ctx.check()
        raise TargetError(
            "the grep pattern takes too long on this page", "make it simpler, with fewer repetitions", 422
        ) from None
    meta = {**result.meta, "matches": matches.count}
    if matches.truncated:
        meta["truncated"] = True
    return Result(matches.text, meta)
