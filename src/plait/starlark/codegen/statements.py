"""Statements and functions, and the whole of a file."""

from __future__ import annotations

import ast
import os
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from plait.starlark.codegen import builder as b
from plait.starlark.codegen.loops import Loops
from plait.starlark.codegen.scope import NESTING_MAX, parameter_name, variable
from plait.starlark.errors import ParseError
from plait.starlark.resolving.inference import settle
from plait.starlark.syntax import nodes as n

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType

    from plait.starlark.options import Options
    from plait.starlark.resolving.bindings import Unit
    from plait.starlark.syntax.source import Source

__all__ = ["TOP", "Generated", "generate"]

TOP: Final = ".toplevel"
"""The name of the function that is a file's body."""

_FREE: Final = 6
"""A function that calls nothing of the script's and costs no more than this is paid for by its callers."""
_BRANCH: Final = 12
"""A branch that costs no more than this is paid for by the block around it."""


class Generated(NamedTuple):
    """What becomes of a file.

    Attributes:
        code: Code that defines the function ``.toplevel``, the file's body.
        sites: For each number of a line in the code: the offset of its place, and what is done there.
    """

    code: CodeType
    sites: tuple[tuple[Any, ...], ...]


def generate(source: Source, unit: Unit, options: Options) -> Generated:
    """Write a resolved file as Python code.

    Args:
        source: The file.
        unit: What the resolver made of it.
        options: What the file may use.

    Raises:
        ParseError: The file is nested too deeply for Python's own compiler.
    """
    generator = _Generator(source, unit, options, os.urandom(8).hex())
    try:
        module = generator.file()
        code = compile(module, source.filename or "<starlark>", "exec", dont_inherit=True, optimize=2)
    except (RecursionError, MemoryError, SystemError):
        raise ParseError("the source is nested too deeply", source.filename, 1, 1) from None
    except (SyntaxError, ValueError, OverflowError) as error:
        raise ParseError(f"the source cannot be compiled: {_reason(error)}", source.filename, 1, 1) from None
    return Generated(code, tuple(generator.sites))


def _reason(error: Exception) -> str:
    return str(error.msg if isinstance(error, SyntaxError) else error).split("(")[0].strip()[:200]


class _Generator(Loops):
    """Writes statements and functions."""

    def file(self) -> ast.Module:
        """Write the file's body as a function: its parameters are the predeclared names, its variables the globals."""
        settle(list(self.unit.globals.values()))
        settle(self.unit.facts.bindings)
        self.site(0)
        self.statements(self.unit.statements)
        body = [*b.charge(self.cost, 1), *self.out, *self._exports()]
        predeclared = [f".p.{name}" for name in sorted(self.unit.predeclared)]
        function = _function_node(TOP, _arguments_node([b.THREAD, *predeclared]), body)
        function.lineno, function.col_offset = 1, 0
        return ast.Module([function], [])

    def _exports(self) -> list[ast.stmt]:
        """Write the return of every global that has a value, by its name."""
        result = ".exports"
        assigned = _certain(self.unit.statements)
        certain = [name for name in self.unit.globals if name in assigned]
        bound = ast.Dict([b.constant(name, 1) for name in certain], [b.name(f".g.{name}", 1) for name in certain])
        bound.lineno, bound.col_offset = 1, 0
        written: list[ast.stmt] = [b.assign(b.store(result, 1), bound, 1)]
        for name in self.unit.globals:
            if name in certain:
                continue
            item = b.subscript(b.name(result, 1), b.constant(name, 1), 1, b.STORE)
            store = b.assign(item, b.name(f".g.{name}", 1), 1)
            handler = ast.ExceptHandler(b.name(".NameError", 1), None, [_pass_node()])
            handler.lineno, handler.col_offset = 1, 0
            attempt = ast.Try([store], [handler], [], [])
            attempt.lineno, attempt.col_offset = 1, 0
            written.append(attempt)
        end = ast.Return(b.name(result, 1))
        end.lineno, end.col_offset = 1, 0
        return [*written, end]

    def statements(self, statements: list[n.Node]) -> None:
        """Write statements one after the other."""
        for statement in statements:
            self.new_statement()
            _STATEMENT[type(statement)](self, statement)

    def block(self, statements: list[n.Node]) -> list[ast.stmt]:
        """Write the statements of a block of their own."""
        outer, self.out = self.out, []
        self.statements(statements)
        written, self.out = self.out, outer
        if not written:
            written.append(_pass_node())
        return written

    def _expression(self, node: n.ExprStatement) -> None:
        x = node.x
        while type(x) is n.Paren:
            x = x.x
        if type(x) is n.Call and type(x.function) is n.Attribute and x.function.name == "append" and self.append(x):
            return
        self.out.append(b.expression(self.value(x), self.site(node.offset)))

    def _branch(self, node: n.Branch) -> None:
        python: ast.stmt
        if node.keyword == "break":
            self.breaks[-1] = self.leaves[-1] = True
            python = ast.Break()
        else:
            python = ast.Continue() if node.keyword == "continue" else ast.Pass()
        python.lineno, python.col_offset = len(self.sites), 0
        self.out.append(python)

    def _return(self, node: n.Return) -> None:
        self.leaves[:] = [True] * len(self.leaves)
        value = None if node.value is None else self.value(node.value)
        python = ast.Return(value)
        python.lineno, python.col_offset = self.site(node.offset), 0
        self.out.append(python)

    def _if(self, node: n.If) -> None:
        arms = []
        otherwise: list[n.Node] = [node]
        while len(otherwise) == 1 and type(otherwise[0]) is n.If:
            arm = otherwise[0]
            self.cost += 1
            test = self.condition(arm.test)
            arms.append((test, self.paid_branch(arm.then), self.site(arm.offset)))
            otherwise = arm.otherwise
        rest = self.paid_branch(otherwise) if otherwise else []
        for test, then, site in reversed(arms):
            rest = [b.if_statement(test, then, rest, site)]
        self.out.extend(rest)

    def paid_branch(self, statements: list[n.Node]) -> list[ast.stmt]:
        """Write a branch that pays for itself when it costs much."""
        outer, self.cost = self.cost, 0
        site = self.site(statements[0].offset)
        written = self.block(statements)
        if self.cost > _BRANCH:
            written[:0] = b.charge(self.cost, site)
            self.cost = 0
        self.cost += outer
        return written

    # ---- functions

    def _definition(self, node: n.Definition) -> None:
        self.cost += 2
        arguments, body = self._function(node.function)
        function = _function_node(variable(node.name.binding), arguments, body)
        function.lineno, function.col_offset = self.site(node.offset), 0
        self.out.append(function)

    def lambda_expression(self, node: n.Lambda) -> ast.expr:
        arguments, body = self._function(node.function, is_lambda=True)
        python = ast.Lambda(arguments, body)
        python.lineno, python.col_offset = self.site(node.offset), 0
        return python

    def _function(self, function: n.Function, *, is_lambda: bool = False) -> tuple[ast.arguments, Any]:
        if self.nesting >= NESTING_MAX:
            raise self.too_deep(function.offset)
        arguments = self._parameters(function)
        facts = function.facts
        settle(facts.bindings)
        saved = (
            self.facts,
            self.out,
            self.cost,
            self.iterated,
            self.calls,
            self.breaks,
            self.leaves,
            self._temporaries,
        )
        counts = (self.comprehensions, self.plain, self.compact)
        self.compact = False
        self.facts, self.out, self.cost, self.iterated, self.calls, self.breaks = facts, [], 0, [], False, []
        self.leaves = []
        outer_sliced, self.sliced = self.sliced, []
        outer_hidden, self.hidden = self.hidden, set()
        self.comprehensions = self._temporaries = 0
        if not is_lambda:
            self.plain = 0
        self.nesting += 1
        entry = self.site(function.offset)
        self.function_name = function.name
        if is_lambda:
            body: Any = self._lambda_body(function, entry)
        else:
            self.statements(function.body)
            self.function_name = function.name
            body = self._guarded(self.out, entry)
        self.nesting -= 1
        self.comprehensions, self.plain, self.compact = counts
        self.sliced, self.hidden = outer_sliced, outer_hidden
        self.facts, self.out, self.cost, self.iterated, self.calls, self.breaks, self.leaves, self._temporaries = saved
        return arguments, body

    def _is_free(self) -> bool:
        return not self.calls and not self.facts.loops and self.cost <= _FREE

    def _guards_recursion(self) -> bool:
        return not self.facts.safe and not self.options.recursion

    def _guarded(self, body: list[ast.stmt], entry: int) -> list[ast.stmt]:
        """Return a function's body after what it pays at its entry, and guarded against calling itself."""
        paid = [] if self._is_free() else b.charge(self.cost, entry)
        if self._guards_recursion():
            key = b.constant(self.function_key(), entry)
            thread = b.name(b.THREAD, entry)
            active = b.attribute(thread, "active", entry)
            check = b.if_statement(
                b.compare(key, "in", active, entry),
                [b.expression(b.call(".recursive", [b.constant(self.function_name, entry)], entry), entry)],
                [],
                entry,
            )
            enter = b.expression(b.call(b.attribute(active, "add", entry), [key], entry), entry)
            leave = b.expression(b.call(b.attribute(active, "discard", entry), [key], entry), entry)
            guard = ast.Try(body or [enter], [], [], [leave])
            guard.lineno, guard.col_offset = entry, 0
            return [check, *paid, enter, guard]
        if not paid and not body:
            paid = [b.expression(b.constant(None, entry), entry)]
        return [*paid, *body]

    def _lambda_body(self, function: n.Function, entry: int) -> ast.expr:
        result = function.body[0]
        assert isinstance(result, n.Return)  # noqa: S101 - the callers and the parser see to it
        assert result.value is not None  # noqa: S101 - the callers and the parser see to it
        body = self.value(result.value)
        thread = b.name(b.THREAD, entry)
        if self._guards_recursion():
            site = self.site(function.offset, "hidden")
            inner = ast.Lambda(_arguments_node([]), body)
            inner.lineno, inner.col_offset = entry, 0
            key = b.constant(self.function_key(), site)
            return b.call(".guarded", [b.name(b.THREAD, site), key, b.constant(self.cost, site), inner], site)
        if self._is_free():
            return body
        charge = b.call(b.attribute(thread, "charge", entry), [b.constant(self.cost, entry)], entry)
        return b.conditional(
            b.compare(charge, "is", b.constant(None, entry), entry), body, b.constant(None, entry), entry
        )

    def _parameters(self, function: n.Function) -> ast.arguments:
        arguments = _arguments_node([b.THREAD])
        keyword_only = False
        for parameter in function.parameters:
            argument = ast.arg(parameter_name(parameter.name))
            argument.lineno, argument.col_offset = len(self.sites) or 1, 0
            if parameter.kind == "*":
                keyword_only = True
                if parameter.name:
                    arguments.vararg = argument
            elif parameter.kind == "**":
                arguments.kwarg = argument
            elif keyword_only:
                arguments.kwonlyargs.append(argument)
                arguments.kw_defaults.append(None if parameter.default is None else self.value(parameter.default))
            else:
                arguments.args.append(argument)
                if parameter.default is not None:
                    arguments.defaults.append(self.value(parameter.default))
        return arguments

    def _load(self, node: n.Load) -> None:
        site = self.site(node.offset)
        loaded = self.temporary()
        module = b.call(".load", [b.name(b.THREAD, site), b.constant(node.module, site)], site)
        self.out.append(b.assign(b.store(loaded, site), module, site))
        for local, original, offset in node.names:
            at = self.site(offset)
            arguments = [b.name(loaded, at), b.constant(original, at), b.constant(node.module, at)]
            self.out.append(b.assign(b.store(variable(local.binding), at), b.call(".load_name", arguments, at), at))


def _pass_node() -> ast.stmt:
    nothing = ast.Pass()
    nothing.lineno, nothing.col_offset = 1, 0
    return nothing


def _certain(statements: list[n.Node]) -> set[str]:
    """Return the names that have a value once all of the file has run."""
    names: set[str] = set()
    for statement in statements:
        if type(statement) is n.Definition:
            names.add(statement.name.name)
        elif type(statement) is n.Assign and type(statement.target) is n.Name:
            names.add(statement.target.name)
        elif type(statement) is n.Load:
            names.update(local.name for local, _, _ in statement.names)
    return names


def _arguments_node(names: list[str]) -> ast.arguments:
    positional = []
    for name in names:
        argument = ast.arg(name)
        argument.lineno, argument.col_offset = 1, 0
        positional.append(argument)
    return ast.arguments(
        posonlyargs=positional, args=[], vararg=None, kwonlyargs=[], kw_defaults=[], kwarg=None, defaults=[]
    )


def _function_node(name: str, arguments: ast.arguments, body: list[ast.stmt]) -> ast.FunctionDef:
    function = ast.FunctionDef(name, arguments, body, [])
    if hasattr(ast, "TypeAlias"):  # Python 3.12 added a field
        vars(function)["type_params"] = []
    return function


_STATEMENT: Final[dict[type, Callable[[Any, Any], None]]] = {
    n.ExprStatement: _Generator._expression,  # noqa: SLF001 - the table of the methods of the class above
    n.Assign: _Generator.assignment,
    n.If: _Generator._if,  # noqa: SLF001 - the table of the methods of the class above
    n.ForLoop: _Generator.for_loop,
    n.While: _Generator.while_loop,
    n.Return: _Generator._return,  # noqa: SLF001 - the table of the methods of the class above
    n.Definition: _Generator._definition,  # noqa: SLF001 - the table of the methods of the class above
    n.Load: _Generator._load,  # noqa: SLF001 - the table of the methods of the class above
    n.Branch: _Generator._branch,  # noqa: SLF001 - the table of the methods of the class above
}
