"""The diagrams of states in the documents are those that the tables of states draw."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import TypeVar

import pytest

from plait.jobs.states import JOB_TRANSITIONS, TARGET_TRANSITIONS, JobState, TargetState
from tests.docs.markdown import ROOT, blocks

State = TypeVar("State", bound=StrEnum)
Event = TypeVar("Event", bound=StrEnum)


def diagram(transitions: Mapping[tuple[State, Event], State], start: State, states: type[State]) -> str:
    """A state diagram in Mermaid: an arrow for each pair of states, with all events that lead along it."""
    arrows: dict[tuple[str, str], list[str]] = {}
    for (state, event), following in transitions.items():
        arrows.setdefault((state.value, following.value), []).append(event.value.replace(":", ","))
    left = {state for state, _ in arrows if any(state != following for origin, following in arrows if origin == state)}
    lines = ["stateDiagram-v2", f"    [*] --> {start.value}"]
    lines += [f"    {state} --> {following}: {' / '.join(events)}" for (state, following), events in arrows.items()]
    lines += [f"    {state.value} --> [*]" for state in states if state.value not in left]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    "drawn",
    [
        pytest.param(diagram(JOB_TRANSITIONS, JobState.QUEUED, JobState), id="jobs"),
        pytest.param(diagram(TARGET_TRANSITIONS, TargetState.PENDING, TargetState), id="targets"),
    ],
)
def test_the_architecture_shows_the_diagram_that_the_table_draws(drawn: str) -> None:
    shown = [block.code for block in blocks((ROOT / "docs/ARCHITECTURE.md").read_text()) if block.language == "mermaid"]
    assert drawn in shown, f"the diagram should read:\n{drawn}"


def test_every_state_is_in_the_diagram_and_the_terminal_ones_end_it() -> None:
    drawn = diagram(JOB_TRANSITIONS, JobState.QUEUED, JobState)
    assert all(state.value in drawn for state in JobState)
    assert drawn.count("--> [*]") == 4
