"""A runner with two workers does what a small model says, whatever happens to it in whatever order."""

from __future__ import annotations

import itertools
import shutil
import tempfile
import threading
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from typing_extensions import override

from plait import (
    Busy,
    Caller,
    CallerBusy,
    Config,
    Context,
    Hooks,
    NoTargets,
    Result,
    RetryLater,
    Runner,
    Store,
    Target,
    TargetError,
    TooManyTargets,
)
from plait.jobs import TurnContext
from plait.jobs.store import Idle, Turn
from tests.jobs.rows import assert_sound

PATIENCE: Final = 30.0  # seconds until a test that hangs says so
TTL: Final = 100.0
WORKERS: Final = 2
PER_JOB, PER_CALLER, TOTAL = 3, 2, 4
LIVE: Final = ("queued", "running")
TERMINAL: Final = ("done", "partial", "failed", "cancelled")
OUTCOMES: Final = ("succeed", "fail", "panic", "busy")


class Panic(BaseException):
    """What no FetchFunc should raise."""


@dataclass
class Job:
    """What the model knows of a job; ``stored`` holds what became of its first targets."""

    id: str
    caller: str
    urls: tuple[str, ...]
    lease: float
    status: str = "queued"
    error: str = ""
    stored: list[str] = field(default_factory=list)

    @property
    def live(self) -> bool:
        return self.status in LIVE


@dataclass
class Held:
    """A target that is being fetched, until the test says what comes of it."""

    job_id: str
    idx: int
    context: Context
    ends: threading.Event = field(default_factory=threading.Event)
    outcome: str = ""


class World:
    """What a runner works on and tells; ``changed`` guards everything in it and is notified of each change."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.held: dict[str, Held] = {}
        self.faults: list[str] = []
        self.told: Counter[str] = Counter()
        self.targets: Counter[str] = Counter()
        self.ended_in: list[float] = []
        self.depths: list[int] = []
        self.inflight: list[int] = [0]
        self.hooks = Hooks(
            job=lambda outcome: self.note(lambda: self.told.update([outcome])),
            target=lambda error, _seconds, nbytes: self.note(lambda: self._note_target(error, nbytes)),
            job_seconds=lambda seconds: self.note(lambda: self.ended_in.append(seconds)),
            depth=lambda live: self.note(lambda: self.depths.append(live)),
            inflight=lambda count: self.note(lambda: self.inflight.append(count)),
        )

    def note(self, change: Any) -> None:
        with self.changed:
            change()
            self.changed.notify_all()

    def _note_target(self, error: BaseException | None, nbytes: int) -> None:
        if error is None:
            self.targets["succeed" if nbytes > 0 else "empty"] += 1
        else:
            self.targets["panic" if "internal error" in str(error) else "fail"] += 1

    def fetch(self, context: Context, caller: Caller, target: Target) -> Result:
        """Hold the target until the test releases it."""
        assert isinstance(context, TurnContext)
        held = Held(context.turn.job, context.turn.idx, context)
        self.note(lambda: self._begin(held, caller, target))
        if not held.ends.wait(PATIENCE):
            self.note(lambda: self.faults.append(f"{target.url} was never released"))
        if held.outcome == "fail":
            raise TargetError(f"no {target.url}", hint="try another")
        if held.outcome == "panic":
            raise Panic(target.url)
        if held.outcome == "busy":
            raise RetryLater(f"{target.url} is busy")
        return Result(target.url, {"caller": caller.name})

    def _begin(self, held: Held, caller: Caller, target: Target) -> None:
        if held.job_id in self.held:
            self.faults.append(f"two targets of {held.job_id} in flight")
        if caller.key_sha256 != f"key of {caller.name}":
            self.faults.append(f"{target.url} came without its caller's key")
        self.held[held.job_id] = held


class TellingStore(Store):
    """A store that tells when a busy target was put back, which no hook does."""

    world: World

    @override
    def defer(self, turn: Turn, delay: float, hand: int | None) -> tuple[bool, Turn | Idle | None]:
        answer = super().defer(turn, delay, hand)
        self.world.note(lambda: self.world.told.update(["deferred"]))
        return answer


class RunnerMachine(RuleBasedStateMachine):
    """Drives a runner on an SQLite file; after each rule it waits until the runner has come to rest."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.mkdtemp(prefix="plait-")
        self.url = f"sqlite:///{Path(self.folder) / 'plait.db'}"
        self.now = 1000.0
        self.jobs: dict[str, Job] = {}
        self.gone: set[str] = set()

    # --- the runner

    @initialize()
    def start(self) -> None:
        self.world = World()
        self.expected_told: Counter[str] = Counter()
        self.expected_targets: Counter[str] = Counter()
        self.expected_depths: list[int] = []
        self.store = TellingStore.open(self.url)
        self.store.world = self.world
        config = Config(
            ttl=TTL,
            targets_per_job=PER_JOB,
            jobs_per_caller=PER_CALLER,
            jobs_total=TOTAL,
            workers=WORKERS,
            retry_wait=0.001,
            hooks=self.world.hooks,
        )
        self.runner = Runner(self.store, self.world.fetch, config, clock=lambda: self.now)

    @rule(returns=st.lists(st.booleans(), min_size=WORKERS, max_size=WORKERS))
    def close_and_reopen(self, returns: list[bool]) -> None:
        """What is in flight comes back while the runner closes, as a result or as an error."""
        self._close(returns)
        self.store.close()
        interrupted = [job for job in self.jobs.values() if job.live]
        for job in interrupted:
            job.status, job.error, job.lease = "failed", "interrupted by a restart", self.now
        self.start()
        self.expected_told["failed"] += len(interrupted)
        self._rest()

    def _close(self, returns: list[bool]) -> None:
        closing = threading.Thread(target=self.runner.close)
        closing.start()
        for held, result in zip(self._held(), returns, strict=False):
            held.context.wait(PATIENCE)
            assert held.context.cancelled
            self._release(held, "succeed" if result else "fail", closing=True)
        closing.join(PATIENCE)
        assert not closing.is_alive()
        self._rest(closed=True)

    # --- what callers do

    @rule(caller=st.sampled_from("abc"), urls=st.lists(st.sampled_from("xy"), max_size=PER_JOB + 1).map(tuple))
    def submit(self, caller: str, urls: tuple[str, ...]) -> None:
        expected = self._expected_of_submit(caller, urls)
        who = Caller(caller, "space", f"key of {caller}")
        targets = [Target(url) for url in urls]
        if isinstance(expected, type):
            with pytest.raises(expected):
                self.runner.submit(who, "fleet", targets)
            return
        submission = self.runner.submit(who, "fleet", targets)
        assert submission.reused is (expected is not None)
        if expected is not None:
            assert submission.id == expected.id
            self.expected_told["reused"] += 1
        else:
            assert submission.id not in self.jobs
            self.jobs[submission.id] = Job(submission.id, caller, urls, self.now)
            self.expected_told["created"] += 1
            self._depth_changed()
            self._sweep()
        self._rest()

    def _expected_of_submit(self, caller: str, urls: tuple[str, ...]) -> Job | type[Exception] | None:
        """The job that is reused, the refusal, or ``None`` for a new job."""
        if not urls:
            return NoTargets
        for job in reversed(self.jobs.values()):
            fresh = job.status in {"done", "partial"} and job.lease >= self.now - TTL
            if (job.caller, job.urls) == (caller, urls) and (job.live or fresh):
                return job
        if len(urls) > PER_JOB:
            return TooManyTargets
        live = [job for job in self.jobs.values() if job.live]
        if sum(job.caller == caller for job in live) >= PER_CALLER:
            return CallerBusy
        return Busy if len(live) >= TOTAL else None

    def _sweep(self) -> None:
        for job in list(self.jobs.values()):
            if not job.live and job.lease < self.now - TTL and job.id not in self.world.held:
                del self.jobs[job.id]
                self.gone.add(job.id)

    @precondition(lambda self: self.jobs)
    @rule(data=st.data())
    def cancel(self, data: st.DataObject) -> None:
        job = data.draw(st.sampled_from(list(self.jobs.values())))
        was_live = job.live
        assert self.runner.cancel(job.id) is was_live
        if was_live:
            job.status, job.lease = "cancelled", self.now
            self.expected_told["cancelled"] += 1
            self._depth_changed()
        self._rest()

    @precondition(lambda self: self.jobs)
    @rule(data=st.data())
    def touch(self, data: st.DataObject) -> None:
        job = data.draw(st.sampled_from(list(self.jobs.values())))
        self.runner.touch(job.id)
        job.lease = self.now

    @rule()
    def act_on_what_is_not_there(self) -> None:
        for job_id in ("0" * 32, *self.gone):
            assert self.runner.cancel(job_id) is False
            self.runner.touch(job_id)

    @rule(seconds=st.sampled_from([1.0, TTL, TTL + 1]))
    def let_time_pass(self, seconds: float) -> None:
        self.now += seconds

    # --- what becomes of targets

    @precondition(lambda self: self.world.held)
    @rule(data=st.data(), outcome=st.sampled_from(OUTCOMES))
    def end_one(self, data: st.DataObject, outcome: str) -> None:
        self._release(data.draw(st.sampled_from(self._held())), outcome)
        self._rest()

    @precondition(lambda self: len(self.world.held) == WORKERS)
    @rule(outcomes=st.tuples(*[st.sampled_from(OUTCOMES)] * WORKERS))
    def end_both_at_once(self, outcomes: tuple[str, ...]) -> None:
        for held, outcome in zip(self._held(), outcomes, strict=True):
            self._release(held, outcome)
        self._rest()

    def _release(self, held: Held, outcome: str, *, closing: bool = False) -> None:
        stored = outcome != "busy" and not (closing and outcome != "succeed")
        if stored:
            self._count_outcome(self.jobs[held.job_id], outcome)
        elif not closing:
            self.expected_told["deferred"] += 1
        with self.world.changed:
            del self.world.held[held.job_id]
        held.outcome = outcome
        held.ends.set()

    def _count_outcome(self, job: Job, outcome: str) -> None:
        job.stored.append(outcome)
        self.expected_targets[outcome] += 1
        if not job.live or len(job.stored) < len(job.urls):
            return
        bad = sum(kind != "succeed" for kind in job.stored)
        job.status = "done" if bad == 0 else "failed" if bad == len(job.urls) else "partial"
        job.lease = self.now
        self.expected_told[job.status] += 1
        self._depth_changed()

    # --- coming to rest

    def _depth_changed(self) -> None:
        self.expected_depths.append(sum(job.live for job in self.jobs.values()))

    def _held(self) -> list[Held]:
        """What is in flight, in submit order, so that an example means the same when it is run again."""
        return [self.world.held[job_id] for job_id in self.jobs if job_id in self.world.held]

    def _ready(self) -> list[Job]:
        return [job for job in self.jobs.values() if job.live and job.id not in self.world.held]

    def _rest(self, *, closed: bool = False) -> None:
        """Wait until no worker is idle while there is work, and everything was told."""
        with self.world.changed:
            rests = self.world.changed.wait_for(lambda: bool(self.world.faults) or self._rests(closed), PATIENCE)
            assert not self.world.faults
            assert rests, (self.world.told, self.expected_told, self.world.depths, self.expected_depths, self.jobs)
        for held in self.world.held.values():
            job = self.jobs[held.job_id]
            assert held.idx == len(job.stored)
            if job.status == "queued":
                job.status = "running"

    def _rests(self, closed: bool) -> bool:
        world = self.world
        return (
            (closed or len(world.held) == WORKERS or not self._ready())
            and world.inflight[-1] == len(world.held)
            and world.told == self.expected_told
            and world.targets == self.expected_targets
            and world.depths == self.expected_depths
            and len(world.ended_in) == sum(self.expected_told[status] for status in TERMINAL)
        )

    # --- what always holds

    @invariant()
    def every_status_agrees_with_the_model(self) -> None:
        for job in self.jobs.values():
            status = self.runner.status(job.id)
            assert status is not None
            seen = status.job
            assert (seen.status, seen.error, seen.caller) == (job.status, job.error, job.caller)
            assert (seen.targets_done, seen.targets_total) == (len(job.stored), len(job.urls))
            assert [(target.idx, target.url) for target in status.targets] == list(enumerate(job.urls))
            for target, kind in zip(status.targets, job.stored, strict=False):
                self._check_target(target, kind)
            waiting = ["running"] if job.id in self.world.held else []
            waiting += ["pending"] * len(job.urls)
            assert [target.status for target in status.targets[len(job.stored) :]] == waiting[
                : len(job.urls) - len(job.stored)
            ]

    def _check_target(self, target: Any, kind: str) -> None:
        if kind == "succeed":
            assert (target.status, target.error, target.hint) == ("done", "", "")
            assert target.result.content == target.url
        else:
            error, hint = ("internal error", "") if kind == "panic" else (f"no {target.url}", "try another")
            assert (target.status, target.result, target.error, target.hint) == ("failed", None, error, hint)

    @invariant()
    def what_was_swept_is_gone(self) -> None:
        assert [job_id for job_id in self.gone if self.runner.status(job_id) is not None] == []

    @invariant()
    def no_cap_is_passed(self) -> None:
        live = Counter(job.caller for job in self.jobs.values() if job.live)
        assert live.total() <= TOTAL
        assert max(live.values(), default=0) <= PER_CALLER
        assert len(self.world.held) <= WORKERS

    @invariant()
    def the_gauges_told_the_truth(self) -> None:
        steps = self.world.inflight
        assert all(abs(after - before) == 1 for before, after in itertools.pairwise(steps))
        assert set(steps) <= {0, 1, 2}
        assert all(seconds >= 0 for seconds in self.world.ended_in)

    @override
    def teardown(self) -> None:
        try:
            if hasattr(self, "runner"):
                self._close([False] * WORKERS)
                rows = assert_sound(self.url, self.store)
                assert set(rows.jobs) == set(self.jobs)
                self.store.close()
        finally:
            shutil.rmtree(self.folder)


def test_a_runner_does_what_the_model_says() -> None:
    run_state_machine_as_test(RunnerMachine, settings=settings(max_examples=25, stateful_step_count=20, deadline=None))


@pytest.mark.slow
def test_a_runner_does_what_the_model_says_for_long() -> None:
    run_state_machine_as_test(RunnerMachine, settings=settings(max_examples=100, stateful_step_count=50, deadline=None))
