"""Closing a runner: from anywhere, any number of times, with nothing left behind."""

from __future__ import annotations

import threading

import pytest

from plait.jobs import Caller, Config, Result, Runner, RunnerClosed, Store, StoreInUse
from tests.jobs.conftest import StartRunner
from tests.jobs.observed import Observed
from tests.jobs.sites import PATIENCE, Site, targets, wait_for_close

ALICE = Caller("alice")


def own_threads() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.name.startswith("plait-")}


def test_a_closed_runner_may_be_closed_again(store: Store, start: StartRunner) -> None:
    runner = start(store)
    for _ in range(3):
        runner.close()
    with pytest.raises(RunnerClosed):
        runner.submit(ALICE, "fleet", targets("a", 1))


def test_a_with_block_closes_its_runner(store: Store, site: Site) -> None:
    before = own_threads()
    with Runner(store, site, Config(workers=2)) as runner:
        assert len(own_threads() - before) == 3
    assert own_threads() - before == set()
    with pytest.raises(RunnerClosed):
        runner.submit(ALICE, "fleet", targets("a", 1))


def test_two_threads_that_close_at_once_both_wait_for_the_target_in_flight(
    store: Store, start: StartRunner, site: Site
) -> None:
    runner = start(store)
    site.hold("a1")
    runner.submit(ALICE, "fleet", targets("a", 1))
    site.wait_started("a1")
    threads = [threading.Thread(target=runner.close) for _ in range(2)]
    for thread in threads:
        thread.start()
    wait_for_close(site.call_of("a1").context)
    assert [thread.is_alive() for thread in threads] == [True, True]
    site.release()
    for thread in threads:
        thread.join(PATIENCE)
    assert [thread.is_alive() for thread in threads] == [False, False]
    assert site.ends == ["a1"]


@pytest.mark.parametrize("name", ["job", "target", "job_seconds", "depth", "inflight"])
def test_a_hook_may_close_the_runner(store: Store, start: StartRunner, seen: Observed, name: str) -> None:
    runner = start(store)
    closed = threading.Event()

    def close(*_: object) -> None:
        runner.close()
        closed.set()

    seen.react(name, close)
    made = runner.submit(ALICE, "fleet", targets("a", 2))
    assert closed.wait(PATIENCE)
    runner.close()
    status = runner.status(made.id)
    assert status is not None
    assert "running" not in {each.status for each in status.targets}


def test_a_fetch_func_may_close_the_runner_and_its_result_is_stored(
    store: Store, start: StartRunner, site: Site
) -> None:
    runner = start(store)

    def close(*_: object) -> Result:
        runner.close()
        return Result("the last one")

    site.answer("a1", close)
    made = runner.submit(ALICE, "fleet", targets("a", 2))
    site.wait_ended("a1")
    runner.close()
    status = runner.status(made.id)
    assert status is not None
    assert [each.status for each in status.targets] == ["done", "pending"]
    assert status.targets[0].result == Result("the last one")
    assert site.starts == ["a1"]


def test_a_store_takes_one_runner_at_a_time_and_the_next_after_the_last_has_closed(
    store: Store, start: StartRunner, site: Site
) -> None:
    first = start(store)
    with pytest.raises(StoreInUse, match="close that one first"):
        Runner(store, site)
    first.close()
    start(store).close()
    start(store)


def test_a_queued_job_is_not_begun_by_a_runner_that_closes(store: Store, start: StartRunner, site: Site) -> None:
    runner = start(store)
    site.hold("a1")
    runner.submit(ALICE, "fleet", targets("a", 1))
    site.wait_started("a1")
    queued = runner.submit(ALICE, "fleet", targets("b", 1))
    thread = threading.Thread(target=runner.close)
    thread.start()
    wait_for_close(site.call_of("a1").context)
    site.release()
    thread.join()
    status = runner.status(queued.id)
    assert status is not None
    assert (status.job.status, site.starts) == ("queued", ["a1"])


def test_two_hundred_runners_leave_no_thread_behind(site: Site) -> None:
    before = own_threads()
    with Store.open("sqlite://") as store:
        for number in range(200):
            with Runner(store, site, Config(workers=2)) as runner:
                if number % 20 == 0:
                    runner.submit(ALICE, "fleet", targets(f"{number}-", 1))
    assert own_threads() <= before


def test_submits_and_cancels_at_the_moment_of_closing_end_in_an_answer_or_in_runner_closed(
    store: Store, start: StartRunner, site: Site
) -> None:
    runner = start(store, workers=2)
    barrier = threading.Barrier(5)
    answers: list[object] = []

    def work(letter: str) -> None:
        barrier.wait(PATIENCE)
        try:
            for number in range(200):
                made = runner.submit(Caller(f"{letter}{number}"), "fleet", targets(f"{letter}{number}-", 1))
                runner.cancel(made.id)
                runner.touch(made.id)
                assert runner.status(made.id) is not None
            answers.append("all of them")
        except RunnerClosed:
            answers.append("closed")

    threads = [threading.Thread(target=work, args=(letter,)) for letter in "abcd"]
    for thread in threads:
        thread.start()
    barrier.wait(PATIENCE)
    runner.close()
    for thread in threads:
        thread.join(PATIENCE)
    assert len(answers) == 4
    assert set(answers) <= {"closed", "all of them"}
    assert sorted(site.starts) == sorted(site.ends)


def test_a_runner_that_is_closed_again_leaves_the_next_one_its_store(store: Store, site: Site) -> None:
    first = Runner(store, site)
    first.close()
    with Runner(store, site):
        first.close()
        with pytest.raises(StoreInUse):
            Runner(store, site)


def test_a_runner_that_cannot_start_its_threads_leaves_the_store_to_the_next(
    store: Store, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", _no_thread)
        with pytest.raises(RuntimeError, match="no more threads"):
            Runner(store, site)
    Runner(store, site).close()


def _no_thread(_thread: threading.Thread) -> None:
    raise RuntimeError("no more threads")
