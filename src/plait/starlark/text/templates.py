"""Templates: those of the ``%`` operator and of ``str.format``, each taken apart once and remembered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plait.starlark.errors import EvalError, StepLimitExceeded

if TYPE_CHECKING:
    from collections.abc import Callable

    from plait.starlark.thread import Thread

__all__ = ["FORMATS", "PERCENTS", "Format", "Percent", "format_plan", "percent_plan"]

_REMEMBERED = 512
"""Templates remembered of each kind; then all are forgotten at once."""

_TEMPLATE_MAX = 200
"""Longest template in characters that is remembered; a longer one is charged for by the field."""

_NATIVE = frozenset("sdioxXefEF")
"""Conversions that CPython carries out as the language has it, for strings and for small numbers."""


class _Template:
    """A template taken apart.

    Attributes:
        pieces: The literal texts at even places, a hole for each field at the odd places between.
        holes: The odd places.
        filled: The same template for CPython's ``%`` with a string for each field.
        size: Characters of the template.
        failure: What is wrong behind the last field; empty when nothing is.
    """

    __slots__ = ("failure", "filled", "holes", "pieces", "size")

    def __init__(self, literals: list[str], size: int, failure: str) -> None:
        self.pieces = [""] * (2 * len(literals) - 1)
        self.pieces[::2] = literals
        self.holes = range(1, len(self.pieces), 2)
        self.filled = "%s".join([literal.replace("%", "%%") for literal in literals])
        self.size = size
        self.failure = failure


class Percent(_Template):
    """A template of the ``%`` operator.

    Attributes:
        verbs: The conversion of each field: one character, none when the template ends there.
        keys: The name in brackets of each field or ``None``.
        sound: Nothing is wrong with the template, and either all of its fields have names or none has.
        named: It is sound and its fields have names.
        bare: The same template without the names.
        native: All conversions are such that CPython does the same with strings and small numbers, or refuses them.
        affixes: What stands before and behind the only field of a template with one ``%s``; ``None`` for any other.
    """

    __slots__ = ("affixes", "bare", "keys", "named", "native", "sound", "verbs")

    def __init__(self, literals: list[str], size: int, failure: str, verbs: list[str], keys: list[str | None]) -> None:
        super().__init__(literals, size, failure)
        self.verbs = tuple(verbs)
        self.keys = tuple(keys)
        names = sum(key is not None for key in keys)
        self.sound = not failure and all(verbs) and names in {0, len(verbs)}
        self.named = self.sound and names > 0
        self.native = self.sound and all(verb in _NATIVE for verb in verbs)
        self.affixes = (literals[0], literals[1]) if self.native and verbs == ["s"] and not names else None
        literals = [literal.replace("%", "%%") for literal in literals]
        self.bare = literals[0] + "".join([f"%{verb}{text}" for verb, text in zip(verbs, literals[1:], strict=True)])


PERCENTS: dict[str, Percent] = {}
"""Those of the ``%`` operator that are remembered, by their texts."""


def percent_plan(thread: Thread, template: str) -> Percent:
    """Take a template of the ``%`` operator apart, and remember it.

    Args:
        thread: Charged for the fields of a template too long to be remembered.
        template: The template.
    """
    remember = len(template) <= _TEMPLATE_MAX
    literals, verbs, keys, failure = [""], [], [], ""
    literal: list[str] = []
    position = 0
    while True:
        sign = template.find("%", position)
        literal.append(template[position:] if sign < 0 else template[position:sign])
        if sign < 0:
            break
        if not remember:
            thread.charge(1)
        position = sign + 1
        if template.startswith("%", position):
            literal.append("%")
            position += 1
            continue
        key = None
        if template.startswith("(", position):
            end = template.find(")", position)
            if end < 0:
                failure = "incomplete format key"
                break
            key, position = template[position + 1 : end], end + 1
        literals[-1] = "".join(literal)
        literals.append("")
        literal.clear()
        verbs.append(template[position : position + 1])
        keys.append(key)
        position += 1
    literals[-1] = "".join(literal)
    plan = Percent(literals, len(template), failure, verbs, keys)
    if remember:
        _remember(PERCENTS, template, plan)
    return plan


def _remember(plans: dict[str, Any], template: str, plan: _Template) -> None:
    if len(plans) >= _REMEMBERED:
        plans.clear()
    plans[template] = plan


class _Field:
    """A replacement field of ``str.format``: what it shows, how, and what comes after a colon."""

    __slots__ = ("conversion", "quoted", "selector", "spec")

    def __init__(self, selector: int | str, conversion: str, spec: str) -> None:
        self.selector = selector
        self.conversion = conversion
        self.quoted = conversion == "r"
        self.spec = spec


class Format(_Template):
    """A template of ``str.format``.

    Attributes:
        fields: The replacement fields; their selectors are positions of arguments or names of keyword arguments.
        simple: How many fields there are when each is ``{}``, and nothing is wrong; -1 otherwise.
        selectors: What each field shows; empty when something is wrong.
        quoted: Fields have a conversion to a literal.
    """

    __slots__ = ("fields", "quoted", "selectors", "simple")

    def __init__(self, literals: list[str], size: int, failure: str, fields: list[_Field], simple: bool) -> None:
        super().__init__(literals, size, failure)
        self.fields = tuple(fields)
        sound = not failure and not any(field.spec or field.conversion not in {"s", "r"} for field in fields)
        self.selectors: tuple[Any, ...] = tuple([field.selector for field in fields]) if sound else ()
        self.quoted = any(field.quoted for field in fields)
        self.simple = len(fields) if simple and not failure else -1


FORMATS: dict[str, Format] = {}
"""Those of ``str.format`` that are remembered, by their texts."""


def format_plan(thread: Thread, template: str) -> Format:
    """Take a template of ``str.format`` apart, and remember it.

    Args:
        thread: Charged for the braces of a template too long to be remembered.
        template: The template.
    """
    remember = len(template) <= _TEMPLATE_MAX
    plan = _FormatParser(template, None if remember else thread.charge).parse()
    if remember:
        _remember(FORMATS, template, plan)
    return plan


class _FormatParser:
    """Takes one template of ``str.format`` apart, up to the first thing that is wrong with it.

    Args:
        template: The template.
        charge: Called with 1 for each brace; ``None`` for a template so short that it needs no charge.
    """

    def __init__(self, template: str, charge: Callable[[int], None] | None) -> None:
        self._template = template
        self._charge = charge
        self._literals: list[list[str]] = [[]]
        self._fields: list[_Field] = []
        self._automatic = 0
        self._manual = False
        self._named = False

    def parse(self) -> Format:
        """Return the parts; what is wrong is remembered behind the last field that is right."""
        failure = ""
        try:
            self._scan()
        except StepLimitExceeded:
            raise
        except EvalError as error:
            failure = error.message
        literals = ["".join(texts) for texts in self._literals]
        simple = self._automatic == len(self._fields) and all(f.conversion == "s" and not f.spec for f in self._fields)
        return Format(literals, len(self._template), failure, self._fields, simple)

    def _scan(self) -> None:
        template, position = self._template, 0
        while True:
            brace = template.find("{", position)
            self._literal(template[position:] if brace < 0 else template[position:brace])
            if brace < 0:
                return
            if self._charge is not None:
                self._charge(1)
            if template.startswith("{", brace + 1):
                self._literals[-1].append("{")
                position = brace + 2
                continue
            end = template.find("}", brace)
            if end < 0:
                raise EvalError("format: unmatched '{' in format")
            self._field(template[brace + 1 : end])
            position = end + 1

    def _literal(self, text: str) -> None:
        if "}" in text.replace("}}", ""):
            raise EvalError("format: single '}' in format")
        self._literals[-1].append(text.replace("}}", "}"))

    def _field(self, text: str) -> None:
        name, mark, rest = text.partition("!")
        if mark:
            conversion, _, spec = rest.partition(":")
        else:
            name, _, spec = text.partition(":")
            conversion = "s"
        self._fields.append(_Field(self._selector(name), conversion, spec))
        self._literals.append([])

    def _selector(self, name: str) -> int | str:
        if not name:
            if self._manual:
                problem = "cannot switch from manual field specification to automatic field numbering"
                raise EvalError(f"format: {problem}")
            self._automatic += 1
            return self._automatic - 1
        if not (name.isascii() and name.isdigit() and len(name) < 19):
            return name
        if self._automatic:
            problem = "cannot switch from automatic field numbering to manual field specification"
            raise EvalError(f"format: {problem}")
        self._manual = True
        return int(name)
