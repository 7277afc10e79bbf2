"""An agent of the protocol by its Python package, which checks what we send against the schema:
`second.py FOLDER`. A session is a file of FOLDER.
"""

import asyncio
import sys
from pathlib import Path

import acp
from acp import schema

FOLDER = Path(sys.argv[1])


class SecondAgent:
    def on_connect(self, conn):
        self.client = conn

    async def initialize(self, protocol_version, client_capabilities=None, **_):
        able = schema.SessionCapabilities(fork={}, close={})
        capabilities = schema.AgentCapabilities(load_session=True, session_capabilities=able)
        return acp.InitializeResponse(
            protocol_version=protocol_version, agent_capabilities=capabilities
        )

    async def new_session(self, cwd, **_):
        (FOLDER / "s1").write_text("")
        return acp.NewSessionResponse(session_id="s1")

    async def load_session(self, cwd, session_id, **_):
        for line in (FOLDER / session_id).read_text().splitlines():
            await self.client.session_update(session_id, acp.update_user_message_text(line))
        return acp.LoadSessionResponse()

    async def fork_session(self, session_id, cwd, **_):
        (FOLDER / "s2").write_text((FOLDER / session_id).read_text())
        return schema.ForkSessionResponse(session_id="s2")

    async def close_session(self, session_id, **_):
        return schema.CloseSessionResponse()

    async def cancel(self, session_id, **_):
        self.cancelled.set()

    async def prompt(self, session_id, prompt, **_):
        self.cancelled = asyncio.Event()
        said = prompt[0].text
        with (FOLDER / session_id).open("a") as file:
            file.write(said + "\n")
        if said == "wait":
            await self.client.session_update(session_id, acp.update_agent_message_text("I wait."))
            await self.cancelled.wait()
            return acp.PromptResponse(stop_reason="cancelled")
        tell = self.client.session_update
        await tell(session_id, acp.update_agent_message_text("I write."))
        call = acp.start_tool_call("t", "Write a.txt", kind="edit", raw_input={"path": "a.txt"})
        await tell(session_id, call)
        options = [
            schema.PermissionOption(option_id=kind, name=kind, kind=kind)
            for kind in ("allow_once", "reject_once")
        ]
        asked = schema.ToolCallUpdate(tool_call_id="t", title="Write a.txt", kind="edit")
        answer = await self.client.request_permission(session_id, asked, options)
        await tell(session_id, acp.update_tool_call("t", status="completed"))
        await tell(session_id, acp.update_agent_message_text(f"{answer.outcome.outcome}: done"))
        usage = schema.Usage(input_tokens=7, output_tokens=2, total_tokens=9)
        return acp.PromptResponse(stop_reason="end_turn", usage=usage)


asyncio.run(acp.run_agent(SecondAgent(), use_unstable_protocol=True))
