"""Programs whose steps are known: the same on every version of Python, traced or not."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Final

if __name__ == "__main__":  # run as a program, not as a part of the package of tests
    sys.path[:0] = [str(Path(__file__).parents[2] / "src")]

from plait import starlark

__all__ = ["COUNTED", "PROGRAMS", "counts", "run", "steps_of"]

PROGRAMS: Final[dict[str, str]] = {
    "arithmetic": """
def f(n):
    total = 0
    for i in range(n):
        total = (total * 31 + i * i) % 1000003
        if total % 3 == 0:
            total += 1
        elif total > 500000:
            total -= i
    return total
out = f(1000)
""",
    "calls": """
def add(x, y): return x + y
def apply(f, *args, **kwargs): return f(*args, **kwargs)
def f(n):
    total = 0
    for i in range(n):
        total = apply(add, total, y=i) if i % 2 else add(total, i)
    return total
out = f(500)
""",
    "closures": """
def counter():
    state = [0]
    def step(by=1):
        state[0] += by
        return state[0]
    return step
def f():
    step = counter()
    return [step(i) for i in range(300)] + [g(2) for g in [lambda x: x * 2, lambda x: step(x)]]
out = f()
""",
    "strings": """
def f():
    words = ("the quick brown fox " * 50).split()
    text = ", ".join([word.upper() for word in words])
    text = text.replace("QUICK", "slow").strip(", ")
    return [text.count("FOX"), text.find("slow"), len(text.title()),
            "%s %d %r" % (text[:9], len(words), text[-3:]), "{} {x}".format(1, x=text[::50])]
out = f()
""",
    "containers": """
def f():
    table = {}
    for i in range(400):
        table.setdefault(str(i % 37), []).append(i)
    rows = sorted(table.items(), key=lambda row: (-len(row[1]), row[0]))
    numbers = set([len(row[1]) for row in rows]) | set(range(20))
    return [rows[:2], list(numbers)[:5], max([sum(row[1]) for row in rows]),
            list(zip(range(9), "abcdefghi".elems())), table["3"] in list(table.values())]
def sum(values):
    total = 0
    for value in values:
        total += value
    return total
out = f()
""",
    "numbers": """
def f():
    big = 1
    for i in range(1, 120):
        big = big * i
    return [len(str(big)), big % 1000000007, big >> 400, -big // 7,
            float(1 << 100), int("123456789" * 9), hash("text"), 7 // 2.0, 1e300 * 10]
out = f()
""",
    "json": """
def f():
    value = {"rows": [{"n": i, "x": i / 8, "s": "é" * i, "t": (i, None, True)} for i in range(60)]}
    text = json.encode(value)
    return [len(text), json.decode(text)["rows"][59]["n"], len(json.indent(text))]
out = f()
""",
    "structs": """
def f():
    points = [struct(x=i, y=-i) for i in range(200)]
    return [sorted([p.x * p.y for p in points])[:3], len(dir(points[0])), points[3] == struct(x=3, y=-3),
            str(points[:2]), hasattr(points[0], "z")]
out = f()
""",
    "loops": """
def f():
    found = []
    for i in range(100):
        for j in range(i):
            if j * j > i:
                break
            if (i + j) % 7 == 0:
                continue
            found.append((i, j))
    return [len(found), [(x, y) for x in range(12) for y in range(x) if x % (y + 1) == 0][-3:],
            {k: v for k, v in enumerate("abc".elems())}]
out = f()
""",
    "failure": """
def g(n): return [1, 2, 3][n]
def f():
    for i in range(10):
        g(i)
out = f()
""",
    "overspent": """
def f():
    total = 0
    for i in range(1 << 40):
        total += len(list(range(i % 100)))
    return total
out = f()
""",
}

COUNTED: Final[dict[str, int]] = {
    "arithmetic": 15_014,
    "calls": 7_518,
    "closures": 2_152,
    "strings": 2_235,
    "containers": 9_262,
    "numbers": 473,
    "json": 4_157,
    "structs": 4_477,
    "loops": 13_395,
    "failure": 65,
    "overspent": 204_863,
}
"""The steps that each program uses; ``python tests/starlark/counted.py`` prints them."""

_PREDECLARED: Final[dict[str, Any]] = {"json": starlark.json, "struct": starlark.struct}


def run(name: str, max_steps: int | None = 200_000) -> tuple[str, int]:
    """Run a program.

    Args:
        name: Which of ``PROGRAMS``.
        max_steps: Its budget.

    Returns:
        How it ended and the steps it used.
    """
    thread = starlark.Thread(max_steps=max_steps)
    try:
        starlark.compile(PROGRAMS[name], f"{name}.star", _PREDECLARED.keys()).run(thread, _PREDECLARED)
    except starlark.EvalError as error:
        return type(error).__name__, thread.steps
    return "ok", thread.steps


def steps_of(name: str) -> int:
    """Return the steps that a program uses."""
    return run(name)[1]


def counts() -> dict[str, int]:
    """Return the steps of all programs."""
    return {name: steps_of(name) for name in PROGRAMS}


if __name__ == "__main__":
    for name, steps in counts().items():
        print(f'    "{name}": {steps:_},')  # noqa: T201 - it is what the program is for
