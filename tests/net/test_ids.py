"""Every process finds the same tests under the same names, whenever it looks."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# A day later, with another seed: what a name takes from the clock, from chance or from a set's order is another.
COLLECT = """
import random, sys, time
real = time.time
time.time = lambda: real() + float(sys.argv[1])
random.seed(sys.argv[1])
import pytest
sys.exit(pytest.main(["--collect-only", "-q", "-p", "no:randomly", "-p", "no:cacheprovider", "-n0", "tests"]))
"""


def collected(offset: int) -> list[str]:
    """The names of all tests, for a clock that is ``offset`` seconds ahead."""
    env = {**os.environ, "PYTHONHASHSEED": str(offset % 1000)}
    done = subprocess.run(
        [sys.executable, "-c", COLLECT, str(offset)], cwd=ROOT, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return [line for line in done.stdout.splitlines() if "::" in line]


@pytest.mark.slow
def test_two_processes_collect_the_same_tests() -> None:
    first, second = collected(0), collected(86_461)
    assert any(name.startswith("tests/net/test_limits.py::") for name in first)
    assert first == second
