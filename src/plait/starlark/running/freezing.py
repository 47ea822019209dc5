"""Freezing: the frozen twin of a value; and lending: a value that several threads may read and none may change."""

from __future__ import annotations

from operator import is_
from types import FunctionType
from typing import TYPE_CHECKING, Any, Final

from plait.starlark.running.mutation import FROZEN, LENT
from plait.starlark.values import (
    Bool,
    BoundMethod,
    Bytes,
    FrozenDict,
    FrozenList,
    FrozenSet,
    HostValue,
    Module,
    NaN,
    Set,
    Struct,
    is_builtin,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from plait.context import Context
    from plait.starlark.thread import Thread

__all__ = ["Loan", "freeze", "frozen_all", "lend", "restore"]

_SCALARS: Final = frozenset({type(None), Bool, int, float, NaN, str, Bytes, bool, range})
_TWINS: Final[dict[type, type]] = {list: FrozenList, dict: FrozenDict, Set: FrozenSet}
_SHALLOW_DEPTH: Final = 60
_SHALLOW_VALUES: Final = 5_000
_LOOK_EVERY: Final = 4_096
"""Values between two looks at the context."""


def freeze(value: Any, *, thread: Thread | None = None) -> Any:
    """Freeze a value with everything that it reaches.

    Lists, dicts and sets have frozen twins of another type, and every reference to them from within the value is
    changed to the twin. A reference from elsewhere still leads to the value that may change, unless a thread is given.

    Args:
        value: A value of a script.
        thread: Freeze in place instead, for what runs on this thread: every reference leads to a frozen value.

    Returns:
        The frozen twin; the value itself when a thread is given, or when nothing of it could change.
    """
    if thread is None:
        return frozen_all([value])[0]
    guard = thread.guard if thread.guard is not None else {}
    for found in _reachable([value], thread.context):
        if type(found) in _TWINS:
            entry = guard.setdefault(id(found), [found, 0, FROZEN])
            entry[2] = FROZEN
        elif isinstance(found, HostValue):
            found.freeze()
    thread.guard = guard or None
    return value


def frozen_all(values: list[Any], context: Context | None = None) -> list[Any]:
    """Return the frozen twins of values, which may refer to one another.

    Args:
        values: Values of a script.
        context: Looked at from time to time, since there may be millions.

    Raises:
        Cancelled: The context was cancelled.
        DeadlineExceeded: The context's deadline has passed.
    """
    try:
        return _Shallow().freeze(values)
    except _TooDeepError:
        return _Freezer(context).freeze(values)


class _TooDeepError(Exception):
    """The values are nested too deeply, or are too many, for the short way."""


class _Shallow:
    """Freezes what a module usually holds: few values, not deeply nested. It makes and fills the twins on its way.

    Nothing of the originals is changed before all twins are full: a half-filled one must be seen by nobody when it
    turns out that the values are too many or too deep for it.
    """

    __slots__ = ("_kept", "_left", "_twins", "_writes")

    def __init__(self) -> None:
        self._twins: dict[int, Any] = {}
        self._kept: list[Any] = []  # so that no id is used twice
        self._left = _SHALLOW_VALUES
        self._writes: list[tuple[Any, Any, Any]] = []  # of an object, an attribute or a dict's key, a value

    def freeze(self, values: list[Any]) -> list[Any]:
        frozen = [value if type(value) in _SCALARS else self._frozen(value, 0) for value in values]
        for target, name, value in self._writes:
            if type(target) is dict:
                target[name] = value
            else:
                setattr(target, name, value)
        return frozen

    def _frozen(self, value: Any, depth: int) -> Any:  # noqa: PLR0911 - one return for each case
        kind = type(value)
        twins = self._twins
        known = twins.get(id(value))
        if known is not None:
            return known
        self._left -= 1
        if depth > _SHALLOW_DEPTH or self._left < 0:
            raise _TooDeepError
        self._kept.append(value)
        depth += 1
        scalars, frozen = _SCALARS, self._frozen
        if kind is dict:
            table = twins[id(value)] = FrozenDict()
            for key, item in value.items():
                if type(key) not in scalars:
                    frozen(key, depth)
                table[key] = item if type(item) in scalars else frozen(item, depth)
            return table
        if kind is list:
            twin = twins[id(value)] = FrozenList()
            twin += [item if type(item) in scalars else frozen(item, depth) for item in value]
            return twin
        if kind is tuple:
            items = [item if type(item) in scalars else frozen(item, depth) for item in value]
            if all(map(is_, items, value)):
                return value
            return tuple(items)
        twins[id(value)] = value
        if kind is FunctionType:
            if not is_builtin(value):
                self._freeze_function(value, depth)
            return value
        return self._frozen_other(value, kind, depth)

    def _freeze_function(self, function: FunctionType, depth: int) -> None:
        scalars, frozen = _SCALARS, self._frozen
        if function.__defaults__:
            items = [item if type(item) in scalars else frozen(item, depth) for item in function.__defaults__]
            self._writes.append((function, "__defaults__", tuple(items)))
        if function.__kwdefaults__:
            named = {name: frozen(item, depth) for name, item in function.__kwdefaults__.items()}
            self._writes.append((function, "__kwdefaults__", named))
        for cell in function.__closure__ or ():
            try:
                content = cell.cell_contents
            except ValueError:  # the variable has no value yet
                continue
            if type(content) not in scalars:
                twin = frozen(content, depth)
                if twin is not content:
                    self._writes.append((cell, "cell_contents", twin))

    def _frozen_other(self, value: Any, kind: type, depth: int) -> Any:
        if is_frozen(value, kind):
            return value
        if kind is Set:
            twin = self._twins[id(value)] = FrozenSet(value)
            for element in value:
                if type(element) not in _SCALARS:
                    self._frozen(element, depth)
            return twin
        if kind is Struct or kind is Module:
            members = value.fields if kind is Struct else value.members
            for name, item in members.items():
                twin = item if type(item) in _SCALARS else self._frozen(item, depth)
                if twin is not item:
                    self._writes.append((members, name, twin))
            if kind is Struct:
                self._writes.append((value, "frozen", True))
        elif kind is BoundMethod:
            self._writes.append((value, "receiver", self._frozen(value.receiver, depth)))
        elif isinstance(value, HostValue):
            value.freeze()
        return value


class _Freezer:
    """Finds every value that can be reached, makes the twins, and at last fills them: so cycles need no care."""

    def __init__(self, context: Context | None) -> None:
        self._context = context
        self._twins: dict[int, Any] = {}
        self._kept: list[Any] = []  # so that no id is used twice
        self._open: list[Any] = []

    def freeze(self, values: list[Any]) -> list[Any]:
        self._visit(values)
        for number, value in enumerate(self._open):
            if self._context is not None and number % _LOOK_EVERY == 0:
                self._context.check()
            self._fill(value)
        return [self._twin(value) for value in values]

    def _twin(self, value: Any) -> Any:
        return self._twins.get(id(value), value)

    def _visit(self, values: list[Any]) -> None:
        stack: list[tuple[Any, bool]] = [(value, False) for value in reversed(values)]
        looked = 0
        while stack:
            value, children_done = stack.pop()
            kind = type(value)
            if children_done:
                self._close_tuple(value)
                continue
            if kind in _SCALARS or id(value) in self._twins:
                continue
            looked += 1
            if self._context is not None and looked % _LOOK_EVERY == 0:
                self._context.check()
            self._kept.append(value)
            if kind is tuple:
                self._twins[id(value)] = value  # until its items are known
                stack.append((value, True))
            elif not self._opened(value, kind):
                continue
            stack.extend((child, False) for child in children(value) if type(child) not in _SCALARS)

    def _opened(self, value: Any, kind: type) -> bool:
        """Note a value that is not a tuple; tell whether what it holds must be looked at."""
        twin = _TWINS.get(kind)
        self._twins[id(value)] = value if twin is None else twin()
        if twin is None and is_frozen(value, kind):
            return False
        if isinstance(value, HostValue):
            value.freeze()
            return False
        self._open.append(value)
        return True

    def _close_tuple(self, value: tuple[Any, ...]) -> None:
        items = tuple(self._twin(item) for item in value)
        if any(item is not old for item, old in zip(items, value, strict=True)):
            self._twins[id(value)] = items
            self._kept.append(items)

    def _fill(self, value: Any) -> None:
        kind, twin = type(value), self._twin
        if kind is list:
            list.extend(twin(value), [twin(item) for item in value])
        elif kind is dict:
            dict.update(twin(value), {key: twin(item) for key, item in value.items()})
        elif kind is Set:
            dict.update(twin(value), value)
        elif kind is Struct:
            for name, item in value.fields.items():
                value.fields[name] = twin(item)
            value.frozen = True
        elif kind is Module:
            value.members.update({name: twin(item) for name, item in value.members.items() if twin(item) is not item})
        elif kind is BoundMethod:
            value.receiver = twin(value.receiver)
        elif kind is FunctionType:
            self._fill_function(value)

    def _fill_function(self, function: FunctionType) -> None:
        if function.__defaults__:
            function.__defaults__ = tuple(self._twin(item) for item in function.__defaults__)
        if function.__kwdefaults__:
            function.__kwdefaults__ = {name: self._twin(item) for name, item in function.__kwdefaults__.items()}
        for cell in function.__closure__ or ():
            content = _content(cell)
            twin = self._twin(content)
            if twin is not content:
                cell.cell_contents = twin


def is_frozen(value: Any, kind: type) -> bool:
    """Tell whether a value that has no twin surely reaches nothing that could change."""
    if kind is FrozenList or kind is FrozenDict or kind is FrozenSet:
        return True
    if kind is Struct:
        return bool(value.frozen)
    return kind is FunctionType and is_builtin(value)


_EMPTY: Final = object()


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # the variable has no value yet
        return _EMPTY


def children(value: Any) -> Iterable[Any]:  # noqa: PLR0911 - one return for each case
    """Return the values that a value refers to directly."""
    kind = type(value)
    if kind is tuple or kind is list or kind is FrozenList or kind is Set or kind is FrozenSet:
        return value  # type: ignore[no-any-return]  # each of these is iterable
    if kind is dict or kind is FrozenDict:
        return [*value.keys(), *value.values()]
    if kind is Struct:
        return value.fields.values()  # type: ignore[no-any-return]  # a dict's values
    if kind is Module:
        return value.members.values()  # type: ignore[no-any-return]  # a dict's values
    if kind is BoundMethod:
        return (value.receiver,)
    if kind is FunctionType and not is_builtin(value):
        cells = [_content(cell) for cell in value.__closure__ or ()]
        return [*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values(), *cells]
    return ()


def _reachable(values: Iterable[Any], context: Context | None) -> Iterator[Any]:
    """Yield every value that can be reached and could change or lead to one that could, each once."""
    seen: dict[int, Any] = {}
    stack = list(values)
    while stack:
        value = stack.pop()
        kind = type(value)
        if kind in _SCALARS or id(value) in seen:
            continue
        seen[id(value)] = value
        if context is not None and len(seen) % _LOOK_EVERY == 0:
            context.check()
        if is_frozen(value, kind):
            continue
        yield value
        stack.extend(children(value))


class Loan:
    """Values that are lent: every thread of the loan can read them and none can change them, until ``restore``.

    Args:
        lent: By id, the values.
        threads: The threads that they are lent to, with what guarded those threads' values before.
    """

    __slots__ = ("_threads", "lent")

    def __init__(self, lent: dict[int, Any], threads: list[tuple[Thread, dict[int, list[Any]] | None]]) -> None:
        self.lent = lent
        self._threads = threads

    def restore(self) -> None:
        """End the loan: what was lent may change again where it could before. A second call does nothing."""
        for thread, guard in self._threads:
            thread.guard = guard
        self._threads = []


def lend(values: Iterable[Any], threads: Iterable[Thread], context: Context | None = None) -> Loan:
    """Lend every value that could change and that these values reach: the threads may read it, none may change it.

    Who lends must run no script on a thread that is not in the loan before it is restored.

    Args:
        values: Where to start: functions that will be called on the threads, with their arguments.
        threads: The threads to lend to; none of them may be running.
        context: Looked at from time to time, since there may be millions.

    Returns:
        The loan, to be restored when the threads have ended.

    Raises:
        Cancelled: The context was cancelled.
        DeadlineExceeded: The context's deadline has passed.
    """
    lent = {id(value): value for value in _reachable(values, context) if type(value) in _TWINS}
    kept = [(thread, thread.guard) for thread in threads]
    # The entries are shared: what a thread counts in them means nothing while they are lent.
    shared: dict[int, list[Any]] = {key: [value, 0, LENT] for key, value in lent.items()}
    for thread, guard in kept:
        entries = dict(shared)
        for key, (value, count, reason) in (guard or {}).items():
            entries[key] = [value, count, reason or (LENT if key in lent else None)]
        thread.guard = entries or None
    return Loan(lent, kept)


def restore(loan: Loan) -> None:
    """End a loan; the same as ``loan.restore()``."""
    loan.restore()
