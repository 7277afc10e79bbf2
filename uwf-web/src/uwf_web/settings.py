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
