"""New, loaded and listed sessions: what the editor gets about them. These run in their jobs."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from uwf_agent_acp.protocol.errors import INVALID_PARAMS, RpcError
from uwf_core.client import ThreadFilter
from uwf_core.errors import UwfError

if TYPE_CHECKING:
    from uwf_agent_acp.server.sessions import EditorSession
    from uwf_core.client import Client

PAGE = 50
Result = Mapping[str, Any]


def begin(session: "EditorSession", workflow: str | None) -> Result:
    """Begin a session whose thread does not exist yet.

    Raises:
        UwfError, RpcError: the workflow cannot be used, or there is none.
    """
    opened = {"sessionId": session.id}
    if workflow is not None:
        session.conversation.choose(workflow)
        return opened
    rows = session.client.workflows()
    local_first = sorted(rows, key=lambda row: row["source"] != "local")
    _choose_first(session, [row["name"] for row in local_first])
    modes = [{key: row[key] for key in ("name", "description")} for row in rows]
    return {**opened, "modes": _modes(session, [{"id": each["name"], **each} for each in modes])}


def _choose_first(session: "EditorSession", names: list[str]) -> None:
    """The first workflow that can be read; the person may choose another one."""
    if not names:
        raise RpcError(
            INVALID_PARAMS,
            f"there is no workflow for {session.cwd}; next: uwf workflow new .workflow/NAME.yaml",
        )
    for name in names:
        try:
            session.conversation.choose(name)
        except UwfError:
            if name == names[-1]:
                raise
        else:
            return


def choose_mode(session: "EditorSession", mode: Any, workflow: str | None) -> Result:
    """Choose the workflow of a session whose thread does not exist yet.

    Raises:
        UwfError, RpcError: it cannot be used, or the session runs another one.
    """
    conversation = session.conversation
    if not isinstance(mode, str) or workflow is not None:
        raise RpcError(INVALID_PARAMS, f"this session has no mode {mode!r:.100}")
    if conversation.is_started and mode != conversation.workflow:
        raise RpcError(
            INVALID_PARAMS,
            f"this session runs the workflow {conversation.workflow}; open a new session for "
            "another one",
        )
    if not conversation.is_started:
        if mode not in {row["name"] for row in session.client.workflows()}:
            raise RpcError(INVALID_PARAMS, f"this session has no mode {mode!r:.100}")
        conversation.choose(mode)
    return {}


def load(session: "EditorSession", workflow: str | None, *, replay: bool) -> Result:
    """Continue a thread; with `replay`, show its history first.

    Raises:
        UwfError, RpcError: it does not exist, or cannot be read.
    """
    session.conversation.load(replay=replay)
    if workflow is not None:
        return {}
    name = session.conversation.workflow
    return {"modes": _modes(session, [{"id": name, "name": name}])}


def _modes(session: "EditorSession", offered: list[dict[str, Any]]) -> dict[str, Any]:
    return {"currentModeId": session.conversation.workflow, "availableModes": offered}


def list_sessions(client: "Client", params: Mapping[str, Any], workflow: str | None) -> Result:
    """The threads of a folder (`cwd`; None: of all), newest first, by the page.

    Raises:
        RpcError: the cursor is not one of uwf. UwfError: the workflow is unknown.
    """
    cwd, cursor = params.get("cwd"), params.get("cursor") or "0"
    if not isinstance(cursor, str) or not cursor.isascii() or not cursor.isdigit():
        raise RpcError(INVALID_PARAMS, f"the cursor is not one of uwf: {cursor!r:.100}")
    name = None if workflow is None else str(client.workflow(workflow)["name"])
    rows = client.list(ThreadFilter(all=True, workflow=name))
    found = [row for row in rows if cwd in (None, row["cwd"]) and row["status"] != "corrupt"]
    first = int(cursor)
    result: dict[str, Any] = {
        "sessions": [
            {
                "sessionId": row["thread"],
                "cwd": row["cwd"],
                "title": _title(client, row["thread"]),
                "updatedAt": datetime.fromtimestamp(row["updatedAtMs"] / 1000, UTC).isoformat(),
            }
            for row in found[first : first + PAGE]
        ]
    }
    if len(found) > first + PAGE:
        result["nextCursor"] = str(first + PAGE)
    return result


def _title(client: "Client", thread: str) -> str:
    task = (client.show(thread)["task"] or "").strip().partition("\n")[0]
    return task if len(task) <= 100 else f"{task[:99]}…"
