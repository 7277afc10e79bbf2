"""The sections of a page on disk: those of a long thread take more memory than all else of it."""

import pickle
from collections.abc import Sequence
from tempfile import SpooledTemporaryFile
from typing import Final, NamedTuple, overload

from uwf_explain.explanation.statements import WhySection

_MOST_IN_MEMORY: Final = 1 << 20
"""In bytes."""


class Heading(NamedTuple):
    """What a table of contents needs of a section."""

    title: str
    step: str | None
    has_prompt: bool


class Sections(Sequence[WhySection]):
    """Sections, each read when it is used."""

    def __init__(self) -> None:
        self._file = SpooledTemporaryFile(_MOST_IN_MEMORY)  # noqa: SIM115 - ends with the page
        self._places: list[int] = []
        self.headings: list[Heading] = []

    def __del__(self) -> None:
        self._file.close()

    def insert(self, at: int, section: WhySection) -> None:
        """Add a section at a place."""
        self._places.insert(at, self._file.seek(0, 2))
        self.headings.insert(at, Heading(section.title, section.step, bool(section.prompt)))
        pickle.dump(section, self._file)

    def append(self, section: WhySection) -> None:
        """Add a section at the end."""
        self.insert(len(self), section)

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, at: int) -> WhySection: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[WhySection]: ...
    def __getitem__(self, at: int | slice) -> WhySection | Sequence[WhySection]:
        if isinstance(at, slice):
            return [self[each] for each in range(len(self))[at]]
        self._file.seek(self._places[at])
        found: WhySection = pickle.load(self._file)
        return found
