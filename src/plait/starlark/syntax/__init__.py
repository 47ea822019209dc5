"""The language's syntax: characters to tokens to a tree."""

from plait.starlark.syntax.parser import parse
from plait.starlark.syntax.source import Source

__all__ = ["Source", "parse"]
