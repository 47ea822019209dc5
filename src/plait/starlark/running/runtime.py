"""The names that compiled code uses and no script can write: its operators, its helpers and the universe."""

from __future__ import annotations

import sys
from types import FunctionType
from typing import TYPE_CHECKING, Any, Final

from plait.context import ContextError
from plait.starlark import comparison
from plait.starlark.comparison.hashing import note_key, unhashable
from plait.starlark.errors import EvalError, StarlarkError, StepLimitExceeded
from plait.starlark.methods.dicts import METHODS as DICT_METHODS
from plait.starlark.methods.strings import METHODS as STRING_METHODS
from plait.starlark.native import info_of
from plait.starlark.resolving.effects import MUTATORS
from plait.starlark.running import operators
from plait.starlark.running.failing import call_error, is_of_call_itself
from plait.starlark.running.globals import Globals
from plait.starlark.running.iteration import (
    collect,
    enumerated_parts,
    flat,
    is_iterable,
    locked_parts,
    locked_turns,
    parts,
    range_parts,
    turns,
)
from plait.starlark.running.linking import ITERATED, allows_recursion, is_compiled, program_of
from plait.starlark.running.mutation import lock, unlock
from plait.starlark.spelling import nearest
from plait.starlark.text import to_repr
from plait.starlark.universe import attributes
from plait.starlark.universe.universe import UNIVERSAL
from plait.starlark.values import FALSE, NAN, TRUE, Bytes, FrozenDict, FrozenList, Module, type_name

if TYPE_CHECKING:
    from types import FrameType

    from plait.starlark.thread import Thread

__all__ = ["RUNTIME", "call_starred"]

_CALL_COST: Final = 8
_ABSENT: Final = object()


def _call_method(thread: Thread, x: Any, name: str, /, *args: Any, **kwargs: Any) -> Any:
    methods = attributes.METHODS_OF.get(type(x))
    method = None if methods is None else methods.get(name)
    if method is None:
        function = attributes.get(thread, x, name)
        thread.charge(_CALL_COST)
        if type(function) is FunctionType and is_compiled(function):
            return _call_field(thread, function, args, kwargs)
        return _called(thread, function, args, kwargs)
    try:
        return method(thread, x, *args, **kwargs)
    except TypeError as error:
        raise _unless_within(error, method, args, kwargs) from None


def _call_field(thread: Thread, function: FunctionType, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a function that a struct's field with the name of a method holds.

    Compiled code takes a method of that name to call nothing of the script's. So what the loops around iterate over is
    locked here, and the function is kept from calling itself.
    """
    key = id(function.__code__)
    if key in thread.active and not allows_recursion(function.__code__):
        raise EvalError(f"function {function.__name__} called recursively")
    iterated = _iterated_by_callers()
    for value in iterated:
        lock(thread, value)
    is_outermost = key not in thread.active
    thread.active.add(key)
    try:
        return _called(thread, function, args, kwargs)
    finally:
        if is_outermost:
            thread.active.discard(key)
        for value in iterated:
            unlock(thread, value)


def _iterated_by_callers() -> list[Any]:
    """Return what the loops under way iterate over, of those that lock nothing: they keep it in a variable."""
    found = []
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - the only way to the frames of this Python thread
    while frame is not None:
        code = frame.f_code
        if program_of(code) is not None:
            names = [name for name in (*code.co_varnames, *code.co_cellvars) if name.startswith(ITERATED)]
            found += [value for name in names if type(value := frame.f_locals.get(name)) in operators.LOCKABLE]
        frame = frame.f_back
    return found


def _get(thread: Thread, x: Any, /, *args: Any) -> Any:
    """Call the method ``get``, most likely of a dict and with a key that compiled code did not care to look at."""
    if (type(x) is dict or type(x) is FrozenDict) and 1 <= len(args) <= 2:
        problem = unhashable(thread, args[0])
        if problem is not None:
            raise EvalError(f"get: {problem}")
        return x.get(*args)
    return _call_method(thread, x, "get", *args)


def _unless_within(error: TypeError, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> BaseException:
    """Return what to raise for a type error of a call: the script's error when the call itself failed."""
    if not is_of_call_itself(error.__traceback__):
        return error
    return call_error(function, len(args), tuple(kwargs))


def _called(thread: Thread, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    try:
        return function(thread, *args, **kwargs)
    except TypeError as error:
        raise _unless_within(error, function, args, kwargs) from None


def _call_method_locked(
    thread: Thread, iterated: tuple[Any, ...], x: Any, name: str, /, *args: Any, **kwargs: Any
) -> Any:
    """Call a method within loops over values that compiled code itself keeps from changing."""
    methods = attributes.METHODS_OF.get(type(x))
    if methods is not None and name in methods and (name not in MUTATORS or not any(x is value for value in iterated)):
        return _call_method(thread, x, name, *args, **kwargs)
    locked = [value for value in iterated if type(value) in operators.LOCKABLE]
    for value in locked:
        lock(thread, value)
    try:
        return _call_method(thread, x, name, *args, **kwargs)
    finally:
        for value in locked:
            unlock(thread, value)


def call_starred(  # noqa: PLR0917 - a node's parts, each with what is known of it
    thread: Thread, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], star: Any, stars: Any
) -> Any:
    """Call a function with ``*star`` and ``**stars`` beside its other arguments."""
    if stars is not _ABSENT:
        if type(stars) is not dict and type(stars) is not FrozenDict:
            raise EvalError(f"argument after ** must be a mapping, not {type_name(stars)}")
        thread.charge(len(stars))
        _add_keywords(function, kwargs, stars)
    if star is not _ABSENT:
        if not is_iterable(star):
            raise EvalError(f"argument after * must be iterable, not {type_name(star)}")
        args = (*args, *collect(thread, star))
    return _called(thread, function, args, kwargs)


def _add_keywords(function: Any, kwargs: dict[str, Any], stars: dict[Any, Any]) -> None:
    for key, value in stars.items():
        if type(key) is not str:
            raise EvalError(f"keywords must be strings, not {type_name(key)}")
        if key in kwargs:
            raise _given_twice(function, key)
        kwargs[key] = value


def _given_twice(function: Any, key: str) -> EvalError:
    info = info_of(function)
    if info is not None and info.name == "dict":
        return EvalError(f'dict: duplicate keyword arg: "{key}"')
    if info is not None:
        return EvalError(f'{info.name}: got multiple values for keyword argument "{key}"')
    name = getattr(function, "__name__", "")
    return EvalError(f'function {name} got multiple values for parameter "{key}"')


def _dict_entry(thread: Thread, target: dict[Any, Any], key: Any, value: Any) -> dict[Any, Any]:
    size = len(target)
    comparison.store(thread, target, key, value)
    if len(target) == size:
        raise EvalError(f"duplicate key: {to_repr(thread, key)}")
    return target


def _recursive(key: str) -> None:
    raise EvalError(f"function {key} called recursively")


def _guarded(thread: Thread, key: str, cost: int, body: Any) -> Any:
    if key in thread.active:
        raise EvalError("function lambda called recursively")
    thread.charge(cost + 1)
    thread.active.add(key)
    try:
        return body()
    finally:
        thread.active.discard(key)


def _load(thread: Thread, name: str) -> Any:
    if thread.load is None:
        raise EvalError("load not implemented by this application")
    try:
        return thread.load(thread, name)
    except (StepLimitExceeded, ContextError, KeyboardInterrupt):
        raise
    except StarlarkError as error:
        raise EvalError(f"cannot load {name}: {error}") from error
    except BaseException as error:
        text = str(error) if isinstance(error, Exception) else type(error).__name__
        raise EvalError(f"cannot load {name}: {text or type(error).__name__}") from error


def _load_name(module: Any, name: str, module_name: str) -> Any:
    members = module.members if isinstance(module, Module) else module
    if not isinstance(members, Globals | dict):
        raise EvalError(f"cannot load {module_name}: the application's loader returned no module")
    if name in members:
        return members[name]
    hint = nearest(name, [str(each) for each in members])
    raise EvalError(
        f"load: name {name} not found in module {module_name}" + (f" (did you mean {hint}?)" if hint else "")
    )


def _pay_for_text(thread: Thread, whole: str, added: str) -> None:
    thread.left -= (len(whole) >> 12) + (len(added) >> 4)
    if thread.left < 0:
        thread.refuel()


def _look(thread: Thread, value: Any) -> None:
    """Take note of what sums may have made of a variable since the last slice of a loop."""
    if type(value) is int:
        operators.big(thread, value)


def _contains(thread: Thread, x: Any, y: Any) -> bool:
    return comparison.contains(thread, y, x)


def _extended(thread: Thread, x: Any, y: Any, /, *iterated: Any) -> Any:
    if iterated and type(x) is list:
        operators.check_unlocked(thread, x, "apply += to", iterated)
    return operators.augmented_add(thread, x, y)


RUNTIME: Final[dict[str, Any]] = {
    "__builtins__": {},
    ".NameError": NameError,
    ".TypeError": TypeError,
    ".look": _look,
    ".ABSENT": _ABSENT,
    ".Bytes": Bytes,
    ".TRUE": TRUE,
    ".FALSE": FALSE,
    ".NAN": NAN,
    ".type": type,
    ".int": int,
    ".float": float,
    ".str": str,
    ".list": list,
    ".dict": dict,
    ".FrozenDict": FrozenDict,
    ".FrozenList": FrozenList,
    ".range": range,
    ".turns": turns,
    ".locked_turns": locked_turns,
    ".tuple": tuple,
    ".len": len,
    ".id": id,
    ".grown": operators.grown,
    ".unary": operators.unary,
    ".index": operators.index,
    ".set_index": operators.set_index,
    ".slice": operators.slice_of,
    ".unpack": operators.unpack,
    ".attribute": attributes.get,
    ".set_attribute": attributes.set_field,
    ".call_method": _call_method,
    ".call_method_locked": _call_method_locked,
    ".call_starred": call_starred,
    ".dict_entry": _dict_entry,
    ".key": note_key,
    ".get": _get,
    ".recursive": _recursive,
    ".guarded": _guarded,
    ".load": _load,
    ".load_name": _load_name,
    ".pay_for_text": _pay_for_text,
    ".parts": parts,
    ".locked_parts": locked_parts,
    ".range_parts": range_parts,
    ".enumerated_parts": enumerated_parts,
    ".flat": flat,
    ".in": _contains,
    ".==": comparison.equal,
    ".!=": lambda thread, x, y: not comparison.equal(thread, x, y),
    ".<": lambda thread, x, y: comparison.ordered(thread, "<", x, y),
    ".<=": lambda thread, x, y: comparison.ordered(thread, "<=", x, y),
    ".>": lambda thread, x, y: comparison.ordered(thread, ">", x, y),
    ".>=": lambda thread, x, y: comparison.ordered(thread, ">=", x, y),
    ".+=": _extended,
    ".|=": operators.augmented_or,
    **{f".{operator}": function for operator, function in operators.BINARY.items()},
    **{f".u.{name}": value for name, value in UNIVERSAL.items()},
    **{f".m.str.{name}": method for name, method in STRING_METHODS.items()},
    **{f".m.dict.{name}": method for name, method in DICT_METHODS.items()},
}
"""The globals of all compiled code; shared by all programs, changed by none: a module's own names are closure cells."""
