"""What each command may import, by level of laziness. The one place to read and to change.

Start-up is a feature: a command pays for what it does and nothing else. A command that is not named
in `LEVEL_OF` is level 3.
"""

from typing import NamedTuple


class Level(NamedTuple):
    """What a level may import.

    `libraries` are the only packages from outside the standard library (None: any); `closed` are
    modules (with all below them) of the standard library or of uwf that stay closed.
    """

    meaning: str
    libraries: frozenset[str] | None
    closed: frozenset[str]


SLOW_STANDARD_LIBRARY = frozenset({"asyncio", "importlib.metadata", "multiprocessing", "unittest"})
NETWORK = frozenset({"http", "ssl", "urllib.request"})

PLUGINS_AND_AGENTS = frozenset(
    {
        "uwf_core.plugins",
        "uwf_core.api.hookspecs",
        # All of agents/ but the redaction of secrets, which an error on level 0 needs.
        "uwf_core.agents.choose",
        "uwf_core.agents.command",
        "uwf_core.agents.human",
        "uwf_core.agents.open",
        "uwf_core.agents.supervise",
    }
)

_CLICK = frozenset({"click"})
_STORE_AND_CONFIG = frozenset({"xxhash", "yaml", "_yaml", "cython_runtime"})
_VALIDATION = frozenset({"jsonschema_rs"})
_PLUGINS_AND_LIVE_DISPLAY = frozenset({"pluggy", "rich", "markdown_it", "mdurl", "pygments"})
_CHECKS = frozenset(
    {
        "typing_extensions",
        "jsonschema",
        "jsonschema_specifications",
        "referencing",
        "rpds",
        "attr",
        "attrs",
        "cronsim",
        # what a distribution says about itself
        "importlib_metadata",
        "lazy_importer",
        "packaging",
        "zipp",
        # jsonschema checks formats with what happens to be installed
        "idna",
    }
)

_TESTS = {"uwf_core.testing", "uwf_testing"}

LEVELS = {
    0: Level(
        "no discovery",
        _CLICK | _STORE_AND_CONFIG,
        SLOW_STANDARD_LIBRARY | NETWORK | PLUGINS_AND_AGENTS | {"email"} | _TESTS,
    ),
    1: Level(
        "names and versions of plugins, none of their code",
        _CLICK | _STORE_AND_CONFIG,
        SLOW_STANDARD_LIBRARY | NETWORK | {"uwf_core.api.hookspecs"} | _TESTS,
    ),
    2: Level(
        "the one plugin that is needed, and the observers",
        _CLICK | _STORE_AND_CONFIG | _PLUGINS_AND_LIVE_DISPLAY,
        SLOW_STANDARD_LIBRARY | NETWORK,
    ),
    3: Level(
        "whatever it needs",
        _CLICK | _STORE_AND_CONFIG | _VALIDATION | _PLUGINS_AND_LIVE_DISPLAY | _CHECKS,
        frozenset({"asyncio", "multiprocessing"}),
    ),
    6: Level(
        "no discovery, and what explains and compares threads",
        _CLICK | _STORE_AND_CONFIG | {"uwf_explain"},
        SLOW_STANDARD_LIBRARY | NETWORK | PLUGINS_AND_AGENTS | {"email"} | _TESTS,
    ),
    7: Level(
        "names and versions of plugins, and what explains threads",
        _CLICK | _STORE_AND_CONFIG | {"uwf_explain"},
        SLOW_STANDARD_LIBRARY | NETWORK | {"uwf_core.api.hookspecs"} | _TESTS,
    ),
    5: Level(
        "what writes a plugin, and none of the kits",
        _CLICK | _STORE_AND_CONFIG | _PLUGINS_AND_LIVE_DISPLAY | {"uwf_testing"},
        frozenset({"asyncio", "multiprocessing", "uwf_testing.harness"}),
    ),
}

WEB = Level(
    "`uwf web` until its first page: the libraries of a server, and no plugin",
    _CLICK
    | _STORE_AND_CONFIG
    | {
        *("anyio", "httptools", "jinja2", "markupsafe", "python_multipart", "sniffio", "starlette"),
        *("typing_extensions", "uvicorn", "uwf_web"),
    },
    (SLOW_STANDARD_LIBRARY - {"asyncio", "multiprocessing"})  # uvicorn imports both
    | {each for each in PLUGINS_AND_AGENTS if each != "uwf_core.plugins"}  # they name the command
    | {"anyio._backends", "importlib.resources", "urllib.request", "uvicorn.protocols.websockets"}
    | _TESTS,
)
"""A start costs a tenth of a second more with what is closed here."""

LEVEL_OF = {
    "--version": 0,
    "thread list": 0,
    "inbox": 0,
    "tick": 3,
    "thread tag": 2,
    "store prune": 2,
    "watch": 1,
    "thread show": 0,
    "thread read": 0,
    "thread diff": 6,
    "usage": 0,
    "thread why": 7,
    "thread stop": 0,
    "thread wait": 0,
    "step list": 0,
    "step show": 0,
    "step read": 0,
    "step diff": 0,
    "cas get": 0,
    "cas has": 0,
    "cas refs": 0,
    "config get": 0,
    "log list": 0,
    "log show": 0,
    "--help": 1,
    "__complete": 1,
    "completion": 1,
    "plugin list": 1,
    "agent list": 1,
    "thread start": 1,
    "workflow list": 1,
    "workflow show": 1,
    "thread exec": 2,
    "thread resume": 2,
    "thread poke": 2,
    "thread cancel": 2,
    "run": 2,
    "step ask": 2,
    "plugin new": 5,
    "thread compact": 1,
}

NEVER_BEFORE_A_COMMAND_IS_NAMED = frozenset({"click", "yaml", "sqlite3", "json"})
"""What `--version` does without: it is answered before anything is set up."""


OF_OTHER_WORKFLOWS = frozenset(
    {
        # roles that a program plays
        "uwf_core.agents.program",
        "uwf_core.engine.program_permission",
        "uwf_core.engine.programs",
        # roles that deliver files
        "uwf_core.engine.delivery",
        "uwf_core.extract.file_fields",
        "uwf_core.files.artifacts",
        "uwf_core.files.content",
        "uwf_core.prompt.command",
        "uwf_core.workflow.skills",
    }
)
"""Modules of features that a plain workflow does not use: its commands import none of them."""


class Call(NamedTuple):
    """A way to call a command. `{thread}`, `{step}` and their like are filled in by the test."""

    command: str
    words: str
    exit_code: int = 0


CALLS = [
    Call("--version", "--version"),
    Call("--help", "--help"),
    Call("thread list", "thread list"),
    Call("thread list", "thread list --all --format text"),
    Call("watch", "watch {thread}"),
    Call("store prune", "store prune --older-than 1h"),
    Call("thread tag", "thread tag {thread} team=web"),
    Call("thread list", "thread list --tag team=web --role writer --text task"),
    Call("tick", "tick --print cron"),
    Call("schedule add", "schedule add nightly {cron} {workflow} -p task"),
    Call("schedule list", "schedule list"),
    *(
        Call(f"schedule {name}", f"schedule {name} {{schedule}}")
        for name in (
            "pause",
            "resume",
            "run",
            "rm",
        )
    ),
    Call("inbox", "inbox"),
    Call("inbox", "inbox --format text"),
    Call("thread show", "thread show {thread}"),
    Call("thread show", "thread show {thread} --format yaml"),
    Call("thread read", "thread read {thread}"),
    Call("thread why", "thread why {done}"),
    Call("thread why", "thread why {done} --format json"),
    Call("thread why", "thread why {done} -o {page}"),
    Call("thread diff", "thread diff {thread} {done}", 1),
    Call("thread diff", "thread diff {thread} {done} --format text -o {page}", 1),
    Call("thread stop", "thread stop {thread}", 2),
    Call("thread wait", "thread wait {thread}"),
    Call("thread start", "thread start {workflow} -p task"),
    Call("thread exec", "thread exec {thread}"),
    Call("thread exec", "thread exec {thread} --until-done"),
    Call("thread resume", "thread resume {done} -p more"),
    Call("thread poke", "thread poke {thread} -p again"),
    Call("thread cancel", "thread cancel {thread}"),
    Call("thread fork", "thread fork {step}"),
    Call("replay", "replay {thread}"),
    Call("thread rm", "thread rm {done}"),
    Call("run", "run {workflow} -p task"),
    Call("step list", "step list {thread}"),
    Call("step show", "step show {step}"),
    Call("step read", "step read {step}"),
    Call("step files", "step files {step}"),
    Call("step diff", "step diff {step}", 2),
    Call("step turns", "step turns {thread}"),
    Call("step ask", "step ask {step} -p why"),
    Call("thread compact", "thread compact {thread} --text short"),
    Call("step fork", "step fork {step}"),
    Call("workflow list", "workflow list"),
    Call("workflow show", "workflow show {workflow}"),
    Call("usage", "usage {thread}"),
    Call("workflow diff", "workflow diff {workflow} {file}"),
    Call("workflow check", "workflow check {file}"),
    Call("workflow add", "workflow add {file}"),
    Call("workflow graph", "workflow graph {workflow}"),
    Call("workflow new", "workflow new fresh"),
    Call("agent list", "agent list"),
    Call("agent check", "agent check mock"),
    Call("plugin list", "plugin list"),
    Call("plugin list", "plugin list --all"),
    Call("plugin check", "plugin check mock"),
    Call("plugin new", "plugin new agent fresh"),
    Call("config get", "config get defaultAgent"),
    Call("config show", "config show"),
    Call("config path", "config path"),
    Call("config set", "config set limits.runSeconds 60"),
    Call("config set", "config set --add plugins.block mock"),
    Call("config trust", "config trust ."),
    Call("cas get", "cas get {step}"),
    Call("cas has", "cas has {step}"),
    Call("cas refs", "cas refs {step}"),
    Call("cas walk", "cas walk {step}"),
    Call("cas hash", "cas hash string {json}"),
    Call("cas put", "cas put string {json}"),
    Call("cas schema list", "cas schema list"),
    Call("cas schema show", "cas schema show string"),
    Call("cas schema add", "cas schema add {schema}"),
    Call("cas verify", "cas verify"),
    Call("cas gc", "cas gc"),
    Call("thread export", "thread export {done} -o {bundle}"),
    Call("bundle verify", "bundle verify {bundle}"),
    Call("cas import", "cas import {bundle}"),
    Call("store check", "store check --root"),
    Call("store migrate", "store migrate sqlite:another.db"),
    Call("store copy", "store copy sqlite:store.db sqlite:copy.db"),
    Call("log list", "log list"),
    Call("log show", "log show {log}"),
    Call("prompt list", "prompt list"),
    Call("prompt usage", "prompt usage"),
    Call("prompt bootstrap", "prompt bootstrap"),
    Call("prompt workflow-authoring", "prompt workflow-authoring"),
    Call("prompt adapter-developing", "prompt adapter-developing"),
    Call("completion", "completion bash"),
    Call("__complete", "__complete bash 2 uwf thread"),
    Call("setup", "setup --provider ollama --model llama3 --agent mock --no-trial"),
    Call("doctor", "doctor"),
    Call("demo", "demo"),
]
"""At least one call of every command; a test holds this list complete."""
