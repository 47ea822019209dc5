"""Reading targets: what is accepted, and what is refused with a line that names the input and the remedy."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from plait import Options, Target
from plait.cli.errors import Refused
from plait.cli.targets import files_among, read_targets
from tests.cli.program import run_here

A = "https://a.example/"
B = "https://b.example/"


def read(*inputs: str | Path, defaults: Options | None = None, most: int = 100) -> list[Target]:
    return read_targets([str(name) for name in inputs], defaults or Options(), most)


def refusal(*inputs: str | Path, most: int = 100) -> str:
    with pytest.raises(Refused) as caught:
        read(*inputs, most=most)
    (line,) = str(caught.value).splitlines()
    return line


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "targets.txt"


def test_urls_and_files_are_read_in_the_order_given(file: Path) -> None:
    file.write_text("https://c.example/\n")
    assert [target.url for target in read(B, file, A)] == [B, "https://c.example/", A]


def test_a_scheme_may_be_written_in_capitals() -> None:
    assert read("HTTPS://a.example/") == [Target("HTTPS://a.example/")]


def test_a_file_may_mix_urls_objects_comments_and_blank_lines(file: Path) -> None:
    file.write_text(f'# two\n\n  {A}\t\n{{"url": "{B}", "options": {{"mode": "raw", "recover": true}}}}\n#end')
    assert read(file) == [Target(A), Target(B, Options(mode="raw", recover=True))]


def test_a_byte_order_mark_and_dos_line_ends_are_accepted(file: Path) -> None:
    file.write_bytes(b"\xef\xbb\xbf" + f"{A}\r\n\r\n{B}\r\n".encode())
    assert read(file) == [Target(A), Target(B)]


def test_a_separator_of_unicode_is_no_line_end(file: Path) -> None:
    file.write_text(f'{{"url": "{A}", "options": {{"question": "one\u2028two\x85"}}}}\n')
    assert read(file) == [Target(A, Options(question="one\u2028two\x85"))]


def test_defaults_apply_to_targets_without_their_own(file: Path) -> None:
    file.write_text(
        f'{{"url": "{A}", "options": {{"grep": "own"}}}}\n{{"url": "{B}", "options": {{"mode": "html"}}}}\n'
    )
    assert read(file, A, defaults=Options(mode="text", grep="loom")) == [
        Target(A, Options(mode="text", grep="own")),
        Target(B, Options(mode="html", grep="loom")),
        Target(A, Options(mode="text", grep="loom")),
    ]


def test_as_many_targets_as_allowed_are_taken_and_one_more_is_not(file: Path) -> None:
    file.write_text(f"{A}\n" * 3)
    assert len(read(file, most=3)) == 3
    assert refusal(file, most=2) == "too many targets: more than 2; split them up, or raise --max-targets"


def test_an_endless_line_is_not_read_to_its_end() -> None:
    assert refusal("/dev/zero") == "'/dev/zero', line 1 is longer than 4194304 bytes; write one target a line"


def test_only_files_are_among_the_files() -> None:
    assert files_among(["a.txt", A, "-", "ftp://x"]) == [Path("a.txt")]


@pytest.mark.parametrize(
    ("line", "fault", "remedy"),
    [
        (b"nonsense", "the URL has no scheme", "https://"),
        (b"ftp://a.example/", "neither http nor https", "only http and https"),
        (b"http:///x", "the URL has no host", "write the host"),
        (b"http://a.example/a b", "holds a blank", "percent-encode"),
        (b"http://a.example/\x00", "NUL", "remove it"),
        (b"http://user:pw@a.example/", "a password", "remove it"),
        (b"http://a.example/\xff", "is not UTF-8", "save it as UTF-8"),
        (b'{"url": ', "is not JSON: Expecting value at column 8", 'write {"url"'),
        (b'{"url": "http://a.example/"} x', "is not JSON: Extra data at column 30", 'write {"url"'),
        (b"{}", "missing required field url", 'write {"url"'),
        (b'{"url": 1}', "url: expected str, got int", "correct it"),
        (b'{"url": "http://a.example/", "url": "http://b.example/"}', "'url' stands in one object twice", "keep one"),
        (
            b'{"url": "http://a.example/", "options": {"grep": "a", "grep": "b"}}',
            "'grep' stands in one object twice",
            "keep one",
        ),
        (b'{"url": "http://a.example/", "mode": "raw"}', "unknown field 'mode'", "the fields are url and options"),
        (b'{"url": "http://a.example/", "options": {"gerp": "a"}}', "unknown option 'gerp'", "the options are mode,"),
        (b'{"url": "http://a.example/", "options": {"grep": 1}}', "options.grep: expected str, got int", "correct it"),
        (b'{"url": "http://a.example/", "options": {"context": 1}}', "options.context: expected bool", "correct it"),
        (b'{"url": "http://a.example/", "options": []}', "options: expected object, got array", "correct it"),
        (b'{"url": "http://a.example/", "options": {"grep": NaN}}', "options.grep: expected str, got float", "correct"),
        (b'{"url": "http://a.example/", "options": {"grep": "\\u0000"}}', "options.grep holds a NUL", "remove it"),
        (b'{"url": "http://a.example/", "options": {"grep": "\\ud800"}}', "a lone surrogate", "replace it"),
        (b'{"url": "http://a.example/\\ud800"}', "a lone surrogate", "replace it"),
        (b'{"\\ud800": 1}', "a name holds a lone surrogate", "the fields are url and options"),
        (b'{"url": "http://a.example/", "options": {"\\ud800": 1}}', "a name holds a lone", "the options are mode,"),
        (b'{"url": "ftp://a.example/"}', "neither http nor https", "only http and https"),
        (b'{"url": ""}', "url is empty", "pass"),
        (b'{"url": ' + b"[" * 100_000, "is nested too deep", 'write {"url"'),
        (b'{"url": ' + b"1" * 5_000 + b"}", "a number that is far too long", 'write {"url"'),
        (b'{"url": "http://a.example/", "options": {"grep": "' + b"a" * 70_000 + b'"}}', "more than 65536", "shorten"),
        (b"x" * 5_000_000, "is longer than 4194304 bytes", "one target a line"),
    ],
    ids=map(str, itertools.count()),  # some of these lines are long
)
def test_a_bad_line_is_named_with_its_fault_and_the_remedy(file: Path, line: bytes, fault: str, remedy: str) -> None:
    file.write_bytes(f"# the second line is bad\n{A}\n".encode() + line + b"\n")
    said = refusal(file)
    assert f"{file.name}', line 3" in said
    assert fault in said
    assert remedy in said


def test_utf_16_is_not_utf_8(file: Path) -> None:
    file.write_text(A, encoding="utf-16")
    assert "line 1 is not UTF-8; save it as UTF-8" in refusal(file)


def test_a_missing_file_is_named() -> None:
    assert refusal("nowhere.txt") == (
        "'nowhere.txt' is neither a URL nor a file; write https://... or correct the name"
    )


def test_a_folder_is_named(tmp_path: Path) -> None:
    assert refusal(tmp_path).endswith(f"{tmp_path.name}' is a folder; name a file of URLs in it")


def test_a_file_that_cannot_be_read_is_named(file: Path) -> None:
    file.symlink_to(file)
    assert refusal(file).startswith("cannot read '")


@pytest.mark.parametrize("url", ["ftp://a.example/", "http:///x", "http://a.example/a b", "http://[::1"])
def test_a_bad_url_is_named(url: str) -> None:
    assert repr(url) in refusal(url)


def test_a_name_is_shown_in_one_line_without_what_steers_a_terminal() -> None:
    assert refusal("a\nb\x1b[31m\udcff").startswith(r"'a\nb\x1b[31m\udcff' is neither")


def test_a_long_name_is_cut() -> None:
    assert len(refusal("http://" + "a" * 10_000)) < 300


def test_inputs_without_any_target_are_named(file: Path) -> None:
    file.write_text("# nothing yet\n\n")
    assert f"there is none in {str(file)!r}" in refusal(file)


def test_no_inputs_at_all_are_refused() -> None:
    assert refusal() == "no targets: nothing to do; name URLs, files with one URL a line, or - for standard input"


def test_standard_input_is_read_once() -> None:
    assert refusal("-", "-") == "standard input can be read only once; give one -"


def test_a_bad_line_of_standard_input_is_named() -> None:
    ended = run_here("batch", "run", "-", stdin=b"https://a.example/\n\xff")
    assert ended == (2, "", "plait: standard input, line 2 is not UTF-8; save it as UTF-8\n")
