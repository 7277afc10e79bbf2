"""Hosts and origins as browsers send them, compared by name and effective port. Pure."""

import ipaddress
import re
from typing import NamedTuple
from urllib.parse import urlsplit

DEFAULT_PORTS = {"http": 80, "https": 443}
_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::([0-9]{0,5}))?", re.ASCII)


class Place(NamedTuple):
    """Where pages are: a scheme, a name in lower case without its last dot, and a port."""

    scheme: str
    name: str
    port: int

    def __str__(self) -> str:
        shown = "" if self.port == DEFAULT_PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{self.name}{shown}"


def read_host(text: str, scheme: str) -> Place | None:
    """The place of a header `Host`: without a port it is the scheme's. None: it is not a host."""
    found = _HOST.fullmatch(text)
    name = found and _name(found[1])
    if found is None or not name:
        return None
    port = int(found[2] or DEFAULT_PORTS[scheme])
    return Place(scheme, name, port) if 0 < port < 65536 else None


def read_origin(text: str) -> Place | None:
    """The place of a header `Origin`; None: it is not one of http or https, as `null`."""
    scheme, separator, host = text.partition("://")
    if not separator or scheme.lower() not in DEFAULT_PORTS:
        return None
    return read_host(host, scheme.lower())


def read_url(text: str) -> tuple[Place, str] | None:
    """The place and the path of the URL of pages; None: it has other parts, or is not one."""
    if not text.isascii() or any(letter <= " " for letter in text):
        return None
    try:
        parts = urlsplit(text)
    except ValueError:  # a bracket that is not closed
        return None
    place = read_origin(f"{parts.scheme}://{parts.netloc}")
    if place is None or parts.query or parts.fragment:
        return None
    return place, parts.path


def _name(text: str) -> str:
    """A name as it is compared; "" if it is none."""
    if text.startswith("["):
        try:
            return f"[{ipaddress.IPv6Address(text[1:-1]).compressed}]"
        except ValueError:
            return ""
    name = text.lower().removesuffix(".")
    return name if all(name.split(".")) else ""
