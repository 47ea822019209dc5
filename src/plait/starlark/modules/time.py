"""The module time: moments, durations and time zones."""

from __future__ import annotations

from time import time_ns
from typing import TYPE_CHECKING, Any, Final

from plait.starlark.errors import EvalError
from plait.starlark.modules.calendars import load_zone, seconds_of
from plait.starlark.modules.durations import (
    HOUR,
    MICROSECOND,
    MILLISECOND,
    MINUTE,
    SECOND,
    Duration,
    parse_duration,
)
from plait.starlark.modules.layouts import RFC3339
from plait.starlark.modules.moments import Time, moment_of
from plait.starlark.modules.parameters import int64, string
from plait.starlark.modules.time_parsing import parsed
from plait.starlark.native import native
from plait.starlark.values import FALSE, TRUE, Module, type_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from plait.starlark.thread import Thread

__all__ = ["set_clock", "time"]

_CLOCK: Final = "time.now"
"""The key of the thread's clock among its locals."""


def set_clock(thread: Thread, clock: Callable[[], int] | None) -> None:
    """Say what ``time.now()`` returns to the scripts that run on a thread.

    Args:
        thread: The thread.
        clock: Returns the nanoseconds since the start of 1970 in UTC, and may raise ``EvalError``; ``None`` for the
            machine's own clock.
    """
    if clock is None:
        thread.locals.pop(_CLOCK, None)
    else:
        thread.locals[_CLOCK] = clock


@native("now", positional=True)
def _now(thread: Thread, /) -> Time:
    clock = thread.locals.get(_CLOCK, time_ns)
    return Time(int(clock()))


@native("from_timestamp", "sec", "nsec?", positional=True)
def _from_timestamp(thread: Thread, sec: Any, nsec: Any = 0, /) -> Time:
    return Time(int64("from_timestamp", 1, sec) * SECOND + int64("from_timestamp", 2, nsec))


@native("is_valid_timezone", "loc", positional=True)
def _is_valid_timezone(thread: Thread, loc: Any, /) -> Any:
    name = string("is_valid_timezone", 1, loc)
    thread.charge(10)
    try:
        load_zone(name)
    except EvalError:
        return FALSE
    return TRUE


@native("parse_duration", "d", positional=True)
def _parse_duration(thread: Thread, d: Any, /) -> Duration:
    if type(d) is Duration:
        return d
    if type(d) is not str:
        problem = f"got {type_name(d)}, want a duration, string, or int"
        raise EvalError(f"parse_duration: for parameter 1: {problem}")
    thread.charge(len(d) // 4 + 1)
    try:
        return parse_duration(d)
    except EvalError as error:
        raise EvalError(f"parse_duration: for parameter 1: {error.message}") from None


@native("parse_time", "x", "format?", "location?")
def _parse_time(thread: Thread, x: Any, format: Any = RFC3339, location: Any = "UTC") -> Time:  # noqa: A002 - its name
    text, layout = string("parse_time", "x", x), string("parse_time", "format", format)
    name = string("parse_time", "location", location)
    thread.charge(10)
    zone = load_zone(name)
    return moment_of(parsed(thread, layout, text), zone, zone)


@native("time", "year?", "month?", "day?", "hour?", "minute?", "second?", "nanosecond?", "location?")
def _time(
    thread: Thread,
    /,
    *args: Any,
    year: Any = 0,
    month: Any = 0,
    day: Any = 0,
    hour: Any = 0,
    minute: Any = 0,
    second: Any = 0,
    nanosecond: Any = 0,
    location: Any = "",
) -> Time:
    if args:
        raise EvalError("time: unexpected positional arguments")
    given = {"year": year, "month": month, "day": day, "hour": hour, "minute": minute, "second": second}
    shown = seconds_of(*(int64("time", name, value) for name, value in given.items()))
    nanoseconds = int64("time", "nanosecond", nanosecond)
    thread.charge(10)
    zone = load_zone(string("time", "location", location))
    carried, nanoseconds = divmod(nanoseconds, SECOND)
    return Time(zone.utc(shown + carried) * SECOND + nanoseconds, zone)


time: Final = Module(
    "time",
    {
        "from_timestamp": _from_timestamp,
        "is_valid_timezone": _is_valid_timezone,
        "now": _now,
        "parse_duration": _parse_duration,
        "parse_time": _parse_time,
        "time": _time,
        "nanosecond": Duration(1),
        "microsecond": Duration(MICROSECOND),
        "millisecond": Duration(MILLISECOND),
        "second": Duration(SECOND),
        "minute": Duration(MINUTE),
        "hour": Duration(HOUR),
    },
)
"""What a script calls ``time``."""
