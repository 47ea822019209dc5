"""Charsets: from bytes to text that any store can hold, by an allow-list of encodings."""

from __future__ import annotations

import codecs
import re
from typing import Final

__all__ = ["decode_text", "storable"]

_PREFIX: Final = 2048  # bytes in which a document declares its own charset
_MAX_LABEL: Final = 40
_META: Final = re.compile(rb"<meta[^>]{0,200}?charset\s{0,4}=[\"'\s]{0,4}([A-Za-z0-9_:.-]{1,40})", re.IGNORECASE)
_XML: Final = re.compile(rb"<\?xml[^>]{0,100}?encoding\s{0,4}=\s{0,4}[\"']([A-Za-z0-9_:.-]{1,40})")
_BOMS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_SURROGATE: Final = re.compile("[\ud800-\udfff]")

# A label of the web → Python's codec. What the web calls Latin-1 or ASCII is windows-1252, and so on, as
# browsers have it. Not here, and so read as UTF-8: utf-7 and the like, which turn harmless bytes into tags.
_CODECS: Final[dict[str, str]] = {
    "utf-8": "utf-8",
    "utf8": "utf-8",
    "utf-16": "utf-16-le",
    "utf-16le": "utf-16-le",
    "utf-16be": "utf-16-be",
    "ascii": "cp1252",
    "us-ascii": "cp1252",
    "latin1": "cp1252",
    "iso-8859-1": "cp1252",
    "iso8859-1": "cp1252",
    "iso-8859-9": "cp1254",
    "iso-8859-11": "cp874",
    "tis-620": "cp874",
    "windows-874": "cp874",
    "koi8-r": "koi8-r",
    "koi8-u": "koi8-u",
    "macintosh": "mac-roman",
    "shift_jis": "cp932",
    "shift-jis": "cp932",
    "sjis": "cp932",
    "windows-31j": "cp932",
    "euc-jp": "euc-jp",
    "euc-kr": "cp949",
    "ks_c_5601-1987": "cp949",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "gb18030": "gb18030",
    "big5": "big5hkscs",
    "big5-hkscs": "big5hkscs",
    **{f"iso-8859-{part}": f"iso8859-{part}" for part in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16)},
    **{f"windows-{page}": f"cp{page}" for page in range(1250, 1259)},
    **{f"cp{page}": f"cp{page}" for page in range(1250, 1259)},
}


def decode_text(body: bytes, declared: str | None = None) -> str:
    """Make text of a body; never fails.

    The charset is, in this order, what the header declares, a byte order mark, a declaration within the first
    2 KiB, and UTF-8. One that is not on the allow-list counts as not given. Bytes that do not fit become
    U+FFFD.

    Args:
        body: The body.
        declared: The ``charset`` of the ``Content-Type``.

    Returns:
        Text without lone surrogates and without NUL.
    """
    codec = _codec(declared) or _bom_codec(body) or _codec(_declaration(body)) or "utf-8"
    return storable(body.decode(codec, "replace").removeprefix("\ufeff"))


def storable(text: str) -> str:
    """``text`` with U+FFFD for what UTF-8 or a database cannot hold: lone surrogates and NUL."""
    return _SURROGATE.sub("\ufffd", text.replace("\x00", "\ufffd"))


def _codec(label: str | None) -> str | None:
    if label is None or len(label) > _MAX_LABEL:
        return None
    return _CODECS.get(label.strip().strip("\"'").lower())


def _bom_codec(body: bytes) -> str | None:
    return next((codec for bom, codec in _BOMS if body.startswith(bom)), None)


def _declaration(body: bytes) -> str | None:
    match = _META.search(body, 0, _PREFIX) or _XML.match(body, 0, _PREFIX)
    if match is None:
        return None
    label = match[1].decode("ascii")
    # A declaration that could be read is in an encoding of single bytes, whatever it says of UTF-16.
    return None if label.lower().startswith("utf-16") else label
