"""The idempotency key, held against keys made by Go and against a second, plain reading of Go's rules."""

from __future__ import annotations

import hashlib
import json
from collections import UserList
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plait.jobs.idempotency import encode_targets, idem_key
from plait.jobs.model import Options, Target

GOLDEN: dict[str, Any] = json.loads(
    (Path(__file__).parent.parent / "data" / "idem_keys.json").read_text(encoding="utf-8")
)
SHORT_ESCAPES = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}

any_text = st.text(st.characters(exclude_categories=()))
awkward_text = st.text(
    st.sampled_from("aé漢😀<>&/'\"\\\b\f\n\r\t\0\x1b\x1f\x7f\u0080\u2027\u2028\u2029\u202a\ufffd\ud800\udfff")
)
texts = any_text | awkward_text
targets_lists = st.lists(
    st.builds(
        Target,
        texts,
        st.builds(
            Options,
            mode=texts,
            question=texts,
            pages=texts,
            grep=texts,
            jq=texts,
            context=st.none() | st.booleans(),
            recover=st.booleans(),
        ),
    ),
    max_size=4,
)


def go_string(text: str) -> str:
    """A string as Go writes it: one character after the other, nothing clever."""
    written = []
    for character in text:
        if character in SHORT_ESCAPES:
            written.append(SHORT_ESCAPES[character])
        elif character < " " or character in "<>&\u2028\u2029":
            written.append(f"\\u{ord(character):04x}")
        elif "\ud800" <= character <= "\udfff":
            written.append("\ufffd\ufffd\ufffd")
        else:
            written.append(character)
    return '"' + "".join(written) + '"'


def go_target(target: Target) -> str:
    options = target.options
    members = []
    for name in ("mode", "question", "pages", "grep", "jq"):
        text = getattr(options, name)
        if text != "":
            members.append(f'"{name}":{go_string(text)}')
    if options.context is not None:
        members.append('"context":true' if options.context else '"context":false')
    if options.recover:
        members.append('"recover":true')
    return f'{{"url":{go_string(target.url)},"options":{{{",".join(members)}}}}}'


def go_json(targets: list[Target]) -> bytes:
    return f"[{','.join(map(go_target, targets))}]".encode()


def from_hex(digits: str) -> str:
    return bytes.fromhex(digits).decode("utf-8", "surrogatepass")


@pytest.mark.parametrize("case", GOLDEN["cases"], ids=lambda case: case["name"])
def test_json_and_key_are_those_of_a_go_service(case: dict[str, Any]) -> None:
    targets = msgspec.convert(case["targets"], list[Target])
    assert encode_targets(targets).decode() == case["json"]
    assert idem_key(case["caller"], targets) == case["key"]


@pytest.mark.parametrize("case", GOLDEN["invalid"], ids=lambda case: case["name"])
def test_lone_surrogates_are_what_go_makes_of_their_bytes(case: dict[str, Any]) -> None:
    targets = [Target(from_hex(case["url_hex"]), Options(grep=from_hex(case["grep_hex"])))]
    assert encode_targets(targets).decode() == case["json"]
    assert idem_key(from_hex(case["caller_hex"]), targets) == case["key"]


def test_golden_data_holds_every_kind_of_case_and_says_where_it_came_from() -> None:
    assert len(GOLDEN["cases"]) == 25
    assert len(GOLDEN["invalid"]) == 4
    assert GOLDEN["source"]["go"].startswith("go1.")
    generator = Path(__file__).parent.parent / "data" / "idem_keys.go"
    assert GOLDEN["source"]["again"] in generator.read_text(encoding="utf-8")


def test_no_two_golden_cases_share_a_key() -> None:
    keys = [case["key"] for case in GOLDEN["cases"] + GOLDEN["invalid"]]
    assert len(set(keys)) == len(keys)


@given(targets_lists)
def test_targets_are_written_as_gos_rules_say(targets: list[Target]) -> None:
    assert encode_targets(targets) == go_json(targets)


@given(texts, targets_lists)
def test_key_is_the_digest_of_caller_nul_and_json(caller: str, targets: list[Target]) -> None:
    hashed = hashlib.sha256(caller.encode("utf-8", "surrogatepass") + b"\0" + go_json(targets))
    assert idem_key(caller, targets) == hashed.hexdigest()


@given(targets_lists)
def test_escapes_do_not_change_what_the_json_says(targets: list[Target]) -> None:
    utf8 = json.loads(go_json(targets))
    assert msgspec.json.decode(encode_targets(targets)) == utf8
    assert [set(target) for target in utf8] == [{"url", "options"}] * len(targets)


@given(targets_lists)
def test_any_kind_of_sequence_has_the_same_key(targets: list[Target]) -> None:
    assert idem_key("alice", tuple(targets)) == idem_key("alice", targets)
    assert idem_key("alice", UserList(targets)) == idem_key("alice", targets)


def test_every_character_of_the_basic_plane_is_written_as_gos_rules_say() -> None:
    for first in range(0, 0x10000, 0x400):
        targets = [Target("".join(map(chr, range(first, first + 0x400))))]
        assert encode_targets(targets) == go_json(targets)
