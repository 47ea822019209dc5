"""The ``plait`` command; this is its entry point, which needs nothing but Python to say what is missing."""

from __future__ import annotations

import sys as _sys
from importlib.util import find_spec as _find_spec
from typing import TYPE_CHECKING as _TYPE_CHECKING

if _TYPE_CHECKING:
    from collections.abc import Sequence as _Sequence

__all__ = ["main"]

_NEEDED = ("click", "rich")


def main(arguments: _Sequence[str] | None = None) -> int:
    """Run the ``plait`` command.

    Args:
        arguments: What stands behind ``plait``; the program's own arguments by default.

    Returns:
        The exit code; ``plait.cli.errors`` lists them.
    """
    missing = next((name for name in _NEEDED if _find_spec(name) is None), None)
    if missing is not None:
        _sys.stderr.write(f"plait: this command needs {missing!r}, which is not installed: pip install 'plait[cli]'\n")
        return 2
    from plait.cli.app import run  # noqa: PLC0415 - it needs what was only now found to be there

    return run(arguments)
