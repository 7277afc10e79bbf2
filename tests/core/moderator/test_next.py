"""Who is next: the same output always leads to the same place, or says why it leads nowhere."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from uwf_core.errors import ExitCode, RoutingFailed
from uwf_core.ids import Ref
from uwf_core.moderator.next import Transition, apply_edge, apply_start_edge
from uwf_core.workflow.definition import Definition, Edge, Limits, Role, Workflow


def role(name: str) -> Role:
    return Role(name, "", "Do it.", (), "", "", Ref("0000000000000"), {}, None, None)


def workflow(roles: str, graph: dict[str, dict[str, Edge]]) -> Definition:
    named = {name: role(name) for name in roles.split()}
    empty = Workflow("example", {}, {})
    return Definition(Ref("0000000000000"), "example", "", named, graph, Limits(), str, empty)


def edge(target: str, prompt: str, location: str | None = None) -> Edge:
    return Edge(target, prompt, location)


WORKFLOW = workflow(
    "developer reviewer",
    {
        "$START": {
            "new": edge("developer", "Begin.", "work{{x}}"),
            "resume": edge("developer", "Again."),
        },
        "developer": {
            "done": edge("reviewer", "Review {{files.0.name}}: {{{_body}}}", "{{{tree}}}")
        },
        "reviewer": {
            "approved": edge("$END", "Done: {{summary}}"),
            "rejected": edge("developer", "{{comments}}"),
            "stuck": edge("$SUSPEND", "Help with {{what}}"),
            "silent": edge("$SUSPEND", "{{what}}"),
            "lost": edge("nobody", "Go."),
            "broken": edge("developer", "{{#open}}"),
        },
    },
)


def after(role: str, status: Any, body: str = "", **fields: Any) -> Transition:
    return apply_edge(WORKFLOW, role, {"$status": status, **fields}, body)


def test_a_thread_begins_and_goes_on_where_start_says() -> None:
    assert apply_start_edge(WORKFLOW, "new") == Transition("idle", "developer", "Begin.", "work")
    assert apply_start_edge(WORKFLOW, "resume") == Transition("idle", "developer", "Again.", None)


def test_the_status_decides_and_the_prompt_is_rendered_over_output_and_body() -> None:
    route = after("developer", "done", "<b>It & works</b>", files=[{"name": "a.py"}], tree="/w/t")
    assert route == Transition("idle", "reviewer", "Review a.py: <b>It & works</b>", "/w/t")


@pytest.mark.parametrize("fields", [{}, {"tree": None}, {"tree": " \n"}])
def test_a_location_that_renders_blank_is_the_threads_folder(fields: dict[str, Any]) -> None:
    route = after("developer", "done", "text", **fields)
    assert route.role == "reviewer" and route.location is None


def test_an_edge_to_end_completes_even_where_its_prompt_is_empty() -> None:
    assert after("reviewer", "approved", summary="all well") == Transition(
        "completed", None, "Done: all well"
    )
    assert apply_edge(
        workflow("a", {"a": {"x": edge("$END", "{{no}}")}}), "a", {"$status": "x"}, ""
    ) == Transition("completed", None, "")


def test_an_edge_to_suspend_names_the_role_that_spoke() -> None:
    assert after("reviewer", "stuck", what="the key") == Transition(
        "suspended", "reviewer", "Help with the key"
    )


def test_a_blank_suspend_prompt_still_says_something() -> None:
    suspend = after("reviewer", "silent")
    assert suspend.status == "suspended"
    assert "'reviewer'" in suspend.prompt and "'silent'" in suspend.prompt


@pytest.mark.parametrize("role", ["developer", "reviewer"])
def test_every_role_may_suspend_without_an_edge_for_it(role: str) -> None:
    assert after(role, "$SUSPEND", reason=" Which database? ") == Transition(
        "suspended", role, "Which database?"
    )


@pytest.mark.parametrize("fields", [{}, {"reason": ""}, {"reason": None}, {"reason": 3}])
def test_a_suspension_without_a_reason_still_says_who_asks(fields: dict[str, Any]) -> None:
    assert after("developer", "$SUSPEND", **fields) == Transition(
        "suspended", "developer", "Role 'developer' needs a person."
    )


@pytest.mark.parametrize(
    ("role", "status", "words"),
    [
        ("reviewer", "maybe", ["reviewer", "'maybe'", "approved, rejected"]),
        ("developer", None, ["developer", "None"]),
        ("developer", ["done"], ["developer", "done"]),
        ("stranger", "done", ["stranger", "none"]),
        ("reviewer", "rejected", ["graph.reviewer.rejected.prompt", "blank", "'developer'"]),
        ("reviewer", "lost", ["graph.reviewer.lost", "'nobody'"]),
        (
            "reviewer",
            "broken",
            ["graph.reviewer.broken.prompt", "not closed", "line 1, column 1"],
        ),
    ],
)
def test_where_the_workflow_leads_nowhere_the_error_names_edge_and_cure(
    role: str, status: Any, words: list[str]
) -> None:
    with pytest.raises(RoutingFailed) as caught:
        after(role, status)
    assert all(word in caught.value.message for word in words), caught.value.message
    assert caught.value.hint
    assert caught.value.exit_code == ExitCode.FAILED


def test_a_start_that_leads_to_no_role_is_refused() -> None:
    with pytest.raises(RoutingFailed, match=r"\$END"):
        apply_start_edge(workflow("", {"$START": {"new": edge("$END", "x")}}), "new")


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.text(), st.text(), st.text())
def test_output_is_never_read_as_a_template(comments: str, body: str, other: str) -> None:
    definition = workflow(
        "b", {"a": {"x": edge("b", "[{{comments}}|{{_body}}]", "{{{comments}}}/x")}}
    )
    output = {"$status": "x", "comments": comments, "other": other}
    route = apply_edge(definition, "a", output, body)
    assert route == Transition("idle", "b", f"[{comments}|{body}]", f"{comments}/x".strip())
