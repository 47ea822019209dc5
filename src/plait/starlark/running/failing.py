"""From a Python exception in compiled code to the script's own error, with its place, its text and its backtrace."""

from __future__ import annotations

import re
from traceback import clear_frames
from types import FunctionType
from typing import TYPE_CHECKING, Any, Final

from plait.context import ContextError
from plait.starlark.comparison import equal, ordered
from plait.starlark.errors import EvalError, Frame, StarlarkError
from plait.starlark.host.failures import text_of
from plait.starlark.native import binding_error, info_of
from plait.starlark.running.linking import GLOBAL_PREFIX, program_of
from plait.starlark.running.operators import binary, index, place, unpack
from plait.starlark.thread import Thread
from plait.starlark.values import BoundMethod, is_callable, type_name

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType, TracebackType

    from plait.starlark.running.linking import Listing

__all__ = ["call_error", "is_of_call_itself", "is_of_script", "stack_of", "translated"]

_COMPREHENSIONS: Final = frozenset({"<listcomp>", "<dictcomp>", "<setcomp>", "<genexpr>"})
_MISSING: Final = object()
_REPLAY_STEPS: Final = 1_000_000


def translated(error: BaseException) -> BaseException:
    """Return what leaves the engine for an exception that compiled code raised or let through.

    Args:
        error: The exception, with its traceback, which is taken from it.

    Returns:
        The very exception when it is the context's, the host's interrupt or already the engine's; else an
        ``EvalError``, whose ``__cause__`` it is when it came from nowhere that a script could be blamed for.
    """
    traceback = error.__traceback__
    error.__traceback__ = None
    if isinstance(error, ContextError | KeyboardInterrupt):
        return error
    frames = _frames(traceback, error)
    if not isinstance(error, StarlarkError):
        error = _eval_error(error, traceback)
        error.__traceback__ = None
    if isinstance(error, EvalError):
        error.frames = (*frames, *error.frames)
        place = next((frame for frame in reversed(error.frames) if frame.line), None)
        if place is not None and not error.line:
            error.filename, error.line, error.column = place.filename, place.line, place.column
    error.__context__ = None
    if error.__cause__ is not None and error.__cause__.__traceback__ is not None:
        # The host may keep the error, and with it the frames of the script: what they hold, locks among it, goes.
        clear_frames(error.__cause__.__traceback__)
    return error


def _frames(traceback: TracebackType | None, error: BaseException) -> tuple[Frame, ...]:
    frames: list[Frame] = []
    while traceback is not None:
        _add_frame(frames, traceback.tb_frame, _line(traceback, error))
        traceback = traceback.tb_next
    return tuple(frames)


def _line(traceback: TracebackType, error: BaseException) -> int:
    """Return the number of the site that failed.

    CPython runs some pairs of instructions as one, and then gives the place of the first. Of these only the reading of
    a variable can fail: when another one is at the place than the one that has no value, the second of the pair was it.
    """
    program = program_of(traceback.tb_frame.f_code)
    if program is None or traceback.tb_next is not None or not isinstance(error, NameError) or not traceback.tb_lineno:
        return traceback.tb_lineno
    name = _name_without_value(error)
    if _reads(program, traceback.tb_lineno, name):
        return traceback.tb_lineno
    positions = list(traceback.tb_frame.f_code.co_positions())
    for line, *_ in positions[traceback.tb_lasti // 2 + 1 : traceback.tb_lasti // 2 + 3]:
        if line is not None and _reads(program, line, name):
            return line
    return traceback.tb_lineno


def _reads(program: Listing, line: int, name: str) -> bool:
    site = program.sites[line - 1]
    return len(site) > 3 and site[1] == "name" and site[3] == name


def _name_without_value(error: NameError) -> str:
    """Return the variable's name, which CPython 3.11 says only in the text for some kinds of variable."""
    found = re.search(r"'([^']+)'", str(error))
    name = error.name or (found[1] if found else "")
    return name.removeprefix(GLOBAL_PREFIX).removeprefix(".l.")


def stack_of(frame: FrameType | None) -> tuple[Frame, ...]:
    """Return the Starlark calls under way below a Python frame, outermost first."""
    stack = []
    while frame is not None:
        stack.append((frame, frame.f_lineno))
        frame = frame.f_back
    frames: list[Frame] = []
    for each, line in reversed(stack):
        _add_frame(frames, each, line)
    return tuple(frames)


def _add_frame(frames: list[Frame], frame: FrameType, line: int | None) -> None:
    program = program_of(frame.f_code)
    if program is None or not line:
        return
    name = frame.f_code.co_name
    site = program.sites[line - 1]
    if len(site) > 1 and site[1] == "hidden":
        return
    row, column = program.place(site[0])
    if name in _COMPREHENSIONS and frames:
        name = frames.pop().name
    frames.append(Frame(name, program.filename, row, column))


def _eval_error(error: BaseException, traceback: TracebackType | None) -> EvalError:  # noqa: PLR0911 - one return for each case
    """Return the script's error for an exception of Python's."""
    if isinstance(error, RecursionError):
        return EvalError("Starlark stack overflow")
    if isinstance(error, MemoryError):
        return EvalError("out of memory")
    last = traceback
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    if last is not None and not last.tb_frame.f_globals.get("__name__", "").startswith("plait.starlark."):
        name = last.tb_frame.f_globals.get("__name__")
        if name is not None:  # compiled code has no module: this is the host's
            result = EvalError(text_of(error))
            result.__cause__ = error
            return result
    traceback = _innermost(traceback)
    program = None if traceback is None else program_of(traceback.tb_frame.f_code)
    if traceback is None or program is None or not traceback.tb_lineno:
        return _internal(error)
    if isinstance(error, NameError) and traceback.tb_next is not None:
        return _internal(error)
    site = program.sites[_line(traceback, error) - 1]
    if len(site) > 1 and site[1] == "call" and not is_of_call_itself(traceback):
        return _internal(error)
    frame = traceback.tb_frame
    text = _explained(site, lambda reference: _operand(frame, reference), error)
    return EvalError(text) if text else _internal(error)


def _innermost(traceback: TracebackType | None) -> TracebackType | None:
    """Return the last entry that is of compiled code: below it is a bound method or a host value."""
    found = None
    while traceback is not None:
        if program_of(traceback.tb_frame.f_code) is not None:
            found = traceback
        traceback = traceback.tb_next
    return found


def _internal(error: BaseException) -> EvalError:
    result = EvalError("internal error: the operation failed in the engine")
    result.__cause__ = error
    return result


def _operand(frame: FrameType, reference: Any) -> Any:
    """Return the value that a failed operation worked on."""
    if isinstance(reference, tuple):
        return reference[0]
    if reference in frame.f_locals:
        return frame.f_locals[reference]
    if reference in frame.f_globals:
        return frame.f_globals[reference]
    builtins = frame.f_builtins
    return builtins.get(reference, _MISSING) if isinstance(reference, str) else _MISSING


def _explained(site: tuple[Any, ...], operand: Callable[[Any], Any], error: BaseException) -> str:  # noqa: PLR0911 - one return for each case
    """Do the failed operation again the long way, which says what is wrong; return its text."""
    if isinstance(error, NameError):
        return _unbound(site, error)
    if len(site) < 2:
        return ""
    explain = _EXPLAIN.get(site[1])
    if explain is None:
        return ""
    try:
        return explain(Thread(max_steps=_REPLAY_STEPS), site, operand)
    except EvalError as explained:
        return explained.message
    except RecursionError:
        return "Starlark stack overflow"
    except Exception:  # noqa: BLE001 - an operator of the host's value fails again; the first failure is told
        return ""


def _unbound(site: tuple[Any, ...], error: NameError) -> str:
    scope = site[2] if len(site) > 2 and site[1] == "name" else "local"
    name = site[3] if len(site) > 3 and site[1] == "name" else _name_without_value(error)
    return f"{'global' if scope == 'global' else 'local'} variable {name} referenced before assignment"


def _operands(site: tuple[Any, ...], operand: Callable[[Any], Any], first: int) -> tuple[Any, Any]:
    return operand(site[first]), operand(site[first + 1])


def _explain_binary(thread: Thread, site: tuple[Any, ...], operand: Callable[[Any], Any]) -> str:
    x, y = _operands(site, operand, 3)
    if x is _MISSING or y is _MISSING:
        return f"operator {site[2]} failed"
    binary(thread, site[2], x, y)
    return ""


def _explain_compare(thread: Thread, site: tuple[Any, ...], operand: Callable[[Any], Any]) -> str:
    x, y = _operands(site, operand, 3)
    if x is _MISSING or y is _MISSING:
        return f"operator {site[2]} failed"
    if site[2] in ("==", "!="):
        equal(thread, x, y)
    else:
        ordered(thread, site[2], x, y)
    return ""


def _explain_index(thread: Thread, site: tuple[Any, ...], operand: Callable[[Any], Any]) -> str:
    x, key = _operands(site, operand, 2)
    if x is _MISSING or key is _MISSING:
        return "index operation failed"
    index(thread, x, key)
    return ""


def _explain_set_index(thread: Thread, site: tuple[Any, ...], operand: Callable[[Any], Any]) -> str:
    x, key = _operands(site, operand, 2)
    if x is _MISSING or key is _MISSING:
        return "assignment to element failed"
    if type(x) is list:
        place(x, key)
    return ""


def _explain_unpack(thread: Thread, site: tuple[Any, ...], operand: Callable[[Any], Any]) -> str:
    unpack(thread, operand(site[2]), site[3])
    return ""


def _explain_len(_: Thread, site: tuple[Any, ...], operand: Callable[[Any], Any]) -> str:
    x = operand(site[2])
    if type(x) is range:
        return "len: range is too long"
    return f"len: value of type {type_name(x)} has no len"


def _explain_call(_: Thread, site: tuple[Any, ...], operand: Callable[[Any], Any]) -> str:
    function = operand(site[2])
    return "call failed" if function is _MISSING else call_error(function, site[3], site[4]).message


_EXPLAIN: Final[dict[str, Callable[[Thread, tuple[Any, ...], Callable[[Any], Any]], str]]] = {
    "binary": _explain_binary,
    "compare": _explain_compare,
    "index": _explain_index,
    "set_index": _explain_set_index,
    "unpack": _explain_unpack,
    "len": _explain_len,
    "call": _explain_call,
}


def is_of_call_itself(traceback: TracebackType | None) -> bool:
    """Tell whether an exception comes from a call that failed, not from what was called: its frame is the last one."""
    inner = None if traceback is None else traceback.tb_next
    if inner is not None and inner.tb_frame.f_code is BoundMethod.__call__.__code__:
        inner = inner.tb_next
    return traceback is not None and inner is None


def is_of_script(error: BaseException) -> bool:
    """Tell whether an exception comes from compiled code that the host called by itself."""
    traceback = error.__traceback__
    while traceback is not None:
        if program_of(traceback.tb_frame.f_code) is not None:
            return True
        traceback = traceback.tb_next
    return False


def call_error(function: Any, positional: int, keywords: tuple[str, ...]) -> EvalError:
    """Say why a value cannot be called, or not with these arguments.

    Args:
        function: What was called.
        positional: How many positional arguments there were.
        keywords: The names of the keyword arguments.
    """
    info = info_of(function.implementation if type(function) is BoundMethod else function)
    if info is not None:
        return binding_error(info, positional, keywords)
    if type(function) is FunctionType:
        return EvalError(_parameters_error(function, positional, keywords))
    if is_callable(function):
        return EvalError(f"{type_name(function)} cannot be called with these arguments")
    return EvalError(f"invalid call of non-function ({type_name(function)})")


def _parameters_error(function: FunctionType, positional: int, keywords: tuple[str, ...]) -> str:
    code = function.__code__
    name = code.co_name
    count = code.co_argcount - 1
    names = code.co_varnames[1 : 1 + count + code.co_kwonlyargcount]
    varargs, varkeywords = bool(code.co_flags & 0x04), bool(code.co_flags & 0x08)
    if not names and not varargs and not varkeywords:
        return f"function {name} accepts no arguments ({positional + len(keywords)} given)"
    if positional > count and not varargs:
        most = "at most " if function.__defaults__ else ""
        plural = "" if count == 1 else "s"
        return f"function {name} accepts {most}{count} positional argument{plural} ({positional} given)"
    given = set(names[: min(positional, count)])
    for keyword in keywords:
        if keyword in given:
            return f'function {name} got multiple values for parameter "{keyword}"'
        if keyword not in names and not varkeywords:
            return f'function {name} got an unexpected keyword argument "{keyword}"'
        given.add(keyword)
    defaulted = {*names[count - len(function.__defaults__ or ()) : count], *(function.__kwdefaults__ or {})}
    missing = [each for each in names if each not in given and each not in defaulted]
    plural = "s" if len(missing) > 1 else ""
    return f"function {name} missing {len(missing)} argument{plural} ({', '.join(missing)})"
