"""A file that an output names is stored with its step, exactly as it was."""

import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st
from tests.core.files.delivering import delivering, errors_of, paths_of, run

from uwf_core.agents.cleaning import clean_text
from uwf_core.client import Client
from uwf_core.errors import BundleError
from uwf_core.files.artifacts import PART_BYTES
from uwf_core.testing.project import Project


def test_every_place_that_the_schema_marks_names_a_file(project: Project, uwf: Client) -> None:
    for name in ("report.md", "a", "b", "c", "d"):
        (project.folder / name).write_text(name)
    output = {
        "report": "report.md",
        "parts": [{"at": "a"}, {"at": "b"}, {"at": "a"}],
        "one": {"kind": "file", "place": "c"},
        "extra": {"x": "d"},
    }
    step = run(project, uwf, output)
    assert paths_of(uwf, step) == ["a", "b", "c", "d", "report.md"]
    assert errors_of(uwf, step) == []


def test_a_text_that_is_no_file_by_its_alternative_is_left_alone(
    project: Project, uwf: Client
) -> None:
    step = run(project, uwf, {"report": None, "one": {"kind": "link", "place": "nowhere"}})
    assert (paths_of(uwf, step), errors_of(uwf, step)) == ([], [])
    assert uwf._engine.store.payload(step)["files"] is None  # type: ignore[arg-type]


def test_the_same_file_of_two_steps_is_stored_once(project: Project, uwf: Client) -> None:
    (project.folder / "a").write_bytes(b"x" * 3 * PART_BYTES)
    first = run(project, uwf, {"report": "a"})
    before = uwf.verify()["nodes"]
    second = run(project, uwf, {"report": "a"})
    assert uwf.step(first)["delivered"] == uwf.step(second)["delivered"]
    assert uwf.verify()["nodes"] - before < 10  # no part again


def test_absolute_paths_and_links_inside_the_folder_deliver_the_file(
    project: Project, uwf: Client
) -> None:
    (project.folder / "sub").mkdir()
    (project.folder / "sub" / "a").write_text("a")
    (project.folder / "link").symlink_to("sub/a")
    (project.folder / "far").symlink_to(project.folder / "sub")
    absolute = str(project.folder / "sub" / "a")
    paths = [absolute, "link", "far/a", "./sub/../sub/a"]
    step = run(project, uwf, {"parts": [{"at": each} for each in paths]})
    assert errors_of(uwf, step) == []
    assert {file.path: file.read() for file in _files(uwf, step)} == dict.fromkeys(paths, b"a")


def _files(uwf: Client, step: str):
    [recorded] = uwf.thread(uwf.step(step)["thread"]).steps()
    assert recorded.ref == step
    return recorded.files


_SIZES = [0, 1, PART_BYTES - 1, PART_BYTES, PART_BYTES + 1, 2 * PART_BYTES, 2 * PART_BYTES + 1]
_NAMES = st.text(
    st.characters(exclude_characters="/\0", exclude_categories=["Cs"]),
    min_size=1,
    max_size=60,
).filter(
    lambda name: (
        name not in (".", "..", ".workflow")
        and len(name.encode()) < 200
        and clean_text(name) == name  # an agent cannot name others
    )
)


@settings(
    max_examples=10,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    files=st.dictionaries(
        _NAMES,
        st.binary(max_size=300)
        | st.tuples(st.binary(min_size=1, max_size=9), st.sampled_from(_SIZES)),
        min_size=1,
        max_size=4,
    ),
    mode=st.sampled_from([0o600, 0o644, 0o755, 0o400, 0o4711]),
)
@example(files={"-rf": b"", "a b\t[31m ~": (b"\0\xff", 2_000_001)}, mode=0o755)
def test_any_files_survive_the_store_and_a_bundle_to_an_empty_home(
    tmp_path_factory: pytest.TempPathFactory,
    files: dict[str, bytes | tuple[bytes, int]],
    mode: int,
) -> None:
    root: Path = tmp_path_factory.mktemp("any")
    project, other = delivering(root / "one"), delivering(root / "two")
    contents = {
        name: each if isinstance(each, bytes) else (each[0] * each[1])[: each[1]]
        for name, each in files.items()
    }
    for name, content in contents.items():
        (project.folder / name).write_bytes(content)
        (project.folder / name).chmod(mode)
    with project.client() as uwf, other.client() as empty:
        step = run(project, uwf, {"parts": [{"at": name} for name in contents]})
        assert errors_of(uwf, step) == []
        thread = uwf.step(step)["thread"]
        uwf.export_thread(thread, str(root / "t.tar"))
        empty.import_bundle(str(root / "t.tar"))
        assert empty.verify()["problems"] == []
        assert empty.step(step)["delivered"] == uwf.step(step)["delivered"]
    for number, each in enumerate((project, other)):
        out = root / str(number)
        written = each.uwf("step", "files", step, "-o", str(out))
        assert written.exit_code == 0, written.stderr
        assert {path.name: path.read_bytes() for path in out.iterdir()} == contents
        assert {stat.S_IMODE(path.stat().st_mode) for path in out.iterdir()} == {mode & 0o777}


@pytest.mark.parametrize("name", ["a\x7fb", "a\x9bb", "a\x85b", "a\x1b[31mb", "a\u2028b"])
def test_a_file_with_a_control_character_in_its_name_is_delivered(
    project: Project, uwf: Client, name: str
) -> None:
    (project.folder / name).write_text("content")
    assert paths_of(uwf, run(project, uwf, {"report": name})) == [name]


def test_a_node_with_another_size_than_its_parts_is_found(
    project: Project, uwf: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A defective or malicious program wrote it: its digests match."""
    put = uwf._engine.nodes.put

    def other_size(kind: str, payload: Any) -> Any:
        return put(kind, {**payload, "size": 9} if kind == "file" else payload)

    monkeypatch.setattr(uwf._engine.nodes, "put", other_size)
    (project.folder / "report.md").write_text("content")
    step = run(project, uwf, {"report": "report.md"})
    [problem] = uwf.verify()["problems"]
    assert problem["kind"] == "files"
    assert (
        "'report.md'" in problem["message"]
        and "has 7 bytes, but its node says 9" in problem["message"]
    )
    uwf.export_thread(uwf.step(step)["thread"], tmp_path / "t.tar")
    with pytest.raises(BundleError, match="has 7 bytes"):
        Client.verify_bundle(tmp_path / "t.tar")


def test_show_and_diff_name_delivered_files(project: Project, uwf: Client) -> None:
    threads = []
    for content in ("one", "other"):
        (project.folder / "report.md").write_text(content)
        threads.append(uwf.step(run(project, uwf, {"report": "report.md"}))["thread"])
    [shown] = uwf.show(threads[1])["files"]
    assert (shown["path"], shown["size"]) == ("report.md", 5)
    text = project.uwf("thread", "show", threads[1], "--format", "text").stdout
    assert "report.md (5 bytes)\n" in text and "next: uwf step files" in text
    diff = project.uwf("thread", "diff", *threads, "--format", "text")
    assert diff.exit_code == 1
    assert "the delivered files report.md differ" in diff.stdout
    assert "3 bytes" in diff.stdout and "5 bytes" in diff.stdout
    [row] = project.uwf("thread", "diff", *threads).document["rows"]
    assert [each["aspect"] for each in row["differences"]] == ["file"]
    assert row["b"]["files"] == {"report.md": shown["file"]}
