"""The budget: a count of steps that never varies, bounds memory, and is looked at within every large piece of work."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, Final

import pytest
from typing_extensions import override

from plait import starlark
from plait.context import Cancelled, Context
from tests.starlark.counted import COUNTED, PROGRAMS, counts, run, steps_of
from tests.starlark.measured import MB

_MEMORY: Final = 256 * MB
_SUCCEEDING: Final = sorted(set(PROGRAMS) - {"failure", "overspent"})


# ---- the count


def test_each_program_uses_the_steps_that_it_always_used() -> None:
    assert counts() == COUNTED


def test_the_programs_end_as_they_should() -> None:
    ends = {name: run(name)[0] for name in PROGRAMS}
    assert ends == dict.fromkeys(_SUCCEEDING, "ok") | {"failure": "EvalError", "overspent": "StepLimitExceeded"}


@contextmanager
def _traced() -> Iterator[list[int]]:
    """Trace every line and instruction, as debuggers and coverage do; counts what it is told."""
    told = [0]

    def tracer(frame: FrameType, _event: str, _arg: Any) -> Any:
        frame.f_trace_opcodes = True
        told[0] += 1
        return tracer

    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        yield told
    finally:
        sys.settrace(before)


def test_tracing_changes_no_count() -> None:
    with _traced() as told:
        traced = counts()
    assert told[0] > 10_000
    assert traced == COUNTED


def test_other_threads_change_no_count() -> None:
    interval, ended = sys.getswitchinterval(), threading.Event()
    others = [threading.Thread(target=lambda: [steps_of("loops") for _ in iter(ended.is_set, True)]) for _ in range(3)]
    sys.setswitchinterval(1e-6)
    try:
        for other in others:
            other.start()
        together = counts()
    finally:
        ended.set()
        for other in others:
            other.join()
        sys.setswitchinterval(interval)
    assert together == COUNTED


@pytest.mark.parametrize("name", _SUCCEEDING)
def test_a_limit_of_exactly_the_steps_used_is_enough_and_one_less_is_not(name: str) -> None:
    needed = COUNTED[name]
    assert run(name, needed) == ("ok", needed)
    assert run(name, needed - 1)[0] == "StepLimitExceeded"


@pytest.mark.parametrize("limit", [0, 1, 2, 10, 63, 64])
def test_a_failure_is_not_hidden_by_a_limit_that_it_does_not_reach(limit: int) -> None:
    end, _ = run("failure", limit)
    assert end == ("EvalError" if limit >= COUNTED["failure"] else "StepLimitExceeded")


def test_steps_add_up_over_all_that_runs_on_a_thread() -> None:
    thread = starlark.Thread()
    module = starlark.compile("def f(n):\n    return [i for i in range(n)]\n").run(thread)
    used = []
    for _ in range(3):
        before = thread.steps
        starlark.call(thread, module["f"], (1_000,))
        used.append(thread.steps - before)
    assert len(set(used)) == 1
    assert thread.steps > 3_000


# ---- the context is looked at

_LARGE: Final = 2_000_000
"""Elements of the values that the builtins below work on."""

_HUGE_WORK: Final[dict[str, str]] = {
    "list(range)": "list(range(n))",
    "sorted": "sorted(numbers)",
    "sorted by key": "sorted(numbers, key=lambda x: -x)",
    "sorted strings": "sorted(texts)",
    "max by key": "max(numbers, key=lambda x: -x)",
    "max": "max(numbers)",
    "join": "','.join(texts)",
    "replace": "text.replace('a', 'bc')",
    "replace nothing": "text.replace('', '-')",
    "split": "spaced.split()",
    "split at": "spaced.split(' ')",
    "rsplit at": "spaced.rsplit(' ', n)",
    "splitlines": "lines.splitlines()",
    "count": "text.count('ba')",
    "find nothing": "text.find('ab' * 1000)",
    "upper": "text.upper()",
    "title": "text.title()",
    "strip": "text.strip('a')",
    "elems": "list(text.elems())",
    "codepoints": "list(text.codepoints())",
    "repeat": "text * 8",
    "repeat a list": "numbers * 4",
    "add lists": "numbers + numbers",
    "slice": "numbers[1:]",
    "slice text": "text[::-1]",
    "equal": "numbers == list(numbers)",
    "equal nested": "[numbers] == [list(numbers)]",
    "less": "numbers < list(numbers)",
    "in": "-1 in numbers",
    "index": "numbers.index(n - 1)",
    "tuple": "tuple(numbers)",
    "set": "set(numbers)",
    "set operator": "set(numbers) & set(numbers)",
    "dict": "dict(zip(numbers, numbers))",
    "zip": "zip(numbers, numbers)",
    "enumerate": "enumerate(numbers)",
    "reversed": "reversed(numbers)",
    "extend": "[].extend(numbers)",
    "any": "any(zeros)",
    "all": "all(numbers[1:])",
    "str": "str(numbers)",
    "repr of text": "repr(text)",
    "format": "'{}'.format(numbers)",
    "percent": "'%s' % numbers",
    "encode": "json.encode(numbers)",
    "encode text": "json.encode(text)",
    "decode": "json.decode(encoded)",
    "indent": "json.indent(encoded)",
    "hash": "hash(text)",
    "hash of a tuple": "{tuple(numbers): 1}",
    "int of text": "int('7' * 60000)",
    "str of int": "[str(big) for _ in range(9)]",
    "product": "[big // 3 * 3 for _ in range(99)]",
    "comprehension": "[x for x in numbers]",
    "loop without a body": "[None for x in range(n * 10) if x < 0]",
    "star": "(lambda *args: len(args))(*numbers)",
    "bytes": "bytes(text)",
    "bytes of ints": "bytes([65] * n)",
    "startswith": "text.startswith('a' * (n - 1))",
    "istitle": "text.istitle()",
    "isalpha": "text.isalpha()",
    "partition": "text.partition('zz')",
    "removeprefix": "text.removeprefix('a' * (n - 1))",
    "dict union": "table | table",
    "items": "table.items()",
    "update": "{}.update(table)",
}  # fmt: skip

_SETUP: Final = f"""
n = {_LARGE}
numbers = list(range(n))
zeros = [0] * n
text = "a" * n
spaced = "a " * (n // 2)
lines = "a\\n" * (n // 2)
texts = [str(i) for i in range(n // 4)]
table = {{i: i for i in range(n // 4)}}
encoded = json.encode(list(range(n // 8)))
def power():
    x = 7
    for _ in range(16):
        x = x * x
    return x
big = power()
"""


class Looks(Context):
    """A context that counts how often it is looked at, and is cancelled at a look of a given number."""

    __slots__ = ("cancel_at", "seen")

    def __init__(self) -> None:
        super().__init__()
        self.seen = 0
        self.cancel_at = 0

    @override
    def check(self) -> None:
        self.seen += 1
        if self.seen == self.cancel_at:
            self.cancel("at this look")
        super().check()


@pytest.fixture(scope="module")
def works() -> dict[str, Any]:
    """A function for each piece of work, and what they work on."""
    functions = "".join(f"def f{number}(): return {work}\n" for number, work in enumerate(_HUGE_WORK.values()))
    predeclared = {"json": starlark.json}
    module = starlark.compile(_SETUP + functions, predeclared=predeclared.keys()).run(
        starlark.Thread(max_steps=None), predeclared
    )
    return {name: module[f"f{number}"] for number, name in enumerate(_HUGE_WORK)}


@pytest.mark.slow
@pytest.mark.parametrize("name", _HUGE_WORK)
def test_a_large_piece_of_work_looks_at_the_context_again_and_again(
    name: str, works: dict[str, Callable[..., Any]]
) -> None:
    looks = Looks()
    thread = starlark.Thread(max_steps=None, context=looks)
    starlark.call(thread, works[name])
    seen = looks.seen
    assert seen >= 2, thread.steps

    looks.cancel_at, looks.seen = 2, 0
    with pytest.raises(Cancelled, match="at this look"):
        starlark.call(starlark.Thread(max_steps=None, context=looks), works[name])


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["sorted", "join", "replace", "list(range)", "encode", "decode", "str", "comprehension", "str of int", "in"]
)
def test_a_cancellation_from_another_thread_ends_work_that_has_begun(
    name: str, works: dict[str, Callable[..., Any]]
) -> None:
    begun, context = threading.Event(), Context()

    @starlark.builtin
    def begin() -> None:
        begun.set()

    forever = "def forever(work):\n    begin()\n    for _ in range(1 << 60):\n        work()\n"
    function = starlark.compile(forever, predeclared={"begin"}).run(starlark.Thread(), {"begin": begin})["forever"]
    canceller = threading.Thread(target=lambda: (begun.wait(), context.cancel("enough")))
    canceller.start()
    with pytest.raises(Cancelled, match="enough"):
        starlark.call(starlark.Thread(max_steps=None, context=context), function, (works[name],))
    canceller.join()


# ---- memory

_GREEDY: Final[dict[str, str]] = {
    "lists": "out = [[] for i in range(1 << 40)]",
    "lists by loops": ("out = []\nfor i in range(1 << 40):\n    out.append([i])"),
    "wide lists of lists": (
        "def f():\n"
        "    return [[[], [], [], [], [], [], [], [], [], [], [], [], [], [], [], []] for i in range(1 << 40)]\n"
        "f()"
    ),
    "dicts of dicts": ("def f(a):\n    return [{a: {a: {a: {a: {a: {a: a}}}}}} for i in range(1 << 40)]\nf(3)"),
    "wide dicts": (
        "def f(a):\n"
        "    return [[{a: 1}, {a: 1}, {a: 1}, {a: 1}, {a: 1}, {a: 1}, {a: 1}, {a: 1}] for i in range(1 << 40)]\n"
        "f(3)"
    ),
    "dicts in a dict": ("d = {}\nfor i in range(1 << 40):\n    d[i] = {i: {}}"),
    "tuples": (
        "def f(a):\n"
        "    return [((a,), (a,), (a,), (a,), (a,), (a,), (a,), (a,), (a,), (a,)) for i in range(1 << 40)]\n"
        "f(1)"
    ),
    "closures": (
        "def f():\n"
        "    out = []\n"
        "    for i in range(1 << 40):\n"
        "        def g(x=i): return x + i\n"
        "        out.append(g)\n"
        "f()"
    ),
    "lambdas": "out = [lambda x=i, y=i, z=i, *, k=i, m=i: i for i in range(1 << 40)]",
    "lambdas over variables": (
        "def f(a, b, c, d):\n    return lambda: a + b + c + d\nout = [f(1, 2, 3, 4) for i in range(1 << 40)]"
    ),
    "calls of small functions": (
        "def mk(a): return {a: {a: {a: a}}}\n"
        "def f():\n"
        "    return [[mk(1), mk(1), mk(1), mk(1), mk(1)] for i in range(1 << 40)]\n"
        "f()"
    ),
    "small functions that are kept": (
        "def mk(a): return {a: {a: {a: a}}}\n"
        "def f():\n"
        "    return [[mk(1), mk(1), mk(1), mk(1), mk(1)] for i in range(30000)]\n"
        "out = f()"
    ),
    "strings of small functions": (
        "def mk(a): return [a + a, a + a, a + a, a + a]\n"
        "def f(s):\n"
        "    return [[mk(s), mk(s), mk(s), mk(s), mk(s), mk(s)] for i in range(29000)]\n"
        "out = f('\\U0001f600' * 31)"
    ),
    "structs of small functions": (
        "def mk(a): return [a + a, a + a, a + a, a + a]\n"
        "def f(s):\n"
        "    return [[mk(s), mk(s), mk(s), mk(s), mk(s), mk(s)] for i in range(29000)]\n"
        "out = f(struct(a=1))"
    ),
    "structs": (
        "def f(s):\n"
        "    return [[s + s, s + s, s + s, s + s, s + s, s + s, s + s] for _ in range(1 << 40)]\n"
        "f(struct(a=1))"
    ),
    "sets": (
        "def f(a):\n"
        "    return [[a | a, a | a, a | a, a | a, a | a, a | a, a | a] for i in range(1 << 40)]\n"
        "f(set([1, 2, 3, 4]))"
    ),
    "bound methods": (
        "def f():\n    return [[[].append, {}.get, [].append, {}.get, [].append, {}.get] for i in range(1 << 40)]\nf()"
    ),
    "ranges": (
        "def f(r):\n"
        "    return [[r[1:], r[2:], r[3:], r[4:], r[5:], r[6:], r[7:]] for _ in range(1 << 40)]\n"
        "f(range(1 << 62))"
    ),
    "small strings": (
        "def f(a):\n"
        "    return [[a + a, a + a, a + a, a + a, a + a, a + a, a + a, a + a] for i in range(1 << 40)]\n"
        "f('\\U0001f600' * 31)"
    ),
    "small strings, known": (
        "def f():\n"
        "    a = '\\U0001f600' * 31\n"
        "    return [[a + a, a + a, a + a, a + a, a + a, a + a] for i in range(1 << 40)]\n"
        "f()"
    ),
    "parts of a string": ("s = '\\U0001f600' * 100000\nout = [s[i:] for i in range(1 << 40)]"),
    "doubled strings": ("def f():\n    s = '\\U0001f600'\n    for i in range(99):\n        s += s\nf()"),
    "repeated strings": ("s = '\\U0001f600' * 1000\nout = []\nfor i in range(1 << 40):\n    out.append(s * 100)"),
    "replaced strings": ("s = 'a' * 1000\nout = [s.replace('', '\\U0001f600' * 100) for i in range(1 << 40)]"),
    "elements": ("s = '\\U0001f600\\u1234' * 10000\nout = [list(s.elems()) for i in range(1 << 40)]"),
    "pieces": ("s = '\\U0001f600,' * 1000\nout = [s.split(',') for i in range(1 << 40)]"),
    "pairs": ("x = range(1000)\nout = []\nfor i in range(1 << 40):\n    out.append(enumerate(x))"),
    "decoded": ("s = json.encode([{'a': {}, 'b': [1.5, 'x']}] * 100)\nout = [json.decode(s) for i in range(1 << 40)]"),
    "keyword arguments": (
        "def f(**k): return k\ndef g():\n    return [[f(a=1), f(a=1), f(a=1), f(a=1)] for i in range(1 << 40)]\ng()"
    ),
    "large integers": (
        "def f(x):\n"
        "    for i in range(9):\n"
        "        x = x * x\n"
        "    return [[x + 1, x - 1, x ^ 1, x | 2, x & -2, -x, ~x, x >> 1] for i in range(1 << 40)]\n"
        "f(1 << 511)"
    ),
    "large integers, known": (
        "def f():\n"
        "    x = 1 << 511\n"
        "    for i in range(9):\n"
        "        x = x * x\n"
        "    return [[x + 1, x - 1, x ^ 1, x | 2, x & -2, -x, ~x, x >> 1] for i in range(1 << 40)]\n"
        "f()"
    ),
    "a text of a tree that is shared": ("x = ['text' * 100]\nfor i in range(40):\n    x = [x, x]\nstr(x)"),
    "a deep recursion": ("def f(n): return [n, f(n + 1)]\nf(0)"),
}


def _measured(source: str) -> dict[str, Any]:
    """How a script ends in a process of its own, and what it takes."""
    command = [sys.executable, str(Path(__file__).with_name("measured.py"))]
    done = subprocess.run(command, input=source, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


@pytest.mark.slow
@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="only Linux says how much memory a process has had at most"
)
@pytest.mark.parametrize("name", _GREEDY)
def test_a_greedy_script_stays_within_the_memory_that_its_steps_allow(name: str) -> None:
    result = _measured(_GREEDY[name])
    assert result["ended"].startswith(("ok", "too many steps", "Starlark stack overflow", "int", "result"))
    assert result["bytes"] < _MEMORY, result


@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="only Linux says how much memory a process has had at most"
)
def test_memory_is_measured() -> None:
    assert _measured("out = list(range(500000))")["bytes"] > 15 * MB
