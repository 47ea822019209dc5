"""The demo runs as a newcomer runs it, and shows what it promises."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

from tests.docs.markdown import ROOT

_TURNS = [
    "ann /index.html done",
    "bob /looms.html done",
    "ann /drafts.json done",
    "bob /gone.html failed",
    "ann /guild.html busy, so it is tried again later",
    "bob /plain-weave.html done",
    "ann /guild.html busy, so it is tried again later",
    "ann /guild.html done",
    "ann /twill.html done",
]


def run_demo(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error", folder / "demo.py"],
        cwd=folder.parent,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def copied_examples(tmp_path: Path) -> Path:
    return Path(shutil.copytree(ROOT / "examples", tmp_path / "examples", ignore=shutil.ignore_patterns("__pycache__")))


def test_the_demo_shows_turns_outcomes_and_jobs(tmp_path: Path) -> None:
    done = run_demo(copied_examples(tmp_path))
    assert (done.returncode, done.stderr) == (0, "")
    assert re.findall(r"^  \d\. (.*)$", done.stdout, re.MULTILINE) == _TURNS
    outcomes = re.findall(r"^  (done|failed) +(/\S+)$", done.stdout, re.MULTILINE)
    assert outcomes == [
        ("done", "/index.html"),
        ("done", "/drafts.json"),
        ("done", "/guild.html"),
        ("done", "/twill.html"),
        ("done", "/looms.html"),
        ("failed", "/gone.html"),
        ("done", "/plain-weave.html"),
    ]
    assert "The job of ann is done: 4 of 4 outcomes are stored." in done.stdout
    assert "The job of bob is partial: 3 of 3 outcomes are stored." in done.stdout
    assert "hint: the page is gone for good" in done.stdout
    assert done.stdout.endswith("\nAll came as expected.\n")


def test_the_demo_says_so_when_something_is_not_as_expected(tmp_path: Path) -> None:
    examples = copied_examples(tmp_path)
    (examples / "site" / "twill.html").unlink()
    done = run_demo(examples)
    assert done.returncode == 1
    assert "Not as expected" in done.stdout
