"""URLs are read in one way or not at all."""

from __future__ import annotations

import pytest

from plait.net import BadUrl, parse_url

BAD = [
    # userinfo and what looks like it
    "http://user:pw@example.com/",
    "http://127.0.0.1:80@example.com/",
    "http://a@b@127.0.0.1/",
    "http://example.com#@127.0.0.1/",
    "http://example.com?@127.0.0.1/",
    # backslashes
    "http://127.0.0.1\\@example.com/",
    "http://example.com\\@127.0.0.1/",
    "http://example.com/\\x",
    # blanks and control characters
    " http://example.com/",
    "http://example.com/ ",
    "http://exa\tmple.com/",
    "http://127.0.0.1\n.example.com/",
    "http://example.com /",
    "http://example.com/a b",
    "http://example.com/\u00a0",
    "http://example.com/\u2028",
    "http://example.com/\x00",
    "http://example.com/\x7f",
    "http://example.com/\x85",
    # percent in the host
    "http://%31%32%37.0.0.1/",
    "http://127.0.0.1%00.example.com/",
    "http://127.0.0.1%2f@example.com/",
    # brackets
    "http://[::1",
    "http://::1/",
    "http://[127.0.0.1]/",
    "http://[v1.x]/",
    "http://[fe80::1%25eth0]/",
    "http://[fe80::1%eth0]/",
    "http://[::1]x/",
    "http://x[::1]/",
    "http://[]/",
    # no host, no scheme, no slashes
    "http://",
    "http:///x",
    "http://?x",
    "http:example.com",
    "http:/example.com",
    "//example.com/",
    "/x",
    "example.com",
    "example.com:80",
    "",
    # other schemes
    "gopher://127.0.0.1:6379/_x",
    "ftp://example.com/",
    "file:///etc/passwd",
    "data:text/html,x",
    "javascript:alert(1)",
    "ws://example.com/",
    # ports
    "http://example.com:/",
    "http://example.com:0/",
    "http://example.com:65536/",
    "http://example.com:-1/",
    "http://example.com:+80/",
    "http://example.com:\uff18\uff10/",
    "http://example.com:80:80/",
    "http://example.com:8_0/",
    "http://[::1]:/",
    # names
    "http://a...b/",
    "http://.example.com/",
    "http://./",
    "http://-a.example.com/",
    "http://a-.example.com/",
    "http://exa$mple.com/",
    f"http://{'a' * 64}.com/",
    f"http://{'a.' * 150}com/",
    f"http://xn--{'016c' * 1250}/",
    "http://" + "\u0660" * 20000 + "/",
    "http://" + "\u0660" * 2000 + "/",
    "http://\u2665.example/",
    "http://\ud800.com/",
    # numbers that are no address
    "http://256.256.256.256/",
    "http://1.2.3.4.5/",
    "http://08.1.1.1/",
    "http://4294967296/",
    "http://example.0x/",
    # too long
    f"http://example.com/{'a' * 9000}",
    f"http://example.com/{'../' * 100_000}",
    f"http://example.com/{'é' * 5000}",
]


@pytest.mark.parametrize("text", BAD, ids=lambda text: ascii(text)[1:40])
def test_a_url_that_parsers_read_differently_is_refused_without_repeating_it(text: str) -> None:
    with pytest.raises(BadUrl) as caught:
        parse_url(text)
    assert (caught.value.code, caught.value.status) == ("bad_url", 422)
    assert caught.value.hint
    assert "pw" not in caught.value.message
    assert "127.0.0.1" not in caught.value.message


GOOD = {
    "http://example.com": "http://example.com/",
    "hTTp://EXAMPLE.com/": "http://example.com/",
    "HTTP://EXAMPLE.COM:80/a?b=1#c": "http://example.com/a?b=1",
    "https://example.com:443/": "https://example.com/",
    "https://example.com:80/": "https://example.com:80/",
    "http://example.com:08080/": "http://example.com:8080/",
    "http://example.com.:8080/": "http://example.com:8080/",
    "http://my_site.example/": "http://my_site.example/",
    "http://ex\u0430mple.com/": "http://xn--exmple-4nf.com/",
    "http://bücher.example/straße?q=ü": "http://xn--bcher-kva.example/stra%C3%9Fe?q=%C3%BC",
    "http://xn--i-7iq.ws/": "http://xn--i-7iq.ws/",
    "http://example.com/a%20b?c=%zz": "http://example.com/a%20b?c=%zz",
    'http://example.com/<">{|}^`': "http://example.com/%3C%22%3E%7B%7C%7D%5E%60",
    "http://example.com?q=a/b@c": "http://example.com/?q=a/b@c",
    "http://example.com/~me/@you;v=1,2": "http://example.com/~me/@you;v=1,2",
    "http://[2606:2800:0220:1::25C8]:8080/": "http://[2606:2800:220:1::25c8]:8080/",
    "http://127.1/": "http://127.0.0.1/",
    "http://2130706433/": "http://127.0.0.1/",
    "http://0x7f.1/": "http://127.0.0.1/",
    "http://017700000001/": "http://127.0.0.1/",
    "http://127.000.000.001/": "http://127.0.0.1/",
    "http://0000000000000000000000177.0.0.1/": "http://127.0.0.1/",
    "http://①②⑦.⓪.⓪.①/": "http://127.0.0.1/",
    "http://\uff11\uff12\uff17.0.0.1/": "http://127.0.0.1/",
    "http://127。0。0。1/": "http://127.0.0.1/",
}


@pytest.mark.parametrize(("text", "expected"), GOOD.items(), ids=lambda text: ascii(text)[1:40])
def test_a_good_url_has_one_form_and_that_form_is_stable(text: str, expected: str) -> None:
    assert str(parse_url(text)) == expected
    assert str(parse_url(expected)) == expected


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("/b", "https://example.com:8080/b"),
        ("b?c#d", "https://example.com:8080/x/b?c"),
        ("../b", "https://example.com:8080/b"),
        ("?q", "https://example.com:8080/x/a?q"),
        ("//other.example/b", "https://other.example/b"),
        ("HTTP://other.example", "http://other.example/"),
        ("", None),
        ("/\\127.0.0.1", None),
        ("http:127.0.0.1", None),
        ("https:/b", None),
        ("file:///etc/passwd", None),
        ("javascript:alert(1)", None),
        ("//user@other.example/", None),
        ("/b c", None),
        ("/b\r\nSet-Cookie: x", None),
    ],
)
def test_a_redirect_is_read_as_strictly_as_a_url(reference: str, expected: str | None) -> None:
    base = parse_url("https://example.com:8080/x/a")
    if expected is None:
        with pytest.raises(BadUrl):
            base.join(reference)
    else:
        assert str(base.join(reference)) == expected
