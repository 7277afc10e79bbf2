"""A workflow with both kinds of branches, and random ones."""

from typing import Any

from hypothesis import strategies as st

FAN = """\
version: 1
name: fan
roles:
  planner:
    goal: Plan.
    frontmatter:
      oneOf:
        - properties:
            $status: {const: planned}
            about: {type: string}
            tasks:
              type: array
              items:
                type: object
                properties: {title: {type: string}, note: {type: string}}
                required: [title]
          required: [$status, tasks, about]
        - properties: {$status: {const: written}, text: {type: string}}
          required: [$status, text]
  worker:
    goal: Work.
    tools: []
    frontmatter:
      oneOf:
        - properties: {$status: {const: done}, summary: {type: string}}
          required: [$status, summary]
        - properties: {$status: {const: stuck}, reason: {type: string}}
          required: [$status, reason]
  critic:
    human: true
    goal: Criticise.
    frontmatter:
      properties: {$status: {const: done}, remark: {type: string}}
      required: [$status, remark]
graph:
  $START:
    new: {role: planner, prompt: Plan.}
    resume: {role: planner, prompt: Plan again.}
  planner:
    planned:
      forEach: tasks
      role: worker
      prompt: "{{$index}} of {{about}}, {{_body}}: {{title}} {{{.}}}"
      location: "{{title}}"
      maxParallel: 2
      limits: {maxSteps: 3}
      then:
        done:
          role: $END
          prompt: "{{#results}}{{$index}} {{summary}}{{/results}} {{{results.0._body}}}"
        $mixed:
          role: planner
          prompt: "Again: {{#results}}{{#reason}}{{reason}}{{/reason}}{{/results}}"
        $empty: {role: $END, prompt: There is nothing to do.}
    written:
      parallel:
        style: {role: critic, prompt: "{{$index}} {{text}}"}
        security: {role: worker, prompt: "{{text}} {{_body}}", location: checks}
      then:
        done: {role: $END, prompt: "{{security.summary}} {{style.remark}} {{security._body}}"}
        $mixed: {role: $END, prompt: "{{style.$status}}"}
"""

_NAMES = st.text("abcz", min_size=1, max_size=2)


@st.composite
def fan_out_files(draw: st.DrawFn) -> dict[str, Any]:
    """Files whose first role leads to branches; its list, their statuses and names are random."""
    least = draw(st.integers(0, 2))
    workers = {
        name: draw(st.lists(st.sampled_from(["ok", "no", "late"]), min_size=1, unique=True))
        for name in draw(st.lists(_NAMES, min_size=1, max_size=3, unique=True))
    }
    roles = {name: _role(name, statuses) for name, statuses in workers.items()}
    edges = {
        status: draw(_each(sorted(workers), least) | _several(workers))
        for status in draw(st.lists(st.sampled_from(["s", "t", "u"]), min_size=1, unique=True))
    }
    for edge in edges.values():
        _complete(draw, edge, workers, least)
    items = {"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]}
    tasks = {"type": "array", "items": items, "minItems": least}
    planner = _role("Plan.", list(edges), tasks=tasks)
    start = {"role": "planner", "prompt": "Plan."}
    used = {
        branch["role"]
        for edge in edges.values()
        for branch in (edge.get("parallel") or {"one": edge}).values()
    }
    return {
        "version": 1,
        "name": "fan",
        "roles": {"planner": planner, **{name: roles[name] for name in workers if name in used}},
        "graph": {"$START": {"new": start, "resume": start}, "planner": edges},
    }


def _role(goal: str, statuses: list[str], **fields: Any) -> dict[str, Any]:
    schemas = [
        {"properties": {"$status": {"const": each}, **fields}, "required": ["$status", *fields]}
        for each in statuses
    ]
    return {"goal": goal, "tools": [], "frontmatter": {"oneOf": schemas}}


def _each(names: list[str], least: int) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {
            "forEach": st.just("tasks"),
            "role": st.sampled_from(names),
            "prompt": st.sampled_from(["{{title}}", "{{$index}}: {{.}}", "Work."]),
        },
        optional={
            "location": st.sampled_from(["a", "{{title}}"]),
            "maxParallel": st.integers(1, 9),
            "shared": st.booleans(),
            "limits": st.just({"maxSteps": least + 1}),
        },
    )


def _several(workers: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    branch = st.fixed_dictionaries(
        {"role": st.sampled_from(sorted(workers)), "prompt": st.sampled_from(["{{$index}}", "x"])},
        optional={"location": st.sampled_from(["a", "b-{{$index}}"])},
    )
    names = st.dictionaries(_NAMES, branch, min_size=1, max_size=4)
    return st.fixed_dictionaries({"parallel": names})


def _complete(draw: st.DrawFn, edge: dict[str, Any], workers: dict[str, Any], least: int) -> None:
    """Add the edges of the joint result."""
    branches = (edge.get("parallel") or {"one": edge}).values()
    common = set.intersection(*(set(workers[branch["role"]]) for branch in branches))
    statuses = ["$mixed", *sorted(common)[: draw(st.integers(0, 3))]]
    if "forEach" in edge and not least:
        statuses.append("$empty")
    to = st.sampled_from(["$END", "$SUSPEND", "planner"])
    edge["then"] = {each: {"role": draw(to), "prompt": "Next."} for each in statuses}
    edge["then"]["$mixed"]["role"] = draw(st.sampled_from(["$END", "$SUSPEND"]))
