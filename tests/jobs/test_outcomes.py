"""What a FetchFunc's return and raise come to, and that the value of a panic is to be found nowhere."""

from __future__ import annotations

import asyncio
import binascii
import concurrent.futures
import json
import queue
import sqlite3
import struct
import subprocess
import zipfile
import zlib
from pathlib import Path
from typing import Any

import msgspec
import pytest
from typing_extensions import override

from plait.context import Cancelled, DeadlineExceeded
from plait.jobs import Caller, Result, RetryLater, Runner, Store, TargetError
from plait.jobs.outcomes import INTERNAL_ERROR, Busy, Done, Failed, of_error, of_value
from tests.jobs.conftest import StartRunner
from tests.jobs.observed import Observed
from tests.jobs.sites import MARK, Site, targets

ALICE = Caller("alice")


class OwnError(Exception):
    """A class of the caller's own."""


class OwnKeyError(KeyError):
    """A class of the caller's own under one of Python's bug classes."""


class OwnRecursionError(RecursionError):
    """A class of the caller's own under one that is a bug whoever raises it."""


class OwnStop(BaseException):
    """No ``Exception`` at all."""


class Unspeakable(OwnError):
    """An error whose text cannot be had."""

    @override
    def __str__(self) -> str:
        raise RuntimeError("no text")


ERRORS: list[Exception] = [
    TargetError("x"),
    OSError("x"),
    FileNotFoundError("x"),
    ConnectionResetError("x"),
    TimeoutError("x"),
    ValueError("x"),
    UnicodeDecodeError("utf-8", b"\xff", 0, 1, "x"),
    json.JSONDecodeError("x", "doc", 0),
    RuntimeError("x"),
    OwnError("x"),
    Exception("x"),
    Cancelled("x"),
    DeadlineExceeded("x"),
    msgspec.ValidationError("x"),
    msgspec.DecodeError("x"),
    sqlite3.OperationalError("x"),
    subprocess.CalledProcessError(1, "x"),
    zlib.error("x"),
    struct.error("x"),
    binascii.Error("x"),
    zipfile.BadZipFile("x"),
    concurrent.futures.BrokenExecutor("x"),
    ExceptionGroup("x", [OSError("y"), OwnError("z")]),
]

PANICS: list[BaseException] = [
    TypeError("x"),
    AttributeError("x"),
    KeyError("x"),
    IndexError("x"),
    LookupError("x"),
    NameError("x"),
    UnboundLocalError("x"),
    ZeroDivisionError("x"),
    OverflowError("x"),
    FloatingPointError("x"),
    ArithmeticError("x"),
    AssertionError("x"),
    MemoryError("x"),
    RecursionError("x"),
    NotImplementedError("x"),
    ImportError("x"),
    ModuleNotFoundError("x"),
    SyntaxError("x"),
    IndentationError("x"),
    SystemError("x"),
    BufferError("x"),
    EOFError("x"),
    ReferenceError("x"),
    StopIteration("x"),
    StopAsyncIteration("x"),
    UserWarning("x"),
    DeprecationWarning("x"),
    OwnRecursionError("x"),
    SystemExit("x"),
    KeyboardInterrupt("x"),
    GeneratorExit("x"),
    asyncio.CancelledError("x"),
    OwnStop("x"),
    ExceptionGroup("x", [OSError("y"), KeyError("z")]),
    ExceptionGroup("x", [ExceptionGroup("y", [TypeError("z")])]),
    BaseExceptionGroup("x", [SystemExit("y")]),
]


def kind(error: BaseException) -> str:
    return type(error).__qualname__


@pytest.mark.parametrize("error", ERRORS, ids=kind)
def test_an_error_that_was_meant_is_stored_with_its_text(error: Exception) -> None:
    outcome = of_error(error)
    assert isinstance(outcome, Failed)
    assert (outcome.error, outcome.hint, outcome.bug) == (str(error), "", "")
    assert outcome.cause is error


@pytest.mark.parametrize("error", PANICS, ids=kind)
def test_a_bug_is_stored_as_an_internal_error_with_type_and_place_for_the_log(error: BaseException) -> None:
    try:
        raise error
    except BaseException as raised:  # noqa: BLE001 - every kind is tried
        outcome = of_error(raised)
    assert isinstance(outcome, Failed)
    assert (outcome.error, outcome.hint) == (INTERNAL_ERROR, "")
    assert outcome.bug.startswith(f"{kind(error)} at test_outcomes.py:")
    assert outcome.bug.endswith("in test_a_bug_is_stored_as_an_internal_error_with_type_and_place_for_the_log")
    assert isinstance(outcome.cause, TargetError)
    assert (str(outcome.cause), outcome.cause.__cause__, outcome.cause.__context__) == (INTERNAL_ERROR, None, None)


def test_a_class_of_the_callers_own_under_a_bug_class_is_an_error() -> None:
    outcome = of_error(OwnKeyError("x"))
    assert isinstance(outcome, Failed)
    assert (outcome.error, outcome.bug) == ("'x'", "")


def test_a_queues_own_exceptions_are_errors_named_by_their_type_when_they_have_no_text() -> None:
    outcome = of_error(queue.Empty())
    assert isinstance(outcome, Failed)
    assert (outcome.error, outcome.bug) == ("Empty", "")


@pytest.mark.parametrize(
    ("error", "text", "hint"),
    [
        (OSError(), "OSError", ""),
        (TargetError(""), "", ""),
        (TargetError("m", "h", 404), "m", "h"),
        (TargetError("a\0b \ud800", "c\0 \udfff"), "a\ufffdb \ufffd", "c\ufffd \ufffd"),
        (ValueError("a\0b \ud800"), "a\ufffdb \ufffd", ""),
        (TargetError(7, None), "7", "None"),  # type: ignore[arg-type]  # a FetchFunc without types may
    ],
    ids=["no text", "empty", "hint", "what no store can hold", "nor here", "no texts"],
)
def test_texts_are_made_fit_for_every_store(error: Exception, text: str, hint: str) -> None:
    outcome = of_error(error)
    assert isinstance(outcome, Failed)
    assert (outcome.error, outcome.hint) == (text, hint)
    assert outcome.nbytes == len(text.encode()) + len(hint.encode())


def test_an_error_whose_text_cannot_be_had_is_a_bug() -> None:
    outcome = of_error(Unspeakable())
    assert isinstance(outcome, Failed)
    assert (outcome.error, outcome.bug) == (INTERNAL_ERROR, "RuntimeError in the text of Unspeakable")


def test_a_busy_target_whose_error_has_no_text_to_be_had_is_still_busy() -> None:
    error = Unspeakable()
    error.__cause__ = RetryLater()
    outcome = of_error(error)
    assert isinstance(outcome, Busy)
    assert outcome.failure.error == INTERNAL_ERROR


def test_no_exit_counts_as_busy_whatever_its_cause() -> None:
    error = SystemExit(1)
    error.__cause__ = RetryLater()
    assert isinstance(of_error(error), Failed)


@pytest.mark.parametrize(
    ("after", "seconds"),
    [(None, 0), (5, 5), (2.5, 2.5), (0, 0), (-1, 0), (float("nan"), 0), (float("inf"), 0), ("9", 0), ([9], 0)],
)
def test_a_wish_to_wait_is_taken_if_it_is_a_time(after: Any, seconds: float) -> None:
    outcome = of_error(RetryLater("busy", after))
    assert isinstance(outcome, Busy)
    assert outcome.after == seconds
    assert outcome.failure.error == "busy"


@pytest.mark.parametrize(
    ("result", "encoded"),
    [
        (Result(""), '{"content":""}'),
        (Result("x"), '{"content":"x"}'),
        (Result("x", {}), '{"content":"x"}'),
        (
            Result("ü\0", {"a": [1, 2.5, None, True, {"b": "c"}]}),
            '{"content":"ü\\u0000","meta":{"a":[1,2.5,null,true,{"b":"c"}]}}',
        ),
        (Result("\ud800", {"\udfff": ["\ud801"]}), '{"content":"\ufffd","meta":{"\ufffd":["\ufffd"]}}'),
    ],
)
def test_a_result_is_stored_as_json(result: Result, encoded: str) -> None:
    assert of_value(result) == Done(encoded.encode())
    assert Done(encoded.encode()).nbytes == len(encoded.encode())


def circle() -> dict[str, Any]:
    meta: dict[str, Any] = {}
    meta["self"] = meta
    return meta


@pytest.mark.parametrize(
    "value",
    [
        None,
        "text",
        {"content": "x"},
        Result,
        Result(b"bytes are no text"),  # type: ignore[arg-type]  # a FetchFunc without types may
        Result(None),  # type: ignore[arg-type]  # a FetchFunc without types may
        Result("x", {"an": object()}),
        Result("x", {1: 2, (3, 4): 5}),  # type: ignore[dict-item]  # a FetchFunc without types may
        Result("x", ["no dict"]),  # type: ignore[arg-type]  # a FetchFunc without types may
        Result("x", circle()),
    ],
    ids=["None", "text", "dict", "class", "bytes", "no content", "object", "keys", "list", "circle"],
)
def test_what_json_cannot_give_back_as_a_result_is_a_bug(value: object) -> None:
    outcome = of_value(value)
    assert isinstance(outcome, Failed)
    assert outcome.error == INTERNAL_ERROR
    assert "Result" in outcome.bug


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_number_that_json_lacks_is_stored_as_null(value: float) -> None:
    outcome = of_value(Result("x", {"n": value}))
    assert outcome == Done(b'{"content":"x","meta":{"n":null}}')


# --- through the whole runner

SECRET = "9b1deb4d-panic-value"


def all_panics(site: Site) -> int:
    """Let one target each come to every kind of panic, with the secret as its value; how many there are."""
    kinds: list[type[BaseException]] = [TypeError, KeyError, AssertionError, MemoryError, NotImplementedError, OwnStop]
    for number, panic in enumerate([*kinds, SystemExit, KeyboardInterrupt, OwnRecursionError], 1):
        site.answer(f"a{number}", panic(f"{SECRET} https://{MARK}.example/"))
    site.answer("a10", lambda *_: f"{SECRET} is no Result")
    site.answer("a11", lambda *_: Result(SECRET, {"object": object()}))
    site.answer("a12", ExceptionGroup(SECRET, [OSError(SECRET), KeyError(SECRET)]))
    return 12


def test_the_value_of_a_panic_is_in_no_byte_of_the_store_no_log_record_and_no_hook(
    *,
    file_store: Store,
    path: Path,
    start: StartRunner,
    site: Site,
    seen: Observed,
    discreet_log: pytest.LogCaptureFixture,
) -> None:
    runner: Runner = start(file_store)
    count = all_panics(site)
    made = runner.submit(ALICE, "fleet", targets("a", count))
    seen.wait_ended()
    status = runner.status(made.id)
    assert status is not None
    assert [each.error for each in status.targets] == [INTERNAL_ERROR] * count
    runner.close()
    file_store.close()
    stored = b"".join(file.read_bytes() for file in path.parent.iterdir())
    assert INTERNAL_ERROR.encode() in stored
    assert SECRET.encode() not in stored
    messages = [record.getMessage() for record in discreet_log.records]
    assert len(messages) == count
    assert all(message.startswith(f"job {made.id} target ") for message in messages)
    assert [message for message in messages if SECRET in message] == []
    assert [str(error) for error in seen.of("target")] == [INTERNAL_ERROR] * count


def test_a_panic_is_logged_with_its_job_its_target_its_type_and_its_place(
    store: Store, start: StartRunner, site: Site, seen: Observed, discreet_log: pytest.LogCaptureFixture
) -> None:
    runner = start(store)

    def divide(*_: object) -> Result:
        return Result(str(1 // 0))

    site.answer("a2", divide)
    made = runner.submit(ALICE, "fleet", targets("a", 2))
    seen.wait_ended()
    (record,) = discreet_log.records
    assert record.levelname == "ERROR"
    place = divide.__code__.co_firstlineno + 1
    assert record.getMessage() == (
        f"job {made.id} target 1: internal error: ZeroDivisionError at test_outcomes.py:{place} in divide"
    )


def test_the_text_of_an_error_goes_to_the_store_and_into_no_log_record(
    store: Store, start: StartRunner, site: Site, seen: Observed, discreet_log: pytest.LogCaptureFixture
) -> None:
    runner = start(store)
    site.answer("a1", OSError(f"cannot reach https://{MARK}.example/"))
    site.answer("a2", TargetError(f"no such host: {MARK}.example", f"try {MARK}.test"))
    made = runner.submit(ALICE, "fleet", targets("a", 2))
    seen.wait_ended()
    status = runner.status(made.id)
    assert status is not None
    assert [each.error for each in status.targets] == [
        f"cannot reach https://{MARK}.example/",
        f"no such host: {MARK}.example",
    ]
    assert discreet_log.records == []


class Evil(Exception):
    """Raises when it is looked at."""

    @property
    @override
    def __cause__(self) -> BaseException | None:  # type: ignore[override]  # this is the point of it
        raise KeyboardInterrupt("secret")


class ExitsAsText(Exception):
    @override
    def __str__(self) -> str:
        raise SystemExit("secret")


class NoModule(Exception):
    __module__: Any = None


class BusyWithoutInit(RetryLater):
    def __init__(self) -> None:
        Exception.__init__(self, "later")


def _deep_group() -> BaseException:
    group: Exception = ValueError("innermost")
    for _ in range(3000):
        group = ExceptionGroup("group", [group])
    return group


@pytest.mark.parametrize("error", [Evil(), ExitsAsText(), _deep_group()], ids=lambda error: type(error).__name__)
def test_an_exception_that_misbehaves_when_it_is_looked_at_is_a_bug(error: BaseException) -> None:
    outcome = of_error(error)
    assert isinstance(outcome, Failed)
    assert (outcome.error, "secret" in outcome.bug) == ("internal error", False)


@pytest.mark.parametrize("error", [BusyWithoutInit(), RetryLater("x", 10**400), RetryLater("x", -1)])
def test_a_busy_target_without_a_sensible_wish_is_busy_all_the_same(error: BaseException) -> None:
    outcome = of_error(error)
    assert isinstance(outcome, Busy)
    assert outcome.after == 0


def test_a_class_that_is_from_nowhere_is_judged_all_the_same() -> None:
    assert isinstance(of_error(NoModule("x")), Failed)


def test_the_name_of_a_type_cannot_carry_a_url_into_the_log() -> None:
    error = type("https://secret.example/?key", (BaseException,), {})("x")
    outcome = of_error(error)
    assert isinstance(outcome, Failed)
    assert "/" not in outcome.bug
