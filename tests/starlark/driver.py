"""A process that runs the corpus and the counted programs under any Python, with nothing but the standard library."""

from __future__ import annotations

import sys
import types
from pathlib import Path
from typing import Any

__all__ = ["main"]


def _stand_in() -> types.ModuleType:
    """What the corpus' test asks of pytest when it is imported: a mark that does nothing."""
    pytest: Any = types.ModuleType("pytest")
    pytest.param = lambda *values, **_: values
    pytest.mark = types.SimpleNamespace(parametrize=lambda *_: lambda test: test)
    made: types.ModuleType = pytest
    return made


def main(root: Path, corpus: Path | None) -> int:
    """Print what is wrong, or that all is well.

    Args:
        root: The folder of Plait.
        corpus: Another folder of programs than the tests' own.
    """
    sys.path[:0] = [str(root / "src"), str(root)]
    sys.dont_write_bytecode = True
    sys.modules.setdefault("pytest", _stand_in())
    from tests.starlark import counted, test_corpus  # noqa: PLC0415 - the path is known only now

    paths = sorted((corpus or test_corpus.CORPUS).glob("*.star"))
    wrong = [problem for path in paths for chunk in test_corpus.chunks(path) for problem in test_corpus.problems(chunk)]
    counts = counted.counts()
    wrong += [
        f"{name}: {counts[name]} steps, not {steps}" for name, steps in counted.COUNTED.items() if counts[name] != steps
    ]
    print("\n".join(wrong or ["all is well"]))  # noqa: T201 - it is the answer
    return 1 if wrong or not paths else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else None))
