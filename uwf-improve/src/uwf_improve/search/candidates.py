"""The versions of a workflow that a search tries: texts by place, each checked like any edit."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from uwf_core.client import Client
from uwf_improve.edit.draft import Draft, prepare_edit
from uwf_improve.edit.files import skill_files
from uwf_improve.edit.parts import editable
from uwf_improve.edit.records import WorkflowEdit
from uwf_improve.edit.sources import texts_of_places

_LEFT_ALONE: Final = ".description"
"""Descriptions are for people: no agent gets them."""

Texts = Mapping[str, str]
"""The text of each place, such as `roles.reviewer.goal` and `graph.a.b.prompt`."""


@dataclass(frozen=True, kw_only=True)
class Origin:
    """The workflow that is searched: its file, its published version, the texts that may change."""

    file: Path
    champion: str
    texts: Texts


def origin_of(client: Client, file: Path) -> Origin:
    """The present version of a workflow file.

    Raises:
        DefinitionError: it has errors.
    """
    texts = {place: text for place, text in editable(client.workflow(str(file))).items() if text}
    texts |= {f"skills.{name}": text for name, text in skill_files(file).items()}
    own = {each: text for each, text in texts.items() if not each.endswith(_LEFT_ALONE)}
    champion = str(client.unattended.publish(str(file), str(file.parent)))
    return Origin(file=file, champion=champion, texts=own)


class Candidates:
    """Makes an edit of other texts, with the checks of `uwf improve propose`; each one once.

    Args:
        secrets: texts of tasks and judges that an edit must not contain.
    """

    def __init__(
        self, client: Client, origin: Origin, author: str, secrets: Iterable[tuple[str, str]]
    ) -> None:
        self._client, self._origin = client, origin
        self._author, self._secrets = author, [*secrets]
        self._known: dict[tuple[tuple[str, str], ...], WorkflowEdit] = {}

    def version(self, texts: Texts) -> str:
        """The published version with these texts.

        Raises:
            DefinitionError, EditRefused, UsageError: as `draft`.
        """
        changed = self._changed(texts)
        return self.edit(texts).challenger if changed else self._origin.champion

    def edit(self, texts: Texts) -> WorkflowEdit:
        """The edit that writes these texts, checked and replayed, and not stored.

        Raises:
            DefinitionError: the workflow with them has errors. EditRefused: the guard refuses it.
            UsageError: a text cannot be written.
        """
        key = tuple(sorted(texts.items()))
        if key not in self._known:
            self._known[key] = prepare_edit(self._client, self.draft(texts))
        return self._known[key]

    def draft(self, texts: Texts, why: str = "") -> Draft:
        """The draft of the edit that writes these texts."""
        origin = self._origin
        return Draft(
            file=origin.file, texts=texts_of_places(origin.file, self._changed(texts)), why=why,
            author=self._author, secrets=self._secrets,
        )  # fmt: skip

    def _changed(self, texts: Texts) -> dict[str, str]:
        before = self._origin.texts
        return {place: text for place, text in texts.items() if before[place] != text}
