"""The distributions of this repository that may be installed beside the core."""

from pathlib import Path

PROJECTS = Path(__file__).resolve().parents[1].glob("uwf-*/pyproject.toml")
NAMES = sorted(each.parent.name for each in PROJECTS if each.parent.name != "uwf-core")


def beside(*kept: str) -> str:
    """All of them but `kept`, for `UWF_BLOCK_PLUGINS`: `doctor` starts a process for each, which
    takes 5 CPU seconds.
    """
    return ",".join(name for name in NAMES if name not in kept)
