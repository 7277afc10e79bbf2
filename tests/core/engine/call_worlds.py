"""Random workflows that call each other, and an agent whose replies depend on nothing but where in
the tree of calls it is asked: the same run, however often it is interrupted, says the same.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from tests.step_parts import call_of

from uwf_core.client import Client
from uwf_core.testing.project import Project

AGENT = """
import re
from zlib import crc32

from uwf_core.api import AgentReply, AgentSpec, hookimpl
from uwf_core.api.agent import Usage
from uwf_core.errors import AgentFailure, FailureKind, NeedsAnswer

FAILS, FAILED = [0], set()
FORM = {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]}


@hookimpl
def uwf_agents():
    return [AgentSpec(
        name="tree", summary="plays by its place", factory=f"{__name__}:Tree",
        capabilities=frozenset(("continue", "fork", "structured", "usage")),
    )]


class Tree:
    def __init__(self, options, context):
        pass

    def run(self, request, sink):
        path = re.search(r"P:(\\S*)", request.parts.task)[1]
        place = f"{path} {request.role} {request.step_number}"
        chance = crc32(place.encode())
        session = request.session or f"s{chance:x}"
        sink.session(session)
        sink.usage(Usage(turns=1, input_tokens=10, output_tokens=1, cost_usd=0.25))
        if FAILS[0] and (request.thread, place) not in FAILED and chance // 7 % 3 == 0:
            FAILED.add((request.thread, place))
            kind = (FailureKind.CRASHED, FailureKind.TIMEOUT, FailureKind.REFUSED)[chance % 3]
            raise AgentFailure.of(kind, "as planned", session=session)
        if chance // 11 % 9 == 0 and request.answer is None:
            raise NeedsAnswer("Which word?", FORM)
        status = self.status(chance, path, request)
        output = {"$status": status, "path": path}
        if "'parts'" in str(request.schema):
            output["parts"] = [{"path": f"{path}/{n}"} for n in range(chance // 17 % 4)]
        if status == "$SUSPEND":
            output = {"$status": status, "reason": "I wait"}
        tokens = 10 if chance // 13 % 4 else None
        usage = Usage(turns=1, input_tokens=tokens, output_tokens=1, cost_usd=0.25)
        continuation, proof = ("new", None) if request.session is None else ("continued", "mine")
        return AgentReply(structured=output, session=session, usage=usage, mark="1",
                          continuation=continuation, proof=proof)

    def status(self, chance, path, request):
        text = str(request.schema)
        if "'dive'" in text:
            return "dive" if path.count("/s") < 2 and chance % 3 == 0 else "ok"
        if request.step_number > 4 or "'no'" not in text:
            return "ok"
        return ("ok", "no", "ok", "no", "$SUSPEND")[chance % 5]

    def fork(self, session, request, at=None):
        return session + "f"

    def ask(self, request, sink):
        return AgentReply(text="I do not know", session=request.session)

    def close(self):
        pass
"""


FIRST_PATH = "{{#results}}{{^$index}}{{{path}}}{{/$index}}{{/results}}"
PARTS = {
    "type": "array",
    "items": {
        "type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"],
    },
}  # fmt: skip


def made_project(root: Path) -> Project:
    """A trusted project with the agent `tree`, whose threads may call fifteen levels deep."""
    project = Project(root)
    file = project.folder / ".uwf" / "plugins" / "agents" / "tree.py"
    file.parent.mkdir(parents=True)
    file.write_text(AGENT)
    project.config("limits: {depth: 15}\n")
    project.trust()
    project.env["UWF_DEFAULT_AGENT"] = "tree"
    return project


def random_workflows(chance: Random) -> dict[str, str]:
    """Up to three workflows, each of which calls those before it, and perhaps itself."""
    texts: dict[str, str] = {}
    results: dict[str, set[str]] = {}
    for level in range(chance.randint(2, 3)):
        name = f"w{level}"
        texts[name], results[name] = _workflow(chance, name, results)
    return texts


def _workflow(chance: Random, name: str, known: dict[str, set[str]]) -> tuple[str, set[str]]:
    """A workflow, and the statuses of its result."""
    roles: dict[str, Any] = {}
    statuses: dict[str, set[str]] = {}
    callees = sorted(known)
    calls = {chance.choice(callees)} if callees else set()
    kinds = [*calls, *(chance.choice(["agent", *callees]) for _ in range(2))]
    chance.shuffle(kinds)
    if not callees:
        kinds = ["agent"] * chance.randint(1, 2)
    for index, kind in enumerate(kinds):
        role = f"r{index}"
        statuses[role] = known.get(kind, {"ok", "no"})
        roles[role] = {"workflow": kind} if kind in known else _agent(statuses[role])
    graph: dict[str, Any] = {
        "$START": {
            "new": {"role": "r0", "prompt": f"P:/{name}"},
            "resume": {"role": chance.choice(sorted(roles)), "prompt": f"P:/{name}again"},
        }
    }
    order = list(roles)
    result = set[str]()
    for index, role in enumerate(order):
        following = order[index + 1] if index + 1 < len(order) else "$END"
        graph[role] = {"ok": _edge(following, role)}
        if following != "$END" and "goal" in roles[role] and chance.random() < 0.6:
            back = chance.choice(order[: index + 2])
            graph[role]["ok"] = _fan_out(chance, roles, role, statuses, [following, back])
        result |= {"ok"} if following == "$END" else set()
        if "no" in statuses[role]:
            back = chance.choice([*order[: index + 1], "$END", "$SUSPEND"])
            graph[role]["no"] = _edge(back, role)
            result |= {"no"} if back == "$END" else set()
    if chance.random() < 0.5:
        roles["gate"], roles["own"] = _agent({"ok", "dive"}), {"workflow": "$SELF"}
        graph["$START"]["new"]["role"] = "gate"
        graph["gate"] = {"ok": _edge("r0", "gate"), "dive": _edge("own", "gate")}
        graph["own"] = {status: _edge("r0", "s") for status in sorted(result)}
    text = json.dumps({"version": 1, "name": name, "roles": roles, "graph": graph})
    return text, result


def _fan_out(
    chance: Random,
    roles: dict[str, Any],
    role: str,
    statuses: dict[str, set[str]],
    targets: list[str],
) -> dict[str, Any]:
    """An edge of `role` to branches, which any roles play; `targets` follow `ok` and `$mixed`.
    Where the path may be gone, the prompt has two `/s`, so that no role dives for ever.
    """
    played = sorted(statuses)
    edge: dict[str, Any] = {"maxParallel": chance.randint(1, 4), "shared": True}
    first = f"P:{{{{{{a.path}}}}}}/{role}"
    if chance.random() < 0.5:
        names = "abc"[: chance.randint(1, 3)]
        edge["parallel"] = {name: _edge(chance.choice(played), f"{role}{name}") for name in names}
    else:
        for variant in roles[role]["frontmatter"]["oneOf"]:
            variant["properties"]["parts"] = PARTS
            variant["required"].append("parts")
        edge |= {"forEach": "parts", **_edge(chance.choice(played), role)}
        first = f"P:{FIRST_PATH}/{role}"
    after, mixed = targets
    edge["then"] = {
        "ok": {"role": after, "prompt": first},
        "$mixed": {"role": mixed, "prompt": f"{first}/s/s"},
    }
    if "forEach" in edge:
        edge["then"]["$empty"] = {"role": after, "prompt": f"P:/{role}none/s/s"}
    return edge


def _edge(target: str, role: str) -> dict[str, str]:
    return {"role": target, "prompt": f"P:{{{{{{path}}}}}}/{role}"}


def _agent(statuses: set[str]) -> dict[str, Any]:
    variants = [
        {
            "properties": {"$status": {"const": status}, "path": {"type": "string"}},
            "required": ["$status", "path"],
        }
        for status in sorted(statuses)
    ]
    return {"goal": "Play.", "frontmatter": {"oneOf": variants}}


def route(uwf: Client, thread: str) -> list[Any]:
    """What a thread delivered, and what the threads below delivered for it."""
    found = []
    for step in uwf.thread(thread).steps():
        output = step.output
        found.append((step.number, step.role, output, _all_below(uwf, step.node)))
    return found


def _all_below(uwf: Client, node: Any) -> Any:
    """What the threads below delivered for a step: None of a leaf step."""
    call = call_of(node)
    if call["children"] is not None:
        return [list(_below(uwf, each)) for each in call["children"]]
    return call["child"] and list(_below(uwf, call["child"]))


def _below(uwf: Client, ref: str) -> Iterator[Any]:
    """The steps of a called thread up to the one that was recorded, oldest first."""
    chain = []
    at: str | None = ref
    while at is not None:
        step = uwf.step(at)
        node = uwf._engine.store.payload(at)  # type: ignore[arg-type]
        chain.append((step["number"], step["role"], step["output"], _all_below(uwf, node)))
        at = node["prev"]
    return reversed(chain)
