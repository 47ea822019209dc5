"""Text: values as text and text as values, gathered from the modules that make it."""

from __future__ import annotations

from plait.starlark.text.formatting import format_text, percent
from plait.starlark.text.numbers import float_text, int_text, parse_digits
from plait.starlark.text.quoting import quote, quote_bytes
from plait.starlark.text.representation import to_repr, to_text

__all__ = [
    "float_text",
    "format_text",
    "int_text",
    "parse_digits",
    "percent",
    "quote",
    "quote_bytes",
    "to_repr",
    "to_text",
]
