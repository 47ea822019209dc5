"""The Starlark engine has the limits that docs/starlark.md says: what keeps to one is taken, one more is not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pytest

from plait import starlark
from tests.docs.markdown import ROOT, rows

_JSON: Final = {"json": starlark.json}
_OPTIONS: Final = starlark.Options(top_level_control=True, global_reassign=True)


def compiled(source: str) -> starlark.Program:
    return starlark.compile(source, predeclared=_JSON, options=_OPTIONS)


def run(source: str) -> starlark.Globals:
    return compiled(source).run(starlark.Thread(max_steps=None), _JSON)


def indented(count: int, head: str) -> str:
    """Blocks inside one another, each opened by a line."""
    return "".join(f"{' ' * level}{head.format(level)}\n" for level in range(count)) + f"{' ' * count}pass\n"


def nested(count: int) -> str:
    """Statements that make two equal lists with so many levels."""
    return f"x, y = [], []\nfor _ in range({count} - 1):\n    x, y = [x], [y]\n"


def converted(count: int) -> object:
    value: list[Any] = []
    for _ in range(count - 1):
        value = [value]
    return starlark.to_python(starlark.from_python(value))


def shown(count: int) -> None:
    message = starlark.StarlarkError("x" * count).message
    if len(message) != count or "…" in message:
        raise starlark.StarlarkError("cut")


def repeated(count: int) -> None:
    """Ask for so many that the steps do not pay for them, which is another error than too many of them."""
    try:
        compiled(f"x = [None] * {count}").run(starlark.Thread(), _JSON)
    except starlark.StepLimitExceeded:
        return
    raise AssertionError("nothing was charged")


_TRIED: Final[dict[str, Callable[[int], object]]] = {
    "characters of a source": lambda n: compiled("#" * n),
    "brackets inside one another": lambda n: compiled(f"x = {'[' * n}{']' * n}"),
    "levels of indentation": lambda n: compiled(indented(n, "if {}:")),
    "functions and lambdas inside one another": lambda n: compiled(f"x = {'lambda: ' * n}1"),
    "comprehensions inside one another": lambda n: compiled(f"x = {'[' * n}1{' for _ in [1]]' * n}"),
    "loops inside one another": lambda n: compiled(indented(n, "for x{} in [1]:")),
    "`.name`, `[…]` and `(…)` in a row": lambda n: compiled(f"x = json{'.x' * n}"),
    "signs before an operand": lambda n: compiled(f"x = {'-' * n}1"),
    "operators of one precedence in a row": lambda n: compiled(f"x = 1{' + 1' * n}"),
    "positional arguments of a call": lambda n: compiled(f"x = max({'1, ' * n})"),
    "digits of an integer literal": lambda n: compiled(f"x = {'9' * n}"),
    "bits of an integer": lambda n: run(f"x = 1 << {n - 1}"),
    "elements that a repetition makes, if the steps pay for them": repeated,
    "levels inside a value that `==`, `<` and hashing look into": lambda n: run(f"{nested(n + 1)}z = x == y"),
    "levels that `json` looks into": lambda n: run(f"{nested(n)}z = json.decode(json.encode(x))"),
    "levels that `from_python` and `to_python` look into": converted,
    "characters of an error's message; more are cut from its middle": shown,
}


def limits() -> dict[str, int]:
    """The limits that the document says, by what is limited."""
    text = (ROOT / "docs" / "starlark.md").read_text()
    section = text[text.index("\n## Limits") : text.index("\n## What differs")]
    return {what: int(most.replace(",", "")) for what, most in rows(section)[1:]}


@pytest.mark.parametrize("what", _TRIED)
def test_what_keeps_to_a_limit_is_taken_and_one_more_is_not(what: str) -> None:
    most = limits()[what]
    _TRIED[what](most)
    with pytest.raises(starlark.StarlarkError):
        _TRIED[what](most + 1)


def test_every_limit_is_tried() -> None:
    assert list(limits()) == list(_TRIED)
