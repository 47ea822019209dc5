"""Moments, durations, layouts and time zones of the module time; the expected texts are those of a Go program."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plait.starlark.errors import EvalError, StepLimitExceeded
from plait.starlark.modules.calendars import civil, seconds_of
from plait.starlark.modules.durations import Duration
from plait.starlark.modules.moments import Time
from plait.starlark.modules.time import set_clock, time
from plait.starlark.thread import Thread
from plait.starlark.values import FALSE, NAN, TRUE, BoundMethod


def call(name: str, *args: Any, **kwargs: Any) -> Any:
    return time[name](Thread(), *args, **kwargs)


def method(value: Time, name: str, *args: Any) -> Any:
    bound = value.attribute(name)
    assert type(bound) is BoundMethod
    return bound(Thread(), *args)


def duration(text: str) -> Duration:
    made = call("parse_duration", text)
    assert type(made) is Duration
    return made


def moment(text: str) -> Time:
    made = call("parse_time", text)
    assert type(made) is Time
    return made


def message(function: Callable[..., Any], *args: Any, **kwargs: Any) -> str:
    with pytest.raises(EvalError) as caught:
        function(*args, **kwargs)
    return caught.value.message


def has_zone(name: str) -> bool:
    return call("is_valid_timezone", name) is TRUE


zones = pytest.mark.skipif(not has_zone("America/New_York"), reason="this machine has no time zone database")


# Durations.


@pytest.mark.parametrize(
    ("text", "nanoseconds", "shown"),
    [
        ("0", 0, "0s"),
        ("1ns", 1, "1ns"),
        ("1100ns", 1_100, "1.1µs"),
        ("2us", 2_000, "2µs"),
        ("2μs", 2_000, "2µs"),
        ("2.2ms", 2_200_000, "2.2ms"),
        ("-3.3s", -3_300_000_000, "-3.3s"),
        ("+4m5.001s", 245_001_000_000, "4m5.001s"),
        ("1h15m30.918273645s", 4_530_918_273_645, "1h15m30.918273645s"),
        (".5h", 1_800_000_000_000, "30m0s"),
        ("1.s", 1_000_000_000, "1s"),
        ("-9223372036854775808ns", -(2**63), "-2562047h47m16.854775808s"),
    ],
)
def test_a_duration_is_read_and_shown(text: str, nanoseconds: int, shown: str) -> None:
    assert duration(text).nanoseconds == nanoseconds
    assert duration(text).text() == shown
    assert duration(shown) == duration(text)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", 'time: invalid duration ""'),
        ("-", 'time: invalid duration "-"'),
        ("3", 'time: missing unit in duration "3"'),
        ("3x", 'time: unknown unit "x" in duration "3x"'),
        (".s", 'time: invalid duration ".s"'),
        ("s", 'time: invalid duration "s"'),
        ("1h é", r'time: unknown unit "h \xc3\xa9" in duration "1h \xc3\xa9"'),
        ("9223372036854775808ns", 'time: invalid duration "9223372036854775808ns"'),
        ("99999999999999999999h", 'time: invalid duration "99999999999999999999h"'),
        ("3000000h", 'time: invalid duration "3000000h"'),
    ],
)
def test_what_is_no_duration_is_an_error(text: str, problem: str) -> None:
    assert message(duration, text) == f"parse_duration: for parameter 1: {problem}"


def test_a_duration_is_read_from_a_duration_and_from_nothing_else() -> None:
    assert call("parse_duration", time["hour"]) is time["hour"]
    assert (
        message(call, "parse_duration", 1)
        == "parse_duration: for parameter 1: got int, want a duration, string, or int"
    )


def test_a_duration_has_its_length_in_each_unit() -> None:
    value = duration("-1h30m0.0000015s")
    names = ["hours", "microseconds", "milliseconds", "minutes", "nanoseconds", "seconds"]
    assert sorted(value.attribute_names()) == names
    assert [value.attribute(name) for name in names] == [
        -1.5000000004166667, -5_400_000_001, -5_400_000, -90.000000025, -5_400_000_001_500, -5400.0000015,
    ]  # fmt: skip
    with pytest.raises(LookupError):
        value.attribute("days")


def test_durations_are_calculated_with() -> None:
    hour, second = time["hour"], time["second"]
    assert hour + second == duration("1h0m1s")
    assert second - hour == duration("-59m59s")
    assert hour * 3 == 3 * hour == duration("3h")
    assert hour / 7 == Duration(514_285_714_285)
    assert second / -3 == Duration(-333_333_333)
    assert hour / 2.5 == duration("24m")
    assert hour / duration("16m") == 3.75
    assert hour // duration("16m") == 3
    assert -1 * hour // duration("16m") == -3
    assert hour / NAN == Duration(-(2**63))
    assert Duration(2**63 - 1) + Duration(1) == Duration(-(2**63))


def test_durations_are_compared_and_may_be_keys() -> None:
    hour, minute = time["hour"], time["minute"]
    assert minute < hour <= minute * 60 >= hour > minute != hour
    assert {hour: 1}[minute * 60] == 1
    assert [bool(hour), bool(hour - hour)] == [True, False]
    assert hour != 3_600_000_000_000


@pytest.mark.parametrize("divisor", [0, 0.0, Duration(0)])
def test_a_duration_is_not_divided_by_zero(divisor: Any) -> None:
    assert message(operator.truediv, time["hour"], divisor) == "time.duration division by zero"


def test_what_has_no_meaning_for_durations_is_refused() -> None:
    assert message(operator.floordiv, time["hour"], Duration(0)) == "time.duration division by zero"
    assert message(operator.truediv, 20, time["hour"]) == "unsupported operation"
    assert message(operator.mul, time["hour"], 2**63) == "int value out of range (want signed 64-bit value)"
    for operation, other in ((operator.add, 1), (operator.mul, 1.5), (operator.sub, Time(0))):
        with pytest.raises(TypeError):
            operation(time["hour"], other)


# Moments.


def test_a_moment_has_parts() -> None:
    value = moment("2009-06-12T12:06:10.000000099Z")
    names = ["year", "month", "day", "hour", "minute", "second", "nanosecond", "unix", "unix_nano"]
    assert sorted(value.attribute_names()) == sorted([*names, "format", "in_location"])
    assert [value.attribute(name) for name in names] == [2009, 6, 12, 12, 6, 10, 99, 1244808370, 1244808370000000099]
    with pytest.raises(LookupError):
        value.attribute("weekday")


def test_moments_are_calculated_with() -> None:
    value, later = moment("2011-04-22T13:33:48Z"), moment("2011-04-22T23:33:48Z")
    ten = duration("10h")
    assert value + ten == ten + value == later
    assert later - ten == value
    assert later - value == ten
    assert value - moment("1500-01-01T00:00:00Z") == Duration(2**63 - 1)
    assert value < later >= value != later > value <= value + duration("0")
    assert {value: 1}[later - ten] == 1
    assert [bool(value), bool(moment("0001-01-01T00:00:00Z"))] == [True, False]
    for operation, other in ((operator.add, value), (operator.add, 1), (operator.lt, 1)):
        with pytest.raises(TypeError):
            operation(value, other)


def test_a_moment_is_made_of_parts_that_may_be_out_of_range() -> None:
    assert call("time", year=2012, month=12, day=31).text() == "2012-12-31 00:00:00 +0000 UTC"
    assert call("time", year=2021, month=14, day=-3, hour=-1, nanosecond=-1).text() == (
        "2022-01-27 22:59:59.999999999 +0000 UTC"
    )
    assert call("time").text() == "-0001-11-30 00:00:00 +0000 UTC"
    assert call("time", year=123456, month=2, day=29).text() == "123456-02-29 00:00:00 +0000 UTC"
    assert message(call, "time", 2009) == "time: unexpected positional arguments"
    assert message(call, "time", year="2009") == "time: for parameter year: got string, want int"
    assert message(call, "time", year=2**63) == (
        "time: for parameter year: 9223372036854775808 out of range (want value in signed 64-bit range)"
    )


def test_a_moment_is_made_of_a_timestamp() -> None:
    assert call("from_timestamp", 1593193116, 123456789).text() == "2020-06-26 17:38:36.123456789 +0000 UTC"
    assert call("from_timestamp", -1, -1).attribute("unix_nano") == -1_000_000_001
    assert call("from_timestamp", 2**62).attribute("unix") == 2**62
    assert message(call, "from_timestamp", 1.5) == "from_timestamp: for parameter 1: got float, want int"


def test_now_is_what_the_threads_clock_says() -> None:
    thread = Thread()
    set_clock(thread, lambda: 1_000_000_001)
    assert time["now"](thread) == Time(1_000_000_001)
    set_clock(thread, None)
    assert time["now"](thread) > moment("2021-03-20T00:00:00Z")


@given(st.integers(-(10**15), 10**15))
def test_every_second_has_one_date(seconds: int) -> None:
    shown = civil(seconds)
    assert seconds_of(*shown[:6]) == seconds
    assert call("time", year=shown.year, day=shown.yearday, month=1).civil()[:3] == shown[:3]


# Layouts.


@pytest.mark.parametrize(
    ("layout", "text"),
    [
        ("Mon Jan _2 15:04:05 2006", "Fri Jul  4 15:07:08 2008"),
        ("Monday, 02-Jan-06 03:04PM pm", "Friday, 04-Jul-08 03:07PM pm"),
        ("January 2 1 3 4 5 002 __2", "July 4 7 3 7 8 186 186"),
        ("Janus Months .000 ,9999 .9", "Janus Months .050 ,05 "),
        ("_2006 15h4", "_2008 15h7"),
        ("Z0700 Z07:00 -0700 -07:00:00 -07 -070000 MST", "Z Z +0000 +00:00:00 +00 +000000 UTC"),
        ("é", "é"),
        ("", ""),
    ],
)
def test_a_moment_is_shown_as_a_layout_says(layout: str, text: str) -> None:
    assert method(moment("2008-07-04T15:07:08.05Z"), "format", layout) == text


@pytest.mark.parametrize(
    ("text", "layout", "shown"),
    [
        ("2020-06-26T17:38:36+05:30", "2006-01-02T15:04:05Z07:00", "2020-06-26 17:38:36 +0530 +0530"),
        ("2020-06-26T17:38:36.5Z", "2006-01-02T15:04:05Z07:00", "2020-06-26 17:38:36.5 +0000 UTC"),
        ("fri jul  4 15:07:08 2008", "Mon Jan _2 15:04:05 2006", "2008-07-04 15:07:08 +0000 UTC"),
        ("12:30 AM", "3:04 PM", "0000-01-01 00:30:00 +0000 UTC"),
        ("69 08", "06 02", "1969-01-08 00:00:00 +0000 UTC"),
        ("2024 060", "2006 002", "2024-02-29 00:00:00 +0000 UTC"),
        ("1 Jan 06 10:00 CEST", "2 Jan 06 15:04 MST", "2006-01-01 10:00:00 +0000 CEST"),
        ("10:00 GMT-3", "15:04 MST", "0000-01-01 07:00:00 -0300 GMT-3"),
        ("05.123", "05.000", "0000-01-01 00:00:05.123 +0000 UTC"),
        ("5,1234567891234", "5", "0000-01-01 00:00:05.123456789 +0000 UTC"),
    ],
)
def test_a_text_is_read_as_a_layout_says(text: str, layout: str, shown: str) -> None:
    assert call("parse_time", text, format=layout).text() == shown


@pytest.mark.parametrize(
    ("text", "layout", "problem"),
    [
        ("2021", "2006-01", ' as "2006-01": cannot parse "" as "-"'),
        ("x021", "2006", ' as "2006": cannot parse "x021" as "2006"'),
        ("2021-13", "2006-01", ": month out of range"),
        ("2021-02-29", "2006-01-02", ": day out of range"),
        ("25:00", "15:04", ": hour out of range"),
        ("10:60", "15:04", ": minute out of range"),
        ("2021 366", "2006 002", ": day-of-year out of range"),
        ("2021-01 040", "2006-01 002", ": day-of-year does not match month"),
        ("2021 x", "2006", ': extra text: " x"'),
        ("+25:00", "Z07:00", ": time zone offset hour out of range"),
        ("AN", "PM", ' as "PM": cannot parse "AN" as "PM"'),
        ("Foo", "Jan", ' as "Jan": cannot parse "Foo" as "Jan"'),
        ("5.x", ".0", ' as ".0": cannot parse "5.x" as ".0"'),
        ("abc", "MST", ' as "MST": cannot parse "abc" as "MST"'),
    ],
)
def test_a_text_that_a_layout_does_not_fit_is_an_error(text: str, layout: str, problem: str) -> None:
    assert message(call, "parse_time", text, format=layout) == f'parsing time "{text}"{problem}'


def test_layouts_are_charged_before_they_are_read() -> None:
    thread = Thread(max_steps=1_000)
    with pytest.raises(StepLimitExceeded):
        time["parse_time"](thread, "x", format="2" * 10_000)
    with pytest.raises(StepLimitExceeded):
        Time(0).attribute("format")(Thread(max_steps=1_000), "2" * 10_000)


# Time zones.


def test_utc_is_known_without_a_database() -> None:
    assert [has_zone(name) for name in ("UTC", "", "Local")] == [True, True, True]
    assert method(Time(0), "in_location", "UTC").text() == "1970-01-01 00:00:00 +0000 UTC"


@pytest.mark.parametrize("name", ["UKN", "Europe", "../etc/passwd", "/etc/passwd", "a\x00b", "é", "x" * 5_000, "a.b"])
def test_other_names_are_no_time_zones(name: str) -> None:
    assert call("is_valid_timezone", name) is FALSE
    problem = "time: invalid location name" if ".." in name or name[0] == "/" else f"unknown time zone {name}"
    assert message(call, "parse_time", "x", location=name) == problem


@zones
def test_a_moment_is_shown_in_a_time_zone() -> None:
    value = moment("2000-01-02T03:04:05Z")
    there = method(value, "in_location", "America/New_York")
    assert there == value
    assert there.text() == "2000-01-01 22:04:05 -0500 EST"
    assert [there.attribute(name) for name in ("day", "hour")] == [1, 22]
    assert method(there + duration("4800h"), "format", "3PM Z07:00 MST") == "11PM -04:00 EDT"
    assert method(Time(-(10**20)), "in_location", "America/New_York").text() == "-1199-02-15 09:17:18 -0456 LMT"
    assert method(Time(10**21 * 9), "in_location", "America/New_York").attribute("year") > 280_000


@zones
def test_a_moment_is_made_in_a_time_zone() -> None:
    made = call("time", year=2009, month=6, day=12, hour=12, minute=6, second=10, location="America/New_York")
    assert made.attribute("unix") == 1244822770
    # Clocks that were put forward at two never showed half past two.
    assert call("time", year=2021, month=3, day=14, hour=2, minute=30, location="America/New_York").text() == (
        "2021-03-14 01:30:00 -0500 EST"
    )


@zones
def test_a_text_is_read_in_a_time_zone() -> None:
    where = "Europe/Berlin"
    layout = "2006-01-02 15:04 MST"
    assert call("parse_time", "2021-07-01 10:00 CEST", layout, where).text() == "2021-07-01 10:00:00 +0200 CEST"
    assert call("parse_time", "2021-07-01 10:00 CET", layout, where).text() == "2021-07-01 11:00:00 +0200 CEST"
    assert call("parse_time", "2021-07-01 10:00 EST", layout, where).text() == "2021-07-01 10:00:00 +0000 EST"
    assert call("parse_time", "2021-07-01T10:00:00+02:00", location=where).text() == "2021-07-01 10:00:00 +0200 CEST"
    assert call("parse_time", "2021-07-01", "2006-01-02", where).text() == "2021-07-01 00:00:00 +0200 CEST"
