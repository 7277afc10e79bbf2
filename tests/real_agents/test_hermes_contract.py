"""The contract of every agent, kept by the adapter with the real Hermes behind it."""

import json
import os
import sqlite3
from dataclasses import replace
from typing import ClassVar

import pytest
from hermes_warm import Warm
from hermes_world import World, text_of, tool

from uwf_agent_hermes.options import HermesOptions
from uwf_testing.agent_contract import AgentContract, KitLimits
from uwf_testing.model_server_script import ModelTurn
from uwf_testing.peer import Peer

pytestmark = pytest.mark.timeout(300)  # a start takes seconds, and more on a busy machine

REFUSED = {"text": "No.", "stopReason": "content_filter"}
FAILURES = {
    "auth": {"error": {"status": 401, "message": "wrong key"}},
    "rate_limited": {"error": {"status": 429, "message": "slow down"}},
    "bad_request": {"error": {"status": 400, "message": "no"}},
    "unavailable": {"error": {"status": 503, "message": "overloaded"}},
    "refused": REFUSED,
    "truncated": {"text": "x" * 500, "drop": "middle"},
    "empty": {"text": ""},
}
COLD = ("spawn", "spawn_and_say")
ACP = "it speaks a protocol on its standard input and output"


class HermesPeer(Peer):
    """A scripted model behind the real program."""

    abilities = (
        *("say", "no_usage", "write", "say_variable", "deny", "question", "fail", "missing"),
        *("crash", "garbage", "cut", "silence", "hang", "spawn", "spawn_and_say", "lost"),
        *("heard", "knows"),
    )
    lacks: ClassVar = {
        "usage": "Hermes says 0 of cached tokens where the service says nothing of them; "
        "test_hermes_sessions.py counts",
        "structured": "Hermes answers text",
        "say_answer": "it asks for permission, and the answer is a choice",
        "offered": "Hermes' tools cannot be narrowed for one call",
        "say_bytes": ACP,
        "read_stdin": ACP,
        "close_stdin": ACP,
        "hang_after": "it is ended as soon as its turn is over",
        "replaced": "`session/load` never begins another session",
    }
    kinds = tuple(FAILURES)

    def __init__(self, world, program):
        self._world, self._program = world, program

    def prepare(self, act, call):
        prompt = getattr(call, "prompt", None) or call.question
        self._world.plan(prompt, *self._turns(act))
        env = {**self._world.env, **call.env}
        if act.do in COLD:
            env["KIT_COLD"] = "1"
        if act.do == "lost":
            self._forget_all()
        permission = {"deny": "deny", "question": "ask"}.get(act.do, "allow")
        options = HermesOptions(
            command="no-such-hermes" if act.do == "missing" else str(self._program),
            home=str(self._world.home),
            permission=permission,
        )
        return replace(call, env=env, options=options)

    def heard(self):
        return [
            text_of(message)
            for request in self._world.model.requests
            for message in request.messages
            if message["role"] == "user"
        ]

    def knows(self, session):
        query = "SELECT content FROM messages WHERE session_id = ? AND role = 'user' ORDER BY id"
        with self._database() as database:
            return [row[0] for row in database.execute(query, (session,))]

    def _forget_all(self):
        with self._database() as database:
            database.execute("DELETE FROM messages")
            database.execute("DELETE FROM sessions")

    def _database(self):
        return sqlite3.connect(self._world.home / "state.db")

    def _turns(self, act):
        made = getattr(self, f"_{act.do}", None)
        return made(act) if made else [{"text": act.text}]

    def _no_usage(self, act):
        return [{"text": act.text, "noUsage": True}]

    def _write(self, act):
        return [{"toolCalls": [tool("write_file", path=act.name, content=act.text)]}, act.text]

    def _say_variable(self, act):
        def answer(request):
            return ModelTurn(text=json.loads(request.messages[-1]["content"])["output"])

        command = f'printf %s "${{{act.name}-unset}}"'
        return [{"toolCalls": [tool("terminal", command=command)]}, answer]

    def _deny(self, act):
        return [{"toolCalls": [tool("terminal", command="rm -rf ./build")]}, act.text]

    def _question(self, act):
        return [{"toolCalls": [tool("terminal", command=f"rm -rf './{act.text}'")]}, "Done."]

    def _fail(self, act):
        return [FAILURES[act.kind]]

    def _crash(self, act):
        return [{"toolCalls": [tool("terminal", command="kill -KILL $PPID")]}, "Alive?"]

    def _garbage(self, act):
        return [{"raw": {"body": "<html>no JSON</html>", "contentType": "text/html"}}]

    def _cut(self, act):
        return [{"text": act.text or "x" * 500, "drop": "middle"}]

    def _silence(self, act):
        return [{"text": ""}]

    def _hang(self, act):
        return [{"text": "x", "hang": "start"}]

    def _spawn(self, act):
        call = tool("terminal", command="sleep 600", background=True)
        return [{"toolCalls": [call]}, {"text": "x", "hang": "start"}]

    def _spawn_and_say(self, act):
        return [{"toolCalls": [tool("terminal", command="sleep 600", background=True)]}, act.text]


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    world = World(tmp_path_factory.mktemp("hermes"), os.environ["UWF_REAL_HERMES"])
    yield world
    world.close()


@pytest.fixture(scope="module")
def program(world):
    """Hermes without its start, which the clauses about processes have."""
    warm = Warm(world.root, world.program, {**world.env, "HERMES_HOME": str(world.home)})
    try:
        warm.wait()
        yield warm.program
    finally:
        warm.close()


@pytest.mark.filterwarnings("ignore:Class-scoped fixture")
class TestHermes(AgentContract):
    limits = KitLimits(
        call_seconds=60.0,
        hang_seconds=4.0,
        cancel_seconds=3.0,
        slack_seconds=20.0,
        large_bytes=1_000_000,
    )

    @pytest.fixture
    def agent(self):
        return "hermes"

    @pytest.fixture
    def peer(self, world, program):
        return HermesPeer(world, program)
