"""Random programs: typed ones that nearly always run, and wild ones that try whatever the language has.

Every program is drawn from a ``random.Random``, so that Hypothesis can draw it too and shrink it.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from tests.starlark.grammar import COMMON, HOSTILE, KINDS, RUST, WILD, Rules

__all__ = ["Generator", "common_program", "hostile_bytes", "mutated", "starlark_program", "wild_program"]

_HOLE: Final = re.compile(r"\{(?P<kind>" + "|".join(WILD) + r")(?::(?P<binders>[@#\w,]+))?\}")
_NAMES: Final = {"int": "i", "float": "x", "str": "s", "bool": "b", "ints": "l", "strs": "w", "dict": "d", "pair": "t"}


class Generator:
    """Draws expressions and statements of known kinds.

    Args:
        rng: Where every choice comes from.
        rules: Templates of expressions by kind.
        mistakes: How often, of a thousand, an expression has another kind than it should.
        wild: Also write what other engines than ours do not know.
    """

    def __init__(self, rng: random.Random, rules: Rules, *, mistakes: int = 0, wild: bool = False) -> None:
        self.rng = rng
        self.rules = rules
        self.mistakes = mistakes
        self.wild = wild
        self.scope: dict[str, str] = {}
        self.functions: list[tuple[str, tuple[str, ...], str]] = []
        self.loops = 0
        self._count = 0

    # ---- expressions

    def fresh(self, kind: str) -> str:
        """A name that is used nowhere else."""
        self._count += 1
        return f"{_NAMES.get(kind, 'v')}{self._count}"

    def expression(self, kind: str, depth: int) -> str:
        """An expression of a kind, nested at most so deeply."""
        if self.mistakes and self.rng.randrange(1000) < self.mistakes:
            kind = self.rng.choice(KINDS)
        names = [name for name, known in self.scope.items() if known == kind]
        if names and (depth <= 0 or self.rng.randrange(10) < 3):
            return self.rng.choice(names)
        if depth > 0 and self.rng.randrange(10) < 1 and (call := self._call(kind, depth)):
            return call
        rules = self.rules[kind]
        template = self.rng.choice(rules.leaves if depth <= 0 or self.rng.randrange(10) < 2 else rules.branches)
        return self.filled(template, depth - 1)

    def filled(self, template: str, depth: int) -> str:
        """A template with its holes filled."""
        bound = {mark: self.fresh("") for mark in "@#" if mark in template}

        def fill(hole: re.Match[str]) -> str:
            outer = self.scope
            if hole["binders"]:
                pairs = (binder[0] + ":" + binder[1:] for binder in hole["binders"].split(","))
                self.scope = outer | {bound[mark]: kind for mark, kind in (pair.split(":") for pair in pairs)}
            written = self.expression(hole["kind"], depth)
            self.scope = outer
            return written

        text = _HOLE.sub(fill, template)
        for mark, name in bound.items():
            text = text.replace(mark, name)
        return text

    def _call(self, kind: str, depth: int) -> str:
        fitting = [function for function in self.functions if function[2] == kind]
        if not fitting or self.loops > 1:
            return ""
        name, parameters, _ = self.rng.choice(fitting)
        return f"{name}({', '.join(self.expression(each, depth - 1) for each in parameters)})"

    # ---- statements

    def block(self, size: int, depth: int, result: str) -> list[str]:
        """Statements of a block; what it binds is known no longer after it."""
        outer = dict(self.scope)
        lines: list[str] = []
        for _ in range(self.rng.randint(1, size)):
            lines += self.statement(depth, result)
        self.scope = outer
        return lines

    def statement(self, depth: int, result: str) -> list[str]:
        """One statement, as lines."""
        choices: Sequence[Callable[[int, str], list[str]]] = (
            self._assignment, self._assignment, self._assignment, self._change, self._change, self._if, self._for,
            self._nested if depth > 1 else self._assignment, self._return if depth < 3 else self._assignment,
        )  # fmt: skip
        return self.rng.choice(choices if depth > 0 else choices[:5])(depth, result)

    def _assignment(self, depth: int, _: str) -> list[str]:
        kind = self.rng.choice(KINDS)
        value = self.expression(kind, depth)
        names = [name for name, known in self.scope.items() if known == kind]
        name = self.rng.choice(names) if names and self.rng.randrange(2) else self.fresh(kind)
        self.scope[name] = kind
        if self.wild and self.rng.randrange(2):
            return [f"{name} = attempt(lambda: {value}, {self.expression(kind, 0)})"]
        if kind == "int":
            return [f"{name} = ({value}) % 1000003"]
        return [f"{name} = {value}"]

    def _change(self, depth: int, _: str) -> list[str]:
        changes = HOSTILE if self.wild and self.rng.randrange(3) == 0 else _CHANGES
        kind = self.rng.choice(sorted(changes))
        names = [name for name, known in self.scope.items() if known == kind]
        if not names:
            return self._assignment(depth, "")
        return self.filled(self.rng.choice(changes[kind]).replace("$", self.rng.choice(names)), depth - 1).split("\n")

    def _if(self, depth: int, result: str) -> list[str]:
        lines = [f"if {self.expression('bool', depth - 1)}:", *_indented(self.block(2, depth - 1, result))]
        if self.rng.randrange(2):
            lines += [f"elif {self.expression('bool', depth - 1)}:", *_indented(self.block(2, depth - 1, result))]
        if self.rng.randrange(2):
            lines += ["else:", *_indented(self.block(2, depth - 1, result))]
        return lines

    def _for(self, depth: int, result: str) -> list[str]:
        outer = dict(self.scope)
        head, kinds = self.rng.choice(_LOOPS)
        names = [self.fresh(kind) for kind in kinds]
        iterable = self.filled(head, depth - 1)
        if self.wild and iterable.startswith("list(") and self.rng.randrange(2):
            iterable = iterable.removeprefix("list")
        self.scope |= dict(zip(names, kinds, strict=True))
        self.loops += 1
        body = self.block(3, depth - 1, result)
        if self.rng.randrange(3) == 0:
            body += [f"if {self.expression('bool', 1)}:", f"    {self.rng.choice(['break', 'continue'])}"]
        self.loops -= 1
        self.scope = outer
        return [f"for {', '.join(names)} in {iterable}:", *_indented(body)]

    def _nested(self, depth: int, _: str) -> list[str]:
        """A closure, and a call of it."""
        outer = dict(self.scope)
        kind, given = self.rng.choice(KINDS), self.rng.choice(KINDS)
        name, parameter = self.fresh("f"), self.fresh(given)
        loops, self.loops = self.loops, 2
        self.scope = {known: each for known, each in outer.items() if not self.wild or self.rng.randrange(4)}
        # What the closure assigns would be its own, unknown until then: it may only read what is outside.
        self.scope[parameter] = given
        value = self.expression(kind, depth)
        self.scope, self.loops = outer, loops
        variable = self.fresh(kind)
        argument = self.expression(given, depth - 1)
        self.scope[variable] = kind
        return [f"def {name}({parameter}):", f"    return {value}", f"{variable} = {name}({argument})"]

    def _return(self, depth: int, result: str) -> list[str]:
        return [f"if {self.expression('bool', 1)}:", f"    return {self.expression(result, depth)}"]

    def function(self) -> list[str]:
        """A function at the top level, which later ones may call."""
        parameters = [self.rng.choice(KINDS) for _ in range(self.rng.randint(0, 3))]
        names = [self.fresh(kind) for kind in parameters]
        kind = self.rng.choice(KINDS)
        outer, self.scope = self.scope, dict(zip(names, parameters, strict=True))
        body: list[str] = []
        for _ in range(self.rng.randint(1, 5)):
            body += self.statement(3, kind)
        body.append(f"return {self.expression(kind, 3)}")
        self.scope = outer
        name = self.fresh("f")
        self.functions.append((name, tuple(parameters), kind))
        return [f"def {name}({', '.join(names)}):", *_indented(body)]

    def program(self) -> str:
        """A file whose global ``out`` holds what its functions return."""
        lines: list[str] = []
        for _ in range(self.rng.randint(1, 3)):
            lines += self.function()
        calls = []
        for name, parameters, _ in self.functions:
            for _ in range(2):
                call = f"{name}({', '.join(self.expression(each, 1) for each in parameters)})"
                calls.append(f"attempt(lambda: {call})" if self.wild else call)
        return "\n".join([*lines, f"out = [{', '.join(calls)}]"]) + "\n"


def _indented(lines: Sequence[str]) -> list[str]:
    return ["    " + line for line in lines]


_LOOPS: Final[Sequence[tuple[str, tuple[str, ...]]]] = (
    ("range({int} % 5)", ("int",)),
    ("list({ints})[:5]", ("int",)),
    ("list({strs})[:5]", ("str",)),
    ("enumerate({strs})", ("int", "str")),
    ("list(({dict}).items())[:5]", ("str", "int")),
    ("zip({ints}, {strs})", ("int", "str")),
)

_CHANGES: Final[Mapping[str, Sequence[str]]] = {
    "int": ["$ += {int} % 1000", "$ -= {int} % 1000", "$ = ($ * 3 + {int}) % 1000003", "$ //= 3", "$ ^= {int} % 64"],
    "float": ["$ += {float}", "$ = $ * 0.5"],
    "str": ["$ += {str}", "$ = $[:20]"],
    "ints": ["$.append({int})", "$.extend({ints})", "$ += {ints}", "$.insert(0, {int})", "$ = $[:9]",
             "if $:\n    $.pop()", "if $:\n    $[0] = {int}", "if $:\n    $[-1] += 1", "if {int} in $:\n    $.clear()"],
    "strs": ["$.append({str})", "$ = $[:9]", "if $:\n    $[0] = {str}", "if $:\n    $.pop(0)"],
    "dict": ["$[{str}] = {int}", "$.update({dict})", "$.pop({str}, None)", "$.setdefault({str}, {int})",
             "if {str} in $:\n    $.clear()"],
}  # fmt: skip


def common_program(rng: random.Random) -> str:
    """A program of what CPython and Plait have in common."""
    return Generator(rng, COMMON).program()


def starlark_program(rng: random.Random) -> str:
    """A program of what starlark-rust and Plait have in common."""
    return Generator(rng, RUST).program()


def wild_program(rng: random.Random) -> str:
    """A program of all that Plait knows, with a mistake here and there."""
    return Generator(rng, WILD, mistakes=rng.choice([0, 20, 100]), wild=True).program()


# ---- mutations of given programs

_TOKEN: Final = re.compile(r"\s+|\w+|\"[^\"\n]*\"|'[^'\n]*'|[^\w\s]")


def _class(token: str) -> str:
    return (
        "name" if token.isidentifier() else "number" if token[0].isdigit() else "text" if token[0] in "\"'" else token
    )


def mutated(rng: random.Random, source: str, others: Sequence[str]) -> str:
    """A program with some of its tokens dropped, doubled, swapped, or replaced by tokens of it or of others."""
    tokens = _TOKEN.findall(source)
    pool = [token for token in tokens + _TOKEN.findall(rng.choice(others)) if not token.isspace()]
    for _ in range(rng.choice([1, 1, 1, 2, 3, 6])):
        places = [place for place, token in enumerate(tokens) if not token.isspace()]
        if not places:
            break
        at, action = rng.choice(places), rng.randrange(10)
        if action == 0:
            del tokens[at]
        elif action == 1:
            tokens.insert(at, tokens[at])
        elif action == 2:
            tokens[at:at] = pool[(start := rng.randrange(len(pool))) : start + rng.randint(1, 12)]
        elif action == 3:
            other = rng.choice(places)
            tokens[at], tokens[other] = tokens[other], tokens[at]
        elif action == 4:
            tokens[at] = rng.choice(pool)
        else:
            tokens[at] = rng.choice([token for token in pool if _class(token) == _class(tokens[at])] or pool)
    return "".join(tokens)


def hostile_bytes(rng: random.Random, source: str) -> str:
    """A program with some of its bytes changed; what is then no text becomes lone surrogates."""
    data = bytearray(source.encode(errors="surrogatepass"))
    for _ in range(rng.randint(1, 8)):
        at = rng.randrange(len(data) + 1)
        piece = bytes(
            [rng.choice(b"()[]{}:,'\"\\\n\t =+-*/%<>.\x00\x0c\r\xff\xc3#") if rng.randrange(3) else rng.randrange(256)]
        )
        if rng.randrange(2):
            data[at:at] = piece
        else:
            data[at : at + rng.randint(1, 4)] = piece
    return data.decode(errors="surrogateescape")
