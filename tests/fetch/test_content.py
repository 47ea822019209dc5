"""Text, pages, patterns and headers of any kind end in content that can be stored, in bounded time."""

from __future__ import annotations

import codecs

import pytest
from typing_extensions import override

from plait.context import Cancelled, Context, DeadlineExceeded
from plait.fetch.busy import retry_after
from plait.fetch.charset import decode_text
from plait.fetch.extract import extract_page, page_title, plain_text
from plait.fetch.lines import MAX_MATCH_BYTES, MAX_MATCHES, Matches, Pattern, compile_pattern, matching_lines

# Charsets


@pytest.mark.parametrize(
    ("body", "declared", "expected"),
    [
        (b"", None, ""),
        ("Schuß".encode(), None, "Schuß"),
        ("Schuß".encode(), "UTF-8", "Schuß"),
        ("Schuß".encode("latin-1"), "iso-8859-1", "Schuß"),
        ("Schuß “x”".encode("cp1252"), "ISO-8859-1", "Schuß “x”"),
        ("Schuß".encode("latin-1"), ' "Latin1" ', "Schuß"),
        ("уток".encode("koi8-r"), "koi8-r", "уток"),
        ("уток".encode("cp1251"), "windows-1251", "уток"),
        ("よこ糸".encode("shift_jis"), "Shift_JIS", "よこ糸"),
        ("纬线".encode("gb18030"), "gb2312", "纬线"),
        ("緯線".encode("big5"), "big5", "緯線"),
        ("씨실".encode("euc-kr"), "euc-kr", "씨실"),
        # a byte order mark, and its end
        (codecs.BOM_UTF8 + b"weft", None, "weft"),
        (codecs.BOM_UTF8 + b"weft", "utf-8", "weft"),
        (codecs.BOM_UTF16_LE + "weft".encode("utf-16-le"), None, "weft"),
        (codecs.BOM_UTF16_BE + "weft".encode("utf-16-be"), None, "weft"),
        (codecs.BOM_UTF16_LE + "weft".encode("utf-16-le"), "utf-16", "weft"),
        # declarations in the document
        ('<meta charset="windows-1251">уток'.encode("cp1251"), None, '<meta charset="windows-1251">уток'),
        (
            b'<META http-equiv="Content-Type" content="text/html; charset=iso-8859-1">\xdf',
            None,
            '<META http-equiv="Content-Type" content="text/html; charset=iso-8859-1">ß',
        ),
        (b'<?xml version="1.0" encoding="iso-8859-1"?>\xdf', None, '<?xml version="1.0" encoding="iso-8859-1"?>ß'),
        ('<meta charset="utf-16">Schuß'.encode(), None, '<meta charset="utf-16">Schuß'),
        # the order: header, byte order mark, declaration
        ("<meta charset=shift_jis>ß".encode(), "utf-8", "<meta charset=shift_jis>ß"),
        (codecs.BOM_UTF8 + "<meta charset=shift_jis>ß".encode(), None, "<meta charset=shift_jis>ß"),
        # what is not on the list is UTF-8 with replacements
        *[
            (b"+ADw-script+AD4- \xdf", name, "+ADw-script+AD4- \ufffd")
            for name in (
                "utf-7",
                "idna",
                "undefined",
                "base64",
                "zlib",
                "rot13",
                "utf8\0",
                "unicode_escape",
                "x" * 100_000,
            )
        ],
        (b"<meta charset=utf-7>+ADw-", None, "<meta charset=utf-7>+ADw-"),
        # nothing that a store cannot hold
        (b"a\xed\xa0\x80b", None, "a\ufffd\ufffd\ufffdb"),
        (b"a\x00b", None, "a\ufffdb"),
        (b"\x00\xd8a\x00", "utf-16le", "\ufffda"),
        (b"abc\xff", "utf-8", "abc\ufffd"),
    ],
    ids=lambda value: "body" if isinstance(value, bytes) else ascii(value)[:24],
)
def test_bytes_become_text_that_can_be_stored(body: bytes, declared: str | None, expected: str) -> None:
    text = decode_text(body, declared)
    assert text == expected
    text.encode()


# Retry-After

NOW = 1_700_000_000.0  # Tue, 14 Nov 2023 22:13:20 GMT


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        ("", None),
        ("0", 0.0),
        ("120", 120.0),
        (" 5 ", 5.0),
        ("007", 7.0),
        ("3601", 3600.0),
        ("999999999", 3600.0),
        ("9" * 5000, 3600.0),
        ("-1", 0.0),
        ("-" + "9" * 5000, 0.0),
        ("1.5", None),
        ("1e3", None),
        ("١٢", None),
        ("soon", None),
        ("nan", None),
        ("Tue, 14 Nov 2023 22:13:50 GMT", 30.0),
        ("Tuesday, 14-Nov-23 22:13:50 GMT", 30.0),
        ("Tue, 14 Nov 2023 22:13:50", 30.0),
        ("Tue, 14 Nov 2023 23:13:50 +0100", 30.0),
        ("Tue, 14 Nov 2023 22:00:00 GMT", 0.0),
        ("Thu, 01 Jan 2099 00:00:00 GMT", 3600.0),
        ("Thu, 99 Jan 2099 99:99:99 GMT", None),
        ("Thu, 01 Jan 0000 00:00:00 GMT", 0.0),
        ("Tue, 14 Nov 2023 22:13:50 +9999999999", None),
        ("Tue, 14 Nov 2023" + " " * 1000, None),
    ],
)
def test_retry_after_is_seconds_or_a_date_and_never_long(value: str | None, expected: float | None) -> None:
    assert retry_after(value, now=NOW) == expected


# Grep


def grep(pattern: str, text: str) -> Matches:
    return matching_lines(Context(), compile_pattern(pattern), text)


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        ("weft", "warp\nweft\nwarp and weft\n", "2:weft\n3:warp and weft"),
        ("(?i)WEFT", "weft", "1:weft"),
        ("^b", "ab\nb", "2:b"),
        ("b$", "ab\r\nbc\r\nb\r\n", "1:ab\n3:b"),
        ("^$", "a\n\nb\n", "2:"),
        (r"\Ab", "a\nb", "2:b"),
        (r"a\z", "a\nb", "1:a"),
        ("(?-m)^b", "a\nb", "2:b"),
        ("a.b", "a\nb", ""),
        (r"a\sb", "a\nb", ""),
        ("a[^x]b", "a\nb", ""),
        ("(?s)a.*b", "a\nb", ""),
        ("ß", "Schuß", "1:Schuß"),
        ("x", "", ""),
        ("", "", ""),
        ("", "a\nb", "1:a\n2:b"),
        ("x", "a\u2028x\x0bb", "1:a\u2028x\x0bb"),
    ],
)
def test_grep_gives_the_matching_lines_with_their_numbers(pattern: str, text: str, expected: str) -> None:
    matches = grep(pattern, text)
    assert matches.text == expected
    assert matches.count == (expected.count("\n") + 1 if expected else 0)
    assert not matches.truncated


def test_the_numbers_are_right_far_down_in_a_long_text() -> None:
    lines = ["warp" * (number % 7) for number in range(1, 50_001)]
    for number in (1, 129, 4_096, 33_333, 50_000):
        lines[number - 1] = "weft"
    assert grep("weft", "\n".join(lines)).text == "1:weft\n129:weft\n4096:weft\n33333:weft\n50000:weft"


@pytest.mark.parametrize("pattern", ["^a*$", "b", "a|^$", r"\ba\b", "[^b]", "(?i)B?"])
def test_a_search_by_blocks_finds_what_a_search_by_lines_finds(pattern: str) -> None:
    text = "\n".join(("a" * (number % 5) + "b" * (number % 3)) for number in range(900))
    compiled = compile_pattern(pattern)
    assert compiled.block is not None
    assert matching_lines(Context(), compiled, text) == matching_lines(Context(), Pattern(compiled.line, None), text)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"(a+)+$", "a" * 60_000 + "b"),
        (r"(a|a)*$", "a" * 60_000 + "b"),
        (r"(.*a){14}b", "a" * 60_000),
        (r"(a?){30}a{30}", "a" * 29),
        (r"a*a*a*a*a*b", "a" * 60_000),
        (r"^\s+x$", " " * 60_000),
    ],
)
def test_a_pattern_that_makes_others_backtrack_for_ever_is_done_at_once(pattern: str, text: str) -> None:
    grep(pattern, text)  # the test's own time limit is the assertion


def test_matches_are_capped_in_number_in_bytes_and_in_length() -> None:
    many = grep("", "\n" * 1_000_000)
    assert (many.count, many.truncated) == (MAX_MATCHES, True)
    wide = grep("x", ("x" * 3000 + "\n") * 500)
    assert (len(wide.text) <= MAX_MATCH_BYTES, wide.truncated) == (True, True)
    long = grep("x", "x" * 5000)
    assert (long.text, long.truncated) == ("1:" + "x" * 4000, True)
    assert grep("y$", "x" * 1_000_000 + "y").truncated
    assert not grep("x", "x\n" * MAX_MATCHES).truncated


def test_a_search_ends_with_its_context() -> None:
    ctx = Context()
    ctx.cancel()
    with pytest.raises(Cancelled):
        matching_lines(ctx, compile_pattern("x"), "x")
    with pytest.raises(DeadlineExceeded):
        matching_lines(Context(timeout=0), compile_pattern("x"), "x")


# Extraction

URL = "http://a.example/dir/page"
PARAGRAPH = "<p>The weft passes over one warp thread and under the next, and so on to the edge of the cloth.</p>"


def test_the_main_content_is_told_from_the_rest() -> None:
    source = (
        f"<nav>Menu</nav><article><h1>Cloth</h1>{PARAGRAPH * 5}<a href='next'>on</a></article><footer>Foot</footer>"
    )
    page = extract_page(Context(), f"<html><body>{source}</body></html>", "markdown", URL)
    assert page.main
    assert page.content.startswith("# Cloth")
    assert "Menu" not in page.content


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a<b", "a"),
        ("a < b &amp; c > d", "a < b & c > d"),
        ("<p>a</p><p>b</p>", "a\n\nb"),
        ("a<br>b<i>c</i>d", "a\nbcd"),
        ("<script>if (a<b) x('</p>')</script>a<style>p{}</style >b<!-- <p>c</p> -->d", "abd"),
        ("<script>a<p>b", "a\nb"),
        ("<script>a</SCRIPT x='" + "y" * 500 + "'>b</script", "b"),
        ("a\n \u2003\n\x1c\n b", "a\n\nb"),
        ("&#" + "9" * 5000 + "; &lt;", "&#" + "9" * 5000 + "; &lt;"),
        ("<head><title>t</title></head>a", "a"),
        ("a<!-- b", "a"),
        ("<ul><li>a<li>b</ul>", "a\nb"),
        ("a &#0; b", "a \ufffd b"),
        ("a &#55296; b", "a \ufffd b"),
        ("a &#" + "9" * 5000 + "; b", "a &#" + "9" * 5000 + "; b"),
        ("  a \t b  \n\n\n\n c ", "a b\n\nc"),
    ],
)
def test_plain_text_is_all_text_without_tags(source: str, expected: str) -> None:
    assert plain_text(Context(), source) == expected


@pytest.mark.parametrize("mode", ["markdown", "text", "html"])
@pytest.mark.parametrize(
    "source",
    [
        "<div>" * 100_000 + "x",
        "<div>" * 255 + "x" + "</div>" * 255,
        "<b i>" * 10_000 + "x" + "</i>" * 10_000,
        "<!" * 1_000_000,
        "<!" * 1_000_000 + ">",
        "<!--" * 500_000,
        "<a " + "a=" * 200_000 + ">x</a>",
        "<a " + " ".join(f"a{number}=1" for number in range(30_000)) + ">x</a>",
        "<style>" * 100_000,
        "<table><tr><td>" * 5_000 + "x",
        "<p>x</p>" * 50_000,
        "<" * 4_000_000,
        "<a>" * 1_000_000,
        "</script" * 500_000,
        "<script>" + "</script" * 500_000,
        "<title" * 500_000,
        "\n" * 1_000_000,
        "\n" + " \u2003" * 500_000 + "x",
        "&" * 500_000,
        "<title>" + "x" * 1_000_000,
        "<p>" + "x" * 3_000_000,
        '<!DOCTYPE x [<!ENTITY a "b"><!ENTITY c SYSTEM "file:///etc/passwd">]><p>&a;&c;</p>',
        '<?xml version="1.0" encoding="utf-16"?><p>x</p>',
        "<meta http-equiv=refresh content='0;url=http://127.0.0.1/'><base href='http://10.0.0.1/'>x",
        "\x00\ud800<p>x\x00\ud800</p>",
    ],
    ids=lambda source: ascii(source)[1:24] if isinstance(source, str) else None,
)
def test_a_hostile_page_is_done_soon_and_gives_text_that_can_be_stored(source: str, mode: str) -> None:
    page = extract_page(Context(), source, mode, URL)
    page.content.encode()
    assert "\x00" not in page.content
    assert "root:" not in page.content


class Counted(Context):
    """A context that counts the looks at it, and is cancelled at one of them."""

    def __init__(self, cancelled_at: int = 0) -> None:
        super().__init__()
        self.looks = 0
        self._cancelled_at = cancelled_at

    @override
    def check(self) -> None:
        self.looks += 1
        if self.looks == self._cancelled_at:
            self.cancel("enough")
        super().check()


MB = 1024 * 1024


@pytest.mark.parametrize(
    "unit",
    [
        *["<a>", "</a>", "a<b>", "<br>", "a<p>", "<!-->", "<script></script>", "<title>x</title>", "<svg>"],
        *["&", "&a;", "&lt;", "&#9", "x\n", "x\n\n", " x \n \t\n"],
    ],
    ids=ascii,
)
def test_every_loop_over_a_page_looks_at_the_context_all_the_time(unit: str) -> None:
    ctx = Counted()
    source = unit * (3 * MB // len(unit))
    extract_page(ctx, source, "html", URL)
    assert ctx.looks > len(source) // (512 * 1024)


def test_a_cancellation_ends_the_work_on_a_page_wherever_it_comes() -> None:
    source = "a &lt; b<p>\n\n" * (3 * MB // 13)
    whole = Counted()
    extract_page(whole, source, "html", URL)
    for look in range(1, whole.looks + 1, 9):
        ctx = Counted(cancelled_at=look)
        with pytest.raises(Cancelled, match="enough"):
            extract_page(ctx, source, "html", URL)
        assert ctx.looks == look


@pytest.mark.parametrize("mode", ["markdown", "text", "html"])
@pytest.mark.parametrize("source", ["", "x", PARAGRAPH * 20, "<" * MB, "<a>" * MB])
def test_a_deadline_that_has_passed_ends_the_work_on_any_page(source: str, mode: str) -> None:
    with pytest.raises(DeadlineExceeded):
        extract_page(Context(timeout=0), source, mode, URL)


def test_a_page_without_main_content_gives_its_text_escaped_in_html() -> None:
    assert extract_page(Context(), "<div>" * 500 + "a &lt; b", "html", URL).content == "<p>a &lt; b</p>"


@pytest.mark.parametrize(
    ("source", "title"),
    [
        ("", ""),
        ("<title>Weft &amp; warp</title>", "Weft & warp"),
        ("<TITLE lang=en>\n a\n b </TITLE>", "a b"),
        ("<title>" + "x" * 1_000_000 + "</title>", "x" * 300),
        ("<title>open", "open"),
        ("<title>\ud800\x00</title>", "\ufffd\ufffd"),
    ],
)
def test_a_title_is_one_short_line(source: str, title: str) -> None:
    assert page_title(source) == title
