"""`uwf prompt`: documents that teach an agent to use uwf, in the Agent Skills format."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from uwf_core.cli.command import Command, command
from uwf_core.cli.render.colours import Screen
from uwf_core.cli.session import Session

DOCUMENTS = ("bootstrap", "usage", "workflow-authoring", "adapter-developing")
_FOLDER = Path(__file__).with_name("documents")


def document_text(name: str) -> str:
    """The document of that name, as Markdown with frontmatter."""
    return (_FOLDER / f"{name}.md").read_text(encoding="utf-8")


def front_of(text: str) -> dict[str, str]:
    """The lines `key: value` of a document's frontmatter."""
    front = text.split("---\n", 2)[1]
    return dict(line.split(": ", 1) for line in front.splitlines())


def _document(name: str, summary: str) -> Command:
    def show(session: Session) -> None:
        text = document_text(name)
        session.emit({**front_of(text), "text": text}, lambda each, _: str(each["text"]))

    show.__doc__ = summary
    return command(name, f"uwf prompt {name}", document=True)(show)


bootstrap = _document("bootstrap", "Everything an agent needs to use uwf.")
usage = _document("usage", "How to run threads and read their results.")
workflow_authoring = _document("workflow-authoring", "How to write a workflow.")
adapter_developing = _document("adapter-developing", "How to write an agent for uwf.")


@command("list", "uwf prompt list")
def list_(session: Session) -> None:
    """List the documents for agents with their descriptions."""
    documents = [{"document": name, **front_of(document_text(name))} for name in DOCUMENTS]
    session.emit({"documents": documents}, _documents_text)


def _documents_text(document: Mapping[str, Any], screen: Screen) -> str:
    from uwf_core.cli.render.table import Column, table

    columns = (Column("document", "DOCUMENT"), Column("description", "DESCRIPTION", least=12))
    return table(columns, document["documents"], screen)
