"""What judges that are programs find in their environment. Pure."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from uwf_core.api import is_secret_name

# What makes an interpreter, a loader, a shell or a test runner run somebody else's code first.
_STEERED = (
    "LD_",
    "DYLD_",
    "PYTHON",
    "PYTEST_",
    "NODE_",
    "PERL5",
    "RUBY",
    "JAVA_TOOL_",
    "BASH_FUNC_",
    "GIT_",
)
_DROPPED = frozenset(
    ("BASH_ENV", "ENV", "IFS", "CDPATH", "PWD", "OLDPWD", "UWF_EVENTS", "XDG_CONFIG_HOME")
)


def judge_environment(
    env: Mapping[str, str], *, private: Path, programs: Path, options: Mapping[str, Any]
) -> dict[str, str]:
    """`env` without secrets and without what steers programs, with an empty home of its own.

    Args:
        env: what the trial's judges may know (`Evidence.env`).
        private: a folder for `HOME` and `TMPDIR`, which the agent never saw.
        programs: a folder that comes first on the PATH: `python3` and `uwf` are those that run
            here. Parts of the PATH that depend on the working folder are left out.
        options: given as JSON in `UWF_JUDGE_OPTIONS`.
    """
    kept = {
        name: value
        for name, value in env.items()
        if name not in _DROPPED
        and not name.startswith(_STEERED)
        and not is_secret_name(name, value)
    }
    places = [place for place in env.get("PATH", os.defpath).split(os.pathsep) if place[:1] == "/"]
    return {
        **kept,
        "PATH": os.pathsep.join(dict.fromkeys([str(programs), *places])),
        "HOME": str(private / "home"),
        "TMPDIR": str(private / "tmp"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONNOUSERSITE": "1",
        "UWF_JUDGE_OPTIONS": json.dumps(dict(options), ensure_ascii=False),
    }
