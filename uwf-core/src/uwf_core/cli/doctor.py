"""`uwf doctor`: check the installation and suggest repairs."""

from collections.abc import Mapping
from typing import Any

from uwf_core.cli.frame import command
from uwf_core.cli.render.style import Screen
from uwf_core.cli.session import Session
from uwf_core.errors import ExitCode


@command("doctor", "uwf doctor", "uwf doctor --format json")
def doctor(session: Session) -> int:
    """Check this installation and suggest repairs: Python, home, configuration, store, plugins.

    Loads each plugin in a separate process. Exit code 1 if something is broken.
    """
    from uwf_core.cli.examination import examine

    checks = examine(session.engine)
    healthy = all(each["state"] != "error" for each in checks)
    session.emit({"healthy": healthy, "checks": checks}, _text)
    return ExitCode.DONE if healthy else ExitCode.FAILED


def _text(document: Mapping[str, Any], screen: Screen) -> str:
    from uwf_core.cli.render.checks import check_lines

    return "\n".join(check_lines(document["checks"], screen))
