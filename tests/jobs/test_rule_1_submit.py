"""Rule 1: a submit finds its job or makes it, within the caps, stored before it returns."""

from __future__ import annotations

import re
import sqlite3
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from plait.jobs import (
    Busy,
    Caller,
    CallerBusy,
    Config,
    Hooks,
    InvalidTarget,
    NoTargets,
    Options,
    Result,
    Runner,
    RunnerClosed,
    Store,
    Submission,
    Target,
    TargetError,
    TooManyTargets,
    TurnContext,
)
from tests.jobs.conftest import StartRunner
from tests.jobs.faults import Trace
from tests.jobs.observed import Clock, Observed
from tests.jobs.sites import PATIENCE, Site, target, targets

KEY = "9f86d081" * 8
ALICE = Caller("alice", "loft", KEY)
BOB = Caller("bob")
TTL = 100.0


def status_of(runner: Runner, job_id: str) -> str:
    found = runner.status(job_id)
    return "" if found is None else found.job.status


def outcome_of(act: Callable[[], Submission]) -> Submission | Exception:
    try:
        return act()
    except Exception as error:  # noqa: BLE001 - the test looks at what came
        return error


def at_once(acts: list[Callable[[], Submission]]) -> list[Submission | Exception]:
    """What the acts come to when as many threads begin them at the same moment."""
    barrier = threading.Barrier(len(acts))
    outcomes: list[Submission | Exception] = []

    def act_with_all(act: Callable[[], Submission]) -> None:
        barrier.wait(PATIENCE)
        outcomes.append(outcome_of(act))

    threads = [threading.Thread(target=act_with_all, args=(act,)) for act in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return outcomes


# --- the order of the checks


def test_rule_1_no_targets_is_said_before_the_store_is_asked(store: Store, start: StartRunner, seen: Observed) -> None:
    runner = start(store)
    trace = Trace(store)
    with pytest.raises(NoTargets, match="submit one target or more"):
        runner.submit(ALICE, "fleet", [])
    assert [sql for sql in trace.statements if "INSERT" in sql or "count(" in sql] == []
    assert seen.of("job") == []


def test_rule_1_no_targets_is_said_even_when_every_cap_is_reached(store: Store, start: StartRunner, site: Site) -> None:
    runner = start(store, jobs_per_caller=1, jobs_total=1)
    site.hold("a1")
    runner.submit(ALICE, "fleet", targets("a", 1))
    with pytest.raises(NoTargets):
        runner.submit(ALICE, "fleet", [])


def test_rule_1_a_reuse_passes_every_cap(store: Store, start: StartRunner, site: Site, seen: Observed) -> None:
    first = start(store, targets_per_job=3)
    made = first.submit(ALICE, "fleet", targets("a", 3))
    seen.wait_ended()
    first.close()
    site.hold("b1")
    second = start(store, targets_per_job=2, jobs_per_caller=1, jobs_total=1)
    held = second.submit(ALICE, "fleet", targets("b", 1))
    assert second.submit(ALICE, "fleet", targets("a", 3)) == Submission(made.id, reused=True)
    assert second.submit(ALICE, "fleet", targets("b", 1)) == Submission(held.id, reused=True)


def test_rule_1_the_caps_are_checked_in_the_contracts_order(store: Store, start: StartRunner, site: Site) -> None:
    runner = start(store, targets_per_job=2, jobs_per_caller=1, jobs_total=1)
    site.hold("a1")
    runner.submit(ALICE, "fleet", targets("a", 1))
    with pytest.raises(TooManyTargets, match="3 submitted, at most 2"):
        runner.submit(ALICE, "fleet", targets("b", 3))
    with pytest.raises(CallerBusy, match=r"1 live job\(s\), at most 1"):
        runner.submit(ALICE, "fleet", targets("b", 2))
    with pytest.raises(Busy, match=r"1 live job\(s\), at most 1"):
        runner.submit(BOB, "fleet", targets("b", 2))


def test_rule_1_exactly_the_most_targets_pass(store: Store, start: StartRunner, seen: Observed) -> None:
    runner = start(store, targets_per_job=2)
    runner.submit(ALICE, "fleet", targets("a", 2))
    seen.wait_ended()
    assert seen.ended == ["done"]


def test_rule_1_a_refused_submit_leaves_no_job_and_tells_no_hook(
    file_store: Store, path: Path, start: StartRunner, seen: Observed
) -> None:
    runner = start(file_store, targets_per_job=1)
    with pytest.raises(TooManyTargets):
        runner.submit(ALICE, "fleet", targets("a", 2))
    with pytest.raises(InvalidTarget, match="target 2"):
        runner.submit(ALICE, "fleet", [target("a1"), Target("")])
    with closing(sqlite3.connect(path)) as second:
        assert second.execute("SELECT count(*) FROM plait_jobs").fetchone() == (0,)
        assert second.execute("SELECT count(*) FROM plait_targets").fetchone() == (0,)
    assert seen.events == []


def test_rule_1_a_refused_submit_makes_nobody_count_all_jobs(
    store: Store, start: StartRunner, site: Site, seen: Observed
) -> None:
    runner = start(store, jobs_per_caller=1)
    site.hold("a1")
    runner.submit(ALICE, "fleet", targets("a", 1))
    site.wait_started("a1")
    trace = Trace(store)
    for _ in range(3):
        with pytest.raises(CallerBusy):
            runner.submit(ALICE, "fleet", targets("b", 1))
    site.release()
    seen.wait_ended()
    assert [sql for sql in trace.statements if "sum(plait_jobs.nbytes)" in sql] == []


def test_rule_1_a_job_is_stored_then_told_then_old_ones_are_swept_then_a_worker_is_woken(
    store: Store, start: StartRunner, site: Site, seen: Observed, clock: Clock
) -> None:
    trace = Trace(store)
    runner = start(store, ttl=TTL)
    trace.wait_idle()
    old = runner.submit(ALICE, "fleet", targets("a", 1)).id
    seen.wait_ended()
    clock.now += TTL + 1
    told: list[tuple[str, str]] = []
    seen.react("job", lambda outcome: told.append((outcome, status_of(runner, old))))
    site.answer("b1", lambda *_: Result(f"old job: {status_of(runner, old)}"))
    made = runner.submit(ALICE, "fleet", targets("b", 1))
    seen.wait_ended(2)
    assert told == [("created", "done"), ("done", "")]
    found = runner.status(made.id)
    assert found is not None
    assert found.targets[0].result == Result("old job: ")


def test_rule_1_the_hook_hears_created_while_the_job_is_queued_and_no_worker_was_woken(
    store: Store, start: StartRunner, seen: Observed
) -> None:
    trace = Trace(store)
    runner = start(store)
    trace.wait_idle()
    wanted = targets("a", 1)
    statuses: list[tuple[str, bool]] = []

    def look(outcome: str) -> None:
        if outcome == "created":
            again = runner.submit(ALICE, "fleet", wanted)
            statuses.append((status_of(runner, again.id), again.reused))

    seen.react("job", look)
    runner.submit(ALICE, "fleet", wanted)
    seen.wait_ended()
    assert statuses == [("queued", True)]


def test_rule_1_a_reuse_tells_reused_and_writes_nothing(
    store: Store, start: StartRunner, site: Site, seen: Observed, clock: Clock
) -> None:
    runner = start(store, ttl=TTL)
    old = runner.submit(ALICE, "fleet", targets("old", 1)).id
    seen.wait_ended()
    site.hold("a1")
    clock.now += TTL
    made = runner.submit(ALICE, "fleet", targets("a", 1))
    site.wait_started("a1")
    clock.now += 1
    trace = Trace(store)
    told = len(seen.events)
    assert runner.submit(ALICE, "fleet", targets("a", 1)) == Submission(made.id, reused=True)
    assert seen.events[told:] == [("job", "reused")]
    assert trace.writes == []
    assert status_of(runner, old) == "done"


# --- what is stored


def test_rule_1_a_job_is_stored_with_its_targets_before_submit_returns(
    file_store: Store, path: Path, start: StartRunner, site: Site, clock: Clock
) -> None:
    clock.now = 1_234_567.25
    runner = start(file_store)
    site.hold("a1", "b1")
    runner.submit(BOB, "fleet", targets("a", 1))
    site.wait_started("a1")
    options = Options(grep="x", context=False)
    made = runner.submit(ALICE, "restricted", [target("b1", options), target("b2")])
    with closing(sqlite3.connect(path)) as second:
        job = second.execute(
            "SELECT caller, workspace, caller_class, status, error, targets_total, targets_done, created_at, lease"
            " FROM plait_jobs WHERE id = ?",
            (made.id,),
        ).fetchall()
        rows = second.execute("SELECT idx, url, options, status FROM plait_targets WHERE job_seq = 2").fetchall()
    assert job == [("alice", "loft", "restricted", "queued", "", 2, 0, 1_234_567.25, 1_234_567.25)]
    assert rows == [
        (0, target("b1").url, '{"grep":"x","context":false}', "pending"),
        (1, target("b2").url, "{}", "pending"),
    ]
    found = runner.status(made.id)
    assert found is not None
    assert found.job.created_at == 1_234_567


def test_rule_1_ids_are_sixteen_random_bytes_in_hex(store: Store, start: StartRunner) -> None:
    runner = start(store)
    ids = {runner.submit(ALICE, "fleet", targets(f"{number}-", 1)).id for number in range(50)}
    assert len(ids) == 50
    assert all(re.fullmatch("[0-9a-f]{32}", job_id) for job_id in ids)


def test_rule_1_the_callers_key_is_in_no_byte_on_the_disk(
    file_store: Store, path: Path, start: StartRunner, site: Site, seen: Observed
) -> None:
    runner = start(file_store)
    site.answer("a2", TargetError("gone", "look elsewhere"))
    runner.submit(ALICE, "fleet", targets("a", 2))
    seen.wait_ended()
    runner.close()
    file_store.close()
    stored = b"".join(file.read_bytes() for file in path.parent.iterdir())
    assert b"kestrel.example/a1" in stored
    assert KEY[:16].encode() not in stored
    assert bytes.fromhex(KEY[:16]) not in stored


def test_rule_1_the_fetch_func_gets_the_caller_the_target_and_the_turns_key(
    store: Store, start: StartRunner, site: Site, seen: Observed
) -> None:
    runner = start(store)
    options = Options("text", "who?", "1-3", "x", ".y", context=False, recover=True)
    wanted = [target("a1", options), target("a2")]
    made = runner.submit(ALICE, "fleet", wanted)
    seen.wait_ended()
    assert [call.target for call in site.calls] == wanted
    assert [call.caller for call in site.calls] == [ALICE, ALICE]
    turns = [call.context.turn for call in site.calls if isinstance(call.context, TurnContext)]
    assert [(turn.job, turn.idx, turn.epoch) for turn in turns] == [(made.id, 0, 1), (made.id, 1, 2)]


def test_rule_1_each_job_keeps_the_caller_that_submitted_it(store: Store, start: StartRunner, site: Site) -> None:
    runner = start(store)
    other_key = Caller("alice", "cellar", "0" * 64)
    site.hold("a1")
    runner.submit(ALICE, "fleet", targets("a", 2))
    runner.submit(other_key, "fleet", targets("b", 2))
    site.release()
    for name in ("a2", "b2"):
        site.wait_started(name)
    assert [site.call_of(name).caller for name in ("a1", "a2", "b1", "b2")] == [ALICE, ALICE, other_key, other_key]


# --- idempotency


def test_rule_1_a_queued_job_is_reused(store: Store, start: StartRunner, site: Site) -> None:
    runner = start(store)
    site.hold("a1")
    runner.submit(BOB, "fleet", targets("a", 1))
    site.wait_started("a1")
    made = runner.submit(ALICE, "fleet", targets("b", 1))
    assert status_of(runner, made.id) == "queued"
    assert runner.submit(ALICE, "fleet", targets("b", 1)) == Submission(made.id, reused=True)


def test_rule_1_a_running_job_is_reused(store: Store, start: StartRunner, site: Site) -> None:
    runner = start(store)
    site.hold("a1")
    made = runner.submit(ALICE, "fleet", targets("a", 1))
    site.wait_started("a1")
    assert status_of(runner, made.id) == "running"
    assert runner.submit(ALICE, "fleet", targets("a", 1)) == Submission(made.id, reused=True)


@pytest.mark.parametrize(
    ("answers", "ending", "reused"),
    [
        ((Result("x"), Result("y")), "done", True),
        ((Result("x"), TargetError("no")), "partial", True),
        ((TargetError("no"), TargetError("no")), "failed", False),
    ],
)
def test_rule_1_a_finished_job_is_reused_unless_it_failed(
    *,
    store: Store,
    start: StartRunner,
    site: Site,
    seen: Observed,
    answers: tuple[Result | TargetError, ...],
    ending: str,
    reused: bool,
) -> None:
    runner = start(store)
    for number, answer in enumerate(answers, 1):
        site.answer(f"a{number}", answer)
    made = runner.submit(ALICE, "fleet", targets("a", 2))
    seen.wait_ended()
    assert status_of(runner, made.id) == ending
    again = runner.submit(ALICE, "fleet", targets("a", 2))
    assert again.reused is reused
    assert (again.id == made.id) is reused


def test_rule_1_a_cancelled_job_is_not_reused(store: Store, start: StartRunner, site: Site) -> None:
    runner = start(store)
    site.hold("a1")
    made = runner.submit(ALICE, "fleet", targets("a", 1))
    assert runner.cancel(made.id)
    again = runner.submit(ALICE, "fleet", targets("a", 1))
    assert again.id != made.id
    assert not again.reused


def test_rule_1_after_a_failure_the_new_job_is_the_one_that_is_reused(
    store: Store, start: StartRunner, site: Site, seen: Observed
) -> None:
    runner = start(store)
    site.answer("a1", TargetError("no"), Result("yes"))
    runner.submit(ALICE, "fleet", targets("a", 1))
    seen.wait_ended(1)
    second = runner.submit(ALICE, "fleet", targets("a", 1))
    seen.wait_ended(2)
    assert runner.submit(ALICE, "fleet", targets("a", 1)) == Submission(second.id, reused=True)


@pytest.mark.parametrize(
    ("caller", "wanted"),
    [
        (BOB, targets("a", 2)),
        (ALICE, targets("a", 2)[::-1]),
        (ALICE, targets("a", 1)),
        (ALICE, [target("a1"), target("a2", Options(recover=True))]),
    ],
    ids=["another caller", "another order", "fewer targets", "other options"],
)
def test_rule_1_another_caller_order_list_or_option_is_another_job(
    store: Store, start: StartRunner, seen: Observed, caller: Caller, wanted: list[Target]
) -> None:
    runner = start(store)
    made = runner.submit(ALICE, "fleet", targets("a", 2))
    seen.wait_ended()
    again = runner.submit(caller, "fleet", wanted)
    assert (again.reused, again.id == made.id) == (False, False)


def test_rule_1_a_finished_job_is_reused_until_its_ttl_is_over(
    store: Store, start: StartRunner, seen: Observed, clock: Clock
) -> None:
    runner = start(store, ttl=TTL)
    made = runner.submit(ALICE, "fleet", targets("a", 1))
    seen.wait_ended()
    clock.now += TTL
    assert runner.submit(ALICE, "fleet", targets("a", 1)) == Submission(made.id, reused=True)
    clock.now += 1
    again = runner.submit(ALICE, "fleet", targets("a", 1))
    assert (again.reused, again.id == made.id) == (False, False)


def test_rule_1_a_touch_starts_the_ttl_anew(store: Store, start: StartRunner, seen: Observed, clock: Clock) -> None:
    runner = start(store, ttl=TTL)
    made = runner.submit(ALICE, "fleet", targets("a", 1))
    seen.wait_ended()
    clock.now += TTL
    runner.touch(made.id)
    clock.now += TTL
    assert runner.submit(ALICE, "fleet", targets("a", 1)) == Submission(made.id, reused=True)


def test_rule_1_a_live_job_is_reused_however_old_it_is(
    store: Store, start: StartRunner, site: Site, clock: Clock
) -> None:
    runner = start(store, ttl=TTL)
    site.hold("a1")
    made = runner.submit(ALICE, "fleet", targets("a", 1))
    clock.now += 10 * TTL
    assert runner.submit(ALICE, "fleet", targets("a", 1)) == Submission(made.id, reused=True)


# --- submits at once


def test_rule_1_of_sixteen_equal_submits_at_once_one_makes_the_job(
    store: Store, start: StartRunner, site: Site, seen: Observed
) -> None:
    runner = start(store, jobs_per_caller=1, jobs_total=1)
    for number in range(5):
        site.hold(f"{number}-1")
        wanted = targets(f"{number}-", 1)
        outcomes = at_once([partial(runner.submit, ALICE, "fleet", wanted)] * 16)
        submissions = [outcome for outcome in outcomes if isinstance(outcome, Submission)]
        assert len({submission.id for submission in submissions}) == 1
        assert Counter(submission.reused for submission in submissions) == {False: 1, True: 15}
        site.release()
        seen.wait_ended(number + 1)
    assert Counter(seen.of("job")) == {"created": 5, "reused": 75, "done": 5}


def test_rule_1_of_sixteen_callers_at_once_exactly_as_many_pass_as_the_cap_on_all_jobs(
    store: Store, start: StartRunner, site: Site, seen: Observed
) -> None:
    runner = start(store, jobs_per_caller=1, jobs_total=5)
    site.hold("x1")
    callers = [Caller(f"caller {number}") for number in range(16)]
    outcomes = at_once([partial(runner.submit, caller, "fleet", targets("x", 1)) for caller in callers])
    assert Counter(type(outcome) for outcome in outcomes) == {Submission: 5, Busy: 11}
    assert seen.of("job") == ["created"] * 5
    assert seen.of("depth") == [1, 2, 3, 4, 5]


def test_rule_1_of_one_callers_sixteen_jobs_at_once_exactly_as_many_pass_as_its_cap(
    store: Store, start: StartRunner, site: Site, seen: Observed
) -> None:
    runner = start(store, jobs_per_caller=3, jobs_total=100)
    jobs = [targets(f"{number}-", 1) for number in range(16)]
    site.hold(*(f"{number}-1" for number in range(16)))
    outcomes = at_once([partial(runner.submit, ALICE, "fleet", job) for job in jobs])
    assert Counter(type(outcome) for outcome in outcomes) == {Submission: 3, CallerBusy: 13}
    assert seen.of("job") == ["created"] * 3


def test_rule_1_an_ended_job_frees_its_place_before_its_end_is_told(
    store: Store, start: StartRunner, seen: Observed
) -> None:
    runner = start(store, jobs_per_caller=1, jobs_total=1)
    followers = [targets("b", 1)]

    def follow(outcome: str) -> None:
        if outcome == "done" and followers:
            runner.submit(ALICE, "fleet", followers.pop())

    seen.react("job", follow)
    runner.submit(ALICE, "fleet", targets("a", 1))
    seen.wait_ended(2)
    assert seen.ended == ["done", "done"]


def test_rule_1_a_cancelled_job_frees_its_place_at_once(store: Store, start: StartRunner, site: Site) -> None:
    runner = start(store, jobs_per_caller=1, jobs_total=1)
    site.hold("a1")
    made = runner.submit(ALICE, "fleet", targets("a", 1))
    site.wait_started("a1")
    runner.cancel(made.id)
    assert not runner.submit(ALICE, "fleet", targets("b", 1)).reused


def test_rule_1_a_fetch_func_may_submit(store: Store, start: StartRunner, site: Site, seen: Observed) -> None:
    runner = start(store)
    site.answer("a1", lambda *_: Result(runner.submit(BOB, "fleet", targets("b", 1)).id))
    runner.submit(ALICE, "fleet", targets("a", 1))
    seen.wait_ended(2)
    assert seen.ended == ["done", "done"]


# --- closing


def test_rule_1_a_closed_runner_takes_no_job(store: Store, start: StartRunner) -> None:
    runner = start(store)
    runner.close()
    with pytest.raises(RunnerClosed, match="make a new one"):
        runner.submit(ALICE, "fleet", targets("a", 1))


def test_rule_1_a_submit_under_way_while_the_runner_closes_leaves_no_job_behind(
    store: Store, site: Site, clock: Clock
) -> None:
    asked, closed = threading.Event(), threading.Event()
    submitting: list[threading.Thread] = []

    def waiting_clock() -> float:
        if threading.current_thread() in submitting:
            asked.set()
            closed.wait(PATIENCE)
        return clock()

    runner = Runner(store, site, clock=waiting_clock)
    outcomes: list[Submission | Exception] = []
    thread = threading.Thread(
        target=lambda: outcomes.append(outcome_of(lambda: runner.submit(ALICE, "fleet", targets("a", 1))))
    )
    submitting.append(thread)
    thread.start()
    assert asked.wait(PATIENCE)
    runner.close()
    closed.set()
    thread.join()
    assert [type(outcome) for outcome in outcomes] == [RunnerClosed]


# --- how a runner is set up


def test_rule_1_a_zero_in_the_config_means_the_contracts_default() -> None:
    assert Config(0, 0, 0, 0, 0, 0, 0, 0) == Config()
    config = Config()
    assert (config.ttl, config.retry_wait, config.retry_for) == (86_400, 2, 600)
    assert (config.targets_per_job, config.jobs_per_caller, config.jobs_total) == (32, 1, 8)
    assert (config.workers, config.max_bytes) == (1, 64 * 1024 * 1024)


@pytest.mark.parametrize(("asked", "given"), [(0, 1), (1, 1), (2, 2), (3, 2), (1000, 2)])
def test_rule_1_more_than_two_workers_are_clamped_to_two(store: Store, site: Site, asked: int, given: int) -> None:
    assert Config(workers=asked).workers == given
    before = set(threading.enumerate())
    with Runner(store, site, Config(workers=asked)):
        names = [thread.name for thread in set(threading.enumerate()) - before]
    assert sum(name.startswith("plait-worker") for name in names) == given


NUMBERS = ("ttl", "targets_per_job", "jobs_per_caller", "jobs_total", "workers", "max_bytes", "retry_wait", "retry_for")
SECONDS = ("ttl", "retry_wait", "retry_for")


@pytest.mark.parametrize("name", NUMBERS)
def test_rule_1_a_negative_number_in_the_config_is_refused_by_its_name(name: str) -> None:
    values: dict[str, Any] = {name: -1}
    with pytest.raises(ValueError, match=rf"Config\.{name} must be 0 .* got -1"):
        Config(**values)


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("value", ["5", None, True, [1]], ids=repr)
def test_rule_1_a_value_of_a_wrong_type_in_the_config_is_refused_by_its_name(name: str, value: object) -> None:
    values: dict[str, Any] = {name: value}
    with pytest.raises(TypeError, match=rf"Config\.{name} must be .* got {type(value).__name__}"):
        Config(**values)


@pytest.mark.parametrize("name", sorted(set(NUMBERS) - set(SECONDS)))
def test_rule_1_a_fraction_of_a_count_is_refused(name: str) -> None:
    values: dict[str, Any] = {name: 1.5}
    with pytest.raises(TypeError, match=rf"Config\.{name} must be a whole number, got float"):
        Config(**values)


@pytest.mark.parametrize("name", SECONDS)
@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_rule_1_seconds_that_are_no_time_are_refused(name: str, value: float) -> None:
    values: dict[str, Any] = {name: value}
    with pytest.raises(ValueError, match=rf"Config\.{name} must be"):
        Config(**values)


def test_rule_1_hooks_of_a_wrong_type_are_refused() -> None:
    values: dict[str, Any] = {"hooks": {"job": print}}
    with pytest.raises(TypeError, match="hooks"):
        Config(**values)


def test_rule_1_a_hook_that_cannot_be_called_is_refused() -> None:
    values: dict[str, Any] = {"job": "created"}
    with pytest.raises(TypeError, match="job"):
        Config(hooks=Hooks(**values))


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("store", "sqlite://", "Runner needs a store from Store.open, got str"),
        ("fetch", Result("x"), "Runner needs a FetchFunc to call, got Result"),
        ("config", {"workers": 1}, r"Runner needs a plait\.Config, got dict"),
    ],
)
def test_rule_1_a_runner_refuses_arguments_of_a_wrong_type(
    store: Store, site: Site, name: str, value: object, message: str
) -> None:
    arguments: dict[str, Any] = {"store": store, "fetch": site, name: value}
    with pytest.raises(TypeError, match=message):
        Runner(**arguments)
    Runner(store, site).close()
