"""A thread with branches replays with the threads of all of them, and their joint result again."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.core.branching import (
    DONE,
    FINE,
    JUDGED,
    PANEL,
    POOR,
    SPLIT,
    TASKS,
    branch_threads,
    branching_project,
    fan_out_of,
    panel_script,
    run,
)
from tests.core.calling import INNER, children, said
from tests.step_parts import call_of

from uwf_core.client import Client
from uwf_core.testing.project import Project

PANEL_FILE = ".workflow/panel.yaml"
FAILS = {**DONE, "outputs": [{"fail": {"kind": "crashed", "message": "no"}}, DONE["output"]]}
del FAILS["output"]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return branching_project(tmp_path)


@pytest.fixture
def uwf(project: Project) -> Iterator[Client]:
    with project.client(store="memory:", durable=False) as client:
        yield client


def panel(project: Project, uwf: Client, *reviews: dict[str, Any]) -> str:
    project.script(panel_script(*reviews), by_role=True, repeat=True)
    uwf.add_workflow(project.folder / PANEL_FILE, allow_programs=True)
    return run(uwf, "panel")


def rows(found: Any) -> list[tuple[str, str, str]]:
    return [(each["path"], each["kind"], each["verdict"]) for each in found["steps"]]


def verdicts(found: Any) -> dict[str, str]:
    return {each["path"]: each["verdict"] for each in found["steps"]}


def parts(found: Any) -> list[str]:
    assert found["first"] is not None
    return [each["part"] for each in found["first"]["differences"]]


def assert_same(found: Any) -> None:
    assert found["verdict"] == "same", found["first"]


def edited(project: Project, text: str, *edits: tuple[str, str]) -> str:
    folder = project.folder / "draft"
    folder.mkdir(exist_ok=True)
    for old, new in edits:
        assert old in text, old
        text = text.replace(old, new)
    (folder / "inner.yaml").write_text(INNER, "utf-8")
    file = folder / ("tasks.yaml" if "name: tasks" in text else "panel.yaml")
    file.write_text(text, "utf-8")
    return str(file)


def test_a_fan_out_is_replayed_with_the_threads_of_all_branches(uwf: Client) -> None:
    root = run(uwf)
    found = uwf.replay(root)
    assert_same(found)
    branches = [f"planner/planned/{number}/worker" for number in range(3)]
    assert [path for path, *_ in rows(found)] == ["planner", "planner/planned", *branches, "judge"]
    threads = [each["thread"] for each in found["steps"]]
    assert threads == [root, root, *branch_threads(uwf, root), root]


def test_each_branch_replays_alone(uwf: Client) -> None:
    for thread in branch_threads(uwf, run(uwf)):
        assert rows(uwf.replay(thread)) == [("worker", "step", "same")]


def test_an_empty_list_is_replayed(project: Project, uwf: Client) -> None:
    project.script([said("planner", "planned", tasks=[], others=[])], by_role=True)
    found = uwf.replay(run(uwf))
    assert rows(found)[1:] == [("planner/planned", "step", "same")]
    file = edited(project, TASKS, ("$empty: {role: $END", "$empty: {role: judge"))
    found = uwf.replay(found["thread"], file)
    assert (verdicts(found)["planner/planned"], parts(found)) == ("different", ["route"])
    assert [each["path"] for each in found["first"]["causes"]] == [
        "graph.planner.planned.then.$empty"
    ]


def test_named_branches_of_all_kinds_are_replayed_when_they_run_again(
    project: Project, uwf: Client
) -> None:
    root = panel(project, uwf, POOR, FINE)
    found = uwf.replay(root)
    assert_same(found)
    reviews = [
        "writer/written",
        "writer/written/style/reviewer",
        "writer/written/facts/writer",
        "writer/written/facts/checker",
        "writer/written/tests/test",
    ]
    assert [path for path, *_ in rows(found)] == ["writer", *reviews, "writer", *reviews]
    assert len({each["thread"] for each in found["steps"]}) == 4, "each branch continues its thread"


def test_a_fork_replays_its_copies_of_branches(project: Project, uwf: Client) -> None:
    root = panel(project, uwf, POOR, FINE)
    for step in uwf.steps(root)[1:]:
        fork = uwf.fork(step["step"])["thread"]
        if uwf.show(fork)["status"] != "completed":
            uwf.exec(fork, until_done=True)
        assert_same(uwf.replay(fork))
    uwf.remove(root)
    assert_same(uwf.replay(fork))


def test_an_open_fan_out_is_replayed_as_far_as_it_goes(project: Project, uwf: Client) -> None:
    failed = {"fail": {"kind": "crashed", "message": "no"}}
    project.script([SPLIT, {**FAILS, "outputs": [failed]}, JUDGED], by_role=True, repeat=True)
    root = uwf.start("tasks", "Make a poem.")["thread"]
    uwf.exec(root, until_done=True)
    paths = [f"planner/planned/{number}/worker" for number in range(3)]
    found = uwf.replay(root)
    assert rows(found)[1:] == [
        ("planner/planned", "calling", "same"),
        *((path, "failed", "same") for path in paths),
    ]
    file = edited(project, TASKS, ("do {{title}}", "make {{title}}"))
    assert [verdict for *_, verdict in rows(uwf.replay(root, file))] == ["same", *["stale"] * 4]


def test_failed_resumed_and_cancelled_branches_are_replayed(project: Project, uwf: Client) -> None:
    project.script([SPLIT, FAILS, JUDGED], by_role=True, repeat=True)
    root = uwf.start("tasks", "Make a poem.")["thread"]
    uwf.exec(root, until_done=True)
    first, second, third = children(uwf, root)
    uwf.exec(second)
    uwf.cancel(first)
    uwf.exec(third)
    uwf.exec(root, until_done=True)
    assert uwf.show(root)["status"] == "completed"
    assert fan_out_of(uwf, root)["status"] == "$mixed"
    found = uwf.replay(root)
    assert_same(found)
    assert ("planner/planned/0/worker", "failed", "same") in rows(found)


def test_a_poked_source_replays_with_the_branches_of_its_new_output(
    project: Project, uwf: Client
) -> None:
    again = said("planner", "planned", tasks=[{"title": "four"}], others=[])
    project.script([SPLIT, again, DONE, JUDGED], by_role=True)
    root = uwf.start("tasks", "Make a poem.")["thread"]
    uwf.exec(root)
    uwf.poke(root, "Shorter.")
    uwf.exec(root, until_done=True)
    found = uwf.replay(root)
    assert_same(found)
    assert [path for path, *_ in rows(found)][:4] == [
        "planner", "planner", "planner/planned", "planner/planned/0/worker"
    ]  # fmt: skip


def test_another_prompt_of_the_branches_makes_them_stale(project: Project, uwf: Client) -> None:
    root = run(uwf)
    file = edited(project, TASKS, ("do {{title}}", "make {{title}}"))
    found = uwf.replay(root, file)
    assert [verdict for *_, verdict in rows(found)] == ["same", *["stale"] * 5]
    first = found["first"]
    assert first is not None
    assert [(each["recorded"], each["now"]) for each in first["differences"][:3]] == [
        (f"{number}: do {title}", f"{number}: make {title}")
        for number, title in enumerate(("one", "two", "three"))
    ]
    [cause] = first["causes"]
    assert (cause["path"], cause["line"]) == ("graph.planner.planned.prompt", 31)
    assert found["steps"][2]["causes"] == first["causes"], "its task is the prompt of the edge"


def test_one_other_prompt_leaves_the_other_named_branches(project: Project, uwf: Client) -> None:
    root = panel(project, uwf, FINE)
    file = edited(project, PANEL, ("Facts of", "Check facts of"))
    found = uwf.replay(root, file)
    assert rows(found)[1:] == [
        ("writer/written", "step", "stale"),
        ("writer/written/style/reviewer", "step", "same"),
        ("writer/written/facts/writer", "step", "stale"),
        ("writer/written/facts/checker", "step", "stale"),
        ("writer/written/tests/test", "step", "same"),
    ]
    assert [each["path"] for each in found["first"]["causes"]] == [
        "graph.writer.written.parallel.facts.prompt"
    ]


def test_an_edited_role_of_a_branch_is_found_in_the_file_of_the_caller(
    project: Project, uwf: Client
) -> None:
    found = uwf.replay(run(uwf), edited(project, TASKS, ("goal: Do a task.", "goal: Do it.")))
    first = found["first"]
    assert first is not None
    assert first["path"] == "planner/planned/0/worker"
    [cause] = first["causes"]
    assert (cause["path"], cause["line"]) == ("roles.worker.goal", 15)
    assert cause["file"] is not None


def test_other_arguments_of_a_program_make_its_branch_stale(project: Project, uwf: Client) -> None:
    root = panel(project, uwf, FINE)
    found = uwf.replay(root, edited(project, PANEL, ('"{{text}}"', '"{{text}}!"')))
    first = found["first"]
    assert first is not None
    assert (first["path"], parts(found)) == ("writer/written/tests/test", ["prompt"])


@pytest.mark.parametrize(
    ("edits", "cause"),
    [
        ([("forEach: tasks", "forEach: others")], "graph.planner.planned.forEach"),
        (
            [("role: worker", "role: helper"), ("  worker:", "  helper:")],
            "graph.planner.planned.role",
        ),
    ],
)
def test_other_branches_are_a_difference_of_the_fan_out(
    project: Project, uwf: Client, edits: list[tuple[str, str]], cause: str
) -> None:
    found = uwf.replay(run(uwf), edited(project, TASKS, *edits))
    [fan_out] = [each for each in found["steps"] if each["path"] == "planner/planned"]
    assert fan_out["differences"][0]["part"] == "branches"
    assert cause in [each["path"] for each in fan_out["causes"]]
    assert (verdicts(found)["planner/planned"], verdicts(found)["judge"]) == (
        "different", "unreachable"
    )  # fmt: skip


def test_another_order_of_named_branches_is_different(project: Project, uwf: Client) -> None:
    root = panel(project, uwf, FINE)
    style = '        style: {role: reviewer, prompt: "Style of {{{text}}}"}\n'
    file = edited(
        project, PANEL, (style, ""), ("      shared: true\n", f"{style}      shared: true\n")
    )
    found = uwf.replay(root, file)
    [fan_out] = [each for each in found["steps"] if each["path"] == "writer/written"]
    assert fan_out["verdict"] == "different"
    assert fan_out["differences"][0]["part"] == "branches"
    assert [each["path"] for each in fan_out["causes"]] == ["graph.writer.written.parallel"]


def test_a_missing_edge_of_then_gives_another_joint_status(project: Project, uwf: Client) -> None:
    root = run(uwf)
    old = '        done: {role: judge, prompt: "{{#results}}{{$index}} {{text}} {{/results}}"}\n'
    found = uwf.replay(root, edited(project, TASKS, (old, "")))
    assert (verdicts(found)["planner/planned"], parts(found)) == ("different", ["output"])
    assert [each["path"] for each in found["first"]["causes"]] == ["graph.planner.planned.then"]


def test_an_edge_to_one_role_in_place_of_branches_is_another_role(
    project: Project, uwf: Client
) -> None:
    before, rest = TASKS.split("    planned:\n      forEach")
    after = rest[rest.index("  judge:\n    accepted") :]
    work = "  worker:\n    done: {role: judge, prompt: A}\n    stuck: {role: judge, prompt: B}\n"
    file = edited(project, f"{before}    planned: {{role: worker, prompt: Work.}}\n{work}{after}")
    found = uwf.replay(run(uwf), file)
    assert [verdict for *_, verdict in rows(found)] == ["different", *["unreachable"] * 5]


def test_the_prompt_after_a_fan_out_has_its_place_in_then(project: Project, uwf: Client) -> None:
    file = edited(project, TASKS, ("{{$index}} {{text}} ", "{{text}} "))
    found = uwf.replay(run(uwf), file)
    assert verdicts(found)["planner/planned"] == "same"
    assert found["first"] is not None
    assert [(each["path"], each["line"]) for each in found["first"]["causes"]] == [
        ("graph.planner.planned.then.done.prompt", 34)
    ]


def forge(uwf: Client, root: str, **fields: Any) -> str:
    """Replace the head of a thread, the step of a fan-out, by one with these fields."""
    engine = uwf._engine
    head = engine.store.variable(f"@uwf/thread/{root}")
    assert head is not None
    step = uwf.node(head.value)["payload"]
    if "output" in fields:
        schema = engine.store.get(step["output"]).type
        output = {**engine.store.payload(step["output"]), **fields.pop("output")}
        fields["output"] = engine.store.put(schema, output)
    if "branches" in fields:
        fields["call"] = {**step["call"], "branches": fields.pop("branches")}
    with engine.store.transaction():
        ref = engine.nodes.put("step", {**step, **fields})
        engine.store.set_variable(head.name, ref, head.tags, head)
    return str(ref)


def test_a_joint_result_that_its_branches_did_not_deliver_is_different(uwf: Client) -> None:
    root = uwf.start("tasks", "Make a poem.")["thread"]
    uwf.exec(root, count=4)
    results = uwf.step(uwf.steps(root)[2]["step"])["output"]["results"]
    results[1]["text"] = "thistles"
    forge(uwf, root, output={"results": results})
    found = uwf.replay(root)
    assert (found["verdict"], parts(found)) == ("different", ["output"])
    [difference] = found["first"]["differences"]
    assert "thistles" in difference["recorded"]
    assert "thistles" not in difference["now"]


def test_branches_that_are_not_those_of_their_threads_are_different(uwf: Client) -> None:
    root = uwf.start("tasks", "Make a poem.")["thread"]
    uwf.exec(root, count=4)
    step = uwf.node(uwf.show(root)["head"])["payload"]
    first, second, third = call_of(step)["branches"]
    forge(uwf, root, branches=[second, first, third])
    found = uwf.replay(root)
    assert found["verdict"] == "different"
    [one, *_] = [each for each in found["steps"] if each["path"] == "planner/planned"]
    assert any("index" in each["now"] for each in one["differences"]), one["differences"]


def test_live_runs_a_fan_out_with_a_change_below_again(project: Project) -> None:
    assert project.uwf("run", "tasks", "-p", "Make a poem.").exit_code == 0
    file = edited(project, TASKS, ("goal: Do a task.", "goal: Do it."))
    done = project.uwf("replay", "@last", "--workflow", file, "--live")
    assert (done.exit_code, done.document["status"]) == (0, "completed"), done.stderr
    assert [each["role"] for each in done.document["steps"]] == [*["worker"] * 3, "judge"]
    assert project.uwf("replay", done.document["thread"], "--format", "text").exit_code == 0
    text = project.uwf("replay", "@last", "--workflow", file, "--format", "text").stdout
    assert "step 1 (planner/planned/0/worker, " in text or "same" in text
