"""Examples of changes between two versions of a workflow, for the tests of `workflow diff`."""

import copy
import json
from collections.abc import Callable
from typing import Any, NamedTuple

TEXT = {"type": "string"}


def variant(status: str, required: tuple[str, ...] = (), **fields: Any) -> dict[str, Any]:
    return {
        "properties": {"$status": {"const": status}, **fields},
        "required": ["$status", *required],
    }


def one_of(*variants: dict[str, Any]) -> dict[str, Any]:
    return {"oneOf": list(variants)}


OLD: dict[str, Any] = {
    "version": 1,
    "name": "trip",
    "description": "Plan a trip.",
    "roles": {
        "planner": {
            "goal": "Plan it.",
            "frontmatter": one_of(
                variant("planned", ("plan",), plan=TEXT, notes=TEXT), variant("unclear")
            ),
        },
        "booker": {
            "goal": "Book it.",
            "frontmatter": one_of(
                variant("booked", ("price",), price={"type": "number"}, link=TEXT),
                variant("full", ("why",), why=TEXT),
            ),
        },
    },
    "graph": {
        "$START": {
            "new": {"role": "planner", "prompt": "Plan."},
            "resume": {"role": "planner", "prompt": "Plan again."},
        },
        "planner": {
            "planned": {"role": "booker", "prompt": "Book this: {{plan}}"},
            "unclear": {"role": "$SUSPEND", "prompt": "What do you want?"},
        },
        "booker": {
            "booked": {"role": "$END", "prompt": "It is booked."},
            "full": {"role": "planner", "prompt": "It is full: {{why}}"},
        },
    },
    "limits": {"maxSteps": 20},
    "input": {"type": "object", "properties": {"to": TEXT}, "required": ["to"]},
}
PLANNED = {"role": "planner", "output": {"$status": "planned", "plan": "by train"}}
UNCLEAR = {"role": "planner", "output": {"$status": "unclear"}}
FULL = {"role": "booker", "output": {"$status": "full", "why": "late"}}
BOOKED = {"role": "booker", "output": {"$status": "booked", "price": 7}}


class Example(NamedTuple):
    """A change of `OLD` (in place), the kinds it is reported as, and whom it breaks.

    `at` are the outputs of a thread of the old version; it stands after the last one. `before`
    changes both versions.
    """

    kind: str
    forks: str
    callers: str
    edit: Callable[[dict[str, Any]], Any]
    at: list[dict[str, Any]] = [PLANNED]  # noqa: RUF012
    place: str = ""
    before: Callable[[dict[str, Any]], Any] = lambda _new: None


def variants_of(role: str) -> Callable[[dict[str, Any]], list[dict[str, Any]]]:
    return lambda new: new["roles"][role]["frontmatter"]["oneOf"]


def field(role: str, index: int, name: str, schema: Any = None) -> Callable[[dict[str, Any]], Any]:
    """Set the schema of a field; None removes it, and what requires it."""

    def edit(new: dict[str, Any]) -> None:
        found = variants_of(role)(new)[index]
        if schema is None:
            del found["properties"][name]
            found["required"] = [each for each in found["required"] if each != name]
        else:
            found["properties"][name] = schema

    return edit


def require(role: str, index: int, name: str, *, is_on: bool) -> Callable[[dict[str, Any]], Any]:
    def edit(new: dict[str, Any]) -> None:
        required = variants_of(role)(new)[index]["required"]
        required.append(name) if is_on else required.remove(name)

    return edit


def edge(source: str, name: str, **changed: Any) -> Callable[[dict[str, Any]], Any]:
    return lambda new: new["graph"][source][name].update(changed)


def role(name: str, **changed: Any) -> Callable[[dict[str, Any]], Any]:
    return lambda new: new["roles"][name].update(changed)


def all_of(*edits: Callable[[dict[str, Any]], Any]) -> Callable[[dict[str, Any]], Any]:
    return lambda new: [each(new) for each in edits]


def status(role_name: str, name: str, target: str) -> Callable[[dict[str, Any]], Any]:
    """A status more."""

    def edit(new: dict[str, Any]) -> None:
        variants_of(role_name)(new).append(variant(name))
        new["graph"][role_name][name] = {"role": target, "prompt": "Continue."}

    return edit


def no_status(role_name: str, name: str) -> Callable[[dict[str, Any]], Any]:
    def edit(new: dict[str, Any]) -> None:
        schema = new["roles"][role_name]["frontmatter"]
        schema["oneOf"] = [
            each for each in schema["oneOf"] if each["properties"]["$status"]["const"] != name
        ]
        del new["graph"][role_name][name]

    return edit


def checker(ending: dict[str, Any]) -> Callable[[dict[str, Any]], Any]:
    """A role more, between the booker and the end."""

    def edit(new: dict[str, Any]) -> None:
        new["roles"]["checker"] = {"goal": "Check it.", "frontmatter": ending}
        name = ending["properties"]["$status"]["const"]
        new["graph"]["checker"] = {name: {"role": "$END", "prompt": "Checked."}}
        new["graph"]["booker"]["full"]["role"] = "checker"

    return edit


def without_booker(new: dict[str, Any]) -> None:
    del new["roles"]["booker"], new["graph"]["booker"]
    new["graph"]["planner"]["planned"]["role"] = "$SUSPEND"


def without_planner(new: dict[str, Any]) -> None:
    del new["roles"]["planner"], new["graph"]["planner"]
    for edge in new["graph"]["$START"].values():
        edge["role"] = "booker"
    new["graph"]["booker"]["full"]["role"] = "$SUSPEND"


def played_by_a_program(new: dict[str, Any]) -> None:
    booker = new["roles"]["booker"]
    statuses = {"0": "booked", "1": "full"}
    new["roles"]["booker"] = {
        "frontmatter": booker["frontmatter"],
        "program": {"argv": ["book", "{{plan}}"], "statuses": statuses},
    }


def renamed(new: dict[str, Any]) -> None:
    text = json.dumps(new).replace("booker", "agent")
    new.clear()
    new.update(json.loads(text))


def given(fields: dict[str, Any], *required: str) -> Callable[[dict[str, Any]], Any]:
    """Another input."""
    schema = {"type": "object", "properties": fields, "required": list(required)}
    return lambda new: new.update(input=schema)


def branches(**changed: Any) -> Callable[[dict[str, Any]], Any]:
    """The planner's stops are branches; with a changed edge."""

    def edit(new: dict[str, Any]) -> None:
        note = variant("noted", ("note",), note=TEXT)
        worker = {"goal": "Look.", "tools": [], "frontmatter": one_of(note, variant("lost"))}
        new["roles"]["worker"] = worker
        planned = variants_of("planner")(new)[0]
        planned["properties"]["stops"] = {"type": "array", "minItems": 1, "items": TEXT}
        planned["required"].append("stops")
        then = {
            "noted": {"role": "booker", "prompt": "Book it."},
            "$mixed": {"role": "$SUSPEND", "prompt": "What now?"},
        }
        edge = {"forEach": "stops", "role": "worker", "prompt": "Look at {{.}}.", "then": then}
        edge |= copy.deepcopy(changed)
        new["graph"]["planner"]["planned"] = {
            key: value for key, value in edge.items() if value is not None
        }

    return edit


TWO = {
    "forEach": None,
    "role": None,
    "prompt": None,
    "parallel": {
        "near": {"role": "worker", "prompt": "Look near."},
        "far": {"role": "worker", "prompt": "Look far."},
    },
}
STOPS = {"role": "planner", "output": {"$status": "planned", "plan": "x", "stops": ["a", "b"]}}
NOTED = {"role": "worker", "output": {"$status": "noted", "note": "a note"}}
DONE_BRANCHES = [STOPS, NOTED, NOTED]


def branches_in_place_of_the_end(new: dict[str, Any]) -> None:
    """The joint result suspends the thread, which then delivers nothing."""
    branches(**TWO)(new)
    edge = new["graph"]["planner"]["planned"]
    new["graph"]["planner"]["planned"] = {"role": "booker", "prompt": "Book this: {{plan}}"}
    edge["then"] = {"$mixed": {"role": "$SUSPEND", "prompt": "What now?"}}
    edge["parallel"].pop("far")
    new["graph"]["booker"]["booked"] = edge


def then(**changed: Any) -> Callable[[dict[str, Any]], Any]:
    """Other edges of the joint result; None removes one."""

    def edit(new: dict[str, Any]) -> None:
        edges = new["graph"]["planner"]["planned"]["then"]
        edges |= {key: each for key, each in changed.items() if each is not None}
        for key in changed:
            if changed[key] is None:
                del edges[key]

    return edit


def two_branches(new: dict[str, Any]) -> None:
    edge = new["graph"]["planner"]["planned"]
    new["graph"]["planner"]["planned"] = {
        "parallel": copy.deepcopy(TWO["parallel"]),
        "then": edge["then"],
    }


def without_branches(new: dict[str, Any]) -> None:
    del new["roles"]["worker"]
    new["graph"]["planner"]["planned"] = {"role": "booker", "prompt": "Book it."}


def branch(name: str, **changed: Any) -> Callable[[dict[str, Any]], Any]:
    """A branch that is changed, or added."""

    def edit(new: dict[str, Any]) -> None:
        parallel = new["graph"]["planner"]["planned"]["parallel"]
        parallel[name] = {"role": "worker", "prompt": "Look.", **parallel.get(name, {}), **changed}

    return edit


def no_branch(new: dict[str, Any]) -> None:
    del new["graph"]["planner"]["planned"]["parallel"]["far"]


def reversed_branches(new: dict[str, Any]) -> None:
    edge = new["graph"]["planner"]["planned"]
    edge["parallel"] = dict(reversed(edge["parallel"].items()))


FAILS = {"role": "planner", "fail": {"kind": "crashed", "message": "as scripted"}}


def failing(role: str, **more: str) -> Callable[[dict[str, Any]], Any]:
    """The planner with an edge after its failures."""

    def edit(new: dict[str, Any]) -> None:
        new["graph"]["planner"]["$failed"] = {"role": role, "prompt": "It failed.", **more}

    return edit


def other_worker(new: dict[str, Any]) -> None:
    new["roles"]["walker"] = {**new["roles"]["worker"], "goal": "Walk."}
    new["graph"]["planner"]["planned"]["parallel"]["far"]["role"] = "walker"


OK, BAD = "compatible", "breaking"
PLAN = "graph.planner.planned"
LONGER = {"type": "string", "maxLength": 9}

EXAMPLES = [
    Example("name-changed", OK, OK, lambda new: new.update(name="travel"), place="name"),
    Example("description-changed", OK, OK, lambda new: new.update(description="A trip.")),
    Example("limit-changed", OK, OK, lambda new: new["limits"].update(maxSteps=10),
            place="limits.maxSteps"),
    Example("limit-changed", OK, OK, role("planner", limits={"maxVisits": 3}),
            place="roles.planner.limits.maxVisits"),
    Example("input-changed", OK, OK, given({"to": TEXT, "days": {"type": "integer"}}, "to"),
            place="input.days"),
    Example("input-changed", OK, OK, given({"to": {**TEXT, "description": "Where."}})),
    Example("input-changed", BAD, BAD, given({"from": TEXT}), place="input.to"),
    Example("input-changed", BAD, BAD, given({"to": TEXT, "from": TEXT}, "to", "from"),
            place="input.from"),
    Example("input-changed", BAD, BAD, given({"to": {"type": "integer"}}, "to"), place="input.to"),
    Example("input-changed", BAD, BAD, lambda new: new["input"].update(minProperties=2),
            place="input"),
    Example("role-added", OK, OK, checker(variant("booked", ("price",), price={"type": "number"},
                                                  link=TEXT))),
    Example("role-added", OK, BAD, checker(variant("checked")), place="roles.checker"),
    Example("role-added", OK, BAD, checker(variant("booked", link=TEXT))),
    Example("role-removed", BAD, OK, without_planner, [PLANNED], place="roles.planner"),
    Example("role-removed", BAD, BAD, without_booker, [PLANNED, FULL], place="roles.booker"),
    Example("role-renamed", BAD, OK, renamed, [PLANNED, FULL], place="roles.agent"),
    Example("text-changed", OK, OK, role("planner", goal="Plan well."), place="roles.planner.goal"),
    Example("text-changed", OK, OK, role("planner", procedure="Look at maps.")),
    Example("text-changed", OK, OK, role("planner", output="The plan.")),
    Example("text-changed", OK, OK, role("planner", capabilities=["maps"])),
    Example("text-changed", OK, OK, role("planner", description="Plans.")),
    Example("tools-changed", OK, OK, role("planner", tools=["read"])),
    Example("timeout-changed", OK, OK, role("planner", timeout=60)),
    Example("retry-changed", OK, OK, role("planner", retry={"maxAttempts": 3}),
            place="roles.planner.retry.maxAttempts"),
    Example("deadline-changed", OK, OK, role("planner", human=True, within=60,
            expired={"role": "booker", "prompt": "Decide."}), place="roles.planner.within"),
    Example("failure-changed", OK, OK, failing("booker"), place="graph.planner.$failed"),
    Example("failure-changed", BAD, OK, lambda new: new["graph"]["planner"].pop("$failed"),
            [FAILS], before=failing("booker")),
    Example("failure-changed", OK, BAD, failing("$END", **{"as": "gave-up"}), place="graph.as"),
    Example("reserve-changed", OK, OK, role("planner", reserve={"tokens": 900}),
            place="roles.planner.reserve.tokens"),
    Example("player-changed", OK, OK, role("planner", human=True)),
    Example("player-changed", OK, OK, role("planner", agent="hermes", model="large")),
    Example("player-changed", OK, OK, played_by_a_program),
    Example("status-added", OK, OK, status("planner", "ready", "booker")),
    Example("status-added", OK, BAD, status("planner", "given-up", "$END")),
    Example(
        "status-removed", BAD, OK, no_status("booker", "full"), [PLANNED, FULL],
        place="roles.booker.frontmatter.full",
    ),
    Example("status-removed", BAD, BAD, no_status("booker", "full"), [PLANNED, FULL],
            before=edge("booker", "full", role="$END")),
    Example("field-added", OK, OK, field("booker", 0, "seat", TEXT), [PLANNED, FULL]),
    Example("field-removed", OK, OK, field("planner", 0, "notes")),
    Example(
        "field-removed", OK, BAD, field("booker", 0, "link"),
        place="roles.booker.frontmatter.booked.link",
    ),
    Example("field-retyped", OK, OK, field("planner", 0, "notes", {"type": "integer"})),
    Example("field-retyped", OK, OK, field("planner", 0, "notes", LONGER)),
    Example("field-retyped", OK, BAD, field("booker", 0, "price", TEXT)),
    Example("field-required", OK, OK, require("planner", 0, "notes", is_on=True)),
    Example("field-required", OK, OK, require("booker", 0, "link", is_on=True)),
    Example("field-optional", OK, OK, require("booker", 1, "why", is_on=False), [PLANNED, FULL]),
    Example("field-optional", OK, BAD, require("booker", 0, "price", is_on=False)),
    Example("field-described", OK, OK, field("booker", 0, "link", {**TEXT, "description": "x"})),
    Example("schema-changed", OK, OK, lambda new: variants_of("planner")(new)[0].update(
        additionalProperties=True)),
    Example("schema-changed", OK, BAD, lambda new: variants_of("booker")(new)[0].update(
        minProperties=2)),
    Example("edge-retargeted", OK, OK, edge("planner", "unclear", role="booker"), [UNCLEAR],
            place="graph.planner.unclear"),
    Example("edge-retargeted", OK, OK, edge("$START", "new", role="booker"), []),
    Example("edge-retargeted", OK, BAD, edge("planner", "unclear", role="$END"), [UNCLEAR]),
    Example("prompt-changed", OK, OK, edge("planner", "planned", prompt="Book now: {{notes}}"),
            place="graph.planner.planned.prompt"),
    Example("prompt-changed", OK, OK, edge("planner", "planned", prompt="{{plan}}")),
    Example("prompt-changed", OK, OK,
            edge("planner", "planned", prompt="{{#plan}}Book: {{plan}}{{/plan}}")),
    Example("prompt-changed", OK, OK, edge("planner", "unclear", prompt="{{_body}}"), [UNCLEAR]),
    Example("prompt-changed", BAD, OK, edge("planner", "planned", prompt="{{notes}}")),
    Example("prompt-changed", BAD, OK, all_of(
        field("planner", 0, "place", TEXT), require("planner", 0, "place", is_on=True),
        edge("planner", "planned", prompt="{{#place}}Go to {{place}}.{{/place}}"))),
    Example("location-changed", OK, OK, edge("planner", "planned", location="trips")),
    Example("after-changed", OK, OK, edge("planner", "planned", after="10m")),
    Example("branches-added", BAD, OK, branches(), place=PLAN),
    Example("branches-added", OK, OK, branches(**TWO), place=PLAN),
    Example("branches-added", BAD, OK, branches(
        **{**TWO, "parallel": {"near": {"role": "worker", "prompt": "{{notes}}"}}})),
    Example("branches-added", OK, BAD, branches_in_place_of_the_end, place="graph.booker.booked"),
    Example("branches-added", OK, OK, branch("home"), [STOPS], f"{PLAN}.parallel.home",
            branches(**TWO)),
    Example("branches-removed", OK, OK, no_branch, [STOPS], f"{PLAN}.parallel.far",
            branches(**TWO)),
    Example("branches-removed", BAD, OK, without_branches, DONE_BRANCHES, PLAN, branches()),
    Example("branches-changed", OK, OK, edge("planner", "planned", maxParallel=2), [STOPS],
            f"{PLAN}.maxParallel", branches()),
    Example("branches-changed", OK, OK, edge("planner", "planned", shared=True), [STOPS],
            f"{PLAN}.shared", branches()),
    Example("workspace-changed", OK, OK, lambda new: new.update(record=True), place="record"),
    Example("workspace-changed", OK, BAD, lambda new: new.update(workspace=None),
            place="workspace", before=lambda new: new.update(workspace="worktree")),
    Example("workspace-changed", OK, OK, edge("planner", "planned", workspace="worktree"), [STOPS],
            f"{PLAN}.workspace", branches()),
    Example("branches-changed", OK, OK, other_worker, [STOPS], f"{PLAN}.parallel.far.role",
            branches(**TWO)),
    Example("branches-changed", OK, OK, reversed_branches, [STOPS], f"{PLAN}.parallel",
            branches(**TWO)),
    Example("branches-changed", BAD, OK, all_of(
        field("planner", 0, "towns", {"type": "array", "minItems": 1, "items": TEXT}),
        require("planner", 0, "towns", is_on=True),
        edge("planner", "planned", forEach="towns")), [STOPS], f"{PLAN}.forEach", branches()),
    Example("branches-changed", OK, OK, two_branches, [STOPS], f"{PLAN}.forEach", branches()),
    Example("prompt-changed", OK, OK, edge("planner", "planned", prompt="{{.}}"), [STOPS],
            f"{PLAN}.prompt", branches()),
    Example("prompt-changed", BAD, OK, branch("far", prompt="{{notes}}"), [STOPS],
            f"{PLAN}.parallel.far.prompt", branches(**TWO)),
    Example("prompt-changed", OK, OK, then(noted={"role": "booker", "prompt": "Book all."}),
            DONE_BRANCHES, f"{PLAN}.then.noted.prompt", branches()),
    Example("location-changed", OK, OK, edge("planner", "planned", location="{{.}}"), [STOPS],
            f"{PLAN}.location", branches()),
    Example("limit-changed", OK, OK, branch("far", limits={"maxSteps": 9}), [STOPS],
            f"{PLAN}.parallel.far.limits.maxSteps", branches(**TWO)),
    Example("edge-retargeted", OK, BAD, then(noted={"role": "$END", "prompt": "Look."}),
            DONE_BRANCHES, f"{PLAN}.then.noted",
            all_of(branches(), edge("planner", "unclear", role="booker"))),
    Example("status-removed", BAD, OK, all_of(
        then(noted=None), edge("planner", "unclear", role="booker")), DONE_BRANCHES,
        f"{PLAN}.then.noted", branches()),
    Example("status-added", OK, OK, then(lost={"role": "$SUSPEND", "prompt": "Lost."}), [STOPS],
            f"{PLAN}.then.lost", branches()),
    Example("field-retyped", OK, OK, field("worker", 0, "note", LONGER), DONE_BRANCHES,
            "roles.worker.frontmatter.noted.note", branches()),
]  # fmt: skip
