"""The table of modules in docs/ARCHITECTURE.md says of each what the module says of itself."""

from __future__ import annotations

import ast
from pathlib import Path

from tests.docs.markdown import ROOT, rows

_SOURCE = ROOT / "src"


def modules(source: Path) -> dict[str, str]:
    """The first line of every module's docstring by its dotted name, but for the schema's revisions."""
    found = {}
    for path in sorted(source.glob("plait/**/*.py")):
        if "versions" in path.parts:
            continue
        parts = path.relative_to(source).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[name] = (ast.get_docstring(ast.parse(path.read_text())) or "").partition("\n")[0]
    return found


def as_cell(sentence: str) -> str:
    """A line of a docstring as Markdown writes it in a table."""
    return sentence.replace("``", "`").replace("|", "\\|")


def test_every_module_opens_with_one_sentence() -> None:
    bad = {name: line for name, line in modules(_SOURCE).items() if len(line) < 20 or not line.endswith(".")}
    assert bad == {}


def test_the_table_of_modules_says_what_the_modules_say() -> None:
    shown = {
        row[0].strip("`"): as_cell(row[1])
        for row in rows((ROOT / "docs" / "ARCHITECTURE.md").read_text())
        if row[0].startswith("`plait")
    }
    expected = {name: as_cell(line) for name, line in modules(_SOURCE).items()}
    table = "\n".join(f"| `{name}` | {line} |" for name, line in expected.items())
    assert shown == expected, f"the table must read:\n{table}"


def test_modules_are_named_by_their_place_and_revisions_left_out(tmp_path: Path) -> None:
    for name in ("plait/__init__.py", "plait/a/b.py", "plait/a/migrations/versions/0001.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f'"""Holds {name}.\n\nMore.\n"""\n')
    assert modules(tmp_path) == {"plait": "Holds plait/__init__.py.", "plait.a.b": "Holds plait/a/b.py."}
