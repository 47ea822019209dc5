"""Linking: compiled code to its program, so that any frame or function leads to its file."""

from __future__ import annotations

from types import CodeType
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from types import FunctionType

    from plait.starlark.syntax import Source

__all__ = ["GLOBAL_PREFIX", "ITERATED", "Listing", "allows_recursion", "is_compiled", "linked", "program_of"]

GLOBAL_PREFIX: Final = ".g."
"""How the variables of a module's own names begin in compiled code."""

ITERATED: Final = ".it"
"""How the variables begin that hold what a loop iterates over while nothing locks it."""

_NAMES: Final = {".toplevel": "<toplevel>", "<lambda>": "lambda"}


class Listing:
    """What errors need to know of a compiled file; every code object of the file holds it among its constants.

    Args:
        source: The file.
        recursion: Its functions may call themselves.
        sites: For each number of a line in the code: the offset of its place, and what is done there.
    """

    __slots__ = ("_source", "filename", "recursion", "sites")

    def __init__(self, source: Source, sites: tuple[tuple[Any, ...], ...], *, recursion: bool) -> None:
        self._source = source
        self.filename = source.filename
        self.sites = sites
        self.recursion = recursion

    @property
    def text(self) -> str:
        """The file's text."""
        return self._source.text

    def place(self, offset: int) -> tuple[int, int]:
        """Return the line and the column of an offset in the source."""
        return self._source.place(offset)


def linked(code: CodeType, listing: Listing) -> CodeType:
    """Return the code with the listing among its constants and the constants of the functions in it.

    No instruction ever loads it. Functions get the names that a script gave them.
    """
    constants = tuple(linked(each, listing) if isinstance(each, CodeType) else each for each in code.co_consts)
    name = code.co_name.removeprefix(GLOBAL_PREFIX)
    return code.replace(co_consts=(*constants, listing), co_name=_NAMES.get(name, name))


def program_of(code: CodeType) -> Listing | None:
    """Return the listing of compiled code, ``None`` for any other code."""
    constants = code.co_consts
    last = constants[-1] if constants else None
    return last if type(last) is Listing else None


def allows_recursion(code: CodeType) -> bool:
    """Tell whether a function of compiled code may call itself."""
    program = program_of(code)
    return program is not None and program.recursion


def is_compiled(function: FunctionType) -> bool:
    """Tell whether a Python function is one of a script."""
    return program_of(function.__code__) is not None
