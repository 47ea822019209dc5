"""Layouts: how a time is written, shown by how the moment Mon Jan 2 15:04:05 2006 -0700 is."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from plait.starlark.modules.calendars import Civil

if TYPE_CHECKING:
    from collections.abc import Callable

    from plait.starlark.thread import Thread

__all__ = ["DAYS", "MONTHS", "RFC3339", "TOKEN", "formatted"]

RFC3339: Final = "2006-01-02T15:04:05Z07:00"

MONTHS: Final = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

TOKEN: Final = re.compile(
    r"January|Jan(?![a-z])|Monday|Mon(?![a-z])|MST|0[1-6]|002|15?|2006|2|_2(?!006)|__2|[345]|PM|pm"
    r"|[-Z]07(?:00(?:00)?|:00(?::00)?)?|[.,](?:0++|9++)(?![0-9])"
)
"""What stands for a part of a time; all other text stands for itself."""


def formatted(thread: Thread, layout: str, moment: Civil, nanosecond: int, zone: tuple[str, int]) -> str:
    """Return a moment as a layout shows it.

    Args:
        thread: Charged for each part and for the layout's length.
        layout: How to write it.
        moment: Date and time of day in the zone.
        nanosecond: 0 to 999,999,999.
        zone: What the zone is called, and how many seconds it is ahead of UTC.

    Returns:
        The text.
    """
    thread.charge(len(layout) // 8 + 1)
    parts: list[str] = []
    at = 0
    for match in TOKEN.finditer(layout):
        thread.charge(1)
        parts += (layout[at : match.start()], _part(match[0], moment, nanosecond, zone))
        at = match.end()
    parts.append(layout[at:])
    return "".join(parts)


def _part(token: str, moment: Civil, nanosecond: int, zone: tuple[str, int]) -> str:
    write = _PARTS.get(token)
    if write is not None:
        return write(moment)
    if token == "MST":  # noqa: S105 - a layout's part, not a password
        return zone[0] or _offset("-0700", zone[1])
    if token[0] in ".,":
        return _fraction(token, nanosecond)
    return _offset(token, zone[1])


def _year(year: int) -> str:
    return f"{year:04d}" if year >= 0 else f"-{-year:04d}"


def _hour12(hour: int) -> int:
    return hour % 12 or 12


def _fraction(token: str, nanosecond: int) -> str:
    digits = f"{nanosecond:09d}"[: len(token) - 1]
    if token[1] == "9":
        digits = digits.rstrip("0")
    return f"{token[0]}{digits}" if digits else ""


def _offset(token: str, ahead: int) -> str:
    if token[0] == "Z" and ahead == 0:
        return "Z"
    size = abs(ahead)
    parts = [f"{size // 3_600:02d}", f"{size // 60 % 60:02d}", f"{size % 60:02d}"]
    colon = ":" if ":" in token else ""
    count = (len(token.replace(":", "")) - 1) // 2
    # A zone less than a minute behind has no minutes to put a minus before.
    return f"{'-' if ahead <= -60 else '+'}{colon.join(parts[:count])}"


_PARTS: Final[dict[str, Callable[[Civil], str]]] = {
    "January": lambda t: MONTHS[t.month - 1],
    "Jan": lambda t: MONTHS[t.month - 1][:3],
    "1": lambda t: str(t.month),
    "01": lambda t: f"{t.month:02d}",
    "Monday": lambda t: DAYS[t.weekday],
    "Mon": lambda t: DAYS[t.weekday][:3],
    "2": lambda t: str(t.day),
    "_2": lambda t: f"{t.day:2d}",
    "02": lambda t: f"{t.day:02d}",
    "__2": lambda t: f"{t.yearday:3d}",
    "002": lambda t: f"{t.yearday:03d}",
    "15": lambda t: f"{t.hour:02d}",
    "3": lambda t: str(_hour12(t.hour)),
    "03": lambda t: f"{_hour12(t.hour):02d}",
    "4": lambda t: str(t.minute),
    "04": lambda t: f"{t.minute:02d}",
    "5": lambda t: str(t.second),
    "05": lambda t: f"{t.second:02d}",
    "2006": lambda t: _year(t.year),
    "06": lambda t: f"{abs(t.year) % 100:02d}",
    "PM": lambda t: "PM" if t.hour >= 12 else "AM",
    "pm": lambda t: "pm" if t.hour >= 12 else "am",
}
