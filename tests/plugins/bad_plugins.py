"""Plugins that misbehave, each in its own way, and what uwf must say of each."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from wheels import build_wheel, install

RECORD = """
from uwf_core.api import AgentSpec, hookimpl

@hookimpl
def uwf_agents():
    return [AgentSpec(name="{name}", summary="a bad one", factory="uwf_agent_{name}:make")]
"""
AGENT = """
from uwf_core.api import AgentReply

class Agent:
    def run(self, request, sink):
        return AgentReply(text="---\\n$status: done\\n---\\n")
    def fork(self, session, request): raise NotImplementedError
    def ask(self, request, sink): raise NotImplementedError
    def close(self): pass

def make(options, context):
    return Agent()
"""


class Bad(NamedTuple):
    """A plugin that misbehaves.

    Attributes:
        name: of the agent; its distribution is `uwf-agent-<name>`.
        code: of its module; a good agent's where None.
        cause: what a message about it says.
        check: exit code of `plugin check`; exec: of a step with it, None where it cannot be told.
        status: after `plugin check`.
        requires: its demands on uwf-core.
        group: the group of its entry point.
    """

    name: str
    code: str | None
    cause: str
    check: int = 1
    exec: int | None = 1
    status: str = "broken"
    requires: Sequence[str] = ("uwf-core>=0.1,<1",)
    group: str = "uwf.agents"

    @property
    def distribution(self) -> str:
        return f"uwf-agent-{self.name}"

    def install(self, folder, site) -> None:
        """Build its wheel in `folder` and install it into `site`."""
        module = f"uwf_agent_{self.name}"
        code = RECORD.format(name=self.name) + AGENT if self.code is None else self.code
        entries = {self.group: {self.name: module}}
        files = {f"{module}.py": code.replace("NAME", self.name)}
        install(
            build_wheel(folder, self.distribution, entries, files, requires=self.requires), site
        )


GOOD = RECORD.replace("{name}", "NAME") + AGENT

HANG = """
import os, time
if "TEST_HANGS" in os.environ:  # the file that says: I am about to
    open(os.environ["TEST_HANGS"], "w").close()
time.sleep(600)
"""
BAD = [
    Bad("raises", "raise OSError('no libfoo')", "OSError: no libfoo"),
    Bad("hangs", HANG, "did not load within 2 s", exec=None),
    Bad("exits", "raise SystemExit(0)", "it called exit(0)"),
    Bad("leaves", "import os; os._exit(0)", "it called exit(0)"),
    Bad("killed", "import os; os.kill(os.getpid(), 9)", "was killed by SIGKILL", exec=-9),
    Bad("crashes", "import os; os.kill(os.getpid(), 11)", "was killed by SIGSEGV", exec=-11),
    Bad("floods", "import os\nwhile True: os.write(2, b'x' * 65536)", "is broken", exec=None),
    Bad("closes", GOOD + "\nimport os; os.closerange(0, 256)", "is broken", exec=None),
    Bad("closes_stdout", GOOD + "\nimport os; os.close(1)", "file descriptors"),
    Bad("closes_stderr", GOOD + "\nimport os; os.close(2)", "file descriptors"),
    Bad("gives_text", GOOD.replace("return [A", "return 'NAME'; [A"), "not AgentSpec"),
    Bad("gives_none", GOOD.replace("return [AgentSpec", "return None; [AgentSpec"), "nothing"),
    Bad("odd_record", GOOD.replace('summary="a bad one"', "summary=7"), "summary"),
    Bad("odd_words", GOOD.replace("make\")]", "make\", capabilities=None)]"), "capabilities"),
    Bad("makes_none", GOOD + "\ndef make(options, context): return None", "not an Agent"),
    Bad("misspelt", GOOD + "\n@hookimpl\ndef uwf_agentz(): ...", "uwf_agentz"),
    Bad("other_name", GOOD.replace('name="NAME"', 'name="else"'), "returned 'else'"),
    Bad("future", GOOD.replace("make\")]", "make\", api='1.99')]"), "1.99", check=2, exec=2,
        status="incompatible"),
    Bad("mock", None, "is shadowed", check=2, exec=None, status="shadowed"),
    Bad("newer", None, "it needs uwf-core>=99", check=2, exec=2, status="incompatible",
        requires=["uwf-core>=99,<100"]),
    Bad("no_group", None, "did you mean uwf.agents?", exec=2, group="uwf.agent"),
]  # fmt: skip
"""Those that are reported. The steps of `mock`, a name of uwf-core, are in `test_names.py`."""

LEAVES_A_FILE_OPEN = Bad("untidy", f"""{GOOD}
import os
notes = open(os.environ["TEST_NOTES"], "w")
notes.write("all of it")
""", "")  # fmt: skip

STARTS_THREADS_AT_THE_END = Bad("closing", f"""{GOOD}
import atexit, os, pathlib
def close():
    from concurrent.futures import ThreadPoolExecutor
    with ThreadPoolExecutor(1) as pool:
        pool.submit(pathlib.Path(os.environ["TEST_NOTES"]).write_text, "all of it").result()
atexit.register(close)
""", "")  # fmt: skip

HANGS_WHEN_MADE = Bad(
    "late", f"{GOOD}\ndef make(options, context):{HANG.replace(chr(10), chr(10) + '    ')}", ""
)

STILL_GOOD = [
    Bad("prints", GOOD + """
import os, sys, atexit, subprocess
print("noise of print"); os.write(1, b"noise of write\\n")
sys.__stdout__.write("noise of the kept stream\\n")
subprocess.run(["echo", "noise of a child"])
atexit.register(print, "noise at the end", flush=True)
atexit.register(os.write, 1, b"noise at the very end\\n")
class Agent(Agent):
    def run(self, request, sink):
        print("noise of run", flush=True); os.write(1, b"noise within run\\n")
        return super().run(request, sink)
""", "noise", check=0, exec=0, status="ready"),
    Bad("forks", GOOD + "\nimport os; os.fork()", "forks while loading", check=0, exec=0,
        status="ready"),
    Bad("threads", GOOD + "\nimport threading, time\n"
        "threading.Thread(target=time.sleep, args=(600,), name='for ever').start()", "for ever",
        check=0, exec=0, status="ready"),
    Bad("unbounded", None, "", check=0, exec=0, status="ready", requires=["uwf-core"]),
]  # fmt: skip
"""Those that can be used all the same."""

OBSERVERS: Mapping[str, str] = {
    "watch_raises": "raise OSError('no disk')",
    "watch_exits": "raise SystemExit(3)",
    "watch_prints": """
import os
from uwf_core.api import hookimpl
print("noise at import")
@hookimpl
def uwf_step_finished(event):
    print("noise of a hook", flush=True); os.write(1, b"noise of a write\\n")
""",
    "watch_fails": """
import sys
from uwf_core.api import hookimpl
@hookimpl
def uwf_step_started(event): raise KeyError("nowhere")
@hookimpl
def uwf_step_finished(event): sys.exit(9)
""",
    "watch_misspelt": """
from uwf_core.api import hookimpl
@hookimpl
def uwf_step_finnished(event): ...
""",
    "watch_forks": """
import os
from uwf_core.api import hookimpl
os.fork()
@hookimpl
def uwf_turn(event): ...
""",
}
"""Observers, which are loaded by every step. None of them stops one."""


def install_observer(name: str, folder, site) -> None:
    """Build and install the observer `name`."""
    entries = {"uwf.observers": {name: f"uwf_{name}"}}
    files = {f"uwf_{name}.py": OBSERVERS[name]}
    install(build_wheel(folder, f"uwf-{name.replace('_', '-')}", entries, files), site)
