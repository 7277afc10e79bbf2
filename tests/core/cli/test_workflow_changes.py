"""`uwf workflow diff` as a user sees it: text, JSON, exit codes, the words for a workflow."""

import re

from cli_kit import WORKFLOW, check_golden

EDITED = (
    WORKFLOW.replace("{$status: {const: approved}}", "{$status: {const: approved}, note: {}}")
    .replace("goal: review", "goal: |-\n      Review it.\n      Be strict.")
    .replace("prompt: Done.", "prompt: All done.")
    .replace("rejected: {role: writer", "rejected: {role: $END")
    .replace('"Review: {{summary}}"', '"{{#summary}}Review: {{summary}}{{/summary}}"')
)


def versions(uwf, project):
    """The registered version of `pair`, and a file that differs."""
    file = project.folder / "pair.yaml"
    file.write_text(WORKFLOW, encoding="utf-8")
    ref = uwf("workflow", "add", "pair.yaml").document["workflow"]
    (project.folder / ".workflow" / "pair.yaml").unlink()
    file.write_text(EDITED, encoding="utf-8")
    return ref


def test_a_file_is_compared_with_the_registered_version_of_its_name(uwf, project):
    ref = versions(uwf, project)
    alone = uwf("workflow", "diff", "pair.yaml")
    assert (alone.code, alone.document["a"]["workflow"]) == (1, ref)
    assert alone.document["b"] == {"workflow": None, "workflowName": "pair"}
    for old in ("pair", ref):
        assert uwf("workflow", "diff", old, "pair.yaml").document == alone.document
    assert uwf("workflow", "diff", ref, "pair").document["changes"] == []


def test_comparing_stores_nothing(uwf, project):
    versions(uwf, project)
    before = uwf("cas", "verify").document["nodes"]
    assert uwf("workflow", "diff", "pair.yaml").code == 1
    assert uwf("cas", "verify").document["nodes"] == before


def test_each_change_has_its_place_and_the_reason_why_it_breaks(uwf, project):
    versions(uwf, project)
    shown = uwf("workflow", "diff", "pair.yaml", "--format", "text")
    check_golden("workflow-diff.txt", re.sub(r"\b[0-9A-Z]{13}\b", "R" * 13, shown.out.rstrip()))
    document = uwf("workflow", "diff", "pair.yaml").document
    assert (document["forks"], document["callers"]) == ("compatible", "breaking")
    broken = [each["place"] for each in document["changes"] if each["callersReason"]]
    assert broken == ["graph.reviewer.rejected"]


def test_the_exit_code_tells_a_difference_from_an_error(uwf, project):
    versions(uwf, project)
    assert uwf("workflow", "diff", "pair", "pair").code == 0
    assert uwf("workflow", "diff", "pair", "pair.yaml").code == 1
    assert uwf("workflow", "diff", "pair", "unknown").code == 2
    (project.folder / "new.yaml").write_text(
        WORKFLOW.replace("name: pair", "name: new"), encoding="utf-8"
    )
    unregistered = uwf("workflow", "diff", "new.yaml")
    assert (unregistered.code, "not registered" in unregistered.error["message"]) == (2, True)
    (project.folder / "pair.yaml").write_text("name: 7", encoding="utf-8")
    assert uwf("workflow", "diff", "pair", "pair.yaml").code == 4
