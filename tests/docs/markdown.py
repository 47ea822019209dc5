"""What the tests of documents read in a Markdown file: its blocks, inline code, links and tables."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.token import Token

__all__ = [
    "ROOT",
    "Block",
    "anchors",
    "blocks",
    "documents",
    "inline_code",
    "links",
    "rows",
    "says",
    "tracked",
]

ROOT: Final = Path(__file__).resolve().parents[2]
_PARSER: Final = MarkdownIt("commonmark").enable("table")


@dataclass(frozen=True)
class Block:
    """A block of code.

    Args:
        language: The word after its opening fence; empty if there is none.
        code: What is in it.
        line: The line of the file where it starts, from 1.
        output: What the text block right behind it says it prints; ``None`` without such a block.
    """

    language: str
    code: str
    line: int
    output: str | None = None


def tracked(pattern: str = "*") -> list[Path]:
    """The repository's files that match a Git pathspec, and new ones that Git does not ignore."""
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", pattern]
    names = subprocess.run(listing, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return sorted(path for name in names.split("\0") if name and (path := ROOT / name).is_file())


def documents() -> list[Path]:
    """The Markdown files that speak to a reader: not those that an example works on."""
    return [
        path
        for path in tracked("*.md")
        if path.parent == ROOT or path.name == "README.md" or path.is_relative_to(ROOT / "docs")
    ]


def blocks(text: str) -> list[Block]:
    """The blocks of code, each with the output that follows it, a paragraph in between at most."""
    tokens = [token for token in _PARSER.parse(text) if token.level == 0 or token.type in {"fence", "code_block"}]
    return [
        Block(_language(token), token.content, (token.map or [0])[0] + 1, _output(tokens[place + 1 :]))
        for place, token in enumerate(tokens)
        if token.type in {"fence", "code_block"}
    ]


def _language(token: Token) -> str:
    return token.info.split()[0] if token.info.split() else ""


def _output(following: list[Token]) -> str | None:
    """The text block among the next tokens."""
    if [token.type for token in following[:2]] == ["paragraph_open", "paragraph_close"]:
        following = following[2:]
    if following and following[0].type == "fence" and _language(following[0]) in {"text", "output"}:
        return following[0].content
    return None


def _inlines(text: str) -> Iterator[Token]:
    for token in _PARSER.parse(text):
        yield from token.children or ()


def inline_code(text: str) -> list[str]:
    """What stands between backticks, without the blocks."""
    return [token.content for token in _inlines(text) if token.type == "code_inline"]


def links(text: str) -> list[str]:
    """Where links and pictures point to."""
    found = [token.attrGet("href") or token.attrGet("src") for token in _inlines(text)]
    return [str(target) for target in found if target]


def anchors(text: str) -> set[str]:
    """The names by which a link can point to the headings."""
    tokens = _PARSER.parse(text)
    headings = [tokens[place + 1].content for place, token in enumerate(tokens) if token.type == "heading_open"]
    kept = ("".join(c for c in heading.lower() if c.isalnum() or c in " -_") for heading in headings)
    return {name.strip().replace(" ", "-") for name in kept}


def rows(text: str) -> list[list[str]]:
    """The rows of all tables, heads included, each a list of the cells' source."""
    table: list[list[str]] = []
    inside = ""
    for token in _PARSER.parse(text):
        if token.type == "tr_open":
            table.append([])
        if token.type == "inline" and inside in {"th_open", "td_open"}:
            table[-1].append(token.content)
        inside = token.type
    return table


def says(expected: str, printed: str) -> bool:
    """Whether a text was printed; ``...`` and ``…`` in it stand for anything."""
    parts = re.split(r"\.\.\.|…", expected.strip())
    return re.fullmatch(".*".join(map(re.escape, parts)), printed.strip(), re.DOTALL) is not None
