"""Small scripts that want much: endless work, huge values, values without a bottom, and C code that takes its time."""

from __future__ import annotations

from typing import Final

from tests.starlark.cases.case import Case, any_of, failing, valued

__all__ = ["HEAVY", "LIMITS"]


def _body(*lines: str) -> str:
    """A function of these lines, and its result."""
    return "def f():\n" + "".join(f"    {line}\n" for line in lines) + "out = f()"


def _deep(levels: int, empty: str, deeper: str) -> str:
    """A function that makes a value of so many levels."""
    return f"def deep():\n    x = {empty}\n    for i in range({levels}):\n        x = {deeper}\n    return x\n"


_SHARED: Final = "def shared():\n    x = [1]\n    for i in range(40):\n        x = [x, x]\n    return x\n"
_SHARED_TUPLE: Final = "def shared():\n    x = (1,)\n    for i in range(40):\n        x = (x, x)\n    return x\n"
_SHARED_DICT: Final = (
    "def shared():\n    x = {'k': 1}\n    for i in range(40):\n        x = {'a': x, 'b': x}\n    return x\n"
)
_LISTS: Final = _deep(100_000, "[]", "[x]")
_TUPLES: Final = _deep(100_000, "()", "(x,)")
_DICTS: Final = _deep(100_000, "{}", "{'a': x}")
_BIG: Final = "range(2000000000)"
_BITS: Final = (
    "def bits(n):\n    x = 1\n    for i in range(n // 500):\n        x = x << 500\n    return x << (n % 500)\n"
)
"""A function that makes ``1 << n`` in small steps, for engines that refuse large shifts."""

_ENDLESS: Final = {
    "counting": _body(f"for i in {_BIG}:", "    pass"),
    "counting in a function that is called": "def g(i):\n    return i\n" + _body(f"for i in {_BIG}:", "    g(i)"),
    "counting in a builtin's key": f"out = sorted({_BIG}, key = lambda x: -x)",
    "loops in one another": _body(*(f"{' ' * i}for i{i} in range(1000):" for i in range(6)), "      pass"),
    "a comprehension of comprehensions": "out = [0 for a in range(1000000) for b in range(1000000) if a == -1]",
    "a dict comprehension": f"out = {{i: i for i in {_BIG}}}",
    "recursion": "def f(n):\n    return f(n + 1)\nout = f(0)",
    "recursion through a list": "fs = []\ndef f(n):\n    return fs[0](n)\nfs.append(f)\nout = f(0)",
    "recursion through a default": "def f(n, g = None):\n    return g(n, g)\nout = f(0, f)",
    "recursion through a closure": "def f():\n    def g():\n        return f()\n    return g()\nout = f()",
    "the Y combinator": "out = (lambda x: x(x))(lambda x: x(x))",
    "recursion through a key": "def f(n):\n    return sorted([1, 2], key = f)\nout = f(0)",
    "recursion through max": "def f(n):\n    return max([1, 2], key = f)\nout = f(0)",
    "a list of everything": f"out = list({_BIG})",
    "a tuple of everything": f"out = tuple({_BIG})",
    "everything sorted": f"out = sorted({_BIG})",
    "the greatest of everything": f"out = max({_BIG})",
    "the least of everything": f"out = min({_BIG})",
    "a set of everything": f"out = set({_BIG})",
    "all of everything": "out = all(range(1, 2000000000))",
    "extend by everything": f"x = []\nx.extend({_BIG})\nout = 1",
    "add everything": _body("x = []", f"x += {_BIG}"),
    "a dict of everything": f"out = dict(zip({_BIG}, {_BIG}))",
    "a set's union with everything": f"out = len(set().union({_BIG}))",
    "join everything": f"out = len(','.join([str(i) for i in {_BIG}]))",
    "a call with everything": f"out = max(*{_BIG})",
    "unpack everything": _body(f"a, b = {_BIG}", "return a"),
    "expensive keys": "out = len(sorted(range(100000), key = lambda x: len([i for i in range(1000)])))",
    "small dicts that are kept": _body("ds = []", "for i in range(1 << 30):", "    ds.append({'a': {'b': [i]}})"),
    "texts that are kept": _body("ds = []", "for i in range(1 << 30):", "    ds.append('x' * 1000 + str(i))"),
    "closures that are kept": _body("ds = []", "for i in range(1 << 30):", "    ds.append(lambda: i)"),
}

_HUGE_VALUES: Final = {
    "a text repeated 2^40 times": "out = len('a' * (1 << 40))",
    "a text repeated 2^70 times": "out = 'a' * (1 << 70)",
    "a list repeated 2^40 times": "out = len([1] * (1 << 40))",
    "a list repeated 2^40 times in place": _body("x = [1]", "x *= 1 << 40"),
    "a tuple repeated 2^40 times": "out = len((1 << 40) * (1,))",
    "bytes repeated 2^40 times": "out = len(b'a' * (1 << 40))",
    "a text doubled": _body("s = 'a'", "for i in range(64):", "    s += s", "return len(s)"),
    "a list doubled": _body("s = [1]", "for i in range(64):", "    s += s", "return len(s)"),
    "a list extended by itself": _body("s = [1]", "for i in range(64):", "    s.extend(s)", "return len(s)"),
    "a tuple doubled": _body("s = (1,)", "for i in range(64):", "    s = s + s", "return len(s)"),
    "bytes doubled": _body("s = b'a'", "for i in range(64):", "    s = s + s", "return len(s)"),
    "a text doubled by percent": _body("s = 'a'", "for i in range(64):", "    s = '%s%s' % (s, s)", "return len(s)"),
    "a text doubled by format": _body("s = 'a'", "for i in range(64):", "    s = '{0}{0}'.format(s)", "return len(s)"),
    "a text doubled by join": _body("s = 'a'", "for i in range(64):", "    s = ''.join([s, s])", "return len(s)"),
    "a text doubled by replace": _body("s = 'aa'", "for i in range(64):", "    s = s.replace('a', 'aa')"),
    "a number squared": _body("n = 3", "for i in range(64):", "    n = n * n", "return n > 0"),
    "a number squared in place": _body("n = 3", "for i in range(64):", "    n *= n", "return n > 0"),
    "replace that amplifies": "out = len(('a' * 100000).replace('a', 'b' * 100000))",
    "replace of nothing": "out = len(('a' * 100000).replace('', 'b' * 100000))",
    "join that amplifies": "out = len(('x' * 30000).join(['y'] * 30000))",
    "a width of percent": "out = len('%1000000000d' % 1)",
    "a precision of percent": "out = len('%.1000000000f' % 1.5)",
    "a starred width of percent": "out = len('%*d' % (900000000, 1))",
    "a width of format": "out = len('{:>900000000}'.format('a'))",
    "a shift by 2^40": "out = (1 << (1 << 40)) > 0",
    "a shift by 2^70": "out = 1 << (1 << 70)",
    "a number too large for a float": _BITS + "out = 1.0 * bits(5000)",
    "a float of a number too large": _BITS + "out = float(bits(5000))",
    "a true division of huge numbers": _BITS + "out = bits(5000) / 3",
    "an error text with a key of 10 MB": "d = {}\nout = d['x' * 10000000]",
    "an error text with a huge number": _BITS + "out = [1][bits(100000)]",
    "an error text of a script's own": "fail('x' * 1000000)",
    "an error text of a huge name": "out = getattr([], 'x' * 1000000)",
    "an error text with a deep list": _LISTS + "fail(deep())\nout = 1",
    "the text of a shared list": _SHARED + "out = len(repr(shared()))",
    "the text of a shared dict": _SHARED_DICT + "out = len(str(shared()))",
    "a shared list in an error": _SHARED + "fail(shared())",
    "a shared list as JSON": _SHARED + "out = len(json.encode(shared()))",
    "the hash of a tuple that holds itself": "x = []\nt = (x,)\nx.append(t)\nout = {t: 1}",
}

_BOUNDED: Final[dict[str, tuple[str, str | None]]] = {
    "zip of everything": (f"out = zip({_BIG}, {_BIG})", None),
    "enumerate everything": (f"out = enumerate({_BIG})", None),
    "everything reversed": (f"out = reversed({_BIG})", None),
    "a text in everything": (f"out = 'a' in {_BIG}", None),
    "a float in everything": (f"out = 0.5 in {_BIG}", None),
    "the length of a range beyond 64 bits": ("out = len(range(1 << 70))", None),
    "the text of a range beyond 64 bits": ("out = str(range(1 << 70))", '"range(0, 1180591620717411303424)"'),
    "an index beyond 64 bits": ("out = range(1 << 80)[1 << 70]", "1180591620717411303424"),
    "a negative repetition beyond 64 bits": ("out = len('a' * -(1 << 70))", "0"),
    "a repetition of the empty text": ("out = len('' * (1 << 40))", "0"),
    "a repetition of the empty list": ("out = len([] * (1 << 70))", "0"),
    "a right shift by 2^70": ("out = 5 >> (1 << 70)", "0"),
    "slices beyond 64 bits": ("out = 'abc'[-(1 << 70):1 << 70:1 << 70]", '"a"'),
    "a text of a number of 20,000 bits": (_BITS + "out = len(str(bits(20000)))", "6021"),
    "percent of a number of 20,000 bits": (_BITS + "out = len('%d' % bits(20000))", "6021"),
    "hexadecimal of a number of 20,000 bits": (_BITS + "out = len('%x' % bits(20000))", "5001"),
    "a number of a million digits": ("out = int('z' * 1000000, 36) > 0", None),
    "a number of 6,000 digits": ("out = int('9' * 6000) % 1000", "999"),
    "a huge number beside a float": (
        _BITS + "out = (bits(5000) > 1e308, bits(5000) == 1e308, bits(5000) < float('inf'))",
        "(True, False, True)",
    ),
    "millions of parts": ("out = len(('a,' * 8000000).split(','))", None),
    "millions of lines": ("out = len(('a\\n' * 8000000).splitlines())", None),
    "millions of elements": ("out = len(('a' * 8000000).elems())", None),
    "a deep list that is frozen": (_LISTS + "x = deep()\nout = len(x)", "1"),
    "a deep dict that is frozen": (_DICTS + "x = deep()\nout = len(x)", "1"),
    "a deep closure that is frozen": (
        "def g(x):\n    return lambda: x\n" + _deep(20_000, "None", "g(x)") + "x = deep()\nout = type(x)",
        '"function"',
    ),
    "deep lists in tuples that go away": (
        "def g():\n    x = None\n    for i in range(50000):\n        x = (x, [x])\n    return len(x)\nout = g()",
        "2",
    ),
    "the text of a deep list": (_LISTS + "out = len(repr(deep()))", "200002"),
    "the text of a deep tuple": (_TUPLES + "out = len(repr(deep()))", None),
    "the text of a deep dict": (_DICTS + "out = len(str(deep()))", None),
    "the hash of a deep tuple": (_TUPLES + "out = len({deep(): 1})", "1"),
    "deep tuples compared": (_TUPLES + "out = deep() < deep()", "False"),
    "deep tuples equal": (_TUPLES + "out = deep() == deep()", "True"),
    "deep lists equal": (_LISTS + "out = deep() == deep()", "True"),
    "deep dicts equal": (_DICTS + "out = deep() == deep()", "True"),
    "a deep list in a list": (_LISTS + "out = deep() in [deep()]", "True"),
    "the place of a deep list": (_LISTS + "out = [deep()].index(deep())", "0"),
    "a deep list as JSON": (_LISTS + "out = len(json.encode(deep()))", "200002"),
    "a deep list in a set": (_LISTS + "out = deep() in set()", "False"),
    "shared lists equal": (_SHARED + "out = shared() == shared()", None),
    "shared tuples equal": (_SHARED_TUPLE + "out = shared() == shared()", None),
    "shared tuples ordered": (_SHARED_TUPLE + "out = shared() < shared()", None),
    "shared dicts equal": (_SHARED_DICT + "out = shared() == shared()", None),
    "shared lists sorted": (_SHARED + "out = len(sorted([shared(), shared()]))", None),
    "shared lists in a list": (_SHARED + "out = shared() in [shared()]", None),
    "the greatest shared list": (_SHARED + "out = len(max(shared(), shared()))", None),
    "the hash of a shared tuple": (_SHARED_TUPLE + "out = len({shared(): 1})", None),
    "a shared list that is frozen": (_SHARED + "x = shared()\nout = len(x)", "2"),
    "lists that hold themselves": ("x = []\nx.append(x)\ny = []\ny.append(y)\nout = x == y", None),
    "the text of a list that holds itself": ("x = []\nx.append(x)\nout = str(x)", '"[[...]]"'),
    "a circle of dicts": ("d = {}\ne = {'d': d}\nd['e'] = e\nout = len(str(d)) < 100", "True"),
    "order of lists that hold themselves": ("x = []\nx.append(x)\ny = []\ny.append(y)\nout = x < y", None),
    "keys whose hashes collide": (
        _body("m = (1 << 61) - 1", "d = {}", "for i in range(30000):", "    d[i * m] = i", "return len(d)"),
        "30000",
    ),
    "elements whose hashes collide": ("m = (1 << 61) - 1\nout = len(set([i * m for i in range(30000)]))", "30000"),
    "tuples whose hashes collide": (
        "m = (1 << 61) - 1\nout = len({(i * m,): 1 for i in range(30000)})",
        "30000",
    ),
    "find at its worst": ("out = ('a' * 1000000).find('a' * 500000 + 'b')", "-1"),
    "rfind at its worst": ("out = ('a' * 1000000).rfind('ab' + 'a' * 500000)", "-1"),
    "count at its worst": ("out = ('a' * 1000000).count('a' * 500000 + 'b')", "0"),
    "in at its worst": ("out = ('a' * 500000 + 'b') in ('a' * 1000000)", "False"),
    "rsplit at its worst": ("out = len(('a' * 1000000).rsplit('ab' + 'a' * 500000))", "1"),
    "rpartition at its worst": ("out = len(('a' * 1000000).rpartition('ab' + 'a' * 500000))", "3"),
    "replace at its worst": ("out = len(('a' * 1000000).replace('a' * 500000 + 'b', 'c'))", "1000000"),
    "strip with a cutset of a megabyte": ("out = len(('a' * 1000000).strip('b' * 1000000 + 'a'))", "0"),
    "200,000 insertions at the front": (
        _body("l = []", "for i in range(200000):", "    l.insert(0, i)", "return len(l)"),
        "200000",
    ),
    "200,000 removals from the front": (
        _body("l = list(range(200000))", "for i in range(200000):", "    l.pop(0)", "return len(l)"),
        "0",
    ),
    "removals from the end of a long list": (
        _body("l = list(range(200000))", "for i in range(1000):", "    l.remove(199999 - i)", "return len(l)"),
        "199000",
    ),
    "copies of a long list": (
        _body("l = [0] * 1000000", "n = 0", "for i in range(5000):", "    n += len(l[:])", "return n"),
        "5000000000",
    ),
    "copies of a long list by addition": (
        _body("l = [0] * 500000", "n = 0", "for i in range(5000):", "    n += len(l + [1])", "return n"),
        None,
    ),
    "long lists compared": (
        _body(
            "a = list(range(1000000))",
            "b = list(range(1000000))",
            "n = 0",
            "for i in range(2000):",
            "    if a == b:",
            "        n += 1",
            "return n",
        ),
        "2000",
    ),
    "long texts compared": (
        _body(
            "a = 'x' * 5000000 + 'a'",
            "b = 'x' * 5000000 + 'b'",
            "n = 0",
            "for i in range(20000):",
            "    if a < b:",
            "        n += 1",
            "return n",
        ),
        "20000",
    ),
    "long texts searched": (
        _body("s = 'a' * 10000000", "n = 0", "for i in range(20000):", "    n += s.count('b')", "return n"),
        "0",
    ),
    "long texts made upper": (
        _body("s = 'a' * 1000000", "n = 0", "for i in range(20000):", "    n += len(s.upper())", "return n"),
        None,
    ),
    "long texts as keys": (
        _body("d = {}", "for i in range(20000):", "    d['x' * 1000000 + str(i % 2)] = 1", "return len(d)"),
        "2",
    ),
    "long lists sorted": (
        _body(
            "base = [0] * 20000",
            "l = [base + [i % 7] for i in range(200)]",
            "n = 0",
            "for i in range(300):",
            "    n += len(sorted(l))",
            "return n",
        ),
        "60000",
    ),
    "long dicts copied": (
        _body(
            "d = {i: i for i in range(100000)}", "n = 0", "for i in range(3000):", "    n += len(dict(d))", "return n"
        ),
        "300000000",
    ),
    "long lists searched": (
        _body(
            "l = list(range(100000))",
            "n = 0",
            "for i in range(20000):",
            "    if -1 in l:",
            "        n += 1",
            "return n",
        ),
        "0",
    ),
    "long sets intersected": (
        _body("s = set(range(100000))", "n = 0", "for i in range(20000):", "    n += len(s & s)", "return n"),
        None,
    ),
    "a flood of prints": (_body("for i in range(2000):", "    print('x' * 100000)", "return 1"), "1"),
    "a flood of small prints": (_body("for i in range(100000):", "    print(i)", "return 1"), "1"),
    "JSON of 100,000 digits": ("out = json.decode('9' * 100000) > 0", "True"),
    "JSON beyond a float": ("out = json.decode('1e999')", None),
    "JSON of a lone surrogate": ("x = json.decode('\"\\\\ud800\"')\nout = len(json.encode(x)) > 0", "True"),
    "products of numbers of 250,000 bits": (
        _BITS + _body("x = bits(250000) - 1", "n = 0", "for i in range(100000):", "    n = x * 3", "return n > 0"),
        None,
    ),
    "quotients of numbers of 250,000 bits": (
        _BITS
        + _body(
            "x = bits(250000) - 1",
            "y = bits(125000) - 1",
            "n = 0",
            "for i in range(100000):",
            "    n = x // y + x % y",
            "return n > 0",
        ),
        None,
    ),
    "texts of numbers of 250,000 bits": (
        _BITS + _body("x = bits(250000) - 1", "n = 0", "for i in range(1000):", "    n += len(str(x))", "return n"),
        None,
    ),
}

_LEGITIMATE: Final = {
    "50,000 numbers sorted": ("out = sorted([(i * 7919) % 50021 for i in range(50000)])[0]", "0"),
    "50,000 numbers joined": ("out = len(','.join([str(i) for i in range(50000)]))", "288889"),
    "a text of a megabyte": ("out = len('ab' * 500000)", "1000000"),
    "the text of 60 lists in one another": (
        _deep(60, "[]", "[x]") + "out = len(repr(deep()))",
        "122",
    ),
    "the text of a number of 4,000 bits": (_BITS + "out = len(str(bits(4000)))", "1205"),
    "a dict of 20,000 keys": ("out = len({str(i): i for i in range(20000)})", "20000"),
    "a function called 20,000 times": (
        "def g(x):\n    return x + 1\n" + _body("n = 0", "for i in range(20000):", "    n = g(n)", "return n"),
        "20000",
    ),
    "a list built by append": (_body("l = []", "for i in range(50000):", "    l.append(i)", "return len(l)"), "50000"),
    "a hundred calls in one another": (
        "def f0(x):\n    return x\n"
        + "".join(f"def f{i}(x):\n    return f{i - 1}(x) + 1\n" for i in range(1, 100))
        + "out = f99(0)",
        "99",
    ),
}

LIMITS: Final[list[Case]] = [
    *failing(_ENDLESS),
    *failing(_HUGE_VALUES),
    *any_of(_BOUNDED),
    *valued(_LEGITIMATE),
    *failing(
        {"modules that load one another": "load('a.star', 'x')\nout = x"},
        {"a.star": "load('b.star', 'x')", "b.star": "load('a.star', 'x')"},
    ),
    *failing({"a module that loads itself": "load('a.star', 'x')\nout = x"}, {"a.star": "load('a.star', 'x')"}),
]
"""All but those that take a while."""

HEAVY: Final[list[Case]] = any_of(
    {
        "a chain of 400 modules": ("load('m399.star', 'a')\nout = a", "1"),
    },
    {"m0.star": "a = 1"} | {f"m{i}.star": f"load('m{i - 1}.star', b = 'a')\na = b" for i in range(1, 400)},
) + any_of(
    {
        "a product of numbers of 20 million bits": (_BITS + "x = bits(20000000) - 1\nout = x * x > 0", "True"),
        "a text of a number of 5 million bits": (_BITS + "out = len(str(bits(2500000) * bits(2500000)))", None),
        "percent of a number of 4 million bits": (_BITS + "out = len('%d' % (bits(2000000) * bits(2000000)))", None),
        "the text of many large numbers": (_BITS + "x = bits(13000)\nout = len(repr([x] * 20000))", None),
        "the hash of a tuple of 300,000 levels": (_deep(300_000, "()", "(x,)") + "out = len({deep(): 1})", "1"),
        "a dict of a million keys": ("out = len({i: i for i in range(1000000)})", "1000000"),
        "a list of a million lists": ("out = len([[i] for i in range(1000000)])", "1000000"),
    }
)
"""Scripts that may work hard for some seconds."""
