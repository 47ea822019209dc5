"""Progress: how far a run is, on standard error, as a bar on a terminal and as plain lines elsewhere."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Column
from typing_extensions import override

from plait.cli.errors import has_terminal, one_line, say

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import TracebackType

    from plait.jobs import Target

__all__ = ["Bar", "Display", "Lines", "display_for", "warn"]


class Display:
    """Shows nothing but what goes wrong; the others show more. Used from one thread."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        """Take away what is shown."""

    def note(self, text: str) -> None:
        """Show a line that stays."""

    def warn(self, text: str) -> None:
        """Show a line about something that goes wrong, however quiet this display is."""
        warn(text)

    def stored(self, done: int, error: BaseException | None) -> None:
        """Show that one more target is stored.

        Args:
            done: How many are now.
            error: Why it failed, if it did.
        """

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Within the block somebody else writes to the terminal."""
        yield


class Lines(Display):
    """Plain lines, without URLs: they end up in logs.

    Args:
        total: How many targets there are.
    """

    def __init__(self, total: int) -> None:
        self._total = total

    @override
    def note(self, text: str) -> None:
        say(text)

    @override
    def stored(self, done: int, error: BaseException | None) -> None:
        say(f"{done}/{self._total} {'done' if error is None else f'failed: {error}'}")


class Bar(Display):
    """A bar on a terminal, with the URL that is worked on.

    Args:
        targets: What is done, in this order.
        shared: Whether the results go to a terminal too: then the bar makes room for each line.
    """

    def __init__(self, targets: Sequence[Target], *, shared: bool) -> None:
        self._targets = targets
        self._shared = shared
        self._failed = 0
        self._progress = Progress(
            SpinnerColumn(),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.fields[failed]}", style="red", markup=False),
            TimeElapsedColumn(),
            TextColumn(
                "{task.fields[url]}", markup=False, table_column=Column(ratio=1, no_wrap=True, overflow="ellipsis")
            ),
            console=Console(stderr=True),
            transient=True,
            redirect_stdout=False,
            expand=True,
        )
        self._task = self._progress.add_task("", total=len(targets), failed="", url=targets[0].url)

    @override
    def __enter__(self) -> Self:
        self._progress.start()
        return self

    @override
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    @override
    def note(self, text: str) -> None:
        self._progress.console.print(f"plait: {one_line(text)}", markup=False, highlight=False, soft_wrap=True)

    @override
    def warn(self, text: str) -> None:
        self.note(f"warning: {text}")

    @override
    def stored(self, done: int, error: BaseException | None) -> None:
        self._failed += error is not None
        self._progress.update(
            self._task,
            completed=done,
            failed=f"{self._failed} failed" if self._failed else "",
            url=self._targets[done].url if done < len(self._targets) else "",
        )

    @contextmanager
    @override
    def aside(self) -> Iterator[None]:
        if not self._shared:
            yield
            return
        self._progress.stop()
        try:
            yield
        finally:
            self._progress.start()


def warn(text: str) -> None:
    """Say what goes wrong where no display is."""
    say(f"warning: {text}")


def display_for(targets: Sequence[Target], *, quiet: bool, shared: bool) -> Display:
    """What fits the standard error of this process.

    Args:
        targets: What is done.
        quiet: Whether nothing is to be shown but what goes wrong.
        shared: Whether the results go to a terminal too.
    """
    if quiet or sys.stderr is None:
        return Display()
    if has_terminal():
        return Bar(targets, shared=shared)
    return Lines(len(targets))
