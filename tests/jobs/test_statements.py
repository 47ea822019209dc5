"""The statements of a store: each is used, and each that is used exists."""

from __future__ import annotations

import re
from pathlib import Path

from plait.jobs.store import statements

ROOM = Path(statements.__file__).parent


def test_the_statements_that_are_used_are_those_that_there_are() -> None:
    code = "\n".join(path.read_text() for path in ROOM.glob("*.py"))
    used = set(re.findall(r"(?:self\._sql|(?<![.\w])sql)\.([a-z_]+)", code)) - {"replace"}  # that is str's own
    assert used == set(statements._STATEMENTS)
