"""Ways out of the language that others' sandboxes had: Python's attributes, names, syntax and texts."""

from __future__ import annotations

from typing import Final

from tests.starlark.cases.case import Case, any_of, failing, refused, valued

__all__ = ["ESCAPES"]

_DUNDERS: Final = [
    "__class__", "__bases__", "__mro__", "__subclasses__", "__dict__", "__doc__", "__init__", "__module__",
    "__reduce__", "__reduce_ex__", "__getattribute__", "__globals__", "__code__", "__closure__", "__defaults__",
    "__kwdefaults__", "__builtins__", "__call__", "__get__", "__name__", "__qualname__", "__wrapped__", "__self__",
    "__func__", "__text_signature__", "__iter__", "__next__", "__len__", "__add__", "__mod__", "__eq__", "__hash__",
    "__class_getitem__", "__annotations__", "__type_params__", "f_back", "f_globals", "gi_frame", "cr_frame",
    "tb_frame", "func_globals", "starlark_builtin", "fields", "members", "kind", "receiver", "implementation",
]  # fmt: skip
_VALUES: Final = "None, True, 1, 2.5, 'a', b'a', (), [], {}, set(), range(3), len, print, [].append, f, lambda: 0, json"

_ATTRIBUTES: Final = {
    f"{value} has no {attribute}": f"def f():\n    pass\nout = {value}.{attribute}"
    for value in ("()", "''", "[]", "{}", "(1)", "True", "None", "f", "len", "[].append", "json", "range(1)", "b''")
    for attribute in ("__class__", "__dict__", "__globals__", "__init__", "__self__")
}

_REACHING: Final = {
    "the walk to all classes": "out = ''.__class__.__mro__[1].__subclasses__()",
    "getattr of a dunder": "out = getattr([], '__class__')",
    "getattr of a dunder that is put together": "out = getattr([], '__' + 'class' + '__')",
    "an attribute of the host's function": "out = len.__call__",
    "a field of a format": "out = '{0.__class__}'.format([])",
    "a field of an item of a format": "out = '{0[0].__class__}'.format([1])",
    "an item of a format": "out = '{0[0]}'.format([1])",
    "a named field of a format": "out = '{x.real}'.format(x = 1)",
    "a conversion and a nested specification": "out = '{0!r:{1}}'.format('a', '>100')",
    "a specification of a format": "out = '{:>10}'.format('a')",
    "a format that is kept": "f = '{0.__class__}'.format\nout = f([])",
    "a format from getattr": "out = getattr('{0.__class__}', 'format')([])",
    "a call of the name of a type": "out = type('')('x')",
    "an attribute of the name of a type": "out = type('').__name__",
    "a function's attribute is set": "def f():\n    pass\nf.x = 1\nout = f",
    "a function's code is set": "def f():\n    pass\nf.__code__ = f\nout = f()",
    "a function's defaults are set": "def f(x = 1):\n    return x\nf.__defaults__ = (2,)\nout = f()",
    "a builtin's attribute is set": "len.x = 1\nout = 1",
    "a module's attribute is set": "json.encode = len\nout = 1",
    "a comprehension writes an attribute": "def f():\n    pass\nout = [0 for f.__code__ in [1]]",
    "a tuple writes an attribute": "x = []\n(x.__class__, y) = (1, 2)\nout = y",
    "an augmented assignment writes an attribute": "x = []\nx.__class__ += 1\nout = 1",
    "a default reads an attribute": "f = lambda x = ().__class__: x\nout = f()",
    "fullwidth letters of an attribute": "out = 'x'.\uff55pper()",
    "a ligature in an attribute": "out = ''.startswith('') and ''.\ufb01nd('')",
    "an argument of Python's sorted": "out = sorted([2, 1], cmp = len)",
    "the hidden thread by its name": "out = sorted([2, 1], thread = 1)",
    "the hidden thread of a function": "def f():\n    return 1\nout = f(thread = 1)",
    "one argument more than there are": "def f():\n    return 1\nout = f(None)",
    "an argument of Python's print": "print('x', file = 1)\nout = 1",
    "an argument of Python's int": "out = int(x = '1', foo = 2)",
    "Python's str of bytes": "out = str(b'a', 'ascii', 'strict')",
    "Python's iter": "out = iter([1], 2)",
    "Python's three-argument type": "out = type('X', (), {})",
}

_NO_STARLARK: Final = {
    "a generator expression": "out = (x for x in [1]).gi_frame.f_back",
    "a generator": "def f():\n    yield 1\nout = f().gi_frame",
    "a generator that delegates": "out = lambda: (yield from [1])",
    "an exception's traceback": "def f():\n    try:\n        f()\n    except len as e:\n        return e\nout = f()",
    "finally": "def f():\n    try:\n        return 1\n    finally:\n        return 2\nout = f()",
    "a class": "class A:\n    x = 1\nout = A.x",
    "a decorator": "@len\ndef f():\n    pass\nout = f",
    "a class pattern": "def f(x):\n    match x:\n        case object(__class__ = c):\n            return c\nout = f(1)",
    "an f-string": "out = f'{().__class__}'",
    "an f-string of several lines": "out = f'''{1}'''",
    "a t-string": "x = 1\nout = t'{x}'",
    "an annotation of a result": "def f() -> print('x'):\n    return 1\nout = f()",
    "an annotation of a parameter": "def f(x: print('x')):\n    return 1\nout = f(1)",
    "an annotation of a variable": "x: print('x') = 1\nout = x",
    "an assignment expression": "out = [y := x for x in [1, 2]] + [y]",
    "the name of a module": "out = __name__",
    "the file of a module": "out = __file__",
    "the constant of debugging": "out = __debug__",
    "the constant of debugging in a function": "def f(x):\n    return __debug__\nout = f(1)",
    "the cell of a class": "def f():\n    return __class__\nout = f()",
    "super": "def f():\n    return super().x\nout = f()",
    "Python's builtins": "def f():\n    return [open, globals, eval, exec, compile, vars, locals, input]\nout = 1",
    "more of Python's builtins": "def f():\n    return [__import__, object, isinstance, id, map, memoryview]\nout = 1",
    "Python's constants": "def f():\n    return [Ellipsis, NotImplemented]\nout = 1",
    "the exceptions": "def f():\n    return [Exception, BaseException, KeyError]\nout = 1",
    "an asynchronous comprehension": "async def f():\n    return [x async for x in f()]\nout = f().cr_frame",
    "a with statement": "def f(x):\n    with x as y:\n        return y\nout = 1",
    "a delegated import": "def f():\n    import os\n    return os\nout = f()",
    "a type alias": "type X = int\nout = 1",
    "a type parameter": "def f[T](x):\n    return x\nout = f(1)",
    "an exception group": "def f():\n    try:\n        pass\n    except* ValueError:\n        pass\nout = 1",
}

_HARMLESS: Final = {
    "no value shows a name of the host": (
        f"def f():\n    pass\nout = [n for n in {_DUNDERS!r} for x in [{_VALUES}] if hasattr(x, n)]",
        "[]",
    ),
    "getattr falls back": ("out = [getattr(x, '__class__', 7) for x in ['', [], len]]", "[7, 7, 7]"),
    "dir shows no name of the host": (
        "out = [n for v in ['', [], {}, 1, len, [].append, json] for n in dir(v) if n.startswith('_')]",
        "[]",
    ),
    "types are strings": (
        "out = type(type(1)) + ':' + type([]) + ':' + type(type(len))",
        '"string:list:string"',
    ),
    "a name that is normalised": ("out = hasattr('', '\uff55pper')", "False"),
    "an attribute with a NUL": ("out = getattr('', 'up\\0per', 1)", "1"),
    "Python's methods of strings": (
        "out = [n for n in ['encode', 'translate', 'maketrans', 'format_map', 'zfill', 'ljust', 'center', "
        "'expandtabs', 'casefold', 'isidentifier', 'isprintable', 'swapcase'] if hasattr('', n)]",
        "[]",
    ),
    "Python's methods of lists": ("out = [n for n in ['sort', 'copy', 'reverse', 'count'] if hasattr([], n)]", "[]"),
    "Python's methods of dicts": ("out = [n for n in ['fromkeys', 'copy', '__or__'] if hasattr({}, n)]", "[]"),
    "Python's methods of numbers": (
        "out = [n for n in ['real', 'imag', 'bit_length', 'to_bytes', 'hex'] if hasattr(1, n) or hasattr(1.5, n)]",
        "[]",
    ),
    "Python's attributes of ranges": (
        "out = [n for n in ['start', 'stop', 'step', 'index'] if hasattr(range(1), n)]",
        "[]",
    ),
    "texts show no address": (
        "def f():\n    pass\ns = repr(f) + repr(len) + repr([].append) + str(lambda: 1) + '%s' % f\nout = '0x' in s",
        "False",
    ),
    "names of others' guards are ordinary": (
        "def f(_getattr_, _getitem_, _getiter_, _write_, _apply_, _print_, _step_, _rt, __rt__, thread, _t):\n"
        "    x = [3, 1]\n    x[0] += 1\n    a, b = x\n    return 'A'.lower() + str(x[0]) + str(a + b)\n"
        "out = f(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)",
        '"a45"',
    ),
    "hidden universals are not needed": (
        "def f():\n"
        "    len = None; str = None; list = None; tuple = None; type = None; range = None; dict = None; int = None\n"
        "    getattr = None; iter = None; repr = None; bool = None; set = None; any = None; isinstance = None\n"
        "    x = [i for i in [1, 2] if i]\n    x += [3]\n    d = {'a': x}\n    a, b, c = x\n"
        "    return '%d%s' % (d['a'][2], b) + '{}'.format(c)\n"
        "out = f()",
        '"323"',
    ),
    "a global of the name of Python's builtins": (
        "__builtins__ = {}\ndef f():\n    return len([1, 2])\nout = f()",
        "2",
    ),
    "a global that would replace the engine's own": (
        "__builtins__ = {n: None for n in ['.len', '.u.len', '.type', '.TRUE', '.index', '.u.type']}\n"
        "def f(x):\n    return (len(x), x[0], x == [1], type(x))\nout = f([1])",
        '(1, 1, True, "list")',
    ),
    "globals that hide universals": ("len = 1\nstr = 2\nout = len + str", "3"),
    "a coding cookie decodes nothing": ("# -*- coding: utf-7 -*-\n# +AGE-\nout = len('+AGEAYg-')", "8"),
    "a string of template code": ("out = '{{ x.__class__ }}'", '"{{ x.__class__ }}"'),
}

_EITHER: Final = {
    "a mapping of the percent operator": ("out = '%(x)s' % {'x': 1}", '"1"'),
    "globals of Python's names": (
        "__name__ = 1\n__import__ = 2\n__annotations__ = 3\nout = __name__ + __import__",
        "3",
    ),
    "a function of Python's name": ("def __build_class__(x):\n    return x\nout = __build_class__(4)", "4"),
    "text that runs backwards": ("out = len('a\u202e\u2066b')", "4"),
    "a name that is not in normal form": ("\ufb01 = 1\nfi = 2\nout = \ufb01", "1"),
}

ESCAPES: Final[list[Case]] = [
    *failing(_ATTRIBUTES),
    *failing(_REACHING),
    *refused(_NO_STARLARK),
    *valued(_HARMLESS),
    *any_of(_EITHER),
]
"""All of them."""
