"""The syntax tree. An offset is a place in the source, counted in characters from 0."""

from __future__ import annotations

from typing import Any

__all__ = [
    "Assign", "Attribute", "Binary", "Branch", "Call", "Comprehension", "Conditional", "Definition", "Dict",
    "ExprStatement",
    "ForClause", "ForLoop", "Function", "If", "IfClause", "Index", "Lambda", "List", "Literal", "Load", "Name", "Node",
    "Parameter", "Paren", "Return", "Slice", "Tuple", "Unary", "While",
]  # fmt: skip


class Node:
    """A node of the tree; ``offset`` is where its own operator or first character stands."""

    __slots__ = ("offset",)
    offset: int


class Name(Node):
    """A name; the resolver sets ``binding``, what the name stands for."""

    __slots__ = ("binding", "name")

    def __init__(self, offset: int, name: str) -> None:
        self.offset = offset
        self.name = name
        self.binding: Any = None


class Literal(Node):
    """A number, a string or bytes."""

    __slots__ = ("value",)

    def __init__(self, offset: int, value: Any) -> None:
        self.offset = offset
        self.value = value


class Unary(Node):
    """``+x``, ``-x``, ``~x`` or ``not x``."""

    __slots__ = ("operator", "x")

    def __init__(self, offset: int, operator: str, x: Node) -> None:
        self.offset = offset
        self.operator = operator
        self.x = x


class Binary(Node):
    """An operation on two values, ``and`` and ``or`` among them."""

    __slots__ = ("operator", "x", "y")

    def __init__(self, offset: int, operator: str, x: Node, y: Node) -> None:
        self.offset = offset
        self.operator = operator
        self.x = x
        self.y = y


class Conditional(Node):
    """``then if test else otherwise``."""

    __slots__ = ("otherwise", "test", "then")

    def __init__(self, offset: int, test: Node, then: Node, otherwise: Node) -> None:
        self.offset = offset
        self.test = test
        self.then = then
        self.otherwise = otherwise


class Paren(Node):
    """An expression in parentheses."""

    __slots__ = ("x",)

    def __init__(self, offset: int, x: Node) -> None:
        self.offset = offset
        self.x = x


class Tuple(Node):
    """Expressions with commas between."""

    __slots__ = ("items",)

    def __init__(self, offset: int, items: list[Node]) -> None:
        self.offset = offset
        self.items = items


class List(Node):
    """A list display."""

    __slots__ = ("items",)

    def __init__(self, offset: int, items: list[Node]) -> None:
        self.offset = offset
        self.items = items


class Dict(Node):
    """A dict display: its entries are (offset of the colon, key, value)."""

    __slots__ = ("entries",)

    def __init__(self, offset: int, entries: list[tuple[int, Node, Node]]) -> None:
        self.offset = offset
        self.entries = entries


class ForClause(Node):
    """``for target in x`` of a comprehension; ``loop`` is what the resolver learns of it."""

    __slots__ = ("loop", "target", "x")

    def __init__(self, offset: int, target: Node, x: Node) -> None:
        self.offset = offset
        self.target = target
        self.x = x
        self.loop: Any = None


class IfClause(Node):
    """``if test`` of a comprehension."""

    __slots__ = ("test",)

    def __init__(self, offset: int, test: Node) -> None:
        self.offset = offset
        self.test = test


class Comprehension(Node):
    """A list comprehension, or a dict comprehension when it has a ``value``."""

    __slots__ = ("clauses", "colon", "element", "value")

    def __init__(
        self, offset: int, element: Node, value: Node | None, colon: int, clauses: list[ForClause | IfClause]
    ) -> None:
        self.offset = offset
        self.element = element
        self.value = value
        self.colon = colon
        self.clauses = clauses


class Attribute(Node):
    """``x.name``."""

    __slots__ = ("name", "x")

    def __init__(self, offset: int, x: Node, name: str) -> None:
        self.offset = offset
        self.x = x
        self.name = name


class Index(Node):
    """``x[key]``."""

    __slots__ = ("key", "x")

    def __init__(self, offset: int, x: Node, key: Node) -> None:
        self.offset = offset
        self.x = x
        self.key = key


class Slice(Node):
    """``x[low:high:step]``."""

    __slots__ = ("high", "low", "step", "x")

    def __init__(self, offset: int, x: Node, low: Node | None, high: Node | None, step: Node | None) -> None:
        self.offset = offset
        self.x = x
        self.low = low
        self.high = high
        self.step = step


class Call(Node):
    """A call; ``arguments`` are (kind, name, value, offset) with kind ``""``, ``=``, ``*`` or ``**``."""

    __slots__ = ("arguments", "function", "start")

    def __init__(self, offset: int, start: int, function: Node, arguments: list[tuple[str, str, Node, int]]) -> None:
        self.offset = offset
        self.start = start
        self.function = function
        self.arguments = arguments


class Parameter:
    """A parameter: ``kind`` is ``""`` (required or optional), ``*`` or ``**``; a bare ``*`` has no name."""

    __slots__ = ("default", "kind", "name", "offset", "operator")

    def __init__(self, offset: int, kind: str, name: str, default: Node | None, operator: int) -> None:
        self.offset = offset
        self.kind = kind
        self.name = name
        self.default = default
        self.operator = operator


class Function:
    """What ``def`` and ``lambda`` have in common; the resolver fills in ``facts``."""

    __slots__ = ("body", "facts", "name", "offset", "parameters")

    def __init__(self, offset: int, name: str, parameters: list[Parameter], body: list[Node]) -> None:
        self.offset = offset
        self.name = name
        self.parameters = parameters
        self.body = body
        self.facts: Any = None


class Lambda(Node):
    """``lambda parameters: expression``."""

    __slots__ = ("function",)

    def __init__(self, offset: int, function: Function) -> None:
        self.offset = offset
        self.function = function


class ExprStatement(Node):
    """An expression for its effect."""

    __slots__ = ("x",)

    def __init__(self, offset: int, x: Node) -> None:
        self.offset = offset
        self.x = x


class Assign(Node):
    """``target = value``, or with an operator ``target += value``."""

    __slots__ = ("operator", "target", "value")

    def __init__(self, offset: int, operator: str, target: Node, value: Node) -> None:
        self.offset = offset
        self.operator = operator
        self.target = target
        self.value = value


class Branch(Node):
    """``break``, ``continue`` or ``pass``."""

    __slots__ = ("keyword",)

    def __init__(self, offset: int, keyword: str) -> None:
        self.offset = offset
        self.keyword = keyword


class Return(Node):
    """``return``, with or without a value."""

    __slots__ = ("value",)

    def __init__(self, offset: int, value: Node | None) -> None:
        self.offset = offset
        self.value = value


class If(Node):
    """``if``; an ``elif`` is an ``if`` in ``otherwise``."""

    __slots__ = ("otherwise", "test", "then")

    def __init__(self, offset: int, test: Node, then: list[Node], otherwise: list[Node]) -> None:
        self.offset = offset
        self.test = test
        self.then = then
        self.otherwise = otherwise


class ForLoop(Node):
    """``for``; ``loop`` is what the resolver learns of it."""

    __slots__ = ("body", "loop", "target", "x")

    def __init__(self, offset: int, target: Node, x: Node, body: list[Node]) -> None:
        self.offset = offset
        self.target = target
        self.x = x
        self.body = body
        self.loop: Any = None


class While(Node):
    """``while``."""

    __slots__ = ("body", "loop", "test")

    def __init__(self, offset: int, test: Node, body: list[Node]) -> None:
        self.offset = offset
        self.test = test
        self.body = body
        self.loop: Any = None


class Definition(Node):
    """``def``."""

    __slots__ = ("function", "name")

    def __init__(self, offset: int, name: Name, function: Function) -> None:
        self.offset = offset
        self.name = name
        self.function = function


class Load(Node):
    """``load("module", local="name")``; names are (local name, name in the module, its offset)."""

    __slots__ = ("module", "names")

    def __init__(self, offset: int, module: str, names: list[tuple[Name, str, int]]) -> None:
        self.offset = offset
        self.module = module
        self.names = names
