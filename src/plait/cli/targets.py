"""The targets of a command: URLs, files of them and standard input, read and checked before anything is done."""

from __future__ import annotations

import json
import re
import sys
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, NamedTuple

import msgspec

from plait.cli.errors import Refused
from plait.jobs import CLASS_FLEET, Caller, InvalidTarget, Options, Target
from plait.jobs.validation import check_submission
from plait.net import BadUrl, parse_url

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["STANDARD_INPUT", "files_among", "read_targets", "shown"]

STANDARD_INPUT: Final = "-"
"""The input that stands for standard input."""

_URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_BOM: Final = b"\xef\xbb\xbf"
_MAX_LINE_BYTES: Final = 4 * 1024 * 1024
_SHOWN_CHARACTERS: Final = 100
_OPTIONS: Final = ", ".join(Options.__struct_fields__)
_AN_OBJECT: Final = 'write {"url": "https://...", "options": {...}}'
_ANYBODY: Final = Caller("cli")
_AT: Final = re.compile(r"(?P<what>.*) - at `\$\.(?P<field>[\w.]+)`", re.DOTALL)
_UNKNOWN: Final = re.compile(r"Object contains unknown field `(?P<name>.*)`", re.DOTALL)


class _Line(NamedTuple):
    """A line that names a target, and how to call it in an error."""

    place: str
    text: str


def read_targets(inputs: Sequence[str], defaults: Options, most: int) -> list[Target]:
    """Read all targets, in the order of the inputs and of the lines in them.

    Args:
        inputs: URLs, names of files and ``-`` for standard input. A line of a file is a URL, or a JSON object
            with ``url`` and ``options``; empty lines and those that begin with ``#`` are skipped.
        defaults: What ``mode`` and ``grep`` are for a target without its own.
        most: How many targets there may be.

    Raises:
        Refused: Something is wrong with an input; the message names it.
    """
    targets: list[Target] = []
    for line in _lines(inputs):
        if len(targets) == most:
            raise Refused(f"too many targets: more than {most}; split them up, or raise --max-targets")
        targets.append(_with_defaults(_target(line), defaults))
    if not targets:
        where = f"there is none in {', '.join(map(_name, inputs))}" if inputs else "nothing to do"
        raise Refused(f"no targets: {where}; name URLs, files with one URL a line, or - for standard input")
    return targets


def files_among(inputs: Sequence[str]) -> list[Path]:
    """Those inputs that are files."""
    return [Path(name) for name in inputs if name != STANDARD_INPUT and not _URL.match(name)]


def shown(text: object) -> str:
    """A name or a value as an error shows it: quoted, in one line, cut short."""
    quoted = repr(str(text))
    return quoted if len(quoted) <= _SHOWN_CHARACTERS else f"{quoted[: _SHOWN_CHARACTERS - 2]}…{quoted[-1]}"


def _name(source: str) -> str:
    return "standard input" if source == STANDARD_INPUT else shown(source)


# --- from inputs to lines


def _lines(inputs: Sequence[str]) -> Iterator[_Line]:
    if inputs.count(STANDARD_INPUT) > 1:
        raise Refused("standard input can be read only once; give one -")
    for source in inputs:
        if _URL.match(source):
            yield _Line(shown(source), source)
        else:
            with _opened(source) as stream:
                yield from _lines_of(stream, _name(source))


def _opened(source: str) -> AbstractContextManager[BinaryIO]:
    if source != STANDARD_INPUT:
        return _named_file(source)
    if sys.stdin is None:
        raise Refused("standard input is closed; name a file instead of -")
    return nullcontext(sys.stdin.buffer)


def _named_file(source: str) -> BinaryIO:
    """The file, open; or what is wrong with it, which is most often that it was meant to be a URL."""
    try:
        return Path(source).open("rb")
    except FileNotFoundError:
        raise Refused(f"{shown(source)} is neither a URL nor a file; write https://... or correct the name") from None
    except IsADirectoryError:
        raise Refused(f"{shown(source)} is a folder; name a file of URLs in it") from None
    except (OSError, ValueError) as error:
        raise Refused(f"cannot read {shown(source)}: {_reason(error)}; name another file") from error


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def _lines_of(stream: BinaryIO, name: str) -> Iterator[_Line]:
    for number, raw in enumerate(_raw_lines(stream, name), 1):
        place = f"{name}, line {number}"
        if len(raw) > _MAX_LINE_BYTES:
            raise Refused(f"{place} is longer than {_MAX_LINE_BYTES} bytes; write one target a line")
        try:
            text = (raw.removeprefix(_BOM) if number == 1 else raw).decode().strip(" \t\r\n")
        except UnicodeDecodeError:
            raise Refused(f"{place} is not UTF-8; save it as UTF-8") from None
        if text and not text.startswith("#"):
            yield _Line(place, text)


def _raw_lines(stream: BinaryIO, name: str) -> Iterator[bytes]:
    """The lines, none of them much longer than one may be, so that no input fills the memory."""
    try:
        while raw := stream.readline(_MAX_LINE_BYTES + 1):
            yield raw
    except OSError as error:
        raise Refused(f"cannot read {name}: {_reason(error)}; name another input") from error


# --- from a line to a target


def _target(line: _Line) -> Target:
    target = _decoded(line) if line.text.startswith("{") else Target(line.text)
    try:
        check_submission(_ANYBODY, CLASS_FLEET, [target])
        parse_url(target.url)
    except InvalidTarget as error:
        raise Refused(f"{line.place}: {str(error).removeprefix('target 1: ')}") from None
    except BadUrl as error:
        raise Refused(f"{line.place}: {error.message}; {error.hint}") from None
    return target


def _with_defaults(target: Target, defaults: Options) -> Target:
    own = target.options
    options = msgspec.structs.replace(own, mode=own.mode or defaults.mode, grep=own.grep or defaults.grep)
    return Target(target.url, options)


class _TwiceError(ValueError):
    """A name stands twice in one JSON object, so that one value would be lost in silence."""


def _decoded(line: _Line) -> Target:
    try:
        document = json.loads(line.text, object_pairs_hook=_object)
    except _TwiceError as error:
        raise Refused(f"{line.place}: {error}; keep one of them") from None
    except RecursionError:
        raise Refused(f"{line.place} is nested too deep; {_AN_OBJECT}") from None
    except json.JSONDecodeError as error:
        raise Refused(f"{line.place} is not JSON: {error.msg} at column {error.colno}; {_AN_OBJECT}") from None
    except ValueError:
        raise Refused(f"{line.place} holds a number that is far too long; {_AN_OBJECT}") from None
    try:
        return msgspec.convert(document, Target)
    except msgspec.ValidationError as error:
        raise Refused(f"{line.place}: {_fault(str(error))}") from None
    except UnicodeEncodeError:  # while msgspec spells the name in its error
        raise Refused(
            f"{line.place}: a name holds a lone surrogate; the fields are url and options, the options are {_OPTIONS}"
        ) from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise _TwiceError(f"{shown(name)} stands in one object twice")
        found[name] = value
    return found


def _fault(message: str) -> str:
    """What is wrong with a document, in the words of a line of input."""
    at = _AT.fullmatch(message)
    what, field = (at["what"], at["field"]) if at else (message, "")
    unknown = _UNKNOWN.fullmatch(what)
    if unknown and field == "options":
        return f"unknown option {shown(unknown['name'])}; the options are {_OPTIONS}"
    if unknown:
        return f"unknown field {shown(unknown['name'])}; the fields are url and options"
    said = what.replace("`", "")
    return f"{field}: {said[:1].lower()}{said[1:]}; correct it" if field else f"{said}; {_AN_OBJECT}"
