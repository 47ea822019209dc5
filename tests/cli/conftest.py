"""What the tests of the command share: a site to fetch from."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from examples.example_site import ExampleSite


@pytest.fixture
def site() -> Iterator[ExampleSite]:
    """The example site, up for one test."""
    with ExampleSite() as running:
        yield running


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of the developer's own environment takes part."""
    for name in ("PLAIT_ALLOW", "PLAIT_DEBUG", "FORCE_COLOR", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
