"""Changes where none are allowed: while something iterates, however the change is made."""

from __future__ import annotations

from typing import Any

import pytest

from plait import starlark

REFUSED = {
    "|=": "def f():\n    d = {1: 2}\n    for x in d:\n        d |= {3: 4}\nf()",
    "an element's |=": "def f():\n    t = [{1: 2}]\n    for x in t[0]:\n        t[0] |= {3: 4}\nf()",
    "a clause's target": "l = [[1], [2]]\nx = [0 for l[0] in l]",
    "a clause's key": "d = {1: 2}\nx = [0 for d[2] in d]",
    "a key function by place": (
        "def f():\n    d = {1: 1}\n    for x in d:\n        sorted([1], lambda v: d.update({2: 2}))\nf()"
    ),
    "a field that is called as a method is": (
        "l = [1, 2]\ns = struct(index=lambda: l.append(1))\nx = [s.index() for x in l]"
    ),
    "such a field behind a function": (
        "l = [1, 2]\ns = struct(count=lambda: l.append(1))\ndef g(s):\n    s.count()\n"
        "def f():\n    for x in l:\n        g(s)\nf()"
    ),
    "such a field in a loop": (
        "l = [1]\ns = struct(count=lambda: l.append(1))\ndef f():\n    for x in l:\n        s.count()\nf()"
    ),
}


def run(source: str, **predeclared: Any) -> starlark.Globals:
    predeclared["struct"] = starlark.struct
    return starlark.compile(source, predeclared=predeclared.keys()).run(starlark.Thread(), predeclared)


@pytest.mark.parametrize("name", REFUSED)
def test_a_change_during_iteration_is_refused(name: str) -> None:
    with pytest.raises(starlark.EvalError, match="during iteration"):
        run(REFUSED[name])


def test_a_list_may_change_again_when_the_loop_is_over() -> None:
    module = run(
        "l = [1, 2]\ns = struct(count=lambda: l.append(3))\n"
        "def f():\n    for x in l:\n        pass\n    s.count()\n    return list(l)\nx = f()"
    )
    assert module["x"] == [1, 2, 3]


@pytest.mark.parametrize(
    "source",
    [
        "def g(s, n):\n    return 0 if n == 0 else s.index(s, n - 1)\ng(struct(index=g), 5)",
        "def g(n):\n    return 0 if n == 0 else sorted([n - 1], g)[0]\ng(5)",
        "tab = {}\ndef f(n):\n    return struct(get=f).get(n)\nf(1)",
    ],
)
def test_a_function_that_reaches_itself_by_a_detour_is_refused(source: str) -> None:
    with pytest.raises(starlark.EvalError, match="called recursively"):
        run(source)


def test_a_detour_is_allowed_when_recursion_is() -> None:
    source = "def g(s, n):\n    return 0 if n == 0 else 1 + s.index(s, n - 1)\nx = g(struct(index=g), 5)"
    options = starlark.Options(recursion=True)
    program = starlark.compile(source, predeclared={"struct"}, options=options)
    again = starlark.Program.from_bytes(program.to_bytes())
    assert [p.run(starlark.Thread(), {"struct": starlark.struct})["x"] for p in (program, again)] == [5, 5]


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("def f():\n    x = [0, 0, 0]\n    i = 1\n    x[i], i = 5, 2\n    return x\nx = f()", [0, 5, 0]),
        ("def f():\n    i = 0\n    l = [1, 2]\n    l[i], i, l[i] = 7, 1, 8\n    return l\nx = f()", [7, 8]),
        ("def f():\n    x = [1]\n    y = x\n    (x[0], x) = (5, [7])\n    return [y, x]\nx = f()", [[5], [7]]),
        ("def f(l, i):\n    for l[i], i in [(5, 2), (6, 0)]: pass\n    return l\nx = f([0, 0, 0], 0)", [5, 0, 6]),
    ],
)  # fmt: skip
def test_what_is_taken_apart_is_assigned_from_left_to_right(source: str, value: object) -> None:
    assert run(source)["x"] == value


def test_a_builtin_that_changes_its_argument_ends_no_loop_and_reaches_no_lent_list() -> None:
    @starlark.builtin
    def push(values: list[int], value: int) -> None:
        values.append(value)

    module = run(
        "ys = [1]\ndef f():\n    for y in ys:\n        push(ys, 1)\nf()\nz = [push(ys, 1) for y in ys]", push=push
    )
    assert len(module["z"]) == 1
    rows: list[int] = []
    thread = starlark.Thread()
    with_push = run("def f(rows):\n    push(rows, 2)\n", push=push)["f"]
    loan = starlark.lend([rows], [thread])
    starlark.call(thread, with_push, (rows,))
    loan.restore()
    assert rows == []


def test_names_that_mean_something_to_python_are_ordinary_keywords() -> None:
    assert run("def f(**kw):\n    return kw\nx = f(__class__=5)")["x"] == {"__class__": 5}


def test_a_sum_of_structs_is_paid_for_by_its_fields() -> None:
    source = (
        "s = struct(**{'f%d' % i: i for i in range(1000)})\ndef f():\n    for i in range(1 << 40):\n        s + s\nf()"
    )
    thread = starlark.Thread(max_steps=100_000)
    with pytest.raises(starlark.StepLimitExceeded):
        starlark.compile(source, predeclared={"struct"}).run(thread, {"struct": starlark.struct})
    assert thread.steps < 110_000


def test_the_arguments_of_a_loop_s_range_are_checked() -> None:
    for arguments in ("1, None", "0, 1 << 70, 1 << 69", "'a'", "True", "1.0", "1, 2, 0"):
        for source in ("def f():\n    for i in range({}):\n        pass\nf()", "x = [i for i in range({})]"):
            with pytest.raises(starlark.EvalError, match="range: "):
                run(source.format(arguments))


def test_a_variable_without_a_value_is_named_however_often_the_function_has_run() -> None:
    source = (
        "def last(items):\n    for item in items:\n        pass\n    item\n"
        "def f(x):\n    a = 1\n    if x: c = 1\n    return a + c\n"
    )
    module = run(source)
    for _ in range(20):
        for name, variable, line in (("last", "item", 4), ("f", "c", 8)):
            with pytest.raises(starlark.EvalError, match=f"local variable {variable} referenced") as caught:
                starlark.call(starlark.Thread(), module[name], ([],))
            assert caught.value.line == line


def test_a_method_that_the_host_calls_with_wrong_arguments_says_so() -> None:
    module = run("l = []\nd = {}\nappend = l.append\nget = d.get\n")
    for name, text in (("append", "append: got 0 arguments, want 1"), ("get", "get: got 0 arguments, want at least 1")):
        with pytest.raises(starlark.EvalError, match=text):
            starlark.call(starlark.Thread(), module[name])
    with pytest.raises(starlark.EvalError, match="get: got 0 arguments, want at least 1"):
        run("f = lambda: {}.get()\nf()")
