"""A PostgreSQL server that goes away and comes back: what was kept is kept, and the first call after it works."""

from __future__ import annotations

import pytest

from plait.jobs import Caller, Config, Result, Runner, Store, StoreError, Target
from tests.jobs.observed import Observed
from tests.jobs.sites import PATIENCE, Site, targets
from tests.postgres import Server

pytestmark = pytest.mark.slow
ALICE = Caller("alice")


def test_the_first_call_after_a_restart_of_the_server_works(lone_postgres_server: Server) -> None:
    with (
        lone_postgres_server.database() as url,
        Store.open(url) as store,
        Runner(store, lambda *_: Result("x")) as runner,
    ):
        made = runner.submit(ALICE, "fleet", [Target("a")])
        assert runner.wait(made.id, PATIENCE).job.status == "done"
        lone_postgres_server.stop("immediate")
        with pytest.raises(StoreError, match="see that the server runs"):
            runner.status(made.id)
        lone_postgres_server.start()
        assert runner.wait(made.id, PATIENCE).job.status == "done"
        assert runner.submit(ALICE, "fleet", [Target("b")]).reused is False


def test_an_outcome_that_comes_while_the_server_is_away_is_stored_when_it_is_back(
    lone_postgres_server: Server, site: Site, seen: Observed
) -> None:
    site.hold("a1")
    with (
        lone_postgres_server.database() as url,
        Store.open(url) as store,
        Runner(store, site, Config(hooks=seen.hooks)) as runner,
    ):
        made = runner.submit(ALICE, "fleet", targets("a", 2))
        site.wait_started("a1")
        lone_postgres_server.stop("immediate")
        site.release()
        site.wait_ended("a1")
        lone_postgres_server.start()
        seen.wait_ended()
        assert runner.wait(made.id, PATIENCE).job.status == "done"
    assert site.starts == ["a1", "a2"]
    assert seen.of("job") == ["created", "done"]
