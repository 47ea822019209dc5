"""The scanner: a file's characters to its tokens."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from plait.starlark.syntax.literals import decode_string, number_value

if TYPE_CHECKING:
    from plait.starlark.syntax.source import Source

__all__ = ["RESERVED", "Tokens", "scan"]

KEYWORDS: Final = frozenset(
    "and break continue def elif else for if in lambda load not or pass return while".split()  # noqa: SIM905 - a list to read
)
RESERVED: Final = frozenset(
    "as assert class del except finally from global import is nonlocal raise try with yield".split()  # noqa: SIM905 - a list to read
)

_NESTING_MAX: Final = 100
"""Most brackets open at once, and most levels of indentation."""

_TOKEN: Final = re.compile(
    r"""[ \t]*(?:
    (?P<name>[^\W\d]\w*(?!["'\w]))
    |(?P<op>\*\*|//=?|<<=?|>>=?|[-+*/%&|^<>=!]=|[-+*/%&|^<>=,;:~]|\.(?!\d))
    |(?P<open>[(\[{])
    |(?P<close>[)\]}])
    |(?P<newline>\n(?:[ \t]*(?:\#[^\n]*)?\n)*(?P<indent>[ \t]*)(?P<blank>\#[^\n]*)?)
    |(?P<string>(?P<prefix>rb|r|b|)(?P<quote>\"{3}|'{3}|["']))
    |(?P<number>(?:0[xX]\w*|0[oO]\w*|0[bB]\w*|(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?:(?!(?:and|for|if|in|not|or)\b)\w)*))
    |(?P<comment>\#[^\n]*)
    |(?P<continuation>\\\n)
    |(?P<end>\Z)
    |(?P<name2>[^\W\d]\w*)
    )""",
    re.VERBOSE,
)

_BODY: Final = {
    '"': re.compile(r'[^"\\\n]*(?:\\(?:.|\n)[^"\\\n]*)*'),
    "'": re.compile(r"[^'\\\n]*(?:\\(?:.|\n)[^'\\\n]*)*"),
    '"""': re.compile(r'[^"\\]*(?:(?:\\(?:.|\n)|"(?!""))[^"\\]*)*'),
    "'''": re.compile(r"[^'\\]*(?:(?:\\(?:.|\n)|'(?!''))[^'\\]*)*"),
}

_CLOSERS: Final = {"(": ")", "[": "]", "{": "}"}


class Tokens:
    """A file's tokens as three lists in step: what each is, its value, and where it starts.

    A keyword or an operator is its own text; the others are ``name``, ``int``, ``float``, ``string``, ``bytes``,
    ``newline``, ``indent``, ``outdent`` and ``end of file``.
    """

    __slots__ = ("kinds", "offsets", "values")

    def __init__(self) -> None:
        self.kinds: list[str] = []
        self.values: list[Any] = []
        self.offsets: list[int] = []


def scan(source: Source) -> Tokens:
    """Split a file into tokens.

    Args:
        source: The file.

    Returns:
        Its tokens, the last of them ``end of file``.

    Raises:
        ParseError: A character, a literal or an indentation is not Starlark.
    """
    return _Scanner(source).scan()


class _Scanner:
    __slots__ = ("at", "brackets", "indents", "source", "text", "tokens")

    def __init__(self, source: Source) -> None:
        self.source = source
        self.text = source.text
        self.tokens = Tokens()
        self.at = 0
        self.brackets: list[str] = []
        self.indents = [0]

    def scan(self) -> Tokens:  # one thing: the dispatch over the kinds of token
        kinds, values, offsets = self.tokens.kinds, self.tokens.values, self.tokens.offsets
        kind_add, value_add, offset_add = kinds.append, values.append, offsets.append
        match, text, keywords, reserved = _TOKEN.match, self.text, KEYWORDS, RESERVED
        self._first_indent()
        at = self.at
        while found := match(text, at):
            group = found.lastgroup
            start, at = found.span(group)  # type: ignore[arg-type]  # lastgroup is a group's name: each alternative has one
            if group == "name" or group == "name2":  # noqa: PLR1714 - the fast form
                name = text[start:at]
                if name in keywords:
                    kind_add(name)
                elif name in reserved:
                    raise self.source.error(f"{name} is a reserved word", start)
                else:
                    kind_add("name")
                value_add(name)
                offset_add(start)
            elif group == "op":
                kind_add(text[start:at])
                value_add(None)
                offset_add(start)
            elif group == "newline":
                if not self.brackets:
                    self._newline(found, start)
            elif group == "string":
                at = self._string(found, start)
            elif group == "number":
                kind, value = number_value(self.source, text[start:at], start)
                kind_add(kind)
                value_add(value)
                offset_add(start)
            elif group == "open" or group == "close":  # noqa: PLR1714 - the fast form
                self._bracket(text[start], start)
            elif group == "end":
                return self._finish()
        raise self._bad_character(at)

    def _bad_character(self, at: int) -> Exception:
        while self.text[at] in " \t":
            at += 1
        character = self.text[at]
        if character in "'\"":
            return self.source.error("unexpected quote", at)
        if character == "\\":
            return self.source.error("stray backslash", at)
        shown = repr(character) if character.isprintable() else f"U+{ord(character):04X}"
        return self.source.error(f"unexpected input character {shown}", at)

    def _add(self, kind: str, value: Any, offset: int) -> None:
        self.tokens.kinds.append(kind)
        self.tokens.values.append(value)
        self.tokens.offsets.append(offset)

    def _first_indent(self) -> None:
        found = re.compile(r"(?:[ \t]*(?:#[^\n]*)?\n)*([ \t]*)(#[^\n]*)?").match(self.text)
        if found is None:  # cannot be: every part of it may be empty
            return
        self.at = found.end()
        if found[1] and found[2] is None and self.at < len(self.text):
            self._indent(found[1], self.at)

    def _newline(self, found: re.Match[str], start: int) -> None:
        if self.tokens.kinds and self.tokens.kinds[-1] not in ("newline", "indent", "outdent"):
            self._add("newline", None, start)
        if found["blank"] is None and found.end() < len(self.text):
            self._indent(found["indent"], found.end())

    def _indent(self, blanks: str, offset: int) -> None:
        column = len(blanks) if "\t" not in blanks else len(blanks.expandtabs(8))
        if column == self.indents[-1]:
            return
        if column > self.indents[-1]:
            if len(self.indents) > _NESTING_MAX:
                raise self.source.error(f"too many levels of indentation (at most {_NESTING_MAX})", offset)
            self.indents.append(column)
            self._add("indent", None, offset)
            return
        while column < self.indents[-1]:
            self.indents.pop()
            self._add("outdent", None, offset)
        if column != self.indents[-1]:
            raise self.source.error("unindent does not match any outer indentation level", offset)

    def _bracket(self, bracket: str, offset: int) -> None:
        if bracket in _CLOSERS:
            if len(self.brackets) >= _NESTING_MAX:
                raise self.source.error(f"too many nested brackets (at most {_NESTING_MAX})", offset)
            self.brackets.append(_CLOSERS[bracket])
        elif not self.brackets:
            raise self.source.error(f"unexpected '{bracket}'", offset)
        elif self.brackets.pop() != bracket:
            raise self.source.error(f"'{bracket}' does not close the bracket that is open here", offset)
        self._add(bracket, None, offset)

    def _string(self, found: re.Match[str], start: int) -> int:
        quote, at = found["quote"], found.end()
        body = _BODY[quote].match(self.text, at)
        end = body.end() if body else at
        if not self.text.startswith(quote, end):
            what = "end of file" if len(quote) == 3 or end >= len(self.text) else "newline"
            raise self.source.error(f"unexpected {what} in string: the quote that opens here is never closed", start)
        raw = self.text[at:end]
        is_bytes = "b" in found["prefix"]
        value: Any = raw
        if is_bytes or "\\" in raw:
            value = decode_string(self.source, raw, at, raw="r" in found["prefix"], is_bytes=is_bytes)
        self._add("bytes" if is_bytes else "string", value, start)
        return end + len(quote)

    def _finish(self) -> Tokens:
        end = len(self.text)
        if self.brackets:
            raise self.source.error(f"got end of file, want '{self.brackets[-1]}'", end)
        if self.tokens.kinds and self.tokens.kinds[-1] not in ("newline", "outdent"):
            self._add("newline", None, end)
        for _ in self.indents[1:]:
            self._add("outdent", None, end)
        self._add("end of file", None, end)
        return self.tokens
