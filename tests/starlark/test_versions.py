"""Every supported version of Python runs the corpus and counts the same steps, where it is installed."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

_ROOT: Final = Path(__file__).parents[2]
_DRIVER: Final = Path(__file__).with_name("driver.py")
_VERSIONS: Final = ("3.11", "3.12", "3.13")
_OWN: Final = f"{sys.version_info.major}.{sys.version_info.minor}"


def _candidates(version: str) -> list[str]:
    folder = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    found = shutil.which(f"python{version}")
    return ([found] if found else []) + [
        str(path / "bin" / "python") for path in sorted(folder.glob(f"{version}.*"), reverse=True)
    ]


@functools.cache
def interpreter(version: str) -> str | None:
    """An interpreter of a version that starts, ``None`` when there is none."""
    for candidate in _candidates(version):
        try:
            asked = subprocess.run(
                [candidate, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"],
                capture_output=True,
                text=True,
                check=False,
            )
        except OSError:
            continue
        if asked.stdout.strip() == version:
            return candidate
    return None


@pytest.mark.parametrize("version", [version for version in _VERSIONS if version != _OWN])
def test_another_version_of_python_runs_the_corpus_and_counts_the_same_steps(version: str) -> None:
    python = interpreter(version)
    if python is None:
        pytest.skip(f"no Python {version} on this machine")
    done = subprocess.run(
        [python, "-W", "error", "-I", str(_DRIVER), str(_ROOT)], capture_output=True, text=True, check=False, cwd=_ROOT
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "all is well\n", "")


def test_the_driver_says_what_is_wrong(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    (corpus / "wrong.star").write_text("x = 1\nassert_eq(x, 2)\n")
    done = subprocess.run(
        [sys.executable, str(_DRIVER), str(_ROOT), str(corpus)], capture_output=True, text=True, check=False, cwd=_ROOT
    )
    assert done.returncode == 1
    assert "wrong.star:2: unexpected error: 1 != 2" in done.stdout
