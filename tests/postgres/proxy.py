"""A network between a program and the server, which breaks when a test says so."""

import socket
import threading
import time
from contextlib import suppress


class Proxy:
    """A network that breaks: after `cut_after` bytes of the client, or at once by `cut`."""

    def __init__(self, port: int) -> None:
        self._to = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.cut_after: int | None = None
        self.swallow = False
        self._open: list[socket.socket] = []
        self._made: list[socket.socket] = []
        self._pumps: list[threading.Thread] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                try:
                    server = socket.create_connection(("127.0.0.1", self._to))
                except OSError:  # the server is being started again
                    client.close()
                    continue
                self._open += [client, server]
                self._made += [client, server]
                for pipe in ((client, server, True), (server, client, False)):
                    self._pumps.append(threading.Thread(target=self._pump, args=pipe))
                    self._pumps[-1].start()

    def _pump(self, source: socket.socket, target: socket.socket, is_client: bool) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                if is_client and self.cut_after is not None:
                    self.cut_after -= len(data)
                    if self.cut_after <= 0:
                        self.cut_after = None
                        if not self.swallow:  # the server gets it, the client no answer
                            target.sendall(data)
                            time.sleep(0.05)
                        break
                target.sendall(data)
        for each in (source, target):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def cut(self) -> None:
        for each in self._open:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        self._open.clear()

    def close(self) -> None:
        with suppress(OSError):  # else the thread in `accept` still takes connections
            self._listener.shutdown(socket.SHUT_RDWR)
        self.cut()
        for each in self._pumps:
            each.join(5)
        for each in (self._listener, *self._made):
            each.close()
