"""``plait star run`` and ``plait star check``: values, output, errors, limits and what a script may load."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import pytest

from tests.cli.program import Ended, run_here, started

_GREETING: Final = 'def greet(name, mark = "!"):\n    print("greeting", name)\n    return "hello " + name + mark\n'
_BROKEN: Final = "def f(x):\n    return x // 0\n\ndef g():\n    return f(1)\n"


def script(folder: Path, source: str, name: str = "main.star") -> Path:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(source)
    return file


def called(folder: Path, source: str, function: str, *arguments: str) -> Ended:
    return run_here("star", "run", script(folder, source), "--call", function, *arguments)


def test_a_group_without_a_command_shows_its_help() -> None:
    assert run_here("star") == run_here("star", "--help")
    assert "check  Find the errors of Starlark scripts" in run_here("star").out
    assert "star   Run and check Starlark scripts." in run_here().out


def test_what_a_script_prints_goes_to_standard_output(tmp_path: Path) -> None:
    file = script(tmp_path, 'print("warp", [1, None, True])\nprint("é\\n\U0001f9f6")\n')
    assert run_here("star", "run", file) == (0, "warp [1, None, True]\né\n\U0001f9f6\n", "")


def test_with_a_call_standard_output_is_for_the_value_alone(tmp_path: Path) -> None:
    ended = called(tmp_path, _GREETING, "greet", "--args", '["weft"]')
    assert ended == (0, '"hello weft!"\n', "greeting weft\n")


def test_an_object_is_for_keyword_arguments(tmp_path: Path) -> None:
    ended = called(tmp_path, _GREETING, "greet", "--args", '{"mark": "?", "name": "weft"}')
    assert (ended.code, ended.out) == (0, '"hello weft?"\n')


@pytest.mark.parametrize(
    ("expression", "shown"),
    [
        ("None", "null"),
        ("True", "true"),
        ('{"b": [1, 2.5, "é"], "a": (True, None)}', '{"a":[true,null],"b":[1,2.5,"é"]}'),
        ("struct(x = 1)", '{"x":1}'),
        ("1 << 70", "1180591620717411303424"),
        ("json.decode('[1, {}]')", "[1,{}]"),
        ("math.floor(2.5)", "2"),
        ("str(time.parse_duration('90s'))", '"1m30s"'),
        ("len", "<built-in function len>"),
        ("{1: 2}", "{1: 2}"),
        ("float('nan')", "nan"),
        ("b'a'", 'b"a"'),
    ],
)
def test_a_value_is_shown_as_json_or_else_as_starlark(tmp_path: Path, expression: str, shown: str) -> None:
    ended = called(tmp_path, f"def f():\n    return {expression}\n", "f")
    assert ended == (0, f"{shown}\n", "")


def test_an_error_shows_its_place_and_the_calls_under_way(tmp_path: Path) -> None:
    file = script(tmp_path, _BROKEN)
    ended = run_here("star", "run", file, "--call", "g")
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.splitlines() == [
        "Traceback (most recent call last):",
        f"  {file}:5:13: in g",
        f"  {file}:2:14: in f",
        f"plait: {file}:2:14: floored division by zero",
    ]


def test_all_errors_of_a_script_that_does_not_compile_are_shown(tmp_path: Path) -> None:
    file = script(tmp_path, "print('no')\nx = nope\ny = nada\n")
    code, out, err = run_here("star", "run", file)
    assert (code, out) == (1, "")
    assert err.splitlines() == [f"plait: {file}:2:5: undefined: nope", f"plait: {file}:3:5: undefined: nada"]


def test_a_script_that_prints_before_it_fails_has_printed(tmp_path: Path) -> None:
    code, out, err = run_here("star", "run", script(tmp_path, "print('warp')\nfail('torn')\n"))
    assert (code, out) == (1, "warp\n")
    assert err.endswith("fail: torn\n")


def test_an_error_cannot_steer_the_terminal(tmp_path: Path) -> None:
    ended = run_here("star", "run", script(tmp_path, r'fail("a\x1b[2Jb\nplait: all is well")'))
    assert ended.code == 1
    assert "\x1b" not in ended.err
    assert not any(line.startswith("plait: all is well") for line in ended.err.splitlines())


def test_a_script_is_stopped_after_its_steps(tmp_path: Path) -> None:
    source = "def f():\n    for i in range(1000000):\n        pass\n"
    code, out, err = called(tmp_path, source, "f", "--max-steps", "1000")
    assert (code, out) == (1, "")
    assert "too many steps (the limit is 1000); --max-steps gives it more" in err
    assert called(tmp_path, source, "f", "--max-steps", "100000000") == (0, "null\n", "")


def test_a_script_is_stopped_after_its_time(tmp_path: Path) -> None:
    file = script(tmp_path, "def f():\n    for i in range(1 << 60):\n        pass\n")
    ended = run_here("star", "run", file, "--call", "f", "--max-steps", "1000000000000", "--timeout", "0.05")
    assert ended == (1, "", f"plait: {file} was stopped after 0.05 seconds; --timeout gives it longer\n")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--args", "[1]"], "--args needs --call: name the function that the arguments are for"),
        (["--call", "nope"], "{file} has no function nope; it has greet"),
        (["--call", "x"], "{file} has no function x; it has greet"),
        (["--call", "greet", "--args", "[1"], "--args is not JSON: json.decode: "),
        (["--call", "greet", "--args", "1"], "--args is neither an array nor an object; "),
        (["--call", "greet", "--timeout", "nan"], "Invalid value for '--timeout': nan is not a number of seconds"),
        (["--call", "greet", "--max-steps", "0"], "Invalid value for '--max-steps': 0 is not in the range"),
    ],
)
def test_a_wrong_use_is_one_line(tmp_path: Path, arguments: list[str], line: str) -> None:
    file = script(tmp_path, f"x = 1\n{_GREETING}")
    code, out, err = run_here("star", "run", file, *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"plait: {line.format(file=file)}")


@pytest.mark.parametrize("arguments", ["[]", "[1]", '["a", "b", "c"]', '{"nam": "a"}', '{"name": "a", "x": 1}'])
def test_arguments_that_do_not_fit_are_the_scripts_error(tmp_path: Path, arguments: str) -> None:
    code, out, err = called(tmp_path, _GREETING, "greet", "--args", arguments)
    assert (code, out) == (1, "")
    assert err.splitlines()[-1].startswith("plait: ")


def _folder(folder: Path) -> Path:
    return folder


def _missing(folder: Path) -> Path:
    return folder / "nowhere.star"


def _circle(folder: Path) -> Path:
    file = folder / "circle.star"
    file.symlink_to("circle.star")
    return file


def _latin(folder: Path) -> Path:
    file = folder / "latin.star"
    file.write_bytes(b"x = 1\ny = '\xe9'\n")
    return file


def _long(folder: Path) -> Path:
    return script(folder, "#" * 2_000_000)


@pytest.mark.parametrize("make", [_folder, _missing, _circle, _latin, _long])
@pytest.mark.parametrize("verb", ["run", "check"])
def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path, make: Callable[[Path], Path], verb: str) -> None:
    code, out, err = run_here("star", verb, make(tmp_path))
    assert (code, out) == (2, "")
    assert str(tmp_path) in err.splitlines()[0]


# load


def loaded(folder: Path, files: Mapping[str, str], source: str) -> Ended:
    for name, content in files.items():
        script(folder, content, name)
    return run_here("star", "run", script(folder, source))


def test_a_script_loads_files_of_its_folder(tmp_path: Path) -> None:
    files = {
        "yarn.star": 'load("sub/dye.star", "dye")\ndef yarn():\n    return dye + " yarn"\n',
        "sub/dye.star": 'print("dyeing")\ndye = "red"\n',
    }
    source = 'load("yarn.star", "yarn")\nload("sub/dye.star", d = "dye")\nprint(yarn(), d)\n'
    assert loaded(tmp_path, files, source) == (0, "dyeing\nred yarn red\n", "")


@pytest.mark.parametrize(
    "name",
    ["../secret.star", "sub/../../secret.star", "link.star", "linked/secret.star", "{outside}/secret.star", ".."],
)
def test_a_script_loads_nothing_from_outside(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "inside"
    script(tmp_path, "secret = 1\n", "secret.star")
    (folder / "sub").mkdir(parents=True)
    (folder / "link.star").symlink_to(tmp_path / "secret.star")
    (folder / "linked").symlink_to(tmp_path)
    name = name.format(outside=tmp_path)
    ended = loaded(folder, {}, f'load("{name}", "secret")\nprint(secret)\n')
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.endswith(f"cannot load {name}: it is outside the script's folder\n")


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("nowhere.star", "there is no such file in the script's folder"),
        ("sub", "there is no such file in the script's folder"),
        (".", "there is no such file in the script's folder"),
        ("pipe", "there is no such file in the script's folder"),
        ("a\\0b", "no file can have this name"),
        ("x" * 5_000, "no file can have this name"),
        ("circle", "no file can have this name"),
        ("main.star", "cycle in load graph"),
        ("a.star", "cycle in load graph"),
        ("broken.star", "{folder}/broken.star:2:14: floored division by zero"),
        ("unfinished.star", "{folder}/unfinished.star:1:9: "),
        ("latin.star", "this is not UTF-8 text"),
    ],
)
def test_a_module_that_cannot_be_loaded_is_the_scripts_error(tmp_path: Path, name: str, fault: str) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "circle").symlink_to("circle")
    os.mkfifo(tmp_path / "pipe")
    _latin(tmp_path)
    files = {
        "a.star": 'load("b.star", "x")\n',
        "b.star": 'load("a.star", "x")\n',
        "broken.star": _BROKEN + "x = g()\n",
        "unfinished.star": "x = (1 +",
    }
    ended = loaded(tmp_path, files, f'load("{name}", "x")\n')
    assert (ended.code, ended.out) == (1, "")
    assert fault.format(folder=tmp_path) in ended.err
    assert ended.err.startswith(f"Traceback (most recent call last):\n  {tmp_path / 'main.star'}:1:")


def test_an_error_in_a_module_shows_the_calls_in_it(tmp_path: Path) -> None:
    files = {"yarn.star": 'load("dye.star", "x")\n', "dye.star": _BROKEN + "x = g()\n"}
    code, out, err = loaded(tmp_path, files, 'print("warp")\nload("yarn.star", "x")\n')
    fault = f"{tmp_path}/dye.star:2:14: floored division by zero"
    assert (code, out) == (1, "warp\n")
    assert err.splitlines() == [
        "Traceback (most recent call last):",
        f"  {tmp_path}/main.star:2:1: in <toplevel>",
        f"  {tmp_path}/yarn.star:1:1: in <toplevel>",
        f"  {tmp_path}/dye.star:6:6: in <toplevel>",
        f"  {tmp_path}/dye.star:5:13: in g",
        f"  {tmp_path}/dye.star:2:14: in f",
        f"plait: {tmp_path}/main.star:2:1: cannot load yarn.star: "
        f"{tmp_path}/yarn.star:1:1: cannot load dye.star: {fault}",
    ]


def test_all_errors_of_a_module_that_does_not_compile_are_shown(tmp_path: Path) -> None:
    ended = loaded(tmp_path, {"yarn.star": "x = nope + nada\n"}, 'load("yarn.star", "x")\n')
    assert ended.code == 1
    assert ended.err.splitlines()[-2:] == [
        f"plait: {tmp_path}/yarn.star:1:5: undefined: nope",
        f"plait: {tmp_path}/yarn.star:1:12: undefined: nada",
    ]


def test_a_long_chain_of_modules_is_refused(tmp_path: Path) -> None:
    files = {f"m{i}.star": f'load("m{i + 1}.star", "x")\n' for i in range(500)} | {"m500.star": "x = 1\n"}
    ended = loaded(tmp_path, files, 'load("m0.star", "x")\n')
    assert (ended.code, ended.out) == (1, "")
    assert "more than 50 modules load one another" in ended.err


def test_modules_share_the_steps_of_the_script(tmp_path: Path) -> None:
    script(tmp_path, "x = len([i for i in range(500)])\n", "a.star")
    script(tmp_path, "x = len([i for i in range(500)])\n", "b.star")
    file = script(tmp_path, 'load("a.star", "x")\nload("b.star", y = "x")\nprint(x + y)\n')
    steps = next(n for n in range(400, 10_000, 200) if run_here("star", "run", file, "--max-steps", str(n)).code == 0)
    assert steps > 1_000
    assert "the limit is 400" in run_here("star", "run", file, "--max-steps", "400").err


# check


def test_check_shows_the_errors_of_all_files(tmp_path: Path) -> None:
    good = script(tmp_path, _GREETING, "good.star")
    bad = script(tmp_path, "x = nope\ndef f():\n    return nada\n", "bad.star")
    worse = script(tmp_path, "x = (1 +\n", "worse.star")
    code, out, err = run_here("star", "check", good, bad, worse)
    lines = out.splitlines()
    assert code == 1
    assert lines[:2] == [f"{bad}:1:5: undefined: nope", f"{bad}:3:12: undefined: nada"]
    assert [line.startswith(f"{worse}:") for line in lines[2:]] == [True]
    assert err == "plait: 3 errors in 2 of 3 files\n"


def test_check_runs_nothing(tmp_path: Path) -> None:
    file = script(tmp_path, "print('it runs')\nfail('it fails')\nload('nowhere.star', 'x')\n")
    assert run_here("star", "check", file) == (0, "", "plait: no errors in 1 file\n")


def test_check_goes_on_after_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    bad = script(tmp_path, "x = nope\n", "bad.star")
    code, out, err = run_here("star", "check", tmp_path / "nowhere.star", bad)
    assert (code, out) == (2, f"{bad}:1:5: undefined: nope\n")
    assert err.splitlines()[-1] == "plait: 1 error in 1 of 1 file; 1 more could not be read"


def test_check_needs_a_file() -> None:
    code, out, err = run_here("star", "check")
    assert (code, out, err.count("\n")) == (2, "", 1)


# As a program


def test_whoever_stops_to_read_ends_the_script(tmp_path: Path) -> None:
    file = script(tmp_path, "def f():\n    for i in range(1 << 40):\n        print(i)\nf()\n")
    with started("star", "run", file, "--max-steps", "1000000000000") as program:
        assert program.stdout.readline() == b"0\n"
        program.stdout.close()
        assert program.process.wait(60) == 141
        assert program.stderr.read() == b""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device here")
def test_an_output_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    file = script(tmp_path, "def f():\n    for i in range(1 << 40):\n        print(i)\nf()\n")
    plait = [sys.executable, "-c", "from plait.cli import main; raise SystemExit(main())"]
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*plait, "star", "run", file], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60, check=False
        )
    assert done.returncode == 2
    assert done.stderr.startswith("plait: cannot write to standard output: ")
    assert done.stderr.count("\n") == 1


def test_a_script_loads_neither_the_jobs_nor_the_web(tmp_path: Path) -> None:
    file = script(tmp_path, "print('warp')\n")
    program = (
        "import sys, json\nfrom plait.cli import main\n"
        f"main(['star', 'run', {str(file)!r}])\nprint(json.dumps(list(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    loaded_modules = set(json.loads(done.stderr.splitlines()[-1]))
    assert {
        name for name in loaded_modules if name.split(".")[0] in {"sqlalchemy", "rich", "msgspec", "httpcore"}
    } == set()
    assert "plait.jobs" not in loaded_modules
