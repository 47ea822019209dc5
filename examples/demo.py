"""Two callers share one worker: watch their jobs take turns, a busy page come again and a dead one fail.

Run it with ``python examples/demo.py``. It needs no network: the pages come from a small site on this machine.
"""

from __future__ import annotations

import queue
import sys
import threading
from typing import Final

from example_site import ExampleSite  # type: ignore[import-not-found]  # it stands beside this script

from plait import Caller, Config, Context, Hooks, JobStatus, Result, RetryLater, Runner, Store, Target
from plait.fetch import Fetch
from plait.net import Policy

ANN: Final = ["/index.html", "/drafts.json", "/guild.html", "/twill.html"]  # the guild is busy twice
BOB: Final = ["/looms.html", "/gone.html", "/plain-weave.html"]

EXPECTED_TURNS: Final = [
    "ann /index.html done",
    "bob /looms.html done",
    "ann /drafts.json done",
    "bob /gone.html failed",
    "ann /guild.html busy",  # so ann's job waits, and bob's goes on
    "bob /plain-weave.html done",
    "ann /guild.html busy",
    "ann /guild.html done",
    "ann /twill.html done",
]
EXPECTED_JOBS: Final = {"ann": "done", "bob": "partial"}


class Turns:
    """A FetchFunc that notes every turn and lets a real one do the work.

    Args:
        fetch: Does the work.
        origin: Where the site is; what is shown leaves it out.
    """

    def __init__(self, fetch: Fetch, origin: str) -> None:
        self.start = threading.Event()
        self.noted: list[str] = []
        self._fetch = fetch
        self._origin = origin

    def __call__(self, context: Context, caller: Caller, target: Target) -> Result:
        """Do one target, but none before both jobs are submitted."""
        with context.watch(self.start.set):  # a runner that closes waits for nobody
            self.start.wait()
        try:
            result = self._fetch(context, caller, target)
        except RetryLater:
            self._note(caller, target, "busy")  # not an outcome: the runner tries again
            raise
        except Exception:
            self._note(caller, target, "failed")
            raise
        self._note(caller, target, "done")
        return result

    def _note(self, caller: Caller, target: Target, how: str) -> None:
        turn = f"{caller.name} {target.url.removeprefix(self._origin)} {how}"
        self.noted.append(turn)
        print(f"  {len(self.noted)}. {turn}{', so it is tried again later' if how == 'busy' else ''}")


def run_jobs(site: ExampleSite) -> tuple[list[str], list[JobStatus]]:
    """Run a job for each caller, both at once; the turns as they came, and how the jobs stand in the end."""
    turns = Turns(Fetch(Policy(allow=[site.authority])), site.origin)
    ended: queue.SimpleQueue[str] = queue.SimpleQueue()
    hooks = Hooks(job=lambda event: ended.put(event) if event != "created" else None)
    config = Config(workers=1, retry_wait=0.2, hooks=hooks)
    with Store.open("sqlite://") as store, Runner(store, turns, config) as runner:
        print("Turns, in the order in which the one worker took them:")
        jobs = [
            runner.submit(Caller(name), "fleet", [Target(site.url(path)) for path in paths])
            for name, paths in [("ann", ANN), ("bob", BOB)]
        ]
        turns.start.set()
        for _ in jobs:
            ended.get(timeout=60)
        found = [runner.status(job.id) for job in jobs]
    return turns.noted, [status for status in found if status is not None]


def show(status: JobStatus, origin: str) -> None:
    """Print a job with the outcome of each of its targets."""
    job = status.job
    print(f"\nThe job of {job.caller} is {job.status}: {job.targets_done} of {job.targets_total} outcomes are stored.")
    for target in status.targets:
        print(f"  {target.status:6} {target.url.removeprefix(origin)}")
        if target.result is not None:
            print(f"         {len(target.result.content)} characters, {target.result.meta['title'] or 'no title'}")
        else:
            print(f"         {target.error}\n         hint: {target.hint}")


def main() -> int:
    """Run the demo, and check that all came as it should."""
    with ExampleSite() as site:
        turns, statuses = run_jobs(site)
        for status in statuses:
            show(status, site.origin)
    as_expected = turns == EXPECTED_TURNS and {s.job.caller: s.job.status for s in statuses} == EXPECTED_JOBS
    print("\nAll came as expected." if as_expected else f"\nNot as expected; the turns were to be {EXPECTED_TURNS}.")
    return 0 if as_expected else 1


if __name__ == "__main__":
    sys.exit(main())
