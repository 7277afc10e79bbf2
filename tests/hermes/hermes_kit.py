"""The adapter at a desk: transcripts of the real program are played to it by a scripted peer."""

import json
import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from acp_wire import Wire

from uwf_agent_acp.agent.turn_builder import TurnBuilder
from uwf_agent_acp.protocol.client import AcpClient, PromptEnd
from uwf_agent_hermes.agent import HermesAgent
from uwf_agent_hermes.options import HermesOptions
from uwf_core.api import FIRST_ID, AgentContext, AgentRequest, RunLimits
from uwf_testing.harness import RecordingSink

HERE = Path(__file__).resolve().parent
TRANSCRIPTS = HERE / "transcripts"
VERSIONS = sorted(path.name for path in TRANSCRIPTS.iterdir())


class Desk:
    """Makes agents whose program plays a transcript."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.sink = RecordingSink()
        self.temporary = root / "tmp"
        self.temporary.mkdir()
        self.state = root / "state"

    def agent(self, lines: Sequence[str], *flags: str, **options: Any) -> HermesAgent:
        """An agent whose program plays these lines."""
        script = self.root / "hermes"
        transcript = self.root / "transcript.txt"
        transcript.write_text("".join(f"{line}\n" for line in lines), "utf-8", "surrogateescape")
        peer = str(HERE / "programs" / "acp_peer.py")
        run = shlex.join([sys.executable, "-I", "-S", peer, str(transcript), *flags])
        script.write_text(f"#!/bin/sh\nexec {run}\n")
        script.chmod(0o755)
        context = AgentContext(name="hermes", state_dir=str(self.state))
        return HermesAgent(HermesOptions(command=str(script), **options), context)

    def played(self, name: str, *flags: str, **options: Any) -> HermesAgent:
        """An agent whose program plays the recorded case."""
        return self.agent(transcript(name), *flags, **options)

    def request(self, **more: Any) -> AgentRequest:
        defaults: dict[str, Any] = {
            "thread": "T",
            "role": "developer",
            "step_number": 1,
            "cwd": str(self.root),
            "prompt": "Do it.",
            "env": {"PATH": os.environ["PATH"], "TMPDIR": str(self.temporary)},
            "limits": RunLimits(seconds=60.0, grace_seconds=0.4),
        }
        return AgentRequest(**{**defaults, **more})


def transcript(name: str, version: str = VERSIONS[-1]) -> list[str]:
    """The lines of a recorded case."""
    return (TRANSCRIPTS / version / f"{name}.txt").read_text("utf-8").splitlines()


def session_of(name: str, version: str = VERSIONS[-1]) -> str:
    """The session that a recorded case is about."""
    for line in transcript(name, version):
        params = json.loads(line[2:]).get("params", {}) if line.startswith("> ") else {}
        if "sessionId" in params:
            return str(params["sessionId"])
    raise AssertionError(f"{name} has no session")


class Heard(NamedTuple):
    """What the client and the teller make of a recorded case."""

    end: PromptEnd
    teller: TurnBuilder
    session: str
    log: str


def heard(name: str, version: str) -> Heard:
    """A recorded case of one prompt, without a process: the ids are those of the recording."""
    lines = transcript(name, version)
    first = next(json.loads(line[2:])["id"] for line in lines if line.startswith("> "))
    wire = Wire(*(_with_id_of_today(line, first) for line in lines if line.startswith("< ")))
    teller = TurnBuilder(RecordingSink(), lambda request: request.option("reject_once"))
    client = AcpClient(wire, teller)
    client.initialize("uwf", "1")
    session = client.open_session("new", "/w")
    client.tell_session(session.id, "set_mode", modeId=session.mode_ids[0])
    teller.listen_to(session.id)
    end = client.prompt(session.id, "Do it.")
    log = "\n".join(line[2:] for line in lines if line.startswith("! "))
    return Heard(end, teller, session.id, log)


def _with_id_of_today(line: str, first: int) -> bytes:
    """What Hermes said; our requests counted from `first` when it was recorded."""
    message = json.loads(line[2:]) if line.startswith("< {") else {}
    if "method" not in message and isinstance(message.get("id"), int):
        return json.dumps({**message, "id": message["id"] - first + FIRST_ID}).encode()
    return line[2:].encode()
