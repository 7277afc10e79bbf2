"""The recorded files of a step in words."""

from collections.abc import Mapping
from typing import Any

from uwf_core.cli.render import amounts
from uwf_core.thread.decisions import workspace_of


def recorded_text(document: Mapping[str, Any]) -> str | None:
    """Whether the files of a step are recorded; None if that was not wanted."""
    workspace = workspace_of(document)
    if workspace is None:
        return None
    after = workspace["after"]
    if after is None:
        return "recorded before the step alone: its run was killed"
    for snapshot in (workspace["before"], after):
        if snapshot["tree"] is None:
            return f"not recorded: {snapshot['reason']}"
    size = amounts.size(after["bytes"])
    nested = f", {len(after['nested'])} nested repositories" if after["nested"] else ""
    missing = f"; not recorded: {after['reason']}" if after["reason"] else ""
    next_one = f"next: uwf step diff {document['step']}"
    return f"{after['files']} recorded, {size}{nested}{missing}; {next_one}"
