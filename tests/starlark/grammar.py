"""The grammar of random programs: templates of expressions by their kind.

A hole ``{kind}`` is an expression of that kind. ``@`` and ``#`` are new variables; ``{int:@str}`` is an expression in
which ``@`` is known to hold a string.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

__all__ = ["COMMON", "HOSTILE", "KINDS", "RUST", "WILD", "Rule", "Rules"]

KINDS: Final = ("int", "float", "str", "bool", "ints", "strs", "dict", "pair")

_HOLE: Final = re.compile(r"\{[a-z]+(:[^}]*)?\}")


class Rule(NamedTuple):
    """How expressions of one kind are written.

    Attributes:
        leaves: Templates without holes.
        branches: Templates with holes.
    """

    leaves: Sequence[str]
    branches: Sequence[str]


Rules = Mapping[str, Rule]


def _read(text: str) -> dict[str, Rule]:
    """Read rules: after a line ``== kind`` the templates of that kind, with ``;;`` between them."""
    rules = {}
    for part in text.split("\n== ")[1:]:
        kind, _, rest = part.partition("\n")
        templates = [template.strip() for template in rest.split(";;") if template.strip()]
        branches = [template for template in templates if _HOLE.search(template)]
        rules[kind] = Rule([template for template in templates if template not in branches], branches)
    return rules


COMMON: Final[Rules] = _read(r"""
== int
0 ;; 1 ;; 2 ;; 3 ;; 7 ;; 10 ;; -1 ;; -5 ;; 100 ;; 0x1f ;; 0o17 ;; 255 ;; 65536 ;; 2147483647 ;; 9007199254740993 ;;
-9223372036854775808 ;; 100000000000000000000 ;; ({int} + {int}) ;; ({int} - {int}) ;; ({int} * {int}) % 1000003 ;;
(-{int}) ;; (~{int}) ;; ({int} // ({int} or 1)) ;; ({int} % ({int} or 7)) ;; ({int} // {int}) ;; ({int} % {int}) ;;
({int} & {int}) ;; ({int} | {int}) ;; ({int} ^ {int}) ;; ({int} % 64 << {int} % 9) ;; ({int} >> {int} % 9) ;;
len({str}) ;; len({ints}) ;; len({dict}) ;; abs({int}) ;; min({int}, {int}) ;; max({int}, {int}) ;;
({int} if {bool} else {int}) ;; max([{int}] + {ints}) ;; min([{int}] + {ints}) ;; ({ints} + [{int}])[0] ;;
{ints}[{int} % 3] ;; {dict}.get({str}, {int}) ;; {str}.find({str}) ;; {str}.count({str}) ;; {str}.rfind({str}) ;;
int('12') ;; int({str} and '-7' or '8') ;; int('ff', 16) ;; int({float}) ;; {pair}[0] ;;
(lambda @: {int:@int})({int}) ;; ({int} and {int}) ;; ({int} or {int}) ;; ord({str}[0:1] or 'a') ;;
({dict}.get({str}) or {int}) ;; len([@ for @ in {ints} if {bool:@int}]) ;; {ints}.index({int}) ;; int({bool}) ;;
(+{int}) ;; {dict}[{str}]
== float
0.0 ;; 1.0 ;; 0.5 ;; -2.25 ;; 3.0 ;; 1e3 ;; 1e-3 ;; 123.456 ;; ({float} + {float}) ;; ({float} - {float}) ;;
({float} * 0.25) ;; (-{float}) ;; ({float} / 4.0) ;; (({int} % 1000) / 8) ;; float({int} % 1000) ;;
({float} + {int} % 100) ;; ({float} // 2.0) ;; ({float} % 3.0) ;; min({float}, {float}) ;; max({float}, {float}) ;;
({float} if {bool} else {float}) ;; abs({float}) ;; ({int} % 50 * {float}) ;; float('1.5') ;;
({float} // ({int} % 5)) ;; ({int} % 7 / {int})
== str
'' ;; 'a' ;; 'abc' ;; 'Hello, World' ;; '  x y  ' ;; 'a,b,,c' ;; '12' ;; 'Zz' ;; '%' ;; 'a\nb\n' ;; '\t' ;; '{}' ;;
'aXbX' ;; ({str} + {str}) ;; ({str} * ({int} % 4)) ;; {str}[{int} % 5:] ;; {str}[:{int} % 7] ;;
{str}[{int} % 4:{int} % 9] ;; {str}[::-1] ;; {str}[-3::2] ;; {str}[4:{int} % 6 - 3:-1] ;; {str}.upper() ;;
{str}.lower() ;; {str}.strip() ;; {str}.lstrip() ;; {str}.rstrip() ;; {str}.strip('aX ') ;;
{str}.lstrip({str} or 'a') ;; {str}.rstrip({str} or 'b') ;; {str}.replace({str} or 'a', {str}) ;;
{str}.replace('a', {str}, {int} % 3) ;; {str}.title() ;; {str}.capitalize() ;; {str}.join({strs}) ;; str({int}) ;;
('%d' % {int}) ;; ('%s|%d' % ({str}, {int})) ;; ('%x %o' % ({int} % 4096, {int} % 4096)) ;;
'{}:{}'.format({str}, {int}) ;; '{1}-{0}'.format({str}, {int}) ;; '{a}{b}{{}}'.format(a={int}, b={str}) ;;
('%%%s' % {str}) ;; {str}.removeprefix({str}) ;; {str}.removesuffix({str}) ;; ({str} if {bool} else {str}) ;;
({strs} + [{str}])[0] ;; {strs}[{int} % 3] ;; {pair}[1] ;; ({str} or {str}) ;; ({str} and {str}) ;; str({bool}) ;;
','.join([str(@) for @ in {ints}]) ;; chr(97 + {int} % 26) ;; str({ints}) ;; ('%s' % {bool}) ;;
{str}.partition({str} or ' ')[{int} % 3] ;; {str}.rpartition({str} or ' ')[{int} % 3] ;; {str}[{int} % 3] ;;
min({str}, {str}) ;; str({pair}[0]) ;; ('%s %s' % {pair}) ;; (type({str}) and {str})
== bool
True ;; False ;; ({int} == {int}) ;; ({int} != {int}) ;; ({int} < {int}) ;; ({int} <= {int}) ;; ({int} > {int}) ;;
({int} >= {int}) ;; ({str} == {str}) ;; ({str} < {str}) ;; ({str} >= {str}) ;; ({ints} == {ints}) ;;
({ints} < {ints}) ;; ({strs} <= {strs}) ;; ({dict} == {dict}) ;; ({float} < {float}) ;; ({float} == {float}) ;;
({float} <= {int}) ;; ({int} == {float}) ;; ({int} in {ints}) ;; ({int} not in {ints}) ;; ({str} in {str}) ;;
({str} in {strs}) ;; ({str} in {dict}) ;; ({str} not in {dict}) ;; (not {bool}) ;; (not {ints}) ;;
({bool} and {bool}) ;; ({bool} or {bool}) ;; ({bool} == {bool}) ;; {str}.startswith({str}) ;;
{str}.endswith({str}) ;; {str}.startswith(({str}, 'a')) ;; {str}.isdigit() ;; {str}.isalpha() ;; {str}.isalnum() ;;
{str}.isspace() ;; {str}.isupper() ;; {str}.islower() ;; {str}.istitle() ;; any({ints}) ;; all({ints}) ;;
any([{bool:@int} for @ in {ints}]) ;; all([{bool:@str} for @ in {strs}]) ;; bool({str}) ;; bool({int}) ;;
bool({ints}) ;; ({pair} == {pair}) ;; ({pair} < {pair}) ;; ({ints} != {ints}) ;; ({bool} if {bool} else {bool}) ;;
(lambda @: {bool:@str})({str})
== ints
[] ;; [1] ;; [3, 1, 2] ;; [5, -5, 5, 0] ;; [10, 20, 30, 40] ;; [{int}, {int}] ;; [{int:@int} for @ in {ints}] ;;
[{int:@int} for @ in {ints} if {bool:@int}] ;; [{int:@str} for @ in {strs}] ;;
[{int:@int} for @ in range({int} % 6)] ;; ({ints} + {ints})[:9] ;; ({ints} * ({int} % 3))[:9] ;; {ints}[1:] ;;
{ints}[:-1] ;; {ints}[::2] ;; {ints}[::-1] ;; {ints}[{int} % 3:{int} % 5] ;; sorted({ints}) ;;
sorted({ints}, reverse=True) ;; sorted({ints}, key=lambda @: {int:@int}) ;; list(range({int} % 6)) ;;
list(range({int} % 9, {int} % 5, -2)) ;; list(range({int} % 9, 20, 3))[1:] ;; list(reversed({ints})) ;;
list({dict}.values()) ;; [(@ + #) % 1009 for @, # in zip({ints}, {ints})] ;;
[(@ * #) % 1009 for @, # in enumerate({ints})] ;; ({ints} if {bool} else {ints}) ;; ({ints} or {ints}) ;;
[{int:@int,#int} for @ in {ints}[:3] for # in {ints}[:3]] ;; list({ints}) ;; list(({int}, {int})) ;;
[int(@) for @ in {str}.split(',') if @.isdigit()] ;; [len(@) for @ in {strs}]
== strs
[] ;; ['a'] ;; ['b', 'a', 'c'] ;; ['x', '', 'yy', 'X'] ;; [{str}, {str}] ;; {str}.split({str} or ' ') ;;
{str}.split(',') ;; {str}.split() ;; {str}.rsplit(' ', {int} % 3) ;; {str}.split('a', {int} % 3) ;;
{str}.splitlines() ;; list({dict}.keys()) ;; list({dict}) ;; sorted({strs}) ;; sorted({strs}, key=len) ;;
sorted({strs}, key=lambda @: {int:@str}, reverse={bool}) ;; [{str:@str} for @ in {strs}] ;;
[{str:@str} for @ in {strs} if {bool:@str}] ;; [{str:@int} for @ in {ints}] ;; ({strs} + {strs})[:9] ;;
{strs}[1:] ;; {strs}[::-1] ;; [@ for @, # in {dict}.items() if {bool:@str,#int}] ;;
({strs} if {bool} else {strs}) ;; list(reversed({strs})) ;; [@ + # for @, # in zip({strs}, {strs})] ;;
{str}.rsplit() ;; {str}.splitlines(True)
== dict
{} ;; {'a': 1} ;; {'b': 2, 'a': 1, '': 0} ;; {{str}: {int}} ;; {@: {int:@str} for @ in {strs}} ;;
{@: len(@) for @ in {strs} if {bool:@str}} ;; dict(zip({strs}, {ints})) ;; dict({dict}, k={int}) ;;
dict([{pair}[::-1]]) ;; ({dict} if {bool} else {dict}) ;; dict({dict}) ;; ({dict} | {dict}) ;;
dict(a={int}, b={int}) ;; {str(@): # for @, # in zip({ints}, {ints})} ;; dict([(@, {int:@str}) for @ in {strs}])
== pair
(1, 'a') ;; (-3, '') ;; ({int}, {str}) ;; (({int},) + ({str},)) ;; ({pair} if {bool} else {pair}) ;;
tuple([{int}, {str}]) ;; ({pair} * 2)[:2] ;; ({pair}[0] + 1, {pair}[1])
""")
"""What CPython, starlark-rust and Plait agree on."""

_STARLARK: Final[Rules] = _read(r"""
== int
len({True: {int}, 1: {int}}) ;; {True: {int}, 1: {int}}[{any}] ;; len(repr({str})) ;;
({int} if type({any}) == 'int' else {int}) ;; len(str({any})) ;; [{any}, {any}].index({any}) ;; int({str}, 10) ;;
int('-0x1F', 16) ;; {str}.index({str}) ;; len([{any}, {any}])
== float
float({str})
== str
'\'"' ;; repr({str}) ;; repr({strs}) ;; str({strs}) ;; str({dict}) ;; repr({pair}) ;; ('%r' % {str}) ;;
('%s' % {strs}) ;; ('%r %r' % ({ints}, {dict})) ;; type({any}) ;; '{}'.format({strs}) ;;
'{} {}'.format({any}, {bool}) ;; ''.join({str}.elems()) ;; str({any}) ;; repr({any}) ;; {str}.index({str}) and ''
== bool
({bool} == {int}) ;; ({any} == {any}) ;; ({any} in [{any}, {any}]) ;; (True in {ints}) ;; bool({any}) ;;
({any} != {any}) ;; (not {any}) ;; ({bool} < {bool})
== ints
reversed({ints}) ;; {dict}.values() ;; sorted({dict}.values()) ;; sorted(range({int} % 7), reverse={bool}) ;;
list(enumerate({strs}))[:0] + {ints}
== strs
{dict}.keys() ;; list({str}.elems()) ;; sorted({dict}) ;; reversed({strs})
== dict
dict({dict}.items()) ;; {1: {int}, None: 3, 'x': {int}}
== pair
== any
None ;; True ;; False ;; 0 ;; 1 ;; '' ;; [] ;; () ;; {} ;; 1.0 ;; {int} ;; {str} ;; {bool} ;; {ints} ;; {strs} ;;
{dict} ;; {pair} ;; [{any}] ;; ({any},) ;; ({any}, {any}) ;; {'k': {any}}
""")

_WILD: Final[Rules] = _read(r"""
== int
(1 << 63) ;; (1 << 70) ;; -0x8000000000000000 ;; 2305843009213693951 ;; None ;; 1000000 ;; ({int} * {int}) ;;
({int} << {int}) ;; ({int} >> {int}) ;; ({int} * {float}) ;; hash({str}) ;; hash({any}) ;; len({any}) ;;
{any}[{any}] ;; int({any}) ;; int({str}, {int}) ;; ord({any}) ;; {str}.index({str}) ;; math.floor({float}) ;;
math.ceil({any}) ;; len({set}) ;; ({struct}).a ;; getattr({any}, {name}, {int}) ;; {set}.pop() ;;
{dict}.popitem()[1] ;; {ints}.pop({int}) ;; (lambda *@, **#: {int:@ints,#dict})({any}, k={any}) ;;
(lambda @=1: {int:@int})(*{ints}) ;; time.parse_duration({str}).hours ;; {bytes}[{int}] ;; min({any}, {any}) ;;
max(*{any}) ;; max({ints}, key={func}) ;; ({func})({any}) ;; ({func})({any}, {any}) ;; (lambda: {int})() ;;
(0 if {any} else {int})
== float
float('inf') ;; float('nan') ;; float('-inf') ;; -0.0 ;; 1e308 ;; 5e-324 ;; 0.1 ;; ({float} * {float}) ;;
({float} / {float}) ;; ({float} // {float}) ;; ({float} % {float}) ;; float({any}) ;; math.sqrt({any}) ;;
math.pow({float}, {float}) ;; ({int} / {int}) ;; float({str}) ;; math.mod({float}, {any}) ;; math.round({float}) ;;
(+{float}) ;; math.log({any}, {any}) ;; math.gamma({float}) ;; math.hypot({float}, {float}) ;; (-{any}) ;;
math.remainder({float}, {float})
== str
'é' ;; '日本' ;; '\U0001f600x' ;; 'ǆ' ;; '\x00' ;; 'ß' ;; '%s%d' ;; '{0}' ;; '[1, 2.5, {"a": null}]' ;; '0x1F' ;;
'1_000' ;; '\u0130' ;; '%(x)s' ;; '1h30m' ;; repr({any}) ;; str({any}) ;; ({str} % {any}) ;; {str}.format({any}) ;;
{str}.format(*{any}, **{dict}) ;; json.encode({any}) ;; json.indent(json.encode({any})) ;;
json.encode_indent({any}, prefix={str}, indent={str}) ;; json.indent({str}) ;; type({any}) ;; chr({int}) ;;
bytes({any}) ;; str({bytes}) ;; ({str} * {int}) ;; {str}.join({any}) ;; {str}.replace({str}, {str}, {int}) ;;
('%r %s' % ({any}, {any})) ;; ('%c' % {any}) ;; ('%g %e %f' % ({any}, {float}, {float})) ;;
('%i %X' % ({any}, {int})) ;; {str}[{any}] ;; {str}[{any}:{any}:{any}] ;; {str}.elems() and {str} ;;
''.join(list({str}.elems())) ;; ''.join({str}.codepoints()) ;; ({any}).type_name ;; {str}.strip({str}) ;;
(({str} + {str}) * 100) ;; str({struct}) ;; '{} {!r}'.format({any}, {any}) ;; repr({func}) ;;
getattr({str}, {name})() ;; str(dir({any}))
== bool
None ;; ({any} == {any}) ;; ({any} < {any}) ;; ({any} in {any}) ;; ({any} not in {any}) ;; hasattr({any}, {name}) ;;
bool({any}) ;; (not {any}) ;; ({any} and {any}) ;; ({any} or {any}) ;; all({any}) ;; any({any}) ;;
({any} >= {any}) ;; ({set} <= {set}) ;; {set}.issubset({any}) ;; ({set} == {set}) ;; ({any} != {any})
== ints
range(5) ;; range(0, 10, 3) ;; (1, 2) ;; range(1 << 62) ;; [[]] ;; [None] ;; list({any}) ;;
sorted({any}, key={func}) ;; sorted({any}, reverse={any}) ;; [{any:@int} for @ in {any}] ;;
[{int:@int} for @ in {any} if {any}] ;; list({set}) ;; range({int}, {int}, {int}) ;; ({ints} * {int}) ;;
({any} + {any}) ;; list(zip({any}, {any})) ;; enumerate({any}, {int}) ;; reversed({any}) ;; tuple({any}) ;;
[{any:@any,#any} for @, # in {any}] ;; list({str}.elem_ords()) ;; list({bytes}.elems()) ;;
json.decode({str}, None) ;; {any}[{any}:{any}] ;; [@ for @ in {ints} for @ in {ints}] ;; list(range({int}))[:5] ;;
[{int:@int} for @ in {ints} for # in [{any:@int}] if {bool:@int,#int}] ;; {dict}.items() ;;
[{func} for @ in {ints}] ;; [lambda: @ for @ in {ints}] ;; [(lambda: {any:@int})() for @ in {ints}]
== strs
('a', 'b') ;; [1, 'a'] ;; dir([]) ;; dir({any}) ;; list({str}.elems()) ;; {str}.codepoints() ;;
{str}.rsplit({str}, {int}) ;; {str}.split({any}, {any}) ;; [{any:@str} for @ in {any}] ;; ({strs} * {int}) ;;
sorted({any}) ;; {str}.partition({str})
== dict
{1: 2, 2.0: 3, (1,): 4, True: 5} ;; {None: 0} ;; {2305843009213693951: 1, 0: 2} ;; dict({any}) ;;
{{any}: {any}, {any}: {any}} ;; {@: {any:@any} for @ in {any}} ;; ({any} | {any}) ;; dict({any}, **{any}) ;;
json.decode(json.encode({dict})) ;; (lambda **@: @)(**{any}) ;; {@: # for @, # in ({any}).items()} ;;
{str(@): {any:@int} for @ in {ints}} ;; dict(**{dict})
== pair
() ;; (1,) ;; None ;; (1, 'a', []) ;; ({any}, {any}) ;; ({any},) ;; tuple({any}) ;; {dict}.popitem() ;;
{str}.partition({str}) ;; ({pair} + {any}) ;; ({pair} * {int}) ;; (lambda *@: @)(*{any}) ;;
(lambda @, *, k=3: (@, k))({any}, k={any})
== set
set() ;; set([1, 2]) ;; set('a b'.split()) ;; set({any}) ;; ({set} | {set}) ;; ({set} & {set}) ;; ({set} - {set}) ;;
({set} ^ {set}) ;; {set}.union({any}, {any}) ;; {set}.difference({any}) ;; ({set} - {any}) ;; ({any} & {any}) ;;
{set}.symmetric_difference({any}) ;; set([{any:@int} for @ in {ints}]) ;; {set}.intersection({any})
== struct
struct(a=1) ;; struct() ;; module('m', a=1) ;; json ;; math ;; time ;; struct(a={any}) ;;
struct(a={any}, b={any}) ;; ({struct} + {struct}) ;; struct(**{dict}) ;; module({str}, a={any}) ;;
struct(a={struct}, f={func})
== bytes
b'' ;; b'abc' ;; b'\xff\x00' ;; bytes({str}) ;; bytes({ints}) ;; ({bytes} + {bytes}) ;; ({bytes} * {int}) ;;
{bytes}[{int}:{int}] ;; bytes({any})
== func
len ;; str ;; repr ;; abs ;; type ;; [].append ;; 'a'.upper ;; {}.get ;; print ;; list ;; json.encode ;;
lambda x: x ;; lambda *a: a ;; hash ;; sorted ;; fail ;; set ;; struct ;; range ;; dict ;; zip ;;
lambda: lambda: 1 ;; max ;; getattr ;; set().add ;; reversed ;; lambda @: {any:@int} ;;
lambda @, #=1: {any:@int,#int} ;; lambda *@, **#: {any:@ints,#dict} ;; {str}.join ;; {ints}.append ;; {dict}.get ;;
{set}.add ;; getattr({any}, {name}) ;; ({func} if {bool} else {func}) ;; {struct}.f ;; {dict}.setdefault ;;
{str}.format ;; (lambda @: lambda: {any:@int})({any}) ;; {ints}.pop ;; {bytes}.elems
== name
'append' ;; 'a' ;; '__class__' ;; 'upper' ;; 'get' ;; '' ;; 'keys' ;; 'encode' ;; '__dict__' ;; 'fields' ;;
'__call__' ;; 'f' ;; 'hours' ;; 'elems' ;; 'format' ;; {str}
== any
None ;; True ;; 1 ;; 2.5 ;; 'a' ;; [] ;; () ;; {} ;; b'x' ;; range(3) ;; set() ;; len ;; json ;; struct(a=1) ;;
1 << 100 ;; 'é' ;; -1 ;; 0 ;; [1, [2]] ;; float('nan') ;; time.now() ;; time.hour ;; {int} ;; {float} ;; {str} ;;
{bool} ;; {ints} ;; {strs} ;; {dict} ;; {pair} ;; {set} ;; {struct} ;; {bytes} ;; {func} ;; {any} ;;
attempt(lambda: {any}) ;; attempt(lambda: {any}, {any}) ;; attempt({func}) ;; [{any}, {any}] ;; ({any},) ;;
{any}[{any}] ;; ({any}).elems() ;; ({any} + {any}) ;; ({any} * {any}) ;; ({any} - {any}) ;; ({any} % {any}) ;;
({func})({any}) ;; ({func})(*{any}) ;; ({func})(x={any}) ;; json.decode({str}) ;; ({any} if {any} else {any}) ;;
({any} // {any}) ;; ({any} & {any}) ;; ({any} << {any}) ;; (~{any}) ;; (-{any}) ;; getattr({any}, {name}) ;;
time.from_timestamp({int}) ;; time.parse_time({str}, format={str}) ;; ({any} | {any}) ;; ({any}).a ;; ({any}).f ;;
({func})(**{any}) ;; ({func})({any}, *{any}, **{any}) ;; fail({any}) ;; {any}[{any}:{any}:{any}]
""")

_RUST_CANNOT: Final = {"{str}[4:{int} % 6 - 3:-1]"}
"""What starlark-rust gets wrong: a start beyond the end of a short string, with a step."""


def _both(x: Rule | None, y: Rule) -> Rule:
    return y if x is None else Rule([*x.leaves, *y.leaves], [*x.branches, *y.branches])


WILD: Final[Rules] = {kind: _both(COMMON.get(kind), rule) for kind, rule in _WILD.items()}
"""All that Plait knows, right and wrong."""

RUST: Final[Rules] = {
    kind: Rule(rule.leaves, [branch for branch in rule.branches if branch not in _RUST_CANNOT])
    for kind, rule in ((kind, _both(COMMON.get(kind), rule)) for kind, rule in _STARLARK.items())
}
"""What starlark-rust and Plait agree on."""

HOSTILE: Final[Mapping[str, Sequence[str]]] = {
    "int": [
        "$ *= {int}",
        "$ <<= {int} % 70",
        "$ = {any}",
        "$ |= {any}",
        "$, _ = {any}",
        "$ %= {any}",
    ],
    "float": [
        "$ /= {any}",
        "$ = {any}",
        "$ *= {float}",
    ],
    "str": [
        "$ *= {int} % 9",
        "$ %= {any}",
        "$ = {any}",
        "[$, _] = {any}",
        "for $ in {any}:\n    pass",
    ],
    "ints": [
        "$.append($)",
        "$ += {any}",
        "$.extend($)",
        "$[{int}] = {any}",
        "$[{any}] += {any}",
        "$ *= {int} % 5",
        "$.remove({any})",
        "$.pop({any})",
        "$.insert({any}, {any})",
        "for @ in $:\n    $.append(1)",
        "for @ in $:\n    $[0] = @",
        "$ = [$, $]",
        "[$.append(@) for @ in $]",
        "$.clear(*{any})",
        "for $[0] in {ints}:\n    pass",
        "($[0], $[1]) = {any}",
        "$ -= {any}",
        "while {bool}:\n    $.append({any})\n    if len($) > 9:\n        break",
    ],
    "strs": [
        "$.append({any})",
        "$ = {any}",
        "$ += $",
        "[[@], $] = {any}",
        "for @, (#, _) in {any}:\n    $ = #",
    ],
    "dict": [
        "$[{any}] = {any}",
        "$ |= {any}",
        "$.update({any}, **{any})",
        "$[$] = 1",
        "$.popitem()",
        "for @ in $:\n    $[@ + 'x'] = 1",
        "for @ in $.keys():\n    $.pop(@)",
        "$['self'] = $",
        "$ = {@: $ for @ in {any}}",
        "$[{any}] += {any}",
        "$.clear()",
        "for @ in $:\n    $[@] = 2",
        "({any}).x = {any}",
        "for @ in $:\n    $.setdefault({any}, 1)",
    ],
    "pair": [
        "@, # = $",
        "$ += {any}",
        "$[0] = 1",
        "$ = ($, $)",
        "(@, (#,)) = $",
        "print($, {any}, sep={any})",
        "print(*$)",
    ],
}
"""Statements that change a variable ``$`` of a kind, often in a way that they should not."""
