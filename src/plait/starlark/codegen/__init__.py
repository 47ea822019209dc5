"""Code generation: a resolved tree to CPython's own bytecode."""

from plait.starlark.codegen.statements import TOP, Generated, generate

__all__ = ["TOP", "Generated", "generate"]
