"""Silence: what other libraries log while they work for Plait holds URLs and hosts, so it is dropped."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from typing_extensions import override

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["silence", "silenced"]

_working: ContextVar[bool] = ContextVar("plait_working", default=False)


class _Silencer(logging.Filter):
    """Drops the records of Plait's own calls; a program that uses the same library itself keeps its log."""

    @override
    def filter(self, record: logging.LogRecord) -> bool:
        return not _working.get()


_silencer = _Silencer()


def silence(*names: str) -> None:
    """Let the named loggers, and those below them that exist by now, say nothing within ``silenced``.

    Args:
        names: Names of loggers.
    """
    known = [name for name in logging.root.manager.loggerDict if name.startswith(tuple(f"{top}." for top in names))]
    for name in (*names, *known):
        logging.getLogger(name).addFilter(_silencer)


@contextmanager
def silenced() -> Iterator[None]:
    """Drop what silent loggers are given by this thread within the block (no log line ever holds a URL)."""
    token = _working.set(True)
    try:
        yield
    finally:
        _working.reset(token)
