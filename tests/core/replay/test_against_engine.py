"""A replay of a random edit stops where the engine itself would do something else.

The engine runs each edited workflow with the recorded replies as the script of its agent. The
first attempt that it records otherwise is the one at which the replay must stop; if there is none,
the replay must call every step the same. `UWF_REPLAY_EDITS=N` tries N edits of each story.
"""

import json
import os
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.core.replay.conftest import ACCEPTED, CHECKED, CORRECTED, STORY, TRIO, UNSURE, WRITTEN
from tests.core.replay.random_edits import random_edit

from uwf_core.errors import DefinitionError, UwfError
from uwf_core.ids import Ref, ThreadId
from uwf_core.replay.chain import Recorded, read_chain
from uwf_core.testing.project import Project
from uwf_core.thread.head import read_head

EDITS = int(os.environ.get("UWF_REPLAY_EDITS", "20"))
FAILED = {"fail": {"kind": "crashed", "message": "no"}}
QUESTION = {"message": "Which?", "form": {"properties": {"x": {"type": "string"}}}}

Acts = Sequence[tuple[str, dict[str, Any]]]
RUN: tuple[str, dict[str, Any]] = ("exec", {"until_done": True})

PERSONS: list[dict[str, Any]] = [
    {"role": "writer", "outputs": [FAILED, UNSURE["output"]]},
    {**WRITTEN, "question": QUESTION},
    {"role": "editor", "outputs": [CORRECTED["outputs"][0], CORRECTED["outputs"][1],
                                   ACCEPTED["output"]]},
    CHECKED,
    ACCEPTED,
    CHECKED,
]  # fmt: skip
PERSONS_ACTS: Acts = [
    RUN,
    ("resume", {"text": "try again"}),
    ("resume", {"text": "blue"}),
    ("resume", {"answer": '{"x": "1"}'}),
    ("exec", {}),
    ("poke", {"text": "be kinder"}),
    RUN,
    ("resume", {"text": "once more"}),
    RUN,
]


def typed(step: dict[str, Any]) -> dict[str, Any]:
    """A step of a script that delivers objects in place of texts."""
    if "outputs" not in step:
        return {"role": step["role"], "structured": step["output"]}
    return {"role": step["role"], "outputs": [{"structured": each} for each in step["outputs"]]}


PLAIN = [{key: each[key] for key in each if each[key] is not None} for each in STORY]
STORIES: dict[str, tuple[list[dict[str, Any]], Acts, bool]] = {
    "story": (PLAIN, [RUN], False),
    "typed": ([typed(each) for each in PLAIN], [RUN], True),
    "persons": (PERSONS, PERSONS_ACTS, False),
}


class Recording:
    """A thread to replay, and the acts of the persons that made it."""

    def __init__(self, folder: Path, name: str) -> None:
        script, self.acts, is_typed = STORIES[name]
        self._project = Project(folder)
        for place in ("part", "other", "draft"):
            (self._project.folder / place).mkdir()
        self._project.script(script)
        played = {"use": "mock", "options": {"structured": is_typed}}
        self._project.config(json.dumps({"agents": {"played": played}}))
        self.uwf = self._project.client(default_agent="played", store="memory:", durable=False)
        file = self._project.workflow("trio", TRIO)
        self.thread = self.play(str(file))

    def play(self, workflow: str) -> str:
        """A thread of a workflow that goes as far as the engine lets it."""
        thread = self.uwf.start(workflow, "The task.")["thread"]
        for name, values in self.acts:
            try:
                getattr(self.uwf, name)(thread, **values)
            except UwfError:  # another state than the recorded one
                break
        return thread

    def draft(self, workflow: dict[str, Any]) -> str:
        """The file of an edited workflow."""
        file = self._project.folder / "draft" / "trio.yaml"
        file.write_text(yaml.safe_dump(workflow, sort_keys=False, allow_unicode=True), "utf-8")
        return str(file)

    def rows(self, thread: str) -> list[dict[str, Any]]:
        """What the engine did for each attempt of a thread."""
        engine = self.uwf._engine
        chain = read_chain(engine.store, read_head(engine.store, ThreadId(thread)))
        return [self._row(each, thread) for each in chain.attempts]

    def _row(self, attempt: Recorded, thread: str) -> dict[str, Any]:
        store, payload = self.uwf._engine.store, attempt.payload
        node = payload["output"] if attempt.kind in ("step", "replaced") else None
        kind = "step" if attempt.kind == "replaced" else attempt.kind  # replaced by a later act
        to = {name: payload["next"][name] for name in ("status", "role", "reason")}
        asks = payload["next"]["message"] if to["reason"] == "role" else None
        corrections = [dict(each) for each in payload.get("corrections", ())]
        for each in corrections:
            each.update(prompt=self._text(each["prompt"], thread), raw=self._text(each["raw"], ""))
            each.pop("usage", None)
        return {
            "role": (kind, payload["number"], payload["role"]),
            "prompt": self._text(payload["attempt"]["prompt"], thread),
            "location": payload["attempt"]["cwd"],
            "correction": corrections,
            "output": None if node is None else store.payload(Ref(node)),
            "body": None if node is None else self._text(payload["body"], ""),
            "route": to,
            "message": asks,
        }

    def _text(self, ref: str | None, thread: str) -> str:
        text = "" if ref is None else self.uwf._engine.store.text(Ref(ref))
        return text.replace(thread, "THREAD") if thread else text


@pytest.fixture(scope="module", params=STORIES)
def recording(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Recording]:
    """Each story, recorded once."""
    made = Recording(tmp_path_factory.mktemp("recording"), request.param)
    yield made
    made.uwf.close()


def first_change(
    then: list[dict[str, Any]], now: list[dict[str, Any]], ignored: Collection[str] = ()
) -> tuple[int | None, set[str]]:
    """The index of the first attempt that the engine records otherwise, and its parts."""
    for index, row in enumerate(then):
        if index >= len(now):
            return index, {"missing"}
        parts = {name for name in row if row[name] != now[index][name]}.difference(ignored)
        if parts:
            return index, parts
    return None, set()


STALE = {"prompt", "correction", "message"}


@pytest.mark.parametrize("seed", range(EDITS))
def test_a_replay_stops_where_the_engine_would(recording: Recording, seed: int) -> None:
    file = recording.draft(random_edit(yaml.safe_load(TRIO), seed))
    try:
        found = recording.uwf.replay(recording.thread, file)
    except DefinitionError:
        return  # the edit made it invalid
    then, now = recording.rows(recording.thread), recording.rows(recording.play(file))
    verdicts = [each["verdict"] for each in found["steps"]]
    index, parts = first_change(then, now)
    stops = next((at for at, each in enumerate(verdicts) if each != "same"), None)
    assert stops == index, parts
    if index is None:
        return
    assert found["first"]
    assert found["first"]["causes"], "the edit is the cause"
    if not STALE.issuperset(parts):
        assert verdicts[index] == "different", parts
        return
    assert verdicts[index] == "stale"
    different = verdicts.index("different") if "different" in verdicts else None
    assert different == first_change(then, now, STALE)[0], "the types and routes after it"
