"""The policy: which names, addresses and ports a request may reach."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import TYPE_CHECKING, Final

from plait.net.errors import BadUrl, BlockedAddress, BlockedPort
from plait.net.url import parse_url

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from plait.net.url import Url

__all__ = ["Address", "Policy", "is_public"]

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

# Our own table besides ``is_global``: the standard library's differs between Python 3.11 and 3.13.
# From IANA's registries of special-purpose addresses.
_SPECIAL_V4: Final = tuple(
    IPv4Network(text)
    for text in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.31.196.0/24",
        "192.52.193.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "192.175.48.0/24",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/3",
    )
)
_GLOBAL_V6: Final = IPv6Network("2000::/3")
_SPECIAL_V6: Final = tuple(
    IPv6Network(text)
    for text in (
        "2001::/23",  # protocol assignments, Teredo among them
        "2001:db8::/32",
        "2002::/16",  # 6to4: the packet would go to the IPv4 address inside
        "2620:4f:8000::/48",
        "3fff::/20",
    )
)
_NAT64: Final = IPv6Network("64:ff9b::/96")
_ISATAP: Final = frozenset({0x00005EFE, 0x02005EFE})
_TEREDO: Final = IPv6Network("2001::/32")
_6TO4: Final = IPv6Network("2002::/16")
# Where an IPv4 address may stand within an IPv6 one: the bytes, first to last, for each length of a translator's
# prefix (96 also for mapped, compatible and ISATAP addresses). Byte 8 is never part of it. Any network may have
# a translator of its own, so the places are looked at whatever the prefix.
_EMBEDDED_AT: Final = (
    (12, 13, 14, 15),  # /96
    (9, 10, 11, 12),  # /64
    (7, 9, 10, 11),  # /56
    (6, 7, 9, 10),  # /48
    (5, 6, 7, 9),  # /40
    (4, 5, 6, 7),  # /32
)

# What cloud machines ask for their own credentials. Listed by hand, since some are public addresses; a name
# on the allow-list does not open them.
_METADATA: Final = frozenset(
    ipaddress.ip_address(text)
    for text in (
        "169.254.169.254",
        "169.254.169.253",
        "169.254.170.2",
        "169.254.170.23",
        "168.63.129.16",
        "100.100.100.200",
        "192.0.0.192",
        "fd00:ec2::254",
        "fd00:ec2::253",
        "fd00:ec2::23",
        "fd20:ce::254",
    )
)
_LOCAL_NAMES: Final = frozenset(
    {
        "localhost",
        "metadata",
        "metadata.google.internal",
        "metadata.goog",
        "instance-data",
        "instance-data.ec2.internal",
    }
)
_LOCAL_SUFFIXES: Final = (".localhost", ".localdomain")

_HTTP_PORTS: Final = frozenset({80, 443})
_FIRST_USER_PORT: Final = 1024
# Services from 1024 that stray HTTP can harm: databases, caches, queues, control of containers and clusters.
_SERVICE_PORTS: Final = frozenset(
    {
        1080, 1433, 1521, 1719, 1720, 1723, 1883, 2049, 2181, 2375, 2376, 2379, 2380, 3128, 3306,
        3389, 3659, 4045, 4190, 4369, 5060, 5061, 5432, 5672, 5900, 5984, 6000, 6379, 6443, 6566,
        6665, 6666, 6667, 6668, 6669, 6679, 6697, 7000, 7001, 8086, 8500, 9042, 9092, 9200, 9300,
        10080, 10250, 10255, 11211, 15672, 27017, 27018, 50000,
    }
)  # fmt: skip  # one number a line would be fifty lines

_NOT_PUBLIC: Final = "the host is not at a public address"
_NOT_PUBLIC_HINT: Final = (
    "use a public address; an operator can open others with Policy(allow=[...]), or --allow on the command line"
)


@dataclass(frozen=True, slots=True)
class _Rule:
    """One entry of the allow-list: a name, or a network, with one port or any."""

    name: str
    network: Network | None
    port: int | None

    def admits_port(self, port: int) -> bool:
        return _is_web_port(port) if self.port is None else port == self.port


@dataclass(frozen=True)
class Policy:
    """What may be reached: public addresses on web ports, and what the allow-list adds.

    A name in the list may resolve to any address but those of cloud metadata, in whatever form: with a zone, or
    embedded in an IPv6 address (mapped, compatible, translated, 6to4, Teredo, ISATAP). An address or a network in
    the list is open to every name that resolves to it, and says by itself what it opens: one that holds an address
    of cloud metadata opens that too. It holds what is written in its own form; an IPv4 entry also holds the mapped
    form of its addresses, and no other embedding. An entry with a port opens that port only, even if it is another
    service's; one without opens every web port.

    Args:
        allow: ``"host"``, ``"host:port"``, ``"10.1.2.3:8080"``, ``"[fd00::1]:8080"`` or a network such as
            ``"10.0.0.0/8"``.

    Raises:
        TypeError: It is one string and no list.
        ValueError: An entry is none of these.
    """

    allow: Sequence[str] = ()
    _rules: tuple[_Rule, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if isinstance(self.allow, str):
            raise TypeError("Policy.allow must be a list of entries, got one string: put it into brackets")
        # A frozen dataclass sets its own fields through object: the list must not change under the rules.
        object.__setattr__(self, "allow", tuple(self.allow))
        object.__setattr__(self, "_rules", tuple(_parse_rule(entry) for entry in self.allow))

    def check_url(self, url: Url) -> None:
        """Judge what can be judged before a look-up: the port and the name.

        Raises:
            BlockedPort: The port belongs to another service.
            BlockedAddress: The name stands for the local machine or for cloud metadata.
        """
        named = [rule for rule in self._rules if rule.name == url.host or _holds(rule, url.address)]
        if any(rule.admits_port(url.port) for rule in named):
            return
        if not _is_web_port(url.port) and not self._opens_port_somewhere(url):
            raise BlockedPort(
                f"port {url.port} belongs to a service other than the web",
                "use port 80 or 443, or ask the operator to allow this host with this port",
            )
        if url.address is None and _is_local_name(url.host):
            raise BlockedAddress(_NOT_PUBLIC, _NOT_PUBLIC_HINT)

    def check_addresses(self, url: Url, addresses: Iterable[Address]) -> list[Address]:
        """Judge every address of a name; one bad one condemns the name.

        Args:
            url: Where the request goes.
            addresses: All that the look-up gave.

        Returns:
            The addresses to connect to, IPv4-mapped ones as IPv4.

        Raises:
            BlockedAddress: One of them is neither public nor allowed.
        """
        by_name = any(rule.name == url.host and rule.admits_port(url.port) for rule in self._rules)
        web_port = _is_web_port(url.port)
        judged: list[Address] = []
        for raw in addresses:
            address = _unmapped(raw)
            listed = any(_holds(rule, address) and rule.admits_port(url.port) for rule in self._rules)
            named = by_name and not _is_metadata(address)
            if not listed and not named and not (web_port and is_public(address)):
                raise BlockedAddress(_NOT_PUBLIC, _NOT_PUBLIC_HINT)
            judged.append(address)
        return judged

    def _opens_port_somewhere(self, url: Url) -> bool:
        """Whether a name, unresolved as yet, may turn out to be at an address whose entry opens the port."""
        return url.address is None and any(
            rule.network is not None and rule.admits_port(url.port) for rule in self._rules
        )


def is_public(address: Address) -> bool:
    """Whether an address, and any IPv4 address that it embeds, is public unicast.

    The verdict is the same on every Python, since our table stands beside the standard library's.

    Args:
        address: The address as the look-up gave it.
    """
    address = _unmapped(address)
    if _is_metadata(address) or address.is_multicast:
        return False
    if isinstance(address, IPv4Address):
        return address.is_global and not any(address in network for network in _SPECIAL_V4)
    if address in _NAT64:
        return is_public(IPv4Address(int(address) & 0xFFFFFFFF))
    if (int(address) >> 32) & 0xFFFFFFFF in _ISATAP and not is_public(IPv4Address(int(address) & 0xFFFFFFFF)):
        return False
    if address not in _GLOBAL_V6 or address.scope_id is not None:
        return False
    return address.is_global and not any(address in network for network in _SPECIAL_V6)


def _unmapped(address: Address) -> Address:
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return address if mapped is None else mapped


def _is_metadata(address: Address) -> bool:
    """Whether a packet to it may end at cloud metadata, through a zone or a translator too."""
    if isinstance(address, IPv4Address):
        return address in _METADATA
    bare = IPv6Address(int(address))
    return bare in _METADATA or any(embedded in _METADATA for embedded in _embedded(bare))


def _embedded(address: IPv6Address) -> Iterator[IPv4Address]:
    """Every IPv4 address that an IPv6 address may stand for."""
    for places in _EMBEDDED_AT:
        yield IPv4Address(bytes(address.packed[place] for place in places))
    if address in _6TO4:
        yield IPv4Address(address.packed[2:6])
    if address in _TEREDO:
        yield IPv4Address(int(address) & 0xFFFFFFFF ^ 0xFFFFFFFF)  # the client, its bits inverted


def _is_local_name(host: str) -> bool:
    return host in _LOCAL_NAMES or host.endswith(_LOCAL_SUFFIXES)


def _is_web_port(port: int) -> bool:
    return port in _HTTP_PORTS or (port >= _FIRST_USER_PORT and port not in _SERVICE_PORTS)


def _holds(rule: _Rule, address: Address | None) -> bool:
    if rule.network is None or address is None:
        return False
    return _unmapped(address) in rule.network


def _parse_rule(entry: str) -> _Rule:
    """One entry, read by the same parser as the URLs that it will be compared with."""
    if "%" in entry:
        raise _bad_entry(entry, "it has a zone, which belongs to one machine, or a percent-encoding")
    network = _parse_network(entry)
    if network is not None:
        return _Rule("", network, None)
    try:
        url = parse_url(f"http://{entry}/")
    except BadUrl as error:
        raise _bad_entry(entry, error.message) from None
    if url.target != "/":
        raise _bad_entry(entry, "it has a path or a query")
    port = url.port if _has_port(entry) else None
    if url.address is None:
        return _Rule(url.host, None, port)
    return _Rule("", ipaddress.ip_network(_unmapped(url.address)), port)


def _bad_entry(entry: str, reason: str) -> ValueError:
    return ValueError(
        f"Policy.allow has an entry that is no host, host:port or network: {entry!r} ({reason}). "
        "Write for example 'intranet.example', '127.0.0.1:8080', '[::1]:8080' or '10.0.0.0/8'."
    )


def _parse_network(entry: str) -> Network | None:
    """The entry as a network, a mapped one as IPv4, as addresses are compared."""
    try:
        network = ipaddress.ip_network(entry)
    except ValueError:
        return None
    start = _unmapped(network.network_address)
    if network.version == start.version:
        return network
    return ipaddress.ip_network((start, network.prefixlen - 96)) if network.prefixlen >= 96 else network


def _has_port(entry: str) -> bool:
    return ":" in entry.rpartition("]")[2]
