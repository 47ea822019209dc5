"""Extraction: from a page's HTML to its main content as Markdown, text or HTML, in bounded time."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import trafilatura

from plait.fetch.charset import storable
from plait.net.silence import silence, silenced

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plait.context import Context

__all__ = ["MODES", "Page", "extract_page", "page_title", "plain_text"]

silence("trafilatura", "htmldate", "courlan", "justext", "charset_normalizer")

MODES: Final = {"markdown": "markdown", "text": "txt", "html": "html"}
"""A mode of ours → the output format that the extractor calls it."""

_MAX_TITLE: Final = 300
# The extractor's time grows with the square of some of these; a page beyond any is only stripped of its tags.
_MAX_CHARS: Final = 2 * 1024 * 1024
_MAX_TAGS: Final = 20_000
_MAX_DEPTH: Final = 200
_LONG_TAG: Final = 4096
_MAX_ATTRIBUTES: Final = 500

_QUOTED: Final = re.compile(r"\"[^\"]*\"|'[^']*'")
_BLANKS: Final = re.compile(r"[ \t\f\r\xa0]+")
_EMPTY_LINES: Final = re.compile(r"\n\s*\n")
_TAG_START: Final = re.compile(r"<(?:/?([a-zA-Z][a-zA-Z0-9-]{0,30})|[/!?])")
_TITLE: Final = re.compile(r"<title\b", re.IGNORECASE)
_PIECE: Final = 256 * 1024  # characters between two looks at the context
# Elements that hold nothing, and those that a page may leave open: neither makes a page deeper.
_FLAT: Final = frozenset(
    {
        "area", "base", "body", "br", "caption", "col", "colgroup", "dd", "dt", "embed", "head",
        "hr", "html", "img", "input", "li", "link", "meta", "optgroup", "option", "p", "param",
        "rp", "rt", "source", "tbody", "td", "tfoot", "th", "thead", "tr", "track", "wbr",
    }
)  # fmt: skip  # one name a line would be fifty lines
_RAW: Final = frozenset({"script", "style"})
_UNSEEN: Final = _RAW | {"template", "noscript", "svg", "head", "title"}
_END_TAGS: Final = {name: re.compile(rf"</{name}\b", re.IGNORECASE) for name in _UNSEEN}
_BLOCKS: Final = frozenset(
    {
        "address", "article", "aside", "blockquote", "br", "caption", "dd", "div", "dl", "dt",
        "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6",
        "header", "hr", "legend", "li", "main", "nav", "ol", "option", "p", "pre", "section",
        "summary", "table", "td", "th", "tr", "ul",
    }
)  # fmt: skip  # one name a line would be fifty lines


@dataclass(frozen=True)
class Page:
    """What extraction made of a page.

    Args:
        content: The content in the mode asked for.
        main: True when a main content was found, False when ``content`` is all of the page's text.
    """

    content: str
    main: bool


def extract_page(ctx: Context, source: str, mode: str, url: str) -> Page:
    """Take the main content out of a page; without one, all of its text. Never fails on what a page holds.

    The extractor itself cannot be interrupted, so it is given pages that it will soon be done with; whatever
    else is done to a page ends with the context.

    Args:
        ctx: Ends the work when it ends.
        source: The page's HTML.
        mode: One of ``MODES``.
        url: The page's own, against which its links are resolved; nothing is fetched.

    Raises:
        ContextError: The context ended.
    """
    content = _main_content(source, MODES[mode], url) if _is_sane(ctx, source) else None
    ctx.check()
    if content is not None and content.strip():
        return Page(storable(content.strip()), main=True)
    text = storable(plain_text(ctx, source))
    return Page(_as_html(ctx, text) if mode == "html" else text, main=False)


def plain_text(ctx: Context, source: str) -> str:
    """All text of a page without its tags, in time linear in its length.

    Args:
        ctx: Ends the work when it ends.
        source: HTML, however broken.

    Raises:
        ContextError: The context ended.
    """
    found: list[str] = []
    for text, name, _ in _tokens(ctx, source, _UNSEEN):
        found.append(text)
        if name in _BLOCKS:
            found.append("\n")
    text = "".join(_unescaped(piece) for piece in _pieces(ctx, "".join(found), "&"))
    text = _EMPTY_LINES.sub("\n\n", text)  # before the loop over lines: a page may be made of nothing else
    return "".join(_stripped_lines(piece) for piece in _pieces(ctx, text, "\n")).strip()


def _stripped_lines(text: str) -> str:
    return "\n".join(map(str.strip, _BLANKS.sub(" ", text).split("\n")))


def _pieces(ctx: Context, text: str, mark: str) -> Iterator[str]:
    """``text`` in pieces, each but the first beginning with ``mark``, with a look at the context before each."""
    at = 0
    while at < len(text):
        ctx.check()
        end = text.find(mark, at + _PIECE)
        end = len(text) if end < 0 else end
        yield text[at:end]
        at = end


def _main_content(source: str, output_format: str, url: str) -> str | None:
    with silenced():
        try:
            found = trafilatura.extract(
                source,
                url=url,
                output_format=output_format,
                include_formatting=output_format != "txt",
                include_links=output_format != "txt",
                include_tables=True,
                include_comments=False,
            )
        except Exception:  # noqa: BLE001  the extractor meets hostile pages; the page's text is there without it
            return None
    return None if found is None else str(found)


def _is_sane(ctx: Context, source: str) -> bool:
    """Whether the extractor will be done with a page soon, judged in one pass over its tags."""
    if len(source) > _MAX_CHARS:
        return False
    depth = 0
    tags = ((name, tag) for _, name, tag in _tokens(ctx, source, _RAW) if tag)
    for count, (name, tag) in enumerate(tags):
        if count >= _MAX_TAGS or (len(tag) > _LONG_TAG and _attributes(tag) > _MAX_ATTRIBUTES):
            return False
        if not name or name in _FLAT or tag.endswith("/"):
            continue
        depth = max(0, depth - 1) if tag.startswith("/") else depth + 1
        if depth > _MAX_DEPTH:
            return False
    return True


def _attributes(tag: str) -> int:
    return len(_QUOTED.sub("", tag).replace("=", " ").split())


def _tokens(ctx: Context, source: str, skipped: frozenset[str]) -> Iterator[tuple[str, str, str]]:
    """Each tag with the text before it and its name, in one pass; what the ``skipped`` elements hold is left out.

    A tag that never ends ends the page, so that nothing is searched twice. A tag stands without its brackets, a
    name in lower case and without a slash; both are empty behind the last tag, the name also for a comment.
    """
    at = look = 0
    unclosed: set[str] = set()  # names whose end tag does not come any more
    while (match := _TAG_START.search(source, at)) is not None:
        if at >= look:
            ctx.check()
            look = at + _PIECE
        start = match.start()
        end = _tag_end(source, start)
        tag = source[start + 1 : end - 1]
        name = (match[1] or "").lower()
        yield source[at:start], name, tag
        at = end
        if name in skipped and name not in unclosed and not tag.startswith("/"):
            at = _behind_element(source, name, end)
            if at < 0:
                unclosed.add(name)
                at = end
    yield source[at:], "", ""


def _tag_end(source: str, start: int) -> int:
    """Behind the tag or comment that begins at ``start``; behind the page when it never ends."""
    closing = "-->" if source.startswith("<!--", start) else ">"
    found = source.find(closing, start)
    return found + len(closing) if found >= 0 else len(source)


def _behind_element(source: str, name: str, at: int) -> int:
    """Behind the element's end tag; -1 when there is none."""
    match = _END_TAGS[name].search(source, at)
    end = source.find(">", match.end()) if match else -1
    return end + 1 if end >= 0 else -1


def page_title(source: str) -> str:
    """A page's title, at most 300 characters; empty without one.

    Args:
        source: The page's HTML.
    """
    match = _TITLE.search(source)
    start = source.find(">", match.end()) + 1 if match else 0
    if start == 0:
        return ""
    end = source.find("<", start)
    raw = source[start : end if end >= 0 else None][: _MAX_TITLE * 8]
    return storable(" ".join(_unescaped(raw).split()))[:_MAX_TITLE]


def _unescaped(text: str) -> str:
    try:
        return html.unescape(text)
    except ValueError:  # a numeric reference of thousands of digits
        return text


def _as_html(ctx: Context, text: str) -> str:
    pieces = _pieces(ctx, text, "\n\n")
    paragraphs = (paragraph for piece in pieces for paragraph in piece.split("\n\n") if paragraph)
    return "\n".join(f"<p>{html.escape(paragraph)}</p>" for paragraph in paragraphs)
