"""Programs: compile a file once, run it on any thread, call what it defines."""

from __future__ import annotations

import marshal
import sys
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any, Final

from plait.starlark.codegen import generate
from plait.starlark.errors import EvalError
from plait.starlark.modules.json import json
from plait.starlark.modules.math import math
from plait.starlark.modules.time import time
from plait.starlark.options import Options
from plait.starlark.resolving.resolver import resolve
from plait.starlark.running.failing import call_error, is_of_call_itself, translated
from plait.starlark.running.globals import Globals
from plait.starlark.running.linking import Listing, is_compiled, linked
from plait.starlark.running.runtime import RUNTIME
from plait.starlark.syntax import Source, parse
from plait.starlark.syntax.nodes import Load
from plait.starlark.universe.universe import UNIVERSAL
from plait.starlark.values import FALSE, TRUE, Module, is_builtin, is_callable

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from plait.starlark.thread import Thread

__all__ = ["Program", "call", "compile_source"]

_FORMAT: Final = 1


@cache
def _magic() -> bytes:
    """Return how bytes begin that this version of Plait and of Python wrote."""
    try:
        plait = version("plait")
    except PackageNotFoundError:
        plait = "unknown"
    return f"plait-starlark {_FORMAT} {plait} {sys.implementation.cache_tag} {sys.hexversion:x}".encode()


class Program:
    """A compiled file. It never changes: any number of threads may run it at once, and it may be cached.

    Attributes:
        filename: The file's name in errors.
        names: What its top level binds and others may load, in the order of the file.
        predeclared: The names that it expects to be predeclared when it runs.
        loads: The modules that it loads, in the order of the file.
    """

    __slots__ = ("_code", "_linked", "_listing", "filename", "loads", "names", "predeclared")

    def __init__(
        self,
        listing: Listing,
        code: CodeType,
        names: tuple[str, ...],
        predeclared: tuple[str, ...],
        loads: tuple[str, ...],
    ) -> None:
        self.filename = listing.filename
        self.names = names
        self.predeclared = predeclared
        self.loads = loads
        self._listing = listing
        self._code = code
        self._linked = linked(code, listing)

    def run(self, thread: Thread, predeclared: Mapping[str, Any] | None = None) -> Globals:
        """Run the file's statements and freeze what they leave behind.

        Args:
            thread: The thread to run on; it pays for the steps.
            predeclared: The values of the predeclared names; more of them than the file uses do no harm.

        Returns:
            The module's values by name.

        Raises:
            EvalError: The script failed, or a predeclared name has no value.
            Cancelled: The thread's context was cancelled.
            DeadlineExceeded: The deadline of the thread's context has passed.
        """
        offered = [self._offered(name, predeclared) for name in self.predeclared]
        bound = _enter(thread, FunctionType(self._linked, RUNTIME), offered, _NO_KEYWORDS)
        alone = not self.loads and all(type(value) is Module and value in _OWN_MODULES for value in offered)
        return Globals(self.filename, self.names, bound, later=alone)

    def _offered(self, name: str, predeclared: Mapping[str, Any] | None) -> Any:
        if predeclared is None or name not in predeclared:
            raise EvalError(f"predeclared name {name} has no value", self.filename, 1, 1)
        value = predeclared[name]
        if value is True or value is False:
            return _boolean(value)
        if type(value) is FunctionType and not is_builtin(value) and not is_compiled(value):
            raise EvalError(f"predeclared name {name} is a Python function: decorate it with @starlark.builtin")
        return value

    def to_bytes(self) -> bytes:
        """Return the program as bytes, for a cache that nobody else can write: ``from_bytes`` trusts them."""
        listing = self._listing
        parts = (
            self.filename,
            listing.text,
            listing.sites,
            listing.recursion,
            self._code,
            self.names,
            self.predeclared,
            self.loads,
        )
        return _magic() + b"\n" + marshal.dumps(parts)

    @classmethod
    def from_bytes(cls, data: bytes) -> Program:
        """Return the program that ``to_bytes`` wrote.

        The bytes hold code of Python's: read only what you have written yourself.

        Raises:
            ValueError: They were written by another version of Python or of Plait, or are damaged: compile again.
        """
        magic, _, rest = data.partition(b"\n")
        if magic != _magic():
            raise ValueError("these bytes are no program of this version of Python and Plait: compile the source again")
        try:
            filename, text, sites, recursion, code, names, predeclared, loads = marshal.loads(rest)  # noqa: S302 - the caller's own cache, as documented
        except (EOFError, ValueError, TypeError) as error:
            raise ValueError("these bytes are a damaged program: compile the source again") from error
        return cls(Listing(Source(text, filename), sites, recursion=recursion), code, names, predeclared, loads)

    def __repr__(self) -> str:
        return f"<program {self.filename!r}>"


def compile_source(
    source: str, filename: str = "<starlark>", predeclared: Collection[str] = (), options: Options | None = None
) -> Program:
    """Compile a file.

    Args:
        source: What the file says.
        filename: Its name in errors.
        predeclared: The names that the host will offer when it runs, beside those of the language.
        options: Which extensions of the language the file may use.

    Returns:
        The program.

    Raises:
        ParseError: The text is not Starlark.
        ResolveError: Names or statements are not allowed where they stand; ``errors`` has all of them.
    """
    options = options or Options()
    text = Source(source, filename)
    statements = parse(text)
    unit = resolve(text, statements, frozenset(predeclared), _UNIVERSAL_NAMES, options)
    loads = tuple(dict.fromkeys(_loaded(statements)))
    generated = generate(text, unit, options)
    exported = tuple(name for name, binding in unit.globals.items() if binding.exported)
    body = next(constant for constant in generated.code.co_consts if isinstance(constant, CodeType))
    return Program(
        Listing(text, generated.sites, recursion=options.recursion),
        body,
        exported,
        tuple(sorted(unit.predeclared)),
        loads,
    )


_UNIVERSAL_NAMES: Final = frozenset(UNIVERSAL)


def _loaded(statements: list[Any]) -> list[str]:
    return [statement.module for statement in statements if type(statement) is Load]


_OWN_MODULES: Final = (json, math, time)
"""Modules of the engine's own; they keep no reference to what they are given."""
_NO_KEYWORDS: Final[dict[str, Any]] = {}


def _boolean(value: Any) -> Any:
    return TRUE if value is True else FALSE if value is False else value


def call(
    thread: Thread, function: Any, args: tuple[Any, ...] | list[Any] = (), kwargs: Mapping[str, Any] | None = None
) -> Any:
    """Call a function of a script, or any other value that a script could call.

    Args:
        thread: The thread to run on; it pays for the steps. It need not be the one that made the function.
        function: The function.
        args: Positional arguments: values of scripts (``from_python`` makes them of Python's).
        kwargs: Keyword arguments, likewise.

    Returns:
        A value of a script (``to_python`` makes Python's of it).

    Raises:
        EvalError: The function failed, or cannot be called with these arguments.
        Cancelled: The thread's context was cancelled.
        DeadlineExceeded: The deadline of the thread's context has passed.
    """
    for value in args:
        if value is True or value is False:
            args = [_boolean(each) for each in args]
            break
    if type(function) is not FunctionType and not is_callable(function):
        raise call_error(function, 0, ())
    if kwargs:
        return _enter(thread, function, args, {name: _boolean(value) for name, value in kwargs.items()})
    thread.left -= 1
    try:
        if thread.left < 0:
            thread.refuel()
        if len(args) == 1:  # Python calls fastest with a known number of arguments
            return function(thread, args[0])
        return function(thread, *args)
    except BaseException as error:  # noqa: BLE001 - whatever happens inside becomes the script's error
        problem = error
    try:
        raise _left(problem, function, len(args), ()) from problem.__cause__
    finally:
        del problem  # it holds this very frame


def _enter(thread: Thread, function: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Run Starlark code; no exception of Python's gets out."""
    try:
        thread.charge(1)
        return function(thread, *args, **kwargs)
    except BaseException as error:  # noqa: BLE001 - whatever happens inside becomes the script's error
        problem = error
    try:
        raise _left(problem, function, len(args), tuple(kwargs)) from problem.__cause__
    finally:
        del problem  # it holds this very frame


def _left(problem: BaseException, function: Any, positional: int, keywords: tuple[str, ...]) -> BaseException:
    """Return what leaves the engine for an exception; its traceback goes, and the frames it held with it."""
    traceback = problem.__traceback__
    if isinstance(problem, TypeError) and is_of_call_itself(traceback):
        return call_error(function, positional, keywords)
    return translated(problem)
