"""A plugin of Hermes: a copy of this file is loaded into Hermes' own process for one call.

It takes tools away, by the rule in the file beside it, and then leaves the file `in-force`.
"""

import json
import os
from pathlib import Path
from typing import Any


def register(context: Any) -> None:
    """Called by Hermes once, before it makes an agent."""
    from toolsets import TOOLSETS  # type: ignore[import-not-found]  # of Hermes

    here = Path(__file__).parent
    rule = json.loads((here / "rule.json").read_text("utf-8"))
    os.chdir(rule["cwd"])

    def is_taken(name: str) -> bool:
        return name in rule["without"] or (rule["only"] is not None and name not in rule["only"])

    def block(tool_name: str = "", **_more: Any) -> dict[str, str] | None:
        if not is_taken(tool_name):
            return None
        return {"action": "block", "message": f"the tool {tool_name} is not available here"}

    for toolset in TOOLSETS.values():
        toolset["tools"] = [name for name in toolset.get("tools", ()) if not is_taken(name)]
    context.register_hook("pre_tool_call", block)  # tools of servers and plugins come later
    (here / "in-force").touch()
