"""Where Python's semantics would shine through: bools, iteration, mutation, freezing, names, calls and JSON."""

from __future__ import annotations

from typing import Final

from tests.starlark.cases.case import Case, any_of, failing, valued

__all__ = ["SEMANTICS"]


def _body(*lines: str) -> str:
    """A function of these lines, and its result."""
    return "def f():\n" + "".join(f"    {line}\n" for line in lines) + "out = f()"


_FILES: Final = {
    "m.star": (
        "l = [1]\nd = {'a': [1], 't': ([1],)}\ns = set([1])\ncyc = []\ncyc.append(cyc)\n"
        "def add(x):\n    l.append(x)\n    return l\n"
        "def counter():\n    n = [0]\n    def inc():\n        n[0] += 1\n        return n[0]\n    return inc\n"
        "g = counter()\n"
        "def new_pair(x):\n    return {'l': l, 'x': x}\n"
        "def push(to, x):\n    to.append(x)\n"
        "def new():\n    return []\n"
        "def default(x, acc = []):\n    acc.append(x)\n    return acc\n"
    )
}

_BOOLS: Final = {
    f"a bool as a number: {expression}": f"out = {expression}"
    for expression in (
        "True + True", "True - False", "True * 2", "True / 1", "True // 1", "True % 2", "'a' * True", "[1] * False",
        "[1, 2][True]", "(1, 2)[False]", "'ab'[True]", "range(3)[True]", "[1, 2][True:]", "list(range(True))",
        "sorted([True, 1])", "max(True, 1)", "'%d' % True", "'%x' % True", "True | 1", "True & 1", "True ^ 1",
        "1 << True", "True >> 1", "-True", "+True", "~False", "True < 1", "1 > False", "True < 2.0", "chr(True)",
        "[1, 2].insert(True, 0)", "[1, 2].pop(True)", "'a b'.split(' ', True)", "enumerate([1], True)", "True + 1.0",
        "int('1', True)", "1 + None", "None * 2", "None < None", "-None",
    )
}  # fmt: skip

_ITERATION: Final = {
    "over a text": _body("for c in 'abc':", "    pass"),
    "over bytes": _body("for c in b'abc':", "    pass"),
    "over a number": _body("for c in 3:", "    pass"),
    "over None": _body("for c in None:", "    pass"),
    "over a function": _body("for c in len:", "    pass"),
    "over a text, in a comprehension": "out = [c for c in 'abc']",
    "a list of a text": "out = list('abc')",
    "a tuple of a text": "out = tuple('abc')",
    "a set of a text": "out = set('abc')",
    "a text sorted": "out = sorted('abc')",
    "a text reversed": "out = reversed('abc')",
    "a text enumerated": "out = enumerate('abc')",
    "a text zipped": "out = zip('abc', [1])",
    "all of a text": "out = all('abc')",
    "the greatest of a text": "out = max('abc')",
    "a text unpacked": "a, b = 'xy'\nout = a",
    "a text joined": "out = ','.join('abc')",
    "a list extended by a text": "x = []\nx.extend('ab')\nout = x",
    "a list with a text added": _body("x = []", "x += 'ab'", "return x"),
    "a text as arguments": "out = max(*'ab')",
    "a text as keyword arguments": "out = dict(**'ab')",
    "pairs of texts": "out = dict(['ab', 'cd'])",
}

_MUTATION: Final = {
    "a dict grows under a loop": _body("d = {'a': 1}", "for k in d:", "    d[k + 'x'] = 1"),
    "a dict's key is set under a loop": _body("d = {'a': 1}", "for k in d:", "    d[k] += 1"),
    "a dict shrinks under a loop": _body("d = {'a': 1}", "for k in d:", "    d.pop(k)"),
    "a dict is cleared under a comprehension": "d = {'a': 1}\nout = [d.clear() for k in d]",
    "a list grows under a loop": _body("l = [1]", "for x in l:", "    l.append(x)"),
    "a list is set under a loop": _body("l = [1]", "for x in l:", "    l[0] = 2"),
    "a list is added to under a loop": _body("l = [1]", "for x in l:", "    l += [2]"),
    "a list grows under a comprehension": "l = [1]\nout = [l.append(x) for x in l]",
    "a list grows by another name": _body("l = [1]", "m = l", "for x in l:", "    m.append(x)"),
    "a list grows in a function": "def g(l):\n    l.append(1)\n" + _body("l = [1]", "for x in l:", "    g(l)"),
    "a list grows under its second loop": _body(
        "l = [1]", "for x in l:", "    for y in l:", "        pass", "    l.append(1)"
    ),
    "a set grows under a loop": _body("s = set([1])", "for x in s:", "    s.add(x + 1)"),
    "a set's element is added again under a loop": _body("s = set([1])", "for x in s:", "    s.add(x)"),
}

_FREEZING: Final = {
    "a loaded list": "load('m.star', 'l')\nl.append(2)\nout = l",
    "a list in a loaded dict": "load('m.star', 'd')\nd['a'].append(2)\nout = d",
    "a list in a tuple in a loaded dict": "load('m.star', 'd')\nd['t'][0].append(2)\nout = d",
    "a loaded dict": "load('m.star', 'd')\nd['b'] = 1\nout = d",
    "a loaded dict's update": "load('m.star', 'd')\nd.update([])\nd.update(b = 1)\nout = d",
    "a loaded set": "load('m.star', 's')\ns.add(2)\nout = s",
    "a global of a loaded function": "load('m.star', 'add')\nout = add(2)",
    "a variable of a loaded closure": "load('m.star', 'g')\nout = g()",
    "a loaded list in a new dict": "load('m.star', 'new_pair')\np = new_pair(1)\np['l'].append(1)\nout = p",
    "a loaded list that holds itself": "load('m.star', 'cyc')\ncyc.append(1)\nout = 1",
    "a loaded default": "load('m.star', 'default')\nout = default(1)",
    "a loaded list added to": "load('m.star', 'l')\ndef f(x):\n    x += [1]\n    return x\nout = f(l)",
    "a bound method of a loaded list": "load('m.star', 'l')\nm = l.append\nm(1)\nout = l",
    "a name that is not there": "load('m.star', 'nope')\nout = nope",
    "a module with a NUL in its name": "load('m.star\\0.txt', 'l')\nout = l",
    "a module that is not there": "load('../m.star', 'l')\nout = l",
}

_CALLS: Final = {
    "a local that is read too early": _body("y = x", "x = 2", "return y"),
    "a global that is read too early": "def g():\n    return h()\nout = g()\ndef h():\n    return 1",
    "a local that a loop has not set": _body("for x in []:", "    pass", "return x"),
    "a variable of a comprehension that is gone": "x = [i for i in [1]]\nout = i",
    "an augmented assignment to a global": "x = [1]\ndef f():\n    x += [2]\nf()\nout = x",
    "a keyword that is no string": "def f(**kw):\n    return kw\nout = f(**{1: 2})",
    "a star of a number": "def f(*a):\n    return a\nout = f(*1)",
    "a star of None": "def f(*a):\n    return a\nout = f(*None)",
    "a double star of None": "def f(**a):\n    return a\nout = f(**None)",
    "a double star of a list": "def f(**a):\n    return a\nout = f(**[1])",
    "an argument twice": "def f(x):\n    return x\nout = f(1, x = 2)",
    "an argument twice through a star": "def f(x):\n    return x\nout = f(*[1], x = 2)",
    "an argument twice through a double star": "def f(x):\n    return x\nout = f(x = 1, **{'x': 2})",
    "too many arguments": "def f(x):\n    return x\nout = f(1, 2)",
    "too few arguments": "def f(x):\n    return x\nout = f()",
    "an argument that is not known": "def f(x):\n    return x\nout = f(1, y = 2)",
    "a keyword argument that is missing": "def f(*, x):\n    return x\nout = f(1)",
    "a call of a number": "out = 1()",
    "a call of None": "out = None()",
    "a call of a text": "out = 'a'('b')",
    "a call of a list": "out = [][0]()",
    "an unpacking of too few": "a, b = [1]\nout = a",
    "an unpacking of too many": "a, b = [1, 2, 3]\nout = a",
    "an unpacking of a number": "a, b = 1\nout = a",
}

_VALUES: Final = {
    "texts and numbers ordered": "out = sorted([1, 'a'])",
    "lists and tuples ordered": "out = [1] < (1,)",
    "lists and numbers added": "out = [1] + 1",
    "a list and a tuple added": "out = [1] + (2,)",
    "dicts added": "out = {} + {}",
    "dicts ordered": "out = {} < {}",
    "functions ordered": "out = len < str",
    "None ordered": "out = sorted([None, None, None])",
    "a key twice": "out = {'a': 1, 'a': 2}",
    "a key twice, of a float": "out = {1: 1, 1.0: 2}",
    "a key that cannot be one": "out = {[]: 1}",
    "a key that cannot be one, in a tuple": "out = {([],): 1}",
    "an element that cannot be one": "out = set([{}])",
    "a division by zero": "out = 1 // 0",
    "a remainder by zero": "out = 1 % 0",
    "a true division by zero": "out = 1 / 0",
    "a float's division by zero": "out = 1.0 // 0.0",
    "a float's remainder by zero": "out = 1.0 % 0",
    "too many for percent": "out = '%s' % (1, 2)",
    "too few for percent": "out = '%s %s' % 'a'",
    "an unknown conversion": "out = '%y' % 1",
    "an unfinished conversion": "out = '%' % 1",
    "a conversion of the wrong type": "out = '%d' % 'a'",
    "a flag of percent": "out = '%+d' % 1",
    "an assignment to a slice": "x = [1, 2, 3]\nx[0:2] = []\nout = x",
    "an assignment to a text's element": "x = 'abc'\nx[0] = 'z'\nout = x",
    "an assignment to a tuple's element": "x = (1,)\nx[0] = 2\nout = x",
    "an index that is a text": "out = [1]['0']",
    "an index that is a float": "out = [1][0.0]",
    "an index out of range": "out = [1][1]",
    "a negative index out of range": "out = [1][-2]",
    "a slice of a dict": "out = {}[0:1]",
    "a step of zero": "out = [1][::0]",
    "a range's step of zero": "out = range(0, 1, 0)",
    "a number with underscores": "out = int('1_000')",
    "a number of other digits": "out = int('\u0661\u0662')",
    "a number with blanks": "out = int(' 1 ')",
    "a number in an unknown base": "out = int('1', 99)",
    "a number in base one": "out = int('1', 1)",
    "a number with the wrong prefix": "out = int('0x1', 8)",
    "a base for a number": "out = int(1, 10)",
    "an int of infinity": "out = int(float('inf'))",
    "an int of NaN": "out = int(float('nan'))",
    "a float of words": "out = float('infinite')",
    "a float of other digits": "out = float('\u0661')",
    "a negative shift": "out = 1 << -1",
    "a shift by a float": "out = 1 << 1.0",
    "a character beyond Unicode": "out = chr(0x110000)",
    "a negative character": "out = chr(-1)",
    "the code of two characters": "out = ord('ab')",
    "a join of numbers": "out = ''.join([1])",
    "an abs of a text": "out = abs('a')",
    "a length of a number": "out = len(1)",
    "a hash of a number": "out = hash(1)",
    "a hash of a list": "out = hash([])",
    "the greatest of nothing": "out = max([])",
    "the greatest of no arguments": "out = max()",
    "the least of a number": "out = min(1)",
    "an index of a set": "out = set([1])[0]",
    "a set and a dict": "out = set([1]) | {1: 2}",
    "a dict and a set": "out = {1: 2} | set([1])",
    "a set and a list": "out = set([1]) & [1]",
    "a comparison of types in a comprehension": "out = [x for x in (set([1]) > 2.5)]",
    "a comparison of texts and lists": "out = [0 for x in ['1' > [3]]]",
    "a split by nothing": "out = 'a'.split('')",
    "a partition by nothing": "out = 'a'.partition('')",
    "an index of what is not there": "out = [1].index(2)",
    "a text's index of what is not there": "out = 'a'.index('b')",
    "a removal of what is not there": "out = [1].remove(2)",
    "a pop of nothing": "out = [].pop()",
    "a pop of a key that is not there": "out = {}.pop('a')",
    "a popitem of nothing": "out = {}.popitem()",
    "a dict of what are no pairs": "out = dict([(1, 2, 3)])",
    "a format that lacks an argument": "out = '{}'.format()",
    "a format with both kinds of fields": "out = '{}{0}'.format(1)",
    "a format with a brace alone": "out = '{'.format(1)",
    "a zip of a number": "out = zip(1)",
    "fail": "fail('stop', 1, [2])",
}

_JSON: Final = {
    "100,000 brackets": "out = json.decode('[' * 100000 + ']' * 100000)",
    "100,000 brackets that stay open": "out = json.decode('[' * 100000)",
    "100,000 objects": "out = json.decode('{\"a\":' * 100000 + '1' + '}' * 100000)",
    "a circle": "x = []\nx.append(x)\nout = json.encode(x)",
    "NaN decoded": "out = json.decode('NaN')",
    "infinity decoded": "out = json.decode('-Infinity')",
    "NaN encoded": "out = json.encode(float('nan'))",
    "infinity encoded": "out = json.encode(float('inf'))",
    "keys that are no texts": "out = json.encode({1: 2})",
    "a function encoded": "out = json.encode(len)",
    "bytes encoded": "out = json.encode(b'a')",
    "nothing decoded": "out = json.decode('')",
    "a leading zero": "out = json.decode('01')",
    "a comma too much": "out = json.decode('[1,]')",
    "single quotes": "out = json.decode(\"'a'\")",
    "text behind the value": "out = json.decode('1 2')",
    "an unknown escape": "out = json.decode('\"\\\\x41\"')",
    "a number decoded": "out = json.decode(1)",
    "indent of what is no JSON": "out = json.indent('[')",
}

_RIGHT: Final = {
    "unpacked constants are no f-string": (
        "out = ('%s|%r|%s' % ('x', 'y', [True, 'z'])) == 'x|\"y\"|[True, \"z\"]'",
        "True",
    ),
    "True is not 1": (
        "out = (True == 1, [True] == [1], True in [1], (False,) == (0,))",
        "(False, False, False, False)",
    ),
    "True and 1 are two keys": ("out = {1: 'a', True: 'b', 1.0 + 1: 'c'}", '{1: "a", True: "b", 2.0: "c"}'),
    "int and float are one key": ("d = {}\nd[1] = 'a'\nd[1.0] = 'b'\nout = (len(d), d[1], 1 == 1.0)", '(1, "b", True)'),
    "a condition's value": ("out = (0 or [], 1 and 'a', not None, None or 0.0)", '([], "a", True, 0.0)'),
    "bools are ordered": ("out = (False < True, True <= False, sorted([True, False]))", "(True, False, [False, True])"),
    "NaN equals itself and is the greatest": (
        "n = float('nan')\nm = float('nan')\n"
        "out = (n == n, n == m, n in [m], sorted([n, 1.0, float('inf')])[2] == n, len(dict([(n, 1), (m, 2)])))",
        "(True, True, True, True, 1)",
    ),
    "a loop's lock goes with break and return": (
        "l = [1, 2]\ndef f():\n    for x in l:\n        return x\ndef g():\n    for x in l:\n        break\n"
        "    l.append(3)\nf()\ng()\nout = l",
        "[1, 2, 3]",
    ),
    "a loop's lock goes with a return from within": (
        "l = [1, 2]\ndef f():\n    for x in l:\n        for y in l:\n            if y == 2:\n"
        "                return [z for z in l]\nr = f()\nl.append(9)\nout = (r, l)",
        "([1, 2], [1, 2, 9])",
    ),
    "a list that is extended by itself": (
        _body("l = [1, 2]", "l.extend(l)", "l += l", "return l"),
        "[1, 2, 1, 2, 1, 2, 1, 2]",
    ),
    "a dict updated by itself": (
        "d = {'a': 1}\nk = d.keys()\nd.update(d)\nd['b'] = 2\nout = (type(k), len(k))",
        '("list", 1)',
    ),
    "a default is shared until it is frozen": (
        "def f(x, acc = []):\n    acc.append(x)\n    return len(acc)\nout = (f(1), f(2), f(3, []))",
        "(1, 2, 1)",
    ),
    "division and remainder": (
        "out = (-7 // 2, -7 % 2, 7 // -2, 7 % -2, 7.5 // 2, -7.5 % 2, 1 / 2)",
        "(-4, 1, -4, -1, 3.0, 0.5, 0.5)",
    ),
    "a loop's variable stays": (_body("for x in [1, 2]:", "    pass", "return x"), "2"),
    "a comprehension's variable is its own": ("x = 5\ny = [x for x in [1]]\nout = (x, y)", "(5, [1])"),
    "closures share a variable": (
        _body("fs = [lambda: i for i in range(3)]", "return [g() for g in fs]"),
        "[2, 2, 2]",
    ),
    "arguments in order": (
        "l = []\ndef t(x):\n    l.append(x)\n    return x\ndef f(*a, **k):\n    return (a, k)\n"
        "f(t(1), x = t(2), *[t(3)], **{'y': t(4)})\nout = l",
        "[1, 2, 3, 4]",
    ),
    "an augmented target is evaluated once": (
        "l = []\ndef t():\n    l.append(1)\n    return {'a': 1}\ndef f():\n    t()['a'] += 1\nf()\nout = l",
        "[1]",
    ),
    "the value before the target": (
        "l = []\ndef t(x):\n    l.append(x)\n    return [0]\ndef f():\n    t(1)[0] = t(2)\nf()\nout = l",
        "[2, 1]",
    ),
    "sets change in place": (
        _body(
            "x = set([1, 2, 3])",
            "y = x",
            "x &= set([2, 3])",
            "x -= set([3])",
            "x ^= set([4])",
            "x |= set([5])",
            "return (x, y)",
        ),
        "(set([2, 4, 5]), set([1, 2, 3]))",
    ),
    "sets as operands": (
        "def f(a, b):\n    return [a - b, a & b, a ^ b, a | b, a == b, a <= a, a < a]\n"
        "out = f(set([1, 2]), set([2, 3]))",
        "[set([1]), set([2]), set([1, 3]), set([1, 2, 3]), False, True, False]",
    ),
    "a dict of Nones is no set": ("out = ({1: None} == set([1]), set([1]) == {1: None})", "(False, False)"),
    "a swap": ("def f(x, y):\n    x, y = y, x\n    return (x, y)\nout = f(1, 2)", "(2, 1)"),
    "floats as texts": ("out = (1.0, 1e6, 1e100, 1.5e-7, 0.1, -0.0)", "(1.0, 1e+06, 1e+100, 1.5e-07, 0.1, -0.0)"),
    "a text's escapes": ("out = 'a\\t\\n\"\\\\\\x01'", '"a\\t\\n\\"\\\\\\x01"'),
    "JSON there and back": (
        "x = {'a': [1, 2.5, None, True, 'é\\n'], 'b': {}}\nout = json.decode(json.encode(x)) == x",
        "True",
    ),
}

_OF_MODULES: Final = {
    "a library changes its caller's list": (
        "load('m.star', 'push', 'new')\nx = []\npush(x, 1)\ny = new()\ny.append(2)\nout = (x, y)",
        "([1], [2])",
    ),
    "a loaded list is read": ("load('m.star', 'l', 'd')\nout = (l + [2], d['t'], l == [1])", "([1, 2], ([1],), True)"),
    "a loaded closure makes others": ("load('m.star', 'counter')\nc = counter()\nc()\nout = c()", "2"),
}

_EITHER: Final[dict[str, tuple[str, str | None]]] = {
    "a float with underscores": ("out = float('1_0.5')", "10.5"),
    "a raw newline in a string of JSON": ("out = json.decode('\"a\\nb\"')", '"a\\nb"'),
    "an unhashable value in a dict": ("out = [] in {}", "False"),
    "a key that shrinks the list": (
        "a = list(range(100))\ndef k(x):\n    a.clear()\n    return x\nout = max(a, key = k)",
        None,
    ),
    "a key that grows the list": ("a = [1]\ndef k(x):\n    a.append(x + 1)\n    return x\nout = min(a, key = k)", None),
    "a key that grows the list to sort": (
        "l = [2, 1]\ndef k(x):\n    l.append(x)\n    return x\nout = sorted(l, key = k)",
        None,
    ),
    "an argument that empties the list of others": (
        "l = [1, 2]\ndef g():\n    l.clear()\n    return {}\ndef f(*a, **k):\n    return a\nout = f(*l, **g())",
        None,
    ),
}  # fmt: skip


def _named(subject: str, sources: dict[str, str]) -> dict[str, str]:
    return {f"{subject}: {name}": source for name, source in sources.items()}


SEMANTICS: Final[list[Case]] = [
    *failing(_BOOLS),
    *failing(_named("iteration", _ITERATION)),
    *failing(_named("mutation", _MUTATION)),
    *failing(_named("freezing", _FREEZING), _FILES),
    *failing(_CALLS),
    *failing(_VALUES),
    *failing(_named("JSON", _JSON)),
    *valued(_RIGHT),
    *valued(_OF_MODULES, _FILES),
    *any_of(_EITHER),
]
"""All of them."""
