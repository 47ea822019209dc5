"""Ctrl-C while the main thread is in the runner: the act still comes to its end, and nothing stays locked."""

from __future__ import annotations

import signal
import threading

import pytest

from plait.jobs import Caller, Runner, Store
from plait.jobs.shield import uninterrupted
from tests.jobs.conftest import StartRunner
from tests.jobs.observed import Observed
from tests.jobs.sites import PATIENCE, Site, targets

ALICE = Caller("alice")


def interrupt_main_thread() -> None:
    """What a terminal does on Ctrl-C."""
    main = threading.main_thread().ident
    assert main is not None
    signal.pthread_kill(main, signal.SIGINT)


@pytest.fixture(autouse=True)
def _on_the_main_thread() -> None:
    assert threading.current_thread() is threading.main_thread(), "signals reach the main thread only"


@pytest.mark.parametrize("width", [1, 2])
def test_a_job_whose_submit_is_interrupted_is_told_and_done(
    *, store: Store, start: StartRunner, site: Site, seen: Observed, width: int
) -> None:
    runner = start(store, workers=width)
    seen.react("job", lambda outcome: interrupt_main_thread() if outcome == "created" else None)
    with pytest.raises(KeyboardInterrupt):
        runner.submit(ALICE, "fleet", targets("a", 2))
    seen.wait_ended()
    assert (site.starts, seen.of("job")) == (["a1", "a2"], ["created", "done"])


def test_a_job_whose_cancel_is_interrupted_is_cancelled_and_told(
    store: Store, start: StartRunner, site: Site, seen: Observed
) -> None:
    runner = start(store)
    site.hold("a1")
    made = runner.submit(ALICE, "fleet", targets("a", 2))
    site.wait_started("a1")
    seen.react("job", lambda outcome: interrupt_main_thread() if outcome == "cancelled" else None)
    with pytest.raises(KeyboardInterrupt):
        runner.cancel(made.id)
    seen.wait_ended()
    site.release()
    seen.wait_for("target")
    assert (site.starts, seen.ended) == (["a1"], ["cancelled"])


def test_a_runner_goes_on_after_many_interrupts(store: Store, start: StartRunner, seen: Observed) -> None:
    runner = start(store, jobs_per_caller=1000, jobs_total=1000)
    seen.react("job", lambda outcome: interrupt_main_thread() if outcome == "created" else None)
    for number in range(30):
        with pytest.raises(KeyboardInterrupt):
            submit_until_interrupted(runner, number)
    seen.wait_until(lambda: len(seen.ended) == seen.of("job").count("created") >= 30)
    seen.react("job", lambda _outcome: None)
    last = runner.submit(ALICE, "fleet", targets("last", 1))
    assert runner.wait(last.id, PATIENCE).job.status == "done"


def submit_until_interrupted(runner: Runner, number: int) -> None:
    """Submit, and wait out the interrupt that may come a little after the submit."""
    runner.submit(ALICE, "fleet", targets(f"n{number}x", 1))
    threading.Event().wait(PATIENCE)


def test_on_the_main_thread_work_is_done_by_another_one_that_gives_its_value_and_its_error() -> None:
    assert uninterrupted(threading.current_thread) is not threading.main_thread()
    with pytest.raises(ZeroDivisionError):
        uninterrupted(lambda: 1 // 0)


def test_on_any_other_thread_work_is_done_right_there() -> None:
    seen: list[threading.Thread] = []
    thread = threading.Thread(target=lambda: seen.append(uninterrupted(threading.current_thread)))
    thread.start()
    thread.join(PATIENCE)
    assert seen == [thread]


def test_a_runner_whose_start_is_interrupted_leaves_the_store_to_the_next(
    store: Store, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim = store.claim
    claimed = threading.Event()

    def claim_and_interrupt(now: float) -> object:
        interrupt_main_thread()
        closing.wait(PATIENCE)
        try:
            return claim(now)
        finally:
            claimed.set()

    closing = threading.Event()
    unclaim = store.unclaim
    given_back = threading.Event()

    def note_unclaim() -> None:
        unclaim()
        given_back.set()

    with monkeypatch.context() as patch:
        patch.setattr(store, "claim", claim_and_interrupt)
        patch.setattr(store, "unclaim", note_unclaim)
        with pytest.raises(KeyboardInterrupt):
            Runner(store, site)
        closing.set()
        assert claimed.wait(PATIENCE)
        assert given_back.wait(PATIENCE)
    Runner(store, site).close()
