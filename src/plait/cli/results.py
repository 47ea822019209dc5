"""Results: one JSON line for each target, on standard output or in a file."""

from __future__ import annotations

import os
import stat
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final

import msgspec
from typing_extensions import override

from plait.cli.errors import OutputLost, ReaderGone, Refused
from plait.cli.targets import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plait.jobs import TargetStatus

__all__ = ["STANDARD_OUTPUT", "Results", "results_to"]

STANDARD_OUTPUT: Final = Path("-")
"""The file that stands for standard output."""

_encode: Final = msgspec.json.Encoder().encode


class Results:
    """Where the lines go.

    Args:
        stream: Takes them.
        name: What to call it in an error.
    """

    def __init__(self, stream: BinaryIO, name: str) -> None:
        self._stream = stream
        self._name = name
        self.begun = False

    @property
    def on_terminal(self) -> bool:
        """Whether somebody sees the lines as they come."""
        return self._stream.isatty()

    def begin(self) -> None:
        """From now on there are results: nothing can be refused any more."""
        self.begun = True

    def write(self, target: TargetStatus) -> None:
        """Write a target's line, so that whoever reads it has it at once.

        Raises:
            ReaderGone: Nobody reads the lines any more.
            OutputLost: It cannot be written.
        """
        try:
            self._stream.write(_encode(target) + b"\n")
            self._stream.flush()
        except BrokenPipeError as error:
            raise ReaderGone from error
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise OutputLost(
                f"cannot write the results to {self._name}: {reason}; name another file with --out"
            ) from error


class _FileResults(Results):
    """A file, whose old content goes when the results begin."""

    @override
    def begin(self) -> None:
        super().begin()
        if stat.S_ISREG(os.fstat(self._stream.fileno()).st_mode):
            self._stream.truncate(0)


@contextmanager
def results_to(file: Path | None) -> Iterator[Results]:
    """Open where the lines go.

    A file keeps what it holds, and one that is new goes away again, unless the results begin.

    Args:
        file: The file; ``None`` or ``-`` for standard output.

    Raises:
        Refused: It cannot be written.
    """
    if file is None or file == STANDARD_OUTPUT:
        if sys.stdout is None:
            raise Refused("standard output is closed; name a file with --out")
        yield Results(sys.stdout.buffer, "standard output")
        return
    is_new = not os.path.lexists(file)
    stream = _writable(file)
    results = _FileResults(stream, shown(file))
    try:
        yield results
    finally:
        with suppress(OSError):  # every line was flushed: what is left is a line that could not be
            stream.close()
        if is_new and not results.begun:
            file.unlink(missing_ok=True)


def _writable(file: Path) -> BinaryIO:
    try:
        # neither "wb", which would empty it, nor "ab", which could not write at its start
        return os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o666), "wb")
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise Refused(f"cannot write --out {shown(file)}: {reason}; name a file that can be written") from error
