"""Thread: one strand of execution, with its steps, its context and what it must not change now."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from plait.starlark.errors import StepLimitExceeded

if TYPE_CHECKING:
    from collections.abc import Callable

    from plait.context import Context

__all__ = ["Thread"]

_SLICE: Final = 4_096
"""Steps between two looks at the context."""

_BITS_OF_A_STEP: Final = 1_024
"""Size of an integer that one step pays for."""
_UNLIMITED: Final = 1 << 62


class Thread:
    """One strand of execution: its steps, its context and what it must not change now.

    A thread runs one script at a time and belongs to the Python thread that runs it. Functions and frozen values
    belong to nobody: a function made while one thread ran may be called with another.

    Args:
        name: For the host's own messages.
        max_steps: How many steps everything that runs on this thread may use together; ``None`` for no limit.
        context: Its deadline and cancellation stop the script; ``None`` for neither.
        print: Called as ``print(thread, text)`` for the script's ``print``; ``None`` throws the text away.
        load: Called as ``load(thread, name)`` for the script's ``load``; returns a module, raises ``EvalError``.
    """

    __slots__ = (
        "_limit",
        "_slice",
        "_used",
        "_weight",
        "active",
        "context",
        "guard",
        "left",
        "load",
        "locals",
        "max_steps",
        "name",
        "print",
    )

    def __init__(
        self,
        name: str = "",
        *,
        max_steps: int | None = 1_000_000,
        context: Context | None = None,
        print: Callable[[Thread, str], object] | None = None,  # noqa: A002 - the field's name for it
        load: Callable[[Thread, str], Any] | None = None,
    ) -> None:
        self.name = name
        self.max_steps = max_steps
        self.context = context
        self.print = print
        self.load = load
        self.locals: dict[Any, Any] = {}
        """What builtins keep on this thread, by keys of their own."""
        # Internal, used by compiled code. `left` counts down to the next look at the limit and the context.
        self.left = 0
        self._slice = 0
        self._used = 0
        self._weight = 1
        self._limit = _UNLIMITED if max_steps is None else max_steps
        # id → [value, iterations under way, why it must not change]; None while there is nothing of the kind.
        self.guard: dict[int, list[Any]] | None = None
        # Functions under way that could be called again while they run.
        self.active: set[Any] = set()

    @property
    def steps(self) -> int:
        """Steps used so far; more than ``max_steps`` when the thread was stopped for it."""
        return self._used + (self._slice - self.left) * self._weight

    def charge(self, steps: int) -> None:
        """Use up steps before doing the work they stand for.

        Args:
            steps: How many, 0 or more.

        Raises:
            StepLimitExceeded: There are not so many left.
            Cancelled: The context was cancelled.
            DeadlineExceeded: The context's deadline has passed.
        """
        self.left -= steps
        if self.left < 0:
            self.refuel()

    def afford(self, steps: int) -> None:
        """Refuse a large piece of work now when it could not be paid for in the end; uses up nothing otherwise.

        Raises:
            StepLimitExceeded: There are not so many steps left.
        """
        if self.steps + steps > self._limit:
            self.charge(steps)

    def refuel(self) -> None:
        """Look at the limit and the context, and grant the next slice of steps; for compiled code and builtins.

        Raises:
            StepLimitExceeded: The limit is passed.
            Cancelled: The context was cancelled.
            DeadlineExceeded: The context's deadline has passed.
        """
        self._used = used = self._used + (self._slice - self.left) * self._weight
        self._slice = self.left = 0
        if used > self._limit:
            raise StepLimitExceeded(f"too many steps (the limit is {self._limit})")
        if self.context is not None:
            self.context.check()
        self._slice = self.left = min(_SLICE, (self._limit - used) // self._weight)

    def weigh(self, bits: int) -> None:
        """Take note of an integer of so many bits: from now on a step may well make another of that size.

        Python adds large integers in one instruction, which is not worth looking at each time. So each step of a
        thread that has met one counts as many times as such an integer is larger than a step may make.

        Args:
            bits: How many bits it has.
        """
        weight = -(-bits // _BITS_OF_A_STEP)
        if weight > self._weight:
            self._used += (self._slice - self.left) * self._weight
            self._weight = weight
            self._slice = self.left = min(self.left, max(0, self._limit - self._used) // weight)
