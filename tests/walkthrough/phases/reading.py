"""Recorded threads and versions: replay, explain, compare, write in other formats."""

import hashlib
import json
import subprocess
from functools import partial
from typing import Any
from urllib.request import urlopen
from xml.etree import ElementTree

from tests.walkthrough.checking import Uwf, check

_EXPORTER = """
from uwf_core.api import ExporterSpec, hookimpl


@hookimpl
def uwf_exporters():
    return [ExporterSpec(name="roles", summary="the roles", factory=f"{__name__}:Roles")]


class Roles:
    def export(self, thread):
        for step in thread.steps("output"):
            yield f"{step.number} {step.role} {step.status}\\n"
"""


@check("replay")
def a_recorded_thread_is_replayed_without_an_agent(uwf: Uwf) -> None:
    thread = uwf.letter()["thread"]
    uwf.script("steps: [{role: writer, fail: {kind: crashed}}]")
    uwf("replay", thread, has={"replays.0.verdict": "same", "replays.0.counts.same": 4})
    changed = ("--workflow", uwf.changed_letter("May this be sent?", "Is this polite?"), thread)
    uwf("replay", *changed, code=1, has={
        "replays.0.verdict": "stale", "replays.0.steps.0.verdict": "same",
        "replays.0.first.number": 2, "replays.0.counts.unreachable": 0,
    })  # fmt: skip
    uwf("replay --allow stale", *changed)
    suites = ElementTree.fromstring(uwf("replay --format junit", *changed, code=1))
    uwf.expect(len(suites.findall(".//failure")) > 0, "no test case of JUnit failed")
    uwf("thread show", thread, has={"status": "completed", "steps": 4})


@check("replay")
def a_replay_runs_on_from_the_first_change(uwf: Uwf) -> None:
    thread = uwf.letter()["thread"]
    changed = uwf.changed_letter("May this be sent?", "Is this polite?")
    uwf.script("Dear neighbours -> Dear friends")
    live = uwf("replay --live --workflow", changed, thread, has={"status": "completed"})
    uwf.same("the steps", [each["role"] for each in live["steps"]], ["reader", "writer", "reader"])
    uwf.expect(live["thread"] != thread, "it ran the recorded thread")
    uwf("step show", live["steps"][1]["step"], has={"output.text": "Dear friends"})


@check("thread why")
def a_thread_is_explained_with_its_proof(uwf: Uwf) -> None:
    run = uwf.letter()
    thread, second = run["thread"], run["steps"][1]["step"]
    root = uwf("thread export -o letter.tar", thread)["root"]
    uwf("thread why", thread, says=[
        "Invite the street", "Step 2: the reader decided “again”", "rule graph.reader.again",
        second, "Once more: Who is all?", f"have the fingerprint (root) {root}.",
    ])  # fmt: skip
    one = uwf("thread why --step", second, thread, says=["comments: Who is all?"])
    uwf.expect("Dear neighbours" not in one, "--step explains other steps as well")
    uwf("thread why -o why.html", thread)
    page = (uwf.folder / "why.html").read_text()
    uwf.expect("Dear neighbours" in page and root in page, "why.html lacks a text or the proof")
    uwf("thread why no-such-thread", code=2)


@check("usage")
def what_threads_have_used_is_added_up(uwf: Uwf) -> None:
    thread = uwf.letter()["thread"]
    uwf("usage", thread, has={"threads": 1, "by": "role", "total.asks": 0})
    letters = uwf("usage --by workflow --since 1d --workflow letter", has={"rows.#": 1})
    uwf.same("the workflow of the row", letters["rows"][0]["name"], "letter")
    uwf("usage --workflow no-such-workflow", code=2, fails="no thread of the workflow")
    uwf("usage --by agent", thread, "--since", "7d", code=2, fails="--since")


@check("thread diff")
def two_runs_of_one_task_are_compared(uwf: Uwf) -> None:
    first = uwf.letter()["thread"]
    uwf("thread diff", first, first, has={"same": True, "commonSteps": 4, "divergence": None})
    uwf.script("Dear neighbours -> Dear friends")
    second = uwf.letter()["thread"]
    uwf("thread diff", first, second, code=1, has={
        "same": False, "commonSteps": 2, "divergence.numberB": 3, "divergence.aspect": "output",
        "divergence.part": "text", "divergence.b": "Dear friends",
    })  # fmt: skip
    uwf("thread diff -o diff.html", first, second, code=1)
    page = (uwf.folder / "diff.html").read_text()
    uwf.expect("Dear friends" in page and second in page, "diff.html does not show the divergence")
    uwf("thread diff", first, "no-such-thread", code=2, fails="no-such-thread")


@check("web", alone=True)
def the_pages_are_served_until_they_are_stopped(uwf: Uwf) -> None:
    uwf("web stop", code=2, fails="no `uwf web` is running")
    uwf("web --host 0.0.0.0", code=2, fails="without https")
    command = [str(uwf.site.uwf), "web", "--port", "0"]
    with subprocess.Popen(command, cwd=uwf.folder, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        printed = "".join(iter(server.stdout.readline, "}\n")) + "}"
        pid = json.loads(printed)["pid"]  # which need not be our child: `uwf` may be a script
        link = uwf("web", has={"pid": pid})["url"]
        port = link.partition(".localhost:")[2].partition("/")[0]
        try:
            urlopen(f"http://127.0.0.1:{port}/")
        except OSError as error:
            uwf.expect("401" in str(error), f"a page without a login: {error}")
        uwf("web stop", has={"stopped": pid})
        uwf.same("the end of the server", server.wait(30), 0)


@check("acp")
def an_editor_runs_a_workflow_in_a_session(uwf: Uwf) -> None:
    uwf("acp --help", says=["Agent Client Protocol", "--workflow"])
    command = [str(uwf.site.uwf), "acp", "--workflow", "letter.yaml"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=uwf.folder, stdin=pipe, stdout=pipe, text=True) as server:
        call = partial(_call, server)
        uwf.same("the name", call("initialize", protocolVersion=1)["agentInfo"]["name"], "uwf")
        session = call("session/new", cwd=str(uwf.folder), mcpServers=[])["sessionId"]
        prompt = [{"type": "text", "text": "Invite the neighbours"}]
        end = call("session/prompt", sessionId=session, prompt=prompt)
        uwf.same("the end of the prompt", end["stopReason"], "end_turn")
        assert server.stdin is not None
        server.stdin.close()
        uwf.same("the exit code", server.wait(30), 0)
    uwf("thread show", session, has={"status": "completed", "task": "Invite the neighbours"})


def _call(server: "subprocess.Popen[str]", method: str, **params: Any) -> Any:
    assert server.stdin is not None and server.stdout is not None
    request = {"jsonrpc": "2.0", "id": method, "method": method, "params": params}
    print(json.dumps(request), file=server.stdin, flush=True)
    for line in server.stdout:
        message = json.loads(line)
        if message.get("id") == method:
            return message["result"]
    raise AssertionError(f"uwf has ended, and {method} has no answer")


@check("workflow diff")
def two_versions_of_a_workflow_are_compared(uwf: Uwf) -> None:
    uwf("workflow diff letter.yaml letter.yaml", has={"same": True, "changes.#": 0})
    changed = uwf.changed_letter("May this be sent?", "Is this polite?")
    uwf("workflow diff letter.yaml", changed, code=1, has={
        "same": False, "forks": "compatible", "changes.#": 1,
        "changes.0.kind": "prompt-changed", "changes.0.place": "graph.writer.written.prompt",
    })  # fmt: skip
    renamed = uwf.changed_letter("again", "once-more", "renamed")
    found = uwf("workflow diff letter.yaml", renamed, code=1, has={"forks": "breaking"})
    kinds = {each["kind"] for each in found["changes"]}
    uwf.expect({"status-removed", "status-added"} <= kinds, f"the kinds of change are {kinds}")
    uwf("workflow diff", changed, code=2, fails="'letter' is not registered")


@check("thread export")
def a_plugin_exports_its_own_format(uwf: Uwf) -> None:
    thread = uwf.letter()["thread"]
    uwf("thread export --format roles", thread, code=2, fails="unknown format 'roles'")
    file = uwf.folder / ".uwf" / "plugins" / "exporters" / "roles.py"
    file.parent.mkdir(parents=True)
    file.write_text(_EXPORTER)
    uwf("thread export --format roles", thread, code=2, fails="not trusted")
    uwf("config trust")
    lines = "1 writer written\n2 reader again\n3 writer written\n4 reader send\n"
    uwf("thread export --format roles", thread, says=[lines])


@check("thread export")
def a_thread_opens_in_other_tools(uwf: Uwf) -> None:
    thread = uwf.letter()["thread"]
    uwf("thread export --format atif -o run.atif", thread)
    atif = json.loads((uwf.folder / "run.atif").read_text())
    uwf.same("the trajectory", atif["trajectory_id"], thread)
    uwf.same("its prompts", sum("prompt" in each["extra"]["uwf"] for each in atif["steps"]), 4)
    uwf("thread export --format otlp-json -o plain.json", thread)
    uwf("thread export --format otlp-json-content -o full.json", thread)
    plain, full = ((uwf.folder / name).read_text() for name in ("plain.json", "full.json"))
    uwf.same("the spans", [each["name"] for each in _spans(plain)], [
        "invoke_workflow letter", *["invoke_agent writer", "invoke_agent reader"] * 2
    ])  # fmt: skip
    uwf.same("the spans with texts", len(_spans(full)), 5)
    uwf.expect("Dear neighbours" not in plain, "the spans have a text that nobody asked for")
    uwf.expect("Dear neighbours" in full, "the spans lack a text")


def _spans(text: str) -> list[dict[str, object]]:
    found: list[dict[str, object]] = json.loads(text)["resourceSpans"][0]["scopeSpans"][0]["spans"]
    return found


@check("thread export", "bundle verify")
def a_bundle_has_a_statement_to_sign(uwf: Uwf) -> None:
    thread = uwf.letter()["thread"]
    document = uwf("thread export -o letter.tar --attest", thread)
    root = uwf("bundle verify letter.tar", has={"thread": thread})["root"]
    statement = json.loads((uwf.folder / "letter.tar.intoto.json").read_text())
    digest = hashlib.sha256((uwf.folder / "letter.tar").read_bytes()).hexdigest()
    uwf.same("the statement", document["statement"], str(uwf.folder / "letter.tar.intoto.json"))
    uwf.same("its subject", statement["subject"][0]["digest"], {"sha256": digest})
    uwf.same("its root", statement["predicate"]["root"], root)
    uwf("thread export --attest --format atif", thread, code=2, fails="--attest is for bundles")


@check("replay", "thread why", "usage")
def recorded_branches_are_replayed_explained_and_counted(uwf: Uwf) -> None:
    thread = uwf.survey()["thread"]
    uwf("thread resume --until-done --answer $status=good", thread, has={"status": "completed"})
    uwf("replay", thread, has={"replays.0.verdict": "same"})
    uwf("thread why", thread, says=["Part 1: trains", "It depends on you"])
    rows = {row["name"]: row["steps"] for row in uwf("usage --by role", thread)["rows"]}
    uwf.same("the steps by role", rows.get("researcher"), 3)
