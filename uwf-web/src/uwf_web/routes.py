"""The URLs: of each page its path and the `Page` that it shows, imported on its first request.

A page module holds a `Page`; its name here is `module:attribute` below `uwf_web.pages`.
"""

from collections.abc import Mapping
from typing import Final

PAGES: Final[Mapping[str, str]] = {
    "/threads": "threads:THREADS",
}
