"""The extra: what to say when the libraries of ``plait[fetch]`` are not installed."""

from __future__ import annotations

__all__ = ["missing"]


def missing(error: ModuleNotFoundError) -> ImportError:
    """The error for a room whose import failed.

    Args:
        error: What the import raised.

    Returns:
        One that names the command to install the extra; ``error`` itself when a module of ours is missing.
    """
    if (error.name or "").partition(".")[0] == "plait":
        return error
    return ImportError(
        f"this part of Plait needs {error.name!r}, which is not installed: pip install 'plait[fetch]'",
        name=error.name,
    )
