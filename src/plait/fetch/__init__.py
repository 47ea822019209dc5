"""The fetch pipeline: a FetchFunc for http and https targets, made of get, extract and select."""

from __future__ import annotations

from plait.net.extra import missing

try:
    from plait.fetch.pipeline import Fetch
except ModuleNotFoundError as error:
    raise missing(error) from error

__all__ = ["Fetch"]
