"""What ``check_submission`` takes and refuses, and what its refusals say."""

from __future__ import annotations

from collections import UserList, deque
from enum import StrEnum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plait.jobs.errors import InvalidTarget, SubmitError
from plait.jobs.model import CLASS_FLEET, CLASS_RESTRICTED, Caller, Options, Target
from plait.jobs.validation import MAX_NAME_BYTES, MAX_TEXT_BYTES, check_submission

SECRET = "5ec2e7" * 10
ALICE = Caller("alice", "workspace", SECRET)
FINE = Target("https://a.example/")
OPTION_TEXTS = ("mode", "question", "pages", "grep", "jq")


class Mode(StrEnum):
    MARKDOWN = "markdown"


class MyTarget(Target, frozen=True):
    priority: int = 0


class MyOptions(Options, frozen=True):
    depth: int = 0


def no_repr(_value: object) -> str:
    raise RuntimeError("no repr")


Unprintable = type("Unprintable", (), {"__repr__": no_repr})


def refusal(caller: Any = ALICE, caller_class: Any = CLASS_FLEET, targets: Any = (FINE,)) -> str:
    with pytest.raises(InvalidTarget) as refused:
        check_submission(caller, caller_class, targets)
    message = str(refused.value)
    assert "\n" not in message
    assert ";" in message, "a refusal says what to do"
    return message


@pytest.mark.parametrize(
    "targets",
    [
        [],
        [FINE],
        (FINE, FINE),
        UserList([FINE]),
        deque([FINE]),
        [Target("ext://package/function"), Target(" "), Target("\x01\x7f\ufffd😀")],
        [
            Target("x", Options("text", "why?", "1-3", "a|b", ".a", context, recover))
            for context in (None, True, False)
            for recover in (True, False)
        ],
        [Target("a" * MAX_TEXT_BYTES, Options(grep="é" * (MAX_TEXT_BYTES // 2)))],
        [FINE] * 1000,
    ],
)
def test_good_targets_are_taken(targets: Any) -> None:
    check_submission(ALICE, CLASS_RESTRICTED, targets)


@pytest.mark.parametrize(
    ("targets", "got"),
    [
        ("https://a.example/", "got str"),
        (b"https://a.example/", "got bytes"),
        ({"url": "https://a.example/"}, "got dict"),
        ({FINE}, "got set"),
        ((target for target in [FINE]), "got generator"),
        (iter([FINE]), "got list_iterator"),
        (range(3), "got range"),
        (None, "got None"),
        (1, "got int"),
        (FINE, "got one Target; pass it in a list"),
    ],
)
def test_what_is_no_list_of_targets_is_refused(targets: Any, got: str) -> None:
    message = refusal(targets=targets)
    assert message.startswith("targets must be a list of Target")
    assert got in message


@pytest.mark.parametrize(
    ("target", "says"),
    [
        ("https://a.example/", "must be a Target itself, got str 'https://a.example/'"),
        ({"url": "x"}, "must be a Target itself, got dict;"),
        (None, "must be a Target itself, got None"),
        (Target, "must be a Target itself, got StructMeta"),
        (MyTarget("x"), "must be a Target itself, got MyTarget"),
        (ALICE, "must be a Target itself, got Caller;"),
        (Unprintable(), "must be a Target itself, got Unprintable"),
        (Target(""), "url is empty"),
        (Target(None), "url must be a plain str, got None"),  # type: ignore[arg-type]  # the wrong type is the test
        (Target(b"x"), "url must be a plain str, got bytes b'x'"),  # type: ignore[arg-type]  # the wrong type is the test
        (Target(Mode.MARKDOWN), "url must be a plain str, got Mode"),
        (Target("a\0b"), "url holds a NUL at character 1"),
        (Target("é\0"), "url holds a NUL at character 1"),
        (Target("ab\udc80"), "url holds a lone surrogate at character 2"),
        (Target("a" * (MAX_TEXT_BYTES + 1)), "url has 65537 bytes in UTF-8, more than 65536"),
        (Target("é" * (MAX_TEXT_BYTES // 2) + "a"), "url has 65537 bytes in UTF-8, more than 65536"),
        (Target("x", None), "options must be an Options itself, got None"),  # type: ignore[arg-type]  # the wrong type is the test
        (Target("x", {"mode": "text"}), "options must be an Options itself, got dict"),  # type: ignore[arg-type]  # the wrong type is the test
        (Target("x", MyOptions()), "options must be an Options itself, got MyOptions"),
    ],
)
def test_a_bad_target_is_refused_with_its_number_and_the_remedy(target: Any, says: str) -> None:
    assert refusal(targets=[FINE, target, FINE]).startswith(f"target 2: {says}")
    assert refusal(targets=[target]).startswith(f"target 1: {says}")


@pytest.mark.parametrize("name", OPTION_TEXTS)
@pytest.mark.parametrize(
    ("value", "says"),
    [
        (1, "must be a plain str, got int 1"),
        (True, "must be a plain str, got bool True"),
        (1.5, "must be a plain str, got float 1.5"),
        (None, "must be a plain str, got None"),
        (["x"], "must be a plain str, got list;"),
        (Mode.MARKDOWN, "must be a plain str, got Mode;"),
        ("\0", "holds a NUL at character 0"),
        ("\ud800", "holds a lone surrogate at character 0"),
        ("a" * (MAX_TEXT_BYTES + 1), "has 65537 bytes in UTF-8"),
    ],
)
def test_a_bad_option_text_is_refused_by_its_name(name: str, value: Any, says: str) -> None:
    target = Target("x", Options(**{name: value}))
    assert refusal(targets=[FINE, FINE, target]).startswith(f"target 3: options.{name} {says}")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"context": "yes"}, "options.context must be True, False or None, got str 'yes'"),
        ({"context": 1}, "options.context must be True, False or None, got int 1"),
        ({"context": 0}, "options.context must be True, False or None, got int 0"),
        ({"recover": 1}, "options.recover must be True or False, got int 1"),
        ({"recover": None}, "options.recover must be True or False, got None"),
        ({"recover": ""}, "options.recover must be True or False, got str ''"),
    ],
)
def test_a_flag_that_is_no_bool_is_refused(options: dict[str, Any], says: str) -> None:
    assert refusal(targets=[Target("x", Options(**options))]).startswith(f"target 1: {says}")


@pytest.mark.parametrize("caller", [None, "alice", {"name": "alice"}, Caller, FINE])
def test_what_is_no_caller_is_refused(caller: Any) -> None:
    assert refusal(caller=caller).startswith("caller must be a Caller, got ")


@pytest.mark.parametrize("name", ["name", "workspace", "key_sha256"])
@pytest.mark.parametrize(
    ("value", "says"),
    [
        (7, "must be a plain str, got int;"),
        (SECRET.encode(), "must be a plain str, got bytes;"),
        ("a\0", "holds a NUL at character 1"),
        ("\udfff", "holds a lone surrogate at character 0"),
        ("a" * (MAX_TEXT_BYTES + 1), "has 65537 bytes in UTF-8"),
    ],
)
def test_a_bad_text_of_the_caller_is_refused(name: str, value: Any, says: str) -> None:
    fields: dict[str, Any] = {"name": "alice", name: value}
    assert refusal(caller=Caller(**fields)).startswith(f"caller.{name} {says}")


def test_a_callers_name_is_a_name_and_no_text() -> None:
    check_submission(Caller("a" * MAX_NAME_BYTES), "fleet", [FINE])
    says = "caller.name has 1025 bytes in UTF-8, more than 1024"
    assert refusal(caller=Caller("a" * (MAX_NAME_BYTES + 1))).startswith(says)


def test_a_caller_without_a_name_is_refused() -> None:
    assert refusal(caller=Caller("")).startswith("caller.name is empty")


@pytest.mark.parametrize(
    ("caller_class", "says"),
    [("", "is empty"), (None, "must be a plain str, got None"), (7, "must be"), ("a\0", "holds a NUL")],
)
def test_a_bad_caller_class_is_refused(caller_class: Any, says: str) -> None:
    assert refusal(caller_class=caller_class).startswith(f"caller_class {says}")


@pytest.mark.parametrize(
    "wrong",
    [
        {"caller": SECRET},
        {"caller": SECRET.encode()},
        {"caller": {"key_sha256": SECRET}},
        {"caller": Caller("alice", key_sha256=SECRET.encode())},  # type: ignore[arg-type]  # the wrong type is the test
        {"caller": Caller("alice", key_sha256=SECRET + "\0")},
        {"caller": Caller(SECRET.encode())},  # type: ignore[arg-type]  # the wrong type is the test
        {"caller_class": SECRET.encode()},
        {"targets": ALICE},
        {"targets": SECRET},
        {"targets": [ALICE]},
        {"targets": [FINE], "caller_class": ALICE},
    ],
)
def test_a_refusal_never_shows_a_key(wrong: dict[str, Any]) -> None:
    assert SECRET[:6] not in refusal(**wrong)


@pytest.mark.parametrize("value", ["x" * 10_000_000, b"\xff" * 1000, "\n" * 1000, 10**5000, -(2**64)], ids=range(5))
def test_a_shown_value_is_cut_short(value: Any) -> None:
    assert len(refusal(targets=[value])) < 160


def test_a_refusal_is_a_submit_error_and_a_value_error() -> None:
    assert issubclass(InvalidTarget, SubmitError)
    assert issubclass(InvalidTarget, ValueError)


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1))
def test_any_text_that_a_store_can_hold_is_taken(text: str) -> None:
    check_submission(Caller(text, text, text), text, [Target(text, Options(text, text, text, text, text))])


@given(
    st.text(),
    st.sampled_from(["\0", "\ud800", "\udbff", "\udc00", "\udfff"]),
    st.text(),
    st.sampled_from(["url", *OPTION_TEXTS]),
)
def test_text_that_no_store_can_hold_is_refused_wherever_it_stands(
    before: str, bad: str, after: str, field: str
) -> None:
    text = before + bad + after
    fields: dict[str, Any] = {field: text}
    target = Target(text) if field == "url" else Target("x", Options(**fields))
    assert "no store can hold" in refusal(targets=[target])
