"""Texts that are no Starlark although Python takes them, and texts that are too much for a compiler."""

from __future__ import annotations

from typing import Final

from tests.starlark.cases.case import Case, any_of, failing, refused, valued

__all__ = ["HUGE", "SYNTAX"]

_MODULES: Final = {"m.star": "a = 1\n_a = 2\n"}


def _nested_ifs(levels: int) -> str:
    ifs = "".join(f"{' ' * (level + 1)}if x:\n" for level in range(levels))
    return f"def f(x):\n{ifs}{' ' * (levels + 1)}return 5\nout = f(1)"


def _nested_loops(levels: int) -> str:
    loops = "".join(f"{' ' * (level + 1)}for a{level} in x:\n" for level in range(levels))
    return f"def f(x):\n{loops}{' ' * (levels + 1)}return a0\nout = f([7])"


def _nested_functions(levels: int) -> str:
    heads = "".join(f"{' ' * level}def f{level}():\n" for level in range(levels))
    returns = "".join(f"{' ' * level}return f{level}()\n" for level in range(levels - 1, 0, -1))
    return f"{heads}{' ' * levels}return 1\n{returns}out = f0()"


_NOT_STARLARK: Final = {
    "a while loop": "def f():\n    while True:\n        pass\nout = f",
    "a while loop at top level": "while False:\n    pass",
    "an if at top level": "if True:\n    out = 1",
    "a for at top level": "for x in [1]:\n    out = x",
    "import": "import os\nout = os",
    "import of a member": "from os import path\nout = path",
    "import of everything": "from os import *\nout = 1",
    "import of the future": "from __future__ import annotations\nout = 1",
    "nonlocal": "def f():\n    x = 1\n    def g():\n        nonlocal x\n        x = 2\n    return g\nout = f()",
    "global": "x = 1\ndef f():\n    global x\n    x = 2\nf()\nout = x",
    "del": "x = [1, 2]\ndel x[0]\nout = x",
    "raise": "def f():\n    raise 1\nout = f",
    "assert": "def f():\n    assert 1\nout = f",
    "await": "async def f(x):\n    await x\nout = f",
    "an asynchronous loop": "async def f(x):\n    async for y in x:\n        pass\nout = f",
    "else of a for": "def f():\n    for x in [1]:\n        pass\n    else:\n        return 2\nout = f()",
    "a set display": "out = {1, 2}",
    "a set comprehension": "out = {x for x in [1]}",
    "a star in a list": "a = [1]\nout = [*a, 2]",
    "a star in a tuple": "a = [1]\nout = (*a, 2)",
    "stars in a dict": "a = {}\nout = {**a}",
    "a star in a target": "a, *b = [1, 2, 3]\nout = b",
    "a star in a subscript": "x = [1]\nout = x[*x]",
    "a product of matrices": "out = [1] @ [2]",
    "an augmented product of matrices": "x = 1\ndef f(y):\n    y @= 1\nout = 1",
    "a power": "out = 2 ** 3",
    "is": "x = []\nout = x is x",
    "is not": "x = []\nout = x is not x",
    "a chained comparison": "out = 1 < 2 < 3",
    "a chained membership": "out = 1 in [1] in [[1]]",
    "not in the wrong place": "out = 1 == not 2",
    "an ellipsis": "out = [...]",
    "a complex number": "out = 1j",
    "an underscore in a number": "out = 1_000",
    "an old octal number": "out = 0777",
    "an annotated assignment": "x: int = 1\nout = x",
    "an annotation alone": "x: int\nout = 1",
    "a positional argument after a keyword": "def f(x, y):\n    return x\nout = f(x = 1, 2)",
    "a positional argument after a star": "def f(*a):\n    return a\nout = f(*[1], 2)",
    "two stars in a call": "def f(*a):\n    return a\nout = f(*[1], *[2])",
    "two double stars in a call": "def f(**a):\n    return a\nout = f(**{}, **{})",
    "a positional-only parameter": "def f(x, /):\n    return x\nout = f(1)",
    "a list of slices": "x = [1, 2, 3]\nout = x[0:1, 2]",
    "strings side by side": "out = 'a' 'b'",
    "strings side by side in brackets": "out = ('a'\n'b')",
    "a named character": "out = '\\N{BULLET}'",
    "a hexadecimal escape above 127": "out = '\\xff'",
    "an octal escape above 127": "out = '\\377'",
    "an escape of a surrogate": "out = '\\ud800'",
    "an escape beyond Unicode": "out = '\\U00110000'",
    "an unknown escape": "out = '\\q'",
    "an escape that is cut short": "out = '\\x1'",
    "a Unicode prefix": "out = u'a'",
    "a capital prefix": "out = R'a'",
    "bytes beyond a byte": "out = b'\\400'",
    "a float that is out of range": "out = 1e999",
    "load in a function": "def f():\n    load('m.star', 'a')\n    return a\nout = f()",
    "load of a computed name": "load('m.' + 'star', 'a')\nout = a",
    "load as an expression": "out = load('m.star', 'a')",
    "load with a star": "load('m.star', *['a'])\nout = 1",
    "load of nothing": "load('m.star')\nout = 1",
    "load of a private name": "load('m.star', '_a')\nout = _a",
    "an undefined name in a function that nobody calls": "def f():\n    return nope\nout = 1",
    "an undefined name in a lambda": "out = lambda: nope",
    "an assignment to an undefined name's element": "nope[0] = 1",
    "a global that is assigned twice": "x = 1\nx = 2\nout = x",
    "a function that is defined twice": "def f():\n    pass\ndef f():\n    pass\nout = f",
    "a parameter twice": "def f(x, x):\n    return x\nout = f(1, 2)",
    "a parameter without a default after one with it": "def f(x = 1, y):\n    return x\nout = f(1, 2)",
    "a keyword argument twice": "out = dict(a = 1, a = 2)",
    "return at top level": "return 1",
    "break outside a loop": "def f():\n    break\nout = f",
    "continue outside a loop": "def f():\n    continue\nout = f",
    "break in a function in a loop": "def f():\n    for x in [1]:\n        def g():\n            break\nout = f",
    "an assignment to a call": "len([]) = 1",
    "an assignment to a literal": "1 = 2",
    "an assignment to a conditional": "x = [1]\n(x if x else x) = 1",
    "an augmented assignment to a tuple": "def f(x, y):\n    (x, y) += (1, 2)\nout = f",
    "an assignment in a condition": "def f(x):\n    if x = 1:\n        return 1\nout = f",
    "a chained assignment": "x = y = 1\nout = x",
    "a backquote": "out = `1`",
    "a dollar": "out = $x",
    "a question mark": "out = 1 ? 2 : 3",
    "an exclamation mark": "out = !True",
    "the diamond": "out = 1 <> 2",
    "increment": "x = 1\nx++\nout = x",
    "a reserved word as a name": "class_ = 1\nclass = 2",
    "a reserved word as an attribute": "out = json.class",
    "a reserved word as a keyword": "out = dict(class = 1)",
    "a NUL": "out = 1\0\n",
    "a lone surrogate": "out = '\ud800'",
    "a no-break space": "out =\u00a01",
    "an ideographic space": "out =\u30001",
    "a line separator": "out = 1\u2028x = 2",
    "a digit of another script": "out = \u0661",
    "a minus of typography": "out = \u22121",
    "a quote of typography": "out = \u201ca\u201d",
    "an unfinished string": "out = 'a\nb'",
    "an unfinished triple quote": "out = '''a",
    "a bracket that stays open": "out = [1,\n2",
    "a bracket too much": "out = [1]]",
    "brackets that do not match": "out = (1]",
    "an indentation out of nowhere": "  out = 1",
    "an indentation that fits nothing": "def f():\n        return 1\n    return 2",
    "a body that is missing": "def f():\nout = 1",
    "a backslash at the end": "out = 1 \\",
    "a backslash before a blank": "out = 1 \\ \n + 2",
    "a comprehension without a for": "out = [x if x]",
    "a comprehension in a call": "out = max(x for x in [1])",
    "a lambda with a statement": "out = lambda: pass",
    "a lambda with a star alone": "out = lambda *: 1",
    "a tuple as a parameter": "def f((x, y)):\n    return x",
    "a print statement": "print 'x'",
}

_TOO_MUCH: Final = {
    "a triple quote that is never closed": "out = '''" + "a" * 150_000,
    "a bracket that is never closed": "out = [\n" + "1,\n" * 3_000,
    "brackets that are never closed": "(" * 50_000,
    "a string that is never closed": "out = '" + "a" * 150_000,
    "only closing brackets": ")" * 10_000,
    "only indentation": "".join(f"{' ' * level}if x:\n" for level in range(400)),
}

_LARGE: Final = {
    "300 parentheses": ("out = " + "(" * 300 + "1" + ")" * 300, "1"),
    "5,000 lists": ("out = len(" + "[" * 5_000 + "]" * 5_000 + ")", "1"),
    "2,000 dicts": ("out = len(" + "{1:" * 2_000 + "1" + "}" * 2_000 + ")", "1"),
    "20,000 minus signs": ("out = " + "-" * 20_000 + "1", "1"),
    "20,000 tildes": ("out = " + "~" * 20_000 + "1", "1"),
    "5,000 times not": ("out = " + "not " * 5_000 + "True", "True"),
    "5,000 conditionals": ("out = " + "1 if True else " * 5_000 + "2", "1"),
    "5,000 lambdas": ("out = type(" + "lambda: " * 5_000 + "1)", '"function"'),
    "20,000 attributes": ("def f(x):\n    return x" + ".a" * 20_000 + "\nout = 1", "1"),
    "20,000 calls": ("def f(x):\n    return x" + "()" * 20_000 + "\nout = 1", "1"),
    "20,000 subscripts": ("def f(x):\n    return x" + "[0]" * 20_000 + "\nout = 1", "1"),
    "10,000 calls in one another": ("def f(x):\n    return " + "f(" * 10_000 + "x" + ")" * 10_000 + "\nout = 1", "1"),
    "20,000 terms": ("out = 0" + " + 1" * 20_000, "20000"),
    "20,000 or": ("out = 0" + " or 0" * 20_000 + " or 5", "5"),
    "21 loops in one another": (_nested_loops(21), "7"),
    "60 loops in one another": (_nested_loops(60), "7"),
    "150 ifs in one another": (_nested_ifs(150), "5"),
    "90 functions in one another": (_nested_functions(90), "1"),
    "30 comprehensions in one another": ("out = len(" + "[" * 30 + "0" + " for x in [0]]" * 30 + ")", "1"),
    "150 comprehensions in one another": ("out = len(" + "[" * 150 + "0" + " for x in [0]]" * 150 + ")", "1"),
    "30 loops in a comprehension": ("out = len([0" + " for x in [0]" * 30 + "])", "1"),
    "300 loops in a comprehension": ("out = len([0" + " for x in [0]" * 300 + "])", "1"),
    "2,000 elif": (
        "def f(x):\n    if x == -1:\n        return -1\n"
        + "".join(f"    elif x == {i}:\n        return {i}\n" for i in range(2_000))
        + "out = f(1999)",
        "1999",
    ),
    "a decimal number of 5,000 digits": ("out = " + "9" * 5_000 + " > 0", "True"),
    "a hexadecimal number of 100,000 digits": ("out = 0x" + "f" * 100_000 + " > 0", "True"),
    "a float of 100,000 digits": ("out = 0." + "1" * 100_000 + " < 1", "True"),
    "a float of 100,000 digits before the point": ("out = " + "0" * 100_000 + ".5", "0.5"),
    "an identifier of 90,000 letters": ("x" * 90_000 + " = 1\nout = " + "x" * 90_000, "1"),
    "5,000 keyword arguments": ("out = len(dict(" + ", ".join(f"a{i} = 1" for i in range(5_000)) + "))", "5000"),
    "5,000 positional arguments": (
        "def f(*a):\n    return len(a)\nout = f(" + ", ".join(["1"] * 5_000) + ")",
        "5000",
    ),
    "300 parameters": (
        f"def f({', '.join(f'p{i}' for i in range(300))}):\n    return p299\n"
        f"out = f({', '.join(map(str, range(300)))})",
        "299",
    ),
    "300 variables of a closure": (
        "def f():\n"
        + "".join(f"    v{i} = {i}\n" for i in range(300))
        + f"    def g():\n        return {' + '.join(f'v{i}' for i in range(300))}\n    return g\nout = f()()",
        "44850",
    ),
    "3,000 functions": ("".join(f"def f{i}():\n    return {i}\n" for i in range(3_000)) + "out = f2999()", "2999"),
    "3,000 targets": (
        ", ".join(f"v{i}" for i in range(3_000)) + " = range(3000)\nout = v2999",
        "2999",
    ),
    "a line of 100,000 blanks": ("out = " + " " * 100_000 + "1", "1"),
    "50,000 empty lines": ("\n" * 50_000 + "out = 1", "1"),
    "100,000 semicolons": ("pass;" * 20_000 + "out = 1", "1"),
    "a byte order mark": ("\ufeffout = 1", "1"),
    "a form feed in the indentation": ("def f():\n\f    return 1\nout = f()", "1"),
    "a global named None": ("None = 1\nout = None", "1"),
    "a parameter named True": ("def f(True):\n    return True\nout = f(1)", "1"),
    "zeros": ("out = 00", "0"),
    "carriage returns": ("out = 1\r\nx = 2\r\n", "1"),
    "a carriage return alone": ("out = 1\rx = 2\r", "1"),
    "a tab and blanks": ("def f():\n\tif True:\n\t    return 1\nout = f()", "1"),
    "an empty function of a comment": ("def f():\n    # nothing\n    pass\nout = f()", "None"),
}

_IN_ORDER: Final = {
    "soft keywords are names": (
        "match = 1\ncase = 2\n_ = 4\ndef f(type):\n    return type + match + case + _\nout = f(10)",
        "17",
    ),
    "a sum of 900 terms": ("out = 0" + " + 1" * 900, "900"),
    "300 elif": (
        "def f(x):\n    if x == -1:\n        return -1\n"
        + "".join(f"    elif x == {i}:\n        return {i}\n" for i in range(300))
        + "out = f(299)",
        "299",
    ),
    "90 ifs in one another": (_nested_ifs(90), "5"),
    "a lambda in a comprehension's condition": ("out = len([0 for name in [1] if (lambda: name)])", "1"),
    "a list of 2,000 elements": ("out = len([" + "0," * 2_000 + "])", "2000"),
    "a text of 100,000 characters": ("out = len('" + "a" * 100_000 + "')", "100000"),
    "statements on one line": ("x = 1; y = 2; out = x + y", "3"),
    "a trailing comma": ("out = len([1, 2,]) + len((1,)) + len({1: 2,})", "4"),
    "no newline at the end": ("out = 1", "1"),
    "a doc string": ("'''About this.'''\ndef f():\n    'About f.'\n    return 1\nout = f()", "1"),
}

SYNTAX: Final[list[Case]] = [
    *refused(_NOT_STARLARK),
    *failing(_TOO_MUCH),
    *any_of(_LARGE),
    *valued(_IN_ORDER),
    *failing(
        {
            "load of a name that is missing": "load('m.star', 'b')\nout = b",
            "load of what is no identifier": "load('m.star', x = 'a.b')\nout = x",
            "load of a module that is missing": "load('n.star', 'a')\nout = a",
        },
        _MODULES,
    ),
    *valued({"load under another name": ("load('m.star', b = 'a')\nout = b", "1")}, _MODULES),
]
"""All but those that take a while."""

HUGE: Final[list[Case]] = any_of(
    {
        "a list of 150,000 elements": ("out = len([" + "0," * 150_000 + "])", "150000"),
        "100,000 statements": ("x = 1\ndef f():\n" + "    x = 1\n" * 100_000 + "    return x\nout = f()", "1"),
        "a megabyte of comments": ("out = 1\n" + ("#" * 99 + "\n") * 10_000, "1"),
        "a string of 2 MB": ("out = len('" + "a" * 2_000_000 + "')", "2000000"),
        "a dict of 50,000 keys": ("out = len({" + "".join(f"{i}:0," for i in range(50_000)) + "})", "50000"),
        "a triple quote of 1 MB": ("out = len('''" + "a\n" * 500_000 + "''')", "1000000"),
    },
    mb=400,
)
"""Sources of a size that is above any sensible limit."""
