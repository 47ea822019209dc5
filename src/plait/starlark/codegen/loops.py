"""Loops: how each pays for its turns."""

from __future__ import annotations

import ast
from typing import Any, Final

from plait.starlark.codegen import builder as b
from plait.starlark.codegen.assignments import Assignments
from plait.starlark.codegen.calls import is_fresh
from plait.starlark.codegen.scope import variable
from plait.starlark.resolving.bindings import UNIVERSAL, Binding
from plait.starlark.resolving.inference import SMALL, kind_of
from plait.starlark.running.linking import ITERATED
from plait.starlark.syntax import nodes as n

__all__ = ["Loops"]

_FIXED_MAX: Final = 1_024
"""Steps of a loop that is paid for by the block around it."""
_SMALL: Final = (1 << 30) - 1
_DOUBLE_LOOPS: Final = 5
"""Loops inside one another that are written as two each; Python allows twenty in all."""
_LOOPS_MAX: Final = 14


class Loops(Assignments):
    """Writes loops.

    A loop over a known length is paid for as a whole when it is short, and by slices that double when it is long. One
    that is likely to be left early, by a ``break`` or a ``return``, pays for each turn when it begins.
    """

    def block(self, statements: list[n.Node]) -> list[ast.stmt]:
        """Write the statements of a block of their own; the subclass knows how."""
        raise NotImplementedError

    def for_loop(self, node: n.ForLoop) -> None:
        """Write a ``for`` loop."""
        depth = len(self.breaks)
        if depth >= _LOOPS_MAX:
            raise self.source.error(f"too many loops inside one another (at most {_LOOPS_MAX})", node.offset)
        is_open = self.is_open(node.loop)
        is_open = is_open and not is_fresh(node.x)
        iterated = (
            self.loop_variable(ITERATED[1:]) if not is_open and not is_fresh(node.x) and self._watches(node) else ""
        )
        fixed = self.fixed_turns(node.x)
        amount: Any = b.constant(1, self.site(node.offset))
        slices = (
            self.value(node.x) if fixed is not None else self.slices(node.x, amount, locked=is_open, keep=iterated)[0]
        )
        outer, self.cost = self.cost, 1
        compact, self.compact = self.compact, False
        if iterated and fixed is None:
            self.iterated.append(iterated)
        self.breaks.append(False)
        self.leaves.append(False)
        if fixed is None:
            self.sliced.append(None if node.loop.leaves or depth >= _DOUBLE_LOOPS else (node.loop, set()))
        target, head = self.loop_target(node.target)
        body = [*head, *self.block(node.body)]
        broken, leaves = self.breaks.pop(), self.leaves.pop()
        watched = self.sliced.pop() if fixed is None else None
        if iterated and fixed is None:
            self.iterated.pop()
        amount.value = turn = self.cost
        self.cost = outer + 1
        self.compact = compact
        site = self.site(node.offset)
        if fixed is not None and (fixed * turn <= _FIXED_MAX):
            self.cost += fixed * turn
            self.out.append(_for_node(target, self._fixed(node.x, slices, site), body, [], site))
        elif leaves or fixed is not None:
            self._turn_by_turn(
                node, target, slices, body, amount, locked=is_open, broken=broken, keep=iterated, fixed=fixed
            )
        else:
            single = depth >= _DOUBLE_LOOPS
            if depth and not single:
                slices = self._short(node, slices, turn)
            looks = [] if watched is None else [self._look(binding, self.site(node.offset)) for binding in watched[1]]
            self.out.append(self._loop(node, target, slices, body, broken=broken, single=single, looks=looks))
        if iterated and fixed is None:
            self.out.append(b.assign(b.store(iterated, site), b.constant(None, site), site))

    @staticmethod
    def _look(binding: Binding, site: int) -> ast.stmt:
        """Write a look at the size of a variable that sums may have made large; it may hold nothing yet."""
        name = variable(binding)
        small = b.between(-_SMALL, b.name(name, site), _SMALL, site)
        look = b.expression(b.call(".look", [b.name(b.THREAD, site), b.name(name, site)], site), site)
        nothing = ast.Pass()
        nothing.lineno, nothing.col_offset = site, 0
        errors = b.tuple_of([b.name(".NameError", site), b.name(".TypeError", site)], site)
        handler = ast.ExceptHandler(errors, None, [nothing])
        handler.lineno, handler.col_offset = site, 0
        attempt = ast.Try([b.if_statement(b.negation(small, site), [look], [], site)], [handler], [], [])
        attempt.lineno, attempt.col_offset = site, 0
        return attempt

    def _short(self, node: n.ForLoop, slices: ast.expr, turn: int) -> ast.expr:
        """Return slices that cost no call when the loop is short, which is paid for before it starts.

        Source form → target form, for ``for v in x`` of a turn of 5 steps::

            if type(x) is list and (w := len(x) * 5) <= 1024:
                …charge(w)
                s = (x,)
            else:
                s = parts(t, x, 5)
            for part in s:
        """
        if not isinstance(slices, ast.Call) or not isinstance(slices.func, ast.Name):
            return slices
        site = self.site(node.offset)
        if slices.func.id == ".range_parts":
            stop = slices.args[2]
            if len(slices.args) != 3 or not isinstance(stop, ast.Name) or kind_of(node.x.arguments[0][2]) != SMALL:  # type: ignore[attr-defined]  # it is a call of range
                return slices
            whole = b.call(".range", [stop], site)
            tests = [b.compare(stop, ">=", b.constant(0, site), site)]
            size: ast.expr = stop
        elif slices.func.id == ".parts" and isinstance(slices.args[1], ast.Name | ast.NamedExpr):
            whole = slices.args[1]
            if isinstance(whole, ast.NamedExpr):
                self.out.append(b.assign(whole.target, whole.value, site))
                whole = slices.args[1] = self.again(whole, site)
            tests = [b.type_is(whole, ".list", site)]
            size = b.call(".len", [whole], site)
        else:
            return slices
        work, source = self.temporary(), self.temporary()
        product = b.binop(size, "*", b.constant(turn, site), site)
        tests.append(b.compare(b.named(work, product, site), "<=", b.constant(_FIXED_MAX, site), site))
        paid = [
            *b.charge(b.name(work, site), site),
            b.assign(b.store(source, site), b.tuple_of([whole], site), site),
        ]
        unpaid = b.assign(b.store(source, site), slices, site)
        self.out.append(b.if_statement(b.bool_and(tests, site), paid, [unpaid], site))
        return b.name(source, site)

    @staticmethod
    def fixed_turns(x: n.Node) -> int | None:
        """Return how often a loop turns when that can be seen: over a display, or a range with a number."""
        while type(x) is n.Paren:
            x = x.x
        if type(x) is n.Tuple or type(x) is n.List:
            return len(x.items)
        if (
            type(x) is not n.Call
            or type(x.function) is not n.Name
            or x.function.name != "range"
            or len(x.arguments) != 1
        ):
            return None
        kind, _, argument, _ = x.arguments[0]
        if (
            x.function.binding.scope != UNIVERSAL
            or kind
            or type(argument) is not n.Literal
            or type(argument.value) is not int
        ):
            return None
        return argument.value if argument.value < _FIXED_MAX else None

    @staticmethod
    def _fixed(x: n.Node, written: ast.expr, site: int) -> ast.expr:
        return (
            b.call(".range", [b.constant(x.arguments[0][2].value, site)], site)
            if type(x) is n.Call and type(x.arguments[0][2]) is n.Literal
            else written
        )

    def _turn_by_turn(
        self,
        node: n.ForLoop,
        target: ast.expr,
        slices: ast.expr,
        body: list[ast.stmt],
        amount: ast.expr,
        *,
        locked: bool,
        broken: bool,
        keep: str,
        fixed: int | None,
    ) -> None:
        """Write a loop that is likely to be left early: each turn is paid for when it begins."""
        site = self.site(node.offset)
        body = [*b.charge(amount, site), *body]
        thread = b.name(b.THREAD, site)
        if fixed is not None:
            self.out.append(_for_node(target, self._fixed(node.x, slices, site), body, [], site))
            return
        x = slices.args[1] if isinstance(slices, ast.Call) else slices
        if isinstance(slices, ast.Call) and isinstance(slices.func, ast.Name):
            function = slices.func.id
            if function == ".range_parts":
                arguments = slices.args[2:]
                iterable = b.call(
                    ".u.range", [thread, *arguments], self.site(node.x.offset, "call", ".u.range", len(arguments), ())
                )
                self.out.append(_for_node(target, iterable, body, [], site))
                return
            if function == ".enumerated_parts":
                x = b.call(".u.enumerate", [thread, slices.args[2]], site)
        if not locked:
            self.out.append(_for_node(target, b.call(".turns", [thread, x], site), body, [], site))
            return
        whole = b.call(".locked_turns", [thread, x], site)
        self.out.append(self._loop(node, target, whole, body, broken=broken, single=False))

    @staticmethod
    def _watches(node: n.ForLoop) -> bool:
        """Tell whether the loop's body may try to change what it iterates over."""
        x = node.x
        if type(x) is n.Call and type(x.function) is n.Name and x.function.name in ("range", "enumerate"):
            return x.function.name == "enumerate" and bool(node.loop.mutates or node.loop.methods)
        return True

    def _loop(
        self,
        node: n.ForLoop,
        target: ast.expr,
        slices: ast.expr,
        body: list[ast.stmt],
        *,
        broken: bool,
        single: bool,
        looks: list[ast.stmt] | tuple[()] = (),
    ) -> ast.stmt:
        site = self.site(node.offset)
        if single:
            return _for_node(target, b.call(".flat", [slices], site), body, [], site)
        part = self.loop_variable("part")
        leave: list[ast.stmt] = []
        after: list[ast.stmt] = []
        if broken:
            again, stop = ast.Continue(), ast.Break()
            again.lineno = stop.lineno = site
            again.col_offset = stop.col_offset = 0
            leave, after = [again], [stop]
        inner = _for_node(target, b.name(part, site), body, leave, site)
        if looks and not broken:
            after = list(looks)
        return _for_node(b.store(part, site), slices, [inner, *after], [], site)

    def while_loop(self, node: n.While) -> None:
        """Write a ``while`` loop."""
        if len(self.breaks) >= _LOOPS_MAX:
            raise self.source.error(f"too many loops inside one another (at most {_LOOPS_MAX})", node.offset)
        site = self.site(node.offset)
        outer, self.cost = self.cost, 2
        compact, self.compact = self.compact, False
        test = self.condition(node.test)
        self.breaks.append(False)
        self.leaves.append(False)
        self.sliced.append(None)
        body = self.block(node.body)
        self.sliced.pop()
        self.breaks.pop()
        self.leaves.pop()
        body[:0] = b.charge(self.cost, site)
        self.cost = outer + 2
        self.compact = compact
        python = ast.While(test, body, [])
        python.lineno, python.col_offset = site, 0
        self.out.append(python)


def _for_node(target: ast.expr, x: ast.expr, body: list[ast.stmt], otherwise: list[ast.stmt], site: int) -> ast.stmt:
    python = ast.For(target, x, body, otherwise)
    python.lineno, python.col_offset = site, 0
    return python
