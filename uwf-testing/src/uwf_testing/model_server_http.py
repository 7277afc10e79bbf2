"""HTTP for the scripted model server: complete requests, answers with scripted failures."""

import contextlib
import os
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple

from uwf_testing.model_server_record import ModelReply, ModelRequest, parsed
from uwf_testing.model_server_script import ModelTurn

_PIECE_BYTES = 64 * 1024


class Answer(NamedTuple):
    """A reply, with the delays, drops and hangs of `turn`."""

    reply: ModelReply
    turn: ModelTurn = ModelTurn()


Answering = Callable[[ModelRequest], Answer]


class ModelHttpServer(ThreadingHTTPServer):
    """A server on 127.0.0.1, a thread for each connection; `closing` ends whatever waits."""

    daemon_threads = True  # a forgotten close does not keep the process alive
    request_queue_size = 64

    def __init__(self, port: int, answering: Answering) -> None:
        self.answering = answering
        self.closing = threading.Event()
        self.faults: list[BaseException] = []
        self._open: set[socket.socket] = set()
        self._workers: list[threading.Thread] = []
        self._lock = threading.Lock()
        super().__init__(("127.0.0.1", port), _Handler)

    def process_request(self, request: object, client_address: object) -> None:
        """As the parent; records the thread, so that `close` can wait for it."""
        thread = threading.Thread(
            target=self.process_request_thread, args=(request, client_address), daemon=True
        )
        self._workers.append(thread)
        thread.start()

    def get_request(self) -> tuple[socket.socket, tuple[str, int]]:
        """As the parent; records the connection, so that it can be closed."""
        connection, address = super().get_request()
        with self._lock:
            self._open.add(connection)
        return connection, address

    def shutdown_request(self, request: "socket.socket | tuple[bytes, socket.socket]") -> None:
        """As the parent; removes the connection."""
        with self._lock:
            self._open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore a closed connection; record any other error for `close`."""
        import sys

        fault = sys.exc_info()[1]
        if fault is not None and not isinstance(fault, OSError):
            self.faults.append(fault)

    def close(self) -> None:
        """End every connection and thread; safe to call twice."""
        self.closing.set()
        self.shutdown()
        with self._lock:
            still_open = list(self._open)
        for connection in still_open:
            with contextlib.suppress(OSError):  # it is closed already
                connection.shutdown(socket.SHUT_RDWR)
        self.server_close()
        for thread in self._workers:
            thread.join()


class _Handler(BaseHTTPRequestHandler):
    """One connection, kept alive as HTTP/1.1 has it."""

    server: ModelHttpServer
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server_version = "uwf-scripted-model"

    def do_POST(self) -> None:
        """Handle any request by its path."""
        raw = self._body()
        request = ModelRequest(
            method=self.command,
            path=self.path,
            headers={name.lower(): text for name, text in self.headers.items()},
            raw=raw,
            body=parsed(raw),
        )
        self._send(self.server.answering(request))

    do_GET = do_HEAD = do_PUT = do_DELETE = do_PATCH = do_OPTIONS = do_POST  # noqa: N815

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing: the records have the requests."""

    def _body(self) -> bytes:
        if "chunked" in self.headers.get("transfer-encoding", "").lower():
            return b"".join(self._chunks())
        return self.rfile.read(int(self.headers.get("content-length", 0)))

    def _chunks(self) -> Iterator[bytes]:
        while size := int(self.rfile.readline().split(b";")[0] or b"0", 16):
            yield self.rfile.read(size)
            self.rfile.readline()
        while self.rfile.readline().strip():
            continue  # trailers, which nobody sends

    def _send(self, answer: Answer) -> None:
        turn = answer.turn
        if turn.delay_ms and self.server.closing.wait(turn.delay_ms / 1000):
            return self._drop()
        if turn.drop == "start" or turn.hang == "start":
            return self._stop(turn)
        reply = _first_half_of(answer.reply) if turn.drop == "quiet" else answer.reply
        self._head(reply)
        if turn.drop == "headers" or turn.hang == "headers":
            return self._stop(turn)
        if self.command != "HEAD":
            body = _on_the_wire(reply)
            cut = turn.drop in ("middle", "reset") or turn.hang == "middle"
            self._write(_first_half(body) if cut else body, turn)
            if cut:
                self._stop(turn)
        return None

    def _head(self, reply: ModelReply) -> None:
        self.send_response(reply.status)
        self.send_header("Content-Type", reply.content_type)
        for name, text in reply.headers.items():
            self.send_header(name, text)
        if reply.streamed:
            self.send_header("Transfer-Encoding", "chunked")
        elif "Content-Length" not in reply.headers:
            self.send_header("Content-Length", str(sum(map(len, reply.parts))))
        self.end_headers()

    def _write(self, body: tuple[bytes, ...], turn: ModelTurn) -> None:
        """Send part by part: the events of a stream leave one by one."""
        for part in body:
            size = turn.piece_bytes or _PIECE_BYTES
            for start in range(0, len(part), size):
                self.wfile.write(part[start : start + size])
                if turn.piece_delay_ms and self.server.closing.wait(turn.piece_delay_ms / 1000):
                    return self._drop()
        return None

    def _stop(self, turn: ModelTurn) -> None:
        """Hang until the connection is closed, or drop it."""
        if turn.hang is not None:
            self._wait_for_the_end()
        if turn.drop == "reset":
            # A linger time of 0 makes close() send RST instead of FIN.
            linger = struct.pack("ii", 1, 0)
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            os.close(self.connection.detach())
        self._drop()

    def _wait_for_the_end(self) -> None:
        """Until the client closes its end, or the server all of them."""
        with contextlib.suppress(OSError):  # a client that resets has closed as well
            while self.connection.recv(4096):
                continue

    def _drop(self) -> None:
        self.close_connection = True


def _on_the_wire(reply: ModelReply) -> tuple[bytes, ...]:
    """The body as it is sent: a stream in chunks, one for each event."""
    if not reply.streamed:
        return reply.parts
    return (*(b"%x\r\n%b\r\n" % (len(part), part) for part in reply.parts), b"0\r\n\r\n")


def _first_half_of(reply: ModelReply) -> ModelReply:
    """Half of the events of a stream, half of the bytes of a whole body: well-formed HTTP."""
    if reply.streamed:
        return replace(reply, parts=reply.parts[: len(reply.parts) // 2])
    return replace(reply, parts=_first_half(reply.parts))


def _first_half(parts: tuple[bytes, ...]) -> tuple[bytes, ...]:
    """The first half of the bytes: a cut goes through the middle of an event."""
    left = sum(map(len, parts)) // 2
    half = []
    for part in parts:
        half.append(part[:left])
        left -= len(half[-1])
    return tuple(part for part in half if part)
