"""Parsing times: a text, read as a layout says."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple, NoReturn

from plait.starlark.errors import EvalError
from plait.starlark.modules.calendars import days_in
from plait.starlark.modules.durations import quote
from plait.starlark.modules.layouts import DAYS, MONTHS, TOKEN

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from plait.starlark.thread import Thread

__all__ = ["Reading", "parsed"]

_SIGNED: Final = re.compile("[-+]?[0-9]*")
_ZONE: Final = re.compile(
    r"ChST|MeST|GMT(?:[-+](?:0*(?:1[0-9]|2[0-3]|[0-9]))(?![0-9]))?|[-+]0*(?:1[0-9]|2[0-3]|[0-9])(?![0-9])"
    r"|(?![A-Z]{6})(?:[A-Z]{4}T|[A-Z]{3}T(?![A-Z])|WITA(?![A-Z])|[A-Z]{3}(?![A-Z]))"
)


class Reading(NamedTuple):
    """What a text says of a moment.

    Attributes:
        year: Such as 2006; 0 when it is not said, and so are the clock's values.
        month: 1 to 12.
        day: 1 to 31.
        hour: 0 to 23.
        minute: 0 to 59.
        second: 0 to 59.
        nanosecond: 0 to 999,999,999.
        utc: Whether it says that this is UTC.
        ahead: How many seconds the clock is ahead of UTC, if it says that.
        zone: What it calls the zone; empty when it does not.
    """

    year: int
    month: int
    day: int
    hour: int
    minute: int
    second: int
    nanosecond: int
    utc: bool
    ahead: int | None
    zone: str


def parsed(thread: Thread, layout: str, text: str) -> Reading:
    """Read a text as a layout says.

    Args:
        thread: Charged for both lengths.
        layout: How the text is written.
        text: The text.

    Returns:
        What it says.

    Raises:
        EvalError: It is not written so, or there is no such date or time of day.
    """
    thread.charge((len(layout) + len(text)) // 4 + 1)
    return _Reader(thread, layout, text).reading()


class _BadError(Exception):
    """A part of the text is not what the layout shows."""


class _RangeError(Exception):
    """A part of the text is out of range; the message says which."""


class _Reader:
    """Reads one text; each method named by a part of a time reads that part."""

    def __init__(self, thread: Thread, layout: str, text: str) -> None:
        self.thread = thread
        self.layout = layout
        self.source = text
        self.at = 0
        self.year = self.hour = self.minute = self.second = self.nanosecond = 0
        self.month = self.day = self.yearday = -1
        self.afternoon: bool | None = None
        self.utc = False
        self.ahead: int | None = None
        self.zone = ""

    def reading(self) -> Reading:
        """Read all of it."""
        end = 0
        tokens = TOKEN.finditer(self.layout)
        match = next(tokens, None)
        while match is not None:
            self.thread.charge(1)
            following = next(tokens, None)
            self._skip(self.layout[end : match.start()])
            self._part(match[0], following[0] if following else "")
            end = match.end()
            match = following
        self._skip(self.layout[end:])
        if self.at < len(self.source):
            self._fail(f": extra text: {quote(self.source[self.at :])}")
        return self._checked()

    def _fail(self, why: str) -> NoReturn:
        raise EvalError(f"parsing time {quote(self.source)}{why}")

    def _mismatch(self, element: str, at: int) -> NoReturn:
        rest = quote(self.source[at:])
        self._fail(f" as {quote(self.layout)}: cannot parse {rest} as {quote(element)}")

    def _skip(self, prefix: str) -> None:
        """Read what stands for itself; a space in the layout stands for any number of spaces."""
        place = 0
        while place < len(prefix):
            char = self.source[self.at : self.at + 1]
            if prefix[place] == " ":
                if char not in {"", " "}:
                    self._mismatch(prefix, self.at)
                while prefix[place : place + 1] == " ":
                    place += 1
                while self.source[self.at : self.at + 1] == " ":
                    self.at += 1
                continue
            if char != prefix[place]:
                self._mismatch(prefix, self.at)
            place += 1
            self.at += 1

    def _part(self, token: str, following: str) -> None:
        start = self.at
        try:
            read = _READERS.get(token)
            if read is not None:
                read(self)
            elif token[0] in ".,":
                self._fraction(token)
            else:
                self._offset(token)
            if token in {"5", "05"} and following[:1] not in {".", ","}:
                self._unannounced_fraction()
        except _BadError:
            self._mismatch(token, start)
        except _RangeError as error:
            self._fail(f": {error} out of range")

    # The parts.

    def _take(self, count: int) -> str:
        taken = self.source[self.at : self.at + count]
        if len(taken) < count:
            raise _BadError
        self.at += count
        return taken

    def _number(self, most: int, *, fixed: bool) -> int:
        """Read a number of at most so many digits, or of exactly so many."""
        end = self.at
        while end < self.at + most and self.source[end : end + 1] in _DIGITS:
            end += 1
        if end == self.at or (fixed and end != self.at + most):
            raise _BadError
        digits = self.source[self.at : end]
        self.at = end
        return int(digits)

    def _name(self, names: Sequence[str], length: int | None = None) -> int:
        for place, name in enumerate(names):
            wanted = name[:length]
            if self.source[self.at : self.at + len(wanted)].lower() == wanted.lower():
                self.at += len(wanted)
                return place
        raise _BadError

    def _ranged(self, value: int, least: int, most: int, noun: str) -> int:
        if not least <= value <= most:
            raise _RangeError(noun)
        return value

    def long_month(self) -> None:
        self.month = self._name(MONTHS) + 1

    def short_month(self) -> None:
        self.month = self._name(MONTHS, 3) + 1

    def month_number(self, *, fixed: bool = False) -> None:
        self.month = self._ranged(self._number(2, fixed=fixed), 1, 12, "month")

    def long_weekday(self) -> None:
        self._name(DAYS)

    def short_weekday(self) -> None:
        self._name(DAYS, 3)

    def day_number(self, *, fixed: bool = False, spaces: int = 0) -> None:
        self._spaces(spaces)
        self.day = self._number(2, fixed=fixed)

    def day_of_year(self, *, fixed: bool = False, spaces: int = 0) -> None:
        self._spaces(spaces)
        self.yearday = self._number(3, fixed=fixed)

    def _spaces(self, most: int) -> None:
        for _ in range(most):
            if self.source[self.at : self.at + 1] == " ":
                self.at += 1

    def hour_of_day(self) -> None:
        self.hour = self._ranged(self._number(2, fixed=False), 0, 23, "hour")

    def hour_of_half(self, *, fixed: bool = False) -> None:
        self.hour = self._ranged(self._number(2, fixed=fixed), 0, 12, "hour")

    def minute_number(self, *, fixed: bool = False) -> None:
        self.minute = self._ranged(self._number(2, fixed=fixed), 0, 59, "minute")

    def second_number(self, *, fixed: bool = False) -> None:
        self.second = self._ranged(self._number(2, fixed=fixed), 0, 59, "second")

    def long_year(self) -> None:
        if self.source[self.at : self.at + 1] not in _DIGITS:
            raise _BadError
        self.year = _signed(self._take(4))

    def short_year(self) -> None:
        year = _signed(self._take(2))
        self.year = year + (1900 if year >= 69 else 2000)

    def half(self, morning: str, afternoon: str) -> None:
        taken = self._take(2)
        if taken not in {morning, afternoon}:
            raise _BadError
        self.afternoon = taken == afternoon

    def zone_name(self) -> None:
        if self.source.startswith("UTC", self.at):
            self.at += 3
            self.utc = True
            return
        match = _ZONE.match(self.source, self.at)
        if match is None:
            raise _BadError
        self.at = match.end()
        self.zone = match[0]

    def _offset(self, token: str) -> None:
        if token in {"Z0700", "Z07", "Z07:00"} and self.source.startswith("Z", self.at):
            self.at += 1
            self.utc = True
            return
        taken = self._take(len(token))
        if taken[0] not in "+-" or any((a == ":") != (b == ":") for a, b in zip(taken, token, strict=True)):
            raise _BadError
        digits = taken[1:].replace(":", "").ljust(6, "0")
        if not (digits.isascii() and digits.isdecimal()):
            raise _BadError
        hours, minutes, seconds = int(digits[:2]), int(digits[2:4]), int(digits[4:])
        self._ranged(hours, 0, 24, "time zone offset hour")
        self._ranged(minutes, 0, 60, "time zone offset minute")
        self._ranged(seconds, 0, 60, "time zone offset second")
        ahead = (hours * 60 + minutes) * 60 + seconds
        self.ahead = -ahead if taken[0] == "-" else ahead

    def _fraction(self, token: str) -> None:
        if token[1] == "0":
            self.nanosecond = _nanoseconds(self._take(len(token)))
            return
        if not self._at_fraction():
            return
        end = self.at + 1
        while end < self.at + 10 and self.source[end : end + 1] in _DIGITS:
            end += 1
        self.nanosecond = _nanoseconds(self._take(end - self.at))

    def _unannounced_fraction(self) -> None:
        """Read a fraction of a second that the layout does not show."""
        if not self._at_fraction():
            return
        start = self.at
        self.at += 1
        while self.source[self.at : self.at + 1] in _DIGITS:
            self.at += 1
        self.nanosecond = _nanoseconds(self.source[start : self.at])

    def _at_fraction(self) -> bool:
        return self.source[self.at : self.at + 1] in {".", ","} and self.source[self.at + 1 : self.at + 2] in _DIGITS

    # The whole.

    def _checked(self) -> Reading:
        if self.afternoon and self.hour < 12:
            self.hour += 12
        elif self.afternoon is False and self.hour == 12:
            self.hour = 0
        if self.yearday >= 0:
            self._apply_yearday()
        month = 1 if self.month < 0 else self.month
        day = 1 if self.day < 0 else self.day
        if not 1 <= day <= days_in(month, self.year):
            self._fail(": day out of range")
        clock = (self.hour, self.minute, self.second, self.nanosecond)
        return Reading(self.year, month, day, *clock, self.utc, self.ahead, self.zone)

    def _apply_yearday(self) -> None:
        month, day = 1, self.yearday
        while month <= 12 and day > days_in(month, self.year):
            day -= days_in(month, self.year)
            month += 1
        if month > 12 or day < 1:
            self._fail(": day-of-year out of range")
        if self.month >= 0 and self.month != month:
            self._fail(": day-of-year does not match month")
        if self.day >= 0 and self.day != day:
            self._fail(": day-of-year does not match day")
        self.month, self.day = month, day


_DIGITS: Final = frozenset("0123456789")


def _signed(text: str) -> int:
    if not _SIGNED.fullmatch(text):
        raise _BadError
    return int(text) if text[-1:] in _DIGITS else 0


def _nanoseconds(text: str) -> int:
    """Return the nanoseconds of a fraction of a second, of which nine digits count."""
    if text[0] not in ".,":
        raise _BadError
    digits = text[1:10]
    value = _signed(digits)
    if value < 0:
        raise _RangeError("fractional second")
    return int(value * 10 ** (9 - len(digits)))


_READERS: Final[dict[str, Callable[[_Reader], None]]] = {
    "January": _Reader.long_month,
    "Jan": _Reader.short_month,
    "1": _Reader.month_number,
    "01": lambda reader: reader.month_number(fixed=True),
    "Monday": _Reader.long_weekday,
    "Mon": _Reader.short_weekday,
    "2": _Reader.day_number,
    "_2": lambda reader: reader.day_number(spaces=1),
    "02": lambda reader: reader.day_number(fixed=True),
    "__2": lambda reader: reader.day_of_year(spaces=2),
    "002": lambda reader: reader.day_of_year(fixed=True),
    "15": _Reader.hour_of_day,
    "3": _Reader.hour_of_half,
    "03": lambda reader: reader.hour_of_half(fixed=True),
    "4": _Reader.minute_number,
    "04": lambda reader: reader.minute_number(fixed=True),
    "5": _Reader.second_number,
    "05": lambda reader: reader.second_number(fixed=True),
    "2006": _Reader.long_year,
    "06": _Reader.short_year,
    "PM": lambda reader: reader.half("AM", "PM"),
    "pm": lambda reader: reader.half("am", "pm"),
    "MST": _Reader.zone_name,
}
