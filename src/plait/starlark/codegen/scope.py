"""The state of code generation: the function being written, its costs, its temporary variables and its sites."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, Final

from plait.starlark.codegen import builder as b
from plait.starlark.errors import ParseError
from plait.starlark.resolving.bindings import GLOBAL, PREDECLARED
from plait.starlark.syntax import nodes as n

if TYPE_CHECKING:
    from plait.starlark.options import Options
    from plait.starlark.resolving.bindings import Binding, FunctionFacts, LoopFacts, Unit
    from plait.starlark.syntax.source import Source

__all__ = ["CALL_COST", "NESTING_MAX", "Scope", "operand", "parameter_name", "unwrapped", "variable"]

CALL_COST: Final = 4
"""Steps of a call, beside those of what is called."""
PYTHON_NAMES: Final = frozenset({"None", "True", "False", "__debug__"})
"""Names that mean something to Python's compiler wherever they stand."""
NESTING_MAX: Final = 14
"""Most functions, lambdas and comprehensions inside one another."""


def variable(binding: Binding) -> str:
    """Return the Python variable of a name: a module's own names are told from a function's by a prefix."""
    if binding.scope == GLOBAL:
        return f".g.{binding.name}"
    if binding.scope == PREDECLARED:
        return f".p.{binding.name}"
    return parameter_name(binding.name)


def unwrapped(node: n.Node) -> n.Node:
    """Return an expression without the parentheses around it."""
    while type(node) is n.Paren:
        node = node.x
    return node


def parameter_name(name: str) -> str:
    """Return the Python name of a parameter, or of another variable of a function."""
    return f".l.{name}" if name in PYTHON_NAMES else name


def operand(node: ast.expr) -> Any:
    """Return where a failed operation finds this operand's value: a variable's name, or a tuple with a constant."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.NamedExpr) and isinstance(node.target, ast.Name):
        return node.target.id
    return (node.value,) if isinstance(node, ast.Constant) else None


class Scope:
    """What every part of the generator shares.

    Attributes:
        sites: One entry for each place that can fail: its offset, then what is done there, for the error's text.
        out: The statements being written.
        cost: Steps of the block being written.
        iterated: Variables that hold what the loops around iterate over, of those loops that do not lock it.
    """

    def __init__(self, source: Source, unit: Unit, options: Options, identity: str) -> None:
        self.source = source
        self.unit = unit
        self.options = options
        self.identity = identity
        self.sites: list[tuple[Any, ...]] = []
        self.out: list[ast.stmt] = []
        self.cost = 0
        self.iterated: list[str] = []
        self.facts: FunctionFacts = unit.facts
        self.calls = False
        self.function_name = ""
        self.breaks: list[bool] = []
        """For each loop around: whether a ``break`` ends it."""
        self.leaves: list[bool] = []
        """For each loop around: whether a ``break`` or a ``return`` can end it early."""
        self.sliced: list[tuple[LoopFacts, set[Binding]] | None] = []
        """For each loop around that is not of a fixed length: its facts and the names to be looked at between its
        slices, or nothing when it has none."""
        self.watched = False
        """Whether a sum that is about to be written may go without a look at its size."""
        self._temporaries = 0
        self._loops = 0
        self._functions = 0
        self.nesting = 0
        self.comprehensions = 0
        self.hidden: set[str] = set()
        """Variables of comprehensions that Python 3.12 and later hide: a failed operation finds only a copy of them."""
        self.compact = True
        """Outside loops, where the short form is worth more than the fast one."""
        self.plain = 0
        """Above 0 where Python allows no ``:=``: in what a comprehension iterates over."""

    def site(self, offset: int, *what: Any) -> int:
        """Note a place that can fail; return its number, which is the line number in the compiled code."""
        self.sites.append((offset, *what))
        return len(self.sites)

    def temporary(self) -> str:
        """Return the name of a variable that is used within one statement."""
        self._temporaries += 1
        return f".c{self._temporaries}" if self.comprehensions else f".v{self._temporaries}"

    def loop_variable(self, prefix: str) -> str:
        """Return the name of a variable that lives as long as a loop."""
        self._loops += 1
        return f".{prefix}{self._loops}"

    def function_key(self) -> str:
        """Return what tells this function from every other function that was ever compiled."""
        self._functions += 1
        return f"{self.identity}:{self._functions}"

    def is_watched(self, *operands: n.Node | None) -> bool:
        """Tell whether one of a sum's operands is looked at between the slices of the loop around, for it may grow."""
        if not self.sliced or self.sliced[-1] is None:
            return False
        facts, watched = self.sliced[-1]
        for node in operands:
            if type(node) is n.Name and node.binding in facts.assigned:
                watched.add(node.binding)
                return True
        return False

    def new_statement(self) -> None:
        """Let the temporary variables be used again."""
        if not self.comprehensions:
            self._temporaries = 0

    def too_deep(self, offset: int) -> ParseError:
        """Return the error of functions and comprehensions nested too deeply."""
        return self.source.error(
            f"functions and comprehensions are nested too deeply (at most {NESTING_MAX} levels)", offset
        )

    def keep(self, node: ast.expr, site: int) -> ast.expr:
        """Return an expression whose value a failed operation can find again."""
        if self.plain or isinstance(node, ast.Constant | ast.NamedExpr):
            return node
        if isinstance(node, ast.Name) and node.id not in self.hidden:
            return node
        return b.named(self.temporary(), node, site)

    @staticmethod
    def again(kept: ast.expr, site: int) -> ast.expr:
        """Return an expression that reads the value of a kept one again."""
        if isinstance(kept, ast.NamedExpr) and isinstance(kept.target, ast.Name):
            return b.name(kept.target.id, site)
        return kept

    def evaluated(self, x: ast.expr, y: ast.expr, site: int) -> tuple[list[ast.expr], ast.expr, ast.expr]:
        """Return a condition that evaluates both operands in order and holds, and what reads the operands again."""
        x, y = self.keep(x, site), self.keep(y, site)
        if self.is_simple(x) and self.is_simple(y):
            return [], x, y
        first, second = (x, y) if isinstance(x, ast.NamedExpr) else (y, x)
        other = b.name(".TRUE", site) if isinstance(second, ast.Constant) else second
        both = b.bool_or([b.compare(first, "is", other, site), b.constant(True, site)], site)
        return [both], self.again(x, site), self.again(y, site)

    def evaluated_all(self, values: list[ast.expr], site: int) -> tuple[list[ast.expr], list[ast.expr]]:
        """Return conditions that evaluate all values in order and hold, and what reads the values again."""
        kept = [self.keep(value, site) for value in values]
        always = b.name(".TRUE", site)
        tests = [
            b.bool_or([b.compare(value, "is", always, site), b.constant(True, site)], site)
            for value in kept
            if isinstance(value, ast.NamedExpr)
        ]
        return tests, [self.again(value, site) for value in kept]

    @staticmethod
    def is_simple(node: ast.expr) -> bool:
        """Tell whether an expression may be read twice without doing anything twice."""
        return isinstance(node, ast.Name | ast.Constant)
