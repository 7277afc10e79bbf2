"""The agent that plays the walkthrough's roles without a model: it runs their checks.

A command agent without sessions, so it declares no capabilities. Each check is a turn.
"""

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

from tests.walkthrough.play import output_of
from tests.walkthrough.site import Site


def main() -> int:
    """Play a role; the last line on stdout is the reply."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("thread", "role", "prompt", "mode"):
        parser.add_argument(f"--{name}", required=True)
    call = parser.parse_args()
    try:
        output, text = output_of(call.role, Site(Path.cwd()), report_turn)
        reply: dict[str, Any] = {"output": document(output, text)}
    except KeyError:
        message = f"this program plays the walkthrough, which has no role {call.role}"
        reply = {"error": {"kind": "bad_request", "message": message}}
    print(json.dumps(reply))
    return 0


def document(output: dict[str, Any], text: str) -> str:
    """Frontmatter and text; JSON is YAML, so each value is written as JSON."""
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in output.items()]
    return "\n".join(["---", *lines, "---", text, ""])


def report_turn(text: str) -> None:
    """Report a turn as it happens."""
    with open(os.environ["UWF_EVENTS"], "a", encoding="utf-8") as events:
        events.write(json.dumps({"turn": {"text": text}}) + "\n")


if __name__ == "__main__":
    sys.exit(main())
