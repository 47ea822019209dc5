"""The fetch pipeline: a FetchFunc for http and https targets, made of get, extract and select."""

from __future__ import annotations

from plait.net.extra import missing as _missing

try:
    from plait.fetch.pipeline import Fetch
except ModuleNotFoundError as error:
    raise _missing(error) from error

__all__ = ["Fetch"]
