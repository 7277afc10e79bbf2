"""The model of the demo: fixed rules. Pure.

Like a real model it gets the messages and the results of tools, and returns calls of tools or the
deliverable of its role. So the tools do all the work.
"""

import json
import re
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from uwf_core.api import ToolCall, Usage
from uwf_llm.chat import ChatReply, Message

CODE = "invoice.py"
TESTS = "test_invoice.py"
CUT_OFF = "int(net * VAT_PERCENT / 100)"
HALF_TO_EVEN = "round(net * VAT_PERCENT / 100)"
HALF_UP = "(net * VAT_PERCENT + 50) // 100"
LAST_TEST = "        self.assertEqual(total([99, 100]), 237)\n"
NEW_TEST = """
    def test_half_a_cent_counts_as_a_whole_one(self) -> None:
        self.assertEqual(vat(150), 29)
"""
AMOUNTS_TRIED = 1000
_PYTHON = f"{shlex.quote(sys.executable)} -B"
RUN_TESTS = f"{_PYTHON} -m unittest"
_TRY = f"""\
import json
from decimal import ROUND_HALF_UP, Decimal
from invoice import vat
exact = lambda net: int((Decimal(net) * 19 / 100).quantize(Decimal(1), ROUND_HALF_UP))
print(json.dumps([[n, vat(n), exact(n)] for n in range({AMOUNTS_TRIED}) if vat(n) != exact(n)]))
"""
TRY_AMOUNTS = f"{_PYTHON} -c {shlex.quote(_TRY)}"
PRICES, EXPECTED = [99, 100], 237
TRY_ISSUE = f"{_PYTHON} -c {shlex.quote(f'import invoice; print(invoice.total({PRICES}))')}"


class TestRun(NamedTuple):
    """How the project's tests ended, read from what run_command answered."""

    green: bool
    ran: int
    output: str


def reply(role: str, messages: Sequence[Message]) -> ChatReply:
    """What the model of a role says next, by the results it has got in this call."""
    play = ROLES.get(role)
    if play is None:
        return _stuck(f"this script plays {', '.join(ROLES)} of solve-issue, not {role}")
    try:
        return play(_results(messages))
    except (LookupError, ValueError) as fault:
        return _stuck(f"this script knows the demo's project alone, and something is new: {fault}")


def answer(messages: Sequence[Message]) -> ChatReply:
    """Answer a question: a script cannot think, but it can print its session."""
    said = [message.text for message in messages if message.role == "assistant" and message.text]
    listed = "\n".join(f"````\n{each.rstrip()}\n````\n" for each in said)
    known = f"this is what I said in this session:\n\n{listed}" if said else "I remember nothing."
    return _say(f"My model is a script and cannot think about your question, but {known}")


def plan(results: Sequence[str]) -> ChatReply:
    """The planner: run the tests, find the line, change nothing."""
    if not results:
        return _use("Which test is red?", ("run_command", {"command": RUN_TESTS}))
    run = _tests(results[0])
    if run.green:
        question = f"All {run.ran} tests pass, and this script knows only one bug. What is it?"
        return _deliver({"$status": "unclear", "question": question}, "No test fails.")
    if len(results) == 1:
        return _use("Where is that computed?", ("read_file", {"path": CODE}))
    red = re.search(r"^(?:FAIL|ERROR): (\w+)", run.output, re.MULTILINE)
    error = re.search(r"^AssertionError: (.*)$", run.output, re.MULTILINE)
    lines = results[1].splitlines()
    number = next((n for n, text in enumerate(lines, 1) if "VAT_PERCENT /" in text), 1)
    test, difference = red[1] if red else "a test", error[1] if error else "an error"
    where = f"{CODE}:{number}"
    return _deliver(
        {
            "$status": "planned",
            "file": CODE,
            "plan": f"`{test}` fails with {difference}. The tax in {where} is cut off instead of "
            "rounded; round it.",
        },
        f"One of {run.ran} tests is red: `{test}` ({difference}).\n\nThe cause is in {where}:\n\n"
        f"```python\n{lines[number - 1].strip()}\n```\n\nA fraction of a cent is thrown away.",
    )


def develop(results: Sequence[str]) -> ChatReply:
    """The developer: the obvious repair first, the thorough one when the review asks for it."""
    if not results:
        return _use("What does it say now?", ("read_file", {"path": CODE}))
    summary, edits = _repair(results[0])
    if edits and len(results) == 1:
        return _use("", *(("edit_file", edit) for edit in edits))
    if len(results) == 1 + len(edits):
        return _use("Are they green?", ("run_command", {"command": RUN_TESTS}))
    run = _tests(results[-1])
    return _deliver(
        {"$status": "done", "summary": summary, "files": [edit["path"] for edit in edits]},
        f"{summary} All {run.ran} tests have run: {'green' if run.green else 'red'}.",
    )


def review(results: Sequence[str]) -> ChatReply:
    """The reviewer: try a thousand amounts against exact arithmetic."""
    if not results:
        return _use("First the change itself.", ("read_file", {"path": CODE}))
    if len(results) == 1:
        words = f"It looks right. {AMOUNTS_TRIED} amounts will tell."
        return _use(words, ("run_command", {"command": TRY_AMOUNTS}))
    wrong = json.loads(results[1].partition("\n")[0])
    if not wrong:
        text = f"The first {AMOUNTS_TRIED} amounts all have the tax that exact arithmetic gives."
        summary = "The tax is rounded half up, in whole cents."
        return _deliver({"$status": "approved", "summary": summary}, text)
    net, has, exact = wrong[0]
    rows = [f"| {' | '.join(map(str, each))} |" for each in wrong[:5]]
    return _deliver(
        {
            "$status": "rejected",
            "comments": f"vat({net}) gives {has}, and {net * 19 / 100:g} cents have to become "
            f"{exact}: half a cent is not always rounded up. Count in whole cents, and add a test "
            "for it.",
        },
        f"{len(wrong)} of the first {AMOUNTS_TRIED} amounts have a wrong tax:\n\n"
        + "\n".join(["| net | vat | exact |", "|---|---|---|", *rows]),
    )


def verify(results: Sequence[str]) -> ChatReply:
    """The verifier: do what the reporter of the issue did."""
    if not results:
        return _use("What does that invoice come to?", ("run_command", {"command": TRY_ISSUE}))
    got = int(results[0].partition("\n")[0])
    tried = f"total({PRICES}) gives {got} cents"
    if got == EXPECTED:
        return _deliver({"$status": "solved", "evidence": f"{tried}."}, "As the issue expects.")
    missing = f"{tried}, and the issue expects {EXPECTED}."
    return _deliver({"$status": "open", "missing": missing}, "The issue is not solved.")


ROLES: Mapping[str, Callable[[Sequence[str]], ChatReply]] = {
    "planner": plan,
    "developer": develop,
    "reviewer": review,
    "verifier": verify,
}


def _repair(code: str) -> tuple[str, list[dict[str, str]]]:
    """What is to be said of the repair, and its edits."""
    if CUT_OFF in code:
        edit = {"path": CODE, "old": CUT_OFF, "new": HALF_TO_EVEN}
        return "The tax is rounded instead of cut off.", [edit]
    if HALF_TO_EVEN in code:
        edits = [
            {"path": CODE, "old": HALF_TO_EVEN, "new": HALF_UP},
            {"path": TESTS, "old": LAST_TEST, "new": LAST_TEST + NEW_TEST},
        ]
        return "Half a cent is rounded up, in whole numbers; a test checks it.", edits
    return "There was nothing left to change.", []


def _results(messages: Sequence[Message]) -> list[str]:
    """What the tools have answered since somebody last spoke."""
    results: list[str] = []
    for message in messages:
        if message.role == "user":
            results.clear()
        elif message.role == "tool":
            results.append(message.text)
    return results


def _tests(result: str) -> TestRun:
    failed = re.search(r"\n\[[^\n]+\]\Z", result)
    output = result[: failed.start()] if failed else result
    ran = re.search(r"^Ran (\d+) test", output, re.MULTILINE)
    count = int(ran[1]) if ran else 0
    return TestRun(failed is None and count > 0, count, output)


def _use(text: str, *calls: tuple[str, Mapping[str, str]]) -> ChatReply:
    tools = (ToolCall(id="call", name=name, arguments=json.dumps(given)) for name, given in calls)
    return _say(text, tuple(tools))


def _deliver(fields: Mapping[str, Any], text: str) -> ChatReply:
    """Frontmatter and text. JSON is YAML, so each value is written as JSON."""
    lines = [f"{key}: {json.dumps(value)}" for key, value in fields.items()]
    return _say("\n".join(["---", *lines, "---", text, ""]))


def _stuck(reason: str) -> ChatReply:
    return _deliver({"$status": "$SUSPEND", "reason": reason}, "")


def _say(text: str, calls: tuple[ToolCall, ...] = ()) -> ChatReply:
    return ChatReply(text=text, tool_calls=calls, usage=Usage(turns=1))
