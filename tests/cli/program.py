"""The ``plait`` command as tests run it: within this process, or as a program with signals and pipes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final, NamedTuple

from click.testing import CliRunner

from plait.cli import main

__all__ = ["PLAIT", "Ended", "Program", "lines_of", "run_here", "started"]

PLAIT: Final = Path(sys.executable).parent / "plait"
_SECONDS: Final = 60


def lines_of(out: str | bytes) -> list[dict[str, Any]]:
    """The results that were printed, each from a line of its own."""
    return [json.loads(line) for line in out.splitlines()]


class Ended(NamedTuple):
    """How a command came to its end."""

    code: int
    out: str
    err: str

    @property
    def results(self) -> list[dict[str, Any]]:
        return lines_of(self.out)


def run_here(*arguments: str | Path, stdin: bytes = b"") -> Ended:
    """Run ``plait`` in this process."""
    with CliRunner().isolation(input=stdin) as streams:
        code = main([str(argument) for argument in arguments])
        sys.stderr.flush()
    return Ended(code, streams[0].getvalue().decode(), streams[1].getvalue().decode())


class Program:
    """``plait`` as a program of its own."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.stdout: IO[bytes] = _there(process.stdout)
        self.stderr: IO[bytes] = _there(process.stderr)

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def wait_for_line(self, part: str) -> None:
        """Read standard error up to a line that holds ``part``."""
        for line in self.stderr:
            if part in line.decode():
                return
        raise AssertionError(f"it ended without saying {part!r}")

    def end(self) -> Ended:
        """Wait for its end; the output is what was not read before."""
        out, err = self.process.communicate(timeout=_SECONDS)
        return Ended(self.process.returncode, out.decode(), err.decode())


@contextmanager
def started(*arguments: str | Path, environment: Mapping[str, str] | None = None) -> Iterator[Program]:
    """Start ``plait``; it is killed when the block ends before it does."""
    process = subprocess.Popen(
        [PLAIT, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, **(environment or {})},
    )
    with process:
        try:
            yield Program(process)
        finally:
            process.kill()


def _there(stream: IO[bytes] | None) -> IO[bytes]:
    assert stream is not None
    return stream
