"""`uwf prompt`: documents that teach an agent to use uwf, in the Agent Skills format."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from uwf_core.cli.render.colours import Screen

DOCUMENTS = ("bootstrap", "usage", "workflow-authoring", "adapter-developing")
_FOLDER = Path(__file__).with_name("documents")


def document_text(name: str) -> str:
    """The document of that name, as Markdown with frontmatter."""
    text = (_FOLDER / f"{name}.md").read_text(encoding="utf-8")
    return _with_tools(text) if name == "usage" else text


def _with_tools(text: str) -> str:
    """The document with the descriptions of the tools of `uwf mcp`."""
    from textwrap import fill

    from uwf_core.operations.plugin_rows import tool_rows

    described = dict[str, str]()
    for _, tool in tool_rows():
        mark = f"<!-- tools: {tool['permission']} -->"
        shown = f"### {tool['name']}\n\n{fill(tool['text'], 100)}\n\n"
        described[mark] = described.get(mark, "") + shown
    for mark, tools in described.items():
        text = text.replace(mark, tools.rstrip())
    return text


def front_of(text: str) -> dict[str, str]:
    """The lines `key: value` of a document's frontmatter."""
    front = text.split("---\n", 2)[1]
    return dict(line.split(": ", 1) for line in front.splitlines())


def _shown(name: str) -> Callable[[], dict[str, str]]:
    def show() -> dict[str, str]:
        text = document_text(name)
        return {**front_of(text), "text": text}

    return show


bootstrap, usage, workflow_authoring, adapter_developing = map(_shown, DOCUMENTS)


def list_documents() -> list[dict[str, str]]:
    """The documents, without their texts."""
    return [{"document": name, **front_of(document_text(name))} for name in DOCUMENTS]


def documents_text(document: Mapping[str, Any], screen: Screen) -> str:
    """`prompt list`."""
    from uwf_core.cli.render.table import Column, table

    columns = (Column("document", "DOCUMENT"), Column("description", "DESCRIPTION", least=12))
    return table(columns, document["documents"], screen)
