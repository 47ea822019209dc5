"""Moments: the values of type time.time, in whole nanoseconds, each with the time zone in which it is shown."""

# `typing.override` is newer than Python 3.11, and typing_extensions is not in the standard library.
# mypy: disable-error-code="explicit-override"

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

from plait.starlark.modules.calendars import UTC_ZONE, Civil, Zone, civil, fixed_zone, load_zone, seconds_of
from plait.starlark.modules.durations import SECOND, Duration, wrapped
from plait.starlark.modules.layouts import formatted
from plait.starlark.modules.parameters import INT64_MAX, INT64_MIN, string
from plait.starlark.native import native
from plait.starlark.thread import Thread
from plait.starlark.values import BoundMethod, HostValue

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from plait.starlark.modules.time_parsing import Reading

__all__ = ["Time", "moment_of"]

_TEXT: Final = "2006-01-02 15:04:05.999999999 -0700 MST"
_ZERO: Final = seconds_of(1, 1, 1) * SECOND


class Time(HostValue):
    """A moment: a value of type ``time.time``.

    Args:
        nanoseconds: When, counted from the start of 1970 in UTC.
        zone: Where its parts and its text are those of the clocks.
    """

    __slots__ = ("nanoseconds", "zone")

    type_name: ClassVar[str] = "time.time"

    def __init__(self, nanoseconds: int, zone: Zone = UTC_ZONE) -> None:
        self.nanoseconds: Final = nanoseconds
        self.zone: Final = zone

    def text(self) -> str:
        """Return date, time of day and zone: ``2011-04-22 13:33:48 +0000 UTC``."""
        return self.formatted(Thread(max_steps=None), _TEXT)

    def formatted(self, thread: Thread, layout: str) -> str:
        """Return it as a layout shows it."""
        zone = self.zone.at(self.nanoseconds // SECOND)
        return formatted(thread, layout, self.civil(), self.nanoseconds % SECOND, zone)

    def civil(self) -> Civil:
        """Return its date and time of day in its zone."""
        seconds = self.nanoseconds // SECOND
        return civil(seconds + self.zone.at(seconds)[1])

    def attribute(self, name: str) -> Any:
        """Return a part of the date or time of day, the whole as a Unix time, or a method."""
        method = _METHODS.get(name)
        return BoundMethod(name, self, method) if method else _ATTRIBUTES[name](self)

    def attribute_names(self) -> Iterable[str]:
        """Return the names of its parts and methods."""
        return (*_METHODS, *_ATTRIBUTES)

    def __bool__(self) -> bool:
        return self.nanoseconds != _ZERO

    def __hash__(self) -> int:
        return hash(self.nanoseconds)

    def __eq__(self, other: object) -> bool:
        return self.nanoseconds == other.nanoseconds if isinstance(other, Time) else NotImplemented

    def __lt__(self, other: object) -> bool:
        return self.nanoseconds < other.nanoseconds if isinstance(other, Time) else NotImplemented

    def __le__(self, other: object) -> bool:
        return self.nanoseconds <= other.nanoseconds if isinstance(other, Time) else NotImplemented

    def __gt__(self, other: object) -> bool:
        return self.nanoseconds > other.nanoseconds if isinstance(other, Time) else NotImplemented

    def __ge__(self, other: object) -> bool:
        return self.nanoseconds >= other.nanoseconds if isinstance(other, Time) else NotImplemented

    def __add__(self, other: object) -> Any:
        return Time(self.nanoseconds + other.nanoseconds, self.zone) if isinstance(other, Duration) else NotImplemented

    def __radd__(self, other: object) -> Any:
        return self + other

    def __sub__(self, other: object) -> Any:
        if isinstance(other, Duration):
            return Time(self.nanoseconds - other.nanoseconds, self.zone)
        if isinstance(other, Time):
            return Duration(min(max(self.nanoseconds - other.nanoseconds, INT64_MIN), INT64_MAX))
        return NotImplemented


def moment_of(reading: Reading, zone: Zone, local: Zone) -> Time:
    """Return the moment that a text said.

    Args:
        reading: What the text said.
        zone: Where it is meant when the text does not say where.
        local: Where an offset or an abbreviation in the text is looked for first.

    Returns:
        The moment, in the zone of the text if it says one.
    """
    shown = seconds_of(*reading[:6])
    if reading.utc:
        seconds, zone = shown, UTC_ZONE
    elif reading.ahead is not None:
        seconds = shown - reading.ahead
        name, ahead = local.at(seconds)
        same = ahead == reading.ahead and reading.zone in {"", name}
        zone = local if same else fixed_zone(reading.ahead, reading.zone)
    elif reading.zone:
        seconds, zone = _abbreviated(reading.zone, shown, local)
    else:
        seconds = zone.utc(shown)
    return Time(seconds * SECOND + reading.nanosecond, zone)


def _abbreviated(name: str, shown: int, local: Zone) -> tuple[int, Zone]:
    """Return the seconds and the zone of a time whose zone has this abbreviation; an unknown one is taken for UTC."""
    ahead = local.ahead_as(name, shown)
    if ahead is not None:
        return shown - ahead, local
    return shown, fixed_zone(int(name[3:]) * 3_600 if name.startswith("GMT") and name != "GMT" else 0, name)


@native("format", "x", positional=True)
def _format(thread: Thread, receiver: Time, x: Any, /) -> str:
    return receiver.formatted(thread, string("format", 1, x))


@native("in_location", "x", positional=True)
def _in_location(thread: Thread, receiver: Time, x: Any, /) -> Time:
    thread.charge(10)
    return Time(receiver.nanoseconds, load_zone(string("in_location", 1, x)))


_METHODS: Final[dict[str, Callable[..., Any]]] = {"format": _format, "in_location": _in_location}

_ATTRIBUTES: Final[dict[str, Callable[[Time], int]]] = {
    "year": lambda time: time.civil().year,
    "month": lambda time: time.civil().month,
    "day": lambda time: time.civil().day,
    "hour": lambda time: time.civil().hour,
    "minute": lambda time: time.civil().minute,
    "second": lambda time: time.civil().second,
    "nanosecond": lambda time: time.nanoseconds % SECOND,
    "unix": lambda time: wrapped(time.nanoseconds // SECOND),
    "unix_nano": lambda time: wrapped(time.nanoseconds),
}
