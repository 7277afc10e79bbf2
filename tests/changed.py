"""Which test files concern what differs from main: `python3 dev.py tests --changed`.

    concerns("uwf-core/src/uwf_core/cas/store.py", "tests/core/cas/test_store.py", text)

A changed source concerns the tests of its room, and those that import the room; a changed file
beside tests concerns those below its folder that name it. That is for a desk: a merge runs all.
"""

import functools
import subprocess
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parents[1]


def is_concerned(test: Path) -> bool:
    """Whether anything that differs from main concerns this test file."""
    name, text = test.relative_to(ROOT).as_posix(), test.read_text("utf-8")
    return any(concerns(each, name, text) for each in changed_files())


@functools.cache
def changed_files() -> tuple[str, ...]:
    """What differs from the commit at which this branch left main, and what is new."""
    differing = ("git", "diff", "--name-only", "--merge-base", "main")
    new = ("git", "ls-files", "--others", "--exclude-standard")
    answers = [
        subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True).stdout
        for words in (differing, new)
    ]
    return tuple(line for answer in answers for line in answer.splitlines())


def concerns(changed: str, test: str, text: str) -> bool:
    """Whether the changed file concerns a test file of this text."""
    path = PurePosixPath(changed)
    if path.parts[0] == "tests":
        below = PurePosixPath(test).is_relative_to(path.parent)
        return changed == test or (below and path.stem in ("conftest", *_words(text)))
    if "src" not in path.parts:
        return False
    package, *rooms = path.parts[path.parts.index("src") + 1 : -1]
    room = ".".join([package, *rooms[:1]]) if package == "uwf_core" else package
    return test.startswith(f"tests/{_folder(room)}/") or room in text


def _words(text: str) -> set[str]:
    return set(text.replace(".", " ").split())


def _folder(room: str) -> str:
    """`uwf_core.cas` has its tests in `core/cas`, `uwf_agent_acp` in `acp`."""
    name = room.removeprefix("uwf_").removeprefix("agent_").removeprefix("store_")
    return name.replace(".", "/")
