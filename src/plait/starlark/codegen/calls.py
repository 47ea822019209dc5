"""Calls: of functions, builtins and methods; and the slices that loops iterate over."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from plait.starlark.codegen import builder as b
from plait.starlark.codegen.arithmetic import Arithmetic
from plait.starlark.codegen.scope import CALL_COST, operand, parameter_name
from plait.starlark.codegen.templates import Template, braces_template, percent_template
from plait.starlark.resolving.bindings import UNIVERSAL
from plait.starlark.resolving.effects import PLAIN_METHODS
from plait.starlark.resolving.inference import ANY, NUMERIC, SMALL, STR, kind_of
from plait.starlark.syntax import nodes as n

if TYPE_CHECKING:
    from plait.starlark.resolving.bindings import LoopFacts

__all__ = ["STRING_METHODS", "Calls"]

STRING_METHODS: Final = frozenset(
    [
        "capitalize",
        "count",
        "endswith",
        "find",
        "format",
        "isalnum",
        "isalpha",
        "isdigit",
        "islower",
        "isspace",
        "istitle",
        "isupper",
        "join",
        "lower",
        "lstrip",
        "partition",
        "removeprefix",
        "removesuffix",
        "replace",
        "rfind",
        "rindex",
        "rpartition",
        "rsplit",
        "rstrip",
        "split",
        "splitlines",
        "startswith",
        "strip",
        "title",
        "upper",
    ]
)
"""Methods that only strings have: called without a look into a table when the receiver is a string."""
_SMALL_BITS: Final = 61
_SHORT: Final = 96
"""Texts up to this length are not worth charging for."""
_BLANKS: Final = " \t\n\v\f\r"
"""What ``strip`` takes off an ASCII string."""
_PYTHON_METHODS: Final = {
    ("upper", 0): (True, 256), ("lower", 0): (True, 256), ("strip", 0): (True, 256), ("lstrip", 0): (True, 256),
    ("rstrip", 0): (True, 256), ("startswith", 1): (False, 4_096), ("endswith", 1): (False, 4_096),
    ("split", 1): (False, 64), ("replace", 2): (False, 64), ("find", 1): (False, 256),
}  # fmt: skip
"""Methods by name and number of constant arguments: whether the string must be ASCII, and shorter than what."""
_DICT_METHODS: Final = frozenset({"items", "keys", "values"})


_FRESH_BUILTINS: Final = frozenset(
    {"dict", "enumerate", "list", "range", "reversed", "set", "sorted", "tuple", "zip", "dir"}
)


def is_fresh(x: n.Node) -> bool:
    """Tell whether what a loop iterates over is surely new, so that nothing can change it while the loop runs."""
    if type(x) is n.Paren:
        return is_fresh(x.x)
    if type(x) is n.Call and type(x.function) is n.Name:
        return x.function.binding.scope == UNIVERSAL and x.function.name in _FRESH_BUILTINS
    return type(x) in (n.List, n.Tuple, n.Comprehension, n.Slice)


class Calls(Arithmetic):
    """Writes calls."""

    def value(self, node: n.Node) -> ast.expr:
        """Write an expression for its value; the subclass knows how."""
        raise NotImplementedError

    def kinded(self, node: n.Node) -> tuple[ast.expr, str]:
        """Write an expression for its value with its kind; the subclass knows how."""
        raise NotImplementedError

    def call(self, node: n.Call) -> ast.expr:
        """Write a call."""
        self.cost += CALL_COST
        function: n.Node = node.function
        while type(function) is n.Paren:
            function = function.x
        starred = any(kind in ("*", "**") for kind, _, _, _ in node.arguments)
        if type(function) is n.Attribute and function.name in PLAIN_METHODS and not starred:
            return self._method(function, node)
        if type(function) is n.Name and function.binding.scope == UNIVERSAL and not starred:
            return self._universal(function, node)
        self.calls = True
        callee = self.value(function)
        if starred or (self.plain and not isinstance(callee, ast.Name)):
            return self._starred(callee, node)
        site = self.site(node.offset)
        if (
            not isinstance(callee, ast.Name) or callee.id in self.hidden
        ):  # a name even for a constant: Python would warn of its call
            callee = b.named(self.temporary(), callee, site)
        positional, keywords = self._arguments(node)
        site = self.site(
            node.offset, "call", operand(callee), len(positional), tuple(str(keyword.arg) for keyword in keywords)
        )
        self.kind = ANY
        return b.call(callee, [b.name(b.THREAD, site), *positional], site, keywords)

    def _arguments(self, node: n.Call) -> tuple[list[ast.expr], list[ast.keyword]]:
        positional: list[ast.expr] = []
        keywords: list[ast.keyword] = []
        for kind, name, value, _ in node.arguments:
            written = self.value(value)
            if kind == "=":
                keywords.append(ast.keyword(parameter_name(name), written))
                keywords[-1].lineno, keywords[-1].col_offset = len(self.sites) or 1, 0
            else:
                positional.append(written)
        return positional, keywords

    def _universal(self, function: n.Name, node: n.Call) -> ast.expr:
        name = function.name
        positional, keywords = self._arguments(node)
        kind = self.kind
        self.kind = kind_of(node) or ANY
        if name == "len" and len(positional) == 1 and not keywords:
            if self.plain and not self.is_simple(positional[0]):
                return b.call(".u.len", [b.name(b.THREAD, len(self.sites)), positional[0]], self.site(node.offset))
            x = self.keep(positional[0], self.site(node.offset))
            return b.call(".len", [x], self.site(node.offset, "len", operand(x)))
        if name == "str" and len(positional) == 1 and not keywords and kind == STR:
            return positional[0]
        if name == "str" and len(positional) == 1 and not keywords and not (self.plain or self.compact):
            return self._str(positional[0], node)
        if any(keyword.arg == "key" for keyword in keywords):
            self.calls = True
        names = tuple(str(keyword.arg) for keyword in keywords)
        site = self.site(node.offset, "call", f".u.{name}", len(positional), names)
        return b.call(f".u.{name}", [b.name(b.THREAD, site), *positional], site, keywords)

    def _str(self, x: ast.expr, node: n.Call) -> ast.expr:
        """Write ``str(x)``, which Python does for a small integer, and nobody needs to do for a string."""
        site = self.site(node.offset)
        kept = self.keep(x, site)
        again, kind = self.again(kept, site), self.temporary()
        type_of = b.named(kind, b.call(".type", [kept], site), site)
        is_int = b.bool_and(
            [b.compare(type_of, "is", b.name(".int", site), site), b.bits_below(again, _SMALL_BITS, site)], site
        )
        slow = b.call(".u.str", [b.name(b.THREAD, site), again], site)
        other = b.conditional(b.is_name(kind, ".str", site), again, slow, site)
        return b.conditional(is_int, b.call(".str", [again], site), other, site)

    def _starred(self, callee: ast.expr, node: n.Call) -> ast.expr:
        """Write a call with ``*args`` or ``**kwargs``: positional and named arguments are evaluated before those."""
        self.calls = True
        plain = n.Call(node.offset, node.start, node.function, [a for a in node.arguments if a[0] in ("", "=")])
        positional, keywords = self._arguments(plain)
        star = next((self.value(value) for kind, _, value, _ in node.arguments if kind == "*"), None)
        stars = next((self.value(value) for kind, _, value, _ in node.arguments if kind == "**"), None)
        self.kind = ANY
        site = self.site(node.offset)
        none = b.name(".ABSENT", site)
        named = ast.Dict(
            [b.constant(keyword.arg, site) for keyword in keywords], [keyword.value for keyword in keywords]
        )
        named.lineno, named.col_offset = site, 0
        arguments = [callee, b.tuple_of(positional, site), named, star or none, stars or none]
        return b.call(".call_starred", [b.name(b.THREAD, site), *arguments], site)

    def _method(self, function: n.Attribute, node: n.Call) -> ast.expr:
        name = function.name
        if name == "format" and type(function.x) is n.Literal and not (self.plain or self.compact):
            written = self.braces(function.x, node)
            if written is not None:
                return written
        x = self.value(function.x)
        site = self.site(node.offset)
        kept = x if self.plain else self.keep(x, site)
        positional, keywords = self._arguments(node)
        key_kind = kind_of(node.arguments[0][2]) if node.arguments else ANY
        self.kind = ANY
        site = self.site(node.offset)
        thread = b.name(b.THREAD, site)
        again = self.again(kept, site)
        kind = ".str" if name in STRING_METHODS else ".dict" if name in _DICT_METHODS else ""
        is_get = name == "get" and 1 <= len(positional) <= 2
        if not (kind or is_get) or keywords or self.plain or self.compact:
            return self._method_call(kept, name, positional, keywords, site)
        tests: list[ast.expr] = []
        if not all(self.is_simple(argument) for argument in positional):
            tests, positional = self.evaluated_all([kept, *positional], site)
            kept, again, positional = positional[0], positional[0], positional[1:]
        if name == "get" and not self.iterated:
            slow = b.call(".get", [thread, again, *positional], site)
        else:
            slow = self._method_call(again, name, positional, keywords, site)
        if name == "get":
            return self._get(tests, kept, again, positional, key_kind, slow, site)
        fast = b.call(f".m{kind}.{name}", [thread, again, *positional], self._method_site(node, kind, name, positional))
        if kind == ".str":
            fast = self._by_python(name, again, positional, fast, site)
        tests.append(b.type_is(kept, kind, site) if kind == ".str" else self.is_dict(kept, site))
        return b.conditional(b.bool_and(tests, site), fast, slow, site)

    @staticmethod
    def _by_python(name: str, x: ast.expr, positional: list[ast.expr], otherwise: ast.expr, site: int) -> ast.expr:
        """Write a method of a string as Python's own, where that is the same: of short strings, some of ASCII alone."""
        texts = [argument.value for argument in positional if isinstance(argument, ast.Constant)]
        if len(texts) != len(positional) or not all(type(text) is str and 0 < len(text) < _SHORT for text in texts):
            return otherwise
        form = (name, len(texts))
        if form not in _PYTHON_METHODS:
            return otherwise
        ascii_only, most = _PYTHON_METHODS[form]
        tests = [b.compare(b.call(".len", [x], site), "<", b.constant(most, site), site)]
        if ascii_only:
            tests.append(b.call(b.attribute(x, "isascii", site), [], site))
        arguments = positional or ([b.constant(_BLANKS, site)] if name.endswith("strip") else [])
        result = b.call(b.attribute(x, name, site), arguments, site)
        if name in ("startswith", "endswith"):
            result = b.conditional(result, b.name(".TRUE", site), b.name(".FALSE", site), site)
        return b.conditional(b.bool_and(tests, site), result, otherwise, site)

    def _method_site(self, node: n.Call, kind: str, name: str, positional: list[ast.expr]) -> int:
        return self.site(node.offset, "call", f".m{kind}.{name}", len(positional), ())

    def _method_call(
        self, x: ast.expr, name: str, positional: list[ast.expr], keywords: list[ast.keyword], site: int
    ) -> ast.expr:
        iterated = [b.name(identifier, site) for identifier in self.iterated]
        head = [b.name(b.THREAD, site), b.tuple_of(iterated, site)] if iterated else [b.name(b.THREAD, site)]
        helper = ".call_method_locked" if iterated else ".call_method"
        return b.call(helper, [*head, x, b.constant(name, site), *positional], site, keywords)

    def _get(  # noqa: PLR0917 - a node's parts, each with what is known of it
        self,
        tests: list[ast.expr],
        kept: ast.expr,
        again: ast.expr,
        positional: list[ast.expr],
        key_kind: str | None,
        slow: ast.expr,
        site: int,
    ) -> ast.expr:
        """Write ``x.get(key)`` or ``x.get(key, default)``, which a dict does by itself."""
        tests.append(self.is_dict(kept, site))
        if key_kind not in (STR, SMALL):
            tests.append(self.plain_key(positional[0], self.temporary(), site))
        fast = b.call(b.attribute(again, "get", site), positional, site)
        return b.conditional(b.bool_and(tests, site), fast, slow, site)

    def is_dict(self, x: ast.expr, site: int) -> ast.expr:
        """Write the condition that a value is a dict, frozen or not."""
        kind = self.temporary()
        kept = b.named(kind, b.call(".type", [x], site), site)
        return b.bool_or(
            [b.compare(kept, "is", b.name(".dict", site), site), b.is_name(kind, ".FrozenDict", site)], site
        )

    # ---- templates

    def percent(self, node: n.Binary) -> ast.expr | None:
        """Write ``"template" % arguments`` inline, for integers and short strings."""
        assert isinstance(node.x, n.Literal)  # noqa: S101 - the callers and the parser see to it
        template = percent_template(node.x.value)
        y: n.Node = node.y
        while type(y) is n.Paren:
            y = y.x
        items = y.items if type(y) is n.Tuple else [y]
        if template is None or len(items) != len(template.verbs):
            return None
        values = [self.kinded(item) for item in items]
        self.cost += 2
        site = self.site(node.offset)
        tests, arguments = self.evaluated_all([value for value, _ in values], site)
        site = self.site(node.offset)
        whole = b.tuple_of(arguments, site) if type(y) is n.Tuple else arguments[0]
        slow = b.call(".%", [b.name(b.THREAD, site), b.constant(node.x.value, site), whole], site)
        return self._filled(template, tests, arguments, [kind for _, kind in values], slow, site)

    def braces(self, literal: n.Literal, node: n.Call) -> ast.expr | None:
        """Write ``"template".format(arguments)`` inline, for integers and short strings."""
        template = braces_template(literal.value) if type(literal.value) is str else None
        if template is None:
            return None
        names = {name: place for place, (kind, name, _, _) in enumerate(node.arguments) if kind == "="}
        count = len(node.arguments) - len(names)
        places = [field if isinstance(field, int) else names.get(field, -1) for field in template.fields]
        if any(
            place < 0 or (isinstance(field, int) and place >= count)
            for place, field in zip(places, template.fields, strict=True)
        ):
            return None
        values = [self.kinded(value) for _, _, value, _ in node.arguments]
        self.cost += 2
        site = self.site(node.offset)
        tests, arguments = self.evaluated_all([value for value, _ in values], site)
        site = self.site(node.offset)
        keywords = [ast.keyword(name, arguments[place]) for name, place in names.items()]
        for keyword in keywords:
            keyword.lineno, keyword.col_offset = site, 0
        slow = self._method_call(b.constant(literal.value, site), "format", arguments[:count], keywords, site)
        shown = [arguments[place] for place in places]
        return self._filled(template, tests, shown, [values[place][1] for place in places], slow, site)

    def _filled(  # noqa: PLR0917 - a node's parts, each with what is known of it
        self,
        template: Template,
        tests: list[ast.expr],
        arguments: list[ast.expr],
        kinds: list[str],
        slow: ast.expr,
        site: int,
    ) -> ast.expr:
        for verb, argument, kind in zip(template.verbs, arguments, kinds, strict=True):
            if kind == SMALL or (verb == "s" and kind == STR):
                continue
            within = b.bits_below(argument, _SMALL_BITS, site)
            if verb == "d" or kind in NUMERIC:
                tests += [b.type_is(argument, ".int", site), within]
                continue
            name = self.temporary()
            kept = b.named(name, b.call(".type", [argument], site), site)
            is_str = b.compare(kept, "is", b.name(".str", site), site)
            tests.append(b.bool_or([is_str, b.bool_and([b.is_name(name, ".int", site), within], site)], site))
        result = self.temporary()
        text = b.binop(b.constant(template.text, site), "%", b.tuple_of(arguments, site), site)
        size = b.call(".len", [b.named(result, text, site)], site)
        tests.append(b.compare(size, "<", b.constant(_SHORT, site), site))
        self.kind = STR
        return b.conditional(b.bool_and(tests, site), b.name(result, site), slow, site)

    def is_open(self, loop: LoopFacts) -> bool:
        """Tell whether a loop's body may reach code that is not in sight and could change what it iterates over."""
        return loop.unknown or not all(callee.quiet for callee in loop.calls)

    def slices(self, x: n.Node, cost: ast.expr, *, locked: bool, keep: str = "") -> tuple[ast.expr, str]:
        """Write the slices of what a loop iterates over.

        Args:
            x: What it iterates over.
            cost: The constant that will hold the steps of one turn.
            locked: It must be locked against changes while the loop runs.
            keep: A variable to keep it in as well.

        Returns:
            The expression, and the kind of an element.
        """
        locked = locked and not is_fresh(x)
        if type(x) is n.Call and type(x.function) is n.Name and x.function.binding.scope == UNIVERSAL:
            plain = all(argument[0] == "" for argument in x.arguments)
            if x.function.name == "range" and plain and 1 <= len(x.arguments) <= 3:
                arguments = [self.value(argument[2]) for argument in x.arguments]
                self.cost += CALL_COST
                site = self.site(x.offset)
                return b.call(".range_parts", [b.name(b.THREAD, site), cost, *arguments], site), SMALL
            if x.function.name == "enumerate" and plain and len(x.arguments) == 1 and not locked and not keep:
                argument = self.value(x.arguments[0][2])
                self.cost += CALL_COST
                site = self.site(x.offset)
                return b.call(".enumerated_parts", [b.name(b.THREAD, site), cost, argument], site), ANY
        value = self.value(x)
        site = self.site(x.offset)
        if keep:
            value = b.named(keep, value, site)
        return b.call(".locked_parts" if locked else ".parts", [b.name(b.THREAD, site), value, cost], site), ANY
