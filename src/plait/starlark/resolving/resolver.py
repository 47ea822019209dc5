"""The resolver: what each name of a file stands for, and whether each statement may stand where it does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from plait.starlark.errors import ResolveError
from plait.starlark.resolving.bindings import (
    GLOBAL,
    LOCAL,
    PREDECLARED,
    UNDEFINED,
    UNIVERSAL,
    Binding,
    FunctionFacts,
    LoopFacts,
    Unit,
)
from plait.starlark.resolving.effects import Effects
from plait.starlark.resolving.parameters import check_arguments, check_parameters
from plait.starlark.spelling import nearest
from plait.starlark.syntax import nodes as n

if TYPE_CHECKING:
    from collections.abc import Callable
    from collections.abc import Set as AbstractSet

    from plait.starlark.options import Options
    from plait.starlark.syntax.source import Source

__all__ = ["resolve"]

_DOES_NOT: Final = "this Starlark dialect does not "
_UNASSIGNABLE: Final = {
    n.Binary: "binaryexpr", n.Call: "callexpr", n.Comprehension: "comprehension", n.Conditional: "condexpr",
    n.Dict: "dictexpr", n.Lambda: "lambdaexpr", n.Literal: "literal", n.Slice: "sliceexpr", n.Unary: "unaryexpr",
}  # fmt: skip


def resolve(
    source: Source,
    statements: list[n.Node],
    predeclared: AbstractSet[str],
    universal: AbstractSet[str],
    options: Options,
) -> Unit:
    """Find out what each name of a file stands for.

    Args:
        source: The file, for errors.
        statements: Its tree, which is annotated in place.
        predeclared: Names that the host offers.
        universal: Names of the language.
        options: What the file may use.

    Returns:
        The file, with what was learned.

    Raises:
        ResolveError: With all that is wrong.
    """
    resolver = _Resolver(source, predeclared, universal, options)
    try:
        unit = resolver.file(statements)
    except RecursionError:
        raise ResolveError("the source is nested too deeply", source.filename, 1, 1) from None
    if resolver.problems:
        errors = tuple(
            ResolveError(message, source.filename, *source.place(offset))
            for offset, message in sorted(resolver.problems)
        )
        first = errors[0]
        raise ResolveError(first.message, first.filename, first.line, first.column, errors)
    return unit


class _Block:
    """Names bound in the file, a function or a comprehension."""

    __slots__ = ("bindings", "function", "parent")

    def __init__(self, parent: _Block | None, function: FunctionFacts | None) -> None:
        self.parent = parent
        self.function = function
        self.bindings: dict[str, Binding] = {}


class _Resolver:
    def __init__(
        self, source: Source, predeclared: AbstractSet[str], universal: AbstractSet[str], options: Options
    ) -> None:
        self.source = source
        self.options = options
        self.predeclared = predeclared
        self.universal = universal
        self.problems: list[tuple[int, str]] = []
        self.top = FunctionFacts()
        self.block = self.file_block = _Block(None, self.top)
        self.facts = self.top
        self.globals: dict[str, Binding] = {}
        self.outside: dict[str, Binding] = {}
        self.uses: list[tuple[n.Name, _Block]] = []
        self.effects = Effects()
        self.loops = 0
        self.conditions = 0
        self.statement_of: dict[type, Callable[[Any], None]] = {
            n.ExprStatement: lambda s: self.expression(s.x),
            n.Assign: self._assignment,
            n.If: self._if,
            n.ForLoop: self._for,
            n.While: self._while,
            n.Return: self._return,
            n.Definition: self._definition,
            n.Load: self._load,
            n.Branch: self._branch,
        }
        self.expression_of: dict[type, Callable[[Any], None]] = {
            n.Name: lambda e: self.uses.append((e, self.block)),
            n.Literal: lambda _: None,
            n.Unary: lambda e: self.expression(e.x),
            n.Paren: lambda e: self.expression(e.x),
            n.Conditional: self._conditional,
            n.Binary: self._binary,
            n.Tuple: lambda e: self._each(e.items),
            n.List: lambda e: self._each(e.items),
            n.Dict: self._dict,
            n.Comprehension: self._comprehension,
            n.Attribute: lambda e: self.expression(e.x),
            n.Index: self._index,
            n.Slice: self._slice,
            n.Call: self._call,
            n.Lambda: lambda e: self._function(e.function),
        }

    def problem(self, offset: int, message: str) -> None:
        """Note something wrong."""
        self.problems.append((offset, message))

    # ---- statements

    def file(self, statements: list[n.Node]) -> Unit:
        if self.options.global_reassign:
            self.expression_of[n.Name] = self._use_in_order
        self.body(statements)
        for name, block in self.uses:
            name.binding = self._lookup(name, block)
        self.effects.settle(self.top)
        unit = Unit(statements, self.top)
        unit.globals = {**self.globals, **self.file_block.bindings}
        unit.predeclared = {b.name for b in self.outside.values() if b.scope == PREDECLARED}
        return unit

    def body(self, statements: list[n.Node]) -> None:
        statement_of = self.statement_of
        for statement in statements:
            statement_of[type(statement)](statement)

    def _top_level(self) -> bool:
        return self.facts is self.top

    def _branch(self, statement: n.Branch) -> None:
        if self.loops == 0 and statement.keyword != "pass":
            self.problem(statement.offset, f"{statement.keyword} not in a loop")
        elif statement.keyword == "break":
            self.effects.loops[-1].leaves = True

    def _if(self, statement: n.If) -> None:
        tail: n.Node | None = statement
        self.conditions += 1
        while type(tail) is n.If:
            if self._top_level() and not self.options.top_level_control:
                self.problem(tail.offset, "if statement not within a function")
            self.expression(tail.test)
            self.body(tail.then)
            otherwise = tail.otherwise
            tail = otherwise[0] if len(otherwise) == 1 and type(otherwise[0]) is n.If else None
            if tail is None:
                self.body(otherwise)
        self.conditions -= 1

    def _assignment(self, statement: n.Assign) -> None:
        self.expression(statement.value)
        target: n.Node = statement.target
        while type(target) is n.Paren:
            target = target.x
        if not statement.operator:
            self.assign(target, statement.value)
            return
        value: Any = (statement.operator, target, statement.value) if type(target) is n.Name else None
        if type(target) in (n.Tuple, n.List):
            kind = "tuple" if type(target) is n.Tuple else "list"
            self.problem(target.offset, f"can't use {kind} expression in augmented assignment")
        else:
            self.assign(target, value)
            self.effects.mutation()

    def _definition(self, statement: n.Definition) -> None:
        self.bind(statement.name, None)
        if statement.name.binding.function is None:
            statement.name.binding.function = statement.function
        self._function(statement.function)

    def _for(self, statement: n.ForLoop) -> None:
        if self._top_level() and not self.options.top_level_control:
            self.problem(statement.offset, "for loop not within a function")
        self.expression(statement.x)
        self._loop_targets(statement.target, statement.x)
        statement.loop = self._enter_loop()
        self.loops += 1
        self.body(statement.body)
        self.loops -= 1
        self.effects.loops.pop()

    def _while(self, statement: n.While) -> None:
        if not self.options.while_loops:
            self.problem(statement.offset, _DOES_NOT + "support while loops")
        if self._top_level() and not self.options.top_level_control:
            self.problem(statement.offset, "while loop not within a function")
        self.expression(statement.test)
        statement.loop = self._enter_loop()
        self.loops += 1
        self.body(statement.body)
        self.loops -= 1
        self.effects.loops.pop()

    def _enter_loop(self) -> LoopFacts:
        loop = LoopFacts()
        self.facts.loops = True
        self.effects.loops.append(loop)
        return loop

    def _loop_targets(self, target: n.Node, x: n.Node) -> None:
        while type(target) is n.Paren:
            target = target.x
        if type(target) is n.Tuple:
            for place, item in enumerate(target.items):
                self.assign(item, ("for", x, place))
        else:
            self.assign(target, ("for", x))

    def _return(self, statement: n.Return) -> None:
        if self._top_level():
            self.problem(statement.offset, "return statement not within a function")
        for loop in self.effects.loops:
            loop.leaves = True
        if statement.value is not None:
            self.expression(statement.value)

    def _load(self, statement: n.Load) -> None:
        if not self._top_level():
            self.problem(statement.offset, "load statement within a function")
        elif self.loops:
            self.problem(statement.offset, "load statement within a loop")
        elif self.conditions:
            self.problem(statement.offset, "load statement within a conditional")
        self.effects.unknown_call()
        for local, original, offset in statement.names:
            self._loaded(local, original, offset)

    def _loaded(self, local: n.Name, original: str, offset: int) -> None:
        if not original:
            self.problem(offset, "load: empty identifier")
            return
        if original.startswith("_"):
            self.problem(offset, f"load: names with leading underscores are not exported: {original}")
        if not local.name.isidentifier():
            self.problem(offset, f"load: {local.name[:40]} is not an identifier")
            return
        if self.options.load_binds_globally or not self._top_level():
            self.bind(local, None)
            return
        binding = self.file_block.bindings.get(local.name)
        if binding is None:
            binding = self.file_block.bindings[local.name] = Binding(local.name, GLOBAL, local.offset)
            binding.exported = False
        elif not self.options.global_reassign:
            self.problem(local.offset, f"cannot reassign top-level {local.name}")
        self._bound(local, binding, None)

    # ---- binding names

    def assign(self, target: n.Node, value: Any) -> None:
        """Resolve the left side of an assignment; ``value`` is what a lone name is bound to, as in ``Binding``."""
        kind = type(target)
        if kind is n.Name:
            self.bind(target, value)  # type: ignore[arg-type]  # mypy does not follow type() kept in a name
        elif isinstance(target, n.Index):
            self.expression(target.x)
            self.expression(target.key)
            self.effects.mutation()
        elif isinstance(target, n.Attribute):
            self.expression(target.x)
            self.effects.unknown_call()
        elif isinstance(target, n.Tuple | n.List):
            for item in target.items:
                self.assign(item, None)
        elif isinstance(target, n.Paren):
            self.assign(target.x, value)
        else:
            self.problem(_start(target), f"can't assign to {_UNASSIGNABLE[kind]}")

    def bind(self, name: n.Name, value: Any) -> bool:
        """Bind a name in the current block; tell whether it was bound before."""
        if self.block is not self.file_block:
            return self._bind_local(name, value)
        binding = self.file_block.bindings.get(name.name) or self.globals.get(name.name)
        known = binding is not None
        if binding is None:
            binding = self.globals[name.name] = Binding(name.name, GLOBAL, name.offset)
        elif not self.options.global_reassign:
            line, column = self.source.place(binding.offset)
            scope = GLOBAL if binding.exported else LOCAL
            place = f"{self.source.filename}:{line}:{column}"
            self.problem(name.offset, f"cannot reassign {scope} {name.name} declared at {place}")
        self._bound(name, binding, value)
        return known

    def _bind_local(self, name: n.Name, value: Any) -> bool:
        binding = self.block.bindings.get(name.name)
        known = binding is not None
        if binding is None:
            binding = self.block.bindings[name.name] = Binding(name.name, LOCAL, name.offset)
            self.facts.bindings.append(binding)
        self._bound(name, binding, value)
        return known

    def _bound(self, name: n.Name, binding: Binding, value: Any) -> None:
        name.binding = binding
        for loop in self.effects.loops:
            loop.assigned.add(binding)
        binding.count += 1
        binding.values.append(value)

    def _use_in_order(self, name: n.Name) -> None:
        """With global reassignment a top-level use means what is bound so far."""
        if self.block is self.file_block:
            name.binding = self._outside(name, self.block)
        else:
            self.uses.append((name, self.block))

    def _lookup(self, name: n.Name, block: _Block) -> Binding:
        env: _Block | None = block
        while env is not None and env.parent is not None:
            binding = env.bindings.get(name.name)
            if binding is not None:
                return binding
            env = env.parent
        return self._outside(name, block)

    def _outside(self, name: n.Name, block: _Block) -> Binding:
        text = name.name
        binding = self.file_block.bindings.get(text) or self.globals.get(text) or self.outside.get(text)
        if binding is not None:
            return binding
        if text in self.predeclared:
            scope = PREDECLARED
        elif text in self.universal:
            scope = UNIVERSAL
            if text == "set" and not self.options.set:
                self.problem(name.offset, _DOES_NOT + "support sets")
        else:
            hint = nearest(text, self._names(block)) if len(self.problems) < 100 else None
            self.problem(name.offset, f"undefined: {text[:200]}" + (f" (did you mean {hint}?)" if hint else ""))
            return Binding(text, UNDEFINED, name.offset)
        binding = self.outside[text] = Binding(text, scope, name.offset)
        binding.values.append(None)
        return binding

    def _names(self, block: _Block) -> list[str]:
        names: set[str] = set(self.globals)
        env: _Block | None = block
        while env is not None:
            names.update(env.bindings)
            env = env.parent
        return sorted(names)

    # ---- expressions

    def expression(self, node: n.Node) -> None:
        """Resolve an expression."""
        self.expression_of[type(node)](node)

    def _each(self, nodes: list[n.Node]) -> None:
        expression_of = self.expression_of
        for node in nodes:
            expression_of[type(node)](node)

    def _binary(self, node: n.Binary) -> None:
        x: n.Node = node
        while type(x) is n.Binary:  # a long sum leans to the left
            self.expression(x.y)
            x = x.x
        self.expression(x)

    def _conditional(self, node: n.Conditional) -> None:
        self.expression(node.test)
        self.expression(node.then)
        self.expression(node.otherwise)

    def _dict(self, node: n.Dict) -> None:
        for _, key, value in node.entries:
            self.expression(key)
            self.expression(value)

    def _index(self, node: n.Index) -> None:
        self.expression(node.x)
        self.expression(node.key)

    def _slice(self, node: n.Slice) -> None:
        for part in (node.x, node.low, node.high, node.step):
            if part is not None:
                self.expression(part)

    def _comprehension(self, node: n.Comprehension) -> None:
        first = node.clauses[0]
        self.expression(first.x)  # type: ignore[union-attr]  # the first clause is always a for
        self.block = _Block(self.block, None)
        depth = len(self.effects.loops)
        for clause in node.clauses:
            if isinstance(clause, n.IfClause):
                self.expression(clause.test)
                continue
            if clause is not first:
                self.expression(clause.x)
            self._loop_targets(clause.target, clause.x)
            clause.loop = self._enter_loop()
            clause.loop.mutates = not _binds_names_only(clause.target)
        self.expression(node.element)
        if node.value is not None:
            self.expression(node.value)
        del self.effects.loops[depth:]
        parent = self.block.parent
        if parent is not None:
            self.block = parent

    def _call(self, node: n.Call) -> None:
        self.expression(node.function)
        check_arguments(node, self.problem)
        for _, _, value, _ in node.arguments:
            self.expression(value)
        self.effects.call(node)

    def _function(self, function: n.Function) -> None:
        for parameter in function.parameters:
            if parameter.default is not None:
                self.expression(parameter.default)
        facts = function.facts = FunctionFacts()
        outer = (self.block, self.facts, self.loops)
        self.block, self.facts, self.loops = _Block(self.block, facts), facts, 0
        loops = self.effects.enter(facts)
        check_parameters(function, self.problem, lambda name: self.bind(name, None))
        self.body(function.body)
        self.effects.leave(loops)
        self.block, self.facts, self.loops = outer


def _binds_names_only(target: n.Node) -> bool:
    while type(target) is n.Paren:
        target = target.x
    if isinstance(target, n.Tuple | n.List):
        return all(_binds_names_only(item) for item in target.items)
    return type(target) is n.Name


def _start(node: Any) -> int:
    """Return where an expression's first character stands."""
    while True:
        if isinstance(node, n.Binary | n.Attribute | n.Index | n.Slice):
            node = node.x
        elif isinstance(node, n.Call):
            node = node.function
        elif isinstance(node, n.Conditional):
            node = node.then
        else:
            return int(node.offset)
