"""No way out: whatever a script holds and does with it, it meets values of the language and nothing else."""

from __future__ import annotations

import builtins
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import FunctionType
from typing import Any, Final

import pytest
from typing_extensions import override

from plait import starlark
from plait.starlark.running.linking import is_compiled
from plait.starlark.universe import attributes
from plait.starlark.universe.universe import UNIVERSAL
from plait.starlark.values import Bool, BoundMethod, Bytes, FrozenDict, FrozenList, FrozenSet, NaN, Set, is_builtin

_STEPS: Final = 5_000_000

PYTHON_NAMES: Final = sorted(
    {
        name
        for kind in (object, type, int, float, str, bytes, list, dict, tuple, range, BaseException, FunctionType)
        for name in dir(kind)
        if name.startswith("_")
    }
    | set(dir(builtins))
    | {
        name
        for kind in (starlark.Struct, starlark.Module, BoundMethod, starlark.HostValue, starlark.Thread, Bool)
        for name in dir(kind)
    }
    | set("""
    __annotations__ __bases__ __builtins__ __closure__ __code__ __defaults__ __dict__ __file__ __func__ __globals__
    __import__ __kwdefaults__ __loader__ __mro__ __module__ __name__ __objclass__ __path__ __qualname__ __self__
    __spec__ __subclasses__ __traceback__ __type_params__ __wrapped__ __weakref__ __slots__ __match_args__
    __class_getitem__ __context__ __cause__ ag_code ag_frame co_code co_consts co_names cr_await cr_code cr_frame
    f_back f_builtins f_code f_globals f_locals func func_code func_globals gi_code gi_frame gi_yieldfrom im_func
    im_self mro tb_frame tb_next args keywords partial starlark_builtin fields members kind name receiver
    implementation frozen text attribute attribute_names set_attribute set_item type_name freeze thread left guard
    active context locals _limit _granted real imag numerator denominator conjugate bit_length to_bytes from_bytes
    fromkeys copy sort reverse encode decode format_map maketrans translate mro hex fromhex as_integer_ratio
    is_integer start stop step with_traceback add_note gen send throw close
    """.split())  # noqa: SIM905 - a list to read
)  # fmt: skip

INTERNALS: Final = re.compile(
    r"0x[0-9a-f]{6,}|object at|<class|<function [^>]* at|<built-in (?![fm …])|<bound method|<module '|\.py\b"
    r"|Traceback|plait|site-packages|(?<!\.)__\w+__\b|NoneType: None|TypeError|AttributeError|KeyError|ValueError"
    r"|RecursionError|internal error|FrozenList|FrozenDict|BoundMethod"
)


@starlark.builtin
def echo(thread: starlark.Thread, x: Any = None, *rest: Any, key: Any = None) -> Any:
    """Return the argument."""
    return x


@starlark.builtin
def refuse(text: str) -> None:
    """Fail as host code does."""
    raise ValueError(f"no such thing: {text}")


@starlark.builtin
def crash() -> None:
    """Fail as careless host code does."""
    empty: dict[str, int] = {}
    empty["nothing"] += 1


@starlark.builtin
def data() -> dict[str, Any]:
    """Return values of Python's of every kind."""
    return {"a": [1, 2.5, None, True, "x", b"y"], "b": ({"c": {1, 2}}, range(3))}


class Gate(starlark.HostValue):
    """A value of the host."""

    type_name = "gate"

    @override
    def attribute(self, name: str) -> Any:
        if name == "width":
            return 3
        raise LookupError(name)

    @override
    def attribute_names(self) -> Iterable[str]:
        return ["width"]


PREDECLARED: Final[dict[str, Any]] = {
    "json": starlark.json,
    "math": starlark.math,
    "time": starlark.time,
    "struct": starlark.struct,
    "module": starlark.module,
    "echo": echo,
    "refuse": refuse,
    "crash": crash,
    "data": data,
    "gate": Gate(),
    "host": starlark.Module("host", {"echo": echo, "inner": starlark.Module("inner", {"data": data})}),
}

_ZOO: Final = """
load("lib.star", loaded="value", helper="f")

def function(x=[1], *args, k={"a": 1}, **kwargs):
    kept = [x]
    def inner(): return kept
    return inner

def values():
    lists = [1, [2, "a"]]
    return [
        None, True, False, 0, -7, 1 << 100, 1.5, -0.0, float("inf"), float("nan"), "", "text", "é\\U0001f600", b"",
        b"bytes\\xff",
        [], lists, {}, {"a": 1, (1, 2): [3]}, (), (1, "a"), set(), set([1, "a"]), range(5), range(0),
        "ab".elems(), "ab".elem_ords(), "ab".codepoints(), "ab".codepoint_ords(), b"ab".elems(),
        struct(a=1, b=[2]), struct(), module("m", a=1, f=len), json, math, time, host, host.inner, gate,
        time.now(), time.hour, time.parse_duration("1h2m"), time.from_timestamp(0),
        function, function(), lambda: 1, lambda x, *y, z=1, **w: x, len, print, echo, refuse, crash, data, data(),
        loaded, helper,
        [].append, {}.get, "".format, set().add, "a".upper, b"".elems, time.now().format, lists.append, json.encode,
        math.sqrt,
    ] + [getattr(x, name, None) for x in ["", [], {}, set(), b"", time.now(), time.hour, json, math,
    time] for name in dir(x)]

frozen = values()
"""


def _library(_thread: starlark.Thread, name: str) -> Any:
    return run("value = [1, {'a': (2,)}]\ndef f(): return value\n", filename=name)


def run(source: str, filename: str = "main.star", **more: Any) -> starlark.Globals:
    predeclared = PREDECLARED | more
    program = starlark.compile(source, filename=filename, predeclared=predeclared.keys())
    return program.run(starlark.Thread(max_steps=_STEPS, load=_library), predeclared)


def call(function: Any, *args: Any) -> Any:
    return starlark.call(starlark.Thread(max_steps=_STEPS), function, args)


@pytest.fixture(scope="module")
def zoo() -> starlark.Globals:
    """A module that has a value of every kind, frozen ones and makers of others."""
    return run(_ZOO)


def held(zoo: starlark.Globals) -> list[Any]:
    """A value of every kind that a script can hold, mutable and frozen."""
    return [*call(zoo["values"]), *zoo["frozen"], *UNIVERSAL.values(), *PREDECLARED.values()]


# ---- what may be a value

_EXACT: Final = frozenset({
    type(None), Bool, int, float, NaN, str, Bytes, range, tuple, list, dict, Set, FrozenList, FrozenDict, FrozenSet,
    starlark.Struct, starlark.Module, BoundMethod,
})  # fmt: skip


def strange(value: Any) -> bool:
    """Tell whether a script should never hold the value."""
    if type(value) is FunctionType:
        return not is_builtin(value) and not is_compiled(value)
    return type(value) not in _EXACT and not isinstance(value, starlark.HostValue)


def parts(value: Any) -> Iterator[Any]:
    """What a script can take out of a value."""
    if isinstance(value, dict):
        yield from value.keys()
        yield from value.values()
    elif isinstance(value, list | tuple) or (isinstance(value, starlark.HostValue) and hasattr(value, "__iter__")):
        yield from value
    for name in attributes.names(value):
        try:
            yield attributes.find(value, name)
        except starlark.EvalError:
            continue


def strangers(values: Iterable[Any]) -> list[Any]:
    """What can be reached from values and should never be; cycles and sharing included."""
    seen: dict[int, Any] = {}
    found, stack = [], [(value, 0) for value in values]
    while stack:
        value, depth = stack.pop()
        if id(value) in seen or depth > 12:
            continue
        seen[id(value)] = value
        if strange(value):
            found.append(value)
        elif not isinstance(value, BoundMethod):
            stack.extend((part, depth + 1) for part in parts(value) if part is not attributes.MISSING)
    return found


def test_the_judge_knows_what_is_strange() -> None:
    assert all(
        map(
            strange,
            [
                True,
                object,
                object(),
                lambda: 0,
                str,
                len,
                re,
                {1: 2}.keys(),
                {1},
                frozenset(),
                iter([]),
                1j,
                ValueError(),
            ],
        )
    )
    assert strangers([{"a": [1, (True,)]}]) == [True]


def test_nothing_strange_can_be_reached_from_what_a_script_holds(zoo: starlark.Globals) -> None:
    assert strangers(held(zoo)) == []


def test_no_name_of_python_s_is_an_attribute(zoo: starlark.Globals) -> None:
    offered = {name for value in held(zoo) for name in attributes.names(value)}
    unknown = [name for name in PYTHON_NAMES if name.startswith("_") or name not in offered]
    found = [
        (starlark.type_name(value), name)
        for value in held(zoo)
        for name in unknown
        if attributes.find(value, name) is not attributes.MISSING
    ]
    assert found == []
    assert not any(name.startswith("_") for name in offered)


def test_the_table_of_attributes_finds_exactly_what_dir_shows(zoo: starlark.Globals) -> None:
    for value in held(zoo):
        names = set(attributes.names(value))
        found = {name for name in {*PYTHON_NAMES, *names} if attributes.find(value, name) is not attributes.MISSING}
        assert found == names


def test_methods_are_the_engine_s_own_builtins() -> None:
    for table in attributes.METHODS_OF.values():
        assert all(type(method) is FunctionType and is_builtin(method) for method in table.values())


# ---- the same, from within

_PROBE: Final = """
def probe(values, names):
    found = []
    for value in values:
        shown = dir(value)
        for name in names:
            if name not in shown:
                if hasattr(value, name) or getattr(value, name, None) != None:
                    found.append((type(value), name))
    return found

def texts(values):
    return [f(value) for value in values for f in [str, repr, type, lambda x: "%s %r" % (x, x),
    lambda x: "{} {x}".format(x, x=x)]]

def show(values):
    return str(values) + repr({1: values}) + str(struct(a=values)) + "%s" % [values]
"""


def test_a_script_finds_none_of_python_s_names(zoo: starlark.Globals) -> None:
    thread = starlark.Thread(max_steps=None)
    assert starlark.call(thread, run(_PROBE)["probe"], (held(zoo), list(PYTHON_NAMES))) == []


def test_no_text_of_a_value_shows_python(zoo: starlark.Globals) -> None:
    texts = [*call(run(_PROBE)["texts"], held(zoo)), call(run(_PROBE)["show"], held(zoo))]
    assert [text for text in texts if INTERNALS.search(text)] == []
    assert len(texts) > 500


_OPERATIONS: Final[Sequence[str]] = (
    *(f"x {operator} y" for operator in (*"+-*/%&|^<>", "//", "<<", ">>", "==", "!=", "<=", ">=", "in", "not in")),
    "not x", "+x", "-x", "~x", "x[y]", "x[y:y:y]", "x[:]", "[v for v in x]", "x()", "x(y)", "x(y, y)", "x(*[y])",
    "x(**{'a': y})", "x(x=y)", "x(y, key=y)",
    "x.a", "x.f(y)", "getattr(x, y)", "hasattr(x, y)", "dir(x)", "len(x)", "list(x)", "tuple(x)", "set(x)", "dict(x)",
    "sorted(x)", "sorted([y], key=x)",
    "max(x)", "min(y, x)", "max([y, y], key=x)", "zip(x, y)", "enumerate(x, y)", "reversed(x)", "range(x, y)",
    "hash(x)", "int(x)", "int(x, y)", "float(x)", "bool(x)",
    "bytes(x)", "ord(x)", "chr(x)", "abs(x)", "any(x)", "all(x)", "'%d' % x", "'%s' % x", "'%c' % x",
    "'{}'.format(x)", "'{a}'.format(**x)", "y.format(x)", "y % x",
    "json.encode(x)", "json.decode(x)", "json.indent(x)", "math.sqrt(x)", "math.pow(x, y)", "time.time(year=x)",
    "time.parse_time(x)", "time.from_timestamp(x)", "struct(a=x) + y",
    "struct(**x)", "module(x)", "''.join(x)", "x.join(y)", "'a'.replace(x, y)", "x.append(y)", "x.update(y)",
    "x.pop(y)", "x.get(y)", "x.add(y)", "x.union(y)", "x.elems()",
    "fail(x, y)", "print(x, y, sep=x)", "echo(x)", "refuse(x)", "host.echo(x, key=y)", "str(x)", "type(x)",
)  # fmt: skip

_STATEMENTS: Final[Sequence[str]] = (
    "x.a = y", "x[y] = y", "x += y", "x |= y", "x *= y", "x, y = x", "[x] = y", "x[y] += y", "x.a += y",
    "for v in x:\n        v(y)", "for x[0] in y:\n        pass", "crash()", "x.__class__", "x.f_back", "x.__dict__ = y",
)  # fmt: skip


def endings(operations: Iterable[Callable[..., Any]], pairs: Sequence[tuple[Any, Any]]) -> Iterator[Any]:
    """Each operation on each pair: its value, or the error."""
    for operation in operations:
        for x, y in pairs:
            try:
                yield starlark.call(starlark.Thread(max_steps=20_000), operation, (x, y))
            except starlark.EvalError as error:
                yield error


def _bodies() -> list[str]:
    return [f"return {operation}" for operation in _OPERATIONS] + list(_STATEMENTS)


def _operations() -> list[Any]:
    bodies = _bodies()
    source = "".join(f"def f{n}(x, y):\n    {body}\n" for n, body in enumerate(bodies))
    module = run(source)
    return [module[f"f{n}"] for n in range(len(bodies))]


def _judged(
    pairs: Callable[[list[Any]], Sequence[tuple[Any, Any]]], zoo: starlark.Globals
) -> tuple[list[Any], list[str], int]:
    values, texts = [], []
    for end in endings(_operations(), pairs(held(zoo))):
        if isinstance(end, starlark.EvalError):
            texts.append(f"{end} {end.backtrace()}".replace("main.star", ""))
        else:
            values.append(end)
    return (
        strangers(values),
        sorted({text for text in texts if INTERNALS.search(text.replace("Traceback (most", ""))}),
        len(values),
    )


def _with_plain(values: list[Any]) -> Sequence[tuple[Any, Any]]:
    return [(x, y) for x in values for y in (0, "a")]


def _with_all(values: list[Any]) -> Sequence[tuple[Any, Any]]:
    return [(x, y) for x in values[:75] for y in values[:75]]


def test_no_operation_on_any_value_gives_anything_strange(zoo: starlark.Globals) -> None:
    found, texts, count = _judged(_with_plain, zoo)
    assert found == []
    assert texts == []
    assert count > 1_000


@pytest.mark.slow
def test_no_operation_on_any_two_values_gives_anything_strange(zoo: starlark.Globals) -> None:
    found, texts, count = _judged(_with_all, zoo)
    assert found == []
    assert texts == []
    assert count > 10_000


def test_a_value_of_a_failed_host_builtin_shows_its_text_alone() -> None:
    for source, text in (("refuse('x')", "refuse: no such thing: x"), ("crash()", "crash: nothing")):
        with pytest.raises(starlark.EvalError) as caught:
            run(source)
        assert caught.value.message == text
        assert "test_escape" not in caught.value.backtrace()


def test_bytes_are_no_template_of_python_s() -> None:
    for operation in ("b'%r' % gate", "b'%a' % gate", "b'%s' % 'a'.elems()", "gate % b'%r'", "b'%r' % time.hour"):
        with pytest.raises(starlark.EvalError, match="unknown binary op"):
            run(f"x = {operation}")


def test_a_builtin_that_calls_a_function_as_it_is_told_to_sees_the_language_s_errors() -> None:
    @starlark.builtin
    def apply(thread: starlark.Thread, f: Callable[..., Any]) -> Any:
        return f(thread)

    for body in ("None[1]", "None + []", "1 < 'a'", "[].append()", "(lambda x: x)()", "undefined_yet"):
        with pytest.raises(starlark.EvalError) as caught:
            run(f"apply(lambda: {body})\nundefined_yet = 1", apply=apply)
        assert not INTERNALS.search(caught.value.message), caught.value.message
        assert "'" not in caught.value.message


def test_a_host_value_that_fails_breaks_nothing() -> None:
    class Broken(starlark.HostValue):
        type_name = "broken"

        def _fail(self, *_: object) -> Any:
            raise RuntimeError("it is broken")

        __eq__ = __add__ = __radd__ = __lt__ = __getitem__ = __iter__ = __len__ = __call__ = __contains__ = __bool__ = (
            _fail
        )
        attribute = attribute_names = set_attribute = set_item = text = _fail  # type: ignore[assignment]  # on purpose
        __hash__ = _fail

    source = "".join(f"def f{n}(x, y):\n    {body}\n" for n, body in enumerate(_bodies()))
    module = run(source)
    pairs = ((Broken(), Broken()), (Broken(), 1), ("a", Broken()), ([1], Broken()))
    ends = endings([module[f"f{number}"] for number in range(len(_bodies()))], pairs)
    assert [end.message for end in ends if isinstance(end, starlark.EvalError) and INTERNALS.search(end.message)] == []


def test_a_plain_function_of_python_s_cannot_be_offered() -> None:
    with pytest.raises(starlark.EvalError, match="decorate it"):
        run("x = raw", raw=lambda: 0)
