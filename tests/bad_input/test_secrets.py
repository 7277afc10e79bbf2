"""A secret that somebody types or an agent prints is nowhere on the disk: not in the store's bytes,
its log included, not in the log, not in what a run leaves behind, and not on the screen.
"""

import base64
import json
import sys
import urllib.parse
from collections.abc import Iterator
from pathlib import Path

import pytest
from refusals import World
from rig import GOOD, eventually

LEAKY = Path(__file__).parent / "programs" / "leaky.py"
CONFIGURED = "conf-7f3a9c+d/e5=1b"
DOTTED = 'env "file" b8c2&4d?6f'
INHERITED = "päß-wörd-52e1f0a9"
SECRETS = (CONFIGURED, DOTTED, INHERITED)
HOW = {
    "text": 0,
    "structured": 0,
    "bad_events": 0,
    "session": 0,
    "session_told_early": 6,
    "session_of_an_error": 6,
    "suspends": 3,
    "asks": 3,
    "invalid": 4,
    "crash": 6,
    "fails": 6,
    "garbage": 6,
}


def forms(secret: str) -> list[bytes]:
    """What would give the secret away: itself, as JSON, as URL, and what base64 makes of it
    wherever it stands in what is encoded (without the characters at the ends, which depend on it).
    """
    data = secret.encode()
    inner = [base64.b64encode(b"x" * ahead + data)[4 if ahead else 0 : -4] for ahead in range(3)]
    texts = [secret, json.dumps(secret)[1:-1], urllib.parse.quote(secret, safe="")]
    return [*(text.encode() for text in texts), *inner]


@pytest.fixture(scope="module")
def leaking(shared: World) -> World:
    """A project with three secrets and an agent for each way of telling them."""
    agents = {
        how: {"command": sys.executable, "args": ["-I", "-S", str(LEAKY), how], "options": {}}
        for how in HOW
    }
    for agent in agents.values():
        agent["capabilities"] = ["continue", "stream"]
        agent["env"] = ["LEAK", "MY_PASSWORD", "SERVICE_TOKEN"]
    provider = {"mine": {"baseUrl": "https://llm.example/v1", "apiKey": CONFIGURED}}
    shared.config(f"agents: {json.dumps(agents)}\nproviders: {json.dumps(provider)}\n")
    (shared.home / ".env").write_text(f"SERVICE_TOKEN='{DOTTED}'\n", encoding="utf-8")
    shared.env |= {"MY_PASSWORD": INHERITED, "LEAK": json.dumps(SECRETS)}
    return shared


@pytest.fixture
def leaky(leaking: World) -> Iterator[World]:
    """That project, looked through after each test."""
    yield leaking
    check_clean(leaking)


def check_clean(rig: World) -> None:
    """No file of the home holds a secret, save the two that it was written into by hand."""
    by_hand = {rig.home / "config.yaml", rig.home / ".env"}
    looked_at = set()
    for file in rig.home.rglob("*"):
        if file.is_file() and file not in by_hand:
            looked_at.add(file.name)
            data = file.read_bytes()
            assert CONFIGURED[:12].encode() not in data, "a beginning, of a turn that grew"
            for secret in SECRETS:
                for form in forms(secret):
                    assert form not in data, f"{form!r} stands in {file}: {around(data, form)!r}"
    assert "store.db" in looked_at
    assert "store.db-wal" in looked_at


def around(data: bytes, form: bytes) -> bytes:
    place = data.index(form)
    return data[max(0, place - 80) : place + len(form) + 20]


def check_silent(text: str) -> None:
    for secret in SECRETS:
        for form in forms(secret):
            assert form.decode("ascii", "replace") not in text
            assert secret not in text


@pytest.mark.parametrize("how", HOW)
def test_a_secret_that_an_agent_tells_is_stored_and_shown_nowhere(leaky: World, how: str) -> None:
    thread = leaky.start()
    ran = leaky.call("thread", "exec", thread, "--agent", how)
    assert ran.exit_code == HOW[how], ran
    check_silent(ran.stdout + ran.stderr)
    if how == "text":
        with leaky.client() as uwf:
            assert "[redacted]" in uwf.turns(thread)[0]["text"], "there was something to hide"
            assert "[redacted]" in uwf.step(ran.document["steps"][0]["step"])["output"]["note"]
    for words in (("thread", "show", thread), ("thread", "read", thread), ("log", "list")):
        check_silent(leaky.call(*words).stdout)


def test_a_secret_that_is_typed_is_stored_and_shown_nowhere(leaky: World) -> None:
    everything = " ".join(SECRETS)
    leaky.play({"role": "writer", "suspend": {"reason": "who?"}}, GOOD, repeat=True)
    thread = leaky.start(prompt=f"use {everything}")
    for words in (
        ("thread", "exec", thread),
        ("thread", "resume", thread, "-p", f"here: {everything}"),
        ("thread", "poke", thread, "-p", f"again: {everything}"),
        ("step", "ask", "@last", "-p", f"is it {everything}?"),
        ("thread", "exec", thread, "--agent", f"./{CONFIGURED} x"),
        ("thread", "show", CONFIGURED),
        ("thread", "start", "loop", "-p", "x", "--agent", CONFIGURED),
    ):
        told = leaky.call(*words)
        assert "Traceback" not in told.stderr
        check_silent(told.stdout + told.stderr)
    bound = leaky.call(
        "thread", "start", "loop", "-p", "x", "--agent", f"/bin/x --key {CONFIGURED}"
    )
    assert (bound.exit_code, bound.stdout) == (2, "")
    check_silent(bound.stderr)
    with leaky.client() as uwf:
        assert "[redacted]" in uwf.prompt(uwf.steps(thread)[1]["step"])


def test_a_secret_told_in_a_background_run_stays_out_of_what_it_leaves_behind(leaky: World) -> None:
    thread = leaky.start()
    for how in ("crash", "fails"):
        assert leaky.uwf("thread", "exec", thread, "--agent", how, "--background").exit_code == 0
        waited = leaky.call("thread", "wait", thread)
        assert waited.exit_code == 6
        check_silent(waited.stdout)
    assert eventually(lambda: not leaky.others()), "what it writes as it ends is looked at too"
    assert list(leaky.home.glob("runs/*.err")), "the fixture looks at these too"


def test_a_secret_in_an_answer_is_stored_nowhere(leaky: World) -> None:
    question = {"message": "Which key?", "form": {"properties": {"key": {"type": "string"}}}}
    leaky.play({"role": "writer", "question": question, "output": {"$status": "done"}})
    thread = leaky.start()
    assert leaky.call("thread", "exec", thread).exit_code == 3
    answered = leaky.call("thread", "resume", thread, "--answer", f"key={CONFIGURED}")
    assert answered.exit_code == 0, answered
    check_silent(answered.stdout + answered.stderr)


def test_a_traceback_holds_no_secret_either(leaky: World) -> None:
    leaky.start()
    told = leaky.call("--debug", "thread", "show", INHERITED)
    assert "Traceback" in told.stderr
    check_silent(told.stdout + told.stderr)
