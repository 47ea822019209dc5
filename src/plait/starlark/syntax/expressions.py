"""The parser's lower half: expressions, by precedence climbing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NoReturn

from plait.starlark.syntax import nodes as n

if TYPE_CHECKING:
    from plait.starlark.syntax.scanner import Tokens
    from plait.starlark.syntax.source import Source

__all__ = ["Expressions"]

_PRECEDENCE: Final = {
    "or": 1, "and": 2, "==": 4, "!=": 4, "<": 4, ">": 4, "<=": 4, ">=": 4, "in": 4, "not in": 4,
    "|": 5, "^": 6, "&": 7, "<<": 8, ">>": 8, "+": 9, "-": 9, "*": 10, "/": 10, "//": 10, "%": 10,
}  # fmt: skip
_NOT: Final = 3
_COMPARISON: Final = 4

_CHAIN_MAX: Final = 250
"""Most suffixes (``.name``, ``[…]``, ``(…)``) in a row, and most signs before an operand."""
_TERMS_MAX: Final = 5_000
"""Most operators of one precedence in a row."""
_ENDS_LIST: Final = frozenset(
    {"end of file", "newline", ")", "]", "}", "=", ";", ":", "+=", "-=", "*=", "/=", "//=", "%=", "in"}
)
_LITERALS: Final = frozenset({"int", "float", "string", "bytes"})
_QUOTED: Final = frozenset({"string", "bytes"})


class Expressions:
    """Reads expressions off the tokens; the statements are the subclass's.

    Args:
        source: The file, for errors.
        tokens: Its tokens.
    """

    __slots__ = ("at", "kind", "kinds", "offsets", "source", "values")

    def __init__(self, source: Source, tokens: Tokens) -> None:
        self.source = source
        self.kinds = tokens.kinds
        self.values = tokens.values
        self.offsets = tokens.offsets
        self.at = 0
        self.kind = self.kinds[0]

    @property
    def offset(self) -> int:
        """Where the current token starts."""
        return self.offsets[self.at]

    @property
    def value(self) -> Any:
        """The current token's value."""
        return self.values[self.at]

    def advance(self) -> int:
        """Go on to the next token; return where this one starts."""
        at = self.at
        self.at = at + 1
        self.kind = self.kinds[at + 1] if at + 1 < len(self.kinds) else "end of file"
        return self.offsets[at]

    def expect(self, kind: str) -> int:
        """Go on if the current token is of this kind; return where it starts.

        Raises:
            ParseError: It is of another.
        """
        if self.kind != kind:
            self._unexpected(kind)
        return self.advance()

    def fail(self, message: str) -> NoReturn:
        """Refuse the current token."""
        raise self.source.error(message, self.offset)

    def fail_at(self, message: str, offset: int) -> NoReturn:
        """Refuse what stands at an offset."""
        raise self.source.error(message, offset)

    def shown(self) -> str:
        """Return the current token as errors name it."""
        kind = self.kind
        if kind == "name":
            return "identifier"
        if kind in _LITERALS:
            return f"{kind} literal"
        return kind if kind.isalpha() or " " in kind else f"'{kind}'"

    def _unexpected(self, want: str) -> NoReturn:
        shown = want if want.isalpha() else f"'{want}'"
        hint = self._hint(want)
        self.fail(f"got {self.shown()}, want {shown}" + (f" ({hint})" if hint else ""))

    def _hint(self, want: str) -> str:  # noqa: PLR0911 - one return for each case
        """Return what somebody who knows Python should know here."""
        before = self.kinds[self.at - 1] if self.at else ""
        if self.kind in _QUOTED:
            if before in _QUOTED:
                return "adjacent string literals are not joined in Starlark: put + between them"
            if before == "name" and self.values[self.at - 1].lower() in (
                "f",
                "t",
                "u",
                "fr",
                "rf",
                "br",
                "tr",
                "r",
                "b",
                "rb",
            ):
                return (
                    f'strings with the prefix {self.values[self.at - 1]} are not Starlark: use "…" % x or "…".format(x)'
                )
        if self.kind == "**":
            return "** is not an operator in Starlark"
        if self.kind == "for":
            return "generator expressions are not Starlark: use a list comprehension"
        if self.kind == ":" and want == "newline":
            return "type annotations are not Starlark"
        if want == ":" and self.kind in (",", "}"):
            return "set displays are not Starlark: use set([…])"
        if self.kind == "=" and want == "newline":
            return "chained assignment is not Starlark: assign one after the other"
        return ""

    def name(self) -> str:
        """Read a name."""
        if self.kind != "name":
            self.fail(
                f"got {self.shown()}, want identifier" if self.kind.isalpha() else f"got {self.shown()}, want name"
            )
        name: str = self.value
        self.advance()
        return name

    def expression(self, *, trailing_comma: bool = False) -> n.Node:
        """Read a test, or several with commas between: a tuple."""
        offset = self.offset
        first = self.test()
        if self.kind != ",":
            return first
        return n.Tuple(offset, self._more(first, trailing_comma=trailing_comma))

    def _more(self, first: n.Node, *, trailing_comma: bool) -> list[n.Node]:
        items = [first]
        while self.kind == ",":
            comma = self.advance()
            if self.kind in _ENDS_LIST:
                if not trailing_comma:
                    self.fail_at("unparenthesized tuple with trailing comma", comma)
                break
            items.append(self.test())
        return items

    def test(self) -> n.Node:
        """Read an expression without commas."""
        if self.kind == "lambda":
            return self._lambda(conditional=True)
        x = self.binary(1)
        if self.kind != "if":
            return x
        offset = self.advance()
        test = self.binary(1)
        if self.kind != "else":
            self.fail("conditional expression without else clause")
        self.advance()
        return n.Conditional(offset, test, x, self.test())

    def _test_without_conditional(self) -> n.Node:
        return self._lambda(conditional=False) if self.kind == "lambda" else self.binary(1)

    def _lambda(self, *, conditional: bool) -> n.Node:
        offset = self.advance()
        parameters = self.parameters(":")
        self.expect(":")
        start = self.offset
        body = self.test() if conditional else self._test_without_conditional()
        return n.Lambda(offset, n.Function(offset, "lambda", parameters, [n.Return(start, body)]))

    def binary(self, minimum: int) -> n.Node:
        """Read operands and the operators between them that bind at least so strongly."""
        if self.kind == "not" and minimum <= _NOT:  # noqa: SIM108 - the longer form is read more easily
            x = self._not()
        else:
            x = self.operand()
        precedence_of, terms = _PRECEDENCE.get, 0
        while True:
            operator = self.kind
            if operator == "not":
                operator = "not in"
                if self.kinds[self.at + 1] != "in":
                    self.advance()
                    self.fail(f"got {self.shown()}, want in")
            precedence = precedence_of(operator)
            if precedence is None or precedence < minimum:
                return x
            offset = self.advance()
            if operator == "not in":
                self.advance()
            x = n.Binary(offset, operator, x, self.binary(precedence + 1))
            terms += 1
            if terms > _TERMS_MAX:
                self.fail(f"too many operators in a row (at most {_TERMS_MAX})")
            if precedence == _COMPARISON and (following := self._comparison()):
                self.fail(f"{operator} does not associate with {following} (use parens)")

    def _comparison(self) -> str:
        """Return the comparison that stands here, empty for anything else."""
        if self.kind == "not" and self.kinds[self.at + 1] == "in":
            return "not in"
        return self.kind if _PRECEDENCE.get(self.kind) == _COMPARISON else ""

    def _not(self) -> n.Node:
        offsets = []
        while self.kind == "not":
            offsets.append(self.advance())
            if len(offsets) > _CHAIN_MAX:
                self.fail(f"too many signs in a row (at most {_CHAIN_MAX})")
        x = self.binary(_NOT + 1)
        for offset in reversed(offsets):
            x = n.Unary(offset, "not", x)
        return x

    def operand(self) -> n.Node:
        """Read an operand with its signs before and its suffixes behind."""
        if self.kind in ("-", "+", "~"):
            return self._signed()
        x = self._primary()
        suffixes = 0
        while (kind := self.kind) in (".", "[", "("):
            if kind == ".":
                offset = self.advance()
                x = n.Attribute(offset, x, self.name())
            elif kind == "(":
                start = self.offsets[self.at - 1]
                x = self._call(x, start)
            else:
                x = self._subscript(x)
            suffixes += 1
            if suffixes > _CHAIN_MAX:
                self.fail(f"too many suffixes in a row (at most {_CHAIN_MAX})")
        return x

    def _signed(self) -> n.Node:
        signs = []
        while self.kind in ("-", "+", "~"):
            signs.append((self.kind, self.advance()))
            if len(signs) > _CHAIN_MAX:
                self.fail(f"too many signs in a row (at most {_CHAIN_MAX})")
        x = self.operand()
        for operator, offset in reversed(signs):
            x = n.Unary(offset, operator, x)
        return x

    def _primary(self) -> n.Node:  # noqa: RET503 - the last call never returns
        kind = self.kind
        if kind == "name":
            at = self.at
            self.advance()
            return n.Name(self.offsets[at], self.values[at])
        if kind in _LITERALS:
            at = self.at
            self.advance()
            if kind in _QUOTED and self.kind in _QUOTED:
                self._unexpected("newline")
            return n.Literal(self.offsets[at], self.values[at])
        if kind == "(":
            return self._parenthesised()
        if kind == "[":
            return self._list()
        if kind == "{":
            return self._dict()
        hint = " (it is allowed only before an argument or a parameter)" if kind in ("*", "**") else ""
        self.fail(f"got {self.shown()}, want primary expression{hint}")

    def _parenthesised(self) -> n.Node:
        offset = self.advance()
        if self.kind == ")":
            self.advance()
            return n.Tuple(offset, [])
        x = self.expression(trailing_comma=True)
        self.expect(")")
        if type(x) is n.Tuple:
            x.offset = offset
            return x
        return n.Paren(offset, x)

    def _list(self) -> n.Node:
        offset = self.advance()
        if self.kind == "]":
            self.advance()
            return n.List(offset, [])
        first = self.test()
        if self.kind == "for":
            return self._comprehension(offset, first, None, 0, "]")
        items = self._more(first, trailing_comma=True) if self.kind == "," else [first]
        self.expect("]")
        return n.List(offset, items)

    def _dict(self) -> n.Node:
        offset = self.advance()
        entries: list[tuple[int, n.Node, n.Node]] = []
        while self.kind != "}":
            key = self.test()
            colon = self.expect(":")
            value = self.test()
            if self.kind == "for" and not entries:
                return self._comprehension(offset, key, value, colon, "}")
            entries.append((colon, key, value))
            if self.kind != ",":
                break
            self.advance()
        self.expect("}")
        return n.Dict(offset, entries)

    def _comprehension(self, offset: int, element: n.Node, value: n.Node | None, colon: int, closing: str) -> n.Node:
        clauses: list[n.ForClause | n.IfClause] = []
        while self.kind != closing:
            start = self.offset
            if self.kind == "for":
                self.advance()
                target = self.loop_variables()
                self.expect("in")
                clauses.append(n.ForClause(start, target, self.binary(1)))
            elif self.kind == "if":
                self.advance()
                clauses.append(n.IfClause(start, self._test_without_conditional()))
            else:
                self.fail(f"got {self.shown()}, want '{closing}', for, or if")
        self.advance()
        return n.Comprehension(offset, element, value, colon, clauses)

    def loop_variables(self) -> n.Node:
        """Read what stands between ``for`` and ``in``."""
        offset = self.offset
        first = self.operand()
        if self.kind != ",":
            return first
        items = [first]
        while self.kind == ",":
            self.advance()
            items.append(self.operand())
        return n.Tuple(offset, items)

    def _subscript(self, x: n.Node) -> n.Node:
        offset = self.advance()
        low = high = step = None
        if self.kind != ":":
            low = self.expression()
            if self.kind == "]":
                self.advance()
                return n.Index(offset, x, low)
        self.expect(":")
        if self.kind not in (":", "]"):
            high = self.test()
        if self.kind == ":":
            self.advance()
            if self.kind != "]":
                step = self.test()
        self.expect("]")
        return n.Slice(offset, x, low, high, step)

    def _call(self, function: n.Node, start: int) -> n.Node:
        offset = self.advance()
        arguments: list[tuple[str, str, n.Node, int]] = []
        while self.kind != ")":
            arguments.append(self._argument())
            if self.kind != ",":
                break
            self.advance()
        self.expect(")")
        return n.Call(offset, start, function, arguments)

    def _argument(self) -> tuple[str, str, n.Node, int]:
        offset = self.offset
        if self.kind in ("*", "**"):
            kind = self.kind
            self.advance()
            return kind, "", self.test(), offset
        if self.kind == "name" and self.kinds[self.at + 1] == "=":
            name = self.name()
            self.advance()
            return "=", name, self.test(), offset
        value = self.test()
        if self.kind == "=":
            self.fail("keyword argument must have form name=expr")
        return "", "", value, offset

    def parameters(self, closing: str) -> list[n.Parameter]:
        """Read the parameters of a function up to the token after them."""
        parameters: list[n.Parameter] = []
        while self.kind != closing:
            parameters.append(self._parameter())
            if self.kind != ",":
                break
            comma = self.advance()
            if self.kind == ":" == closing:
                self.fail_at("got ',', want ':'", comma)
        return parameters

    def _parameter(self) -> n.Parameter:
        offset = self.offset
        if self.kind == "*":
            self.advance()
            named = self.kind == "name"
            return n.Parameter(self.offset if named else offset, "*", self.name() if named else "", None, offset)
        if self.kind == "**":
            self.advance()
            at = self.offset
            return n.Parameter(at, "**", self.name(), None, offset)
        if self.kind == "/":
            self.fail("positional-only parameters ('/') are not Starlark")
        name = self.name()
        if self.kind != "=":
            return n.Parameter(offset, "", name, None, offset)
        operator = self.advance()
        return n.Parameter(offset, "", name, self.test(), operator)
