"""`uwf cas import` with an importer of a plugin: what it recognizes is imported, or it is named."""

import pytest
from wheels import build_wheel, install

PLUGIN = """
from pathlib import Path
from uwf_core.api import ImportedStep, ImportedWorkflow, ImporterSpec, Turn, hookimpl

@hookimpl
def uwf_importers():
    return [ImporterSpec(name="odd", summary="for a test", factory="odd_importer:Odd")]

STATUS = {"properties": {"$status": {"const": "done"}}, "required": ["$status"]}
EDGES = {"$START": {"new": {"role": "writer", "prompt": "Write."}},
         "writer": {"done": {"role": "$END", "prompt": "Written."}}}
FLOW = {"name": "odd", "roles": {"writer": {"goal": "Write", "frontmatter": STATUS}},
        "graph": EDGES}

class Odd:
    def recognizes(self, path):
        print("to our stdout")
        return Path(path).name.endswith(".odd")

    def convert(self, path, maker):
        thread = maker.thread("01JD8ZK3000000000000000000", "7", maker.workflow(FLOW),
                              task="The task.", cwd="/srv", after=None)
        output = maker.put(maker.put_type(STATUS), {"$status": "done"})
        said = Turn(index=0, role="assistant", text="---\\n$status: done\\n---\\nA poem.")
        thread.step(ImportedStep(role="writer", agent="odd", output=output, turns=(said,)))
        yield thread.end("completed")
        yield ImportedWorkflow(name="odd", workflow=FLOW)
        BODY
"""


def source(installation, body: str = "pass", name: str = "runs.odd") -> str:
    """Install the importer `odd`; a file for it."""
    entries = {"uwf.importers": {"odd": "odd_importer"}}
    files = {"odd_importer.py": PLUGIN.replace("BODY", body)}
    install(build_wheel(installation.wheels, "uwf-odd", entries, files), installation.site)
    file = installation.project.folder / name
    file.write_text("what another program wrote")
    return str(file)


def test_a_file_that_an_importer_recognizes_becomes_threads_and_workflows(installation):
    done = installation.uwf("cas", "import", source(installation))
    assert done.exit_code == 0, done
    assert done.document["importer"] == "odd"
    (row,) = done.document["threads"]
    assert (row["original"], row["result"], row["steps"]) == ("7", "imported", 1)
    assert done.document["workflows"][0]["result"] == "imported"
    shown = installation.uwf("thread", "show", row["thread"]).document
    assert (shown["status"], shown["task"], shown["original"]) == ("completed", "The task.", "7")
    assert "A poem." in installation.uwf("thread", "read", row["thread"]).stdout
    assert installation.uwf("cas", "verify").exit_code == 0


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("1 / 0", "ZeroDivisionError"),
        ("raise SystemExit(0)", "SystemExit"),
        ("yield {'thread': 1}", "convert() gave dict, not a thread or a workflow"),
    ],
)
def test_an_importer_that_fails_is_named_and_nothing_is_stored(installation, body, why):
    done = installation.uwf("cas", "import", source(installation, body))
    assert done.exit_code == 1, done
    assert "the importer odd of uwf-odd" in done.error["message"]
    assert why in done.error["message"]
    assert installation.uwf("thread", "list", "--all").document["threads"] == []
    names = installation.uwf("workflow", "list").document["workflows"]
    assert "odd" not in [each["name"] for each in names]


def test_what_no_importer_recognizes_keeps_the_error_of_a_bundle(installation):
    done = installation.uwf("cas", "import", source(installation, name="runs.tar"))
    assert done.exit_code == 4, done
    assert "odd" not in done.error["message"]


def test_as_new_is_for_bundles(installation):
    done = installation.uwf("cas", "import", "--as-new", source(installation))
    assert (done.exit_code, done.error["message"]) == (2, "--as-new is for bundles")
