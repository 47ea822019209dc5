"""Python syntax nodes, each with its place; a node's line number is the number of its site."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "LOAD",
    "STORE",
    "THREAD",
    "assign",
    "attribute",
    "binop",
    "bool_and",
    "bool_or",
    "call",
    "compare",
    "conditional",
    "constant",
    "expression",
    "if_statement",
    "name",
    "named",
    "negation",
    "store",
    "subscript",
    "tuple_of",
    "type_is",
]  # fmt: skip

THREAD: Final = ".t"
"""The running thread's name in compiled code; no script can write it."""

LOAD: Final = ast.Load()
STORE: Final = ast.Store()
_IS: Final[list[ast.cmpop]] = [ast.Is()]
_AND: Final = ast.And()
_OR: Final = ast.Or()
_NOT: Final = ast.Not()

_OPERATORS: Final[dict[str, ast.operator]] = {
    "+": ast.Add(), "-": ast.Sub(), "*": ast.Mult(), "/": ast.Div(), "//": ast.FloorDiv(), "%": ast.Mod(),
    "&": ast.BitAnd(), "|": ast.BitOr(), "^": ast.BitXor(), "<<": ast.LShift(), ">>": ast.RShift(),
}  # fmt: skip
_COMPARISONS: Final[dict[str, ast.cmpop]] = {
    "==": ast.Eq(), "!=": ast.NotEq(), "<": ast.Lt(), "<=": ast.LtE(), ">": ast.Gt(), ">=": ast.GtE(),
    "in": ast.In(), "not in": ast.NotIn(), "is": ast.Is(), "is not": ast.IsNot(),
}  # fmt: skip


_new_name: Final = ast.Name.__new__
_new_constant: Final = ast.Constant.__new__
_new_named: Final = ast.NamedExpr.__new__
_new_call: Final = ast.Call.__new__
_new_binop: Final = ast.BinOp.__new__
_new_compare: Final = ast.Compare.__new__
_new_conditional: Final = ast.IfExp.__new__
_new_bool: Final = ast.BoolOp.__new__

# A node is made by filling its dict, which takes two thirds of the time of the constructor: most of a cold compile is
# the making of nodes.


def _at(node: Any, site: int) -> Any:
    node.lineno = site
    node.col_offset = 0
    return node


_FIXED: Final[dict[str, ast.expr]] = {}


def name(identifier: str, site: int) -> ast.expr:
    """Read a Python variable; one of the engine's own always has a value, so that its node needs no place."""
    if identifier[0] == "." and identifier[2:3] != ".":
        found = _FIXED.get(identifier)
        if found is None:
            found = _name(identifier, 1)
            if len(_FIXED) < _FIXED_MAX:
                _FIXED[identifier] = found
        return found
    return _name(identifier, site)


_FIXED_MAX: Final = 4_096


def _name(identifier: str, site: int) -> ast.expr:
    node = _new_name(ast.Name)
    node.__dict__ = {"id": identifier, "ctx": LOAD, "lineno": site, "col_offset": 0}
    return node


def store(identifier: str, site: int) -> ast.expr:
    """Name a Python variable to assign to."""
    node = _new_name(ast.Name)
    node.__dict__ = {"id": identifier, "ctx": STORE, "lineno": site, "col_offset": 0}
    return node


def constant(value: Any, site: int) -> ast.expr:
    """Write a constant."""
    node = _new_constant(ast.Constant)
    node.__dict__ = {"value": value, "kind": None, "lineno": site, "col_offset": 0}
    return node


def named(identifier: str, value: ast.expr, site: int) -> ast.expr:
    """Keep a value in a variable on its way: ``(identifier := value)``."""
    node = _new_named(ast.NamedExpr)
    node.__dict__ = {"target": store(identifier, site), "value": value, "lineno": site, "col_offset": 0}
    return node


def call(
    function: str | ast.expr, arguments: Sequence[ast.expr], site: int, keywords: Sequence[ast.keyword] = ()
) -> ast.expr:
    """Call a function, by its Python name or any expression."""
    callee = name(function, site) if isinstance(function, str) else function
    node = _new_call(ast.Call)
    node.__dict__ = {
        "func": callee, "args": list(arguments), "keywords": list(keywords), "lineno": site, "col_offset": 0,
    }  # fmt: skip
    return node


def binop(x: ast.expr, operator: str, y: ast.expr, site: int) -> ast.expr:
    """Apply an operator of Python's."""
    node = _new_binop(ast.BinOp)
    node.__dict__ = {"left": x, "op": _OPERATORS[operator], "right": y, "lineno": site, "col_offset": 0}
    return node


def compare(x: ast.expr, operator: str, y: ast.expr, site: int) -> ast.expr:
    """Apply a comparison of Python's."""
    return _compare(x, [_COMPARISONS[operator]], [y], site)


def _compare(x: ast.expr, operators: list[ast.cmpop], others: list[ast.expr], site: int) -> ast.expr:
    node = _new_compare(ast.Compare)
    node.__dict__ = {"left": x, "ops": operators, "comparators": others, "lineno": site, "col_offset": 0}
    return node


def between(low: int, x: ast.expr, high: int, site: int) -> ast.expr:
    """Write ``low < x < high``."""
    less = _COMPARISONS["<"]
    return _compare(constant(low, site), [less, less], [x, constant(high, site)], site)


def bits_below(x: ast.expr, bits: int, site: int) -> ast.expr:
    """Write ``x.bit_length() < bits`` of an integer: both signs at once, as fast for a large one as for a small one."""
    length = call(attribute(x, "bit_length", site), [], site)
    return _compare(length, [_COMPARISONS["<"]], [constant(bits, site)], site)


def type_is(x: ast.expr, kind: str, site: int) -> ast.expr:
    """Write ``type(x) is kind``."""
    return _compare(call(".type", [x], site), _IS, [name(kind, site)], site)


def is_name(identifier: str, kind: str, site: int) -> ast.expr:
    """Write ``identifier is kind`` for two variables."""
    return _compare(name(identifier, site), _IS, [name(kind, site)], site)


def bool_and(parts: list[ast.expr], site: int) -> ast.expr:
    """Join conditions with ``and``; a single one stands for itself."""
    return parts[0] if len(parts) == 1 else _bool(_AND, parts, site)


def bool_or(parts: list[ast.expr], site: int) -> ast.expr:
    """Join conditions with ``or``; a single one stands for itself."""
    return parts[0] if len(parts) == 1 else _bool(_OR, parts, site)


def _bool(operator: ast.boolop, parts: list[ast.expr], site: int) -> ast.expr:
    node = _new_bool(ast.BoolOp)
    node.__dict__ = {"op": operator, "values": parts, "lineno": site, "col_offset": 0}
    return node


def negation(x: ast.expr, site: int) -> ast.expr:
    """Write ``not x``."""
    return _at(ast.UnaryOp(_NOT, x), site)  # type: ignore[no-any-return]  # _at returns its argument


def conditional(test: ast.expr, then: ast.expr, otherwise: ast.expr, site: int) -> ast.expr:
    """Write ``then if test else otherwise``."""
    node = _new_conditional(ast.IfExp)
    node.__dict__ = {"test": test, "body": then, "orelse": otherwise, "lineno": site, "col_offset": 0}
    return node


def attribute(x: ast.expr, identifier: str, site: int) -> ast.expr:
    """Read an attribute, for the engine's own use: never a name that a script chose."""
    node = ast.Attribute(x, identifier, LOAD)
    node.lineno = site
    node.col_offset = 0
    return node


def subscript(x: ast.expr, key: ast.expr, site: int, context: ast.expr_context = LOAD) -> ast.expr:
    """Index a value."""
    node = ast.Subscript(x, key, context)
    node.lineno = site
    node.col_offset = 0
    return node


def tuple_of(items: list[ast.expr], site: int, context: ast.expr_context = LOAD) -> ast.expr:
    """Write a tuple."""
    return _at(ast.Tuple(items, context), site)  # type: ignore[no-any-return]  # _at returns its argument


def assign(target: ast.expr, value: ast.expr, site: int) -> ast.stmt:
    """Assign a value."""
    node = ast.Assign([target], value)
    node.lineno = site
    node.col_offset = 0
    return node


def expression(value: ast.expr, site: int) -> ast.stmt:
    """Evaluate for the effect."""
    node = ast.Expr(value)
    node.lineno = site
    node.col_offset = 0
    return node


def if_statement(test: ast.expr, then: list[ast.stmt], otherwise: list[ast.stmt], site: int) -> ast.stmt:
    """Write an ``if`` statement."""
    node = ast.If(test, then, otherwise)
    node.lineno = site
    node.col_offset = 0
    return node


def charge(cost: ast.expr | int, site: int) -> list[ast.stmt]:
    """Pay for a block: count the thread's steps down, and look at its limits when they are used up."""
    amount = constant(cost, site) if isinstance(cost, int) else cost
    thread = name(THREAD, site)
    target = _at(ast.Attribute(thread, "left", STORE), site)
    count = _at(ast.AugAssign(target, _OPERATORS["-"], amount), site)
    refuel = expression(call(attribute(thread, "refuel", site), [], site), site)
    return [
        count,
        if_statement(compare(attribute(thread, "left", site), "<", constant(0, site), site), [refuel], [], site),
    ]
