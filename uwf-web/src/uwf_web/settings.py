"""What `uwf web` was started with."""

from pathlib import Path
from typing import NamedTuple

from uwf_web.hosts import Place, read_host, read_origin

PORT = 8421


class WebSettings(NamedTuple):
    """The options of a server.

    Attributes:
        home: uwf's home.
        folder: the folder in which it was started.
        port: the wanted port; the next free one is taken.
        host: the address to listen on.
        allowed_hosts: further names that browsers may ask for, at any port, with their scheme.
        base: the base path, "" or "/uwf".
        outer: where browsers find the pages behind a proxy, or None.
        read_only: reject every action.
        tls: the files of certificate and key, or None.
        temporary: the folder of the server's own files if nothing can be written in the home.
    """

    home: Path
    folder: Path
    port: int = PORT
    host: str = "127.0.0.1"
    allowed_hosts: tuple[Place, ...] = ()
    base: str = ""
    read_only: bool = False
    tls: tuple[str, str] | None = None
    outer: Place | None = None
    temporary: Path | None = None

    @property
    def own_folder(self) -> Path:
        """Where the server keeps its own files."""
        return self.temporary or self.home

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
        shown = f"[{self.host}]" if ":" in self.host else self.host
        place = read_host(shown, self.scheme)
        return (shown if place is None else place.name,)

    def place(self, own: str) -> Place:
        """Where the links that `uwf web` prints lead; `own` is the home's own name."""
        if self.outer is not None:
            return self.outer
        for allowed in self.allowed_hosts:
            return allowed if allowed.scheme != self.scheme else allowed._replace(port=self.port)
        name = own if self.is_local or not self.names else self.names[0]
        return Place(self.scheme, name, self.port)

    def answers_to(self, host: str, own: str) -> bool:
        """Whether a header Host is ours: one of our names and the port that we listen on, or a name
        in front of us, whatever its port.
        """
        found = read_host(host, self.scheme)
        if found is None:
            return False
        names = (own, "127.0.0.1", *self.names)
        others = (*self.allowed_hosts, *([] if self.outer is None else [self.outer]))
        is_own = found.name in names and found.port == self.port
        return is_own or any(found.name == each.name for each in others)

    def accepts(self, origin: str, host: str) -> bool:
        """Whether a page of this origin may send a request to this host: it is the same place, by
        our scheme or that of the allowed name, or it is the place outside of the proxy.
        """
        found = read_origin(origin)
        if found is None or found == self.outer:
            return found is not None
        allowed = {each.scheme for each in self.allowed_hosts if each.name == found.name}
        is_same = found == read_host(host, found.scheme)
        return is_same and found.scheme in (allowed or {self.scheme})
