"""A small web site on the loopback interface, with pages that behave and some that do not.

Run it with ``python examples/example_site.py --port 8765``, or use it in a program::

    with ExampleSite() as site:
        print(site.url("/index.html"))
"""

from __future__ import annotations

import argparse
import gzip
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self
from urllib.parse import parse_qs, urlsplit

from typing_extensions import override

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

__all__ = ["ExampleSite"]

PAGES: Final = Path(__file__).parent / "site"
BUSY_ANSWERS: Final = 2
HUGE_BYTES: Final = 64 * 1024 * 1024
_TYPES: Final = {".html": "text/html; charset=utf-8", ".json": "application/json", ".txt": "text/plain; charset=utf-8"}


class ExampleSite:
    """A web site that is up while the block lasts.

    What it has:

    - the pages in ``examples/site``, such as ``/index.html`` and ``/drafts.json``;
    - ``/guild.html``: busy (503, ``Retry-After: 0``) exactly twice, then an ordinary page;
    - ``/gone.html``: 410;
    - ``/status/404`` and so on: that status;
    - ``/redirect?to=/twill.html``: a 302 to wherever ``to`` says;
    - ``/gzip``: the home page in the gzip coding;
    - ``/slow``: no answer until ``release()`` is called; ``slow_started`` is set when it was asked for;
    - ``/huge``: 64 MiB of text.

    Args:
        port: Where to listen; 0 for any free port.
    """

    def __init__(self, port: int = 0) -> None:
        self.slow_started = threading.Event()
        self._released = threading.Event()
        self._lock = threading.Lock()  # guards _requests and _busy_left
        self._requests: list[str] = []
        self._busy_left = BUSY_ANSWERS
        self._server = _Server(self, port)
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.05,), name="example-site", daemon=True
        )

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def authority(self) -> str:
        """Host and port, as an allow-list of the network policy takes them."""
        return f"127.0.0.1:{self._server.server_port}"

    @property
    def origin(self) -> str:
        """Where the site is, without a path."""
        return f"http://{self.authority}"

    @property
    def requests(self) -> list[str]:
        """The paths asked for so far, with their queries, in order."""
        with self._lock:
            return list(self._requests)

    def url(self, path: str) -> str:
        """The address of a page.

        Args:
            path: It begins with a slash.
        """
        return self.origin + path

    def release(self) -> None:
        """Let ``/slow`` answer, now and from now on."""
        self._released.set()

    def wait_for_release(self) -> None:
        """Hold a request for ``/slow``."""
        self.slow_started.set()
        self._released.wait()

    def note(self, path: str) -> None:
        """Remember a request."""
        with self._lock:
            self._requests.append(path)

    def is_busy(self) -> bool:
        """Whether ``/guild.html`` sends this visitor away."""
        with self._lock:
            self._busy_left -= 1
            return self._busy_left >= 0


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, site: ExampleSite, port: int) -> None:
        self.site = site
        super().__init__(("127.0.0.1", port), _Handler)

    @override
    def handle_error(self, request: object, client_address: object) -> None:
        """A visitor that hangs up in the middle is nothing to report."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    timeout = 30

    def do_GET(self) -> None:
        """Answer a request."""
        site = self.server.site
        site.note(self.path)
        parts = urlsplit(self.path)
        special: dict[str, Callable[[], None]] = {
            "/gone.html": lambda: self._answer(410, b"This page has been taken down for good.\n"),
            "/gzip": self._gzip,
            "/huge": self._huge,
            "/slow": self._slow,
            "/redirect": lambda: self._redirect(parse_qs(parts.query).get("to", ["/"])[0]),
        }
        if parts.path == "/guild.html" and site.is_busy():
            self._answer(503, b"Too many visitors.\n", retry_after="0")
        elif parts.path in special:
            special[parts.path]()
        elif parts.path.startswith("/status/"):
            self._answer(int(parts.path.removeprefix("/status/")), b"As you wish.\n")
        else:
            self._page(parts.path)

    def _page(self, path: str) -> None:
        name = "index.html" if path == "/" else path.removeprefix("/")
        found = next((page for page in PAGES.iterdir() if page.name == name), None)
        if found is None:
            self._answer(404, b"There is no such page.\n")
        else:
            self._answer(200, found.read_bytes(), content_type=_TYPES[found.suffix])

    def _gzip(self) -> None:
        body = gzip.compress((PAGES / "index.html").read_bytes())
        self._answer(200, body, content_type=_TYPES[".html"], content_encoding="gzip")

    def _huge(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.end_headers()
        line = b"over one, under one\n" * 4096
        for _ in range(HUGE_BYTES // len(line)):
            self.wfile.write(line)

    def _slow(self) -> None:
        self.server.site.wait_for_release()
        self._answer(200, b"Slowly, slowly.\n")

    def _redirect(self, location: str) -> None:
        self._answer(302, b"", location=location)

    def _answer(self, status: int, body: bytes, content_type: str = "text/plain", **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-").title(), value)
        self.end_headers()
        self.wfile.write(body)

    @override
    def log_message(self, format: str, *args: object) -> None:
        """The site keeps its requests for whoever asks, and prints nothing."""


def main() -> int:
    """Serve the site until the program is interrupted, or for as long as a command runs."""
    parser = argparse.ArgumentParser(description="Serve Plait's example site on the loopback interface.")
    parser.add_argument("--port", type=int, default=8765, help="where to listen (8765); 0 for any free port")
    parser.add_argument("command", nargs=argparse.REMAINDER, help="run this command, and end when it ends")
    arguments = parser.parse_args()
    try:
        return serve(arguments.port, arguments.command)
    except OSError as error:  # the port is taken, or there is no such command
        print(f"example_site: {error}", file=sys.stderr)
        return 2


def serve(port: int, command: list[str]) -> int:
    """Serve the site on a port while a command runs, or without one until an interrupt."""
    with ExampleSite(port) as site:
        if command:
            return subprocess.run(command, check=False).returncode  # noqa: S603 - the user's own command
        print(f"The example site is at {site.origin}/ (Ctrl-C ends it)", flush=True)
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            print("\nThe example site is closed.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
