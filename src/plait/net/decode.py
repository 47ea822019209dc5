"""Content codings: gzip and deflate undone in pieces, so that no bomb outgrows its cap."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Final

from plait.net.errors import BadEncoding, TooLarge

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

__all__ = ["ACCEPT_ENCODING", "capped", "decoded"]

ACCEPT_ENCODING: Final = "gzip, deflate"
_MAX_CODINGS: Final = 2
_PIECE: Final = 64 * 1024

_HINT: Final = "the site's answer cannot be read; try another resource of the site"


def decoded(chunks: Iterable[bytes], content_encoding: str, limit: int) -> Iterator[bytes]:
    """Undo a body's content codings, last applied first.

    Args:
        chunks: The body as it came over the wire.
        content_encoding: The header's value; empty for none.
        limit: How many bytes any coding may give at most.

    Yields:
        Pieces of at most 64 KiB where a coding was undone.

    Raises:
        BadEncoding: A coding is unknown or broken, or there are more than two.
        TooLarge: More than ``limit`` bytes.
    """
    pieces = capped(chunks, limit)
    for undo in reversed(_codings(content_encoding)):
        pieces = capped(undo(pieces), limit)
    return pieces


def capped(pieces: Iterable[bytes], limit: int) -> Iterator[bytes]:
    """Pass pieces on until they come to more than ``limit`` bytes.

    Raises:
        TooLarge: They do.
    """
    total = 0
    for piece in pieces:
        total += len(piece)
        if total > limit:
            raise TooLarge(f"the body is larger than {limit} bytes", "fetch a smaller resource")
        yield piece


def _codings(content_encoding: str) -> list[Callable[[Iterable[bytes]], Iterator[bytes]]]:
    names = [name.strip().lower() for name in content_encoding.split(",")]
    names = [name for name in names if name not in {"", "identity"}]
    if len(names) > _MAX_CODINGS:
        raise BadEncoding(f"the body is encoded more than {_MAX_CODINGS} times", _HINT)
    known = {"gzip": _gunzipped, "x-gzip": _gunzipped, "deflate": _inflated}
    if not all(name in known for name in names):
        raise BadEncoding("the body has a content coding other than gzip or deflate", _HINT)
    return [known[name] for name in names]


def _gunzipped(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """One gzip member after another; anything else behind a member is an error."""
    member = zlib.decompressobj(zlib.MAX_WBITS | 16)
    started = False
    for piece in pieces:
        rest = piece
        while rest:
            if member.eof:
                member = zlib.decompressobj(zlib.MAX_WBITS | 16)
            started = True
            yield from _drained(member, rest)
            rest = member.unused_data
    if started and not member.eof:
        raise BadEncoding("the gzip body broke off", _HINT)


def _inflated(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Zlib's format, or the bare deflate stream that some servers send under the same name."""
    stream = None
    for piece in pieces:
        if not piece:
            continue
        if stream is None:
            stream = zlib.decompressobj(zlib.MAX_WBITS if piece[0] & 0x0F == zlib.DEFLATED else -zlib.MAX_WBITS)
        if stream.eof:
            raise BadEncoding("there is more behind the deflate body", _HINT)
        yield from _drained(stream, piece)
        if stream.unused_data:
            raise BadEncoding("there is more behind the deflate body", _HINT)
    if stream is not None and not stream.eof:
        raise BadEncoding("the deflate body broke off", _HINT)


def _drained(stream: zlib._Decompress, data: bytes) -> Iterator[bytes]:
    """All that ``data`` gives, a piece at a time: memory holds one piece and what is left of ``data``."""
    while data:
        try:
            piece = stream.decompress(data, _PIECE)
        except zlib.error:
            raise BadEncoding("the body is not in the content coding that its header names", _HINT) from None
        data = b"" if stream.eof else stream.unconsumed_tail
        yield piece
