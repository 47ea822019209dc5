"""Assignments, plain and augmented, and what else changes a value in a statement of its own."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from plait.starlark.codegen import builder as b
from plait.starlark.codegen.expressions import Expressions
from plait.starlark.codegen.scope import CALL_COST, operand, unwrapped, variable
from plait.starlark.resolving.inference import ANY, INTEGERS, NUMERIC, SMALL, STR
from plait.starlark.syntax import nodes as n

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Assignments"]

_KEY_BITS: Final = 61
"""Integers with fewer bits have hashes of their own."""


class Assignments(Expressions):
    """Writes assignments."""

    def assignment(self, node: n.Assign) -> None:
        """Write ``target = value`` or ``target += value``."""
        target: n.Node = node.target
        while type(target) is n.Paren:
            target = target.x
        self.cost += 1
        if node.operator:
            self._augmented(node, target)
        elif type(target) is n.Name:
            self.out.append(
                b.assign(
                    b.store(variable(target.binding), self.site(node.offset)),
                    self.value(node.value),
                    self.site(node.offset),
                )
            )
        elif isinstance(target, n.Tuple | n.List) and self._parallel(target, node.value):
            pass
        else:
            site = self.site(node.offset)
            value = self.value(node.value)
            self._store(target, self._simple(value, site), node.offset)

    def _simple(self, value: ast.expr, site: int) -> ast.expr:
        """Return something simple with the value: itself, or a variable that it is put into first."""
        if self.is_simple(value):
            return value
        variable = self.temporary()
        self.out.append(b.assign(b.store(variable, site), value, site))
        return b.name(variable, site)

    def _parallel(self, target: n.Tuple | n.List, value: n.Node) -> bool:
        """Write ``a, b = x, y``, for which Python needs no help."""
        while type(value) is n.Paren:
            value = value.x
        if type(value) is not n.Tuple or len(value.items) != len(target.items):
            return False
        names = [variable(item.binding) for item in target.items if type(item) is n.Name]
        if len(names) != len(target.items) or not names:
            return False
        values = [self.value(item) for item in value.items]
        site = self.site(target.offset)
        stores = [b.store(name, site) for name in names]
        self.out.append(b.assign(b.tuple_of(stores, site, b.STORE), b.tuple_of(values, site), site))
        return True

    def _store(self, target: n.Node, value: ast.expr, operator: int | None = None) -> None:
        """Write the assignment of a simple value to any target."""
        while type(target) is n.Paren:
            target = target.x
        site = self.site(target.offset)
        if type(target) is n.Name:
            self.out.append(b.assign(b.store(variable(target.binding), site), value, site))
        elif type(target) is n.Index:
            x = self._simple(self.value(target.x), site)
            key, kind = self.kinded(target.key)
            self._set_index(x, self._simple(key, site), kind, value, target.offset)
        elif type(target) is n.Attribute:
            self.out.append(b.expression(self.store_call(target, value, site), site))
        elif isinstance(target, n.Tuple | n.List):
            self._unpack(target.items, value, site if operator is None else self.site(operator))

    def _unpack(self, items: Sequence[n.Node], value: ast.expr, site: int) -> None:
        bare = [unwrapped(item) for item in items]
        direct = all(type(item) is n.Name for item in bare)
        names = [
            variable(item.binding) if direct and type(item) is n.Name else self.loop_variable("element")
            for item in bare
        ]
        self.cost += len(names)
        checked, site = self.checked_sequence(value, len(names), site, counted=False)
        targets = b.tuple_of([b.store(name, site) for name in names], site, b.STORE)
        self.out.append(b.assign(targets, checked, site))
        if not direct:
            for item, name in zip(bare, names, strict=True):  # from left to right
                self._store(item, b.name(name, site))

    def loop_target(self, target: n.Node) -> tuple[ast.expr, list[ast.stmt]]:
        """Return what Python's loop assigns to, and the statements that carry it on to the script's variables."""
        while type(target) is n.Paren:
            target = target.x
        site = self.site(target.offset)
        if type(target) is n.Name:
            return b.store(variable(target.binding), site), []
        element = self.loop_variable("element")
        outer, self.out = self.out, []
        self._store(target, b.name(element, site))
        head, self.out = self.out, outer
        return b.store(element, site), head

    # ---- x[key] = value

    def _set_index(self, x: ast.expr, key: ast.expr, key_kind: str, value: ast.expr, offset: int) -> None:
        """Write ``x[key] = value`` of simple operands."""
        self.cost += 1
        site = self.site(offset, "set_index", operand(x), operand(key))
        iterated = [b.name(name, site) for name in self.iterated]
        slow = b.expression(b.call(".set_index", [b.name(b.THREAD, site), x, key, value, *iterated], site), site)
        if self.compact:
            self.out.append(slow)
            return
        store = b.assign(b.subscript(x, key, site, b.STORE), value, site)
        kind = self.temporary()
        kept = b.named(kind, b.call(".type", [x], site), site)
        as_list, as_dict = self._key_tests(key, key_kind, site)
        if key_kind == STR:
            tests = [b.compare(kept, "is", b.name(".dict", site), site)]
        elif key_kind in INTEGERS:
            first, second = (".list", as_list), (".dict", as_dict)
            is_first = b.bool_and([b.compare(kept, "is", b.name(first[0], site), site), *first[1]], site)
            is_second = b.bool_and([b.is_name(kind, second[0], site), *second[1]], site)
            tests = [b.bool_or([is_first, is_second], site)]
        else:
            is_dict = b.bool_and([b.compare(kept, "is", b.name(".dict", site), site), *as_dict], site)
            is_list = b.bool_and([b.is_name(kind, ".list", site), *as_list], site)
            tests = [b.bool_or([is_dict, is_list], site)]
        self.out.append(b.if_statement(b.bool_and([*tests, *self._unlocked(x, site)], site), [store], [slow], site))

    def _key_tests(self, key: ast.expr, key_kind: str, site: int) -> tuple[list[ast.expr], list[ast.expr]]:
        """Write the conditions on a key under which a list, and a dict, may be assigned to inline."""
        if key_kind in (SMALL, STR):
            return [], []
        within = self._plain_small_key(key, key_kind, site)
        return [] if key_kind in INTEGERS else [b.type_is(key, ".int", site)], [within]

    def _unlocked(self, x: ast.expr, site: int) -> list[ast.expr]:
        """Write the conditions under which a list or dict is not locked against changes."""
        guard = self.temporary()
        thread = b.name(b.THREAD, site)
        nothing = b.compare(
            b.named(guard, b.attribute(thread, "guard", site), site), "is", b.constant(None, site), site
        )
        not_in = b.compare(b.call(".id", [x], site), "not in", b.name(guard, site), site)
        iterated = [b.compare(x, "is not", b.name(name, site), site) for name in self.iterated]
        return [*iterated, b.bool_or([nothing, not_in], site)]

    def _plain_small_key(self, key: ast.expr, key_kind: str, site: int) -> ast.expr:
        within = b.bits_below(key, _KEY_BITS, site)
        if key_kind in INTEGERS:
            return within
        kind = self.temporary()
        first = b.compare(b.named(kind, b.call(".type", [key], site), site), "is", b.name(".str", site), site)
        return b.bool_or([first, b.bool_and([b.is_name(kind, ".int", site), within], site)], site)

    # ---- x += value

    def _augmented(self, node: n.Assign, target: n.Node) -> None:
        site = self.site(node.offset)
        if type(target) is n.Name:
            self._augmented_name(node, target)
        elif type(target) is n.Index:
            x = self._simple(self.value(target.x), site)
            key, key_kind = self.kinded(target.key)
            key = self._simple(key, site)
            old = self._simple(self.index(x, key, key_kind, target.offset), site)
            value, kind = self.kinded(node.value)
            new = self._simple(self._updated(node, old, ANY, value, kind), site)
            self._set_index(x, key, key_kind, new, target.offset)
        elif type(target) is n.Attribute:
            x = self._simple(self.value(target.x), site)
            read = b.call(
                ".attribute", [b.name(b.THREAD, site), x, b.constant(target.name, site)], self.site(target.offset)
            )
            old = self._simple(read, site)
            value, kind = self.kinded(node.value)
            new = self._simple(self._updated(node, old, ANY, value, kind), site)
            write = b.call(".set_attribute", [b.name(b.THREAD, site), x, b.constant(target.name, site), new], site)
            self.out.append(b.expression(write, site))

    def _updated(self, node: n.Assign, old: ast.expr, old_kind: str, value: ast.expr, kind: str) -> ast.expr:
        """Write the new value of an augmented assignment; a list or a dict changes in place."""
        operator = node.operator
        if operator not in ("+", "|") or old_kind in NUMERIC or old_kind == STR or kind in NUMERIC:
            self.watched = self.is_watched(node.target, node.value)
            return self.arithmetic(operator, old, old_kind, value, kind, node.offset)
        self.cost += 1
        site = self.site(node.offset)
        self.kind = ANY
        if operator == "|":
            iterated = [b.name(name, site) for name in self.iterated]
            return b.call(".|=", [b.name(b.THREAD, site), old, value, *iterated], site)
        value = self._simple(value, site)
        if self.compact:
            return self._extended(old, value, site)
        native = b.binop(old, "+", value, self.site(node.offset, "binary", "+", operand(old), operand(value)))
        result = self.temporary()
        is_int = b.compare(b.call(".type", [b.named(result, native, site)], site), "is", b.name(".int", site), site)
        within = self.within(b.name(result, site), site)
        tests = b.bool_and([b.type_is(old, ".int", site), is_int, within], site)
        return b.conditional(tests, b.name(result, site), self._extended(old, value, site), site)

    def _extended(self, old: ast.expr, value: ast.expr, site: int) -> ast.expr:
        iterated = [b.name(name, site) for name in self.iterated]
        return b.call(".+=", [b.name(b.THREAD, site), old, value, *iterated], site)

    def _augmented_name(self, node: n.Assign, target: n.Name) -> None:
        value, kind = self.kinded(node.value)
        old, old_kind = self.name(target), target.binding.kind or ANY
        site = self.site(node.offset)
        if node.operator == "+" and old_kind in (ANY, STR) and kind in (ANY, STR) and not self.compact:
            self._concatenation(node, target, old, old_kind, self._simple(value, site))
            return
        if not self.is_simple(value) and kind not in NUMERIC:
            value = self._simple(value, site)
        new = self._updated(node, old, old_kind, value, kind)
        self.out.append(b.assign(b.store(variable(target.binding), site), new, site))

    def _concatenation(self, node: n.Assign, target: n.Name, old: ast.expr, old_kind: str, value: ast.expr) -> None:
        """Write ``x += value`` that may be of strings: in a function Python lengthens a string where it stands."""
        self.cost += 1
        native_site = self.site(node.offset, "binary", "+", operand(old), operand(value))
        site = self.site(node.offset)
        name = variable(target.binding)
        native = b.binop(old, "+", value, native_site)
        joined = [b.assign(b.store(name, site), native, site), *self._pay_for_text(name, value, site)]
        if old_kind == STR:
            self.out.extend(joined)
            return
        kind, result = self.temporary(), self.temporary()
        kept = b.named(kind, b.call(".type", [old], site), site)
        is_int = b.compare(
            b.call(".type", [b.named(result, native, native_site)], site), "is", b.name(".int", site), site
        )
        if not self.is_watched(node.target, node.value):
            is_int = b.bool_and([is_int, self.within(b.name(result, site), site)], site)
        number = b.conditional(is_int, b.name(result, site), self._grown(result, site), site)
        slow = b.assign(b.store(name, site), self._extended(old, value, site), site)
        as_text = b.if_statement(b.is_name(kind, ".str", site), joined, [slow], site)
        test = b.compare(kept, "is", b.name(".int", site), site)
        self.out.append(b.if_statement(test, [b.assign(b.store(name, site), number, site)], [as_text], site))

    @staticmethod
    def _pay_for_text(name: str, value: ast.expr, site: int) -> list[ast.stmt]:
        long = b.compare(b.call(".len", [b.name(name, site)], site), ">", b.constant(256, site), site)
        pay = b.call(".pay_for_text", [b.name(b.THREAD, site), b.name(name, site), value], site)
        return [b.if_statement(long, [b.expression(pay, site)], [], site)]

    def append(self, node: n.Call) -> bool:
        """Write ``x.append(value)`` inline; tell whether it could be."""
        function = node.function
        if self.compact or not isinstance(function, n.Attribute) or len(node.arguments) != 1 or node.arguments[0][0]:
            return False
        self.cost += CALL_COST
        site = self.site(node.offset)
        x = self._simple(self.value(function.x), site)
        value = self._simple(self.value(node.arguments[0][2]), site)
        site = self.site(node.offset)
        method = b.attribute(x, "append", site)
        inline = b.expression(b.call(method, [value], site), site)
        slow = b.expression(self._method_call(x, "append", [value], [], site), site)
        self.out.append(
            b.if_statement(
                b.bool_and([b.type_is(x, ".list", site), *self._unlocked(x, site)], site), [inline], [slow], site
            )
        )
        return True
