"""Which names in a document promise something of the repository, and which of them break the promise."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import os
import re
import shlex
import subprocess
import sys
import tomllib
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Final

from tests.docs.markdown import ROOT, anchors

__all__ = ["environment", "missing_extra", "missing_link", "missing_name", "missing_target"]

_PATH: Final = re.compile(r"\.?[\w*][\w.*-]*(/[\w.*-]+)*/?(::\w+)?")
_SUFFIXES: Final = (".py", ".md", ".toml", ".star")
_MODULE: Final = re.compile(r"plait(\.[A-Za-z_]\w*)+")


def environment() -> dict[str, str]:
    """The variables of a reader who has Plait's environment first on the path."""
    programs = Path(sys.executable).parent
    return os.environ | {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}


def missing_name(code: str, document: Path) -> str | None:
    """What is wrong with a piece of inline code, if it names a path, a command or a name of Plait.

    Args:
        code: What stands between the backticks.
        document: The file that it stands in.

    Returns:
        A sentence, or ``None`` if it names nothing or what it names exists.
    """
    words = code.split()
    if not words:
        return None
    if words[0] == "make" and len(words) > 1:
        return missing_target(code)
    if words[0] == "plait":
        return _missing_command(tuple(words[1:]))
    if _MODULE.fullmatch(name := code.partition("(")[0]) and not name.endswith(".db"):
        return _missing_attribute(name)
    return _missing_path(code, document)


def missing_target(command: str) -> str | None:
    """What is wrong with a ``make`` command: a target that the Makefile does not have."""
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    words = [word for word in shlex.split(command, comments=True)[1:] if "=" not in word]
    unknown = [word for word in words if word not in targets]
    return f"the Makefile has no target {unknown[0]}" if unknown else None


def missing_extra(command: str) -> str | None:
    """What is wrong with a ``pip install`` command: an extra that Plait does not have."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    named = {extra.strip() for group in re.findall(r"\[([\w, -]+)\]", command) for extra in group.split(",")}
    unknown = sorted(named - set(project["optional-dependencies"]))
    return f"Plait has no extra {unknown[0]}" if unknown else None


def missing_link(target: str, document: Path) -> str | None:
    """What is wrong with where a link points to, as long as that is in the repository."""
    if re.match(r"[a-z]+:", target):
        return None
    name, _, anchor = target.partition("#")
    path = document.parent / name if name else document
    if not path.exists():
        return f"the link {target} points to no file"
    if anchor and path.suffix == ".md" and anchor not in anchors(path.read_text()):
        return f"the link {target} points to no heading"
    return None


def _missing_path(code: str, document: Path) -> str | None:
    """A path is what starts with a folder of ours or ends like a file of ours."""
    if not _PATH.fullmatch(code):
        return None
    name, _, test = code.partition("::")
    places = (ROOT, document.parent, ROOT / "src" / "plait", ROOT / "examples")
    first = name.split("/")[0]
    ours = "/" in name and first and any((place / first).exists() for place in places)
    if not ours and not name.endswith(_SUFFIXES):
        return None
    found = [path for place in places for path in place.glob(name.rstrip("/"))]
    if not found:
        return f"there is no {name}"
    if test and f"def {test}(" not in found[0].read_text():
        return f"there is no {test} in {name}"
    return None


def _missing_attribute(name: str) -> str | None:
    """A dotted name is a module, or an attribute of one."""
    try:
        _resolve(name)
    except (ImportError, AttributeError):
        return f"there is no {name}"
    return None


def _resolve(name: str) -> object:
    """The module or attribute of that name; a module is found but not run, only those above it are."""
    module, _, attribute = name.rpartition(".")
    if not module:
        return importlib.import_module(name)
    above = _resolve(module)
    if isinstance(above, ModuleSpec):
        above = importlib.import_module(module)
    if hasattr(above, "__path__") and (found := importlib.util.find_spec(name)):
        return found
    return getattr(above, attribute)


def _missing_command(words: tuple[str, ...], path: tuple[str, ...] = ()) -> str | None:
    """Walk down the commands by their help; then every option must stand in the last one's."""
    shown = _help(path)
    if shown is None:
        return f"there is no command plait {' '.join(path)}"
    _, is_group, commands = shown.partition("\nCommands:\n")
    if is_group and words and not words[0].startswith("-"):
        if words[0] not in re.findall(r"^  (\S+)", commands, re.MULTILINE):
            return f"there is no command plait {' '.join([*path, words[0]])}"
        return _missing_command(words[1:], (*path, words[0]))
    options = [word.partition("=")[0] for word in words if word.startswith("--") and word != "--"]
    unknown = [option for option in options if not re.search(rf"{option}(?![\w-])", shown)]
    return f"plait {' '.join(path)} has no option {unknown[0]}" if unknown else None


@functools.cache
def _help(path: tuple[str, ...]) -> str | None:
    asked = ["plait", *path, "--help"]
    done = subprocess.run(asked, env=environment(), capture_output=True, text=True, timeout=60, check=False)
    return None if done.returncode else done.stdout
