"""The ``Retry-After`` header: how long a busy site wants to be left alone."""

from __future__ import annotations

import re
import time
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Final

__all__ = ["MAX_RETRY_AFTER", "retry_after"]

MAX_RETRY_AFTER: Final = 3600.0
_SECONDS: Final = re.compile(r"([+-]?)([0-9]+)", re.ASCII)
_MAX_DIGITS: Final = 9
_MAX_LENGTH: Final = 64


def retry_after(value: str | None, now: float | None = None) -> float | None:
    """Read a ``Retry-After``.

    Args:
        value: The header: seconds, or a date.
        now: The time in unix seconds; the system's by default.

    Returns:
        Seconds to wait, from 0 to 3600; ``None`` without a header that can be read.
    """
    text = (value or "").strip()
    seconds = _SECONDS.fullmatch(text)
    if seconds is not None:
        return _clamped(seconds[1], seconds[2])
    if not text or len(text) > _MAX_LENGTH:
        return None
    try:
        date = parsedate_to_datetime(text)
        moment = (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
    return min(max(moment - (time.time() if now is None else now), 0.0), MAX_RETRY_AFTER)


def _clamped(sign: str, digits: str) -> float:
    if sign == "-":
        return 0.0
    stripped = digits.lstrip("0")
    return MAX_RETRY_AFTER if len(stripped) > _MAX_DIGITS else min(float(stripped or "0"), MAX_RETRY_AFTER)
