"""String templates that are known when a file is compiled: ``"%s: %d" % (a, b)`` and ``"{}: {}".format(a, b)``."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

__all__ = ["Template", "braces_template", "percent_template"]

_PERCENT: Final = re.compile(r"%(.)|([^%]+)", re.DOTALL)
_FIELD: Final = re.compile(r"\{(\d{1,3}|[A-Za-z_]\w*)?\}|(\{\{|\}\})|([^{}]+)")
_FIELDS_MAX: Final = 8


class Template(NamedTuple):
    """A template of Python's ``%`` operator that gives the same text for short strings and integers.

    Attributes:
        text: The template.
        verbs: ``s`` or ``d`` for each field.
        fields: What each field shows: a place among the arguments, or a name.
    """

    text: str
    verbs: str
    fields: tuple[int | str, ...]


def percent_template(text: str) -> Template | None:
    """Return the template of a ``%`` expression, ``None`` when it needs more than ``%s``, ``%d`` and ``%%``."""
    verbs = []
    at = 0
    for found in _PERCENT.finditer(text):
        if found.start() != at:
            return None
        at = found.end()
        verb = found[1]
        if verb is None or verb == "%":
            continue
        if verb not in "sd":
            return None
        verbs.append(verb)
    if at != len(text) or not 1 <= len(verbs) <= _FIELDS_MAX:
        return None
    return Template(text, "".join(verbs), tuple(range(len(verbs))))


def braces_template(text: str) -> Template | None:
    """Return the template of a ``format`` call, ``None`` when it needs more than plain fields."""
    parts: list[str] = []
    fields: list[int | str] = []
    numbered = automatic = False
    at = 0
    for found in _FIELD.finditer(text):
        if found.start() != at:
            return None
        at = found.end()
        if found[3] is not None:
            parts.append(found[3].replace("%", "%%"))
        elif found[2] is not None:
            parts.append(found[2][0])
        else:
            name = found[1]
            parts.append("%s")
            if not name:
                automatic = True
                fields.append(sum(1 for field in fields if isinstance(field, int)))
            elif name.isdecimal():
                numbered = True
                fields.append(int(name))
            else:
                fields.append(name)
    if at != len(text) or not 1 <= len(fields) <= _FIELDS_MAX or (numbered and automatic):
        return None
    return Template("".join(parts), "s" * len(fields), tuple(fields))
