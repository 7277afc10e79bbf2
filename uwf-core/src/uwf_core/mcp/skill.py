"""The texts of the tools: the document that `uwf prompt usage` prints is their only source."""

import re

TOOLS_HEADING = "## The tools of `uwf mcp`"


def introduction(document: str, heading: str = "# .*") -> str:
    """The text between a document's title, or another heading, and the next section."""
    after_title = re.split(f"^{heading}\n", document, maxsplit=1, flags=re.MULTILINE)[1]
    return re.split(r"^## ", after_title, maxsplit=1, flags=re.MULTILINE)[0].strip()


def descriptions(document: str) -> dict[str, str]:
    """The text below each heading `### NAME`."""
    parts = re.split(r"^##(#?) (.+)\n", document, flags=re.MULTILINE)
    found = zip(parts[1::3], parts[2::3], parts[3::3], strict=True)
    return {name: " ".join(text.split()) for is_tool, name, text in found if is_tool}
