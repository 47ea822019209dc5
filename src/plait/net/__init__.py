"""The guarded HTTP client: the one door to the network, for the fetch pipeline and for scripts."""

from __future__ import annotations

from plait.net.extra import missing as _missing

try:
    from plait.net.client import Client, Limits, Response
    from plait.net.errors import (
        BadEncoding,
        BadHeader,
        BadResponse,
        BadUrl,
        Blocked,
        BlockedAddress,
        BlockedPort,
        InsecureRedirect,
        NetError,
        TimedOut,
        TlsFailed,
        TooLarge,
        TooManyRedirects,
        Unreachable,
        Unresolved,
    )
    from plait.net.guard import Policy, is_public
    from plait.net.url import Url, parse_url
except ModuleNotFoundError as error:
    raise _missing(error) from error

__all__ = [
    "BadEncoding",
    "BadHeader",
    "BadResponse",
    "BadUrl",
    "Blocked",
    "BlockedAddress",
    "BlockedPort",
    "Client",
    "InsecureRedirect",
    "Limits",
    "NetError",
    "Policy",
    "Response",
    "TimedOut",
    "TlsFailed",
    "TooLarge",
    "TooManyRedirects",
    "Unreachable",
    "Unresolved",
    "Url",
    "is_public",
    "parse_url",
]
