"""A server on the loopback interface that answers with any bytes, so that tests can send what no server should."""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from types import TracebackType

__all__ = ["Answer", "RawServer", "plain"]

Answer = Callable[[socket.socket, str], None]
"""Sends what it likes on a connection, given the head of the request."""


def plain(body: bytes, *headers: str, status: str = "200 OK") -> bytes:
    """A well-formed response."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


class RawServer:
    """Runs ``answer`` for every connection, each in a thread of its own; ``heads`` are the requests seen."""

    def __init__(self, answer: Answer | bytes, tls: ssl.SSLContext | None = None) -> None:
        self._answer = answer if callable(answer) else (lambda sock, _head: sock.sendall(answer))
        self._tls = tls
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._connections: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self.port: int = self._listener.getsockname()[1]
        self.heads: list[str] = []
        self.closing = threading.Event()

    def __enter__(self) -> Self:
        self._threads[0].start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.closing.set()
        for sock in [self._listener, *self._connections]:
            with contextlib.suppress(OSError):
                socket.socket.shutdown(sock, socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()
        self._listener.close()

    @property
    def authority(self) -> str:
        return f"127.0.0.1:{self.port}"

    def url(self, path: str = "/", host: str = "127.0.0.1", scheme: str = "http") -> str:
        return f"{scheme}://{host}:{self.port}{path}"

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                sock, _ = self._listener.accept()
                self._connections.append(sock)
                thread = threading.Thread(target=self._serve, args=(sock,), daemon=True)
                self._threads.append(thread)
                thread.start()

    def _serve(self, sock: socket.socket) -> None:
        with contextlib.suppress(OSError, ValueError), contextlib.ExitStack() as stack:
            stack.enter_context(sock)
            if self._tls is not None:
                sock = stack.enter_context(self._tls.wrap_socket(sock, server_side=True))
                self._connections.append(sock)
            head = _read_head(sock)
            self.heads.append(head)
            self._answer(sock, head)


def _read_head(sock: socket.socket) -> str:
    head = b""
    while b"\r\n\r\n" not in head:
        data = sock.recv(4096)
        if not data:
            break
        head += data
    return head.decode("latin-1")
