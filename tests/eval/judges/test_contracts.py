"""Every judge of the house keeps the promises of `JudgeContract`."""

import json
from dataclasses import replace

import pytest
from judges_kit import model_at

from uwf_core.api import JudgeRequest, Usage
from uwf_core.api.agent import usage_payload
from uwf_testing.judge_contract import JudgeContract
from uwf_testing.model_server import ScriptedModel
from uwf_testing.model_server_script import ModelTurn

THREAD = "01JD0000000000000000000000"
GOOD, BAD = "I repaired what the report named.", "It was never looked at by anybody."


def step(number, role, body=GOOD, **fields):
    return {
        "number": number,
        "role": role,
        "output": {"$status": "done"},
        "body": body,
        "attempt": {"edgePrompt": "Repair what the report names."},
        "turns": [],
        "corrections": [],
        "failure": None,
        "durationMs": 1000,
        "usage": usage_payload(Usage(input_tokens=10)),
        **fields,
    }


def trial(folder, *steps, **record):
    folder.mkdir(exist_ok=True)
    return JudgeRequest(
        cwd=str(folder),
        thread=THREAD,
        record={"prompt": "Repair what the report named.", "steps": list(steps), **record},
    )


class HouseContract(JudgeContract):
    """What all of them have in common."""

    @pytest.fixture
    def trial(self, tmp_path):
        return trial(
            tmp_path / "good", step(1, "a"), step(2, "b"), usage=usage_payload(Usage(cost_usd=0.1))
        )


class TestCompliance(HouseContract):
    judge = pytest.fixture(lambda self: "frontmatter-compliance")

    @pytest.fixture
    def worse(self, tmp_path):
        return trial(tmp_path / "bad", step(1, "a", corrections=[{}]))

    @pytest.fixture
    def hopeless(self, tmp_path):
        return trial(tmp_path / "none")


class TestRoute(HouseContract):
    judge = pytest.fixture(lambda self: "expected-route")
    options = pytest.fixture(lambda self: {"includes": ["a", "b"]})

    @pytest.fixture
    def worse(self, tmp_path):
        return trial(tmp_path / "bad", step(1, "a"))

    @pytest.fixture
    def hopeless(self, tmp_path):
        return JudgeRequest(cwd=str(tmp_path), thread=THREAD, record={})


class TestCommand(HouseContract):
    judge = pytest.fixture(lambda self: "command")
    options = pytest.fixture(lambda self: {"run": "test ! -e broken"})

    @pytest.fixture
    def worse(self, tmp_path):
        made = trial(tmp_path / "bad")
        (tmp_path / "bad" / "broken").write_text("")
        return made

    @pytest.fixture
    def hopeless(self, tmp_path):
        return JudgeRequest(cwd=str(tmp_path / "gone"), thread=THREAD, record={})


class TestDiffSize(HouseContract):
    judge = pytest.fixture(lambda self: "diff-size")
    options = pytest.fixture(lambda self: {"full": 0, "zero": 10})

    @pytest.fixture
    def worse(self, tmp_path):
        made = trial(tmp_path / "bad")
        (tmp_path / "bad" / "new.txt").write_text("a\nb\n")
        return made

    @pytest.fixture
    def hopeless(self, tmp_path):
        return JudgeRequest(cwd=str(tmp_path / "gone"), thread=THREAD, record={})


class TestCost(HouseContract):
    judge = pytest.fixture(lambda self: "cost")
    options = pytest.fixture(lambda self: {"fullUsd": 1.0})

    @pytest.fixture
    def worse(self, tmp_path):
        return trial(tmp_path / "bad", usage=usage_payload(Usage(cost_usd=2.0)))

    @pytest.fixture
    def hopeless(self, tmp_path):
        return trial(tmp_path / "unknown", usage=usage_payload(Usage()))


class TestDuration(HouseContract):
    judge = pytest.fixture(lambda self: "duration")
    options = pytest.fixture(lambda self: {"fullSeconds": 5})

    @pytest.fixture
    def worse(self, tmp_path):
        return trial(tmp_path / "bad", step(1, "a", durationMs=9000))

    @pytest.fixture
    def hopeless(self, tmp_path):
        return trial(tmp_path / "unknown", step(1, "a", durationMs=None))


class TestTokenStats(HouseContract):
    judge = pytest.fixture(lambda self: "token-stats")


def fair(request):
    """A model that judges by what it finds in the material, and quotes it."""
    rules, material = (message["content"] for message in request.body["messages"][:2])
    good, quote = GOOD in material, GOOD if GOOD in material else BAD
    if "`claims`" in rules or '"claims"' in rules:
        found = {"quote": quote, "supported": good, "evidence": "what the report name"}
        answer = {"claims": [found]}
    elif '"points"' in rules and '"used"' in rules:
        answer = {"points": [{"quote": "Repair what", "used": good, "evidence": quote}]}
    else:
        points = 4 if good else 0
        answer = {
            "criteria": [{"criterion": "task", "points": points, "quotes": [quote], "reason": "so"}]
        }
    return ModelTurn(text=json.dumps(answer))


@pytest.fixture(scope="module")
def model():
    with ScriptedModel([fair] * 500) as server:
        yield model_at(server.openai_url)


class ModelContract(HouseContract):
    """Those that ask a model; without one they cannot judge."""

    @pytest.fixture
    def trial(self, tmp_path, model):
        return replace(trial(tmp_path / "good", step(1, "a"), step(2, "b")), model=model)

    @pytest.fixture
    def worse(self, tmp_path, model):
        steps = (step(1, "a", BAD), step(2, "b", BAD))
        return replace(trial(tmp_path / "bad", *steps), model=model)

    @pytest.fixture
    def hopeless(self, tmp_path):
        return trial(tmp_path / "alone", step(1, "a"))


class TestRubric(ModelContract):
    judge = pytest.fixture(lambda self: "rubric")


class TestHallucination(ModelContract):
    judge = pytest.fixture(lambda self: "hallucination")


class TestUpstream(ModelContract):
    judge = pytest.fixture(lambda self: "upstream-consumption")
