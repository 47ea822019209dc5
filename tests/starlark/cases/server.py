"""The process that runs hostile scripts for the tests: each in a fork of its own, under limits, and never twice."""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import sys
import tempfile
import time
from collections.abc import Mapping
from typing import Any, BinaryIO, Final

from plait import starlark
from plait.context import Context, ContextError

_STEPS: Final = 1_000_000
_SECONDS: Final = 2.0
_HANG_SECONDS: Final = 20.0
_ADDRESS_SPACE: Final = 2 << 30
_TEXT: Final = 20_000

_OPTIONS: Final = starlark.Options(set=True)
_PREDECLARED: Final[Mapping[str, Any]] = {"json": starlark.json}


def serve() -> None:
    """Answer each line of standard input, a case, with a line on standard output: how it ended."""
    for line in sys.stdin:
        print(json.dumps(_tried(json.loads(line))), flush=True)  # noqa: T201 - it is the answer


def _tried(case: dict[str, Any]) -> dict[str, Any]:
    """Run a case in a child and wait for its end, or make one."""
    with tempfile.TemporaryFile() as errors:
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            _be_child(case, writing, errors.fileno())
        os.close(writing)
        with os.fdopen(reading, "rb") as pipe:
            content = _all_of(pipe, child)
        _, status = os.waitpid(child, 0)
        errors.seek(0)
        said = errors.read(_TEXT).decode(errors="replace")
    if not content:
        number = os.waitstatus_to_exitcode(status)
        ended = "hangs" if number == -signal.SIGKILL else f"crashes ({number})"
        return {"ended": ended, "said": said}
    result: dict[str, Any] = json.loads(content)
    return result | {"said": said}


def _all_of(pipe: BinaryIO, child: int) -> bytes:
    """What a child writes until it ends; it is killed when that takes too long."""
    end = time.monotonic() + _HANG_SECONDS
    content = b""
    while (left := end - time.monotonic()) > 0 and select.select([pipe], [], [], left)[0]:
        piece = os.read(pipe.fileno(), 65_536)
        content += piece
        if not piece:
            return content
    os.kill(child, signal.SIGKILL)
    return b""


def _be_child(case: dict[str, Any], writing: int, errors: int) -> None:
    """Run a case, write how it ended, and end."""
    os.dup2(errors, 2)
    resource.setrlimit(resource.RLIMIT_AS, (_ADDRESS_SPACE, _ADDRESS_SPACE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    result = _ended(case)
    result["mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    with os.fdopen(writing, "wb") as pipe:
        pipe.write(json.dumps(result).encode())
    os._exit(0)


def _ended(case: dict[str, Any]) -> dict[str, Any]:
    printed: list[str] = []
    try:
        return {"ended": "with a value", "value": _value(case, printed)}
    except BaseException as error:  # noqa: BLE001 - whatever gets out is to be seen
        clean = isinstance(error, starlark.StarlarkError | ContextError)
        static = isinstance(error, starlark.ParseError | starlark.ResolveError) and not printed
        text = str(error)
        return {
            "ended": "refused" if static else "failed" if clean else "with an exception of Python's",
            "kind": type(error).__name__,
            "text": text[:_TEXT],
            "length": len(text),
        }


def _value(case: dict[str, Any], printed: list[str]) -> str | None:
    """The text of a case's result, as its script itself would print it."""
    files: dict[str, str] = case["files"]
    modules: dict[str, Any] = {}
    context = Context(timeout=_SECONDS)

    def load(_thread: starlark.Thread, name: str) -> Any:
        if name not in files:
            raise starlark.EvalError(f"cannot load {name}: no such module")
        if name not in modules:
            modules[name] = None
            modules[name] = execute(name, files[name])
        if modules[name] is None:
            raise starlark.EvalError(f"cannot load {name}: cycle in load graph")
        return modules[name]

    def execute(name: str, source: str) -> Any:
        program = starlark.compile(source, filename=name, predeclared=set(_PREDECLARED), options=_OPTIONS)
        thread = starlark.Thread(
            name, max_steps=_STEPS, context=context, print=lambda _thread, text: printed.append(text[:80]), load=load
        )
        return program.run(thread, predeclared=_PREDECLARED)

    wanted = case["value"] is not None
    module = execute("main.star", case["source"] + ("\nout_text = repr(out)\n" if wanted else ""))
    return module["out_text"] if wanted else None


if __name__ == "__main__":
    serve()
