"""What is frozen when a module has run, and that a frozen value is whole."""

from __future__ import annotations

import pytest

from plait import starlark

CYCLES = {
    "many values": "l.extend([[i] for i in range(6000)])",
    "deep values": "x = []\nfor i in range(200):\n    x = [x]\nl.append(x)",
    "few values": "l.append([1])",
}


def run(source: str) -> starlark.Globals:
    options = starlark.Options(top_level_control=True, global_reassign=True)
    return starlark.compile(source, predeclared={"struct"}, options=options).run(
        starlark.Thread(), {"struct": starlark.struct}
    )


@pytest.mark.parametrize("name", CYCLES)
def test_a_function_in_a_cycle_sees_the_whole_frozen_list(name: str) -> None:
    module = run(f"l = []\ndef f():\n    return len(l)\nl.append(f)\n{CYCLES[name]}\nbefore = f()\n")
    assert starlark.call(starlark.Thread(), module["f"]) == module["before"] == len(module["l"])


@pytest.mark.parametrize("name", CYCLES)
def test_a_struct_and_a_default_in_a_cycle_see_the_whole_frozen_list(name: str) -> None:
    module = run(
        f"l = []\ns = struct(l=l)\ndef f(x = l, *, y = s):\n    return len(x) + len(y.l)\nl.append(f)\n"
        f"l.append(s)\nl.append(l.index)\n{CYCLES[name]}\nbefore = f()\n"
    )
    assert starlark.call(starlark.Thread(), module["f"]) == module["before"] == 2 * len(module["l"])


def test_what_a_loaded_builtin_keeps_is_frozen_when_the_module_has_run() -> None:
    kept: list[object] = []

    @starlark.builtin
    def register(function: object) -> None:
        kept.append(function)

    host = starlark.Module("host", {"register": register})
    source = 'load("host", "register")\nl = []\ndef grow():\n    l.append(1)\nregister(grow)\n'
    starlark.compile(source).run(starlark.Thread(load=lambda _thread, _name: host))
    with pytest.raises(starlark.FrozenError):
        starlark.call(starlark.Thread(), kept[0])


@pytest.mark.parametrize("wrong", [None, 5, "x"])
def test_a_loader_must_return_a_module(wrong: object) -> None:
    def load(_thread: starlark.Thread, _name: str) -> object:
        return wrong

    with pytest.raises(starlark.EvalError, match="returned no module"):
        starlark.compile('load("m", "a")').run(starlark.Thread(load=load))
