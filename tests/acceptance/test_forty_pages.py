"""``plait batch run`` on forty pages of every kind: forty right lines, in their order."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from examples.example_site import ExampleSite

_PLAIT: Final = Path(sys.executable).parent / "plait"


class Page(NamedTuple):
    """A target and what must come of it: a part of the content, or of the error."""

    path: str
    status: str
    part: str
    options: Mapping[str, str] = MappingProxyType({})


_KINDS: Final = [
    Page("/index.html", "done", "# The Weaver's Notebook"),
    Page("/looms.html?n={n}", "done", "loom"),
    Page("/drafts.json", "done", '"name": "basket weave"'),
    Page("/gone.html", "failed", "HTTP 410"),
    Page("/notes.txt", "done", "Warp   the threads"),
    Page("/redirect?to=/twill.html", "done", "twill"),
    Page("/gzip", "done", "# The Weaver's Notebook"),
    Page("/status/404", "failed", "HTTP 404"),
    Page("/notes.txt", "done", "1:Warp", {"grep": "^Warp"}),
    Page("/index.html", "done", "<title>", {"mode": "raw"}),
    Page("/redirect?to=/redirect%3Fto=/gone.html", "failed", "HTTP 410"),
    Page("/status/500", "failed", "HTTP 500"),
    Page("/notes.txt", "failed", "is not supported", {"jq": "."}),
]
_ONCE: Final = {
    3: Page("/guild.html", "done", "guild's opening hours"),  # busy twice
    11: Page("/slow", "done", "Slowly, slowly."),  # no answer before the test has seen it asked for
    23: Page("/huge", "failed", "larger than"),
    31: Page("/redirect?to=http://10.0.0.1/", "failed", "not at a public address"),
}
_PAGES: Final = [_ONCE.get(number, _KINDS[number % len(_KINDS)]) for number in range(40)]


def line(site: ExampleSite, number: int, page: Page) -> str:
    """The target as a line of input: a bare URL where that says it all."""
    url = site.url(page.path.format(n=number))
    return json.dumps({"url": url, "options": dict(page.options)}) if page.options else url


def text_of(result: dict[str, Any]) -> str:
    return str(result["result"]["content"] if result["status"] == "done" else result["error"])


def test_forty_pages_give_forty_right_lines_in_order(tmp_path: Path) -> None:
    with ExampleSite() as site:
        targets = tmp_path / "targets.txt"
        targets.write_text("".join(f"{line(site, *numbered)}\n" for numbered in enumerate(_PAGES)))
        command: list[str | Path] = [_PLAIT, "batch", "run", targets, "--allow", site.authority, "--retry-wait", "0.05"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        with process:
            assert site.slow_started.wait(60)
            site.release()
            out, said = process.communicate(timeout=60)
        requests = site.requests
    results = [json.loads(each) for each in out.splitlines()]
    assert [result["idx"] for result in results] == list(range(40))
    assert [result["status"] for result in results] == [page.status for page in _PAGES]
    wrong = [
        (page, text_of(result)[:200])
        for page, result in zip(_PAGES, results, strict=True)
        if page.part not in text_of(result)
    ]
    assert wrong == []
    assert all(result["hint"] for result in results if result["status"] == "failed")
    assert process.returncode == 1
    failed = sum(page.status == "failed" for page in _PAGES)
    assert said.splitlines()[-1] == f"plait: {40 - failed} done, {failed} failed"
    assert requests.count("/guild.html") == 3
