"""What `uwf web` was started with."""

from pathlib import Path
from typing import NamedTuple

PORT = 8421


class WebSettings(NamedTuple):
    """The options of a server.

    Attributes:
        home: uwf's home.
        folder: the folder in which it was started.
        port: the wanted port; the next free one is taken.
        host: the address to listen on.
        allowed_hosts: further values of the header Host, as behind a proxy.
        base: the base path, "" or "/uwf".
        read_only: reject every action.
        tls: the files of certificate and key, or None.
    """

    home: Path
    folder: Path
    port: int = PORT
    host: str = "127.0.0.1"
    allowed_hosts: tuple[str, ...] = ()
    base: str = ""
    read_only: bool = False
    tls: tuple[str, str] | None = None

    @property
    def scheme(self) -> str:
        """Of the server's own URLs."""
        return "http" if self.tls is None else "https"

    @property
    def is_local(self) -> bool:
        """Whether only this machine reaches it."""
        return self.host in ("127.0.0.1", "localhost", "::1")

    @property
    def names(self) -> tuple[str, ...]:
        """The host of `--host` as browsers write it, if it is one that they can ask for."""
        if self.host in ("0.0.0.0", "::", "127.0.0.1"):
            return ()
        return (f"[{self.host}]" if ":" in self.host else self.host,)

    def link_host(self, own: str) -> str:
        """The host of the links that `uwf web` prints; `own` is the home's own name."""
        return own if self.is_local or not self.names else self.names[0]
