"""``plait batch run`` within this process: its results, its options, its store and what it refuses."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from examples.example_site import ExampleSite
from plait import CallerBusy, Result, Runner, Store
from tests.cli.program import Ended, run_here

Run = Callable[..., Ended]


@pytest.fixture
def run(site: ExampleSite) -> Run:
    """Runs a batch that may fetch from the site."""

    def run_batch(*arguments: str | Path, stdin: bytes = b"") -> Ended:
        return run_here("batch", "run", "--allow", site.authority, *arguments, stdin=stdin)

    return run_batch


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "plait.db"


def refusal(ended: Ended) -> str:
    """The one line with which a command was refused."""
    (line,) = ended.err.splitlines()
    assert (ended.code, ended.out) == (2, "")
    return line.removeprefix("plait: ")


def newer(file: Path) -> None:
    """Make a store look like one of a later Plait."""
    Store.open(f"sqlite:///{file}").close()
    connection = sqlite3.connect(file)
    (table,) = connection.execute("SELECT name FROM sqlite_master WHERE name LIKE '%version%'").fetchone()
    connection.execute(f"UPDATE {table} SET version_num = '9999'")
    connection.commit()
    connection.close()


# --- results


def test_a_done_and_a_failed_target_print_their_lines_in_order_and_exit_1(run: Run, site: ExampleSite) -> None:
    urls = [site.url(path) for path in ("/notes.txt", "/gone.html", "/index.html")]
    ended = run(*urls)
    assert ended.code == 1
    assert [(r["idx"], r["url"], r["status"]) for r in ended.results] == [
        (0, urls[0], "done"),
        (1, urls[1], "failed"),
        (2, urls[2], "done"),
    ]
    assert ended.results[0]["result"]["content"].startswith("Warp ")
    assert ended.results[0]["result"]["meta"]["status"] == 200
    assert list(ended.results[1]) == ["idx", "url", "status", "error", "hint"]
    assert ended.results[1]["error"] == "the site answered HTTP 410"


def test_all_done_exits_0(run: Run, site: ExampleSite) -> None:
    assert run(site.url("/notes.txt")).code == 0


def test_a_busy_page_is_tried_again(run: Run, site: ExampleSite) -> None:
    ended = run(site.url("/guild.html"), "--retry-wait", "0.01")
    assert ended.code == 0
    assert site.requests == ["/guild.html"] * 3


def test_a_page_that_stays_busy_for_too_long_has_failed(run: Run, site: ExampleSite) -> None:
    ended = run(site.url("/status/503"), "--retry-wait", "0.01", "--retry-for", "0.02")
    assert ended.code == 1
    assert ended.results[0]["error"] == "the site is busy (HTTP 503)"


def test_a_target_that_takes_longer_than_the_timeout_has_failed(run: Run, site: ExampleSite) -> None:
    ended = run(site.url("/slow"), "--timeout", "0.05")
    assert ended.results[0]["error"] == "the site did not answer in time"


def test_a_page_larger_than_max_bytes_has_failed(run: Run, site: ExampleSite) -> None:
    assert run(site.url("/notes.txt"), "--max-bytes", "100").results[0]["status"] == "failed"


def test_mode_and_grep_are_for_targets_without_their_own(run: Run, site: ExampleSite) -> None:
    own = f'{{"url": "{site.url("/drafts.json")}", "options": {{"grep": "basket"}}}}'
    ended = run(site.url("/index.html"), "-", "--mode", "raw", "--grep", "<title>", stdin=own.encode())
    contents = [result["result"]["content"] for result in ended.results]
    assert "<title>" in contents[0]
    assert "basket weave" in contents[1]


def test_without_allow_a_private_address_is_not_reached(site: ExampleSite) -> None:
    ended = run_here("batch", "run", site.url("/notes.txt"))
    assert ended.code == 1
    assert site.requests == []


def test_the_environment_may_allow_hosts(site: ExampleSite, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLAIT_ALLOW", f"intranet.example, {site.authority} 10.0.0.0/8")
    assert run_here("batch", "run", site.url("/notes.txt")).code == 0


def test_more_targets_than_max_targets_are_refused(run: Run, site: ExampleSite) -> None:
    url = site.url("/notes.txt")
    assert "too many targets: more than 2;" in refusal(run(url, url, url, "--max-targets", "2"))
    assert run(url, url, "--max-targets", "2").code == 0


def test_more_targets_than_a_service_would_take_are_done(run: Run, site: ExampleSite) -> None:
    ended = run("-", stdin=f"{site.url('/notes.txt')}\n".encode() * 33)
    assert [result["idx"] for result in ended.results] == list(range(33))


# --- standard error


def test_plain_lines_tell_the_progress_and_hold_no_url(run: Run, site: ExampleSite) -> None:
    said = run(site.url("/notes.txt"), site.url("/gone.html")).err.splitlines()
    assert said[0].endswith(": 2 targets")
    assert said[1:] == [
        "plait: 1/2 done",
        "plait: 2/2 failed: the site answered HTTP 410",
        "plait: 1 done, 1 failed",
    ]
    assert site.authority not in said[0]


def test_quiet_says_nothing(run: Run, site: ExampleSite) -> None:
    assert run(site.url("/gone.html"), "--quiet").err == ""


# --- the file for the results


def test_out_takes_the_lines_and_drops_what_the_file_held(run: Run, site: ExampleSite, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    out.write_text("old\n" * 10_000)
    ended = run(site.url("/notes.txt"), "--out", out)
    assert (ended.code, ended.out) == (0, "")
    assert [result["status"] for result in Ended(0, out.read_text(), "").results] == ["done"]


def test_out_may_be_standard_output(run: Run, site: ExampleSite) -> None:
    assert len(run(site.url("/notes.txt"), "--out", "-").results) == 1


def test_an_out_that_cannot_be_written_is_refused(run: Run, site: ExampleSite, tmp_path: Path) -> None:
    url = site.url("/notes.txt")
    assert "cannot write --out" in refusal(run(url, "--out", tmp_path / "nowhere" / "out"))
    assert "Is a directory" in refusal(run(url, "--out", tmp_path))
    assert site.requests == []


@pytest.mark.parametrize("option", ["--out", "--store"])
def test_an_output_that_is_an_input_is_refused(run: Run, tmp_path: Path, option: str) -> None:
    source = tmp_path / "targets.txt"
    source.write_text("https://a.example/\n")
    link = tmp_path / "link"
    link.hardlink_to(source)
    for name in (source, link, tmp_path / "x" / ".." / "targets.txt"):
        assert "is one of the inputs; name another file" in refusal(run(source, option, name))
    assert source.read_text() == "https://a.example/\n"


def test_an_out_that_is_the_store_is_refused(run: Run, site: ExampleSite, file: Path) -> None:
    assert "is the store; name another file" in refusal(run(site.url("/"), "--out", file, "--store", file))
    assert not file.exists()


@pytest.mark.parametrize("ending", ["-wal", "-shm", "-journal", "-runner"])
def test_a_part_of_the_store_in_another_role_is_refused(
    run: Run, site: ExampleSite, file: Path, tmp_path: Path, ending: str
) -> None:
    url, link, alias = site.url("/notes.txt"), tmp_path / "link.db", tmp_path / "alias"
    part = tmp_path / f"plait.db{ending}"
    link.symlink_to(file)
    alias.symlink_to(part)
    for store, out in ((file, part), (link, part), (file, alias)):
        assert "is a part of the store" in refusal(run(url, "--store", store, "--out", out))
    part.write_text(f"{url}\n")
    assert "is a part of the store" in refusal(run(part, "--store", file))
    assert part.read_text() == f"{url}\n"
    assert not file.exists()
    assert site.requests == []


def test_a_name_that_no_file_can_have_is_refused(run: Run, site: ExampleSite, tmp_path: Path) -> None:
    loop, long = tmp_path / "loop", tmp_path / ("a" * 300)
    loop.symlink_to(loop)
    for name in (loop, long):
        assert "cannot write --out" in refusal(run(site.url("/"), "--out", name, "--store", tmp_path / "plait.db"))


# --- the store


def test_a_kept_job_is_reused_without_fetching(run: Run, site: ExampleSite, file: Path) -> None:
    arguments = [site.url("/notes.txt"), site.url("/gone.html"), "--store", file]
    first, second = run(*arguments), run(*arguments)
    assert (second.code, second.out) == (first.code, first.out) == (1, first.out)
    job = first.err.splitlines()[0].split()[2].removesuffix(":")
    assert f"job {job} was reused" in second.err.splitlines()[0]
    assert len(site.requests) == 2


def test_another_caller_or_other_options_make_another_job(run: Run, site: ExampleSite, file: Path) -> None:
    url = site.url("/notes.txt")
    for arguments in ([], ["--caller", "ann"], ["--grep", "loom"]):
        assert "reused" not in run(url, "--store", file, *arguments).err
    assert len(site.requests) == 3


def test_a_job_whose_process_died_is_done_anew(run: Run, site: ExampleSite, file: Path) -> None:
    url = site.url("/notes.txt")
    assert run(url, "--store", file).code == 0
    with sqlite3.connect(file) as connection:
        connection.execute("UPDATE plait_jobs SET status = 'running', finished_at = NULL")
    connection.close()
    assert [result["status"] for result in run(url, "--store", file).results] == ["done"]
    assert len(site.requests) == 2


def test_a_store_in_use_is_refused(run: Run, site: ExampleSite, file: Path) -> None:
    with Store.open(f"sqlite:///{file}") as store, Runner(store, lambda _c, _w, _t: Result("")):
        said = refusal(run(site.url("/notes.txt"), "--store", file))
    assert said.startswith("store 'plait.db' is in use by another process's runner")


def test_a_store_of_a_newer_version_is_refused(run: Run, site: ExampleSite, file: Path) -> None:
    newer(file)
    assert "was written by a newer Plait" in refusal(run(site.url("/notes.txt"), "--store", file))


def test_a_file_that_is_no_database_is_refused_and_kept(run: Run, site: ExampleSite, file: Path) -> None:
    file.write_text("my diary\n" * 1000)
    assert "it is no SQLite database" in refusal(run(site.url("/notes.txt"), "--store", file))
    assert file.read_text() == "my diary\n" * 1000


def test_a_store_that_cannot_be_a_file_is_refused(run: Run, site: ExampleSite, tmp_path: Path) -> None:
    url = site.url("/notes.txt")
    assert "it is a folder" in refusal(run(url, "--store", tmp_path))
    assert "does not exist" in refusal(run(url, "--store", tmp_path / "nowhere" / "plait.db"))
    assert "is a URL; give the name of a file" in refusal(run(url, "--store", "sqlite:///plait.db"))


def test_a_store_that_would_keep_nothing_is_refused(run: Run, site: ExampleSite, tmp_path: Path) -> None:
    url, pipe = site.url("/notes.txt"), tmp_path / "pipe"
    os.mkfifo(pipe)
    assert "would keep nothing; give the name of a file" in refusal(run(url, "--store", ":memory:"))
    for name in ("/dev/null", "/dev/full", pipe):
        assert "is a device, a pipe or a socket; name a regular file" in refusal(run(url, "--store", name))
    assert site.requests == []


def test_the_name_of_a_store_is_taken_as_it_is(run: Run, site: ExampleSite, tmp_path: Path) -> None:
    for name in (":memory:", "a b%20#ü?.db"):
        assert run(site.url("/notes.txt"), "--store", tmp_path / name).code == 0
        assert (tmp_path / name).is_file()


# --- refused: nothing is half done


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (["ftp://a.example/"], "neither http nor https"),
        (["nowhere.txt"], "neither a URL nor a file"),
        ([], "no targets"),
        (["https://a.example/", "--mode", "poem"], "the mode 'poem' is not supported"),
        (["https://a.example/", "--grep", "("], "the grep pattern is not valid"),
        (["https://a.example/", "--allow", "http://a/b"], "no host, host:port or network"),
        (["https://a.example/", "--caller", ""], "needs a name"),
        (["https://a.example/", "--caller", "a\nb"], "needs a name"),
        (["https://a.example/", "--caller", "a" * 2_000], "more than 1024; shorten it"),
        (["https://a.example/", "--retry-for", "soon"], "not a valid float"),
        (["https://a.example/", "--max-bytes", "0"], "not in the range"),
        (["https://a.example/", "--max-targets", "0"], "not in the range"),
        (["https://a.example/", "--tiemout", "1"], "No such option"),
    ],
)
def test_what_is_refused_leaves_store_and_out_alone(tmp_path: Path, arguments: list[str], fault: str) -> None:
    out = tmp_path / "out.jsonl"
    out.write_text("kept\n")
    said = refusal(run_here("batch", "run", "--store", tmp_path / "plait.db", "--out", out, *arguments))
    assert fault in said
    assert out.read_text() == "kept\n"
    assert list(tmp_path.iterdir()) == [out]


@pytest.mark.parametrize("option", ["--timeout", "--retry-wait", "--retry-for"])
@pytest.mark.parametrize("value", ["0", "-1", "nan", "inf", "-inf", "1e300", "1e19", "1e7", "1e-12", "1e-320"])
def test_seconds_that_cannot_be_waited_are_refused(option: str, value: str) -> None:
    said = refusal(run_here("batch", "run", "https://a.example/", option, value))
    assert said.startswith(f"Invalid value for '{option}'")
    assert "is not a number of seconds from 0.001 to 1000000; see plait batch run --help" in said


@pytest.mark.parametrize("option", ["--max-bytes", "--max-targets"])
@pytest.mark.parametrize("value", ["0", "-1", "nan", "inf", "1e3", "99999999999999999999", "9" * 5_000])
def test_counts_that_cannot_be_kept_are_refused(option: str, value: str) -> None:
    said = refusal(run_here("batch", "run", "https://a.example/", option, value))
    assert said.startswith(f"Invalid value for '{option}'")
    assert said.endswith("; see plait batch run --help")


@pytest.mark.parametrize(
    "ends", [("--timeout", "0.001", "1000000"), ("--max-bytes", "1", "1000000000"), ("--retry-for", "0.001", "1e6")]
)
def test_numbers_at_the_ends_of_what_is_taken_are_taken(
    run: Run, site: ExampleSite, ends: tuple[str, str, str]
) -> None:
    option, least, most = ends
    assert run(site.url("/notes.txt"), option, least).code in (0, 1)
    assert run(site.url("/notes.txt"), option, most).code == 0


def test_a_caller_whose_name_is_as_long_as_one_may_be_is_taken(run: Run, site: ExampleSite) -> None:
    assert run(site.url("/notes.txt"), "--caller", "a" * 1_024).code == 0


def test_a_job_that_the_runner_does_not_take_is_refused(
    run: Run, site: ExampleSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    def busy(*_arguments: object) -> None:
        raise CallerBusy("the caller has a live job already; wait for it")

    monkeypatch.setattr(Runner, "submit", busy)  # an embedded run's own job is the only one, so that none is live
    assert refusal(run(site.url("/notes.txt"))) == "the caller has a live job already; wait for it"


def test_a_refused_store_leaves_out_alone(run: Run, site: ExampleSite, tmp_path: Path) -> None:
    old, new = tmp_path / "old.jsonl", tmp_path / "new.jsonl"
    old.write_text("kept\n")
    for out in (old, new):
        refusal(run(site.url("/notes.txt"), "--store", tmp_path, "--out", out))
    assert list(tmp_path.iterdir()) == [old]
    assert old.read_text() == "kept\n"
