"""Nothing but a finished file of the step's folder, without secrets, is ever stored."""

import os
import socket
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.core.files.delivering import errors_of, paths_of, run

from uwf_core.api.redact import Redactor
from uwf_core.client import Client
from uwf_core.files import artifacts
from uwf_core.files.artifacts import MAX_BYTES, MAX_FILES, PART_BYTES, read_delivered
from uwf_core.testing.project import Project

SECRET = "correct-horse-battery"
NO_SECRETS = Redactor(())


def problem_of(folder: Path, path: str, redactor: Redactor = NO_SECRETS) -> str:
    files, problems = read_delivered([(("report",), path)], str(folder), redactor)
    assert not files
    [problem] = problems
    assert problem.path == "report"
    return problem.message


def _pipe(place: Path) -> None:
    os.mkfifo(place)


def _socket(place: Path) -> None:
    with socket.socket(socket.AF_UNIX) as each:
        each.bind(str(place))


def _sparse(place: Path) -> None:
    with place.open("wb") as file:
        file.truncate(10**12)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda place: None, "does not exist"),
        (Path.mkdir, "is a folder"),
        (_pipe, "is not a regular file"),
        (_socket, "is not a regular file"),
        (_sparse, "has 1,000,000,000,000 bytes"),
        (lambda place: place.symlink_to("/etc/passwd"), "is outside"),
        (lambda place: place.symlink_to("../outside"), "is outside"),
        (lambda place: place.symlink_to("/proc/self/environ"), "is outside"),
        (lambda place: place.symlink_to("x"), "is a link that leads nowhere"),
        (lambda place: place.symlink_to("nothing"), "does not exist"),
    ],
)
def test_what_is_no_file_of_the_folder_is_rejected_with_its_reason(
    tmp_path: Path, make: Callable[[Path], None], words: str
) -> None:
    (tmp_path / "outside").write_text("of others")
    folder = tmp_path / "in"
    folder.mkdir()
    make(folder / "x")
    assert words in problem_of(folder, "x")


@pytest.mark.parametrize(
    "path", ["../outside", "a/../../outside", "/etc/passwd", "{above}/outside", "..", "/"]
)
def test_no_path_leads_out_of_the_folder(tmp_path: Path, path: str) -> None:
    (tmp_path / "outside").write_text("of others")
    (tmp_path / "in" / "a").mkdir(parents=True)
    message = problem_of(tmp_path / "in", path.format(above=tmp_path))
    assert "outside" in message or "does not exist" in message


@pytest.mark.parametrize("path", ["", ".", "./", "x/", "a\0b", "n" * 300, "d/" * 3000 + "x"])
def test_odd_paths_are_problems_and_no_errors(tmp_path: Path, path: str) -> None:
    (tmp_path / "x").write_text("")
    assert problem_of(tmp_path, path).startswith("the file ")


def test_a_file_of_proc_is_not_finished(tmp_path: Path) -> None:
    """Its size is not that of its content, which changes with each read."""
    assert "changed while it was read" in problem_of(Path("/proc/self"), "status")


def test_a_hard_link_is_a_file_like_another(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a")
    (tmp_path / "b").hardlink_to(tmp_path / "a")
    [file], problems = read_delivered([(("x",), "b")], str(tmp_path), NO_SECRETS)
    assert (file.data, problems) == (b"a", ())


def test_a_link_that_is_swapped_all_the_time_never_leads_outside(tmp_path: Path) -> None:
    (tmp_path / "outside").write_text("of others")
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "good").write_text("good")
    done = threading.Event()

    def swap() -> None:
        for number in range(10**9):
            if done.is_set():
                return
            (folder / "new").symlink_to("../outside" if number % 2 else "good")
            (folder / "new").replace(folder / "x")

    swapper = threading.Thread(target=swap)
    (folder / "x").symlink_to("good")
    swapper.start()
    try:
        for _ in range(2000):
            files, _problems = read_delivered([((), "x")], str(folder), NO_SECRETS)
            assert {file.data for file in files} <= {b"good"}
    finally:
        done.set()
        swapper.join()


def test_the_bytes_that_were_checked_are_stored(
    project: Project, uwf: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even if the file is another one between the check and the store."""
    place = project.folder / "a"
    place.write_text("checked")
    real = artifacts.store_delivered

    def swapped(*arguments):
        place.write_text("swapped")
        return real(*arguments)

    monkeypatch.setattr("uwf_core.engine.delivery.store_delivered", swapped)
    step = run(project, uwf, {"report": "a"})
    [recorded] = uwf.thread(uwf.step(step)["thread"]).steps()
    assert [file.read() for file in recorded.files] == [b"checked"]


def test_a_file_that_changes_while_it_is_read_is_rejected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "x"
    place.write_bytes(b"x" * (PART_BYTES + 1))
    real = os.read

    def growing(descriptor: int, size: int) -> bytes:
        with place.open("ab") as file:
            file.write(b"y")
        return real(descriptor, size)

    monkeypatch.setattr(os, "read", growing)
    assert "changed while it was read" in problem_of(tmp_path, "x")


def test_all_files_of_an_output_share_the_limit(tmp_path: Path) -> None:
    fields = [((str(number),), str(number)) for number in range(3)]
    for number in range(3):
        with (tmp_path / str(number)).open("wb") as file:
            file.truncate(MAX_BYTES // 2)
    files, problems = read_delivered(fields, str(tmp_path), NO_SECRETS)
    assert not files
    assert [problem.path for problem in problems] == ["2"]
    assert len(read_delivered(fields[:2], str(tmp_path), NO_SECRETS)[0]) == 2


def test_ten_thousand_paths_are_one_problem(project: Project, uwf: Client) -> None:
    (project.folder / "a").write_text("a")
    many = {"parts": [{"at": f"{number}"} for number in range(10_000)]}
    step = run(project, uwf, many, {"report": "a"})
    [error] = errors_of(uwf, step)
    assert error.startswith(f"parts.{MAX_FILES}.at: the file '{MAX_FILES}' is one of 10,000")


@pytest.mark.parametrize(
    "content",
    [
        SECRET.encode(),
        b"\xff\xfe" + SECRET.encode() + b"\x80",
        b"x" * (PART_BYTES - 5) + SECRET.encode(),
        b'{"key": "correct\\u002dhorse-battery"}'.replace(b"\\u002d", b"-"),
        b"Y29ycmVjdC1ob3JzZS1iYXR0ZXJ5",
    ],
)
def test_a_file_with_a_known_secret_is_rejected(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x").write_bytes(content)
    message = problem_of(tmp_path, "x", Redactor((SECRET,)))
    assert "holds a secret" in message
    assert SECRET not in message


def test_what_was_rejected_is_not_stored(project: Project, uwf: Client) -> None:
    """One bad file keeps the good ones beside it out of the store too."""
    (project.folder / "a").write_text("a")
    step = run(project, uwf, {"report": "a", "extra": {"x": "b"}}, {})
    [error] = errors_of(uwf, step)
    assert error.startswith("extra.x: the file 'b' does not exist")
    assert paths_of(uwf, step) == []
    assert not [each for each in _kinds(uwf) if each in ("part", "file")]


def _kinds(uwf: Client) -> list[str]:
    store = uwf._engine.store
    kinds = {uwf._engine.nodes.type(kind): kind for kind in ("part", "file")}
    return [kinds[each.type] for each in store.records() if each.type in kinds]
