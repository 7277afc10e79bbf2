"""Whether a statement is true: its references resolve, and their nodes contain what it claims."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tests.step_parts import call_of

from uwf_core.cas.walk import stored_below
from uwf_core.client import Client
from uwf_core.ids import ThreadId
from uwf_core.prompt.step_text import step_markdown
from uwf_core.thread.own_variables import tree_variables
from uwf_explain.explanation.page import why_page
from uwf_explain.explanation.statements import KINDS, Statement, WhyPage, WhySection
from uwf_explain.explanation.words import moment

TEXTS = {"task", "instruction", "said", "text"}
BRIEF = {"result", "worked", "summary"}
"""The kinds whose words in quotation marks are in one of their nodes."""
"""The kinds whose quote is the text of their first reference."""

PERSON = re.compile(r"(?:on (\S+ \S+ UTC) )?the person (\S+) \(on (\S+)\)", re.IGNORECASE)
"""When who did something."""


class Checks:
    """The nodes of a thread, and the checks of statements about it."""

    def __init__(self, client: Client, thread: str) -> None:
        self.store = client._engine.store
        self.thread = client.thread(thread)
        _, variables = tree_variables(self.store, ThreadId(thread))
        self.closure = {
            each.ref for each in stored_below(self.store, [each.value for each in variables])
        }

    def page(self) -> WhyPage:
        """The page, each statement of which is true."""
        page = why_page(self.thread)
        for section in page.sections:
            for each in (*section.statements, *section.prompt):
                self.statement(each)
            self.section(section)
        assert [each.step for each in page.sections if each.step] == [
            step.ref for step in self.thread.steps()
        ]
        return page

    def node(self, ref: str) -> Any:
        return self.store.payload(ref)

    def statement(self, each: Statement) -> None:
        assert each.kind in KINDS
        assert each.refs
        assert set(each.refs) <= self.closure, each
        assert (each.quote is not None or each.command is not None) == each.text.endswith(":"), each
        if each.kind in TEXTS:
            assert each.quote == self.store.text(each.refs[0])
        if each.kind in BRIEF:
            self.quotes(each)
        if PERSON.search(each.text):
            self.persons(each)
        check = getattr(self, f"is_{each.kind}", None)
        if check is not None:
            check(each, *map(self.node, each.refs))

    def section(self, section: WhySection) -> None:
        """The parts of the prompt are the prompt; the decision and the route are there."""
        if section.step is None:
            return
        kinds = [each.kind for each in section.statements]
        step = self.node(section.step)
        own = ("instruction", "worker") if call_of(step)["branches"] is None else ()
        for kind in ("asked", "decided", "route", "cost", *own):
            assert kinds.count(kind) == 1, (kind, kinds)
        assert kinds.count("delivered") == len(call_of(step)["branches"] or ())
        assert kinds.count("correction") >= len(step["corrections"])
        assert kinds.count("attempt") >= len(step["previousAttempts"])
        if section.prompt:
            prompt, at = self.store.text(step["attempt"]["prompt"]), 0
            for part in section.prompt:
                assert part.refs[-1] == step["attempt"]["prompt"]
                text = part.quote if part.quote is not None else self.shown_elsewhere(part, prompt)
                assert prompt.startswith(text, at), part
                at += len(text)
            assert at == len(prompt)

    def shown_elsewhere(self, part: Statement, prompt: str) -> str:
        """The text of a part that the page shows at another step."""
        if "the same text" in part.text:
            number = int(part.text.rstrip(".").rpartition(" ")[2])
            other = next(step for step in self.thread.steps() if step.number == number)
            place = int(part.text.split()[1])
            from uwf_explain.explanation.prompt_parts import split_prompt

            task = self.thread.task
            texts = [each.text for each in split_prompt(other.prompt, task, other.edge_prompt)]
            return next(each for each in texts[place - 1 :] if each in prompt)
        steps = list(self.thread.steps())
        refs = [each.ref for each in steps]
        first, last = refs.index(part.refs[0]), refs.index(part.refs[-2])
        return "".join(
            step_markdown(each.number, each.role, each.output, each.body, each.sayings) + "\n\n"
            for each in steps[first : last + 1]
        )

    def quotes(self, each: Statement) -> None:
        """The words in quotation marks are those of a node, cut at most."""
        nodes = [json.loads(plain_json(self.node(ref))) for ref in each.refs]
        for quote in re.findall("“(.*?)”", each.text):
            words = quote.removesuffix(" …")
            assert any(words in text for node in nodes for text in texts_of(node)), (each, nodes)

    def persons(self, each: Statement) -> None:
        """A person who is named caused what one of the nodes records, at the time that is shown."""
        callers = [
            {**node.get("attempt", {}), **node} if "startedAtMs" in node else node
            for node in map(self.node, each.refs)
            if isinstance(node, Mapping)
        ]
        named = PERSON.search(each.text)
        assert named is not None
        times = ("startedAtMs", "completedAtMs", "atMs")
        found = [
            node
            for node in callers
            if (node["by"] or {}).get("user") == named[2] and node["by"]["host"] == named[3]
            if named[1] in (None, *(moment(node[each]) for each in times if each in node))
        ]
        assert found, (each, callers)

    # -- one for each kind that claims something about a node --------------------------------------

    def is_decided(self, each: Statement, output: Any, step: Any, _: Any = None) -> None:
        assert step["output"] == each.refs[0]
        assert output["$status"] in each.text

    def is_replaced(self, each: Statement, step: Any, output: Any) -> None:
        assert step["output"] == each.refs[1]
        assert output["$status"] in each.text

    def is_field(self, each: Statement, output: Any) -> None:
        name, _, value = each.text.partition(":")
        found = output[name]
        shown = found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)
        assert shown == (value.removeprefix(" ") if each.quote is None else each.quote)

    def is_route(self, each: Statement, step: Any, workflow: Any = None) -> None:
        status = self.node(step["output"])["$status"]
        to = step["next"]
        if workflow is None:
            assert status == "$SUSPEND"
            assert each.quote == to["message"]
            return
        assert each.note is not None
        assert each.note.startswith("field $status, rule graph.")
        edge = edge_at(workflow, each.note.removeprefix("field $status, "))
        assert each.note.endswith(f".{status}")
        assert f"“{status}”" in each.text
        target = {"completed": "$END", "suspended": "$SUSPEND"}.get(to["status"], to["role"])
        if "/" in target:
            assert edge["then"] and f"begins the branches {target}" in each.text
            return
        assert edge["role"] == target
        words = {"completed": "ends", "suspended": "asks a person"}
        assert words.get(to["status"], f"to the {to['role']}") in each.text

    def is_asked(self, each: Statement, *nodes: Any) -> None:
        workflows = [node for node in nodes if "graph" in node]
        if each.note is None:
            assert nodes[0]["next"]["status"] == "suspended"
            return
        edge = edge_at(workflows[0], each.note)
        assert "branch" in each.text if edge.get("then") else f"“{edge['role']}”" in each.text

    def is_reopened(self, each: Statement, said: Any, call: Any = None) -> None:
        call = said if call is None else call
        assert self.node(call["prev"])["next"]["status"] == "completed"
        assert each.quote == (
            None if call["attempt"]["said"] is None else self.store.text(call["attempt"]["said"])
        )

    def is_result(self, each: Statement, step: Any, *nodes: Any) -> None:
        if "The last decision" in each.text:
            assert (step["output"], step["number"]) == (each.refs[1], self.thread.count)

    def is_worked(self, each: Statement, *steps: Any) -> None:
        (role,) = {step["role"] for step in steps}
        if "/" in role:
            assert f"“{role}”" in each.text
            return
        count = sum(step.role == role for step in self.thread.steps())
        many = "only step" if self.thread.count == 1 else f"{count} of the {self.thread.count} "
        assert f"“{role}”" in each.text and many in each.text
        for step in steps:
            by = "another run" if call_of(step)["child"] else f"“{step['agent']}”"
            assert by in each.text or step["attempt"]["answer"] is not None

    def is_unknown(self, each: Statement, *nodes: Any) -> None:
        for node in nodes:
            assert node["usage"]["costUsd"] is None or "costUsd" in node["usage"]["atLeast"]

    def is_wordless(self, each: Statement, step: Any) -> None:
        assert step["body"] is None

    def is_rejected(self, each: Statement, raw: Any, step: Any) -> None:
        assert each.refs[0] in [one["raw"] for one in step["corrections"]]
        assert raw.startswith(each.quote or "")

    def is_attempt(self, each: Statement, step: Any) -> None:
        error = step["failure"]
        assert f"“{error['kind']}”" in each.text
        assert each.quote == error["message"]

    def is_correction(self, each: Statement, step: Any, raw: Any, prompt: Any) -> None:
        found = [one for one in step["corrections"] if one["raw"] == each.refs[1]]
        assert any("\n".join(one["errors"]) == each.quote for one in found)
        assert all(one["prompt"] == each.refs[2] for one in found)
        assert isinstance(raw, str) and isinstance(prompt, str)

    def is_answer(self, each: Statement, answer: Any, step: Any) -> None:
        assert step["attempt"]["answer"] == each.refs[0]
        for name, value in json.loads(answer).items():
            assert f"{name}: {value}" in (each.quote or "")

    def is_question(self, each: Statement, question: Any, event: Any) -> None:
        assert self.store.text(question["message"]) == each.quote
        assert event["next"]["question"] == each.refs[0]

    def is_worker(self, each: Statement, step: Any) -> None:
        is_call = step["agent"] == "workflow"
        assert is_call == ("run, which" in each.text)
        named = f"the program “{step['agent']}”" in each.text
        assert named or is_call or step["attempt"]["answer"] is not None

    def is_called(self, each: Statement, node: Any, other: Any = None) -> None:
        if other is None:  # in a fork of a called run
            assert self.node(node["prev"])["next"]["status"] == "completed"
            assert node["attempt"]["purpose"] != "resume"
            return
        if "attempt" in node and "atMs" not in node:  # the last step of a called run
            assert call_of(other)["child"] == each.refs[0]
            assert each.command == f"uwf thread why {node['thread']}"
            assert f"“{self.node(node['output'])['$status']}”" in each.text
            assert other["output"] == node["output"]
            return
        assert node["parentHead"] == each.refs[1]
        assert each.command == f"uwf thread why {node['parent']}"
        assert f"step {node['number']} (the role “{node['role']}”)" in each.text

    def is_branch(self, each: Statement, prompt: str, event: Any) -> None:
        assert event["prompt"] == each.refs[0]
        assert (each.quote, f"“{event['plays']}”" in each.text) == (prompt, True)

    is_open = is_branch

    def is_delivered(self, each: Statement, output: Any, end: Any, step: Any) -> None:
        [one] = [
            one
            for one in call_of(step)["branches"]
            if each.command == f"uwf thread why {one['thread']}"
        ]
        at = call_of(step)["branches"].index(one)
        assert (step["output"], call_of(step)["children"][at]) == each.refs[:2]
        assert one["status"] == output["results"][at]["$status"]
        assert f"“{one['status']}”" in each.text or "was cancelled" in each.text

    def is_cost(self, each: Statement, step: Any) -> None:
        dollars = (call_of(step)["usage"] or step)["usage"]["costUsd"]
        shown = "Cost: unknown" if dollars is None else f"${dollars:.2f}"
        assert shown in each.text or step["attempt"]["answer"] is not None

    def is_cancelled(self, each: Statement, event: Any) -> None:
        assert event["next"]["status"] == "cancelled"
        assert event["by"]["user"] in each.text

    def is_limit(self, each: Statement, event: Any) -> None:
        assert event["limit"] in each.text

    def is_thread(self, each: Statement, started: Any, start: Any, workflow: Any) -> None:
        assert started["start"] == each.refs[1]
        assert start["cwd"] in each.text
        assert f"“{workflow['name']}”" in each.text

    def is_role(self, each: Statement, workflow: Any) -> None:
        role = each.text.partition("“")[2].partition("”")[0]
        found = workflow["roles"][role]
        argv = (found["program"] or {}).get("argv", ("",))
        shown = found["workflow"] or found["goal"] or argv[0]
        assert str(each.quote).startswith(shown) if found["program"] else each.quote == shown

    def is_workflow(self, each: Statement, workflow: Any) -> None:
        assert workflow["description"] == each.quote


def edge_at(workflow: Any, note: str) -> Any:
    """The edge at the path of a note `rule graph.ROLE.STATUS`, also within `then`."""
    found = workflow["graph"]
    for key in note.removeprefix("rule graph.").split("."):
        found = found[key]
    return found


def texts_of(node: Any) -> Iterator[str]:
    """The texts in a node, each on one line, as a summary shows them."""
    if isinstance(node, Mapping):
        yield "\n".join(f"{name}: {value}" for name, value in node.items()).replace("\n", " ")
        for value in node.values():
            yield from texts_of(value)
    elif isinstance(node, list):
        for value in node:
            yield from texts_of(value)
    else:
        yield " ".join(str(node).split())


def plain_json(node: Any) -> str:
    """A payload as JSON: a text that is itself JSON (an answer) as it is."""
    try:
        json.loads(node)
    except (TypeError, ValueError):
        return json.dumps(node)
    return str(node)


def kinds_of(pages: Iterable[WhyPage]) -> Mapping[str, int]:
    """How often each kind occurs."""
    found: dict[str, int] = {}
    for page in pages:
        for section in page.sections:
            for each in (*section.statements, *section.prompt):
                found[each.kind] = found.get(each.kind, 0) + 1
    return found
