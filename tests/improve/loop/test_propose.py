"""`uwf improve propose`: an edit is bounded, checked, guarded, replayed and known again."""

from difflib import unified_diff

import pytest
from desk import GOOD, NOTE, NULL

from uwf_core.client import ThreadFilter


def test_an_edit_of_texts_is_drafted_as_a_patch_and_the_file_stays(desk):
    done = desk.call(*desk.text("roles.writer.goal", GOOD), "--why", "Readers ask.")
    found = done.document
    assert (done.exit_code, found["state"], found["why"]) == (0, "drafted", "Readers ask.")
    assert found["changes"] == [
        {"place": "roles.writer.goal", "before": "Write a note about the topic.", "after": GOOD}
    ]
    assert "+    goal: " in found["patch"] and "# A note about a topic." in NOTE
    assert desk.file.read_text() == NOTE
    assert desk.call("show", "@last").document["edit"] == found["edit"]
    assert [each["edit"] for each in desk.call("list").document["edits"]] == [found["edit"]]


def test_an_edited_file_and_texts_by_place_make_the_same_edit(desk):
    one = desk.call(*desk.text("roles.writer.procedure", "1. Read.\n2. Write twice.\n")).document
    other = desk.folder / "other.yaml"
    old = "1. Read the topic.\n      2. Write.\n"
    other.write_text(NOTE.replace(old, "1. read.\n      2.  Write twice.\n"))
    two = desk.call("propose", "note", "--edited", "other.yaml").document
    assert one["edit"] == two["edit"]
    assert "procedure: |" in one["patch"] or "+      2. Write twice." in one["patch"]


def test_the_patch_of_an_edit_drafts_it_again_and_one_that_does_not_fit_is_rejected(desk):
    one = desk.call(*desk.text("roles.writer.goal", GOOD)).document
    (desk.folder / "edit.patch").write_text(one["patch"])
    assert desk.call("propose", "note", "--patch", "edit.patch").document["edit"] == one["edit"]
    desk.file.write_text(NOTE.replace("Write a note", "Compose a note"))
    late = desk.call("propose", "note", "--patch", "edit.patch")
    assert late.exit_code == 2 and "does not fit line 6" in late.stderr
    (desk.folder / "edit.patch").write_text(one["patch"].replace("note.yaml", "task.yaml"))
    other = desk.call("propose", "note", "--patch", "edit.patch")
    assert other.exit_code == 2 and "changes 'b/task.yaml'" in other.stderr
    (desk.folder / "edit.patch").write_text("nothing")
    assert "is empty" in desk.call("propose", "note", "--patch", "edit.patch").stderr


@pytest.mark.parametrize("context", [0, 1])
def test_a_patch_of_many_places_changes_each_whatever_is_shown_around_them(desk, context):
    lines = NOTE.splitlines(keepends=True)
    changed = NOTE.replace("Write a note", "Write a good note").replace(
        "    frontmatter:", "    output: The note.\n    frontmatter:"
    ).replace("Write it again.", "Write it once more.")  # fmt: skip
    (desk.folder / "other.yaml").write_text(changed)
    wanted = desk.call("propose", "note", "--edited", "other.yaml").document
    after = changed.splitlines(keepends=True)
    patch = "".join(unified_diff(lines, after, "a/note.yaml", "b/note.yaml", n=context))
    assert patch.count("@@ -") >= 2
    (desk.folder / "edit.patch").write_text(patch)
    found = desk.call("propose", "note", "--patch", "edit.patch").document
    assert (found["edit"], found["patch"]) == (wanted["edit"], wanted["patch"])
    assert len(found["changes"]) == 3


def test_places_that_the_file_lacks_are_added(desk):
    done = desk.call(*desk.text("roles.writer.output", "The note."))
    assert done.exit_code == 0 and "+    output: " in done.document["patch"]
    prompt = desk.call(*desk.text("graph.$START.new.prompt", "Write a good note."))
    assert prompt.exit_code == 0 and "Write a good note." in prompt.document["patch"]


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("properties: {$status: {const: written}, text: {type: string}}",
         "properties: {$status: {const: written}, text: {type: string, minLength: 1}}",
         "roles.writer.frontmatter"),
        ("new: {role: writer,", "new: {role: writer, location: sub,", "graph.$START.new"),
        ("    goal: Write a note about the topic.", "    human: true\n    goal: Write.", "human"),
        ("graph:", "limits: {maxSteps: 99}\ngraph:", "limits"),
        ("    frontmatter:", "    tools: [shell]\n    frontmatter:", "tools"),
        ("    frontmatter:", "    memory: [notes.md]\n    frontmatter:", "memory"),
    ],
)  # fmt: skip
def test_what_is_no_text_cannot_be_changed(desk, old, new, place):
    other = desk.folder / "other.yaml"
    assert old in NOTE
    other.write_text(NOTE.replace(old, new))
    done = desk.call("propose", "note", "--edited", "other.yaml")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.error["code"] == "edit-refused" and place in done.stderr
    assert desk.call("list").document["edits"] == []


def test_an_invalid_edit_is_rejected_with_the_place_in_the_users_file(desk):
    done = desk.call(*desk.text("graph.writer.written.prompt", "{{{missing}}}"))
    assert done.exit_code == 4 and str(desk.file) in done.stderr
    assert desk.call(*desk.text("roles.nobody.goal", "x")).exit_code == 2
    assert desk.call("propose", "note").exit_code == 2
    assert desk.call("propose", "nothing", "--text", "roles.writer.goal=x").exit_code == 2
    same = desk.call(*desk.text("roles.writer.goal", "Write a note about the topic."))
    assert same.exit_code == 2 and "changes nothing" in same.stderr


def test_an_agent_drafts_an_edit_that_cites_findings(desk):
    steps = [
        {"role": "writer", "outputs": [{"$status": "wrong"}, {"$status": "written", "text": "x"}]}
    ]
    desk.script(steps)
    with desk.client() as client:
        for number in range(6):
            thread = client.start("note", f"Topic {number}", agent="mock")["thread"]
            client.exec(thread, until_done=True)
    edits = [{"place": "roles.writer.procedure", "text": "Deliver $status written.\n"}]
    output = {"$status": "drafted", "edits": edits, "findings": [1], "why": "It is wrong first."}
    desk.script([{"role": "editor", "output": output}])
    found = desk.call("propose", "note", "--agent", "mock").document
    assert (found["author"], found["why"]) == ("mock", "It is wrong first.")
    assert [each["kind"] for each in found["findings"]] == ["corrected"] and found["thread"]
    assert found["replayed"] == {"stale": 6}
    desk.script([{"role": "editor", "output": {"$status": "nothing", "why": "All is well."}}])
    none = desk.call("propose", "note", "--agent", "mock")
    assert none.exit_code == 2 and "All is well." in none.stderr
    refused = desk.call("propose", "note", "--agent", "mock", "--set", "no-such-set")
    assert refused.exit_code != 0 and "no-such-set" in refused.stderr
    with desk.client() as client:
        asked = client.list(ThreadFilter(all=True, tags={"improve": "propose"}))
    assert len(asked) == 2, "an unknown set costs no answer of an agent"


def test_a_text_is_the_same_edit_whatever_its_blanks_and_capitals(desk):
    one = desk.call(*desk.text("roles.writer.goal", NULL)).document["edit"]
    assert desk.call(*desk.text("roles.writer.goal", NULL.upper())).document["edit"] == one
    assert desk.call(*desk.text("roles.writer.goal", f"  {NULL}\n")).document["edit"] == one
