"""What the architecture tests look at: the files of this repository and their syntax trees."""

import ast
import gc
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from benchmarks.size import GENERATED, Module, modules

ROOT = Path(__file__).resolve().parents[2]
CORE = ROOT / "uwf-core" / "src" / "uwf_core"


@cache
def project_files() -> tuple[Path, ...]:
    """Every file that is tracked, or would be by `git add .`; ignored ones are not."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout
    paths = (ROOT / name for name in listed.decode().split("\0") if name)
    return tuple(path for path in paths if path.is_file())


def shipped_modules() -> list[Path]:
    """The Python files that go into a distribution."""
    return [
        path
        for path in project_files()
        if path.suffix == ".py"
        and path.name not in GENERATED
        and _is_in_a_distribution(path.relative_to(ROOT).parts)
    ]


def _is_in_a_distribution(parts: tuple[str, ...]) -> bool:
    return parts[0].startswith("uwf-") and parts[1] == "src"


def tree(path: Path) -> ast.Module:
    """The syntax tree of a shipped Python file."""
    return _by_file()[path].tree


def nodes(path: Path) -> Sequence[ast.AST]:
    """The nodes of that tree."""
    return _by_file()[path].nodes


@cache
def _by_file() -> dict[Path, Module]:
    return {each.file: each for each in counted_modules()}


def name_of(path: Path) -> str:
    """A file's path as the reader of a failing test wants it: from the repository's root."""
    return path.relative_to(ROOT).as_posix()


@cache
def counted_modules() -> tuple[Module, ...]:
    """The modules as `benchmarks.size` counts them, parsed once for all rules."""
    found = tuple(modules())
    gc.disable()  # the trees stay: searching them for cycles takes longer than parsing
    try:
        for each in found:
            assert each.nodes
    finally:
        gc.enable()
    gc.freeze()
    return found
