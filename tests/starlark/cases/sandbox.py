"""Sandbox: the tests' side of the process that runs hostile scripts, and the judgement of how each ended."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final

from tests.starlark.cases.case import Case

__all__ = ["Sandbox", "faults", "sandbox"]

_ROOT: Final = Path(__file__).parents[3]
_LONGEST_TEXT: Final = 10_000
_OF_THE_HOST: Final = re.compile(
    r"site-packages|/usr/|/home/|\.py\b|File \"|0x[0-9a-fA-F]{8,}|object at|set_int_max_str_digits|<class '"
)
_ENDINGS: Final = {
    "refused": ("refused",),
    "failing": ("refused", "failed"),
    "valued": ("with a value",),
    "bounded": ("refused", "failed", "with a value"),
}


class Sandbox:
    """Runs cases one after the other, each in a process of its own."""

    def __init__(self, requests: IO[bytes], answers: IO[bytes]) -> None:
        self._requests = requests
        self._answers = answers

    def run(self, case: Case) -> dict[str, Any]:
        """Run a case; how it ended."""
        # lone surrogates stay what they are in JSON's own escapes
        self._requests.write(json.dumps(case._asdict() | {"files": dict(case.files)}).encode() + b"\n")
        self._requests.flush()
        answer = self._answers.readline()
        assert answer, "the process that runs the cases has ended"
        result: dict[str, Any] = json.loads(answer)
        return result


@contextmanager
def sandbox(*flags: str) -> Iterator[Sandbox]:
    """Start the process, with these flags of Python's; it ends with the block."""
    process = subprocess.Popen(
        [sys.executable, *flags, "-m", "tests.starlark.cases.server"],
        cwd=_ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield Sandbox(process.stdin, process.stdout)
        finally:
            process.kill()


def faults(case: Case, result: dict[str, Any]) -> list[str]:
    """What is wrong with how a case ended; nothing if all is well."""
    text: str = result.get("text", "")
    found = []
    if result["ended"] not in _ENDINGS[case.ending]:
        found.append(f"it ended {result['ended']} {result.get('kind', '')} {text[:300]}".rstrip())
    if result["ended"] == "with a value" and result["value"] != case.value:
        found.append(f"its value is {str(result['value'])[:200]}")
    if result.get("mb", 0) > case.mb:
        found.append(f"it used {result['mb']:.0f} MB")
    if result.get("length", 0) > _LONGEST_TEXT:
        found.append(f"its error has {result['length']} characters")
    if "internal error" in text or "failed in the engine" in text:
        found.append(f"it is a bug of the engine's: {text[:300]}")
    if shown := sorted(set(_OF_THE_HOST.findall(text))):
        found.append(f"its error shows {shown}")
    if result["said"]:
        found.append(f"it wrote to standard error: {result['said'][:200]}")
    return found
