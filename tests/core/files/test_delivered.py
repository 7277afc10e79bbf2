"""A file that an output names is stored with its step, exactly as it was."""

import stat
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st
from tests.core.files.delivering import delivering, errors_of, paths_of, run

from uwf_core.agents.cleaning import clean_text
from uwf_core.client import Client
from uwf_core.files.artifacts import PART_BYTES
from uwf_core.testing.project import Project
from uwf_core.upkeep.verify import Scope, verify


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
    assert uwf._engine.store.payload(step)["artifacts"] is None  # type: ignore[arg-type]


def test_the_same_file_of_two_steps_is_stored_once(project: Project, uwf: Client) -> None:
    (project.folder / "a").write_bytes(b"x" * 3 * PART_BYTES)
    first = run(project, uwf, {"report": "a"})
    before = verify(uwf._engine, Scope()).nodes
    second = run(project, uwf, {"report": "a"})
    assert uwf.step(first)["files"] == uwf.step(second)["files"]
    assert verify(uwf._engine, Scope()).nodes - before < 10  # no part again


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
    st.characters(exclude_characters="/\0", exclude_categories=["Cc", "Cs"]),
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
        assert verify(empty._engine, Scope()).problems == ()
        assert empty.step(step)["files"] == uwf.step(step)["files"]
    for number, each in enumerate((project, other)):
        out = root / str(number)
        written = each.uwf("step", "files", step, "-o", str(out))
        assert written.exit_code == 0, written.stderr
        assert {path.name: path.read_bytes() for path in out.iterdir()} == contents
        assert {stat.S_IMODE(path.stat().st_mode) for path in out.iterdir()} == {mode & 0o777}
