"""Expressions: names, literals, operators, displays, indexing and comprehensions."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, Final

from plait.starlark.codegen import builder as b
from plait.starlark.codegen.comprehensions import Comprehensions
from plait.starlark.codegen.scope import operand, variable
from plait.starlark.resolving.bindings import LOCAL, UNIVERSAL
from plait.starlark.resolving.inference import (
    ANY,
    BOOL,
    COMPARISONS,
    FLOAT,
    INTEGERS,
    NUMBER,
    NUMERIC,
    SMALL,
    STR,
    literal_kind,
)
from plait.starlark.syntax import nodes as n
from plait.starlark.text.numbers import FREE_BITS

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Expressions"]

_CONSTANTS: Final[dict[str, tuple[str | None, str]]] = {
    "None": (None, ANY),
    "True": (".TRUE", BOOL),
    "False": (".FALSE", BOOL),
}
_SMALL_KEY: Final = 1 << 60
"""Integers below this in magnitude have hashes of their own."""
_CHAIN: Final = 24
"""A longer chain of one operator is written as a row of assignments, so that nothing nests deeply."""


class Expressions(Comprehensions):
    """Writes expressions: ``value`` for their value, ``condition`` for their truth as Python sees it."""

    def value(self, node: n.Node) -> ast.expr:
        """Write an expression for its value; sets ``kind``."""
        return _VALUE[type(node)](self, node)

    def kinded(self, node: n.Node) -> tuple[ast.expr, str]:
        """Write an expression for its value; return it with its kind."""
        result = _VALUE[type(node)](self, node)
        return result, self.kind or ANY

    def condition(self, node: n.Node) -> ast.expr:
        """Write an expression as a Python condition: what it is true for, Starlark holds true."""
        while type(node) is n.Paren:
            node = node.x
        if type(node) is n.Unary and node.operator == "not":
            self.cost += 1
            return b.negation(self.condition(node.x), self.site(node.offset))
        if type(node) is n.Binary:
            if node.operator in ("and", "or"):
                return self._junction(node)
            if node.operator in COMPARISONS:
                return self._comparison(node)
        value, kind = self.kinded(node)
        return self._truth(value, kind, self.site(node.offset))

    def _truth(self, value: ast.expr, kind: str, site: int) -> ast.expr:
        if kind in NUMERIC or kind == STR or isinstance(value, ast.Constant):
            return value
        if kind == BOOL:
            return b.compare(value, "is", b.name(".TRUE", site), site)
        if self.plain and not self.is_simple(value):
            return value  # Python asks the boolean itself
        kept = self.keep(value, site)
        is_true = b.compare(kept, "is", b.name(".TRUE", site), site)
        again = self.again(kept, site)
        not_false = b.compare(again, "is not", b.name(".FALSE", site), site)
        return b.bool_or([is_true, b.bool_and([not_false, again], site)], site)

    def _junction(self, node: n.Binary) -> ast.expr:
        operator, parts, x = node.operator, [], node
        left: n.Node = node
        while type(left) is n.Binary and left.operator == operator:
            parts.append(left.y)
            left = left.x
        parts.append(left)
        self.cost += len(parts) - 1
        conditions = [self.condition(part) for part in reversed(parts)]
        site = self.site(x.offset)
        return b.bool_and(conditions, site) if operator == "and" else b.bool_or(conditions, site)

    def _comparison(self, node: n.Binary) -> ast.expr:
        x, x_kind = self.kinded(node.x)
        y, y_kind = self.kinded(node.y)
        return self.comparison(node.operator, x, x_kind, y, y_kind, node.offset)

    # ---- names and literals

    def name(self, node: n.Name) -> ast.expr:
        """Write the value of a name."""
        binding = node.binding
        scope = binding.scope
        if scope == UNIVERSAL:
            found = _CONSTANTS.get(node.name)
            if found is None:
                self.kind = ANY
                return b.name(f".u.{node.name}", self.site(node.offset))
            self.kind = found[1]
            site = self.site(node.offset)
            return b.constant(None, site) if found[0] is None else b.name(found[0], site)
        self.kind = binding.kind or ANY
        site = self.site(node.offset, "name", scope if binding.exported else LOCAL, node.name)
        return b.name(variable(binding), site)

    def _literal(self, node: n.Literal) -> ast.expr:
        self.kind = literal_kind(node.value)
        site = len(self.sites) or 1
        literal = b.constant(node.value, site)
        if type(node.value) is bytes:
            return b.call(".Bytes", [literal], site)
        if type(node.value) is int and node.value.bit_length() > FREE_BITS:
            return b.call(".grown", [b.name(b.THREAD, site), literal], site)
        return literal

    def _paren(self, node: n.Paren) -> ast.expr:
        return self.value(node.x)

    # ---- operators

    def _unary(self, node: n.Unary) -> ast.expr:
        if node.operator == "not":
            return self._boolean(node)
        if type(node.x) is n.Literal and node.operator == "-" and type(node.x.value) in (int, float):
            self.kind = literal_kind(-node.x.value)
            return b.constant(-node.x.value, len(self.sites) or 1)
        x, kind = self.kinded(node.x)
        self.cost += 1
        site = self.site(node.offset)
        if kind in INTEGERS and node.operator in ("-", "~"):
            self.kind = "int"
            python = ast.USub() if node.operator == "-" else ast.Invert()
            result = ast.UnaryOp(python, x)
            result.lineno, result.col_offset = site, 0
            return result
        self.kind = kind if kind == FLOAT else NUMBER
        if self.plain or self.compact or node.operator != "-":
            return b.call(".unary", [b.name(b.THREAD, site), b.constant(node.operator, site), x], site)
        kept = self.keep(x, site)
        negative = ast.UnaryOp(ast.USub(), self.again(kept, site))
        negative.lineno, negative.col_offset = site, 0
        slow = b.call(".unary", [b.name(b.THREAD, site), b.constant("-", site), self.again(kept, site)], site)
        return b.conditional(b.type_is(kept, ".int", site), negative, slow, site)

    def _boolean(self, node: n.Node) -> ast.expr:
        """Write a condition as a Starlark boolean."""
        test = self.condition(node)
        self.kind = BOOL
        site = self.site(node.offset)
        return b.conditional(test, b.name(".TRUE", site), b.name(".FALSE", site), site)

    def _binary(self, node: n.Binary) -> ast.expr:
        operator = node.operator
        if operator in COMPARISONS:
            return self._boolean(node)
        if operator in ("and", "or"):
            return self._choice(node)
        if (
            operator == "%"
            and type(node.x) is n.Literal
            and type(node.x.value) is str
            and not (self.plain or self.compact)
        ):
            written = self.percent(node)
            if written is not None:
                return written
        terms: list[n.Binary] = []
        x: n.Node = node
        while type(x) is n.Binary and x.operator not in COMPARISONS and x.operator not in ("and", "or"):
            terms.append(x)
            x = x.x
        joined = _joined_bytes(x, terms[-1])
        if joined is not None:
            terms.pop()
            x = joined
        result, kind = self.kinded(x)
        if len(terms) > _CHAIN and not self.plain:
            return self._long_chain(result, kind, terms)
        for term in reversed(terms):
            y, y_kind = self.kinded(term.y)
            self.watched = self.is_watched(term.x if term is terms[-1] else None, term.y)
            result = self.arithmetic(term.operator, result, kind, y, y_kind, term.offset)
            kind = self.kind or ANY
        return result

    def _long_chain(self, result: ast.expr, kind: str, terms: list[n.Binary]) -> ast.expr:
        sum_name = self.loop_variable("chain")
        site = self.site(terms[-1].offset)
        steps = [b.named(sum_name, result, site)]
        for term in reversed(terms):
            y, y_kind = self.kinded(term.y)
            step = self.arithmetic(term.operator, b.name(sum_name, site), kind, y, y_kind, term.offset)
            kind = self.kind or ANY
            steps.append(b.named(sum_name, step, site))
        return b.subscript(b.tuple_of(steps, site), b.constant(-1, site), site)

    def _choice(self, node: n.Binary) -> ast.expr:
        """Write ``x and y`` or ``x or y`` for its value, which is one of the operands."""
        if _is_condition(node):
            return self._boolean(node)
        parts: list[n.Node] = []
        left: n.Node = node
        while type(left) is n.Binary and left.operator == node.operator:
            parts.append(left.y)
            left = left.x
        parts.append(left)
        self.cost += len(parts) - 1
        values = [self.value(part) for part in reversed(parts)]
        self.kind = ANY
        site = self.site(node.offset)
        if self.plain or len(values) > _CHAIN:
            return b.bool_and(values, site) if node.operator == "and" else b.bool_or(values, site)
        result = values[-1]
        for value in reversed(values[:-1]):
            kept = self.keep(value, site)
            test, again = self._truth(kept, ANY, site), self.again(kept, site)
            result = (
                b.conditional(test, result, again, site)
                if node.operator == "and"
                else b.conditional(test, again, result, site)
            )
        return result

    def _conditional(self, node: n.Conditional) -> ast.expr:
        self.cost += 1
        test = self.condition(node.test)
        then, kind = self.kinded(node.then)
        otherwise, other = self.kinded(node.otherwise)
        self.kind = kind if kind == other else "int" if kind in INTEGERS and other in INTEGERS else ANY
        return b.conditional(test, then, otherwise, self.site(node.offset))

    # ---- displays

    def _tuple(self, node: n.Tuple) -> ast.expr:
        self.cost += 1 + len(node.items)
        items = [self.value(item) for item in node.items]
        self.kind = ANY
        return b.tuple_of(items, self.site(node.offset))

    def _list(self, node: n.List) -> ast.expr:
        self.cost += 1 + len(node.items)
        items = [self.value(item) for item in node.items]
        self.kind = ANY
        result = ast.List(items, b.LOAD)
        result.lineno, result.col_offset = self.site(node.offset), 0
        return result

    def _dict(self, node: n.Dict) -> ast.expr:
        self.cost += 2 + 2 * len(node.entries)
        keys = [key.value for _, key, _ in node.entries if type(key) is n.Literal and type(key.value) in (str, int)]
        plain = all(type(key) is str or -_SMALL_KEY < key < _SMALL_KEY for key in keys)
        if plain and len(keys) == len(node.entries) and len(set(keys)) == len(keys):
            pairs = [(self.value(key), self.value(value)) for _, key, value in node.entries]
            result = ast.Dict([key for key, _ in pairs], [value for _, value in pairs])
            result.lineno, result.col_offset = self.site(node.offset), 0
            self.kind = ANY
            return result
        return self._checked_dict(node)

    def _checked_dict(self, node: n.Dict) -> ast.expr:
        """Write a dict display whose keys are known only when it runs: a key that is there already is an error."""
        site = self.site(node.offset)
        empty = ast.Dict([], [])
        empty.lineno, empty.col_offset = site, 0
        if self.plain and len(node.entries) > _CHAIN:
            raise self.source.error("dict display is too long here: give it a name first", node.offset)
        variable = self.loop_variable("dict")
        result: ast.expr = empty
        steps = [b.named(variable, result, site)]
        for colon, key, value in node.entries:
            arguments = [self.value(key), self.value(value)]
            at = self.site(colon)
            target = result if self.plain else b.name(variable, at)
            result = b.call(".dict_entry", [b.name(b.THREAD, at), target, *arguments], at)
            steps.append(result)
        self.kind = ANY
        return result if self.plain else b.subscript(b.tuple_of(steps, site), b.constant(0, site), site)

    # ---- indexing

    def _index(self, node: n.Index) -> ast.expr:
        x = self.value(node.x)
        key, kind = self.kinded(node.key)
        return self.index(x, key, kind, node.offset)

    def index(self, x: ast.expr, key: ast.expr, key_kind: str, offset: int) -> ast.expr:
        """Write ``x[key]``."""
        self.cost += 1
        self.kind = ANY
        site = self.site(offset)
        if (
            (key_kind in NUMERIC or isinstance(key, ast.Constant))
            and not isinstance(x, ast.Constant)
            and not (self.plain and not self.is_simple(x))
        ):
            x, key = self.keep(x, site), self.keep(key, site)
            return b.subscript(x, key, self.site(offset, "index", operand(x), operand(key)))
        helper = ".index"
        if self.plain or self.compact:
            return b.call(helper, [b.name(b.THREAD, site), x, key], site)
        if isinstance(x, ast.Constant):
            x = b.named(self.temporary(), x, site)
        tests, x, key = self.evaluated(x, key, site)
        site = self.site(offset, "index", operand(x), operand(key))
        tests.append(self.plain_key(key, self.temporary(), site))
        slow = b.call(helper, [b.name(b.THREAD, site), x, key], site)
        return b.conditional(b.bool_and(tests, site), b.subscript(x, key, site), slow, site)

    def _slice(self, node: n.Slice) -> ast.expr:
        self.cost += 1
        none = b.constant(None, len(self.sites) or 1)
        x = self.value(node.x)
        site = self.site(node.offset)
        kept = x if self.plain else b.named(self.temporary(), x, site) if not isinstance(x, ast.Name) else x
        parts: list[ast.expr] = []
        certain = node.step is None
        for part in (node.low, node.high, node.step):
            written, kind = (none, SMALL) if part is None else self.kinded(part)
            certain = certain and kind in INTEGERS
            parts.append(written)
        self.kind = ANY
        site = self.site(node.offset)
        if self.plain or self.compact or not certain or not all(self.is_simple(part) for part in parts):
            return b.call(".slice", [b.name(b.THREAD, site), kept, *parts], site)
        again, kind = self.again(kept, site), self.temporary()
        python = ast.Slice(*(None if part is none else part for part in parts[:2]))
        python.lineno, python.col_offset = site, 0
        type_of = b.named(kind, b.call(".type", [kept], site), site)
        text = b.bool_and([b.compare(type_of, "is", b.name(".str", site), site), self._shorter(again, 256, site)], site)
        items = b.bool_and([b.is_name(kind, ".list", site), self._shorter(again, 32, site)], site)
        slow = b.call(".slice", [b.name(b.THREAD, site), again, *parts], site)
        return b.conditional(b.bool_or([text, items], site), b.subscript(again, python, site), slow, site)

    @staticmethod
    def _shorter(x: ast.expr, length: int, site: int) -> ast.expr:
        return b.compare(b.call(".len", [x], site), "<", b.constant(length, site), site)

    def _attribute(self, node: n.Attribute) -> ast.expr:
        self.cost += 1
        x = self.value(node.x)
        self.kind = ANY
        site = self.site(node.offset)
        return b.call(".attribute", [b.name(b.THREAD, site), x, b.constant(node.name, site)], site)

    # ---- functions

    def _lambda(self, node: n.Lambda) -> ast.expr:
        self.cost += 2
        result = self.lambda_expression(node)
        self.kind = ANY
        return result

    def lambda_expression(self, node: n.Lambda) -> ast.expr:
        """Write a lambda; the statements' half of the generator knows how."""
        raise NotImplementedError


def _joined_bytes(x: n.Node, term: n.Binary) -> n.Literal | None:
    """Return the literal that two literals of bytes make, ``None`` for anything else.

    go.starlark.net joins literals when it compiles, so that those of bytes have the ``+`` that bytes lack.
    """
    if type(x) is not n.Literal or type(term.y) is not n.Literal or term.operator != "+":
        return None
    both = type(x.value) is bytes and type(term.y.value) is bytes
    return n.Literal(x.offset, x.value + term.y.value) if both else None


def _is_condition(node: n.Node) -> bool:
    """Tell whether an expression is a boolean by its form."""
    while True:
        if type(node) is n.Paren:
            node = node.x
        elif type(node) is n.Unary:
            return node.operator == "not"
        elif type(node) is n.Binary:
            if node.operator in COMPARISONS:
                return True
            if node.operator not in ("and", "or") or not _is_condition(node.y):
                return False
            node = node.x
        else:
            return type(node) is n.Name and node.name in ("True", "False") and node.binding.scope == UNIVERSAL


_VALUE: Final[dict[type, Callable[[Any, Any], ast.expr]]] = {
    n.Name: Expressions.name,
    n.Literal: Expressions._literal,  # noqa: SLF001 - the table of the methods of the class above
    n.Paren: Expressions._paren,  # noqa: SLF001 - the table of the methods of the class above
    n.Unary: Expressions._unary,  # noqa: SLF001 - the table of the methods of the class above
    n.Binary: Expressions._binary,  # noqa: SLF001 - the table of the methods of the class above
    n.Conditional: Expressions._conditional,  # noqa: SLF001 - the table of the methods of the class above
    n.Tuple: Expressions._tuple,  # noqa: SLF001 - the table of the methods of the class above
    n.List: Expressions._list,  # noqa: SLF001 - the table of the methods of the class above
    n.Dict: Expressions._dict,  # noqa: SLF001 - the table of the methods of the class above
    n.Index: Expressions._index,  # noqa: SLF001 - the table of the methods of the class above
    n.Slice: Expressions._slice,  # noqa: SLF001 - the table of the methods of the class above
    n.Attribute: Expressions._attribute,  # noqa: SLF001 - the table of the methods of the class above
    n.Lambda: Expressions._lambda,  # noqa: SLF001 - the table of the methods of the class above
    n.Comprehension: Expressions.comprehension,
    n.Call: lambda self, node: self.call(node),
}
