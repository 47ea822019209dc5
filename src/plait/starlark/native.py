"""How the engine's own builtins and methods say their names and parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from plait.starlark.errors import EvalError
from plait.starlark.spelling import nearest
from plait.starlark.values import BUILTIN, BuiltinInfo

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["binding_error", "info_of", "native"]

_F = TypeVar("_F", bound="Callable[..., Any]")


def native(
    name: str,
    *parameters: str,
    positional: bool = False,
    maximum: int | None = None,
    no_keywords: str = "",
    count: str = "",
) -> Callable[[_F], _F]:
    """Mark a Python function as a builtin or a method of the language.

    Args:
        name: What scripts call it.
        parameters: Names in order, without the thread and a method's receiver; an optional one ends with ``?``, and
            so is every one after it.
        positional: Keyword arguments are refused.
        maximum: The most positional arguments when it is not the number of parameters; -1 for any number, and then the
            parameters are given by name only.
        no_keywords: The message that refuses keyword arguments, when it is not the usual one.
        count: The message that refuses a number of arguments, with ``{}`` for it, when it is not the usual one.

    Returns:
        A decorator that returns the very function it is given.
    """
    names = tuple(parameter.rstrip("?") for parameter in parameters)
    required = next((i for i, parameter in enumerate(parameters) if parameter.endswith("?")), len(parameters))
    info = BuiltinInfo(
        name, names, required, positional=positional, maximum=maximum, no_keywords=no_keywords, count=count
    )

    def mark(function: _F) -> _F:
        setattr(function, BUILTIN, info)
        return function

    return mark


def info_of(function: Any) -> BuiltinInfo | None:
    """Return what is known of a builtin, ``None`` for anything else."""
    found = getattr(function, BUILTIN, None)
    return found if isinstance(found, BuiltinInfo) else None


def binding_error(info: BuiltinInfo, positional: int, keywords: Iterable[str]) -> EvalError:
    """Say why a builtin cannot be called with so many positional arguments and these keyword arguments.

    Args:
        info: The builtin.
        positional: How many positional arguments there are.
        keywords: The names of the keyword arguments.

    Returns:
        The error to raise.
    """
    names = list(keywords)
    return EvalError(
        _positional_problem(info, positional, names) if info.positional else _problem(info, positional, names)
    )


def _positional_problem(info: BuiltinInfo, positional: int, keywords: list[str]) -> str:
    if keywords:
        return info.no_keywords or f"{info.name}: unexpected keyword arguments"
    if info.count:
        return info.count.format(positional)
    exact = info.required == info.maximum
    if positional < info.required:
        return f"{info.name}: got {positional} arguments, want {'' if exact else 'at least '}{info.required}"
    return f"{info.name}: got {positional} arguments, want {'' if exact else 'at most '}{info.maximum}"


def _problem(info: BuiltinInfo, positional: int, keywords: list[str]) -> str:
    if 0 <= info.maximum < positional:
        return f"{info.name}: got {positional} arguments, want at most {info.maximum}"
    given = set(info.parameters[: min(positional, info.places)])
    for name in keywords:
        if name in given:
            return f'{info.name}: got multiple values for keyword argument "{name}"'
        if name not in info.parameters:
            hint = nearest(name, info.parameters)
            return f'{info.name}: unexpected keyword argument "{name}"' + (f" (did you mean {hint}?)" if hint else "")
        given.add(name)
    missing = next((name for name in info.parameters[: info.required] if name not in given), "an argument")
    return f"{info.name}: missing argument for {missing}"
