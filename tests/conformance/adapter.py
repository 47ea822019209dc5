"""The adapter by which a harness runs the conformance suites of other Starlark engines on Plait's."""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING, Any, ClassVar, Final

from starconf import Result, matches, prelude, scan  # type: ignore[import-not-found]  # it is the harness's own
from typing_extensions import override

from plait import starlark
from plait.starlark.running.failing import stack_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

__all__ = ["run"]

_STEPS: Final = 50_000_000
_ASSERT: Final = "asserts"
_LIBRARIES: Final = ("assert.star", "asserts.star")
_CHECKED: Final = ("parse", "resolve", "static")
_MODULES: Final = {"json.star": "json", "math.star": "math", "time.star": "time"}
_LITERALS: Final = frozenset({"None", "True", "False"})

Place = tuple[int, str, int]
"""The line of the innermost call, the message, the line of the outermost call."""


class HasFields(starlark.HostValue):
    """A value with fields that a script may set, which a list can be added to."""

    type_name: ClassVar[str] = "hasfields"

    def __init__(self) -> None:
        self.fields: dict[str, Any] = {}
        self.frozen = False

    @override
    def __hash__(self) -> int:
        return 42

    def __radd__(self, other: object) -> Any:
        return 42 if isinstance(other, list) else NotImplemented

    @override
    def text(self) -> str:
        return "hasfields"

    @override
    def attribute(self, name: str) -> Any:
        return self.fields[name]

    @override
    def attribute_names(self) -> Collection[str]:
        return sorted(self.fields)

    @override
    def set_attribute(self, name: str, value: Any) -> None:
        if self.frozen:
            raise starlark.EvalError("cannot set field on a frozen hasfields")
        if name.startswith("no"):
            raise LookupError(name)
        self.fields[name] = value

    @override
    def freeze(self) -> None:
        self.frozen = True


class Fibonacci(starlark.HostValue):
    """A sequence without an end."""

    type_name: ClassVar[str] = "fib"
    __hash__: ClassVar[Any] = None

    @override
    def text(self) -> str:
        return "fib"

    def __iter__(self) -> Iterator[int]:
        this, following = 0, 1
        while True:
            yield this
            this, following = following, this + following


class Symbol(starlark.HostValue):
    """A constructor of structs that are equal only among themselves."""

    type_name: ClassVar[str] = "symbol"

    def __init__(self, name: str) -> None:
        self.name = name

    @override
    def text(self) -> str:
        return self.name

    def __call__(self, _thread: starlark.Thread, /, *positional: Any, **fields: Any) -> starlark.Struct:
        if positional:
            raise starlark.EvalError(f"{self.name}: unexpected positional arguments")
        return starlark.Struct(fields, self)


class Records:
    """What a run's assertions report.

    Args:
        filename: The file whose lines are wanted.
    """

    def __init__(self, filename: str) -> None:
        self.errors: list[Place] = []
        self.assertions = 0
        self._filename = filename

    def add(self, message: str, frames: Sequence[starlark.Frame], line: int = 0) -> None:
        """Note an error with the innermost and the outermost line of the file among the calls under way."""
        lines = [frame.line for frame in frames if frame.filename == self._filename] or [line]
        self.errors.append((lines[-1], message, lines[0]))


def run(source: str, filename: str, options: set[str], assert_mode: str) -> Result:
    """Run or check one piece of a suite; the harness says what the arguments mean."""
    dialect = starlark.Options(
        set="set" in options,
        while_loops="while" in options,
        top_level_control="toplevelcontrol" in options,
        global_reassign="globalreassign" in options,
        load_binds_globally="loadbindsglobally" in options,
        recursion="recursion" in options,
    )
    if assert_mode in _CHECKED:
        return Result(_check(source, filename, dialect, assert_mode))
    records = Records(filename)
    library = _library(records, assert_mode)
    names = _host() | ({} if assert_mode == "go" else dict(library.items()))

    def load(_thread: starlark.Thread, name: str) -> Any:
        if name in _LIBRARIES:
            return library
        if name not in _MODULES:
            raise starlark.EvalError(f"no such module: {name}")
        return starlark.Module(name, {_MODULES[name]: getattr(starlark, _MODULES[name])})

    thread = starlark.Thread(filename, max_steps=_STEPS, load=load)
    try:
        starlark.compile(_renamed(source), filename=filename, predeclared=set(names), options=dialect).run(
            thread, names
        )
    except starlark.ResolveError as error:
        records.errors += [(each.line, _original(each.message), each.line) for each in error.errors]
    except starlark.EvalError as error:
        shown = f"{error.message}\n{error.backtrace()}" if assert_mode == "spec" else error.message
        records.add(_original(shown), error.frames, error.line)
    except starlark.StarlarkError as error:
        records.errors.append((error.line, error.message, error.line))
    return Result(records.errors, records.assertions)


def _renamed(source: str) -> str:
    """The source with another name for the module ``assert``, which is a reserved word of Plait's dialect."""
    pieces, end = [], 0
    for token in scan(source)[0]:
        if token.text.strip("\"'") == "assert":
            pieces += [source[end : token.pos], token.text.replace("assert", _ASSERT)]
            end = token.end
    return "".join([*pieces, source[end:]])


def _original(message: str) -> str:
    return re.sub(rf"\b{_ASSERT}\b", "assert", message)


def _check(source: str, filename: str, dialect: starlark.Options, mode: str) -> list[tuple[int, str]]:
    """The errors that are found without running the source."""
    names = {"M", "U"} if mode == "resolve" else {token.text for token in scan(source)[0] if token.kind == "name"}
    try:
        starlark.compile(source, filename=filename, predeclared=names - _LITERALS, options=dialect)
    except starlark.ParseError as error:
        return [(error.line, error.message)]
    except starlark.ResolveError as error:
        return [] if mode == "parse" else [(each.line, each.message) for each in error.errors]
    return []


def _library(records: Records, mode: str) -> starlark.Globals:
    """The harness's assertions."""

    @starlark.builtin
    def tick(_thread: starlark.Thread) -> None:
        records.assertions += 1

    @starlark.builtin
    def report_error(_thread: starlark.Thread, message: str) -> None:
        records.add(message, stack_of(inspect.currentframe()))

    @starlark.builtin
    def catch(thread: starlark.Thread, function: Any) -> str | None:
        try:
            starlark.call(thread, function)
        except starlark.EvalError as error:
            return _original(error.message)
        return None

    @starlark.builtin(name="matches")
    def found(_thread: starlark.Thread, pattern: str, text: str) -> bool:
        return bool(matches(pattern, text))

    @starlark.builtin(name="freeze")
    def host_freeze(thread: starlark.Thread, value: Any = None) -> Any:
        return starlark.freeze(value, thread=thread)

    @starlark.builtin
    def module(_thread: starlark.Thread, _name: str, **members: Any) -> starlark.Module:
        return starlark.Module("assert", members)

    host = {
        "tick": tick,
        "report_error": report_error,
        "catch": catch,
        "matches": found,
        "host_freeze": host_freeze,
        "module": module,
    }
    source = prelude("rust" if mode in {"go", "rust"} else mode, module=mode in {"go", "rust"})
    return starlark.compile(source, filename="<library>", predeclared=set(host)).run(starlark.Thread(), host)


def _host() -> dict[str, Any]:
    """What the suites expect of their host."""

    @starlark.builtin
    def hasfields(_thread: starlark.Thread) -> HasFields:
        return HasFields()

    @starlark.builtin
    def gensym(_thread: starlark.Thread, name: str) -> Symbol:
        return Symbol(name)

    @starlark.builtin
    def noop(_thread: starlark.Thread, *values: Any, **_fields: Any) -> Any:
        return values[0] if values else None

    @starlark.builtin
    def int_mul_slow(_thread: starlark.Thread, x: int, y: int) -> int:
        return x * y

    return {
        "hasfields": hasfields,
        "fibonacci": Fibonacci(),
        "gensym": gensym,
        "noop": noop,
        "int_mul_slow": int_mul_slow,
        "struct": starlark.struct,
        "json": starlark.json,
        "_utf8_byte_strings": False,
    }
