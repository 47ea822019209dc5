"""The policy opens public addresses on web ports, and what the allow-list says."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable

import pytest

from plait.net import Blocked, Policy, is_public, parse_url
from plait.net.guard import _METADATA, Address

NOT_PUBLIC = [
    "0.0.0.0",
    "10.0.0.1",
    "100.64.0.1",
    "100.100.100.200",
    "127.0.0.1",
    "127.255.255.254",
    "168.63.129.16",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.8",
    "192.0.0.9",
    "192.0.0.192",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.0.1",
    "198.18.0.1",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "239.255.255.255",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::127.0.0.1",
    "::a9fe:a9fe",
    "::8.8.8.8",
    "::ffff:127.0.0.1",
    "::ffff:169.254.169.254",
    "::ffff:0:127.0.0.1",
    "64:ff9b::7f00:1",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b::168.63.129.16",
    "64:ff9b:1::7f00:1",
    "64:ff9b:1::8.8.8.8",
    "100::1",
    "2001::80ff:fffe",
    "2001:0:4136:e378:8000:63bf:f7f7:f7f7",
    "2001:10::1",
    "2001:20::1",
    "2001:db8::1",
    "2001:db8::5efe:10.0.0.1",
    "2606:2800:220:1:0:5efe:10.0.0.1",
    "2606:2800:220:1:200:5efe:127.0.0.1",
    "2002:7f00:1::",
    "2002:808:808::1",
    "3fff::1",
    "4000::1",
    "5f00::1",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "fe80::1%eth0",
    "2606:4700::1%eth0",
    "fec0::1",
    "ff02::1",
    "ff0e::1",
]
PUBLIC = [
    "1.1.1.1",
    "8.8.8.8",
    "93.184.216.34",
    "172.32.0.1",
    "192.0.1.1",
    "223.255.255.254",
    "::ffff:8.8.8.8",
    "64:ff9b::8.8.8.8",
    "2001:4860:4860::8888",
    "2606:2800:220:1:248:1893:25c8:1946",
    "2606:2800:220:1:0:5efe:8.8.8.8",
    "2a00:1450:4001:81b::200e",
]


@pytest.mark.parametrize("text", NOT_PUBLIC)
def test_an_address_that_leads_inside_is_not_public(text: str) -> None:
    assert not is_public(ipaddress.ip_address(text))


@pytest.mark.parametrize("text", PUBLIC)
def test_an_address_of_the_internet_is_public(text: str) -> None:
    assert is_public(ipaddress.ip_address(text))


def _verdict(policy: Policy, url: str, *addresses: str) -> str:
    parsed = parse_url(url)
    try:
        policy.check_url(parsed)
        policy.check_addresses(parsed, [ipaddress.ip_address(text) for text in addresses or (parsed.host,)])
    except Blocked as error:
        return error.code
    return "allowed"


OUTSIDE = "93.184.216.34"


@pytest.mark.parametrize(
    "host",
    ["localhost", "LOCALHOST.", "foo.localhost", "metadata.google.internal", "metadata.google.internal.", "metadata"],
)
def test_a_name_of_the_local_machine_is_refused_whatever_it_resolves_to(host: str) -> None:
    assert _verdict(Policy(), f"http://{host}/", OUTSIDE) == "blocked_address"


@pytest.mark.parametrize("port", [1, 21, 22, 25, 53, 79, 587, 993, 2375, 3306, 5432, 6379, 9200, 11211, 27017])
def test_a_port_of_another_service_is_refused(port: int) -> None:
    assert _verdict(Policy(), f"http://example.com:{port}/", OUTSIDE) == "blocked_port"


@pytest.mark.parametrize("port", [80, 443, 3000, 8000, 8080, 8443, 8888, 65535])
def test_a_port_that_web_servers_use_is_open(port: int) -> None:
    assert _verdict(Policy(), f"http://example.com:{port}/", OUTSIDE) == "allowed"


@pytest.mark.parametrize("answers", [[OUTSIDE, "127.0.0.1"], ["::1", OUTSIDE], [OUTSIDE] * 38 + ["10.0.0.1", OUTSIDE]])
def test_one_bad_address_condemns_a_name(answers: list[str]) -> None:
    assert _verdict(Policy(), "http://evil.test/", *answers) == "blocked_address"


@pytest.mark.parametrize(
    ("entry", "url", "addresses", "expected"),
    [
        ("127.0.0.1:8080", "http://127.0.0.1:8080/", [], "allowed"),
        ("127.0.0.1:8080", "http://127.1:8080/", [], "allowed"),
        ("127.0.0.1:8080", "http://[::ffff:127.0.0.1]:8080/", [], "allowed"),
        ("127.0.0.1:8080", "http://site.test:8080/", ["127.0.0.1"], "allowed"),
        ("127.0.0.1:8080", "http://site.test:8080/", ["127.0.0.1", "127.0.0.2"], "blocked_address"),
        ("127.0.0.1:8080", "http://127.0.0.1:8081/", [], "blocked_address"),
        ("127.0.0.1:8080", "http://127.0.0.1/", [], "blocked_address"),
        ("127.0.0.1:8080", "http://localhost:8080/", ["127.0.0.1"], "blocked_address"),
        ("127.0.0.1", "http://127.0.0.1:8081/", [], "allowed"),
        ("127.0.0.1", "http://127.0.0.1:6379/", [], "blocked_port"),
        ("127.0.0.1:6379", "http://127.0.0.1:6379/", [], "allowed"),
        ("127.0.0.1:6379", "http://site.test:6379/", ["127.0.0.1"], "allowed"),
        ("127.0.0.1:6379", "http://site.test:6379/", [OUTSIDE], "blocked_address"),
        ("127.0.0.1:6379", "http://site.test:22/", ["127.0.0.1"], "blocked_port"),
        ("localhost:8080", "http://LOCALHOST.:8080/", ["127.0.0.1", "::1"], "allowed"),
        ("Intranet.Example", "http://intranet.example/", ["10.0.0.7"], "allowed"),
        ("intranet.example", "http://www.intranet.example/", ["10.0.0.7"], "blocked_address"),
        ("intranet.example", "http://intranet.example/", ["169.254.169.254"], "blocked_address"),
        ("intranet.example", "http://intranet.example/", ["64:ff9b::a9fe:a9fe"], "blocked_address"),
        ("169.254.169.254", "http://169.254.169.254/", [], "allowed"),
        ("10.0.0.0/8", "http://10.9.8.7/", [], "allowed"),
        ("10.0.0.0/8", "http://site.test/", ["10.1.1.1", "11.1.1.1"], "allowed"),
        ("10.0.0.0/8", "http://site.test/", ["10.1.1.1", "192.168.1.1"], "blocked_address"),
        ("[::1]:8080", "http://[::1]:8080/", [], "allowed"),
        ("[::1]:8080", "http://[::1]/", [], "blocked_address"),
        ("::1", "http://[::1]:9000/", [], "allowed"),
        ("fd00::/8", "http://[fd12::1]/", [], "allowed"),
        ("example.com:22", "http://example.com:22/", [OUTSIDE], "allowed"),
        ("::ffff:10.0.0.0/104", "http://site.test/", ["10.1.1.1", "::ffff:10.1.1.1"], "allowed"),
        ("::ffff:10.0.0.1", "http://10.0.0.1/", [], "allowed"),
        # a network says by itself what it opens
        ("169.254.0.0/16", "http://site.test/", ["169.254.169.254", "::ffff:169.254.169.254"], "allowed"),
        ("169.254.0.0/16", "http://site.test/", ["64:ff9b::a9fe:a9fe"], "blocked_address"),
        ("169.254.0.0/16", "http://site.test/", ["2002:a9fe:a9fe::"], "blocked_address"),
        ("fd00::/8", "http://site.test/", ["fd00:ec2::254", "fd00:ec2::254%eth0"], "allowed"),
        ("fd00:ec2::254", "http://[fd00:ec2::254]/", [], "allowed"),
        ("64:ff9b::/96", "http://site.test/", ["64:ff9b::a9fe:a9fe"], "allowed"),
    ],
)
def test_an_entry_of_the_allow_list_opens_what_it_names(
    entry: str, url: str, addresses: list[str], expected: str
) -> None:
    assert _verdict(Policy(allow=[entry]), url, *addresses) == expected


METADATA = sorted(_METADATA, key=str)
# The ways in which an IPv6 address holds an IPv4 one, both as numbers.
EMBEDDINGS: dict[str, Callable[[int], int]] = {
    "mapped": lambda v4: (0xFFFF << 32) | v4,
    "compatible": lambda v4: v4,
    "translated": lambda v4: (0xFFFF << 48) | v4,
    "nat64": lambda v4: (0x64FF9B << 96) | v4,
    "local nat64 /96": lambda v4: (0x64FF9B0001 << 80) | v4,
    "local nat64 /64": lambda v4: (0x64FF9B0001 << 80) | (v4 << 24),
    "local nat64 /56": lambda v4: (0x64FF9B0001 << 80) | (v4 >> 24 << 64) | ((v4 & 0xFFFFFF) << 32),
    "local nat64 /48": lambda v4: (0x64FF9B0001 << 80) | (v4 >> 16 << 64) | ((v4 & 0xFFFF) << 40),
    "own nat64 /96": lambda v4: (0xFD12 << 112) | v4,
    "own nat64 /40": lambda v4: (0xFD12000001 << 88) | (v4 >> 8 << 64) | ((v4 & 0xFF) << 48),
    "own nat64 /32": lambda v4: (0xFD120001 << 96) | (v4 << 64),
    "6to4": lambda v4: (0x2002 << 112) | (v4 << 80),
    "teredo server": lambda v4: (0x20010000 << 96) | (v4 << 64) | 0xF7F7F7F7,
    "teredo client": lambda v4: (0x20010000 << 96) | (0x41378C36 << 64) | (v4 ^ 0xFFFFFFFF),
    "isatap": lambda v4: (0xFE80 << 112) | (0x5EFE << 32) | v4,
    "global isatap": lambda v4: (0x20010DB8 << 96) | (0x02005EFE << 32) | v4,
}


def test_the_forms_of_an_embedded_address_are_those_that_the_standards_write() -> None:
    written = {
        "mapped": "::ffff:192.0.2.33",
        "compatible": "::192.0.2.33",
        "translated": "::ffff:0:192.0.2.33",
        "nat64": "64:ff9b::192.0.2.33",
        "local nat64 /64": "64:ff9b:1:0:c0:2:2100:0",
        "local nat64 /56": "64:ff9b:1:c0:0:221::",
        "local nat64 /48": "64:ff9b:1:c000:2:2100::",
        "own nat64 /40": "fd12:0:1c0:2:21::",
        "own nat64 /32": "fd12:1:c000:221::",
        "6to4": "2002:c000:221::",
        "teredo client": "2001::4137:8c36:0:0:3fff:fdde",
        "isatap": "fe80::5efe:192.0.2.33",
    }
    v4 = int(ipaddress.IPv4Address("192.0.2.33"))
    assert {form: ipaddress.IPv6Address(EMBEDDINGS[form](v4)) for form in written} == {
        form: ipaddress.IPv6Address(text) for form, text in written.items()
    }


@pytest.mark.parametrize("zone", ["", "%eth0", "%1"])
@pytest.mark.parametrize("form", EMBEDDINGS)
@pytest.mark.parametrize("metadata", [address for address in METADATA if address.version == 4], ids=str)
def test_a_name_on_the_list_never_opens_metadata_in_whatever_form(
    metadata: ipaddress.IPv4Address, form: str, zone: str
) -> None:
    answer = f"{ipaddress.IPv6Address(EMBEDDINGS[form](int(metadata)))}{zone}"
    for entry in ("intra.test", "intra.test:80"):
        assert _verdict(Policy(allow=[entry]), "http://intra.test/", answer) == "blocked_address"
    assert not is_public(ipaddress.ip_address(answer))


@pytest.mark.parametrize("metadata", METADATA, ids=str)
def test_a_name_on_the_list_never_opens_metadata_with_a_zone_or_without(metadata: Address) -> None:
    for zone in ("", "%eth0", "%2") if metadata.version == 6 else ("",):
        policy = Policy(allow=["intra.test"])
        assert _verdict(policy, "http://intra.test/", f"{metadata}{zone}") == "blocked_address"


@pytest.mark.parametrize("form", EMBEDDINGS)
def test_a_name_on_the_list_opens_what_is_not_metadata_in_whatever_form(form: str) -> None:
    inside = EMBEDDINGS[form](int(ipaddress.IPv4Address("10.0.0.7")))
    assert _verdict(Policy(allow=["intra.test"]), "http://intra.test/", f"{ipaddress.IPv6Address(inside)}") == "allowed"


@pytest.mark.parametrize(
    "entry",
    [
        *["", "a b", "http://x", "x/y", "host:0", "host:99999", "10.0.0.1/8", "10.0.0.0/33", "u@h", "x?y", "[::1"],
        *["fe80::1%eth0", "[fe80::1%eth0]:80", "fe80::%1/64", "%31.2.3.4"],
    ],
)
def test_an_entry_that_is_none_is_refused_with_examples(entry: str) -> None:
    with pytest.raises(ValueError, match=r"Policy\.allow .* Write for example"):
        Policy(allow=[entry])


def test_a_string_is_not_taken_for_a_list_of_one_letter_hosts() -> None:
    with pytest.raises(TypeError, match="brackets"):
        Policy(allow="example.com")


def test_a_policy_is_frozen_and_keeps_its_own_list() -> None:
    allow = ["127.0.0.1:8080"]
    policy = Policy(allow=allow)
    allow.append("10.0.0.0/8")
    assert policy == Policy(allow=("127.0.0.1:8080",))
    with pytest.raises(AttributeError):
        policy.allow = ()  # type: ignore[misc]  # that it cannot be set is what is tested
