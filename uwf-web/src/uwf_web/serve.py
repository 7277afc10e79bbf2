"""Listen, announce the server, and answer until a signal ends it; meanwhile continue unattended
threads, and send notices that are left.
"""

import errno
import os
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from uwf_core.client import Client
from uwf_core.errors import UsageError, UwfError
from uwf_web.app import make_app
from uwf_web.connections import BoundedConnection, PageServer
from uwf_web.keys import read_keys

if TYPE_CHECKING:
    from uwf_web.running import ServerLock
    from uwf_web.settings import WebSettings


PORTS = 100
"""How many ports are tried, from the wanted one on."""
MOST_CONNECTIONS = 500
"""Above which all requests are refused: streams and idle browsers leave room for pages."""


def serve(
    settings: "WebSettings", lock: "ServerLock", say: "Callable[[WebSettings], None]"
) -> None:
    """Serve until SIGINT or SIGTERM.

    Args:
        settings: the options.
        lock: acquired by this process.
        say: called with the settings, their port the real one, as soon as requests are answered.

    Raises:
        UsageError: no port is free, or the host is not one of this machine.
    """
    import uvicorn

    listening = listen(settings)
    settings = settings._replace(port=listening[0].getsockname()[1])
    app = make_app(settings, partial(open_client, settings))
    key, certificate = (settings.tls or (None, None))[::-1]
    config = uvicorn.Config(
        app, http=BoundedConnection, ws="none", loop="asyncio", lifespan="off", interface="asgi3",
        log_config=None, log_level="error", access_log=False, server_header=False,
        proxy_headers=False,
        timeout_keep_alive=30, timeout_graceful_shutdown=1, limit_concurrency=MOST_CONNECTIONS,
        ssl_certfile=certificate, ssl_keyfile=key,
    )  # fmt: skip
    lock.announce(
        {
            "pid": os.getpid(),
            "port": settings.port,
            "host": settings.host,
            "scheme": settings.scheme,
            "base": settings.base,
            "place": str(settings.place(read_keys(settings.own_folder).host)),
            "folder": str(settings.folder),
            "startedAtMs": time.time_ns() // 1_000_000,
        }
    )
    say(settings)
    words = (partial(open_client, settings), threading.Event(), not settings.read_only)
    threading.Thread(target=do_what_is_due, args=words, daemon=True).start()
    try:
        PageServer(config, app.server.end_streams).run(sockets=listening)
    finally:
        app.server.close()


def open_client(settings: "WebSettings") -> "Client":
    """A client of this home and folder; what a person does through it is recorded as `web`."""
    return Client.open(home=settings.home, cwd=settings.folder, via="web")


def listen(settings: "WebSettings") -> list[socket.socket]:
    """Sockets on the first free port; on this machine's own addresses of both kinds, since a
    browser may try either first, and another program must not answer it.
    """
    hosts = ["127.0.0.1", "::1"] if settings.is_local else [settings.host]
    for port in range(settings.port, min(settings.port + PORTS, 65536)):
        found = _listen_on(hosts, port)
        if found:
            return found
    raise UsageError(
        f"no port from {settings.port} on is free", hint="choose another one with --port"
    )


def _listen_on(hosts: list[str], port: int) -> list[socket.socket]:
    """Sockets on one port of all hosts, or none if one of them is in use."""
    found: list[socket.socket] = []
    for host in hosts:
        kind = socket.AF_INET6 if ":" in host else socket.AF_INET
        try:
            each = socket.socket(kind, socket.SOCK_STREAM)
        except OSError:
            if kind == socket.AF_INET6:
                continue  # a machine without IPv6
            raise
        each.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if kind == socket.AF_INET6:
            each.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        try:
            each.bind((host, port))
            each.listen(128)
        except OSError as error:
            each.close()
            if host == "::1" and error.errno == errno.EADDRNOTAVAIL:
                continue  # IPv6 is there, and this address is not
            for other in found:
                other.close()
            if error.errno == errno.EADDRINUSE:
                return []
            raise UsageError(f"cannot listen on {host}: {error.strerror}") from error
        found.append(each)
        port = found[0].getsockname()[1]  # of `--port 0`: the same for both addresses
    return found


SECONDS = 60.0
FIRST_SECONDS = 2.0
"""Until the first look: the first page has the processor for itself."""


def do_what_is_due(
    open_client: "Callable[[], Client]",
    stop: threading.Event,
    ticks: bool,
    seconds: float = SECONDS,
    first_seconds: float = FIRST_SECONDS,
) -> None:
    """Continue unattended threads that are due, and have notices sent that are left: soon, then
    once a minute, also while no page is open.

    Args:
        open_client: opens a client, which belongs to the thread that calls this.
        stop: ends it.
        ticks: whether threads are continued.
        seconds: between two looks.
        first_seconds: until the first one.
    """
    if stop.wait(first_seconds):
        return
    with open_client() as client:
        while True:
            with suppress(UwfError):  # a store that is away for a moment comes back
                if ticks:
                    client.tick()
                client.send_notices()
            if stop.wait(seconds):
                return
