"""The demo as people read it."""

from collections.abc import Mapping
from typing import Any

from uwf_core.cli.render.colours import Screen


def demo_text(document: Mapping[str, Any], screen: Screen) -> str:
    """`demo`."""
    from shlex import quote

    from uwf_core.cli.render.table import fields
    from uwf_core.demo.play import tests_line

    where = fields(
        [
            ("thread", f"{document['thread']}  {screen.status(document['status'])}"),
            ("tests", tests_line("before", document["testsBefore"])),
            ("", tests_line("after", document["testsAfter"])),
            ("agent", f"{document['agent']}: {document['playedBy']}"),
            ("project", document["project"]),
            ("store", document["store"]),
            ("remove", f"rm -r {quote(document['folder'])}"),
        ],
        screen,
    )
    lines = [document["text"].rstrip("\n"), "", screen.paint("─" * 40, "dim"), where, ""]
    lines.append(screen.paint("next", "bold"))
    for each in document["next"]:
        lines += [f"  {each['command']}", screen.paint(f"      {each['shows']}", "dim")]
    return "\n".join(lines)
