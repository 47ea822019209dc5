"""Elements: the iterables that ``elems``, ``codepoints`` and their like return."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from plait.starlark.errors import EvalError
from plait.starlark.text.numbers import int_text
from plait.starlark.text.quoting import quote, quote_bytes
from plait.starlark.values import HostValue, type_name

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["BytesElements", "StringCodepoints", "StringElements"]


class _Elements(HostValue):
    """What the three have in common: a receiver, a text, and that they are true, comparable and not hashable."""

    __slots__ = ("ordinals", "receiver")

    def __init__(self, receiver: Any, *, ordinals: bool = False) -> None:
        self.receiver = receiver
        self.ordinals = ordinals

    def __bool__(self) -> bool:
        return True

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        return bool(self.receiver == other.receiver) and self.ordinals == other.ordinals

    def __hash__(self) -> int:
        raise EvalError(f"unhashable: {self.type_name}")


class StringCodepoints(_Elements):
    """The code points of a string, as strings or as numbers; it can be iterated, and nothing else.

    Args:
        receiver: The string.
        ordinals: Give numbers rather than strings.
    """

    __slots__ = ()

    type_name: ClassVar[str] = "string.codepoints"

    def __iter__(self) -> Iterator[Any]:
        return map(ord, self.receiver) if self.ordinals else iter(self.receiver)

    def text(self) -> str:
        """Return the call that makes the value."""
        return f"{quote(self.receiver)}.{'codepoint_ords' if self.ordinals else 'codepoints'}()"


class StringElements(_Elements):
    """The elements of a string, which are its code points; it has a length and can be indexed.

    ``s.elems()[i]`` is ``s[i]`` and ``len(s.elems())`` is ``len(s)``, as the language's specification has it.

    Args:
        receiver: The string.
        ordinals: Give numbers rather than strings.
    """

    __slots__ = ()

    type_name: ClassVar[str] = "string.elems"

    def __iter__(self) -> Iterator[Any]:
        return map(ord, self.receiver) if self.ordinals else iter(self.receiver)

    def __len__(self) -> int:
        return len(self.receiver)

    def __getitem__(self, index: Any) -> Any:
        """Return one element.

        Raises:
            EvalError: The index is not an integer, or out of range.
        """
        if isinstance(index, slice):
            raise EvalError(f"invalid slice operand {self.type_name}")
        if type(index) is not int:
            raise EvalError(f"{self.type_name} index: got {type_name(index)}, want int")
        size = len(self.receiver)
        if not -size <= index < size:
            where = int_text(index)
            if size == 0:
                raise EvalError(f"index {where} out of range: empty {self.type_name}")
            raise EvalError(f"{self.type_name} index {where} out of range [{-size}:{size - 1}]")
        element = self.receiver[index]
        return ord(element) if self.ordinals else element

    def text(self) -> str:
        """Return the call that makes the value."""
        return f"{quote(self.receiver)}.{'elem_ords' if self.ordinals else 'elems'}()"


class BytesElements(_Elements):
    """The numeric values of bytes; it can be iterated, and nothing else.

    Args:
        receiver: The bytes.
    """

    __slots__ = ()

    type_name: ClassVar[str] = "bytes.elems"

    def __iter__(self) -> Iterator[int]:
        return iter(memoryview(self.receiver))

    def text(self) -> str:
        """Return the call that makes the value."""
        return f"{quote_bytes(self.receiver)}.elems()"
