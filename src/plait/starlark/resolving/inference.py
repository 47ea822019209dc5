"""Inference: what is certain about the types of a function's names, so that the inline forms can be short.

A kind is ``small`` (an integer below 2**62 in magnitude), ``int``, ``float``, ``number`` (an int, a float or a value of
the host: no string and no collection), ``str``, ``bool`` (``TRUE`` or ``FALSE``), or ``?`` for anything. It holds
whenever the name has a value at all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from plait.starlark.resolving.bindings import UNIVERSAL
from plait.starlark.syntax import nodes as n

if TYPE_CHECKING:
    from plait.starlark.resolving.bindings import Binding

__all__ = [
    "ANY",
    "BOOL",
    "COMPARISONS",
    "FLOAT",
    "INT",
    "INTEGERS",
    "NUMBER",
    "NUMBERS",
    "NUMERIC",
    "SMALL",
    "STR",
    "arithmetic",
    "kind_of",
    "settle",
]

SMALL: Final = "small"
INT: Final = "int"
FLOAT: Final = "float"
NUMBER: Final = "number"
STR: Final = "str"
BOOL: Final = "bool"
ANY: Final = "?"

INTEGERS: Final = frozenset({SMALL, INT})
NUMBERS: Final = frozenset({SMALL, INT, FLOAT})
NUMERIC: Final = NUMBERS | {NUMBER}
COMPARISONS: Final = frozenset({"==", "!=", "<", ">", "<=", ">=", "in", "not in"})

_RESULTS: Final = {
    "len": SMALL,
    "str": STR,
    "repr": STR,
    "type": STR,
    "hash": SMALL,
    "ord": SMALL,
    "chr": STR,
    "float": FLOAT,
}
_SMALL_BOUND: Final = 1 << 60
_ROUNDS: Final = 6


def settle(bindings: list[Binding]) -> None:
    """Find the kinds of a function's names.

    It starts from nothing being known to be possible and adds what each assignment can give, until nothing is added.

    Args:
        bindings: The names; each gets its ``kind``.
    """
    for binding in bindings:
        binding.kind = ANY if None in binding.values else None
    open_bindings = [binding for binding in bindings if binding.kind is None]
    for _ in range(_ROUNDS):
        changed = False
        for binding in open_bindings:
            kind = binding.kind
            for value in binding.values:
                kind = _join(kind, _value_kind(value))
            if kind != binding.kind:
                binding.kind = kind
                changed = True
        if not changed:
            break
    else:
        for binding in open_bindings:
            binding.kind = ANY
    for binding in open_bindings:
        binding.kind = binding.kind or ANY


def _join(x: str | None, y: str | None) -> str | None:
    if x is None or x == y:
        return y
    if y is None:
        return x
    if x in INTEGERS and y in INTEGERS:
        return INT
    return NUMBER if x in NUMERIC and y in NUMERIC else ANY


def _value_kind(value: Any) -> str | None:
    if type(value) is not tuple:
        return kind_of(value)
    if value[0] == "for":
        return _element_kind(value[1], value[2] if len(value) > 2 else None)
    operator, target, operand = value
    return arithmetic(operator, kind_of(target), kind_of(operand))


def _element_kind(x: n.Node, place: int | None) -> str:  # noqa: PLR0911 - one return for each case
    """Return the kind of a loop's variable, the one at ``place`` when there are several."""
    if type(x) is n.Paren:
        return _element_kind(x.x, place)
    if (type(x) is n.Tuple or type(x) is n.List) and x.items and place is None:
        kinds = {kind_of(item) for item in x.items}
        return kinds.pop() or ANY if len(kinds) == 1 else INT if kinds <= INTEGERS else ANY
    if type(x) is not n.Call or type(x.function) is not n.Name or x.function.binding.scope != UNIVERSAL:
        return ANY
    name, arguments = x.function.name, x.arguments
    if any(argument[0] for argument in arguments):
        return ANY
    if name == "enumerate" and place == 0 and len(arguments) == 1:
        return SMALL
    if name != "range" or place is not None or not arguments:
        return ANY
    bounds = [kind_of(argument[2]) for argument in arguments]
    return SMALL if len(bounds) == 1 or all(kind == SMALL for kind in (bounds[0], *bounds[2:])) else INT


def kind_of(node: n.Node) -> str | None:  # noqa: PLR0911 - one return for each case
    """Return the kind of an expression, ``None`` while a name in it is not yet known to have any."""
    kind = type(node)
    if kind is n.Name:
        return node.binding.kind if node.binding is not None else ANY  # type: ignore[attr-defined]  # kind is Name
    if kind is n.Literal:
        return literal_kind(node.value)  # type: ignore[attr-defined]  # kind is Literal
    if kind is n.Binary:
        return _binary_kind(node)  # type: ignore[arg-type]  # kind is Binary
    if kind is n.Unary:
        operand = kind_of(node.x)  # type: ignore[attr-defined]  # kind is Unary
        if node.operator == "not":  # type: ignore[attr-defined]  # kind is Unary
            return BOOL
        return operand if operand is None or operand in (INT, FLOAT) else INT if operand == SMALL else NUMBER
    if kind is n.Paren:
        return kind_of(node.x)  # type: ignore[attr-defined]  # kind is Paren
    if kind is n.Conditional:
        return _join(kind_of(node.then), kind_of(node.otherwise)) or ANY  # type: ignore[attr-defined]  # kind is Conditional
    if kind is n.Call and type(node.function) is n.Name and node.function.binding.scope == UNIVERSAL:  # type: ignore[attr-defined]  # kind is Call
        return _RESULTS.get(node.function.name, ANY)  # type: ignore[attr-defined]  # kind is Call
    return ANY


def literal_kind(value: Any) -> str:
    """Return the kind of a literal's value."""
    kind = type(value)
    if kind is int:
        return SMALL if -_SMALL_BOUND < value < _SMALL_BOUND else INT
    return STR if kind is str else FLOAT if kind is float else ANY


def _binary_kind(node: n.Binary) -> str | None:
    operators = []
    x: n.Node = node
    while type(x) is n.Binary and x.operator not in COMPARISONS and x.operator not in ("and", "or"):
        operators.append((x.operator, x.y))
        x = x.x
    if not operators:
        return BOOL if node.operator in COMPARISONS else ANY
    kind = kind_of(x)
    for operator, y in reversed(operators):
        kind = arithmetic(operator, kind, kind_of(y))
    return kind


def arithmetic(operator: str, x: str | None, y: str | None) -> str | None:  # noqa: PLR0911 - one return for each case
    """Return the kind of ``x operator y`` from the kinds of its operands."""
    if operator == "%" and x == STR:
        return STR
    if x is None or y is None:
        return None
    if x in INTEGERS and y in INTEGERS:
        return _integer_result(operator, x, y)
    both, either = x in NUMERIC and y in NUMERIC, x in NUMERIC or y in NUMERIC
    if operator in ("+", "-", "*", "/", "//", "%") and x in NUMBERS and y in NUMBERS:
        return FLOAT
    if operator in ("/", "//", "<<", ">>"):
        return NUMBER
    if operator == "*":
        return NUMBER if both else ANY
    if operator == "%":
        return NUMBER if x in NUMERIC else ANY
    if either:
        return NUMBER
    return STR if operator == "+" and x == y == STR else ANY


def _integer_result(operator: str, x: str, y: str) -> str:
    if operator == "/":
        return FLOAT
    if operator == "%":
        return SMALL if y == SMALL else INT
    if operator in ("//", ">>"):
        return x
    return SMALL if x == y == SMALL and operator in ("&", "|", "^") else INT
