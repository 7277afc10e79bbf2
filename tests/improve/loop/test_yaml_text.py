"""Texts by place: what is written into a workflow file is read as exactly that."""

import subprocess

import pytest
import yaml
from desk import NOTE
from hypothesis import assume, given
from hypothesis import strategies as st

from uwf_core.errors import UsageError
from uwf_improve.edit.patch import patched
from uwf_improve.edit.records import FileChange, WorkflowEdit
from uwf_improve.edit.yaml_text import with_texts

TEXTS = st.text(st.characters(exclude_categories=("Cs",)), max_size=60) | st.lists(
    st.sampled_from(["- a: b", "  # c", "\ttab", "{{{x}}}", "'\"", "...", "---", "é", "\u2028", ""])
).map("\n".join)
LINES = st.lists(st.sampled_from(["a", "b", "- c", "+ d", " ", "@@ -1 +1 @@", "-- e", ""])).map(
    "\n".join
)
PLACES = ("roles.writer.goal", "roles.writer.procedure", "roles.writer.output",
          "graph.$START.new.prompt", "graph.writer.written.prompt")  # fmt: skip


@given(TEXTS, TEXTS, st.sampled_from(PLACES))
def test_a_text_is_read_as_it_was_written_and_nothing_else_changes(first, second, place):
    *parents, key = place.split(".")
    for text in (first, second):
        found = yaml.safe_load(with_texts(with_texts(NOTE, {place: first}), {place: text}))
        expected = yaml.safe_load(NOTE)
        node = expected
        for each in parents:
            node = node[each]
        node[key] = text
        assert found == expected


def test_the_rest_of_the_file_keeps_its_form_and_a_wrong_place_is_an_error():
    new = with_texts(NOTE, {"roles.writer.goal": "Be brief."})
    assert new.replace('"Be brief."', "Write a note about the topic.") == NOTE
    with pytest.raises(UsageError, match="no text"):
        with_texts(NOTE, {"roles.nobody.goal": "x"})
    with pytest.raises(UsageError, match="YAML"):
        with_texts("a: [", {"roles.writer.goal": "x"})


@pytest.mark.parametrize("text", ["a\u2028b\n", "a\x85b", "a\r\nb\n", "no end", "a\x0cb\n"])
def test_the_patch_of_any_text_applies(tmp_path, text):
    before = "one\ntwo" if text == "no end" else "one\n"
    change = FileChange(path="note.yaml", before=before, after=text)
    edit = WorkflowEdit(
        edit="e", workflow="w", file="f", champion="c", challenger="d", changes=[], files=[change]
    )
    (tmp_path / "note.yaml").write_bytes(before.encode())
    command = ["git", "apply", "--whitespace=nowarn", "-"]
    subprocess.run(command, cwd=tmp_path, input=edit.patch().encode(), check=True)
    assert (tmp_path / "note.yaml").read_bytes() == text.encode()


@given(LINES, LINES)
def test_a_patch_of_ours_gives_the_new_text(before, after):
    before, after = f"{before}\n", f"{after}\n"
    assume(before != after)
    change = FileChange(path="note.yaml", before=before, after=after)
    edit = WorkflowEdit(
        edit="e", workflow="w", file="f", champion="c", challenger="d", changes=[], files=[change]
    )
    assert patched(edit.patch(), {"note.yaml": before}) == {"note.yaml": after}
