"""The builtins struct and module, which make values with named fields."""

from __future__ import annotations

from typing import Any

from plait.starlark.errors import EvalError
from plait.starlark.host.conversion import from_python
from plait.starlark.modules.parameters import string
from plait.starlark.native import native
from plait.starlark.thread import Thread
from plait.starlark.values import Module, Struct

__all__ = ["make_module", "make_struct"]


@native("struct", maximum=-1)
def make_struct(thread: Thread | None = None, /, *args: Any, **fields: Any) -> Struct:
    """Make a struct of the fields given by name: the builtin ``struct``, and the host's ``struct(a=1)``.

    Args:
        thread: The running thread; a host that makes a struct of its own leaves it out.
        args: Refused.
        fields: Values by name; a host's are converted as ``from_python`` does it.

    Returns:
        The struct.

    Raises:
        EvalError: There are positional arguments.
        StarlarkError: A host's field has no value in Starlark.
    """
    if args or (thread is not None and type(thread) is not Thread):
        raise EvalError("struct: unexpected positional arguments")
    if thread is None:
        return Struct({name: from_python(value) for name, value in fields.items()})
    thread.charge(len(fields) * (1 + len(fields).bit_length()))
    return Struct(fields)


@native("module", "name", maximum=1)
def make_module(thread: Thread, /, *args: Any, **members: Any) -> Module:
    """Make a module of the members given by name: the builtin ``module``.

    Args:
        thread: The running thread.
        args: The module's name, alone.
        members: Values by name.

    Returns:
        The module.

    Raises:
        EvalError: There is not exactly one positional argument, or it is not a string.
    """
    if len(args) != 1:
        raise EvalError(f"module: got {len(args)} arguments, want 1")
    thread.charge(len(members))
    return Module(string("module", 1, args[0]), members)
