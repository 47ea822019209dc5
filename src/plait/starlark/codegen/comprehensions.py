"""Comprehensions, which are Python's own; and what is taken apart into several variables."""

from __future__ import annotations

import ast
import sys
from typing import Any, Final

from plait.starlark.codegen import builder as b
from plait.starlark.codegen.calls import Calls
from plait.starlark.codegen.scope import NESTING_MAX, operand, unwrapped, variable
from plait.starlark.resolving.inference import ANY, FLOAT, SMALL, STR
from plait.starlark.syntax import nodes as n

__all__ = ["Comprehensions"]

_KEY_BITS: Final = 61


_HIDES_VARIABLES: Final = sys.version_info >= (3, 12)


def _bound_names(node: n.Comprehension) -> set[str]:
    """Return the Python variables that a comprehension binds."""
    names: set[str] = set()
    targets = [clause.target for clause in node.clauses if isinstance(clause, n.ForClause)]
    while targets:
        target = unwrapped(targets.pop())
        if isinstance(target, n.Tuple | n.List):
            targets.extend(target.items)
        elif type(target) is n.Name:
            names.add(variable(target.binding))
    return names


class Comprehensions(Calls):
    """Writes comprehensions."""

    def condition(self, node: n.Node) -> ast.expr:
        """Write an expression as a Python condition; the subclass knows how."""
        raise NotImplementedError

    def comprehension(self, node: n.Comprehension) -> ast.expr:
        """Write a comprehension."""
        if self.nesting >= NESTING_MAX:
            raise self.too_deep(node.offset)
        self.nesting += 1
        self.cost += 3
        compact, hidden = self.compact, self.hidden
        if _HIDES_VARIABLES:
            self.hidden = hidden | _bound_names(node)
        generators, amount, outer = self._generators(node)
        self.comprehensions += 1
        element = self._element(node)
        self.comprehensions -= 1
        self.compact, self.hidden = compact, hidden
        amount.value = max(1, self.cost)
        self.cost = outer
        self.nesting -= 1
        self.kind = ANY
        site = self.site(node.offset)
        result: ast.expr
        if node.value is None:
            result = ast.ListComp(element[0], generators)
        else:
            result = ast.DictComp(element[0], element[1], generators)
        result.lineno, result.col_offset = site, 0
        return result

    def _element(self, node: n.Comprehension) -> list[ast.expr]:
        self.cost += 1
        if node.value is None:
            return [self.value(node.element)]
        self.cost += 2
        key, kind = self.kinded(node.element)
        if kind not in (STR, SMALL, FLOAT):
            at = self.site(node.colon)
            kept = self.keep(key, at)
            again = self.again(kept, at)
            name = self.temporary()
            first = b.compare(b.named(name, b.call(".type", [kept], at), at), "is", b.name(".str", at), at)
            small = b.bool_and([b.is_name(name, ".int", at), b.bits_below(again, _KEY_BITS, at)], at)
            slow = b.call(".key", [b.name(b.THREAD, at), again], at)
            key = slow if self.plain else b.conditional(b.bool_or([first, small], at), again, slow, at)
        return [key, self.value(node.value)]

    def _generators(self, node: n.Comprehension) -> tuple[list[ast.comprehension], Any, int]:
        """Write the clauses; return them, the constant of the last one's cost, and the cost of the block around."""
        generators: list[ast.comprehension] = []
        amount: Any = None
        outer = 0
        for clause in node.clauses:
            inside = amount is not None
            self.comprehensions += inside
            if isinstance(clause, n.IfClause):
                generators[-1].ifs.append(self.condition(clause.test))
            else:
                turn: Any = b.constant(1, len(self.sites) or 1)
                self.plain += 1
                slices, _ = self.slices(
                    clause.x, turn, locked=self.is_open(clause.loop) or clause.loop.methods or clause.loop.mutates
                )
                self.plain -= 1
                if inside:
                    amount.value = max(1, self.cost)
                else:
                    outer = self.cost
                self.cost = 1
                self.compact = False
                amount = turn
                self._clause(generators, clause, slices)
            self.comprehensions -= inside
        return generators, amount, outer

    def _clause(self, generators: list[ast.comprehension], clause: n.ForClause, slices: ast.expr) -> None:
        site = self.site(clause.offset)
        part = self.loop_variable("part")
        generators.append(ast.comprehension(b.store(part, site), slices, [], 0))
        target: n.Node = clause.target
        while type(target) is n.Paren:
            target = target.x
        if type(target) is n.Name:
            generators.append(ast.comprehension(b.store(variable(target.binding), site), b.name(part, site), [], 0))
            return
        element = self.loop_variable("element")
        generators.append(ast.comprehension(b.store(element, site), b.name(part, site), [], 0))
        self._unpacked(generators, target, element)

    def _unpacked(self, generators: list[ast.comprehension], target: n.Node, element: str) -> None:
        """Write the clauses that take an element apart; one over a list of one is how a comprehension assigns."""
        site = self.site(target.offset)
        if not isinstance(target, n.Tuple | n.List):
            stored = self.store_call(target, b.name(element, site), site)
            generators[-1].ifs.append(b.compare(stored, "is", b.constant(None, site), site))
            return
        items = [unwrapped(item) for item in target.items]
        direct = all(type(item) is n.Name for item in items)
        names = [
            variable(item.binding) if direct and type(item) is n.Name else self.loop_variable("element")
            for item in items
        ]
        value, site = self.checked_sequence(b.name(element, site), len(items), site, counted=True)
        targets = b.tuple_of([b.store(identifier, site) for identifier in names], site, b.STORE)
        single = ast.List([value], b.LOAD)
        single.lineno, single.col_offset = site, 0
        generators.append(ast.comprehension(targets, single, [], 0))
        if direct:
            return
        for item, identifier in zip(items, names, strict=True):  # from left to right
            if type(item) is n.Name:
                one = ast.List([b.name(identifier, site)], b.LOAD)
                one.lineno, one.col_offset = site, 0
                generators.append(ast.comprehension(b.store(variable(item.binding), site), one, [], 0))
            else:
                self._unpacked(generators, item, identifier)

    def checked_sequence(self, value: ast.expr, count: int, site: int, *, counted: bool) -> tuple[ast.expr, int]:
        """Write a value that is about to be unpacked into so many: a tuple or a list goes as it is.

        ``counted`` sees to it that there are as many, where Python hides the value from who explains the failure.

        Returns:
            The value, and the site at which Python finds that there are too many or too few.
        """
        site = self.site(self.sites[site - 1][0], "unpack", operand(value), count)
        tests = [b.bool_or([b.type_is(value, ".tuple", site), b.type_is(value, ".list", site)], site)]
        if counted:
            tests.append(b.compare(b.call(".len", [value], site), "==", b.constant(count, site), site))
        slow = b.call(".unpack", [b.name(b.THREAD, site), value, b.constant(count, site)], site)
        return b.conditional(b.bool_and(tests, site), value, slow, site), site

    def store_call(self, target: n.Node, value: ast.expr, site: int) -> ast.expr:
        """Write a call that assigns to ``x[key]`` or ``x.name`` and returns ``None``."""
        if type(target) is n.Index:
            x, key = self.value(target.x), self.value(target.key)
            site = self.site(target.offset)
            return b.call(".set_index", [b.name(b.THREAD, site), x, key, value], site)
        assert isinstance(target, n.Attribute)  # noqa: S101 - the callers and the parser see to it
        x = self.value(target.x)
        site = self.site(target.offset)
        return b.call(".set_attribute", [b.name(b.THREAD, site), x, b.constant(target.name, site), value], site)
