"""Every event in every state of jobs and targets, on a real store: what the table says is what happens."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

import msgspec
import pytest

from plait import Store
from plait.jobs.outcomes import Settled
from plait.jobs.states import (
    JOB_TRANSITIONS,
    LIVE_STATES,
    REUSABLE_STATES,
    TARGET_TRANSITIONS,
    JobEvent,
    JobState,
    TargetEvent,
    TargetState,
    after_outcome,
    job_states_that_accept,
)
from plait.jobs.store import NewJob, Turn
from tests.jobs.rows import NO_CAPS, Rows, assert_sound, done, failed, new_job, read_rows, take

NOW: Final = 5000.0


class Scene(NamedTuple):
    """A job that was brought into a state, and a turn of it: the one under way, or one long over."""

    store: Store
    url: str
    job: NewJob
    turn: Turn

    def read(self) -> Rows:
        """The rows, found sound."""
        return assert_sound(self.url, self.store)

    def job_state(self) -> JobState:
        return JobState(self.read().jobs[self.job.id]["status"])

    def target_states(self) -> list[TargetState]:
        status = self.store.status(self.job.id)
        assert status is not None
        return [TargetState(target.status) for target in status.targets]


@pytest.fixture
def store(store_url: str) -> Iterator[Store]:
    with Store.open(store_url) as opened:
        yield opened


# --- bringing a job into a state

OUTCOMES: Final[dict[JobEvent, str]] = {
    # the outcomes of all targets so far; the event is the storing of the last of them
    JobEvent.STORE_MORE: "d",
    JobEvent.STORE_LAST_ALL_DONE: "ddd",
    JobEvent.STORE_LAST_ALL_FAILED: "fff",
    JobEvent.STORE_LAST_MIXED: "dfd",
}


def outcome_of(letter: str) -> Settled:
    return done() if letter == "d" else failed()


def store_outcomes(store: Store, letters: str) -> None:
    for letter in letters:
        store.settle(take(store), outcome_of(letter), 1000.0, None)


def scene(store: Store, url: str, state: JobState, before: str) -> Scene:
    """A job of three targets in ``state``.

    Args:
        store: Where to put it.
        url: The store's URL.
        state: The state to bring it into.
        before: The outcomes of its first targets, as letters, if the state leaves a choice.
    """
    job = new_job("a", "b", "c")
    store.create(job, NO_CAPS)
    if state is JobState.QUEUED:
        # it never had a turn: the last resort is a turn that somebody made up
        return Scene(store, url, job, made_up_turn(store, url, job))
    if state in {JobState.RUNNING, JobState.CANCELLED}:
        store_outcomes(store, before)
        turn = take(store)
        if state is JobState.CANCELLED:
            store.cancel(job.id, 1500.0)
        return Scene(store, url, job, turn)
    letters = {JobState.DONE: "ddd", JobState.PARTIAL: "dff", JobState.FAILED: "fff"}[state]
    store_outcomes(store, letters[:-1])
    turn = take(store)
    store.settle(turn, outcome_of(letters[-1]), 1000.0, None)
    return Scene(store, url, job, turn)


def made_up_turn(store: Store, url: str, job: NewJob) -> Turn:
    """The turn that the job would have had, taken from another job that is gone."""
    other = new_job("a", "b", "c")
    store.create(other, NO_CAPS)
    seq = read_rows(url).jobs[job.id]["seq"]
    turn = take(store, hand=seq)
    assert turn.job_id == other.id
    store.cancel(other.id, 0.0)
    store.release(turn)
    store.sweep(1.0)
    return msgspec.structs.replace(turn, seq=seq, job_id=job.id)


# --- making an event happen


def take_event(at: Scene) -> None:
    """A worker looks for work; a target in flight is out of its way."""
    if at.job_state() is JobState.RUNNING:
        at.store.release(at.turn)
    found = at.store.take_turn(0, "one")
    assert not isinstance(found, Turn) or found.job_id == at.job.id


def store_event(at: Scene, event: JobEvent) -> None:
    letters = OUTCOMES[event]
    turn = msgspec.structs.replace(at.turn, done=len(letters) - 1, failed=letters[:-1].count("f"))
    at.store.settle(turn, outcome_of(letters[-1]), NOW, None)


def interrupt_event(at: Scene) -> None:
    at.store.claim(NOW)
    at.store.unclaim()


def happen(at: Scene, event: JobEvent) -> None:
    """Make ``event`` happen to the job, as the runner makes it."""
    acts: dict[JobEvent, Callable[[], object]] = {
        JobEvent.TAKE: lambda: take_event(at),
        JobEvent.RETURN: lambda: at.store.release(at.turn),
        JobEvent.CANCEL: lambda: at.store.cancel(at.job.id, NOW),
        JobEvent.INTERRUPT: lambda: interrupt_event(at),
    }
    if event in OUTCOMES:
        store_event(at, event)
    else:
        acts[event]()


@pytest.mark.parametrize("event", list(JobEvent))
@pytest.mark.parametrize("state", list(JobState))
def test_every_event_in_every_state_of_a_job_does_what_the_table_says(
    store: Store, store_url: str, state: JobState, event: JobEvent
) -> None:
    if event is JobEvent.INTERRUPT and store.shared:
        pytest.skip("jobs outlive their runner on this engine")
    at = scene(store, store_url, state, OUTCOMES.get(event, "d")[:-1])
    assert at.job_state() is state
    if (state, event) == (JobState.CANCELLED, JobEvent.INTERRUPT):
        store.release(at.turn)  # the end of its turn is an event of its own, which the table allows
    before = at.read()
    happen(at, event)
    following = JOB_TRANSITIONS.get((state, event))
    assert at.job_state() is (following or state)
    if following is None:
        assert at.read() == before
    else:
        assert at.read() != before


@pytest.mark.parametrize("event", [JobEvent.RETURN, *OUTCOMES])
def test_what_happens_to_a_cancelled_job_without_a_target_in_flight_is_refused(
    store: Store, store_url: str, event: JobEvent
) -> None:
    at = scene(store, store_url, JobState.CANCELLED, OUTCOMES.get(event, "d")[:-1])
    store.release(at.turn)
    before = at.read()
    happen(at, event)
    assert at.read() == before


def test_a_running_job_with_a_target_in_flight_gives_no_other_turn(store: Store, store_url: str) -> None:
    at = scene(store, store_url, JobState.RUNNING, "d")
    before = at.read()
    assert not isinstance(store.take_turn(0, "one"), Turn)
    assert at.read() == before


# --- targets


def target_scene(store: Store, url: str, state: TargetState) -> Scene:
    """A job whose target 1 is in ``state``, and the turn of that target."""
    job = new_job("a", "b", "c")
    store.create(job, NO_CAPS)
    store_outcomes(store, "d")
    turn = take(store)
    if state is TargetState.PENDING:
        store.release(turn)
    elif state is not TargetState.RUNNING:
        store.settle(turn, outcome_of("d" if state is TargetState.DONE else "f"), 1000.0, None)
    return Scene(store, url, job, turn)


def target_take(at: Scene) -> None:
    """Look for work; only a turn of this very target counts."""
    found = at.store.take_turn(0, "one")
    if isinstance(found, Turn) and found.idx != at.turn.idx:
        at.store.release(found)


@pytest.mark.parametrize("event", list(TargetEvent))
@pytest.mark.parametrize("state", list(TargetState))
def test_every_event_in_every_state_of_a_target_does_what_the_table_says(
    store: Store, store_url: str, state: TargetState, event: TargetEvent
) -> None:
    at = target_scene(store, store_url, state)
    assert at.target_states()[1] is state
    before = at.read().targets
    acts: dict[TargetEvent, Callable[[], object]] = {
        TargetEvent.TAKE: lambda: target_take(at),
        TargetEvent.RETURN: lambda: store.release(at.turn),
        TargetEvent.SUCCEED: lambda: store.settle(at.turn, done("other"), NOW, None),
        TargetEvent.FAIL: lambda: store.settle(at.turn, failed(ValueError("other")), NOW, None),
    }
    acts[event]()
    following = TARGET_TRANSITIONS.get((state, event))
    assert at.target_states() == [TargetState.DONE, following or state, TargetState.PENDING]
    if following is None:
        assert at.read().targets == before


@pytest.mark.parametrize("give_back", ["release", "defer", "forget", "interrupt", "lose"])
def test_a_running_target_is_pending_again_however_its_turn_ends_unstored(
    store: Store, store_url: str, give_back: str
) -> None:
    if give_back in {"interrupt", "lose"} and store.shared is (give_back == "interrupt"):
        pytest.skip("this does not happen on this engine")
    if give_back == "lose":
        store._database.turn_lease_seconds = -1.0  # run out as soon as it is taken
    at = target_scene(store, store_url, TargetState.RUNNING)
    other = new_job()
    store.create(other, NO_CAPS)
    acts: dict[str, Callable[[], object]] = {
        "release": lambda: store.release(at.turn),
        "defer": lambda: store.defer(at.turn, 3600.0, None),
        "forget": lambda: store.release_forgotten("one", set()),
        "interrupt": lambda: interrupt_event(at),
        "lose": lambda: store.take_turn(at.turn.seq, "two"),
    }
    acts[give_back]()
    assert at.target_states() == [TargetState.DONE, TargetState.PENDING, TargetState.PENDING]


# --- the table itself


def terminal_states() -> set[JobState]:
    return set(JobState) - LIVE_STATES


def test_a_live_job_is_queued_or_running_and_every_other_is_terminal() -> None:
    assert {JobState.QUEUED, JobState.RUNNING} == LIVE_STATES
    for (state, _), following in JOB_TRANSITIONS.items():
        if state in terminal_states():
            assert following is state


def test_every_state_of_a_job_can_be_reached_and_every_live_job_can_end() -> None:
    reached = {JobState.QUEUED}
    for _ in JobState:
        reached |= {following for (state, _), following in JOB_TRANSITIONS.items() if state in reached}
    assert reached == set(JobState)
    for live in LIVE_STATES:
        assert any(
            JOB_TRANSITIONS[state, event] in terminal_states() for state, event in JOB_TRANSITIONS if state is live
        )


def test_every_state_of_a_target_can_be_reached_and_a_stored_target_never_changes() -> None:
    reached = {TargetState.PENDING}
    for _ in TargetState:
        reached |= {following for (state, _), following in TARGET_TRANSITIONS.items() if state in reached}
    assert reached == set(TargetState)
    assert {state for state, _ in TARGET_TRANSITIONS} == {TargetState.PENDING, TargetState.RUNNING}


def test_every_event_does_something_in_some_state() -> None:
    assert all(job_states_that_accept(event) for event in JobEvent)
    assert {event for _, event in TARGET_TRANSITIONS} == set(TargetEvent)


def test_only_a_job_that_may_still_succeed_or_did_is_reused() -> None:
    assert set(JobState) - {JobState.FAILED, JobState.CANCELLED} == REUSABLE_STATES


@pytest.mark.parametrize("total", [1, 2, 3, 32])
def test_the_state_after_an_outcome_follows_from_the_counts(total: int) -> None:
    for stored in range(1, total + 1):
        for bad in range(stored + 1):
            expected = "partial" if bad else "done"
            if bad == total:
                expected = "failed"
            if stored < total:
                expected = "running"
            assert after_outcome(total=total, done=stored, failed=bad).value == expected
