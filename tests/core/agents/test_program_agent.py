"""A program as an agent: for any output and any exit code, the code decides and nothing is lost."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from uwf_core.agents.choose import PROGRAM, Choice
from uwf_core.agents.open import open_agent
from uwf_core.agents.program import OUTPUT_BYTES, ProgramCall
from uwf_core.agents.supervise import run_call
from uwf_core.api.agent import AgentContext, AgentReply, AgentRequest, Turn, Usage
from uwf_core.errors import Crashed

PRINT = 'cat "$1"; cat "$2" >&2; exit "$3"'
TEXT = {"type": "string"}
SCHEMA = {
    "oneOf": [
        {"properties": {"$status": {"const": name}, **fields}, "required": ["$status"]}
        for name, fields in (
            ("none", {}),
            ("out", {"stdout": TEXT}),
            ("both", {"stdout": TEXT, "stderr": TEXT}),
        )
    ]
}
DECLARED = {"none": (), "out": ("stdout",), "both": ("stdout", "stderr")}
CODES = st.integers(0, 255)
STATUSES = st.dictionaries(CODES.map(str), st.sampled_from(list(DECLARED)), min_size=1)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)


class Heard:
    """A sink that keeps everything."""

    def __init__(self) -> None:
        self.turns: dict[int, Turn] = {}
        self.used: Usage | None = None

    def turn(self, turn: Turn) -> None:
        self.turns[turn.index] = turn

    def session(self, session: str) -> None:
        raise AssertionError("a program has no session")

    def usage(self, usage: Usage) -> None:
        self.used = usage


def run(
    folder: Path, statuses: dict[str, str], out: bytes, err: bytes, code: int
) -> tuple[AgentReply, Heard]:
    (folder / "out").write_bytes(out)
    (folder / "err").write_bytes(err)
    argv = ("sh", "-c", PRINT, "sh", "out", "err", str(code))
    request = AgentRequest(
        thread="t",
        role="r",
        step_number=1,
        cwd=str(folder),
        env={"PATH": "/usr/bin:/bin"},
        prompt="the command",
        schema=SCHEMA,
        options=ProgramCall(argv, statuses),
    )
    choice = Choice("program", PROGRAM, "-", PROGRAM)
    opened = open_agent(
        choice, lambda _: pytest.fail("no plugin"), AgentContext(name="-", state_dir="-")
    )
    heard = Heard()
    return run_call(opened, request, heard), heard


some = settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@some
@given(STATUSES, CODES, st.binary(max_size=200), st.binary(max_size=200))
@example({"0": "both"}, 0, b"x" * (OUTPUT_BYTES + 5), "é".encode() * OUTPUT_BYTES)
@example({"0": "out"}, 0, b'{"a": 1', b"")
def test_the_exit_code_decides_and_declared_outputs_are_kept(
    tmp_path: Path, statuses: dict[str, str], code: int, out: bytes, err: bytes
) -> None:
    out += b"\n."  # never JSON
    status = statuses.get(str(code))
    if status is None:
        with pytest.raises(Crashed, match=f"exit code {code}"):
            run(tmp_path, statuses, out, err, code)
        return
    reply, heard = run(tmp_path, statuses, out, err, code)
    assert reply.structured is not None
    assert reply.structured["$status"] == status
    assert set(reply.structured) == {"$status", *DECLARED[status]}
    for name, data in (("stdout", out), ("stderr", err)):
        if name in reply.structured:
            kept = reply.structured[name]
            assert data.decode(errors="replace").replace("\0", "\ufffd").endswith(kept)
            assert len(data) > OUTPUT_BYTES or len(kept.encode()) >= len(data)
    assert reply.usage.is_exact("costUsd", "inputTokens", "outputTokens", "turns")
    assert reply.usage.cost_usd == 0
    assert (1 in heard.turns) == bool(err)


@some
@given(
    st.lists(st.text(max_size=10).filter(lambda text: "\0" not in text)),
    st.dictionaries(st.text(max_size=5), VALUES, max_size=4),
)
@example([], {"$status": "both", "stdout": 3})
def test_a_last_line_that_is_a_json_object_has_the_fields_but_never_the_status(
    tmp_path: Path, lines: list[str], fields: dict[str, Any]
) -> None:
    text = "".join(f"{line}\n" for line in lines) + json.dumps(fields) + "\n"
    reply, _ = run(tmp_path, {"7": "out"}, text.encode(errors="replace"), b"", 7)
    assert reply.structured is not None
    wanted = {key.replace("\0", "\ufffd"): None for key in fields}
    assert reply.structured.keys() == {**wanted, "$status": None}.keys()
    assert reply.structured["$status"] == "out"
