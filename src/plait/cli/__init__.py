"""The ``plait`` command; this is its entry point, which needs nothing but Python to say what is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING as _TYPE_CHECKING

from plait.cli.errors import Refused as _Refused
from plait.cli.errors import end_on_signals as _end_on_signals
from plait.cli.errors import guarded as _guarded

if _TYPE_CHECKING:
    from collections.abc import Sequence as _Sequence

__all__ = ["main"]

_NEEDED = ("click", "rich")


def main(arguments: _Sequence[str] | None = None) -> int:
    """Run the ``plait`` command.

    Args:
        arguments: What stands behind ``plait``. By default the program's own arguments: then the process is the
            command's, and SIGINT and SIGTERM end it from now on.

    Returns:
        The exit code; ``plait.cli.errors`` lists them.
    """
    if arguments is None:
        _end_on_signals()
    return _guarded(lambda: _run(arguments))


def _run(arguments: _Sequence[str] | None) -> int | None:
    from importlib.util import find_spec  # noqa: PLC0415 - a signal while it is loaded is heard by now

    missing = next((name for name in _NEEDED if find_spec(name) is None), None)
    if missing is not None:
        raise _Refused(f"this command needs {missing!r}, which is not installed: pip install 'plait[cli]'")
    from plait.cli.app import run  # noqa: PLC0415 - it needs what was only now found to be there

    return run(arguments)
