"""A client that is not ours drives `uwf acp`: that of the protocol's Python package, which checks
each message against the schema of the protocol.
"""

import asyncio
from importlib.util import find_spec
from typing import Any

import pytest
from acp_editor import TURNS, WRITTEN, Desk

from uwf_core.api import permission_form

pytestmark = pytest.mark.skipif(
    find_spec("acp") is None, reason="the package agent-client-protocol is not installed"
)


class SecondEditor:
    """A client of the package: it allows everything once, and asks for changes, then approves."""

    def __init__(self) -> None:
        self.updates: list[Any] = []
        self.permissions: list[Any] = []
        self.forms: list[tuple[str, Any]] = []
        self.contents: list[dict[str, Any]] = []

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        self.updates.append(update)

    async def request_permission(self, session_id: str, tool_call: Any, options: Any, **_: Any):
        self.permissions.append((tool_call, options))
        chosen = next(each for each in options if each.kind == "allow_once")
        import acp

        outcome = acp.schema.AllowedOutcome(outcome="selected", optionId=chosen.option_id)
        return acp.schema.RequestPermissionResponse(outcome=outcome)

    async def create_elicitation(self, message: str, mode: Any, **_: Any):
        self.forms.append((message, mode))
        import acp

        content = self.contents.pop(0)
        return acp.schema.AcceptElicitationResponse(action="accept", content=content)

    def on_connect(self, connection: Any) -> None:
        pass

    def kinds(self) -> set[str]:
        return {each.session_update for each in self.updates}

    def said(self, kind: str = "agent_message_chunk") -> str:
        found = (each for each in self.updates if each.session_update == kind)
        return "".join(each.content.text for each in found)


def driven(desk: Desk, story: Any) -> SecondEditor:
    """Run a story with a connection; uwf ends by itself afterwards."""
    import acp

    command, *arguments = desk.project.command("acp")

    async def drive() -> SecondEditor:
        editor = SecondEditor()
        spawned = acp.spawn_agent_process(
            editor, command, *arguments, env=desk.project.env, cwd=desk.folder,
            use_unstable_protocol=True,
        )  # fmt: skip
        async with asyncio.timeout(120), spawned as (connection, process):
            form = acp.schema.ElicitationFormCapabilities()
            elicitation = acp.schema.ElicitationCapabilities(form=form)
            can = acp.schema.ClientCapabilities(elicitation=elicitation)
            opened = await connection.initialize(protocol_version=1, client_capabilities=can)
            assert opened.protocol_version == acp.PROTOCOL_VERSION == 1
            assert opened.agent_capabilities.load_session
            assert opened.agent_capabilities.session_capabilities.resume is not None
            await story(connection, editor)
            process.stdin.close()
            assert await process.wait() == 0
        return editor

    return asyncio.run(drive())


def text(said: str) -> list[Any]:
    import acp

    return [acp.text_block(said)]


def test_it_runs_a_workflow_with_forms_and_loads_it_again(desk: Desk):
    async def story(connection: Any, editor: SecondEditor) -> None:
        editor.contents = [
            {"$status": "changes"},
            {"comments": "too long", "words": 3, "places": "[]"},
            {"$status": "approved"},
        ]
        opened = await connection.new_session(cwd=str(desk.folder))
        assert [each.id for each in opened.modes.available_modes] == ["letter", "note"]
        session = opened.session_id
        await connection.set_session_mode(session_id=session, mode_id="letter")
        end = await connection.prompt(session_id=session, prompt=text("To Ada"))
        assert (end.stop_reason, end.usage.input_tokens) == ("end_turn", 100)
        assert len(editor.forms) == 3
        assert editor.kinds() == {
            "plan", "tool_call", "tool_call_update", "agent_message_chunk", "agent_thought_chunk",
        }  # fmt: skip
        assert desk.show(session)["status"] == "completed"
        listed = await connection.list_sessions(cwd=str(desk.folder))
        assert [(each.session_id, each.title) for each in listed.sessions] == [(session, "To Ada")]

        editor.updates.clear()
        await connection.load_session(cwd=str(desk.folder), session_id=session)
        assert "user_message_chunk" in editor.kinds()
        assert editor.said("user_message_chunk").startswith("To Ada")
        assert editor.said().count(TURNS[0]["text"]) == 2
        editor.updates.clear()
        await connection.resume_session(cwd=str(desk.folder), session_id=session)
        assert editor.kinds() <= {"plan"}
        await connection.close_session(session_id=session)
        import acp

        with pytest.raises(acp.RequestError):
            await connection.prompt(session_id=session, prompt=text("And?"))

    driven(desk, story)


def test_it_decides_about_permissions_and_cancels(desk: Desk):
    question = {"message": "May I?", "form": permission_form("once", "never")}
    desk.play({**WRITTEN, "question": question, "delayMs": 600_000})

    async def story(connection: Any, editor: SecondEditor) -> None:
        opened = await connection.new_session(cwd=str(desk.folder))
        session = opened.session_id
        await connection.set_session_mode(session_id=session, mode_id="note")
        prompt = asyncio.create_task(connection.prompt(session_id=session, prompt=text("A note")))
        while "agent_message_chunk" not in editor.kinds():
            await asyncio.sleep(0.05)
        await connection.cancel(session_id=session)
        assert (await prompt).stop_reason == "cancelled"
        assert [each.option_id for each in editor.permissions[0][1]] == ["once", "never"]
        assert desk.show(session)["suspendReason"] == "interrupted"

    driven(desk, story)
