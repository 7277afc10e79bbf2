"""The life cycle as a state machine: whatever people do in whatever order, the promises hold."""

import tempfile
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from tests.core.engine.conftest import LOOP
from tests.forms import form

from uwf_core.client import Client
from uwf_core.errors import FailureKind, WrongStateError
from uwf_core.testing.project import Project

OUTPUTS = {
    "developer": [{"$status": "done"}],
    "reviewer": [
        {"$status": "approved"},
        {"$status": "rejected", "comments": "no"},
        {"$status": "unsure", "comments": "hm"},
    ],
}
MAY_REPEAT = "    limits: {maxUnchanged: 0}\n"
FAILURES = ["crashed", "timeout", "context_too_long", "rate_limited", "refused"]


class Life(RuleBasedStateMachine):
    """One thread, its model, and its forks."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.project = Project(Path(self.folder.name))
        self.project.workflow("loop", LOOP.replace(" it.\n", f" it.\n{MAY_REPEAT}"))
        self.uwf: Client = self.project.client(store="memory:")
        self.status, self.role = "idle", "developer"
        self.chain: list[str] = []
        self.summaries: list[int] = []
        self.failed = 0

    def teardown(self) -> None:
        assert self.uwf.verify()["problems"] == []
        for row in self.uwf.list():
            found = self.uwf.replay(row["thread"])
            assert found["verdict"] == "same", found["first"]
        self.uwf.close()
        self.folder.cleanup()

    @initialize()
    def start(self) -> None:
        self.thread = self.uwf.start("loop", "The task.")["thread"]

    def play(self, entry: dict[str, Any]) -> None:
        """Let the mock agent say `entry` at whatever step comes next."""
        self.project.script([entry] * (len(self.chain) + 2))

    def speak(self, output: dict[str, Any], run: Any, *, replaces: bool = False) -> None:
        """A role says `output` and the model follows the graph."""
        role = self.chain[-1] if replaces else self.role
        self.play({"role": role, "output": output})
        outcome = run()
        result = outcome.document["steps"][0]
        assert (result["role"], result["failure"]) == (role, None)
        if not replaces:
            self.chain.append(role)
        elif self.summarized == len(self.chain):
            self.summaries.pop()
        self.failed = 0
        self.status, self.role = {
            "done": ("idle", "reviewer"),
            "approved": ("completed", ""),
            "rejected": ("idle", "developer"),
            "unsure": ("suspended", "reviewer"),
            "$SUSPEND": ("suspended", role),
        }[output["$status"]]
        self.reason = "role"
        assert outcome.exit_code == (3 if self.status == "suspended" else 0)

    def can_run(self) -> bool:
        return self.status == "idle" or (self.status == "suspended" and self.reason != "role")

    @precondition(lambda self: self.can_run())
    @rule(data=st.data(), yields=st.booleans())
    def exec(self, data: st.DataObject, yields: bool) -> None:
        outputs = [*OUTPUTS[self.role], *([{"$status": "$SUSPEND", "reason": "?"}] * yields)]
        self.speak(data.draw(st.sampled_from(outputs)), lambda: self.uwf.exec(self.thread))

    @precondition(lambda self: self.can_run())
    @rule(kind=st.sampled_from(FAILURES))
    def fail(self, kind: str) -> None:
        self.play({"role": self.role, "fail": {"kind": kind, "message": "x"}})
        outcome = self.uwf.exec(self.thread)
        assert outcome.exit_code == FailureKind.of(kind).exit_code
        self.status, self.reason = "suspended", "failure"
        self.failed += 1

    @precondition(lambda self: self.status == "suspended")
    @rule(data=st.data())
    def resume(self, data: st.DataObject) -> None:
        output = data.draw(st.sampled_from(OUTPUTS[self.role]))
        self.speak(output, lambda: self.uwf.resume(self.thread, "go on"))

    @precondition(lambda self: self.status == "completed")
    @rule()
    def resume_after_the_end(self) -> None:
        self.role = "developer"
        self.speak(OUTPUTS["developer"][0], lambda: self.uwf.resume(self.thread, "more"))

    def may_poke(self) -> bool:
        by_role = self.status == "suspended" and self.reason == "role"
        return bool(self.chain) and (self.status in ("idle", "completed") or by_role)

    @precondition(lambda self: self.may_poke())
    @rule(data=st.data())
    def poke(self, data: st.DataObject) -> None:
        output = data.draw(st.sampled_from(OUTPUTS[self.chain[-1]]))
        self.speak(output, lambda: self.uwf.poke(self.thread, "again"), replaces=True)

    @precondition(lambda self: not self.may_poke())
    @rule()
    def poke_is_refused(self) -> None:
        self.refused(lambda: self.uwf.poke(self.thread, "again"))

    @precondition(lambda self: self.status in ("idle", "cancelled"))
    @rule()
    def resume_is_refused(self) -> None:
        self.refused(lambda: self.uwf.resume(self.thread, "x"))

    def refused(self, run: Any) -> None:
        before = self.uwf.show(self.thread)
        try:
            run()
        except WrongStateError:
            assert self.uwf.show(self.thread) == before
            return
        raise AssertionError("it was not refused")

    @precondition(lambda self: len(self.chain) > self.summarized and self.status != "cancelled")
    @rule()
    def compact(self) -> None:
        before = self.uwf.show(self.thread)
        done = self.uwf.compact(self.thread, f"All {len(self.chain)}.")
        assert (done["number"], done["step"]) == (len(self.chain), before["head"])
        after = self.uwf.show(self.thread)
        assert {**after, "updatedAtMs": 0, "compacted": 0} == {
            **before,
            "updatedAtMs": 0,
            "compacted": 0,
        }
        self.summaries.append(len(self.chain))

    @precondition(lambda self: self.summarized == len(self.chain) or self.status == "cancelled")
    @rule()
    def compact_is_refused(self) -> None:
        self.refused(lambda: self.uwf.compact(self.thread, "Nothing new."))

    @property
    def summarized(self) -> int:
        """The newest step with a summary that holds."""
        return self.summaries[-1] if self.summaries else 0

    @precondition(lambda self: bool(self.chain))
    @rule()
    def fork(self) -> None:
        steps = self.uwf.steps(self.thread)
        fork = self.uwf.fork(steps[-1]["step"])["thread"]
        assert self.uwf.steps(fork) == steps
        assert self.uwf.show(fork)["usage"]["inputTokens"] == 0

    @precondition(lambda self: self.status in ("idle", "suspended") and len(self.chain) > 3)
    @rule()
    def cancel(self) -> None:
        self.uwf.cancel(self.thread)
        self.status, self.role = "cancelled", ""

    @invariant()
    def what_is_shown_is_what_happened(self) -> None:
        shown = self.uwf.show(self.thread)
        waits = self.status == "suspended" and self.reason == "role"
        assert (shown["status"], shown["suspendedRole"] if waits else shown["currentRole"]) == (
            self.status,
            self.role or None,
        )
        assert not (waits and shown["currentRole"]), "exec would run nobody"
        assert shown["steps"] == len(self.chain)
        assert [row["role"] for row in self.uwf.steps(self.thread)[1:]] == self.chain
        listed = next(row for row in self.uwf.list() if row["thread"] == self.thread)
        assert {key: shown[key] for key in listed} == listed
        assert shown.keys() - listed.keys() == {
            "input",
            "agent",
            "bindings",
            "form",
            "worktree",
            "compacted",
            "result",
            "files",
            "notices",
            "next",
            "hint",
            "stack",
            "children",
        }
        assert (shown["compacted"] or {}).get("number", 0) == self.summarized

    @invariant()
    def the_state_is_what_the_stored_events_say(self) -> None:
        assert self.uwf.verify(self.thread)["problems"] == []
        assert len(self.uwf.thread(self.thread).pending) == self.failed

    @invariant()
    def the_ledger_is_the_sum_of_the_attempts(self) -> None:
        for row in self.uwf.list():
            shown, total = self.uwf.thread(row["thread"]), self.uwf.usage(row["thread"])
            assert row["usage"] == shown.usage == total["total"]["usage"]
            assert shown.running_ms == total["total"]["durationMs"]
            for key in ("steps", "attempts", "durationMs"):
                assert sum(each[key] for each in total["rows"]) == total["total"][key]  # type: ignore[literal-required]


TestLife = Life.TestCase
TestLife.settings = settings(
    max_examples=form(short=8, long=250),
    stateful_step_count=14,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
