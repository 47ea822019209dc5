"""The rules for the order and the names of parameters and arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from plait.starlark.syntax import nodes as n

if TYPE_CHECKING:
    from collections.abc import Callable

    Problem = Callable[[int, str], None]

__all__ = ["check_arguments", "check_parameters"]

_ARGUMENTS_MAX: Final = 255


def check_arguments(call: n.Call, problem: Problem) -> None:  # noqa: C901, PLR0912 - one branch for each rule
    """Note what is wrong with the order of a call's arguments, or with their number.

    Args:
        call: The call.
        problem: Called with the offset and the message of each mistake.
    """
    star = stars = False
    names: set[str] = set()
    positional = 0
    for kind, name, _, offset in call.arguments:
        if kind == "**":
            if stars:
                problem(offset, "multiple **kwargs not allowed")
            stars = True
        elif kind == "*":
            if stars:
                problem(offset, "*args may not follow **kwargs")
            elif star:
                problem(offset, "multiple *args not allowed")
            star = True
        elif kind == "=":
            if stars or star:
                problem(offset, f"keyword argument may not follow {'**kwargs' if stars else '*args'}")
            if name in names:
                problem(offset, f'keyword argument "{name}" is repeated')
            names.add(name)
        else:
            positional += 1
            if star or stars or names:
                after = "*args" if star else "**kwargs" if stars else "named"
                problem(offset, f"positional argument may not follow {after}")
    named = sum(1 for argument in call.arguments if argument[0] == "=")
    if positional > _ARGUMENTS_MAX:
        problem(call.start, f"{positional} positional arguments in call, limit is {_ARGUMENTS_MAX}")
    if named > _ARGUMENTS_MAX:
        problem(call.start, f"{named} keyword arguments in call, limit is {_ARGUMENTS_MAX}")


def check_parameters(function: n.Function, problem: Problem, bind: Callable[[n.Name], bool]) -> None:  # noqa: C901, PLR0912 - one branch for each rule
    """Bind a function's parameters and note what is wrong with their order or their names.

    Args:
        function: The function.
        problem: Called with the offset and the message of each mistake.
        bind: Called with each parameter's name; tells whether it was bound before.
    """
    star: n.Parameter | None = None
    stars: n.Parameter | None = None
    optional = False
    keyword_only = 0
    for parameter in function.parameters:
        after = f"may not follow **{stars.name}" if stars else ""
        if parameter.kind == "**":
            if stars is not None:
                problem(parameter.operator, "multiple ** parameters not allowed")
            stars = parameter
        elif parameter.kind == "*":
            if stars is not None:
                problem(parameter.operator, f"* parameter {after}")
            elif star is not None:
                problem(parameter.operator, "multiple * parameters not allowed")
            else:
                star = parameter
        else:
            required = parameter.default is None
            if stars is not None:
                problem(parameter.operator, f"{'required' if required else 'optional'} parameter {after}")
            elif star is not None:
                keyword_only += 1
            elif required and optional:
                problem(parameter.offset, "required parameter may not follow optional")
            optional = optional or not required
            _bind(parameter, problem, bind)
    if star is not None and star.name:
        _bind(star, problem, bind)
    elif star is not None and not keyword_only:
        problem(star.operator, "bare * must be followed by keyword-only parameters")
    if stars is not None:
        _bind(stars, problem, bind)


def _bind(parameter: n.Parameter, problem: Problem, bind: Callable[[n.Name], bool]) -> None:
    if bind(n.Name(parameter.offset, parameter.name)):
        problem(parameter.operator, f"duplicate parameter: {parameter.name}")
