"""The picture and the table of a graph say the same, in words and in colours."""

import re
import xml.etree.ElementTree as ElementTree

import pytest

from uwf_core.markup import Markup
from uwf_web.graph.shape import GraphEdge, GraphNode, shape_of
from uwf_web.graph.states import graph_status
from uwf_web.graph.table import schema_lines, thread_graph, workflow_graph

OUTPUT = {
    "oneOf": [
        {"properties": {"$status": {"const": "done"}, "note": {"type": "string"}}},
        {
            "properties": {"$status": {"const": "again"}, "places": {"type": "array"}},
            "required": ["places"],
        },
    ]
}


def role(**keys):
    return {"description": "Writes <text>.", "frontmatter": OUTPUT, "agent": None, **keys}


def edge(target: str, **keys):
    return {"role": target, "prompt": "", **keys}


WORKFLOW = {
    "name": "write",
    "roles": {
        "writer": role(),
        "editor": role(human=True),
        "printer": role(program={"argv": ["lpr"]}),
        "reader": role(workflow="read-it"),
    },
    "graph": {
        "$START": {"new": edge("writer"), "resume": edge("writer")},
        "writer": {"done": edge("editor"), "again": edge("writer"), "stuck": edge("$SUSPEND")},
        "editor": {"done": edge("printer"), "again": edge("writer")},
        "printer": {
            "done": {
                "parallel": {"first": edge("reader"), "second": edge("reader")},
                "then": {"done": edge("$END"), "$mixed": edge("$SUSPEND")},
            }
        },
    },
}
IDLE = {
    "thread": "T",
    "status": "idle",
    "suspendReason": None,
    "currentRole": "editor",
    "suspendedRole": None,
    "stack": [],
    "children": [],
}


def step(number: int, name: str, status: str, branches=None):
    return {
        "step": f"S{number}",
        "number": number,
        "role": name,
        "status": status,
        "branches": branches,
    }


STEPS = [
    {"step": "S0", "role": "$START", "status": None, "branches": None},
    step(1, "writer", "again"),
    step(2, "writer", "done"),
    step(3, "editor", "again"),
    step(4, "writer", "done"),
]


def read(markup: Markup) -> ElementTree.Element:
    return ElementTree.fromstring(markup)


def words_of(markup: Markup) -> dict[str, str]:
    """What the nodes of a picture say, which is also the name of each link."""
    links = (each for each in read(markup).iter("a") if each.get("data-node"))
    return {str(each.get("data-node")): "".join(each.itertext()) for each in links}


def test_a_role_has_the_shape_of_who_plays_it():
    kinds = {node.name: (node.kind, node.detail) for node in shape_of(WORKFLOW).nodes}
    assert kinds == {
        "$START": ("start", ""),
        "writer": ("agent", "agent"),
        "editor": ("human", "person"),
        "printer": ("program", "program"),
        "reader": ("workflow", "workflow read-it"),
        "printer/done": ("branches", "parallel"),
        "$END": ("end", ""),
        "$SUSPEND": ("suspend", ""),
    }


def test_edges_between_the_same_nodes_share_a_line():
    edges = shape_of(WORKFLOW).edges
    assert edges[0] == GraphEdge("$START", "writer", ("new", "resume"))
    assert GraphEdge("printer/done", "reader", ("first", "second"), is_branch=True) in edges


def test_a_branch_for_each_item_has_no_name():
    edges = {"new": {"forEach": "list", **edge("a"), "then": {"done": edge("$END")}}}
    found = shape_of({"roles": {"a": role()}, "graph": {"$START": edges}})
    assert GraphNode("$START/new", "branches", "for each of list") in found.nodes
    assert GraphEdge("$START/new", "a", (), is_branch=True) in found.edges


def test_a_thread_shows_states_visits_and_what_runs_next():
    words = words_of(thread_graph(WORKFLOW, IDLE, STEPS))
    assert words["writer"] == "✓ writer completed · ×3"
    assert words["editor"] == "✓ editor runs next · ×1"
    assert words["printer"] == "printer program"
    assert words["$START"] == "✓ $START"


@pytest.mark.parametrize(
    ("status", "reason", "state"),
    [
        ("running", None, "active"),
        ("suspended", "role", "suspended"),
        ("suspended", "limit", "suspended"),
        ("suspended", "failure", "failed"),
        ("suspended", "interrupted", "failed"),
    ],
)
def test_the_role_of_a_thread_has_its_state(status: str, reason: str | None, state: str):
    thread = {**IDLE, "status": status, "suspendReason": reason}
    found = graph_status(shape_of(WORKFLOW), thread, STEPS)
    assert found.node("editor").state == state
    assert found.node("writer").state == "completed"
    assert found.node("$SUSPEND").state == "default", "the role asks, no edge"


def test_an_edge_that_asks_a_person_shows_where_it_leads():
    thread = {**IDLE, "status": "suspended", "suspendReason": "role", "suspendedRole": "writer"}
    steps = [*STEPS[:-1], {**STEPS[-1], "role": "writer", "status": "stuck"}]
    assert graph_status(shape_of(WORKFLOW), thread, steps).node("$SUSPEND").state == "suspended"


def test_a_completed_thread_has_reached_its_end():
    thread = {**IDLE, "status": "completed", "currentRole": None}
    assert graph_status(shape_of(WORKFLOW), thread, STEPS).node("$END").state == "completed"


def test_each_edge_counts_how_often_it_was_taken():
    taken = graph_status(shape_of(WORKFLOW), IDLE, STEPS).taken
    assert taken == {
        ("$START", "new"): 1,
        ("writer", "again"): 1,
        ("writer", "done"): 2,
        ("editor", "again"): 1,
    }


def test_a_resume_after_the_end_counts_as_one():
    joint = step(6, "printer/done", "done", [])
    steps = [*STEPS, step(5, "printer", "done"), joint, step(7, "writer", "done")]
    taken = graph_status(shape_of(WORKFLOW), IDLE, steps).taken
    assert taken["$START", "resume"] == 1


def test_the_branches_of_a_step_are_visits_of_their_roles():
    branches = [
        {"name": "first", "role": "reader", "thread": "A", "status": "done"},
        {"name": "second", "role": "reader", "thread": "B", "status": "done"},
    ]
    found = graph_status(shape_of(WORKFLOW), IDLE, [*STEPS, step(5, "printer/done", "", branches)])
    assert [visit.thread for visit in found.node("reader").visits] == ["A", "B"]
    assert found.taken["printer/done", "first"] == 1


def test_open_branches_show_their_own_states():
    open_branches = [
        {"name": "first", "thread": "A", "status": "running", "reason": None},
        {"name": "second", "thread": "B", "status": "completed", "reason": None},
    ]
    frame = {"role": "printer/done", "branches": open_branches}
    thread = {**IDLE, "status": "running", "stack": [frame]}
    found = graph_status(shape_of(WORKFLOW), thread, STEPS)
    assert found.node("reader").state == "active"
    assert len(found.node("reader").visits) == 2
    assert found.node("printer/done").state == "active"


def test_a_node_leads_to_its_last_step_and_the_table_to_each():
    box = read(thread_graph(WORKFLOW, IDLE, STEPS, "/uwf"))
    picture, table = box
    nodes = {each.get("data-node"): each.get("href") for each in picture.iter("a")}
    assert nodes["writer"] == "/uwf/threads/T/steps/S4"
    assert nodes["printer"] == "#node-printer"
    row = next(each for each in table.iter("tr") if each.get("id") == "node-writer")
    links = [each.get("href") for each in row.iter("a")]
    assert links[:3] == [f"/uwf/threads/T/steps/S{number}" for number in (1, 2, 4)]


def test_the_table_has_every_node_and_every_edge_of_the_picture():
    box = workflow_graph(WORKFLOW)
    shape = shape_of(WORKFLOW)
    rows = {each.get("id"): "".join(each.itertext()) for each in read(box).iter("tr")}
    assert len(rows) == len(shape.nodes) + 1
    for each in shape.edges:
        row = rows["node-" + each.source.replace("$", "~24").replace("/", "~2f")]
        for status in each.statuses:
            assert re.search(rf"{re.escape(status)} (→|runs) {re.escape(each.target)}", row)


def test_states_are_never_shown_by_colour_alone():
    text = "".join(read(thread_graph(WORKFLOW, {**IDLE, "status": "running"}, STEPS)).itertext())
    assert "▶ editor" in text
    assert "✓ writer" in text
    assert "active" in text


def test_texts_of_a_workflow_are_texts():
    hostile = '"><script>alert(1)</script>'
    roles = {hostile: role(description=hostile)}
    graph = {"$START": {"new": edge(hostile)}, hostile: {hostile: edge("$END")}}
    box = workflow_graph({"name": hostile, "roles": roles, "graph": graph})
    assert "script" not in {each.tag for each in read(box).iter()}
    assert hostile in "".join(read(box).itertext())


def test_a_graph_that_nobody_could_read_is_only_a_table():
    names = [f"r{number}" for number in range(200)]
    graph = {name: {"done": edge("$END")} for name in names}
    box = read(workflow_graph({"name": "x", "roles": dict.fromkeys(names, role()), "graph": graph}))
    assert not list(box.iter("svg"))
    assert len(list(box.iter("tr"))) == 203


def test_the_fields_of_an_output_are_a_line_for_each_status():
    assert schema_lines(OUTPUT) == ["done: note?", "again: places (array)"]
    assert schema_lines({"properties": {"$status": {"const": "ok"}}}) == ["ok"]
    assert schema_lines(None) == []
