"""The modules that a host may offer to scripts: json, math, time, and the builtins struct and module."""

from __future__ import annotations

__all__: list[str] = []
