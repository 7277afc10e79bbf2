"""Ask an agent or a model: a thread of one role, recorded like any other."""

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any, Final

from uwf_core.client import Cancel, Client
from uwf_core.errors import ExitCode, UwfError

_WORKFLOWS: Final = Path(__file__).parent.parent / "workflows"
BUILTIN: Final = "builtin"
"""The agent that plays a role with a model of the configuration."""


def ask(
    client: Client,
    name: str,
    prompt: str,
    *,
    agent: str | None,
    cancel: Cancel,
    tags: Mapping[str, str] = MappingProxyType({}),
    file: Path | None = None,
) -> dict[str, Any]:
    """The output of the one role of a workflow (`improve-<name>`, unless it has a file), with
    `body` and `thread`.

    The agent works in an empty folder, so that it sees no files of tasks by chance.

    Raises:
        UwfError: the thread did not end; it is kept, and the message names it.
    """
    with TemporaryDirectory(prefix="uwf-improve-") as folder:
        started = client.start(
            str(file or _WORKFLOWS / f"improve-{name}.yaml"), prompt, cwd=folder, agent=agent,
            tags={**tags, "improve": name},
        )  # fmt: skip
        thread = started["thread"]
        outcome = client.exec(thread, until_done=True, cancel=cancel)
        if outcome.document["status"] != "completed":
            error = UwfError(
                f"the agent did not answer: {outcome.document['suspendMessage']}",
                where=f"thread {thread}",
                hint=f"`uwf thread show {thread}` shows why",
            )
            error.exit_code = outcome.exit_code or ExitCode.FAILED
            raise error
        step = next(client.thread(thread).newest_first("output", "body"))
    return {"output": dict(step.output), "body": step.body, "thread": thread}
