"""URLs: one strict reading, used alike for judging, connecting and comparing."""

from __future__ import annotations

import ipaddress
import re
import socket
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, urljoin

import idna
from typing_extensions import override

from plait.net.errors import BadUrl

if TYPE_CHECKING:
    from ipaddress import IPv4Address, IPv6Address

__all__ = ["MAX_URL_BYTES", "Url", "parse_url"]

MAX_URL_BYTES: Final = 8192
_MAX_HOST: Final = 253
_MAX_LABEL: Final = 63
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}

_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_PORT: Final = re.compile(r"[0-9]{1,5}", re.ASCII)
_LABEL: Final = re.compile(r"[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?", re.ASCII)
_NUMBER: Final = re.compile(r"[0-9]+|0x[0-9a-f]*", re.ASCII)

# What stays as it is in a path or a query; "%" because the URL is encoded already.
_TARGET_SAFE: Final = "%/:?@!$&'()*+,;=~[]-._"


@dataclass(frozen=True, slots=True)
class Url:
    """An http or https URL, normalised: lower-case scheme and host, no default port, no fragment.

    Args:
        scheme: ``http`` or ``https``.
        host: A name in lower-case ASCII without a trailing dot, or an address in its canonical form.
        port: 1 to 65535.
        target: Path and query as they go on the wire.
        address: The host, when it is an address and no name.
    """

    scheme: str
    host: str
    port: int
    target: str
    address: IPv4Address | IPv6Address | None = None

    @property
    def netloc(self) -> str:
        """Host and port as a ``Host`` header writes them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def origin(self) -> tuple[str, str, int]:
        """What two URLs must share for credentials to go from one to the other."""
        return self.scheme, self.host, self.port

    @override
    def __str__(self) -> str:
        return f"{self.scheme}://{self.netloc}{self.target}"

    def join(self, reference: str) -> Url:
        """The URL that a ``Location`` header names, parsed as strictly as any other.

        Args:
            reference: An absolute or a relative URL.

        Raises:
            BadUrl: It is not http(s), or not one that every parser reads alike.
        """
        _check_text(reference)
        if _SCHEME.match(reference):
            return parse_url(reference)
        return parse_url(urljoin(str(self), reference))


def parse_url(text: str) -> Url:
    """Read a URL, or refuse it if two parsers might read it in two ways.

    Nothing is repaired or stripped. A host that libc would read as an IPv4 address (``127.1``, ``0x7f.1``) is
    that address here too.

    Args:
        text: An absolute http or https URL of at most 8192 bytes.

    Raises:
        BadUrl: It is not one; the text of the error does not repeat the URL.
    """
    _check_text(text)
    scheme, rest = _split_scheme(text)
    authority, target = _split_authority(rest)
    host, port_text = _split_port(authority)
    port = _DEFAULT_PORTS[scheme] if port_text is None else _parse_port(port_text)
    if host.startswith("["):
        v6 = _parse_v6(host)
        return Url(scheme, str(v6), port, target, v6)
    name = _parse_name(host)
    v4 = _parse_v4(name)
    return Url(scheme, name if v4 is None else str(v4), port, target, v4)


def _check_text(text: str) -> None:
    """Refuse what parsers strip, fold or cut at, before anything looks at the parts."""
    if len(text) > MAX_URL_BYTES:
        raise BadUrl(f"the URL is longer than {MAX_URL_BYTES} bytes", "shorten it")
    if not text:
        raise BadUrl("the URL is empty", "give an absolute http or https URL")
    for char in text:
        if char.isspace() or unicodedata.category(char) in {"Cc", "Cs"}:
            raise BadUrl(
                "the URL holds a blank or a control character",
                "percent-encode it (a blank is %20) or remove it",
            )
    if "\\" in text:
        raise BadUrl("the URL holds a backslash, which programs read differently", "write / or %5C")
    if len(text.encode()) > MAX_URL_BYTES:
        raise BadUrl(f"the URL is longer than {MAX_URL_BYTES} bytes", "shorten it")


def _split_scheme(text: str) -> tuple[str, str]:
    match = _SCHEME.match(text)
    if match is None:
        raise BadUrl("the URL has no scheme", "start it with https://")
    scheme = match[1].lower()
    if scheme not in _DEFAULT_PORTS:
        raise BadUrl("the URL's scheme is neither http nor https", "only http and https can be fetched")
    rest = text[match.end() :]
    if not rest.startswith("//"):
        raise BadUrl(f"the URL has no // after {scheme}:", f"start it with {scheme}://")
    return scheme, rest[2:]


def _split_authority(rest: str) -> tuple[str, str]:
    """The authority, and path and query for the wire."""
    before_path = rest.partition("/")[0]
    if "@" in before_path:
        raise BadUrl(
            "the URL holds a user name, a password or an @ before its path",
            "remove it; if the @ belongs to a query, write / before the ?",
        )
    end = next((at for at, char in enumerate(rest) if char in "/?#"), len(rest))
    target = rest[end:].partition("#")[0]
    if not target.startswith("/"):
        target = "/" + target
    return rest[:end], quote(target, safe=_TARGET_SAFE)


def _split_port(authority: str) -> tuple[str, str | None]:
    if authority.startswith("["):
        host, bracket, tail = authority.partition("]")
        if not bracket or (tail and not tail.startswith(":")):
            raise BadUrl("the URL's host has a bracket in a wrong place", "write an IPv6 address as [2001:db8::1]")
        return host + bracket, tail[1:] if tail else None
    host, colon, port = authority.partition(":")
    return host, port if colon else None


def _parse_port(text: str) -> int:
    if not _PORT.fullmatch(text) or not 0 < int(text) < 65536:
        raise BadUrl("the URL's port is not a number from 1 to 65535", "correct it, or leave it out with its colon")
    return int(text)


def _parse_v6(bracketed: str) -> IPv6Address:
    try:
        address = ipaddress.IPv6Address(bracketed[1:-1])
    except ValueError:
        raise BadUrl("what stands in brackets is not an IPv6 address", "write it as [2001:db8::1]") from None
    if address.scope_id is not None:
        raise BadUrl("the IPv6 address has a zone, which belongs to one machine", "leave out the % and what follows")
    return address


def _parse_name(host: str) -> str:
    """The host in lower-case ASCII; lengths are checked before any IDNA code sees it."""
    if not host:
        raise BadUrl("the URL has no host", "write the host after //")
    if "%" in host:
        raise BadUrl("the URL's host is percent-encoded", "write the host as it is")
    _check_lengths(host)
    name = (host if host.isascii() else _to_ascii(host)).lower()
    name = name.removesuffix(".")
    _check_lengths(name)
    if not all(_LABEL.fullmatch(label) for label in name.split(".")):
        raise BadUrl("the URL's host is not a valid name", "correct the host")
    return name


def _check_lengths(host: str) -> None:
    labels = host.split(".")
    if len(host.removesuffix(".")) > _MAX_HOST or any(len(label) > _MAX_LABEL for label in labels):
        raise BadUrl(f"the URL's host is longer than {_MAX_HOST} or has a part longer than {_MAX_LABEL}", "shorten it")


def _to_ascii(host: str) -> str:
    try:
        return idna.encode(host, uts46=True).decode("ascii")
    except (idna.IDNAError, UnicodeError):
        raise BadUrl("the URL's host is not a valid international name", "write it in its xn-- form") from None


def _parse_v4(name: str) -> IPv4Address | None:
    """The address that libc makes of a name; one that ends in a number and is no address is refused."""
    if not _NUMBER.fullmatch(name.rpartition(".")[2]):
        return None
    try:
        return ipaddress.IPv4Address(socket.inet_aton(name))
    except OSError:
        raise BadUrl("the URL's host ends in a number but is not an IPv4 address", "correct the host") from None
