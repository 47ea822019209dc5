"""Calendars: days and seconds of any year, before and after those that the standard library knows, and time zones."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from plait.starlark.errors import EvalError

__all__ = ["UTC_ZONE", "Civil", "Zone", "civil", "days_in", "fixed_zone", "load_zone", "seconds_of"]

_DAY: Final = 86_400
_CYCLE_YEARS: Final = 400
_CYCLE_DAYS: Final = 146_097
"""Days of 400 years, after which the calendar begins again."""

_EPOCH_ORDINAL: Final = date(1970, 1, 1).toordinal()
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST_SECOND: Final = int((datetime(2, 1, 1, tzinfo=UTC) - _EPOCH).total_seconds())
_LAST_SECOND: Final = int((datetime(9998, 1, 1, tzinfo=UTC) - _EPOCH).total_seconds())

_ZONE_NAME: Final = re.compile(r"[A-Za-z0-9_+-]{1,64}(?:/[A-Za-z0-9_+-]{1,64}){0,4}")
_NEARBY: Final = tuple(sign * days * _DAY for days in range(0, 380, 20) for sign in (1, -1))


class Civil(NamedTuple):
    """A date and a time of day.

    Attributes:
        year: Any whole number; the year before 1 is 0.
        month: 1 to 12.
        day: 1 to 31.
        hour: 0 to 23.
        minute: 0 to 59.
        second: 0 to 59.
        weekday: 0 to 6, from Monday.
        yearday: 1 to 366.
    """

    year: int
    month: int
    day: int
    hour: int
    minute: int
    second: int
    weekday: int
    yearday: int


def civil(seconds: int) -> Civil:
    """Return the date and time of day that so many seconds after the start of 1970 are."""
    days, rest = divmod(seconds, _DAY)
    cycles, ordinal = divmod(days + _EPOCH_ORDINAL - 1, _CYCLE_DAYS)
    day = date.fromordinal(ordinal + 1)
    yearday = day.toordinal() - date(day.year, 1, 1).toordinal() + 1
    hour, rest = divmod(rest, 3_600)
    year = day.year + cycles * _CYCLE_YEARS
    return Civil(year, day.month, day.day, hour, rest // 60, rest % 60, day.weekday(), yearday)


def seconds_of(year: int, month: int, day: int, hour: int = 0, minute: int = 0, second: int = 0) -> int:  # noqa: PLR0917 - the order of a date
    """Return the seconds from the start of 1970 to a date and time of day.

    Each value may be out of its range; what is too much or too little goes to the larger unit.
    """
    year += (month - 1) // 12
    cycles, within = divmod(year - 1, _CYCLE_YEARS)
    first = date(within + 1, (month - 1) % 12 + 1, 1).toordinal() + cycles * _CYCLE_DAYS
    days = first - _EPOCH_ORDINAL + day - 1
    return ((days * 24 + hour) * 60 + minute) * 60 + second


def days_in(month: int, year: int) -> int:
    """Return how many days a month of 1 to 12 has."""
    start = seconds_of(year, month, 1)
    return (seconds_of(year, month + 1, 1) - start) // _DAY


class Zone:
    """A time zone.

    Args:
        rules: Its rules, or how many seconds it always is ahead of UTC.
        abbreviation: What it is called when it has no rules; empty for nothing but the digits.
    """

    __slots__ = ("_abbreviation", "_rules")

    def __init__(self, rules: ZoneInfo | int, abbreviation: str = "") -> None:
        self._rules: Final = rules
        self._abbreviation: Final = abbreviation

    def at(self, seconds: int) -> tuple[str, int]:
        """Return what the zone is called at a moment, and how many seconds it is ahead of UTC then.

        Args:
            seconds: The moment, in seconds from the start of 1970 in UTC.
        """
        if isinstance(self._rules, int):
            return self._abbreviation, self._rules
        if seconds > _LAST_SECOND:
            # The calendar, and with it the zone's rules, repeats itself.
            seconds -= -(-(seconds - _LAST_SECOND) // (_CYCLE_DAYS * _DAY)) * _CYCLE_DAYS * _DAY
        moment = (_EPOCH + timedelta(seconds=max(seconds, _FIRST_SECOND))).astimezone(self._rules)
        ahead = moment.utcoffset() or timedelta()
        return moment.tzname() or "", ahead.days * _DAY + ahead.seconds

    def utc(self, seconds: int) -> int:
        """Return the seconds in UTC at which clocks in this zone show so many seconds from the start of 1970.

        Where clocks are put forward or back, they show some times never or twice; then one of the possible two.
        """
        return seconds - self.at(seconds - self.at(seconds)[1])[1]

    def ahead_as(self, abbreviation: str, seconds: int) -> int | None:
        """Return how far the zone is ahead of UTC when it is called so, near a time that its clocks show.

        Args:
            abbreviation: What it is called: ``CEST``.
            seconds: What the clocks show, in seconds from the start of 1970.

        Returns:
            Seconds, or ``None`` when it is never called so within a year.
        """
        found: int | None = None
        for nearby in _NEARBY:
            name, ahead = self.at(seconds + nearby)
            if name == abbreviation:
                if self.at(seconds - ahead) == (name, ahead):
                    return ahead
                found = ahead if found is None else found
        return found


UTC_ZONE: Final = Zone(0, "UTC")


def fixed_zone(ahead: int, abbreviation: str = "") -> Zone:
    """Return a zone that always is so many seconds ahead of UTC."""
    return Zone(ahead, abbreviation)


def load_zone(name: str) -> Zone:
    """Return the time zone of a name.

    Args:
        name: A name of the IANA time zone database, such as ``Europe/Berlin``. ``UTC`` and the empty name are UTC,
            and so is ``Local``, that a script has one result on every machine.

    Returns:
        The zone.

    Raises:
        EvalError: There is none of this name.
    """
    if name in {"", "UTC", "Local"}:
        return UTC_ZONE
    if ".." in name or name[0] in "/\\":
        raise EvalError("time: invalid location name")
    if _ZONE_NAME.fullmatch(name):
        try:
            return Zone(ZoneInfo(name))
        except (LookupError, ValueError, OSError):
            pass
    raise EvalError(f"unknown time zone {name}")
