"""The idempotency key: what makes two submissions one job, byte for byte as a Go service computes it."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Final

import msgspec

from plait.jobs.model import Target

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["encode_targets", "idem_key"]

# What Go's json.Marshal escapes beyond what JSON demands; msgspec escapes the rest exactly as Go does. These
# bytes stand only inside strings here, so they may be replaced in the finished document.
_GO_ESCAPES: Final = (
    (b"<", rb"\u003c"),
    (b">", rb"\u003e"),
    (b"&", rb"\u0026"),
    ("\u2028".encode(), rb"\u2028"),
    ("\u2029".encode(), rb"\u2029"),
)
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_NOT_UTF8: Final = "\ufffd" * 3
"""What Go makes of a lone surrogate: it is three bytes, and Go replaces every invalid byte."""


def idem_key(caller_name: str, targets: Sequence[Target]) -> str:
    r"""The key by which a submission finds the job that an equal one made (``batch-runner.md``, rule 1).

    It is total: a lone surrogate, which ``check_submission`` refuses, counts as the three bytes that would
    encode it, and Go's treatment of invalid UTF-8 applies to them.

    Args:
        caller_name: The name of the caller; two callers never share a job.
        targets: The targets in their order; another order is another job.

    Returns:
        The SHA-256 of ``caller_name + "\x00" + encode_targets(targets)``, 64 hex digits.
    """
    caller = caller_name.encode("utf-8", "surrogatepass")
    return hashlib.sha256(caller + b"\0" + encode_targets(targets)).hexdigest()


def encode_targets(targets: Sequence[Target]) -> bytes:
    """The targets as JSON, in the bytes that ``json.Marshal`` of Go 1.27 writes for the contract's structs.

    Args:
        targets: The targets in their order.
    """
    try:
        encoded = msgspec.json.encode(list(targets))
    except UnicodeEncodeError:
        encoded = msgspec.json.encode([_as_utf8(target) for target in targets])
    for byte, escape in _GO_ESCAPES:
        encoded = encoded.replace(byte, escape)
    return encoded


def _as_utf8(target: Target) -> Target:
    """The target with every lone surrogate replaced."""
    texts = {
        name: _SURROGATE.sub(_NOT_UTF8, value)
        for name, value in msgspec.structs.asdict(target.options).items()
        if isinstance(value, str)
    }
    return Target(_SURROGATE.sub(_NOT_UTF8, target.url), msgspec.structs.replace(target.options, **texts))
