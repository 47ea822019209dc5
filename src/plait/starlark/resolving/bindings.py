"""What the resolver learns: what each name stands for, and what each function and loop may do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from plait.starlark.syntax import nodes as n

__all__ = ["GLOBAL", "LOCAL", "PREDECLARED", "UNDEFINED", "UNIVERSAL", "Binding", "FunctionFacts", "LoopFacts", "Unit"]

LOCAL: Final = "local"
GLOBAL: Final = "global"
PREDECLARED: Final = "predeclared"
UNIVERSAL: Final = "universal"
UNDEFINED: Final = "undefined"


class Binding:
    """What a name stands for.

    Attributes:
        scope: One of this module's constants.
        offset: Where it is first bound.
        values: What it is bound to: expressions, ``(operator, name, expression)`` for an augmented assignment,
            ``("for", expression)`` for a loop's variable, ``("for", expression, place)`` for one of several, ``None``
            for anything else.
        count: How often it is bound.
        function: The function it names, when a ``def`` binds it.
        exported: It is one of the module's names (a loaded name is not).
        kind: What is known of its value's type; see ``inference``.
    """

    __slots__ = ("count", "exported", "function", "kind", "name", "offset", "scope", "values")

    def __init__(self, name: str, scope: str, offset: int) -> None:
        self.name = name
        self.scope = scope
        self.offset = offset
        self.values: list[Any] = []
        self.count = 0
        self.function: n.Function | None = None
        self.exported = True
        self.kind: str | None = None


class LoopFacts:
    """What a loop's body may do.

    Attributes:
        calls: Functions of the file that it calls by name.
        unknown: It calls something that is not known.
        mutates: It changes a list, a dict or a set itself.
        assigned: The names that it binds.
        leaves: A ``break`` or a ``return`` can end it early.
        methods: It calls what looks like a method of the language's own types, but may be a field of a struct.
    """

    __slots__ = ("assigned", "calls", "leaves", "methods", "mutates", "unknown")

    def __init__(self) -> None:
        self.calls: list[FunctionFacts] = []
        self.unknown = False
        self.mutates = False
        self.assigned: set[Binding] = set()
        self.leaves = False
        self.methods = False


class FunctionFacts(LoopFacts):
    """What a function may do.

    Attributes:
        bindings: Its own names, comprehensions' among them.
        loops: It has a loop or a comprehension.
        safe: It cannot be called again while it runs: it calls nothing that is not known, nor itself.
        quiet: It changes no list, dict or set, and neither does what it calls.
    """

    __slots__ = ("bindings", "loops", "quiet", "safe")

    def __init__(self) -> None:
        super().__init__()
        self.bindings: list[Binding] = []
        self.loops = False
        self.safe = False
        self.quiet = False


class Unit:
    """A resolved file.

    Attributes:
        statements: Its tree.
        globals: What its top level binds, by name; loaded names are among them.
        facts: Those of the top level.
        predeclared: The predeclared names that it uses.
    """

    __slots__ = ("facts", "globals", "predeclared", "statements")

    def __init__(self, statements: list[n.Node], facts: FunctionFacts) -> None:
        self.statements = statements
        self.facts = facts
        self.globals: dict[str, Binding] = {}
        self.predeclared: set[str] = set()
