"""``plait batch run`` as a program of its own: streaming, signals, pipes and the terminal."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import sqlite3
import subprocess
import threading
from pathlib import Path
from typing import Final

import pytest
from typing_extensions import override

from examples.example_site import ExampleSite
from plait import Store
from tests.cli.program import PLAIT, lines_of, started

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
