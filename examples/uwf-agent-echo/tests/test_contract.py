"""The promises of every agent, tried with a program that plays what each clause asks for."""

import json
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import pytest

from uwf_testing.agent_contract import Act, AgentContract, Peer
from uwf_testing.child_program import ScriptedProgram


class CatPeer(Peer):
    """A fake `cat`: in each call, a program of that name is first on the PATH."""

    abilities = (
        *("say", "no_usage", "write", "say_bytes", "read_stdin", "close_stdin", "heard", "lost"),
        *("missing", "crash", "silence", "hang", "hang_after", "spawn", "spawn_and_say", "knows"),
    )
    lacks: ClassVar = {
        "garbage": "it prints plain text: any text is an answer",
        "cut": "it prints plain text: nothing shows that there should be more",
        "usage": "cat reports no usage",
        "structured": "cat prints text only",
        "deny": "cat has no tools",
        "offered": "cat has no tools",
        "question": "cat asks nobody",
        "say_answer": "cat asks nobody",
        "fail": "cat reports errors as plain text only",
        "replaced": "the sessions are the adapter's own files",
        "say_variable": "the stand-in cannot print variables",
    }

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._programs: list[ScriptedProgram] = []
        self._count = 0
        self._home = ""

    def prepare(self, act, call):
        """Called before each call: the program that this call is to find."""
        self._count += 1
        self._home = call.env["HOME"]
        folder = self._folder / str(self._count)
        folder.mkdir(parents=True)
        if act.do == "missing":
            return replace(call, env={**call.env, "PATH": str(folder)})
        if act.do == "lost":
            for file in self._session_files():
                file.unlink()
        self._programs.append(ScriptedProgram(folder, "cat", script_of(act)))
        return replace(call, env={**call.env, "PATH": f"{folder}{os.pathsep}{call.env['PATH']}"})

    def heard(self) -> Sequence[str]:
        """What was sent to it, call by call."""
        return [call.stdin or "" for program in self._programs for call in program.calls]

    def knows(self, session: str) -> Sequence[str]:
        """What was sent in a session: every second text in its file."""
        files = {file.stem: file for file in self._session_files()}
        return list(json.loads(files[session].read_text("utf-8")))[::2]

    def _session_files(self) -> list[Path]:
        return list(Path(self._home).glob("**/sessions/*.json"))


def script_of(act: Act) -> list:
    """What the stand-in does: it reads all of its input, then what the clause asks for."""
    read, say = {"stdin": "read"}, {"write": act.text}
    daemon = {"daemon": {"seconds": 60}}
    return {
        "say": [read, say],
        "lost": [read, say],
        "no_usage": [read, say],
        "read_stdin": [read, say],
        "close_stdin": [{"close": "stdin"}, say],
        "write": [read, {"file": {"path": act.name, "text": act.text}}, say],
        "say_bytes": [read, {"hex": act.data.hex()}],
        "crash": [read, {"exit": act.code}],
        "silence": [read],
        "hang": [read, {"hang": True}],
        "hang_after": [read, say, {"hang": True}],
        "spawn": [read, daemon, {"hang": True}],
        "spawn_and_say": [read, daemon, say],
    }[act.do]


class TestContract(AgentContract):
    """Every clause of the contract."""

    @pytest.fixture
    def agent(self):
        return "echo"

    @pytest.fixture
    def options(self):
        return {"complete": False}

    @pytest.fixture
    def peer(self, tmp_path):
        return CatPeer(tmp_path / "peer")
