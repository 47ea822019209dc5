"""What functions and loops may do: whether they change values, and whether what they call is known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from plait.starlark.resolving.bindings import GLOBAL, UNIVERSAL, FunctionFacts, LoopFacts
from plait.starlark.syntax import nodes as n

if TYPE_CHECKING:
    from plait.starlark.resolving.bindings import Binding

__all__ = ["MUTATORS", "PLAIN_METHODS", "Effects"]

MUTATORS: Final = frozenset(
    [
        "add",
        "append",
        "clear",
        "difference_update",
        "discard",
        "extend",
        "insert",
        "intersection_update",
        "pop",
        "popitem",
        "remove",
        "setdefault",
        "symmetric_difference_update",
        "update",
    ]
)
"""Methods of lists, dicts and sets that change them."""

PLAIN_METHODS: Final = MUTATORS | frozenset(
    [
        "capitalize",
        "codepoint_ords",
        "codepoints",
        "count",
        "difference",
        "elem_ords",
        "elems",
        "endswith",
        "find",
        "format",
        "get",
        "index",
        "intersection",
        "isalnum",
        "isalpha",
        "isdigit",
        "islower",
        "isspace",
        "issubset",
        "issuperset",
        "istitle",
        "isupper",
        "items",
        "join",
        "keys",
        "lower",
        "lstrip",
        "partition",
        "removeprefix",
        "removesuffix",
        "replace",
        "rfind",
        "rindex",
        "rpartition",
        "rsplit",
        "rstrip",
        "split",
        "splitlines",
        "startswith",
        "strip",
        "symmetric_difference",
        "title",
        "union",
        "upper",
        "values",
    ]
)
"""Methods of the language's own types; none calls a function of the script."""

_CALLING_BACK: Final = frozenset({"max", "min", "sorted"})


class Effects:
    """Collects what functions and loops do while the resolver walks a file.

    ``loops`` holds the loops under way in the function under way, that function's own facts first.
    """

    def __init__(self) -> None:
        self.loops: list[LoopFacts] = [FunctionFacts()]
        self._calls: list[tuple[n.Name, tuple[LoopFacts, ...], bool]] = []
        self._functions: list[FunctionFacts] = []

    def enter(self, facts: FunctionFacts) -> list[LoopFacts]:
        """Start a function; return what ``leave`` wants."""
        outer, self.loops = self.loops, [facts]
        self._functions.append(facts)
        return outer

    def leave(self, outer: list[LoopFacts]) -> None:
        """End a function."""
        self.loops = outer

    def mutation(self) -> None:
        """Note that a value is changed here."""
        for loop in self.loops:
            loop.mutates = True

    def unknown_call(self) -> None:
        """Note that something that is not known is called here."""
        for loop in self.loops:
            loop.unknown = True

    def call(self, call: n.Call) -> None:
        """Note a call; what its name stands for may not be known before the file's end."""
        function: n.Node = call.function
        while type(function) is n.Paren:
            function = function.x
        if type(function) is n.Name:
            named = any(kind != "" for kind, _, _, _ in call.arguments)
            by_place = function.name == "sorted" and len(call.arguments) > 1
            calls_back = function.name in _CALLING_BACK and (named or by_place)
            self._calls.append((function, tuple(self.loops), calls_back))
        elif type(function) is n.Attribute and function.name in PLAIN_METHODS:
            for loop in self.loops:
                loop.methods = True
            if function.name in MUTATORS:
                self.mutation()
        else:
            self.unknown_call()

    def settle(self, top: FunctionFacts) -> None:
        """Draw the conclusions at the file's end."""
        for name, loops, calls_back in self._calls:
            binding: Binding = name.binding
            if binding.scope == UNIVERSAL:
                known = not calls_back
                callee = None
            else:
                callee = _callee(binding)
                known = callee is not None
            for loop in loops:
                loop.unknown = loop.unknown or not known
                if callee is not None:
                    loop.calls.append(callee)
        self._spread(lambda f: not f.unknown, "safe")
        self._spread(lambda f: not f.unknown and not f.mutates, "quiet")
        top.safe = True

    def _spread(self, own: object, name: str) -> None:
        """Mark the functions that have a property themselves and call only functions that are marked."""
        callers: dict[int, list[FunctionFacts]] = {}
        waiting: dict[int, int] = {}
        ready = []
        for facts in self._functions:
            if not own(facts):  # type: ignore[operator]  # a predicate of this module
                continue
            callees = {id(callee) for callee in facts.calls}
            waiting[id(facts)] = len(callees)
            for callee in callees:
                callers.setdefault(callee, []).append(facts)
            if not callees:
                ready.append(facts)
        while ready:
            facts = ready.pop()
            setattr(facts, name, True)
            for caller in callers.get(id(facts), ()):
                waiting[id(caller)] -= 1
                if waiting[id(caller)] == 0:
                    ready.append(caller)


def _callee(binding: Binding) -> FunctionFacts | None:
    """Return the facts of the one function of this file that a name can stand for."""
    if binding.scope != GLOBAL or binding.count != 1 or binding.function is None:
        return None
    facts: FunctionFacts | None = binding.function.facts
    return facts
