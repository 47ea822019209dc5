"""``plait batch run`` as a program of its own: streaming, signals, pipes and the terminal."""

from __future__ import annotations

import json
import os
import pty
import re
import resource
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest
from typing_extensions import override

from examples.example_site import ExampleSite
from plait import Store
from tests.cli.program import PLAIT, Program, lines_of, started

_SECONDS: Final = 60
_SIGINT: Final = signal.SIGINT
_SIGTERM: Final = signal.SIGTERM


def arguments(site: ExampleSite, *paths: str) -> list[str]:
    return ["batch", "run", "--allow", site.authority, *(site.url(path) for path in paths)]


def wait_until_slow(site: ExampleSite) -> None:
    assert site.slow_started.wait(_SECONDS), "nobody has asked for /slow"


def statuses(out: str) -> list[str]:
    return [result["status"] for result in lines_of(out)]


def test_a_line_is_printed_as_soon_as_its_target_is_stored(site: ExampleSite) -> None:
    with started(*arguments(site, "/notes.txt", "/slow", "/index.html")) as program:
        wait_until_slow(site)
        first = json.loads(program.stdout.readline())  # while the second is in flight
        assert not site.requests[2:]
        site.release()
        ended = program.end()
    assert (first["idx"], first["status"]) == (0, "done")
    assert (ended.code, statuses(ended.out)) == (0, ["done", "done"])


@pytest.mark.parametrize(("number", "code"), [(_SIGINT, 130), (_SIGTERM, 143)])
def test_a_signal_waits_for_the_target_in_flight(
    site: ExampleSite, tmp_path: Path, number: signal.Signals, code: int
) -> None:
    file = tmp_path / "plait.db"
    with started(*arguments(site, "/notes.txt", "/slow", "/index.html", "/gone.html"), "--store", file) as program:
        wait_until_slow(site)
        program.signal(number)
        program.wait_for_line("waiting for the target in flight")
        site.release()
        ended = program.end()
    assert ended.code == code
    assert statuses(ended.out) == ["done", "done", "pending", "pending"]
    assert ended.err == "plait: 2 done, 2 pending\n"
    assert site.requests == ["/notes.txt", "/slow"]
    assert status_of_only_job(file) == "cancelled"


def status_of_only_job(file: Path) -> str:
    with Store.open(f"sqlite:///{file}") as store:
        job_id = only_job_id(file)
        status = store.status(job_id)
        assert status is not None
        return status.job.status


def only_job_id(file: Path) -> str:
    connection = sqlite3.connect(file)
    ((job_id,),) = connection.execute("SELECT id FROM plait_jobs").fetchall()
    connection.close()
    return str(job_id)


def test_a_second_signal_cuts_the_target_in_flight_short(site: ExampleSite) -> None:
    with started(*arguments(site, "/notes.txt", "/slow", "/index.html")) as program:
        wait_until_slow(site)
        program.signal(_SIGINT)
        program.wait_for_line("waiting for the target in flight")
        program.signal(_SIGINT)
        ended = program.end()  # the site is not released
    assert ended.code == 130
    assert statuses(ended.out) == ["done", "pending", "pending"]


class BusySite(ExampleSite):
    """Says when somebody is sent away."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = threading.Event()

    @override
    def note(self, path: str) -> None:
        super().note(path)
        if path == "/status/503":
            self.asked.set()


def test_a_signal_while_a_busy_target_waits_does_not_wait_for_it() -> None:
    with (
        BusySite() as site,
        started(*arguments(site, "/notes.txt", "/status/503"), "--retry-wait", "600") as program,
    ):
        assert site.asked.wait(_SECONDS)
        program.signal(_SIGINT)
        ended = program.end()
    assert (ended.code, statuses(ended.out)) == (130, ["done", "pending"])


def test_a_signal_while_standard_input_is_read_is_one_word() -> None:
    with subprocess.Popen(
        [PLAIT, "batch", "run", "-", "--max-targets", "1"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None
        process.stdin.write(b"#" * 1_000_000)  # more than a pipe holds: it is being read once this is through
        process.stdin.flush()
        process.send_signal(_SIGINT)
        out, said = process.communicate(timeout=_SECONDS)
    assert (process.returncode, out, said.strip()) == (130, b"", b"plait: interrupted")


def test_a_job_that_a_signal_ended_is_done_anew(site: ExampleSite, tmp_path: Path) -> None:
    command = [*arguments(site, "/slow", "/notes.txt"), "--store", str(tmp_path / "plait.db")]
    with started(*command) as program:
        wait_until_slow(site)
        program.signal(_SIGTERM)
        program.wait_for_line("waiting")
        program.signal(_SIGTERM)
        assert program.end().code == 143
    site.release()
    with started(*command) as program:
        ended = program.end()
    assert (ended.code, statuses(ended.out)) == (0, ["done", "done"])


def test_a_reader_that_goes_away_ends_the_run_quietly(site: ExampleSite, tmp_path: Path) -> None:
    file = tmp_path / "plait.db"
    pages = ["/notes.txt", "/slow", "/status/503"]  # so that the job cannot end by itself
    with started(*arguments(site, *pages), "--store", file, "--quiet") as program:
        program.stdout.readline()
        wait_until_slow(site)
        program.stdout.close()
        site.release()
        said = program.stderr.read()
        assert program.process.wait(_SECONDS) == 141
    assert said == b""
    assert status_of_only_job(file) == "cancelled"


def test_a_full_disk_ends_the_run_with_one_line(site: ExampleSite) -> None:
    with open("/dev/full", "wb") as full:  # noqa: PTH123 - a device is no path to anything
        done = subprocess.run(
            [PLAIT, *arguments(site, "/notes.txt"), "--quiet"],
            stdout=full,
            stderr=subprocess.PIPE,
            timeout=_SECONDS,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr == (
        b"plait: cannot write the results to standard output: No space left on device; name another file with --out\n"
    )


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["batch"], ["batch", "run", "-h"]])
def test_a_help_that_cannot_be_written_is_one_line(arguments: list[str], unbuffered: str) -> None:
    environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    with open("/dev/full", "wb") as full:  # noqa: PTH123 - a device is no path to anything
        done = subprocess.run(
            [PLAIT, *arguments], stdout=full, stderr=subprocess.PIPE, env=environment, timeout=_SECONDS, check=False
        )
    assert done.returncode == 2
    assert done.stderr == (
        b"plait: cannot write to standard output: No space left on device; lead it to where it can be written\n"
    )


def test_a_help_that_nobody_reads_ends_quietly() -> None:
    ours, theirs = os.pipe()
    os.close(ours)
    done = subprocess.run([PLAIT, "--help"], stdout=theirs, stderr=subprocess.PIPE, timeout=_SECONDS, check=False)
    os.close(theirs)
    assert (done.returncode, done.stderr) == (141, b"")


# --- a store that fails


@contextmanager
def failing_store(site: ExampleSite, file: Path) -> Iterator[Program]:
    """A quiet run whose disk takes nothing any more, after it has said so; the soft limit can be raised again."""
    with started(*arguments(site, "/slow", "/notes.txt"), "--store", file, "--quiet") as program:
        wait_until_slow(site)
        _unlimited, hard = resource.prlimit(program.process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(program.process.pid, resource.RLIMIT_FSIZE, (0, hard))
        site.release()
        program.wait_for_line("plait: warning: job ")
        yield program


def test_a_quiet_run_still_says_that_its_store_fails(site: ExampleSite, tmp_path: Path) -> None:
    with failing_store(site, tmp_path / "plait.db") as program:
        _soft, hard = resource.prlimit(program.process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(program.process.pid, resource.RLIMIT_FSIZE, (hard, hard))
        ended = program.end()
    assert (ended.code, statuses(ended.out)) == (0, ["done", "done"])


def test_what_is_lost_at_the_end_of_a_run_is_said(site: ExampleSite, tmp_path: Path) -> None:
    with failing_store(site, tmp_path / "plait.db") as program:
        program.signal(_SIGTERM)
        ended = program.end()
    assert ended.code == 2
    assert "an outcome is lost at closing" in ended.err
    assert ended.err.splitlines()[-1].startswith("plait: cannot cancel the job in store 'plait.db': ")


# --- signals outside a run

_SIGNAL_WITHIN_AN_IMPORT: Final = """
import os, sys
moment, number = sys.argv[1], int(sys.argv[2])
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == moment:
            os.kill(os.getpid(), number)
sys.meta_path.insert(0, Finder())
"""
_SIGNAL_AT_A_CALL: Final = """
import os, sys
moment, number = sys.argv[1], int(sys.argv[2])
def notice(frame, event, argument):
    if f"{event} {frame.f_globals.get('__name__')}.{frame.f_code.co_name}" == moment:
        os.kill(os.getpid(), number)
sys.setprofile(notice)
"""
_SIGNAL_AT_EXIT: Final = """
import atexit, os, sys
atexit.register(os.kill, os.getpid(), int(sys.argv[2]))
"""
_RUN_IT: Final = """
sys.argv[:] = ["plait", *sys.argv[3:]]
from plait.cli import main
sys.exit(main())
"""


def interrupted(program: str, moment: str, number: signal.Signals, *arguments: str) -> tuple[int, str]:
    """Exit code and standard error of a process that sends itself a signal at some moment."""
    done = subprocess.run(
        [sys.executable, "-c", program + _RUN_IT, moment, str(int(number)), *arguments],
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )
    return done.returncode, done.stderr


@pytest.mark.parametrize(("number", "code"), [(_SIGINT, 130), (_SIGTERM, 143)])
@pytest.mark.parametrize(
    "module", ["importlib.util", "click", "plait.cli.app", "plait.cli.batch", "rich.progress", "lxml", "re2", "sqlite3"]
)
def test_a_signal_while_a_module_is_loaded_is_one_line(module: str, number: signal.Signals, code: int) -> None:
    ended = interrupted(_SIGNAL_WITHIN_AN_IMPORT, module, number, "batch", "run", "https://a.example/")
    assert ended == (code, "plait: interrupted\n")


@pytest.mark.parametrize(("number", "code"), [(_SIGINT, 130), (_SIGTERM, 143)])
@pytest.mark.parametrize(
    "moment",
    [
        "return plait.cli.errors.end_on_signals",
        "call plait.cli.app.run",
        "call plait.cli.batch._caller",
        "call plait.cli.targets.read_targets",
        "return plait.cli.batch._check_files",
        "call plait.cli.errors._ended_by",
        "call plait.cli.errors.say",
    ],
)
def test_a_signal_before_a_run_is_one_line(moment: str, number: signal.Signals, code: int, tmp_path: Path) -> None:
    file = str(tmp_path / "plait.db")
    ended = interrupted(
        _SIGNAL_AT_A_CALL, moment, number, "batch", "run", "https://a.example/", "--store", ":memory:", "--out", file
    )
    assert ended == (code, "plait: interrupted\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("number", "code"), [(_SIGINT, 130), (_SIGTERM, 143)])
@pytest.mark.parametrize(
    "moment", ["return plait.cli.events.restore", "return plait.cli.main", "call threading._shutdown"]
)
def test_a_signal_after_a_run_is_one_line(site: ExampleSite, moment: str, number: signal.Signals, code: int) -> None:
    ended = interrupted(_SIGNAL_AT_A_CALL, moment, number, *arguments(site, "/notes.txt"), "--quiet")
    assert ended == (code, "plait: interrupted\n")


@pytest.mark.parametrize(("number", "code"), [(_SIGINT, 130), (_SIGTERM, 143)])
def test_a_signal_at_the_very_end_is_one_line(number: signal.Signals, code: int) -> None:
    assert interrupted(_SIGNAL_AT_EXIT, "", number, "--version") == (code, "plait: interrupted\n")


def test_a_third_signal_ends_the_process(site: ExampleSite) -> None:
    program = "import sys\n"
    trap = "from plait.jobs import Runner\nimport os, signal\n" + (
        "Runner.close = lambda self: os.kill(os.getpid(), signal.SIGINT)\n"  # as one that does not come back
    )
    with subprocess.Popen(
        [sys.executable, "-c", program + trap + _RUN_IT, "", "", *arguments(site, "/slow"), "--quiet"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        wait_until_slow(site)
        process.send_signal(_SIGINT)
        process.send_signal(_SIGTERM)
        out, said = process.communicate(timeout=_SECONDS)
    assert (process.returncode, out, said) == (130, b"", b"plait: interrupted\n")


def test_a_signal_that_is_ignored_stays_ignored(site: ExampleSite) -> None:
    program = "import sys, signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n" + _SIGNAL_AT_A_CALL
    ended = interrupted(program, "call plait.cli.app.run", _SIGINT, *arguments(site, "/notes.txt"), "--quiet")
    assert ended == (0, "")


def test_a_closed_standard_error_is_not_written_to(tmp_path: Path) -> None:
    other = tmp_path / "other"
    program = f"import os, sys\nassert os.open({str(other)!r}, os.O_CREAT | os.O_WRONLY) == 2\n" + _SIGNAL_AT_A_CALL
    done = subprocess.run(
        ["sh", "-c", '"$0" -c "$@" 2>&-', sys.executable, program + _RUN_IT, "call plait.cli.app.run", "2", "--help"],
        capture_output=True,
        timeout=_SECONDS,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")
    assert other.read_bytes() == b""


@pytest.mark.parametrize(
    ("closed", "line"),
    [
        ("<&-", "standard input is closed; name a file instead of -"),
        (">&-", "standard output is closed; name a file with --out"),
    ],
)
def test_a_closed_stream_is_refused_with_a_line(site: ExampleSite, closed: str, line: str) -> None:
    source = "-" if closed == "<&-" else site.url("/notes.txt")
    done = subprocess.run(
        ["sh", "-c", f'"$0" batch run "$1" {closed}', PLAIT, source],
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"plait: {line}\n")


def test_a_store_in_another_process_is_refused(site: ExampleSite, tmp_path: Path) -> None:
    file = tmp_path / "plait.db"
    with started(*arguments(site, "/slow"), "--store", file) as first:
        wait_until_slow(site)
        with started(*arguments(site, "/notes.txt"), "--store", file) as second:
            ended = second.end()
        site.release()
        assert first.end().code == 0
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert "is in use by another process's runner" in ended.err


class Terminal:
    """A terminal of 100 columns that keeps what it is sent."""

    def __init__(self) -> None:
        self.ours, self.theirs = pty.openpty()

    def read_to_end(self) -> str:
        """All that is sent until nobody has the terminal open any more."""
        os.close(self.theirs)
        received = b""
        while chunk := self._chunk():
            received += chunk
        os.close(self.ours)
        return received.decode()

    def _chunk(self) -> bytes:
        try:
            return os.read(self.ours, 65536)
        except OSError:  # how Linux says that the other end is closed
            return b""


def on_terminal(site: ExampleSite, *paths: str, stdout: bool) -> tuple[int, bytes, str]:
    """Exit code, standard output and what a terminal saw of a run that has its standard error there."""
    terminal = Terminal()
    process = subprocess.Popen(
        [PLAIT, *arguments(site, *paths)],
        stdin=subprocess.DEVNULL,
        stdout=terminal.theirs if stdout else subprocess.PIPE,
        stderr=terminal.theirs,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "100"},
    )
    with process:
        seen = terminal.read_to_end()
        out = b"" if process.stdout is None else process.stdout.read()
    return process.returncode, out, seen


def test_a_terminal_shows_a_bar_and_standard_output_gets_the_bare_lines(site: ExampleSite) -> None:
    code, out, seen = on_terminal(site, "/notes.txt", "/gone.html", stdout=False)
    assert code == 1
    assert statuses(out.decode()) == ["done", "failed"]
    assert "\x1b[?25l" in seen  # the cursor is hidden while the bar is there
    assert "0/2" in seen
    assert "━" in seen
    assert site.url("/notes.txt") in seen
    assert seen.endswith("\x1b[2K")  # the bar is wiped away in the end
    assert "plait: 1 done, 1 failed\r\n" in seen


def test_lines_on_the_same_terminal_begin_on_a_line_of_their_own(site: ExampleSite) -> None:
    code, _out, seen = on_terminal(site, "/notes.txt", "/gone.html", stdout=True)
    assert code == 1
    wiped = re.findall(r"(?<=[\nK])(\{.*\})\r\n", seen)  # behind a line end, or ESC [2K that wipes the bar
    assert [json.loads(line)["status"] for line in wiped] == ["done", "failed"]


def test_a_dumb_terminal_gets_plain_lines(site: ExampleSite) -> None:
    terminal = Terminal()
    process = subprocess.Popen(
        [PLAIT, *arguments(site, "/notes.txt")],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=terminal.theirs,
        env={**os.environ, "TERM": "dumb"},
    )
    with process:
        seen = terminal.read_to_end()
    assert seen.splitlines()[1:] == ["plait: 1/1 done", "plait: 1 done"]
