"""The methods of bytes values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from plait.starlark.methods.elements import BytesElements
from plait.starlark.native import native

if TYPE_CHECKING:
    from collections.abc import Callable

    from plait.starlark.thread import Thread

__all__ = ["METHODS"]


@native("elems", positional=True)
def _elems(_thread: Thread, receiver: bytes, /) -> BytesElements:
    return BytesElements(receiver)


METHODS: Final[dict[str, Callable[..., Any]]] = {"elems": _elems}
"""The methods by their names."""
