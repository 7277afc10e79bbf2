"""An agent in Python as a command (`serve_agent`) that copies a session only with a prompt."""

import json
import sys
from pathlib import Path

import pytest
from tests.core.engine.conftest import LOOP
from tests.step_parts import session_of

from uwf_core.client import Client
from uwf_core.testing.project import Project

AGENT = """
import os
import sys
from pathlib import Path

from uwf_core.api import AgentReply, AgentSpec, SessionLost
from uwf_core.api.serve import serve_agent

FOLDER = Path(__file__).parent / "sessions"


class Copier:
    def __init__(self, options, context):
        FOLDER.mkdir(exist_ok=True)

    def run(self, request, sink):
        session, continuation, said = request.session, "new", []
        if session is not None:
            file = FOLDER / session
            if not file.exists():
                raise SessionLost(f"there is no session {session}")
            said, continuation = file.read_text().splitlines(), "continued"
        if session is None or request.forks:
            continuation = "forked" if request.forks else "new"
            session = f"s{len(list(FOLDER.iterdir()))}"
        sink.session(session)
        said.append(request.parts.instruction.replace("\\n", " "))
        (FOLDER / session).write_text("\\n".join(said))
        output = {"$status": "done"}
        if request.role == "reviewer":
            output = {"$status": "rejected", "comments": "no"}
        proof = None if continuation == "new" else f"it knew {len(said) - 1} prompts"
        return AgentReply(
            structured=output, session=session, continuation=continuation, proof=proof
        )

    def fork(self, session, request, at=None):
        return None

    def close(self):
        pass


SPEC = AgentSpec(
    name="copier", summary="It copies.", factory="__main__:Copier",
    capabilities=frozenset(("continue", "fork", "structured")),
)
sys.exit(serve_agent(SPEC))
"""


class Sessions:
    """A project whose agent is that command, and what its sessions were told."""

    def __init__(self, root: Path) -> None:
        self.project = Project(root)
        self.project.workflow("loop", LOOP)
        self._folder = root / "agent"
        self._folder.mkdir()
        (self._folder / "agent.py").write_text(AGENT)
        agent = {
            "command": sys.executable,
            "args": [str(self._folder / "agent.py")],
            "capabilities": ["continue", "fork"],
        }
        self.project.config(json.dumps({"agents": {"me": agent}}))

    def client(self) -> Client:
        return self.project.client(default_agent="me")

    def told(self, session: str) -> list[str]:
        return (self._folder / "sessions" / session).read_text().splitlines()

    def lose(self, session: str) -> None:
        (self._folder / "sessions" / session).unlink()


@pytest.fixture
def sessions(tmp_path: Path) -> Sessions:
    return Sessions(tmp_path)


def test_a_fork_copies_the_session_with_its_first_prompt_and_continues_the_copy(
    sessions: Sessions,
) -> None:
    with sessions.client() as uwf:
        thread = uwf.start("loop", "The task.")["thread"]
        uwf.exec(thread, count=2)
        fork = uwf.fork(uwf.steps(thread)[2]["step"])["thread"]
        uwf.exec(fork, count=3)
        first, _, third = (uwf.step(row["step"]) for row in uwf.steps(fork)[3:])
        uwf.exec(thread)
        origin = uwf.step(uwf.steps(thread)[3]["step"])
    assert (session_of(first)["continuation"], session_of(first)["id"]) == ("forked", "s2")
    assert first["proof"] == "it knew 1 prompts"
    assert (session_of(third)["continuation"], session_of(third)["id"]) == ("continued", "s2")
    assert sessions.told("s2") == ["Write it.", "Fix: no", "Fix: no"]
    assert (session_of(origin)["continuation"], session_of(origin)["id"]) == ("continued", "s0")
    assert sessions.told("s0") == ["Write it.", "Fix: no"], "the origin knows nothing of the fork"


def test_a_session_that_is_gone_when_it_is_to_be_copied_is_replaced_by_a_new_one(
    sessions: Sessions,
) -> None:
    with sessions.client() as uwf:
        thread = uwf.start("loop", "The task.")["thread"]
        uwf.exec(thread, count=2)
        sessions.lose("s0")
        fork = uwf.fork(uwf.steps(thread)[2]["step"])["thread"]
        uwf.exec(fork)
        step = uwf.step(uwf.steps(fork)[-1]["step"])
    assert (session_of(step)["continuation"], step["proof"]) == ("restarted", None)
    assert len(sessions.told(session_of(step)["id"])) == 1
