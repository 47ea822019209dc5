"""What a script's values are in Python: exact built-in types where they fit, and our own where they do not.

========================  =============================================================================
Starlark                  Python
========================  =============================================================================
``None``                  ``None``
``True``, ``False``       ``TRUE``, ``FALSE``: never Python's own, which are integers
int, float, string        exact ``int``, ``float``, ``str``; a NaN is the one object ``NAN``
range, tuple              exact ``range``, ``tuple``
bytes                     ``Bytes``
list, dict, set           exact ``list``, ``dict`` and ``Set`` while they may change
frozen list, dict, set    ``FrozenList``, ``FrozenDict``, ``FrozenSet``
function                  a Python function that takes the running thread first
struct, module            ``Struct``, ``Module``
bound method              ``BoundMethod``
a value of the host       an instance of a subclass of ``HostValue``
========================  =============================================================================
"""

from __future__ import annotations

import math
from types import FunctionType
from typing import TYPE_CHECKING, Any, ClassVar, Final

from plait.starlark.errors import EvalError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from plait.starlark.thread import Thread

__all__ = [
    "BUILTIN",
    "FALSE",
    "NAN",
    "TRUE",
    "Bool",
    "BoundMethod",
    "BuiltinInfo",
    "Bytes",
    "FrozenDict",
    "FrozenList",
    "FrozenSet",
    "HostValue",
    "Module",
    "NaN",
    "Set",
    "Struct",
    "StructKind",
    "is_builtin",
    "is_callable",
    "truth",
    "type_name",
]


class Bool:
    """A Starlark boolean; there are two of them, ``TRUE`` and ``FALSE``, told apart by identity."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name: Final = name

    def __bool__(self) -> bool:
        """Be true or false for Python code that holds the value."""
        return self is TRUE

    def __repr__(self) -> str:
        """Return the text that a script would print."""
        return self.name

    def __lt__(self, other: object) -> bool:
        """False is less than True; there is no order between a boolean and anything else."""
        return self is FALSE and other is TRUE if isinstance(other, Bool) else NotImplemented

    def __le__(self, other: object) -> bool:
        return self is FALSE or other is TRUE if isinstance(other, Bool) else NotImplemented

    def __gt__(self, other: object) -> bool:
        return self is TRUE and other is FALSE if isinstance(other, Bool) else NotImplemented

    def __ge__(self, other: object) -> bool:
        return self is TRUE or other is FALSE if isinstance(other, Bool) else NotImplemented


TRUE: Final = Bool("True")
"""The script's ``True``."""
FALSE: Final = Bool("False")
"""The script's ``False``."""


class NaN(float):
    """The one NaN of the language: equal to itself and greater than every other number."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return type(other) is NaN or (type(other) is float and other != other)  # noqa: PLR0124 - that is how a NaN shows

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __lt__(self, other: object) -> bool:
        return False if isinstance(other, int | float) else NotImplemented

    def __le__(self, other: object) -> bool:
        return self == other if isinstance(other, int | float) else NotImplemented

    def __gt__(self, other: object) -> bool:
        return not self == other if isinstance(other, int | float) else NotImplemented

    def __ge__(self, other: object) -> bool:
        return True if isinstance(other, int | float) else NotImplemented

    def __hash__(self) -> int:
        return 0x7FF8


NAN: Final = NaN(math.nan)


class FrozenList(list[Any]):
    """A frozen Starlark list; an unfrozen one is an exact ``list``."""

    __slots__ = ()


class FrozenDict(dict[Any, Any]):
    """A frozen Starlark dict; an unfrozen one is an exact ``dict``."""

    __slots__ = ()


class Bytes(bytes):
    """Starlark bytes; an element is bytes too, and there is neither ``+`` nor iteration."""

    __slots__ = ()
    __iter__: ClassVar[None] = None  # type: ignore[assignment]  # how Python says that there is no iteration

    def __getitem__(self, key: Any) -> Any:
        """Return the byte at an index, as bytes, or the bytes of a slice."""
        if type(key) is int:
            found = bytes.__getitem__(self, slice(key, key + 1 or None))
            if not found:
                raise IndexError("index out of range")
            return Bytes(found)
        return Bytes(bytes.__getitem__(self, key))

    def __add__(self, other: Any) -> Any:
        """Refuse: bytes have no ``+``."""
        return NotImplemented

    def __mod__(self, other: Any) -> Any:
        """Refuse: bytes are no template."""
        return NotImplemented

    def __rmod__(self, other: Any) -> Any:
        """Refuse: bytes are no template, nor an argument of one."""
        return NotImplemented


class Set(dict[Any, None]):
    """A Starlark set, in insertion order: the keys of a dict whose values mean nothing."""

    __slots__ = ()

    def __getitem__(self, key: Any) -> None:
        """Refuse: a set has no index."""
        raise EvalError(f"unhandled index operation set[{type_name(key)}]")


class FrozenSet(Set):
    """A frozen Starlark set."""

    __slots__ = ()


class StructKind(str):
    """The constructor that a struct remembers; the plain ``struct`` has the text ``struct``."""

    __slots__ = ()


class Struct:
    """A Starlark struct: fields by name, which cannot be set or removed.

    Args:
        fields: Values by name; taken over, not copied.
        kind: What made it; shown in its text, and two structs are equal only when they have the same.
    """

    __slots__ = ("fields", "frozen", "kind")

    def __init__(self, fields: dict[str, Any], kind: Any = "struct") -> None:
        self.fields = dict(sorted(fields.items()))
        self.kind = kind
        self.frozen = False
        """Everything that its fields reach is frozen."""

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Struct):
            return NotImplemented
        return bool(self.kind == other.kind) and self.fields == other.fields

    def __hash__(self) -> int:
        return hash((self.kind, *self.fields.items()))

    def __add__(self, other: object) -> Struct:
        """Return a struct with the fields of both, the other's where both have one.

        Raises:
            EvalError: They are of different kinds.
        """
        if not isinstance(other, Struct):
            return NotImplemented
        if self.kind is not other.kind and self.kind != other.kind:
            kinds = [kind.text() if isinstance(kind, HostValue) else str(kind) for kind in (self.kind, other.kind)]
            raise EvalError(f"cannot add structs of different constructors: {kinds[0]} + {kinds[1]}")
        return Struct({**self.fields, **other.fields}, self.kind)


class Module:
    """A named set of values that a host offers to scripts: ``json``, ``http``.

    A module value has no state. What its builtins need to know they find on the thread that calls them.

    Args:
        name: Its name in texts: ``<module "http">``.
        members: Values by name.
    """

    __slots__ = ("members", "name")

    def __init__(self, name: str, members: Mapping[str, Any]) -> None:
        self.name = name
        self.members: dict[str, Any] = dict(members)

    def __getitem__(self, name: str) -> Any:
        """Return the member of this name, for the host; a script says ``module.name``.

        Raises:
            KeyError: There is none.
        """
        return self.members[name]


class BoundMethod:
    """A method together with the value it was taken from: ``[].append``.

    Args:
        name: The method's name.
        receiver: The value.
        implementation: Called with the running thread, the receiver and the arguments.
    """

    __slots__ = ("implementation", "name", "receiver")

    def __init__(self, name: str, receiver: Any, implementation: Callable[..., Any]) -> None:
        self.name = name
        self.receiver = receiver
        self.implementation = implementation

    def __call__(self, thread: Thread, /, *args: Any, **kwargs: Any) -> Any:
        """Call the method."""
        return self.implementation(thread, self.receiver, *args, **kwargs)


class HostValue:
    """What a host derives from to give scripts values of a type of its own.

    Operators are Python's special methods (``__eq__``, ``__hash__``, ``__add__``, ``__radd__``, ``__getitem__``,
    ``__len__``, ``__iter__``, ``__contains__``, and ``__call__(thread, …)``); the rest is below. A method of these
    that fails raises ``EvalError``.
    """

    __slots__ = ()

    type_name: ClassVar[str] = "value"
    """What the script's ``type(x)`` returns."""

    __hash__: ClassVar[Any] = object.__hash__

    def text(self) -> str:
        """Return what ``str(x)`` and ``repr(x)`` show."""
        return f"<{self.type_name}>"

    def attribute(self, name: str) -> Any:
        """Return the value of ``x.name``.

        Raises:
            LookupError: There is no such attribute.
        """
        raise LookupError(name)

    def attribute_names(self) -> Iterable[str]:
        """Return the names that ``dir(x)`` shows."""
        return ()

    def set_attribute(self, name: str, value: Any) -> None:
        """Carry out ``x.name = value``.

        Raises:
            LookupError: There is no such attribute, or it cannot be set.
        """
        raise LookupError(name)

    def set_item(self, key: Any, value: Any) -> None:
        """Carry out ``x[key] = value``.

        Raises:
            LookupError: The value does not support it.
        """
        raise LookupError(key)

    def freeze(self) -> None:
        """Refuse changes from now on."""


class BuiltinInfo:
    """What is known of a builtin beside its code; kept on the Python function as the attribute ``BUILTIN``.

    Args:
        name: What the script calls it.
        parameters: Names in order, for the messages about missing and unknown arguments.
        required: How many of them must be given.
        positional: Whether keyword arguments are refused.
        maximum: The most positional arguments, -1 for any number.
        places: How many of the parameters a positional argument can be for; the others are given by name only.
        no_keywords: What refuses keyword arguments when it is worded unlike other builtins.
        count: What says that the number of arguments is wrong, with ``{}`` for it, when it is worded unlike others.
    """

    __slots__ = ("count", "maximum", "name", "no_keywords", "parameters", "places", "positional", "required")

    def __init__(
        self,
        name: str,
        parameters: tuple[str, ...] = (),
        required: int = 0,
        *,
        positional: bool = False,
        maximum: int | None = None,
        places: int | None = None,
        no_keywords: str = "",
        count: str = "",
    ) -> None:
        self.name = name
        self.parameters = parameters
        self.required = required
        self.positional = positional
        self.maximum = len(parameters) if maximum is None else maximum
        self.places = max(0, self.maximum) if places is None else places
        self.no_keywords = no_keywords
        self.count = count


BUILTIN: Final = "starlark_builtin"
"""Name of the attribute by which a Python function is known to be a builtin; it holds a ``BuiltinInfo``."""

_TYPE_NAMES: dict[type, str] = {
    type(None): "NoneType",
    Bool: "bool",
    int: "int",
    float: "float",
    NaN: "float",
    str: "string",
    Bytes: "bytes",
    range: "range",
    tuple: "tuple",
    list: "list",
    FrozenList: "list",
    dict: "dict",
    FrozenDict: "dict",
    Set: "set",
    FrozenSet: "set",
    Struct: "struct",
    Module: "module",
    BoundMethod: "builtin_function_or_method",
}


def type_name(value: Any) -> str:
    """Return what the script's ``type(value)`` returns."""
    name = _TYPE_NAMES.get(type(value))
    if name is not None:
        return name
    if isinstance(value, FunctionType):
        return "builtin_function_or_method" if is_builtin(value) else "function"
    return value.type_name if isinstance(value, HostValue) else "value"


def is_builtin(value: Any) -> bool:
    """Tell whether a Python function is a builtin rather than a function written in Starlark."""
    return hasattr(value, BUILTIN)


def is_callable(value: Any) -> bool:
    """Tell whether a script may call the value."""
    kind = type(value)
    return kind is FunctionType or kind is BoundMethod or (isinstance(value, HostValue) and callable(value))


def truth(value: Any) -> bool:
    """Return whether a condition on the value holds."""
    return value is TRUE or (value is not FALSE and bool(value))
