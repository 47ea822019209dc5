"""Tests of attributes: what a script reaches with a dot, and that it reaches nothing else."""

from __future__ import annotations

from typing import Any

import pytest
from typing_extensions import override

from plait.context import Cancelled
from plait.starlark.errors import EvalError, StepLimitExceeded
from plait.starlark.thread import Thread
from plait.starlark.universe import attributes
from plait.starlark.universe.universe import UNIVERSAL
from plait.starlark.values import (
    FALSE,
    TRUE,
    BoundMethod,
    Bytes,
    FrozenDict,
    FrozenList,
    FrozenSet,
    HostValue,
    Module,
    Set,
    Struct,
)


class Record(HostValue):
    """A value of a host with fields that a script may set, but for those that begin with ``no``."""

    type_name = "record"

    def __init__(self) -> None:
        self.fields: dict[str, Any] = {}

    @override
    def attribute(self, name: str) -> Any:
        return self.fields[name]

    @override
    def attribute_names(self) -> list[str]:
        return list(self.fields)

    @override
    def set_attribute(self, name: str, value: Any) -> None:
        if name.startswith("no"):
            raise LookupError(name)
        self.fields[name] = value


class Broken(HostValue):
    """A value of a host whose code has faults."""

    type_name = "broken"

    @override
    def attribute(self, name: str) -> Any:
        if name == "cancelled":
            raise Cancelled
        if name == "object":
            return object()
        raise ZeroDivisionError("division by zero")

    @override
    def attribute_names(self) -> list[str]:
        raise OSError("gone")

    @override
    def set_attribute(self, name: str, value: Any) -> None:
        raise OSError("read-only")


class Fixed(HostValue):
    """A value of a host without any attribute."""

    type_name = "fixed"


def plain(_thread: Thread, /) -> None:
    return None


VALUES = [
    None,
    TRUE,
    1,
    1.5,
    "",
    Bytes(b""),
    range(1),
    (),
    [],
    FrozenList(),
    {},
    FrozenDict(),
    Set(),
    FrozenSet(),
    Struct({}),
    Module("m", {}),
    Fixed(),
    Record(),
    plain,
    UNIVERSAL["len"],
    BoundMethod("append", [], plain),
]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_no_name_of_python_can_be_reached(value: Any) -> None:
    for name in {*dir(value), *dir(type(value)), "__wrapped__", "starlark_builtin", "__closure__", "mro"}:
        found = attributes.find(value, name)
        if found is not attributes.MISSING:
            assert isinstance(found, BoundMethod)
            assert not name.startswith("_")
            assert name in attributes.METHODS_OF[type(value)]


def test_a_method_is_bound_to_its_value() -> None:
    thread = Thread()
    values: list[Any] = []
    attributes.get(thread, values, "append")(thread, 1)
    assert values == [1]
    assert attributes.get(thread, "a", "upper")(thread) == "A"


@pytest.mark.parametrize(("mutable", "frozen"), [(list, FrozenList), (dict, FrozenDict), (Set, FrozenSet)])
def test_a_frozen_value_has_the_same_methods(mutable: type, frozen: type) -> None:
    assert attributes.names(mutable()) == attributes.names(frozen())
    assert attributes.names(mutable()) != []


def test_fields_of_structs_members_of_modules_and_attributes_of_the_hosts_values() -> None:
    thread = Thread()
    record = Record()
    held = [1]
    attributes.set_field(thread, record, "x", held)
    assert attributes.get(thread, record, "x") is held
    record.fields["flag"] = True
    assert attributes.get(thread, record, "flag") is TRUE
    record.fields["flag"] = False
    assert attributes.get(thread, record, "flag") is FALSE
    assert attributes.get(thread, Struct({"fields": 1}), "fields") == 1
    assert attributes.get(thread, Module("m", {"name": 2}), "name") == 2
    assert attributes.names(Struct({"b": 1, "a": 1})) == ["a", "b"]
    assert attributes.names(record) == ["flag", "x"]


@pytest.mark.parametrize(
    ("value", "name", "message"),
    [
        (1, "x", "int has no .x field or method"),
        ("a", "uper", "string has no .uper field or method (did you mean .upper?)"),
        ({}, "kyes", "dict has no .kyes field or method"),
        ((), "index", "tuple has no .index field or method"),
        (None, "__class__", "NoneType has no .__class__ field or method"),
        (Struct({"name": 1}), "nam", "struct has no .nam attribute (did you mean .name?)"),
        (Struct({}, Fixed()), "x", "<fixed> struct has no .x attribute"),
        (Struct({}, "point"), "x", "point struct has no .x attribute"),
        (Module("json", {"encode": 1}), "encod", "module has no .encod field or method (did you mean .encode?)"),
        (Fixed(), "x", "fixed has no .x field or method"),
        (Broken(), "x", "broken: division by zero"),
        (Broken(), "object", "broken: a Python object is no Starlark value"),
    ],
)
def test_a_missing_attribute_is_named_with_what_was_probably_meant(value: Any, name: str, message: str) -> None:
    with pytest.raises(EvalError) as caught:
        attributes.get(Thread(), value, name)
    assert caught.value.message == message


@pytest.mark.parametrize(
    ("value", "name", "message"),
    [
        ([], "x", "can't assign to .x field of list"),
        (Struct({"x": 1}), "x", "can't assign to .x field of struct"),
        (Module("m", {"x": 1}), "x", "can't assign to .x field of module"),
        (Fixed(), "x", "can't assign to .x field of fixed"),
        (Broken(), "x", "broken: read-only"),
    ],
)
def test_only_values_of_the_host_have_fields_to_set(value: Any, name: str, message: str) -> None:
    with pytest.raises(EvalError) as caught:
        attributes.set_field(Thread(), value, name, 1)
    assert caught.value.message == message


def test_a_field_that_cannot_be_set_is_named_with_what_was_probably_meant() -> None:
    record = Record()
    record.fields["forty_five"] = 45
    with pytest.raises(EvalError) as caught:
        attributes.set_field(Thread(), record, "noForty_Five", 46)
    assert caught.value.message == "record has no .noForty_Five field or method (did you mean .forty_five?)"


def test_a_cancellation_in_the_hosts_code_passes_as_it_is() -> None:
    with pytest.raises(Cancelled):
        attributes.get(Thread(), Broken(), "cancelled")


def test_names_that_cannot_be_listed_are_an_error_of_the_script() -> None:
    with pytest.raises(EvalError, match=r"^broken: gone$"):
        attributes.names(Broken())


def test_looking_for_what_was_meant_is_paid_for() -> None:
    many = Struct({"n" * 199 + str(i): i for i in range(1_000)})
    with pytest.raises(StepLimitExceeded):
        attributes.get(Thread(), many, "m" * 200)
