"""`uwf web`: start the server of the pages, or print the link of the one that runs."""

import os
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypedDict

import click

from uwf_core.api import ANYWHERE, read_regular
from uwf_core.commands import Session, command, working_folder
from uwf_core.errors import UsageError
from uwf_web.hosts import Place, read_origin, read_url
from uwf_web.settings import PORT, WebSettings

if TYPE_CHECKING:
    from collections.abc import Mapping


class WebDocument(TypedDict):
    """A link that logs in once, and the process of the server."""

    url: str
    pid: int


class WebStopped(TypedDict):
    """The process that `uwf web stop` has stopped."""

    stopped: int


@command("web", "uwf web", "uwf web --port 8500 --read-only", "uwf web stop")
@click.argument("action", type=click.Choice(["start", "stop"]), default="start")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=PORT, metavar="N",
    help=f"Listen on this port, or the next free one ({PORT}).",
)  # fmt: skip
@click.option("--host", default="127.0.0.1", metavar="H", help="Listen on another address.")
@click.option(
    "--allow-host", "allowed", multiple=True, metavar="NAME",
    help="Also answer to this name, at any port (may be repeated); https://NAME for a TLS proxy.",
)  # fmt: skip
@click.option(
    "--base-url", "outer", metavar="URL",
    help="Where browsers find the pages, as behind a proxy: https://uwf.example/path.",
)  # fmt: skip
@click.option("--base-path", "base", default="", metavar="P", help="Serve below this path.")
@click.option("--read-only", is_flag=True, help="Reject every action.")
@click.option("--tls-cert", metavar="FILE", help="The certificate, for https.")
@click.option("--tls-key", metavar="FILE", help="Its key.")
@click.option("--insecure", is_flag=True, help="Allow --host without https.")
@click.option("--new-key", is_flag=True, help="Log out every browser.")
def web(session: Session, action: str, **options: Any) -> int:
    """Show uwf in a browser: print a link that logs in once, and serve until Ctrl-C.

    A second call prints the link of the running server.
    """
    from uwf_core.client import Client
    from uwf_web.keys import read_keys
    from uwf_web.running import ServerLock, running_state

    folder = Path(working_folder())
    with Client.open(cwd=folder) as client:
        home = client.home
    if action == "stop":
        return _stop(session, home)
    settings = _settings(home, folder, options)
    with ExitStack() as ending:
        if home.exists() and not os.access(home, os.W_OK):
            own = Path(ending.enter_context(TemporaryDirectory(prefix="uwf-web-")))
            settings = settings._replace(temporary=own, read_only=True)
            session.note(
                f"note: nothing can be written in {home}: the pages show, and change nothing"
            )
        if options["new_key"]:
            read_keys(settings.own_folder, renew=True)
        lock = ServerLock(settings.own_folder)
        if not lock.acquire():
            lock.close()
            return _print_running(session, home, running_state(home))
        ending.callback(lock.release)
        from uwf_web.serve import serve

        serve(settings, lock, lambda real: _print_link(session, real, os.getpid()))
    return 0


def _settings(home: Path, folder: Path, options: "Mapping[str, Any]") -> WebSettings:
    tls = (options["tls_cert"], options["tls_key"])
    if any(tls) and not all(tls):
        raise UsageError("--tls-cert and --tls-key belong together")
    if all(tls):
        _check_certificate(*tls)
    scheme = "https" if all(tls) else "http"
    outer, base = _outer(options["outer"], options["base"].strip("/"))
    settings = WebSettings(
        home, folder, options["port"], options["host"],
        tuple(_allowed(each, scheme) for each in options["allowed"]), base,
        options["read_only"], (tls[0], tls[1]) if all(tls) else None, outer,
    )  # fmt: skip
    if not settings.is_local and settings.tls is None and not options["insecure"]:
        raise UsageError(
            f"--host {settings.host} without https shows everything to the network",
            hint="add --tls-cert and --tls-key, or --insecure",
        )
    return settings


def _allowed(text: str, scheme: str) -> Place:
    """Raises:
    UsageError: it is not the name of a host.
    """
    place = read_origin(text if "://" in text else f"{scheme}://{text}")
    if place is None:
        raise UsageError(
            f"{text!r} is not the name of a host", where="--allow-host",
            hint="write the name, with another scheme before it: uwf.example, https://uwf.example",
        )  # fmt: skip
    return place


def _outer(url: str | None, base: str) -> tuple[Place | None, str]:
    """The outer place and the base path, which the URL has as well.

    Raises:
        UsageError: it is not a URL of pages, or has another path.
    """
    if url is None:
        return None, f"/{base}" if base else ""
    found = read_url(url)
    if found is None:
        raise UsageError(
            f"{url!r} is not the URL of pages", where="--base-url",
            hint="write scheme, name and path, as in https://uwf.example/uwf",
        )  # fmt: skip
    place, path = found[0], found[1].strip("/")
    if base and base != path:
        raise UsageError(
            f"--base-path {base} is not the path of --base-url {url}", hint="give one of them"
        )
    return place, f"/{path}" if path else ""


def _check_certificate(certificate: str, key: str) -> None:
    """Raises:
    UsageError: a server cannot use these files.
    """
    import ssl

    for option, file in (("--tls-cert", certificate), ("--tls-key", key)):
        try:
            read_regular(file, within=ANYWHERE)
        except OSError as error:
            raise UsageError(f"{option} {file}: {error.strerror}") from error
    try:  # a key that needs a password must not ask for it on the terminal
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key, lambda: "")
    except (ssl.SSLError, ValueError) as error:
        raise UsageError(
            f"--tls-cert {certificate} and --tls-key {key} cannot be used: {error}",
            hint="both are PEM files: a certificate, and its own key without a password",
        ) from error


def _print_link(session: Session, settings: WebSettings, pid: int) -> None:
    from uwf_web.keys import new_token, read_keys

    place = settings.place(read_keys(settings.own_folder).host)
    url = f"{place}{settings.base}/?token={new_token(settings.own_folder)}"
    document: WebDocument = {"url": url, "pid": pid}
    session.emit(document, lambda shown, _: f"{shown['url']}\nnext: open the link; Ctrl-C ends it")


def _print_running(session: Session, home: Path, state: "Mapping[str, Any] | None") -> int:
    if state is None:
        raise UsageError("another `uwf web` is starting", hint="try again")
    settings = WebSettings(
        home, Path(state["folder"]), state["port"], state["host"], base=state["base"],
        tls=("", "") if state["scheme"] == "https" else None, outer=read_origin(state["place"]),
    )  # fmt: skip
    session.note(f"note: the server of {state['folder']} is running; its options stay as they are")
    _print_link(session, settings, state["pid"])
    return 0


def _stop(session: Session, home: Path) -> int:
    import signal

    from uwf_web.running import running_state

    state = running_state(home)
    if state is None:
        raise UsageError("no `uwf web` is running", hint="next: uwf web")
    os.kill(state["pid"], signal.SIGTERM)
    document: WebStopped = {"stopped": state["pid"]}
    session.emit(document, lambda shown, _: f"stopped process {shown['stopped']}")
    return 0
