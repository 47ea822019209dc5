"""An embeddable Starlark, go.starlark.net's dialect, compiled to CPython's bytecode.

program = starlark.compile("def double(x): return x * 2", filename="double.star")
module = program.run(starlark.Thread())
starlark.call(starlark.Thread(max_steps=1000), module["double"], args=(21,))
"""

from plait.starlark.errors import (
    EvalError,
    Frame,
    FrozenError,
    ParseError,
    ResolveError,
    StarlarkError,
    StepLimitExceeded,
)
from plait.starlark.host.builtin import builtin
from plait.starlark.host.conversion import from_python, to_python
from plait.starlark.modules.json import json
from plait.starlark.modules.math import math
from plait.starlark.modules.structs import make_module as module
from plait.starlark.modules.structs import make_struct as struct
from plait.starlark.modules.time import set_clock, time
from plait.starlark.options import Options
from plait.starlark.program import Program, call
from plait.starlark.program import compile_source as compile  # noqa: A004 - DESIGN's name
from plait.starlark.running.freezing import Loan, freeze, lend, restore
from plait.starlark.running.globals import Globals
from plait.starlark.thread import Thread
from plait.starlark.values import FALSE, TRUE, HostValue, Module, Struct, type_name

__all__ = [
    "FALSE",
    "TRUE",
    "EvalError",
    "Frame",
    "FrozenError",
    "Globals",
    "HostValue",
    "Loan",
    "Module",
    "Options",
    "ParseError",
    "Program",
    "ResolveError",
    "StarlarkError",
    "StepLimitExceeded",
    "Struct",
    "Thread",
    "builtin",
    "call",
    "compile",
    "freeze",
    "from_python",
    "json",
    "lend",
    "math",
    "module",
    "restore",
    "set_clock",
    "struct",
    "time",
    "to_python",
    "type_name",
]
