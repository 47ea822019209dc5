"""The table of modules in docs/ARCHITECTURE.md says of each what the module says of itself.

``python -m tests.docs.test_architecture`` in the repository's root writes the table anew.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Final

from tests.docs.markdown import ROOT, rows

_SOURCE: Final = ROOT / "src"
_DOCUMENT: Final = ROOT / "docs" / "ARCHITECTURE.md"
_ROWS: Final = re.compile(r"(?:^\| `plait(?:\.\w+)*` \|.*\n)+", re.MULTILINE)


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


def with_table(text: str, sentences: dict[str, str]) -> str:
    """A document with the right rows in the place of its table of modules."""
    table = "".join(f"| `{name}` | {as_cell(line)} |\n" for name, line in sentences.items())
    return _ROWS.sub(lambda _: table, text, count=1)


def test_every_module_opens_with_one_sentence() -> None:
    bad = {name: line for name, line in modules(_SOURCE).items() if len(line) < 20 or not line.endswith(".")}
    assert bad == {}


def test_the_table_of_modules_says_what_the_modules_say() -> None:
    listed = [row for row in rows(_DOCUMENT.read_text()) if row[0].startswith("`plait")]
    shown = {name.strip("`"): as_cell(sentence) for name, sentence in listed}
    expected = {name: as_cell(line) for name, line in modules(_SOURCE).items()}
    assert shown == expected, "write it anew with: python -m tests.docs.test_architecture"


def test_the_table_is_written_anew_in_its_place() -> None:
    old = "| module | what |\n|---|---|\n| `plait` | Old. |\n| `plait.gone` | Gone. |\n\n| `plait` | Kept. |\n"
    new = with_table(old, {"plait": "New.", "plait.a": "Holds ``a|b``."})
    table = "| `plait` | New. |\n| `plait.a` | Holds `a\\|b`. |\n"
    assert new == f"| module | what |\n|---|---|\n{table}\n| `plait` | Kept. |\n"


def test_modules_are_named_by_their_place_and_revisions_left_out(tmp_path: Path) -> None:
    for name in ("plait/__init__.py", "plait/a/b.py", "plait/a/migrations/versions/0001.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f'"""Holds {name}.\n\nMore.\n"""\n')
    assert modules(tmp_path) == {"plait": "Holds plait/__init__.py.", "plait.a.b": "Holds plait/a/b.py."}


if __name__ == "__main__":
    _DOCUMENT.write_text(with_table(_DOCUMENT.read_text(), modules(_SOURCE)))
