"""The parser: a file's tokens to its tree, by recursive descent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NoReturn

from plait.starlark.errors import ParseError
from plait.starlark.syntax import nodes as n
from plait.starlark.syntax.expressions import Expressions
from plait.starlark.syntax.scanner import scan

if TYPE_CHECKING:
    from plait.starlark.syntax.source import Source

__all__ = ["parse"]

_ASSIGNMENTS: Final = frozenset({"=", "+=", "-=", "*=", "/=", "//=", "%=", "&=", "|=", "^=", "<<=", ">>="})
_AFTER_RETURN: Final = frozenset({"newline", ";", "end of file"})


def parse(source: Source) -> list[n.Node]:
    """Read a file.

    Args:
        source: The file.

    Returns:
        Its statements.

    Raises:
        ParseError: The text is not Starlark.
    """
    try:
        return _Parser(source, scan(source)).file()
    except RecursionError:
        raise ParseError("the source is nested too deeply", source.filename, 1, 1) from None


class _Parser(Expressions):
    """Statements; expressions are the base class's."""

    __slots__ = ()

    def file(self) -> list[n.Node]:
        statements: list[n.Node] = []
        while self.kind != "end of file":
            if self.kind == "newline":
                self.advance()
            else:
                self._statement(statements)
        return statements

    def _statement(self, into: list[n.Node]) -> None:
        kind = self.kind
        if kind == "def":
            into.append(self._definition())
        elif kind == "if":
            into.append(self._if())
        elif kind == "for":
            into.append(self._for())
        elif kind == "while":
            into.append(self._while())
        else:
            self._simple(into)

    def _simple(self, into: list[n.Node]) -> None:
        while True:
            into.append(self._small())
            if self.kind != ";":
                break
            self.advance()
            if self.kind == "newline":
                break
        self.expect("newline")

    def _small(self) -> n.Node:
        kind = self.kind
        if kind == "return":
            offset = self.advance()
            return n.Return(offset, None if self.kind in _AFTER_RETURN else self.expression())
        if kind in ("break", "continue", "pass"):
            return n.Branch(self.advance(), kind)
        if kind == "load":
            return self._load()
        start = self.offset
        target = self.expression()
        if self.kind not in _ASSIGNMENTS:
            return n.ExprStatement(start, target)
        operator = self.kind
        offset = self.advance()
        value = self.expression()
        return n.Assign(offset, operator[:-1], target, value)

    def _suite(self) -> list[n.Node]:
        self.expect(":")
        body: list[n.Node] = []
        if self.kind != "newline":
            self._simple(body)
            return body
        self.advance()
        self.expect("indent")
        while self.kind not in ("outdent", "end of file"):
            self._statement(body)
        if self.kind == "outdent":
            self.advance()
        return body

    def _definition(self) -> n.Node:
        offset = self.advance()
        name_offset = self.offset
        name = self.name()
        self.expect("(")
        parameters = self.parameters(")")
        self.expect(")")
        if self.kind == "-" and self.kinds[self.at + 1] == ">":
            self.fail("type annotations are not Starlark")
        function = n.Function(offset, name, parameters, self._suite())
        return n.Definition(offset, n.Name(name_offset, name), function)

    def _if(self) -> n.Node:
        statement = tail = self._if_head()
        while self.kind == "elif":
            following = self._if_head()
            tail.otherwise = [following]
            tail = following
        if self.kind == "else":
            self.advance()
            tail.otherwise = self._suite()
        return statement

    def _if_head(self) -> n.If:
        offset = self.advance()
        test = self.test()
        return n.If(offset, test, self._suite(), [])

    def _for(self) -> n.Node:
        offset = self.advance()
        target = self.loop_variables()
        self.expect("in")
        x = self.expression()
        loop = n.ForLoop(offset, target, x, self._suite())
        self._no_else("for")
        return loop

    def _while(self) -> n.Node:
        offset = self.advance()
        test = self.test()
        loop = n.While(offset, test, self._suite())
        self._no_else("while")
        return loop

    def _no_else(self, keyword: str) -> None:
        if self.kind == "else":
            self.fail(f"a {keyword} loop has no else in Starlark")

    def _load(self) -> n.Node:
        offset = self.advance()
        opening = self.expect("(")
        if self.kind != "string":
            self.fail("first operand of load statement must be a string literal")
        module = self.value
        self.advance()
        names: list[tuple[n.Name, str, int]] = []
        while self.kind != ")":
            self.expect(",")
            if self.kind == ")":
                break
            names.append(self._loaded())
        self.advance()
        if not names:
            self.fail_at("load statement must import at least 1 symbol", opening)
        return n.Load(offset, module, names)

    def _loaded(self) -> tuple[n.Name, str, int]:
        offset, value = self.offset, self.value
        if self.kind == "string":
            self.advance()
            return n.Name(offset, value), value, offset
        if self.kind != "name":
            self._bad_loaded()
        self.advance()
        if self.kind != "=":
            self.fail(f'load operand must be "{value}" or {value}="originalname" (want \'=\' after {value})')
        self.advance()
        if self.kind != "string":
            self.fail(f'original name of loaded symbol must be quoted: {value}="originalname"')
        original, original_offset = self.value, self.offset
        self.advance()
        return n.Name(offset, value), original, original_offset

    def _bad_loaded(self) -> NoReturn:
        self.fail(f'load operand must be "name" or localname="name" (got {self.shown()})')
