"""The documents of `step files`."""

from typing import TypedDict


class FileDocument(TypedDict):
    """A file that a step delivered: its path, bytes, permissions (`0644`), and its node."""

    path: str
    size: int
    mode: str
    file: str


class FilesDocument(TypedDict):
    """The files that a step delivered. `folder`: where they were written, with their paths there
    (`written`); null if they were only listed.
    """

    step: str
    thread: str
    files: list[FileDocument]
    folder: str | None
    written: list[str]
