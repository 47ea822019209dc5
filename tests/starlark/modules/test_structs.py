"""The builtins struct and module, called by scripts and by the host."""

from __future__ import annotations

import pytest

from plait.starlark.errors import EvalError, StarlarkError, StepLimitExceeded
from plait.starlark.modules.structs import make_module, make_struct
from plait.starlark.native import info_of
from plait.starlark.thread import Thread
from plait.starlark.values import TRUE, Module, Struct


def test_a_struct_has_its_fields_in_the_order_of_their_names() -> None:
    made = make_struct(Thread(), port=80, host="localhost")
    assert type(made) is Struct
    assert list(made.fields.items()) == [("host", "localhost"), ("port", 80)]
    assert made.kind == "struct"


def test_a_struct_may_have_fields_of_any_name() -> None:
    made = make_struct(Thread(), **{"thread": 1, "args": 2, "a b": 3})
    assert made.fields == {"a b": 3, "args": 2, "thread": 1}


def test_the_host_makes_a_struct_without_a_thread() -> None:
    assert make_struct(ok=True, flags=[False]).fields["ok"] is TRUE


def test_the_host_cannot_put_what_is_no_value_into_a_struct() -> None:
    with pytest.raises(StarlarkError):
        make_struct(x=object())


def test_a_struct_takes_no_positional_arguments() -> None:
    with pytest.raises(EvalError, match=r"^struct: unexpected positional arguments$"):
        make_struct(Thread(), 1)
    with pytest.raises(EvalError, match=r"^struct: unexpected positional arguments$"):
        make_struct(1)  # type: ignore[arg-type] # what a host may do by mistake


def test_the_fields_of_a_struct_are_charged() -> None:
    with pytest.raises(StepLimitExceeded):
        make_struct(Thread(max_steps=100), **{f"f{place}": place for place in range(50)})


def test_a_module_has_a_name_and_members() -> None:
    made = make_module(Thread(), "m", name=1, x=2)
    assert type(made) is Module
    assert (made.name, dict(made.members)) == ("m", {"name": 1, "x": 2})


def test_a_module_wants_its_name_alone() -> None:
    with pytest.raises(EvalError, match=r"^module: got 0 arguments, want 1$"):
        make_module(Thread(), x=1)
    with pytest.raises(EvalError, match=r"^module: for parameter 1: got int, want string$"):
        make_module(Thread(), 1)


def test_both_are_builtins_by_their_names() -> None:
    assert [info.name for info in map(info_of, (make_struct, make_module)) if info] == ["struct", "module"]
