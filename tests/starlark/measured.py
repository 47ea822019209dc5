"""A process that runs one script with a budget and says how it ended and how much memory it took at most."""

from __future__ import annotations

import json
import re
import resource
import sys
from pathlib import Path
from typing import Final

if __name__ == "__main__":  # run as a program, not as a part of the package of tests
    sys.path.insert(0, str(Path(__file__).parents[2] / "src"))

from plait import starlark

__all__ = ["MB", "peak"]

MB: Final = 1 << 20
_STEPS: Final = 1_000_000
_ADDRESS_SPACE: Final = 2 << 30
"""More than any script may take, and little enough for the machine to go on."""
_PREDECLARED: Final = {
    "json": starlark.json,
    "math": starlark.math,
    "time": starlark.time,
    "struct": starlark.struct,
    "module": starlark.module,
}


def peak() -> int:
    """The most memory that this process has had, in bytes; from Linux, and of this process alone."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert found is not None
    return int(found[1]) << 10


def main() -> None:
    """Run the script of standard input; write how it ended, its steps and its bytes."""
    resource.setrlimit(resource.RLIMIT_AS, (_ADDRESS_SPACE, _ADDRESS_SPACE))
    source = sys.stdin.read()
    before = peak()
    thread = starlark.Thread(max_steps=_STEPS)
    options = starlark.Options(while_loops=True, top_level_control=True, global_reassign=True, recursion=True)
    try:
        module = starlark.compile(source, predeclared=_PREDECLARED.keys(), options=options).run(thread, _PREDECLARED)
        ended = f"ok, with {len(module.items())} names"  # what is frozen only when it is asked for is asked for
    except starlark.StarlarkError as error:
        ended = error.message[:200]
    print(json.dumps({"ended": ended, "steps": thread.steps, "bytes": peak() - before}))  # noqa: T201 - it is the answer


if __name__ == "__main__":
    main()
