"""The peer of the puppets: acts by the environment, memory in a folder."""

import json
from dataclasses import replace
from pathlib import Path

from kit_agents.puppet import Sessions
from uwf_testing.peer import ABILITIES, Peer


class PuppetPeer(Peer):
    abilities = tuple(ABILITIES)
    kinds = ("auth", "rate_limited", "context_too_long", "max_turns")

    def __init__(self, folder: Path):
        self.folder = folder

    def prepare(self, act, call):
        env = {"KIT_ACT": json.dumps(act.document()), "KIT_PEER": str(self.folder)}
        return replace(call, env={**call.env, **env})

    def heard(self):
        lines = (self.folder / "heard.jsonl").read_text().splitlines()
        return [json.loads(line) for line in lines]

    def knows(self, session):
        return Sessions(self.folder).texts(session)

    def offered(self):
        return json.loads((self.folder / "offered.json").read_text())


class QuickPeer(PuppetPeer):
    """Does not do what only real programs can."""

    lacks = dict.fromkeys(("spawn", "spawn_and_say", "read_stdin", "close_stdin"), "takes long")
    abilities = tuple(set(ABILITIES) - set(lacks))
