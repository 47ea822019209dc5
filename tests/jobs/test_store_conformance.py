"""Every verb of the store, on every engine that a store can live on."""

from __future__ import annotations

import random
import secrets
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import msgspec
import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from plait import Busy, CallerBusy, Options, Result, Store, StoreError, Target, TargetError, TooManyTargets
from plait.jobs.store import Caps, Idle, NewJob, Turn
from plait.jobs.store.schema import JOBS, TARGETS, USAGE
from plait.jobs.validation import MAX_NAME_BYTES
from tests.jobs.rows import NO_CAPS, Rows, assert_sound, connect, done, failed, new_job, read_rows, recount, take

PATIENCE: Final = 30.0  # seconds until a test that hangs says so
DAY: Final = 24 * 3600.0


@pytest.fixture
def store(store_url: str) -> Iterator[Store]:
    with Store.open(store_url) as opened:
        yield opened


@pytest.fixture
def shared_store(store: Store) -> Store:
    if not store.shared:
        pytest.skip("only one runner works on this engine")
    return store


def put(store: Store, *jobs: NewJob) -> None:
    for job in jobs:
        assert not store.create(job, NO_CAPS).submission.reused


def drain(store: Store, owner: str = "one") -> None:
    """Do every target that is ready."""
    while isinstance(turn := store.take_turn(0, owner), Turn):
        store.settle(turn, done(), 1000.0, None)


def url_of(turn: Turn) -> str:
    assert turn.target is not None
    return turn.target.url


def change(url: str, **values: Any) -> None:
    """Change every row of a job beside the store, as time or another program would."""
    with connect(url) as connection:
        connection.execute(sa.update(JOBS).values(values))


def finish(store: Store, *jobs: NewJob, at: float = 1000.0, text: str = "text") -> None:
    """Put jobs of one target there and do them."""
    for job in jobs:
        put(store, job)
        ending, _ = store.settle(take(store), done(text), at, None)
        assert ending is not None
        assert ending.status == "done"


def target_statuses(store: Store, job: NewJob) -> list[str]:
    status = store.status(job.id)
    assert status is not None
    return [target.status for target in status.targets]


# --- create


def test_a_created_job_is_queued_with_its_targets_pending_in_their_order(store: Store, store_url: str) -> None:
    job = new_job("a", "b", "c", options=Options(grep="x"))
    creation = store.create(job, NO_CAPS)
    assert (creation.submission.id, creation.submission.reused, creation.live) == (job.id, False, 1)
    status = store.status(job.id)
    assert status is not None
    assert msgspec.to_builtins(status.job) == {
        "id": job.id,
        "caller": "ann",
        "status": "queued",
        "error": "",
        "targets_total": 3,
        "targets_done": 0,
        "created_at": 1000,
    }
    assert [(target.idx, target.url, target.status) for target in status.targets] == [
        (0, "a", "pending"),
        (1, "b", "pending"),
        (2, "c", "pending"),
    ]
    assert_sound(store_url, store)


def test_an_equal_submit_gets_a_live_job_whatever_the_caps(store: Store, store_url: str) -> None:
    job = new_job("a", "b")
    put(store, job)
    again = msgspec.structs.replace(job, id="f" * 32, now=2000.0)
    nothing_allowed = Caps(targets_per_job=0, jobs_per_caller=0, jobs_total=0, fresh_from=5000.0)
    for status in ("queued", "running"):
        if status == "running":
            take(store)
        creation = store.create(again, nothing_allowed)
        assert (creation.submission.id, creation.submission.reused, creation.live) == (job.id, True, 1)
    assert list(assert_sound(store_url, store).jobs) == [job.id]


@pytest.mark.parametrize(("lease", "reused"), [(1000.0, True), (999.5, False)])
@pytest.mark.parametrize("kind", ["done", "partial"])
def test_an_equal_submit_gets_a_finished_job_while_it_is_fresh(
    store: Store, kind: str, lease: float, reused: bool
) -> None:
    job = new_job("a", "b")
    put(store, job)
    store.settle(take(store), done(), lease, None)
    ending, _ = store.settle(take(store), done() if kind == "done" else failed(), lease, None)
    assert ending is not None
    assert ending.status == kind
    creation = store.create(msgspec.structs.replace(job, id="f" * 32), Caps(9, 9, 9, fresh_from=1000.0))
    assert creation.submission.reused is reused
    assert creation.live == (0 if reused else 1)


def test_an_equal_submit_never_gets_a_failed_or_cancelled_job(store: Store) -> None:
    for end in ("failed", "cancelled"):
        job = new_job(key=end)
        put(store, job)
        if end == "failed":
            store.settle(take(store), failed(), 2000.0, None)
        else:
            store.cancel(job.id, 2000.0)
        status = store.status(job.id)
        assert status is not None
        assert status.job.status == end
        put(store, new_job(key=end))


def test_a_key_is_the_callers_own(store: Store) -> None:
    put(store, new_job(caller="ann", key="k"), new_job(caller="bob", key="k"), new_job(caller="ann", key="l"))


@pytest.mark.parametrize(
    ("caps", "refusal"),
    [
        (Caps(1, 0, 0, 0.0), TooManyTargets),
        (Caps(2, 1, 0, 0.0), CallerBusy),
        (Caps(2, 2, 2, 0.0), Busy),
        (Caps(2, 2, 3, 0.0), None),
    ],
)
def test_caps_are_checked_in_the_order_of_the_contract(
    store: Store, store_url: str, caps: Caps, refusal: type[Exception] | None
) -> None:
    put(store, new_job(caller="ann"), new_job(caller="bob"))
    before = read_rows(store_url)
    job = new_job("a", "b", caller="ann")
    if refusal is None:
        assert store.create(job, caps).live == 3
        return
    with pytest.raises(refusal):
        store.create(job, caps)
    assert read_rows(store_url) == before


def test_a_finished_or_cancelled_job_makes_room_under_the_caps(store: Store) -> None:
    one = Caps(targets_per_job=1, jobs_per_caller=1, jobs_total=1, fresh_from=0.0)
    first, second, third = new_job(), new_job(), new_job()
    assert store.create(first, one).live == 1
    store.settle(take(store), done(), 1000.0, None)
    assert store.create(second, one).live == 1
    store.cancel(second.id, 1000.0)
    assert store.create(third, one).live == 1


def at_once(count: int, act: Callable[[int], object]) -> list[object]:
    """What ``act`` returned or raised on so many threads that start together."""
    gate = threading.Barrier(count)

    def run(number: int) -> object:
        gate.wait(PATIENCE)
        try:
            return act(number)
        except (CallerBusy, Busy) as refusal:
            return refusal

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(run, range(count)))


def test_equal_submits_at_once_make_one_job(store: Store, store_url: str) -> None:
    jobs = [new_job(key="same") for _ in range(8)]
    ids = {store_answer.submission.id for store_answer in at_once(8, lambda n: store.create(jobs[n], NO_CAPS))}  # type: ignore[attr-defined]  # none is refused: at_once returns what create does
    assert len(ids) == 1
    assert set(assert_sound(store_url, store).jobs) == ids


@pytest.mark.parametrize(("per_caller", "total", "created"), [(3, 100, 6), (100, 5, 5)])
def test_submits_at_once_never_pass_a_cap_together(
    store: Store, store_url: str, per_caller: int, total: int, created: int
) -> None:
    jobs = [new_job(caller="ab"[number % 2]) for number in range(12)]
    caps = Caps(targets_per_job=1, jobs_per_caller=per_caller, jobs_total=total, fresh_from=0.0)
    answers = at_once(12, lambda number: store.create(jobs[number], caps))
    assert sum(not isinstance(answer, Exception) for answer in answers) == created
    assert recount(assert_sound(store_url, store))[0] == created


# --- take a turn


def test_an_empty_circle_has_no_turn_and_nothing_to_wait_for(store: Store) -> None:
    assert store.take_turn(0, "one") == Idle(None)
    assert store.take_turn(10**9, "one") == Idle(None)


def test_a_turn_carries_what_its_work_needs(store: Store, store_url: str) -> None:
    options = Options(mode="text", question="why?", context=False, recover=True)
    job = new_job("a", "b", options=options)
    put(store, job)
    turn = take(store, owner="someone")
    assert (turn.job_id, turn.idx, turn.owner, turn.epoch) == (job.id, 0, "someone", 1)
    assert (turn.caller.name, turn.caller.workspace) == ("ann", "space")
    assert (turn.total, turn.done, turn.failed, turn.busy_for, turn.created_at) == (2, 0, 0, None, 1000.0)
    assert turn.target == Target("a", options)
    row = assert_sound(store_url, store).jobs[job.id]
    assert (row["status"], row["turn_owner"], row["turn_epoch"]) == ("running", "someone", 1)
    assert target_statuses(store, job) == ["running", "pending"]
    store.settle(turn, failed(), 1000.0, None)
    following = take(store)
    assert (following.idx, following.epoch, following.done, following.failed) == (1, 2, 1, 1)


def test_turns_alternate_in_submit_order_with_one_hand(store: Store, store_url: str) -> None:
    put(store, new_job("a1", "a2", "a3"), new_job("b1", "b2"), new_job("c1"))
    order = []
    found: Turn | Idle | None = store.take_turn(0, "one")
    while isinstance(found, Turn):
        order.append(url_of(found))
        _, found = store.settle(found, done(), 1000.0, found.seq)
    assert order == ["a1", "b1", "c1", "a2", "b2", "a3"]
    assert recount(assert_sound(store_url, store))[0] == 0


def test_the_hand_wraps_round_and_passes_over_what_is_under_way(store: Store) -> None:
    put(store, new_job("a1", "a2"), new_job("b1", "b2"), new_job("c1", "c2"))
    a = take(store, 0)
    b = take(store, a.seq)
    c = take(store, b.seq)
    assert [url_of(turn) for turn in (a, b, c)] == ["a1", "b1", "c1"]
    assert store.take_turn(c.seq, "one") == Idle(None)
    store.settle(b, done(), 1000.0, None)
    assert url_of(take(store, c.seq)) == "b2"
    store.settle(a, done(), 1000.0, None)
    store.settle(c, done(), 1000.0, None)
    assert url_of(take(store, b.seq)) == "c2"
    assert url_of(take(store, c.seq)) == "a2"


def test_a_job_submitted_late_comes_last_on_the_circle(store: Store) -> None:
    put(store, new_job("a1", "a2"), new_job("b1"))
    first = take(store)
    put(store, new_job("c1"))
    assert [url_of(take(store, first.seq)), url_of(take(store, first.seq))] == ["b1", "c1"]


def test_a_target_never_starts_before_the_one_before_it_is_stored(store: Store, store_url: str) -> None:
    put(store, new_job("a1", "a2"))
    turn = take(store)
    for hand in (0, turn.seq, turn.seq + 1):
        assert isinstance(store.take_turn(hand, "one"), Idle)
    assert_sound(store_url, store)


def test_threads_that_take_at_once_get_different_jobs(store: Store, store_url: str) -> None:
    put(store, *[new_job("a", "b") for _ in range(8)])
    turns = at_once(8, lambda number: store.take_turn(0, f"owner {number}"))
    assert len({turn.job_id for turn in turns if isinstance(turn, Turn)}) == 8 - sum(
        isinstance(turn, Idle) for turn in turns
    )
    assert_sound(store_url, store)


def test_a_job_whose_row_another_transaction_holds_for_a_moment_is_looked_for_again_soon(
    shared_store: Store, store_url: str
) -> None:
    """A touch on another thread or machine locks the row; nobody wakes the worker that passed it over."""
    put(shared_store, new_job())
    with connect(store_url) as other:
        other.execute(sa.update(JOBS).values(lease=2000.0))
        found = shared_store.take_turn(0, "one")
    assert isinstance(found, Turn) or found.wait is not None


def test_the_next_job_is_told_without_taking_its_turn(store: Store, store_url: str) -> None:
    assert store.next_job(7) == 7
    put(store, new_job("a1", "a2"), new_job("b1"), new_job("c1"))
    a, b, c = (row["seq"] for row in read_rows(store_url).jobs.values())
    before = read_rows(store_url)
    assert [store.next_job(hand) for hand in (0, a, b, c)] == [a, b, c, a]
    assert read_rows(store_url) == before
    take(store, hand=a)
    assert [store.next_job(hand) for hand in (0, a, b, c)] == [a, c, c, a]


def test_a_target_that_cannot_be_read_is_a_turn_without_one(store: Store, store_url: str) -> None:
    job = new_job("a", "b")
    put(store, job)
    with connect(store_url) as connection:
        connection.execute(sa.update(TARGETS).values(options="no JSON"))
    turn = take(store)
    assert turn.target is None
    ending, _ = store.settle(turn, failed(), 1000.0, None)
    assert ending is not None
    assert target_statuses(store, job) == ["failed", "pending"]


# --- settle


def test_an_outcome_is_stored_with_its_jobs_counters_in_one_go(store: Store, store_url: str) -> None:
    job = new_job("a", "b", "c")
    put(store, job)
    ending, following = store.settle(take(store), done("found"), 1500.0, None)
    assert following is None
    assert ending is not None
    assert (ending.status, ending.live) == (None, 1)
    assert ending.nbytes == len(b'{"content":"found"}')
    store.settle(take(store), failed(TargetError("gone", hint="try b")), 1600.0, None)
    status = store.status(job.id)
    assert status is not None
    assert (status.job.status, status.job.targets_done) == ("running", 2)
    assert msgspec.to_builtins(status.targets) == [
        {"idx": 0, "url": "a", "status": "done", "result": {"content": "found"}},
        {"idx": 1, "url": "b", "status": "failed", "error": "gone", "hint": "try b"},
        {"idx": 2, "url": "c", "status": "pending"},
    ]
    row = assert_sound(store_url, store).jobs[job.id]
    assert (row["lease"], row["finished_at"]) == (1000.0, None)


@pytest.mark.parametrize(
    ("pattern", "status"),
    [("d", "done"), ("f", "failed"), ("dd", "done"), ("ff", "failed"), ("df", "partial"), ("fd", "partial")],
)
def test_the_last_outcome_ends_the_job(store: Store, store_url: str, pattern: str, status: str) -> None:
    job = new_job(*pattern)
    put(store, job)
    endings = [
        store.settle(take(store), done() if letter == "d" else failed(), 2000.0 + number, None)[0]
        for number, letter in enumerate(pattern)
    ]
    assert [ending and ending.status for ending in endings] == [None] * (len(pattern) - 1) + [status]
    assert [ending and ending.live for ending in endings] == [1] * (len(pattern) - 1) + [0]
    row = assert_sound(store_url, store).jobs[job.id]
    finished = 2000.0 + len(pattern) - 1
    assert (row["status"], row["finished_at"], row["lease"]) == (status, finished, finished)
    assert store.take_turn(0, "one") == Idle(None)


def test_settling_takes_the_next_turn_only_when_told(store: Store, store_url: str) -> None:
    put(store, new_job("a1", "a2"), new_job("b1"))
    turn = take(store)
    ending, following = store.settle(turn, done(), 1000.0, turn.seq)
    assert ending is not None
    assert isinstance(following, Turn)
    assert (url_of(following), following.owner) == ("b1", "one")
    _, following = store.settle(following, done(), 1000.0, None)
    assert following is None
    assert [row["turn_owner"] for row in assert_sound(store_url, store).jobs.values()] == [None, None]


@pytest.mark.parametrize("lost", ["owner", "epoch"])
def test_an_outcome_of_a_turn_that_is_no_longer_the_owners_is_dropped(store: Store, store_url: str, lost: str) -> None:
    put(store, new_job("a", "b"))
    turn = take(store)
    changed = msgspec.structs.replace(turn, **{lost: "two" if lost == "owner" else turn.epoch + 1})
    before = read_rows(store_url)
    assert store.settle(changed, done("late"), 1000.0, None) == (None, None)
    assert store.defer(changed, 1.0, None) == (False, None)
    assert store.release(changed) is False
    assert read_rows(store_url) == before


def test_an_outcome_is_dropped_once_its_target_was_taken_again(store: Store, store_url: str) -> None:
    job = new_job("a")
    put(store, job)
    first = take(store)
    assert store.release(first)
    second = take(store)
    assert (second.idx, second.epoch) == (first.idx, first.epoch + 1)
    assert store.settle(first, done("late"), 1000.0, None) == (None, None)
    ending, _ = store.settle(second, done("in time"), 1000.0, None)
    assert ending is not None
    assert store.settle(first, done("later"), 1000.0, None) == (None, None)
    status = store.status(job.id)
    assert status is not None
    assert status.targets[0].result == Result("in time")
    assert_sound(store_url, store)


def test_a_late_outcome_still_lets_its_worker_take_the_next_turn(store: Store) -> None:
    put(store, new_job("a"), new_job("b"))
    turn = take(store)
    store.release(turn)
    ending, following = store.settle(turn, done(), 1000.0, turn.seq)
    assert ending is None
    assert isinstance(following, Turn)
    assert url_of(following) == "b"


@pytest.mark.parametrize("targets", [("a",), ("a", "b")])
def test_storing_again_after_an_unknown_commit_answers_as_the_first_time(
    store: Store, store_url: str, targets: tuple[str, ...]
) -> None:
    put(store, new_job(*targets))
    turn = take(store)
    first = store.settle(turn, done(), 2000.0, None)
    stored = read_rows(store_url)
    assert store.settle(turn, done(), 2001.0, None) == first
    assert read_rows(store_url) == stored
    _, following = store.settle(turn, done(), 2002.0, 0)
    assert isinstance(following, Turn) == (len(targets) > 1)
    assert_sound(store_url, store)


def test_storing_again_a_middle_outcome_does_not_end_the_job_twice(store: Store) -> None:
    put(store, new_job("a", "b"))
    first = take(store)
    store.settle(first, done(), 2000.0, None)
    store.settle(take(store), done(), 2001.0, None)
    again, _ = store.settle(first, done(), 2002.0, None)
    assert again is not None
    assert again.status is None


# --- defer and release


def test_a_busy_target_is_pending_and_not_taken_before_its_time(store: Store, store_url: str) -> None:
    put(store, new_job("a1", "a2"), new_job("b1"))
    turn = take(store)
    returned, following = store.defer(turn, 3600.0, turn.seq)
    assert returned
    assert isinstance(following, Turn)
    assert url_of(following) == "b1"
    found = store.take_turn(0, "one")
    assert isinstance(found, Idle)
    assert found.wait is not None
    assert 3500.0 < found.wait <= 3600.0
    assert_sound(store_url, store)


def test_a_busy_target_is_taken_again_once_its_time_has_come(store: Store) -> None:
    job = new_job("a1", "a2")
    put(store, job)
    turn = take(store)
    assert store.defer(turn, 0.05, None) == (True, None)
    waited = threading.Event()
    while isinstance(found := store.take_turn(0, "one"), Idle):
        assert found.wait is not None
        waited.wait(found.wait)
    assert (url_of(found), found.epoch) == ("a1", turn.epoch + 1)
    assert found.busy_for is not None
    assert 0.05 <= found.busy_for < PATIENCE


def test_a_target_is_busy_since_its_first_time_and_its_follower_afresh(store: Store, store_url: str) -> None:
    job = new_job("a1", "a2")
    put(store, job)
    since = []
    for _ in range(3):
        store.defer(take(store), 0.0, None)
        since.append(read_rows(store_url).jobs[job.id]["busy_since"])
    assert since[0] is not None
    assert len(set(since)) == 1
    again = take(store)
    assert again.busy_for is not None
    store.settle(again, done(), 1000.0, None)
    assert take(store).busy_for is None


def test_a_released_target_is_taken_again_at_once_with_a_new_epoch(store: Store, store_url: str) -> None:
    put(store, new_job("a1", "a2"))
    turn = take(store)
    assert store.release(turn) is True
    assert assert_sound(store_url, store).targets[turn.job_id][0]["status"] == "pending"
    assert store.release(turn) is False
    again = take(store, owner="two")
    assert (url_of(again), again.epoch, again.busy_for) == ("a1", turn.epoch + 1, None)


def test_forgotten_turns_of_an_owner_are_given_back_and_no_others(store: Store, store_url: str) -> None:
    put(store, new_job("a"), new_job("b"), new_job("c"))
    known, forgotten, foreign = take(store), take(store), take(store, owner="two")
    store.release_forgotten("one", {known.key})
    rows = assert_sound(store_url, store)
    owners = {job_id: row["turn_owner"] for job_id, row in rows.jobs.items()}
    assert owners == {known.job_id: "one", forgotten.job_id: None, foreign.job_id: "two"}
    assert take(store).job_id == forgotten.job_id


# --- leases of turns


def test_nobody_takes_over_a_turn_where_only_one_runner_works(store: Store, store_url: str) -> None:
    if store.shared:
        pytest.skip("several runners work on this engine")
    put(store, new_job())
    turn = take(store)
    store.renew("one")
    assert store.turn_lease_seconds is None
    assert read_rows(store_url).jobs[turn.job_id]["turn_until"] is None
    assert store.take_turn(0, "two") == Idle(None)


def test_another_runner_takes_over_only_once_the_lease_has_run_out(shared_store: Store, store_url: str) -> None:
    put(shared_store, new_job("a", "b"))
    shared_store._database.turn_lease_seconds = 0.2
    turn = take(shared_store, owner="one")
    waits = []
    waited = threading.Event()
    while isinstance(found := shared_store.take_turn(0, "two"), Idle):
        assert found.wait is not None
        waits.append(found.wait)
        waited.wait(found.wait)
    assert 0.0 < waits[0] <= 0.2
    assert (found.job_id, found.idx, found.owner, found.epoch) == (turn.job_id, 0, "two", turn.epoch + 1)
    assert shared_store.settle(turn, done("late"), 1000.0, None) == (None, None)
    ending, _ = shared_store.settle(found, done("in time"), 1000.0, None)
    assert ending is not None
    status = shared_store.status(turn.job_id)
    assert status is not None
    assert status.targets[0].result == Result("in time")
    assert_sound(store_url, shared_store)


def test_a_lease_is_prolonged_for_all_turns_of_its_owner_and_no_others(shared_store: Store, store_url: str) -> None:
    put(shared_store, new_job(), new_job(), new_job())
    mine, also_mine, foreign = take(shared_store), take(shared_store), take(shared_store, owner="two")
    change(store_url, turn_until=1.0)
    shared_store.renew("one")
    rows = read_rows(store_url).jobs
    assert rows[foreign.job_id]["turn_until"] == 1.0
    assert min(rows[mine.job_id]["turn_until"], rows[also_mine.job_id]["turn_until"]) > 1.0
    assert take(shared_store, owner="three").job_id == foreign.job_id
    found = shared_store.take_turn(0, "three")
    assert isinstance(found, Idle)
    lease = shared_store.turn_lease_seconds
    assert lease is not None
    assert found.wait is not None
    assert 0.0 < found.wait <= lease


def test_a_runner_keeps_its_own_turn_when_its_lease_has_run_out_and_nobody_took_it(
    shared_store: Store, store_url: str
) -> None:
    put(shared_store, new_job())
    turn = take(shared_store)
    change(store_url, turn_until=1.0)
    assert shared_store.take_turn(0, "one") == Idle(None)
    ending, _ = shared_store.settle(turn, done(), 1000.0, None)
    assert ending is not None
    assert ending.status == "done"


def test_the_lost_turn_of_a_cancelled_job_does_not_keep_it_for_ever(shared_store: Store, store_url: str) -> None:
    job = new_job()
    put(shared_store, job)
    take(shared_store)
    shared_store.cancel(job.id, 1000.0)
    change(store_url, turn_until=1.0)
    assert shared_store.sweep(DAY) == 0
    assert isinstance(shared_store.take_turn(0, "two"), Idle)
    assert_sound(store_url, shared_store)
    assert shared_store.sweep(DAY) == 1


# --- cancel, touch, status


def test_cancelling_ends_a_live_job_at_once(store: Store, store_url: str) -> None:
    queued, waiting, running = new_job(), new_job(), new_job("a", "b")
    put(store, running)
    store.settle(take(store), done(), 1000.0, None)
    put(store, waiting)
    busy = take(store, hand=1)
    assert busy.job_id == waiting.id
    store.defer(busy, 3600.0, None)
    put(store, queued)
    for job, live in ((queued, 2), (waiting, 1), (running, 0)):
        cancellation = store.cancel(job.id, 3000.0)
        assert cancellation is not None
        assert (cancellation.created_at, cancellation.live) == (1000.0, live)
        row = assert_sound(store_url, store).jobs[job.id]
        assert (row["status"], row["finished_at"], row["lease"]) == ("cancelled", 3000.0, 3000.0)
        assert store.cancel(job.id, 4000.0) is None
    assert store.take_turn(0, "one") == Idle(None)


def test_cancelling_what_is_unknown_or_finished_changes_nothing(store: Store, store_url: str) -> None:
    job = new_job()
    finish(store, job)
    before = read_rows(store_url)
    assert store.cancel(job.id, 3000.0) is None
    assert store.cancel("f" * 32, 3000.0) is None
    assert read_rows(store_url) == before


@pytest.mark.parametrize("targets", [("a",), ("a", "b")])
def test_the_target_in_flight_of_a_cancelled_job_is_stored_and_the_job_stays_cancelled(
    store: Store, store_url: str, targets: tuple[str, ...]
) -> None:
    job = new_job(*targets)
    put(store, job)
    turn = take(store)
    store.cancel(job.id, 3000.0)
    ending, following = store.settle(turn, done(), 3001.0, turn.seq)
    assert ending is not None
    assert (ending.status, ending.live) == (None, 0)
    assert following == Idle(None)
    status = store.status(job.id)
    assert status is not None
    assert (status.job.status, status.job.targets_done) == ("cancelled", 1)
    assert [target.status for target in status.targets] == ["done", "pending"][: len(targets)]
    assert assert_sound(store_url, store).jobs[job.id]["finished_at"] == 3000.0


@pytest.mark.parametrize("give_back", ["release", "defer"])
def test_the_target_in_flight_of_a_cancelled_job_may_come_back_unstored(
    store: Store, store_url: str, give_back: str
) -> None:
    job = new_job()
    put(store, job)
    turn = take(store)
    store.cancel(job.id, 3000.0)
    assert store.release(turn) if give_back == "release" else store.defer(turn, 0.0, None)[0]
    assert store.take_turn(0, "one") == Idle(None)
    assert assert_sound(store_url, store).jobs[job.id]["status"] == "cancelled"


def test_touching_sets_the_lease_and_nothing_else(store: Store, store_url: str) -> None:
    job = new_job()
    finish(store, job, new_job())
    before = read_rows(store_url)
    store.touch(job.id, 5000.5)
    store.touch("f" * 32, 6000.0)
    before.jobs[job.id]["lease"] = 5000.5
    assert read_rows(store_url) == before


@pytest.mark.parametrize("job_id", ["", "f" * 32, "f" * 10_000, "' OR 1=1 --", "ünbekannt", "a\0b", "\ud800"])
def test_an_id_that_no_job_has_is_unknown_whatever_its_text(store: Store, job_id: str) -> None:
    put(store, new_job())
    assert store.status(job_id) is None
    assert store.cancel(job_id, 1000.0) is None
    store.touch(job_id, 1000.0)


def test_a_status_read_while_outcomes_are_stored_is_of_one_moment(store: Store) -> None:
    job = new_job(*[f"{number}" for number in range(40)])
    put(store, job)
    finished = threading.Event()

    def read() -> int:
        readings = 0
        while not finished.is_set():
            status = store.status(job.id)
            assert status is not None
            stored = [target.status in {"done", "failed"} for target in status.targets]
            assert sum(stored) == status.job.targets_done
            assert (status.job.status == "done") == all(stored)
            readings += 1
        return readings

    with ThreadPoolExecutor(2) as pool:
        readers = [pool.submit(read) for _ in range(2)]
        try:
            drain(store)
        finally:
            finished.set()
        assert min(reader.result(PATIENCE) for reader in readers) > 0


def test_reading_a_status_writes_nothing(store: Store, store_url: str) -> None:
    job = new_job("a", "b")
    put(store, job)
    take(store)
    before = read_rows(store_url)
    for _ in range(3):
        store.status(job.id)
    assert read_rows(store_url) == before


# --- sweep and evict


def test_sweeping_removes_the_finished_jobs_that_were_last_touched_too_long_ago(store: Store, store_url: str) -> None:
    old, fresh, touched, cancelled = new_job(), new_job(), new_job(), new_job("a", "b")
    finish(store, old, at=1999.0)
    finish(store, fresh, at=2000.0)
    finish(store, touched, at=1000.0)
    store.touch(touched.id, 2500.0)
    put(store, cancelled)
    store.settle(take(store), done(), 1000.0, None)
    store.cancel(cancelled.id, 1500.0)
    assert store.sweep(2000.0) == 2
    assert set(assert_sound(store_url, store).jobs) == {fresh.id, touched.id}
    assert store.sweep(2000.0) == 0


def test_sweeping_never_removes_a_live_job_or_one_with_a_target_in_flight(store: Store, store_url: str) -> None:
    queued, running, in_flight = new_job(), new_job("a", "b"), new_job("a")
    put(store, running)
    store.settle(take(store), done(), 1.0, None)
    put(store, in_flight)
    turn = take(store, hand=1)
    assert turn.job_id == in_flight.id
    store.cancel(in_flight.id, 1.0)
    put(store, queued)
    assert store.sweep(10**10) == 0
    store.settle(turn, done(), 2.0, None)
    assert store.sweep(10**10) == 1
    assert set(assert_sound(store_url, store).jobs) == {running.id, queued.id}


def test_evicting_removes_the_oldest_leases_first_and_no_more_than_needed(store: Store, store_url: str) -> None:
    jobs = [new_job() for _ in range(6)]
    for job, lease in zip(jobs, (5.0, 3.0, 1.0, 6.0, 4.0, 2.0), strict=True):
        finish(store, job, at=lease, text="x" * 86)  # {"content":"…"}: 100 bytes each
    assert recount(read_rows(store_url))[1] == 600
    assert store.evict(600, keep=0) == 0
    assert store.evict(350, keep=0) == 3
    assert set(assert_sound(store_url, store).jobs) == {jobs[0].id, jobs[3].id, jobs[4].id}
    store.touch(jobs[4].id, 7.0)
    assert store.evict(200, keep=0) == 1
    assert set(assert_sound(store_url, store).jobs) == {jobs[3].id, jobs[4].id}


def test_evicting_never_removes_the_job_worked_on_a_live_job_or_one_with_a_target_in_flight(
    store: Store, store_url: str
) -> None:
    kept, live, in_flight = new_job(), new_job("a", "b"), new_job("a", "b")
    finish(store, kept, at=1.0)
    put(store, in_flight)
    store.settle(take(store), done(), 1.0, None)
    take(store)
    put(store, live)
    store.settle(take(store), done(), 1.0, None)
    store.cancel(in_flight.id, 1.0)
    keep = read_rows(store_url).jobs[kept.id]["seq"]
    assert store.evict(0, keep=keep) == 0
    assert store.evict(0, keep=0) == 1
    assert set(assert_sound(store_url, store).jobs) == {live.id, in_flight.id}


def test_evicting_many_jobs_leaves_what_fits(store: Store, store_url: str) -> None:
    jobs = [new_job() for _ in range(70)]
    for number, job in enumerate(jobs):
        finish(store, job, at=float(number), text="x" * 86)
    assert store.evict(100, keep=0) == 69
    assert set(assert_sound(store_url, store).jobs) == {jobs[-1].id}


def blocked(url: str) -> bool:
    """Whether somebody in this PostgreSQL database waits for a lock."""
    with connect(url) as connection:
        waiting = sa.text(
            "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
        )
        return bool(connection.execute(waiting).scalar_one())


def test_evicting_what_somebody_else_evicts_at_the_same_time_counts_nothing_twice(
    shared_store: Store, store_url: str
) -> None:
    older, newer = new_job(), new_job()
    finish(shared_store, older, at=1.0)
    finish(shared_store, newer, at=2.0)
    with ThreadPoolExecutor(1) as pool:
        with connect(store_url) as other:  # another runner in the middle of its own eviction
            freed = other.execute(sa.delete(JOBS).where(JOBS.c.id == older.id).returning(JOBS.c.nbytes)).scalar_one()
            evicting = pool.submit(shared_store.evict, 0, 0)
            pause = threading.Event()
            while not blocked(store_url) and not evicting.done():
                pause.wait(0.01)
            other.execute(sa.update(USAGE).where(USAGE.c.shard == 0).values(nbytes=USAGE.c.nbytes - freed))
        assert evicting.result(PATIENCE) == 1
    assert assert_sound(store_url, shared_store).jobs == {}


# --- a runner comes


def test_a_runner_that_comes_fails_what_a_dead_one_left_live_unless_runners_share_the_store(
    store: Store, store_url: str
) -> None:
    ended, running, queued, cancelled = new_job(), new_job("a", "b"), new_job("a"), new_job("a")
    finish(store, ended)
    put(store, cancelled)
    take(store)
    store.cancel(cancelled.id, 1000.0)
    put(store, running)
    store.settle(take(store), done("kept"), 1000.0, None)
    take(store)
    put(store, queued)
    before = read_rows(store_url)
    interrupted = store.claim(9000.0)
    if store.shared:
        assert interrupted == []
        assert read_rows(store_url) == before
        return
    assert [(job.job_id, job.created_at) for job in interrupted] == [(running.id, 1000.0), (queued.id, 1000.0)]
    rows = assert_sound(store_url, store)
    for job in (running, queued):
        row = rows.jobs[job.id]
        assert (row["status"], row["error"]) == ("failed", "interrupted by a restart")
        assert (row["finished_at"], row["lease"]) == (9000.0, 9000.0)
    assert [target["status"] for target in rows.targets[running.id]] == ["done", "pending"]
    assert [target["status"] for target in rows.targets[cancelled.id]] == ["pending"]
    assert rows.jobs[ended.id] == before.jobs[ended.id]
    store.unclaim()
    assert store.claim(9001.0) == []


# --- text and sizes

ANY_TEXT: Final = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.tuples(*[ANY_TEXT] * 6))
def test_every_text_comes_back_as_it_went_in(store: Store, texts: tuple[str, ...]) -> None:
    url, grep, content, error, hint, caller = texts
    drain(store)
    job = new_job(url, url, caller=caller, options=Options(grep=grep))
    put(store, job)
    turn = take(store)
    assert turn.target == Target(url, Options(grep=grep))
    assert turn.caller.name == caller
    store.settle(turn, done(content), 1000.0, None)
    store.settle(take(store), failed(TargetError(error, hint)), 1000.0, None)
    status = store.status(job.id)
    assert status is not None
    assert (status.job.caller, [target.url for target in status.targets]) == (caller, [url, url])
    assert status.targets[0].result == Result(content)
    assert (status.targets[1].error, status.targets[1].hint) == (error, hint)


@pytest.mark.parametrize("content", ["\0", "\ud800 lone", "'; DROP TABLE plait_jobs; --", "%(id)s :id ? $1", "🙂" * 9])
def test_odd_results_and_errors_are_stored(store: Store, store_url: str, content: str) -> None:
    job = new_job(content.replace("\0", "").replace("\ud800", "") or "a", "b")
    put(store, job)
    store.settle(take(store), done(content), 1000.0, None)
    store.settle(take(store), failed(TargetError(content, content)), 1000.0, None)
    status = store.status(job.id)
    assert status is not None
    replaced = content.replace("\ud800", "\N{REPLACEMENT CHARACTER}")
    assert status.targets[0].result == Result(replaced)
    replaced = replaced.replace("\0", "\N{REPLACEMENT CHARACTER}")
    assert (status.targets[1].error, status.targets[1].hint) == (replaced, replaced)
    assert_sound(store_url, store)


def test_a_result_of_many_megabytes_is_stored(store: Store, store_url: str) -> None:
    job = new_job()
    put(store, job)
    huge = "".join(random.Random(1).choices('abcdefghij\\"é🙂', k=4_000_000))
    store.settle(take(store), done(huge), 1000.0, None)
    status = store.status(job.id)
    assert status is not None
    assert status.targets[0].result == Result(huge)
    assert_sound(store_url, store)


def test_the_longest_texts_that_a_submit_lets_through_are_stored(store: Store, store_url: str) -> None:
    longest = secrets.token_hex(32 * 1024)  # 64 KiB that do not compress well
    name = longest[:MAX_NAME_BYTES]
    job = new_job(longest, caller=name, options=Options(grep=longest))
    put(store, job)
    assert store.create(job, NO_CAPS).submission.reused
    drain(store)
    assert assert_sound(store_url, store).jobs[job.id]["caller"] == name


def test_a_job_of_many_targets_is_stored(store: Store, store_url: str) -> None:
    job = new_job(*[f"{number}" for number in range(2000)])
    put(store, job)
    status = store.status(job.id)
    assert status is not None
    assert [target.url for target in status.targets] == [f"{number}" for number in range(2000)]
    assert_sound(store_url, store)


# --- sums


def clear(store: Store, url: str) -> None:
    """Take every job away, as far as the store's verbs can; what is left has a turn under way."""
    for job_id in read_rows(url).jobs:
        store.cancel(job_id, 0.0)
    store.release_forgotten("one", set())
    store.sweep(10.0**12)
    assert read_rows(url).jobs == {}


class Acts:
    """One verb of the store at a time, at random, as runners of several names would use it."""

    VERBS: Final = (
        "create",
        "take",
        "settle",
        "settle and take",
        "defer",
        "release",
        "cancel",
        "touch",
        "sweep",
        "evict",
    )

    def __init__(self, store: Store, numbers: random.Random, owner: str, jobs: list[NewJob]) -> None:
        self.store = store
        self.numbers = numbers
        self.owner = owner
        self.jobs = jobs
        self.turns: list[Turn] = []
        self.now = 1000.0

    def act(self, verb: str) -> None:
        self.now += 1.0
        getattr(self, f"_{verb.partition(' ')[0]}")(verb)

    def _create(self, _verb: str) -> None:
        job = new_job(*"abc"[: self.numbers.randint(1, 3)], now=self.now, key=f"{self.numbers.randrange(40)}")
        if not self.store.create(job, NO_CAPS).submission.reused:
            self.jobs.append(job)

    def _take(self, _verb: str) -> None:
        self._keep(self.store.take_turn(self.numbers.randrange(50), self.owner))

    def _settle(self, verb: str) -> None:
        if self.turns:
            turn = self._one_of_turns()
            outcome = done("x" * self.numbers.randrange(200)) if self.numbers.random() < 0.7 else failed()
            ending, following = self.store.settle(turn, outcome, self.now, turn.seq if "take" in verb else None)
            assert ending is not None
            self._keep(following)

    def _defer(self, _verb: str) -> None:
        if self.turns:
            returned, following = self.store.defer(self._one_of_turns(), self.numbers.choice((0.0, 0.01)), None)
            assert returned
            assert following is None

    def _release(self, _verb: str) -> None:
        if self.turns:
            assert self.store.release(self._one_of_turns())

    def _cancel(self, _verb: str) -> None:
        if self.jobs:
            self.store.cancel(self.numbers.choice(self.jobs).id, self.now)

    def _touch(self, _verb: str) -> None:
        if self.jobs:
            self.store.touch(self.numbers.choice(self.jobs).id, self.now)

    def _sweep(self, _verb: str) -> None:
        self.store.sweep(self.now - 30)

    def _evict(self, _verb: str) -> None:
        self.store.evict(self.numbers.randrange(2000), keep=0)

    def _one_of_turns(self) -> Turn:
        return self.turns.pop(self.numbers.randrange(len(self.turns)))

    def _keep(self, found: Turn | Idle | None) -> None:
        if isinstance(found, Turn):
            self.turns.append(found)


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(verbs=st.lists(st.sampled_from(Acts.VERBS), min_size=10, max_size=40), numbers=st.randoms(use_true_random=False))
def test_the_running_sums_equal_a_recount_after_any_acts(
    store: Store, store_url: str, verbs: list[str], numbers: random.Random
) -> None:
    clear(store, store_url)
    acts = Acts(store, numbers, "one", [])
    for verb in verbs:
        acts.act(verb)
    assert_sound(store_url, store)


def test_the_rows_are_sound_after_mixed_acts_on_eight_threads(store: Store, store_url: str) -> None:
    jobs: list[NewJob] = []

    def work(number: int) -> object:
        acts = Acts(store, random.Random(number), f"owner {number}", jobs)
        for _ in range(60):
            acts.act(acts.numbers.choice(Acts.VERBS))
        return acts

    finished = at_once(8, work)
    held = {turn.seq for acts in finished if isinstance(acts, Acts) for turn in acts.turns}
    rows = assert_sound(store_url, store)
    assert {row["seq"] for row in rows.jobs.values() if row["turn_owner"]} == held


def test_each_outcome_of_many_threads_is_stored_once_under_its_own_turn(store: Store, store_url: str) -> None:
    put(store, *[new_job(*"abcde") for _ in range(6)])
    stored: list[tuple[str, int, int]] = []

    def work(number: int) -> None:
        found: Turn | Idle | None = store.take_turn(0, f"owner {number}")
        while True:
            if isinstance(found, Turn):
                ending, following = store.settle(found, done(found.job_id), 1000.0, found.seq)
                assert ending is not None
                stored.append((found.job_id, found.idx, found.epoch))
                found = following
            elif recount(read_rows(store_url))[0] == 0:
                return
            else:
                found = store.take_turn(0, f"owner {number}")

    at_once(4, work)
    rows: Rows = assert_sound(store_url, store)
    assert len(stored) == 30
    assert sorted(stored) == sorted(
        (job_id, target["idx"], target["epoch"]) for job_id, targets in rows.targets.items() for target in targets
    )


# --- the end


@pytest.mark.parametrize(
    "act",
    [
        lambda store: store.create(new_job(), NO_CAPS),
        lambda store: store.take_turn(0, "one"),
        lambda store: store.cancel("f" * 32, 1.0),
        lambda store: store.status("f" * 32),
    ],
    ids=["create", "take_turn", "cancel", "status"],
)
def test_a_closed_store_says_so(store_url: str, act: Callable[[Store], object]) -> None:
    store = Store.open(store_url)
    store.close()
    store.close()
    with pytest.raises(StoreError, match="closed"):
        act(store)


def test_an_exception_in_the_middle_of_a_transaction_keeps_nothing_of_it(store: Store, store_url: str) -> None:
    class Stop(Exception):
        pass

    put(store, new_job())
    before = read_rows(store_url)

    def act() -> None:
        with store._database.transaction("try") as session:
            session.run(store._sql.touch_job, {"id": next(iter(before.jobs)), "now": 9.0})
            raise Stop

    with pytest.raises(Stop):
        act()
    assert read_rows(store_url) == before
    take(store)
