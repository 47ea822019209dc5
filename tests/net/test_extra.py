"""Without its libraries a room says what to install."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

from plait.net.extra import missing

# In a process of its own: None in sys.modules makes an import fail as a missing package does.
_PROGRAM = """
import sys
sys.modules[sys.argv[2]] = None
try:
    __import__(sys.argv[1])
except ImportError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("room", "library"),
    [
        ("plait.net", "httpcore"),
        ("plait.net", "idna"),
        ("plait.net.url", "idna"),
        ("plait.fetch", "httpcore"),
        ("plait.fetch", "trafilatura"),
        ("plait.fetch.lines", "re2"),
    ],
)
def test_a_missing_library_is_an_import_error_that_names_the_extra(room: str, library: str) -> None:
    program = [sys.executable, "-c", _PROGRAM, room, library]
    printed = subprocess.run(program, capture_output=True, text=True, check=True).stdout
    assert library in printed
    assert "pip install 'plait[fetch]'" in printed


def test_a_missing_module_of_ours_is_not_blamed_on_the_extra() -> None:
    error = ModuleNotFoundError("No module named 'plait.nowhere'", name="plait.nowhere")
    assert missing(error) is error


@pytest.mark.parametrize("room", ["plait.net", "plait.fetch"])
def test_every_name_that_a_room_offers_is_there_and_documented(room: str) -> None:
    module = importlib.import_module(room)
    assert module.__all__ == sorted(module.__all__)
    assert all(getattr(module, name).__doc__ for name in module.__all__)
