"""Hostile scripts of every kind: each ends cleanly, within its limits, and rightly where it ends with a value."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.starlark.cases.case import Case, Ending
from tests.starlark.cases.escapes import ESCAPES
from tests.starlark.cases.limits import HEAVY, LIMITS
from tests.starlark.cases.sandbox import Sandbox, faults, sandbox
from tests.starlark.cases.semantics import SEMANTICS
from tests.starlark.cases.syntax import HUGE, SYNTAX

_FILE: Final = "PLAIT_ENGINE_CASES"
_ENDINGS: Final[dict[str, Ending]] = {"ok": "valued", "error": "failing", "bounded": "bounded"}


def _shared_cases() -> list[Case]:
    """The cases of the file that the variable names; none without it."""
    path = os.environ.get(_FILE)
    rows = [] if path is None else [json.loads(line) for line in Path(path).read_text("utf-8").splitlines() if line]
    return [
        Case(
            f"{row['id']} {row['title']}",
            row["source"],
            _ENDINGS[row["expect"]],
            row.get("value"),
            row.get("files") or {},
            row["max_mb"],
        )
        for row in rows
    ]


def _parameters(cases: Iterable[Case]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in cases])


@pytest.fixture(scope="session")
def box() -> Iterator[Sandbox]:
    """A sandbox in which Python says all that it would warn of."""
    with sandbox("-W", "default") as made:
        yield made


@pytest.fixture(scope="session")
def optimised_box() -> Iterator[Sandbox]:
    """A sandbox of a Python without assertions and docstrings."""
    with sandbox("-OO") as made:
        yield made


@_parameters([*ESCAPES, *SYNTAX, *LIMITS, *SEMANTICS])
def test_a_hostile_script_ends_cleanly(case: Case, box: Sandbox) -> None:
    assert faults(case, box.run(case)) == []


@pytest.mark.slow
@_parameters([*HUGE, *HEAVY])
def test_a_heavy_script_ends_cleanly(case: Case, box: Sandbox) -> None:
    assert faults(case, box.run(case)) == []


@pytest.mark.slow
@_parameters(case for case in [*ESCAPES, *SYNTAX, *SEMANTICS] if case.ending in {"valued", "refused"})
def test_an_optimising_python_changes_nothing(case: Case, optimised_box: Sandbox) -> None:
    assert faults(case, optimised_box.run(case)) == []


@pytest.mark.skipif(_FILE not in os.environ, reason=f"{_FILE} names no file of further cases")
@_parameters(_shared_cases())
def test_a_further_script_ends_cleanly(case: Case, box: Sandbox) -> None:
    assert faults(case, box.run(case)) == []


# The sandbox itself: one that finds nothing would let every script pass.

_CRASH: Final = {"ended": "crashes (-11)", "said": ""}
_VALUE: Final = {"ended": "with a value", "value": "2", "mb": 40, "said": ""}


@pytest.mark.parametrize(
    ("case", "result", "fault"),
    [
        (Case("x", "", "bounded"), _CRASH, "it ended crashes (-11)"),
        (Case("x", "", "failing"), {"ended": "hangs", "said": ""}, "it ended hangs"),
        (
            Case("x", "", "failing"),
            {"ended": "with an exception of Python's", "kind": "KeyError", "text": "'a'", "length": 3, "said": ""},
            "it ended with an exception of Python's KeyError 'a'",
        ),
        (
            Case("x", "", "refused"),
            {"ended": "failed", "kind": "EvalError", "text": "a", "said": ""},
            "it ended failed EvalError a",
        ),
        (Case("x", "", "failing"), _VALUE | {"value": None}, "it ended with a value"),
        (Case("x", "", "valued", "1"), _VALUE, "its value is 2"),
        (Case("x", "", "valued", "2"), _VALUE | {"mb": 257}, "it used 257 MB"),
        (Case("x", "", "valued", "2"), _VALUE | {"said": "SyntaxWarning"}, "it wrote to standard error: SyntaxWarning"),
        (
            Case("x", "", "failing"),
            {"ended": "failed", "text": "<f object at 0x7f0011223344>", "length": 10_001, "said": ""},
            "its error has 10001 characters",
        ),
    ],
)
def test_a_fault_is_found(case: Case, result: dict[str, object], fault: str) -> None:
    assert fault in faults(case, result)


def test_a_good_end_has_no_fault() -> None:
    assert faults(Case("x", "", "valued", "2"), _VALUE) == []
