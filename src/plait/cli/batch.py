"""The command ``plait batch run``: from its options to an embedded run."""

from __future__ import annotations

import os
import re
import stat
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from plait.cli.embedded import EmbeddedRun
from plait.cli.errors import Refused
from plait.cli.events import Events, Warned
from plait.cli.progress import display_for, warn
from plait.cli.results import STANDARD_OUTPUT, results_to
from plait.cli.targets import files_among, read_targets, shown
from plait.fetch import Fetch
from plait.fetch.options import read_options
from plait.jobs import (
    CLASS_FLEET,
    Caller,
    Config,
    InvalidTarget,
    Options,
    Runner,
    Store,
    StoreError,
    SubmitError,
    TargetError,
)
from plait.jobs.validation import check_submission
from plait.net import Limits, Policy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from plait.cli.results import Results
    from plait.jobs import FetchFunc, Target

__all__ = ["command"]

_JOBS: Final = Config()
_LIMITS: Final = Limits()
_MAX_TARGETS: Final = 10_000
_MOST: Final = 1_000_000_000  # targets, or bytes of a page: SQLite keeps no longer row
_NO_MAX_BYTES: Final = 2**62
_SHORTEST_SECONDS: Final = 0.001
_LONGEST_SECONDS: Final = 1_000_000  # 11 days; a socket's time limit ends at 24
_COMPANIONS: Final = (
    "-wal",
    "-shm",
    "-journal",
    "-runner",
    "-runner-journal",
)  # files beside a store that are part of it
_IN_MEMORY: Final = "sqlite://"
_MEMORY: Final = ":memory:"  # SQLite's own name for what is in no file
_URL: Final = re.compile(r"[a-z][a-z0-9+]+:/")  # a Path has made one slash of two
_SEPARATORS: Final = re.compile(r"[\s,]+")


def _seconds(ctx: click.Context, param: click.Parameter, value: float | None) -> float | None:
    """A number of seconds that can be waited; no zero, which in ``Config`` would mean the default."""
    if value is not None and not _SHORTEST_SECONDS <= value <= _LONGEST_SECONDS:
        fault = f"{value} is not a number of seconds from {_SHORTEST_SECONDS} to {_LONGEST_SECONDS}"
        raise click.BadParameter(fault, ctx, param)
    return value


def _caller(ctx: click.Context, param: click.Parameter, value: str) -> Caller:
    if not value or not value.isprintable():
        raise click.BadParameter("a caller needs a name of printable characters", ctx, param)
    caller = Caller(value)
    try:
        check_submission(caller, CLASS_FLEET, [])
    except InvalidTarget as error:
        raise click.BadParameter(str(error).replace("caller.name", "the name", 1), ctx, param) from error
    return caller


def _policy(ctx: click.Context, param: click.Parameter, values: Sequence[str]) -> Policy:
    entries = [entry for value in values for entry in _SEPARATORS.split(value) if entry]
    try:
        return Policy(allow=entries)
    except ValueError as error:
        fault = str(error).replace("Policy.allow has", "it has", 1)
        raise click.BadParameter(fault, ctx, param) from error


def _seconds_option(name: str, default: float, help_text: str) -> Callable[[click.decorators.FC], click.decorators.FC]:
    return click.option(
        name, type=float, metavar="SECONDS", default=default, show_default=True, callback=_seconds, help=help_text
    )


@click.command("run", epilog="Exit codes: 0 all done, 1 some failed, 2 refused, 130 interrupted.")
@click.argument("inputs", metavar="TARGETS...", nargs=-1)
@click.option("--store", type=click.Path(path_type=Path), metavar="FILE", help="Keep the job in this SQLite file.")
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE", help="Write the results to this file.")
@click.option(
    "policy",
    "--allow",
    multiple=True,
    envvar="PLAIT_ALLOW",
    metavar="HOST[:PORT]|CIDR",
    callback=_policy,
    help="Allow a host that is not public. Repeatable; or list them in PLAIT_ALLOW.",
)
@click.option(
    "--caller",
    default="cli",
    show_default=True,
    metavar="NAME",
    callback=_caller,
    help="In whose name; a kept job is reused for the same caller only.",
)
@click.option("--mode", default="", metavar="MODE", help="For targets without their own: markdown, text, html or raw.")
@click.option("--grep", default="", metavar="PATTERN", help="For targets without their own: an RE2 pattern.")
@_seconds_option("--retry-wait", _JOBS.retry_wait, "Wait this long before a busy target is tried again.")
@_seconds_option("--retry-for", _JOBS.retry_for, "Let a target be busy for this long before it has failed.")
@_seconds_option("--timeout", _LIMITS.total_seconds, "Give one target this long to be fetched.")
@click.option(
    "--max-bytes",
    type=click.IntRange(min=1, max=_MOST),
    metavar="BYTES",
    default=_LIMITS.body_bytes,
    show_default=True,
    help="Take a page of this size at most.",
)
@click.option(
    "--max-targets",
    type=click.IntRange(min=1, max=_MOST),
    metavar="N",
    default=_MAX_TARGETS,
    show_default=True,
    help="Take this many targets at most.",
)
@click.option("--quiet", "-q", is_flag=True, help="Say nothing on standard error but what went wrong.")
def command(
    *,
    inputs: tuple[str, ...],
    store: Path | None,
    out: Path | None,
    policy: Policy,
    caller: Caller,
    mode: str,
    grep: str,
    retry_wait: float,
    retry_for: float,
    timeout: float,
    max_bytes: int,
    max_targets: int,
    quiet: bool,
) -> int:
    """Do targets here and now, and print their results.

    TARGETS are URLs, files and - for standard input. A line of a file is a URL, or a JSON object such as
    {"url": "https://example.org/", "options": {"grep": "loom"}}. Empty lines and lines that begin with # are
    skipped.

    One JSON line for each target goes to standard output, in the order of the targets, as soon as it is
    stored; progress goes to standard error. Ctrl-C waits for the target in flight and prints what there is.
    """
    targets = read_targets(inputs, _checked_defaults(mode, grep), max_targets)
    _check_files(inputs, store, out)
    limits = Limits(total_seconds=timeout, body_bytes=max_bytes, wire_bytes=max(_LIMITS.wire_bytes, 2 * max_bytes))
    events = Events()
    config = Config(
        targets_per_job=max_targets,
        max_bytes=_NO_MAX_BYTES,
        retry_wait=retry_wait,
        retry_for=retry_for,
        hooks=events.hooks,
    )
    with (
        events.signals(),
        results_to(out) as results,
        _late_warnings(events),
        _runner(store, Fetch(policy, limits), config, events) as runner,
    ):
        return _run(runner, caller, targets, events=events, results=results, quiet=quiet)


def _run(
    runner: Runner, caller: Caller, targets: Sequence[Target], *, events: Events, results: Results, quiet: bool
) -> int:
    submission = runner.submit(caller, CLASS_FLEET, targets)
    results.begin()
    with display_for(targets, quiet=quiet, shared=results.on_terminal) as display:
        count = f"{len(targets)} target{'' if len(targets) == 1 else 's'}"
        if submission.reused:
            display.note(
                f"job {submission.id} was reused: the same {count} are in the store, nothing is fetched; "
                "name another --store to fetch anew"
            )
        else:
            display.note(f"job {submission.id}: {count}")
        run = EmbeddedRun(runner, submission, total=len(targets), events=events, results=results, display=display)
        return run.follow()


@contextmanager
def _runner(file: Path | None, fetch: FetchFunc, config: Config, events: Events) -> Iterator[Runner]:
    """A runner of this process on a store of its own."""
    try:
        with Store.open(_store_url(file)) as store, Runner(store, fetch, config, log=events.log) as runner:
            yield runner
    except (StoreError, SubmitError) as error:
        raise Refused(str(error)) from error


@contextmanager
def _late_warnings(events: Events) -> Iterator[None]:
    """Say what the runner has warned of when nobody looked any more, such as at its closing."""
    try:
        yield
    finally:
        for event in events.left():
            if isinstance(event, Warned):
                warn(event.text)


def _store_url(file: Path | None) -> str | Path:
    if file is None:
        return _IN_MEMORY
    if _URL.match(str(file)):
        raise Refused(f"--store {shown(file)} is a URL; give the name of a file")
    if str(file) == _MEMORY:
        raise Refused(f"--store {_MEMORY} would keep nothing; give the name of a file, or leave --store out")
    if _is_special(file):
        raise Refused(f"--store {shown(file)} is a device, a pipe or a socket; name a regular file, or a new one")
    return file


def _is_special(file: Path) -> bool:
    """Whether it is there and neither a file nor a folder, of which the store itself says what is wrong."""
    try:
        mode = file.stat().st_mode
    except (OSError, ValueError):
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _checked_defaults(mode: str, grep: str) -> Options:
    options = Options(mode=mode, grep=grep)
    try:
        read_options(options)
    except TargetError as error:
        raise Refused(f"--mode or --grep: {error.msg}; {error.hint}") from error
    return options


def _check_files(inputs: Sequence[str], store: Path | None, out: Path | None) -> None:
    """Refuse one file in two roles, of which the second would destroy the first."""
    sources = files_among(inputs)
    written = {"--out": None if out == STANDARD_OUTPUT else out, "--store": store}
    for option, file in written.items():
        if file is not None and any(_is_same(file, source) for source in sources):
            raise Refused(f"{option} {shown(file)} is one of the inputs; name another file")
    if store is None:
        return
    if out is not None and _is_same(out, store):
        raise Refused(f"--out {shown(out)} is the store; name another file")
    parts = [Path(f"{os.path.realpath(store)}{ending}") for ending in _COMPANIONS]
    roles = [("input", source) for source in sources] + ([] if out is None else [("--out", out)])
    for role, file in roles:
        if any(_is_same(file, part) for part in parts):
            raise Refused(f"{role} {shown(file)} is a part of the store {shown(store)}; name another file")


def _is_same(one: Path, other: Path) -> bool:
    """Whether two names are one file's, which need not exist and may be one that no name can have."""
    if os.path.realpath(one) == os.path.realpath(other):
        return True
    with suppress(OSError, ValueError):
        return one.samefile(other)
    return False
