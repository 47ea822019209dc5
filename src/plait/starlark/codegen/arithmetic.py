"""Operators inline: the shortest form that is right for what is known of the operands."""

from __future__ import annotations

import ast
from typing import Final

from plait.starlark.codegen import builder as b
from plait.starlark.codegen.scope import Scope, operand
from plait.starlark.resolving.inference import ANY, BOOL, FLOAT, INT, INTEGERS, NUMBER, NUMERIC, SMALL, STR
from plait.starlark.resolving.inference import arithmetic as kind_of_result
from plait.starlark.text.numbers import FREE_BITS

__all__ = ["Arithmetic"]

_SCALARS: Final = frozenset({SMALL, INT, FLOAT, NUMBER, STR, BOOL})
_ORDER: Final = frozenset({"<", ">", "<=", ">="})
_SHIFT_MAX: Final = 60
_SHORT: Final = 64
"""Strings up to this length are not worth charging for."""


def is_cheap(node: ast.expr, kind: str | None) -> bool:
    """Tell whether comparing anything with this operand costs next to nothing: no long string, nothing nested."""
    if isinstance(node, ast.Constant):
        return not isinstance(node.value, bytes)
    return kind in _SCALARS and kind != STR


class Arithmetic(Scope):
    """Writes binary operators and comparisons; ``kind`` is what is known of the last expression written."""

    kind: str | None = ANY

    def arithmetic(  # noqa: C901, PLR0911, PLR0912, PLR0917 - one branch for each rule
        self, operator: str, x: ast.expr, x_kind: str | None, y: ast.expr, y_kind: str | None, offset: int
    ) -> ast.expr:
        """Write ``x operator y``; sets ``kind``."""
        self.cost += 1
        self.kind = kind_of_result(operator, x_kind, y_kind) or ANY
        watched, self.watched = self.watched, False
        grows = operator in ("+", "-") and SMALL not in (x_kind, y_kind) and not watched
        if self.plain or (operator == "%" and x_kind == STR):
            return self._by_helper(operator, x, y, offset)
        if x_kind in INTEGERS and y_kind in INTEGERS:
            return self._integers(operator, x, x_kind, y, y_kind, offset, grows=grows)
        if self.compact:
            return self._by_helper(operator, x, y, offset)
        if operator == "+" and STR in (x_kind, y_kind):
            return self._text_sum(x, y, offset, certain=x_kind == y_kind)
        if operator in ("//", "%"):
            return self._division(operator, x, x_kind, y, y_kind, offset)
        if operator == "*":
            if x_kind in NUMERIC and y_kind in NUMERIC:
                return self._checked_after(operator, x, y, offset, bounded=True, maybe_text=False)
            return self._product(x, x_kind, y, y_kind, offset)
        if operator == "/":
            if FLOAT in (x_kind, y_kind) and x_kind in (FLOAT, SMALL) and y_kind in (FLOAT, SMALL):
                return self._checked_after(operator, x, y, offset, bounded=False, maybe_text=False)
            return self._by_helper(operator, x, y, offset)
        if operator in ("<<", ">>"):
            if not self._is_shift(y):
                return self._by_helper(operator, x, y, offset)
            return self._checked_after(operator, x, y, offset, bounded=operator == "<<", maybe_text=False)
        if x_kind in NUMERIC or y_kind in NUMERIC:
            return self._checked_after(operator, x, y, offset, bounded=grows, maybe_text=False)
        if operator == "+":
            return self._checked_after(operator, x, y, offset, bounded=grows, maybe_text=True)
        return self._checked_before(operator, x, y, offset, bounded=grows)

    def _text_sum(self, x: ast.expr, y: ast.expr, offset: int, *, certain: bool) -> ast.expr:
        """Write a sum that is most likely a string; ``certain`` when it can be nothing else."""
        site = self.site(offset)
        x, y = self.keep(x, site), self.keep(y, site)
        native, site = self._native("+", x, y, offset)
        result = self.temporary()
        kept = b.named(result, native, site)
        tests = [] if certain else [b.type_is(kept, ".str", site)]
        size = b.call(".len", [kept if certain else b.name(result, site)], site)
        tests.append(b.compare(size, "<", b.constant(_SHORT, site), site))
        return b.conditional(b.bool_and(tests, site), b.name(result, site), self._grown(result, site), site)

    def _by_helper(self, operator: str, x: ast.expr, y: ast.expr, offset: int) -> ast.expr:
        site = self.site(offset)
        return b.call(f".{operator}", [b.name(b.THREAD, site), x, y], site)

    def _native(self, operator: str, x: ast.expr, y: ast.expr, offset: int) -> tuple[ast.expr, int]:
        site = self.site(offset, "binary", operator, operand(x), operand(y))
        return b.binop(x, operator, y, site), site

    def _integers(  # noqa: PLR0917 - a node's parts, each with what is known of it
        self,
        operator: str,
        x: ast.expr,
        x_kind: str | None,
        y: ast.expr,
        y_kind: str | None,
        offset: int,
        *,
        grows: bool,
    ) -> ast.expr:
        small = x_kind == y_kind == SMALL
        if (
            operator in ("+", "-", "&", "|", "^")
            or (small and operator in ("*", "//", "%"))
            or (operator == ">>" and y_kind == SMALL)
        ):
            site = self.site(offset)
            x, y = self.keep(x, site), self.keep(y, site)
            native, site = self._native(operator, x, y, offset)
            if not grows:
                return native
            result = self.temporary()  # two large integers may make a larger one, and so on
            within = self.within(b.named(result, native, site), site)
            return b.conditional(within, b.name(result, site), self._grown(result, site), site)
        if operator in ("//", "%"):
            return self._division(operator, x, x_kind, y, y_kind, offset)
        if operator == "/" and small:
            return self._checked_after(operator, x, y, offset, bounded=False, maybe_text=False)
        if operator == "*" or (operator == "<<" and self._is_shift(y)):
            site = self.site(offset)
            x, y = self.keep(x, site), self.keep(y, site)
            product, site = self._native(operator, x, y, offset)
            result = self.temporary()
            within = self.within(b.named(result, product, site), site)
            return b.conditional(within, b.name(result, site), self._grown(result, site), site)
        return self._by_helper(operator, x, y, offset)

    @staticmethod
    def _is_shift(y: ast.expr) -> bool:
        value = operand(y)
        return isinstance(value, tuple) and isinstance(value[0], int) and 0 <= value[0] <= _SHIFT_MAX

    @staticmethod
    def within(x: ast.expr, site: int) -> ast.expr:
        """Write the condition that an integer is not worth charging for."""
        return b.bits_below(x, FREE_BITS + 1, site)

    @staticmethod
    def _grown(result: str, site: int) -> ast.expr:
        return b.call(".grown", [b.name(b.THREAD, site), b.name(result, site)], site)

    def _checked_after(
        self, operator: str, x: ast.expr, y: ast.expr, offset: int, *, bounded: bool, maybe_text: bool
    ) -> ast.expr:
        """Write an operation that is safe to carry out, and whose result is looked at afterwards."""
        site = self.site(offset)
        x, y = self.keep(x, site), self.keep(y, site)
        native, site = self._native(operator, x, y, offset)
        result, kind = self.temporary(), self.temporary()
        kept = b.named(kind, b.call(".type", [b.named(result, native, site)], site), site)
        integer = b.compare(kept, "is", b.name(".int", site), site)
        if bounded:
            integer = b.bool_and([integer, self.within(b.name(result, site), site)], site)
        tests = [integer]
        if maybe_text:
            short = b.compare(b.call(".len", [b.name(result, site)], site), "<", b.constant(_SHORT, site), site)
            tests.append(b.bool_and([b.is_name(kind, ".str", site), short], site))
        if operator not in ("<<", ">>", "&", "|", "^"):
            itself = b.compare(b.name(result, site), "==", b.name(result, site), site)
            tests.append(b.bool_and([b.is_name(kind, ".float", site), itself], site))
        return b.conditional(b.bool_or(tests, site), b.name(result, site), self._grown(result, site), site)

    def _checked_before(self, operator: str, x: ast.expr, y: ast.expr, offset: int, *, bounded: bool) -> ast.expr:
        """Write an operation that sets and dicts know too: it is carried out inline only for integers."""
        site = self.site(offset)
        tests, x, y = self.evaluated(x, y, site)
        native, site = self._native(operator, x, y, offset)
        result = self.temporary()
        tests.append(b.type_is(x, ".int", site))
        tests.append(
            b.compare(b.call(".type", [b.named(result, native, site)], site), "is", b.name(".int", site), site)
        )
        if bounded:
            tests.append(self.within(b.name(result, site), site))
        helper = b.call(f".{operator}", [b.name(b.THREAD, site), x, y], site)
        return b.conditional(b.bool_and(tests, site), b.name(result, site), helper, site)

    def _product(self, x: ast.expr, x_kind: str | None, y: ast.expr, y_kind: str | None, offset: int) -> ast.expr:
        """Write a product of what may be a sequence: it is carried out inline only for numbers."""
        site = self.site(offset)
        tests, x, y = self.evaluated(x, y, site)
        native, site = self._native("*", x, y, offset)
        result, kind = self.temporary(), self.temporary()
        within = self.within(b.named(result, native, site), site)
        helper = b.call(".*", [b.name(b.THREAD, site), x, y], site)
        if x_kind in INTEGERS or y_kind in INTEGERS:
            other = y if x_kind in INTEGERS else x
            tests += [b.type_is(other, ".int", site), within]
            return b.conditional(b.bool_and(tests, site), b.name(result, site), helper, site)
        kept = b.named(kind, b.call(".type", [x], site), site)
        same = [] if operand(x) == operand(y) else [b.type_is(y, ".int", site)]
        integers = b.bool_and([b.compare(kept, "is", b.name(".int", site), site), *same, within], site)
        itself = b.compare(b.named(result, native, site), "==", b.name(result, site), site)
        floats = b.bool_and([b.is_name(kind, ".float", site), itself], site)
        tests.append(b.bool_or([integers, floats], site))
        return b.conditional(b.bool_and(tests, site), b.name(result, site), helper, site)

    def _division(  # noqa: PLR0917 - a node's parts, each with what is known of it
        self, operator: str, x: ast.expr, x_kind: str | None, y: ast.expr, y_kind: str | None, offset: int
    ) -> ast.expr:
        site = self.site(offset)
        tests, x, y = self.evaluated(x, y, site)
        native, site = self._native(operator, x, y, offset)
        if x_kind not in INTEGERS:
            tests.append(b.type_is(x, ".int", site))
        if x_kind != SMALL:
            tests.append(self.within(x, site))
        helper = b.call(f".{operator}", [b.name(b.THREAD, site), x, y], site)
        if y_kind in INTEGERS:
            return b.conditional(b.bool_and(tests, site), native, helper, site) if tests else native
        result = self.temporary()
        tests.append(
            b.compare(b.call(".type", [b.named(result, native, site)], site), "is", b.name(".int", site), site)
        )
        return b.conditional(b.bool_and(tests, site), b.name(result, site), helper, site)

    def comparison(  # noqa: PLR0917 - a node's parts, each with what is known of it
        self, operator: str, x: ast.expr, x_kind: str | None, y: ast.expr, y_kind: str | None, offset: int
    ) -> ast.expr:
        """Write a comparison as a Python condition."""
        self.cost += 1
        self.kind = BOOL
        if operator in ("in", "not in"):
            return self._membership(operator, x, x_kind, y, offset)
        known = not self.plain or (self.is_simple(x) and self.is_simple(y)) or operator in ("==", "!=")
        if known and (is_cheap(x, x_kind) or is_cheap(y, y_kind)):
            site = self.site(offset, "compare", operator, operand(x), operand(y))
            if operator in _ORDER and not (x_kind in NUMERIC and y_kind in NUMERIC):
                x, y = self.keep(x, site), self.keep(y, site)
                site = self.site(offset, "compare", operator, operand(x), operand(y))
            return b.compare(x, operator, y, site)
        site = self.site(offset)
        if self.plain or self.compact:
            return b.call(f".{operator}", [b.name(b.THREAD, site), x, y], site)
        tests, x, y = self.evaluated(x, y, site)
        kind = self.temporary()
        site = self.site(offset, "compare", operator, operand(x), operand(y))
        kept = b.named(kind, b.call(".type", [x], site), site)
        short = b.compare(b.call(".len", [x], site), "<", b.constant(256, site), site)
        number = b.bool_or(
            [
                b.compare(kept, "is", b.name(".int", site), site),
                b.bool_and([b.is_name(kind, ".str", site), short], site),
                b.is_name(kind, ".float", site),
            ],
            site,
        )
        helper = b.call(f".{operator}", [b.name(b.THREAD, site), x, y], site)
        return b.conditional(b.bool_and([*tests, number], site), b.compare(x, operator, y, site), helper, site)

    def _membership(self, operator: str, x: ast.expr, x_kind: str | None, y: ast.expr, offset: int) -> ast.expr:
        site = self.site(offset)
        if isinstance(y, ast.Tuple | ast.List) and all(is_cheap(item, ANY) for item in y.elts):
            return b.compare(x, operator, y, site)
        if self.plain or self.compact or (operand(y) is not None and isinstance(y, ast.Constant)):
            found = b.call(".in", [b.name(b.THREAD, site), x, y], site)
            return b.negation(found, site) if operator == "not in" else found
        tests, x, y = self.evaluated(x, y, site)
        slow = b.call(".in", [b.name(b.THREAD, site), x, y], site)
        kind = self.temporary()
        kept = b.named(kind, b.call(".type", [y], site), site)
        is_dict = b.bool_or(
            [b.compare(kept, "is", b.name(".dict", site), site), b.is_name(kind, ".FrozenDict", site)], site
        )
        if x_kind not in _SCALARS:
            is_dict = b.bool_and([is_dict, self.plain_key(x, self.temporary(), site)], site)
        if isinstance(x, ast.Constant) and isinstance(x.value, str):
            short = b.compare(b.call(".len", [y], site), "<", b.constant(256, site), site)
            is_dict = b.bool_or([is_dict, b.bool_and([b.is_name(kind, ".str", site), short], site)], site)
        fast = b.compare(x, "in", y, site)
        found = b.conditional(b.bool_and([*tests, is_dict], site), fast, slow, site)
        return b.negation(found, site) if operator == "not in" else found

    @staticmethod
    def plain_key(key: ast.expr, kind: str, site: int) -> ast.expr:
        """Write the condition that a key is a string or an integer: hashed by C in no time, whatever its value."""
        first = b.compare(b.named(kind, b.call(".type", [key], site), site), "is", b.name(".int", site), site)
        return b.bool_or([first, b.is_name(kind, ".str", site)], site)
