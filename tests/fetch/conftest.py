"""What the tests of the pipeline share: the example site, and a Fetch that may reach it."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from plait.fetch import Fetch
from plait.net import Policy

if TYPE_CHECKING:
    from examples.example_site import ExampleSite

_FILE = Path(__file__).parents[2] / "examples" / "example_site.py"


def _example_site() -> Any:
    """The example's module: examples are files for people, not an importable package."""
    spec = importlib.util.spec_from_file_location("plait_example_site", _FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def site() -> Iterator[ExampleSite]:
    """The example site, fresh for each test."""
    with _example_site().ExampleSite() as running:
        yield running


@pytest.fixture
def fetch(site: ExampleSite) -> Fetch:
    """A FetchFunc that may reach the example site and nothing else of this machine."""
    return Fetch(Policy(allow=[site.authority]))
