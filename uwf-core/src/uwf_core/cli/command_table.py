"""Every command by name: its module, its help line and its completions.

Help and completion read this table and import no command. It imports nothing heavy.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple, TypeAlias


class Row(NamedTuple):
    """A command.

    Attributes:
        target: `module:attribute` below the group's package, or in full if it has an `owner`.
        help: one line.
        words: the kind of each argument for completion (see `complete.WORDS`); the last repeats.
        options: its options, without those of every command; what follows `=` is the kind of
            its value for completion; without it the option is a flag.
        owner: the distribution that has it, if that may be missing.
    """

    target: str
    help: str
    words: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    owner: str = ""


class Noun(NamedTuple):
    """A group of commands; `package` holds the modules of its rows."""

    help: str
    rows: "Mapping[str, Entry]"
    package: str = "uwf_core.cli"


Entry: TypeAlias = Row | Noun

EVERYWHERE: Final = ("--format=format", "--color=color", "--debug", "--help")
"""The options of every command."""

_THREAD = ("thread",)
_STEP = ("step",)
_FILE = ("file",)
_RUN_OPTIONS = (
    "--agent=agent",
    "--cwd=dir",
    "--until-done",
    "--background",
    "--wait-limits=text",
    "--no-input",
)
_HEAD = "--head=step"
_SELECT = (
    *("--status=status", "--workflow=workflow", "--tag=text", "--role=text", "--agent=agent"),
    *("--failure=text", "--text=text", "--after=text", "--before=text"),
)
_LIMITS = ("--max-cost=text", "--max-tokens=text", "--max-steps=text", "--max-minutes=text")
_FORK = Row(
    "thread_start:fork",
    "Start a new thread from a step",
    _STEP,
    ("--workflow=workflow", "--with-files=dir"),
)

_WORKFLOW_ROWS: Final[Mapping[str, Entry]] = {
    "add": Row(
        "workflow:add",
        "Check a workflow file and register it under its name",
        _FILE,
        ("--allow-programs",),
    ),
    "check": Row(
        "workflow_check:check", "Report every error in workflow files", _FILE, ("--bound", "--fix")
    ),
    "diff": Row("diff:workflow_diff", "Compare two workflows by meaning", ("workflow",)),
    "graph": Row("workflow:graph", "Draw a workflow as Mermaid text", ("workflow",)),
    "list": Row("workflow:list_", "List the workflows that you can start here"),
    "new": Row(
        "workflow:new",
        "Write a starter workflow or an example",
        (),
        ("--from=text", "--examples"),
    ),
    "show": Row("workflow:show", "Show a workflow's definition", ("workflow",)),
}

_THREAD_ROWS: Final[Mapping[str, Entry]] = {
    "cancel": Row(
        "thread_many:cancel", "Cancel threads permanently", _THREAD, (*_SELECT, "--yes", _HEAD)
    ),
    "compact": Row(
        "compact:compact",
        "Summarize older steps for new sessions",
        _THREAD,
        ("--text=text", "--agent=agent", "--up-to=step"),
    ),
    "diff": Row(
        "diff:thread_diff",
        "Compare two threads, or a worktree with its base",
        _THREAD,
        ("--quota=text", "--output=file"),
    ),
    "exec": Row(
        "thread_run:exec_",
        "Run the next step or steps",
        _THREAD,
        ("--count=text", "--queue", *_RUN_OPTIONS, _HEAD),
    ),
    "export": Row(
        "bundle:export",
        "Write a thread to one file",
        _THREAD,
        ("--output=file", "--with-files", "--attest", "--format=export"),
    ),
    "fork": _FORK,
    "list": Row(
        "thread_list:list_",
        "List threads, newest first",
        (),
        (
            *(
                "--all",
                "--children",
                "--trials",
                "--limit=text",
                "--offset=text",
            ),
            *_SELECT,
        ),
    ),
    "poke": Row(
        "thread_run:poke",
        "Rerun the last step with a further instruction",
        _THREAD,
        ("--prompt=text", *_RUN_OPTIONS, _HEAD),
    ),
    "read": Row(
        "thread:read", "Read a thread as Markdown", _THREAD, ("--quota=text", "--before=step")
    ),
    "resume": Row(
        "thread_run:resume",
        "Continue a suspended thread or reopen a finished one",
        _THREAD,
        (
            *("--prompt=text", "--answer=text", "--status=text", "--grant=text", "--queue"),
            "--without-answer",
            *(*_RUN_OPTIONS, _HEAD),
        ),
    ),
    "rm": Row("thread_many:rm", "Delete finished threads", _THREAD, (*_SELECT, "--yes")),
    "show": Row("thread:show", "Show the status of a thread", _THREAD),
    "start": Row(
        "thread_start:start",
        "Create a thread of a workflow; run nothing yet",
        ("workflow",),
        ("--prompt=text", "--input=text", "--cwd=dir", "--agent=binding", "--tag=text", *_LIMITS),
    ),
    "tag": Row("thread_many:tag", "Give a thread tags for lists", _THREAD),
    "stop": Row("thread:stop", "Stop a run in the background", _THREAD, (_HEAD,)),
    "wait": Row(
        "thread:wait",
        "Wait for the current run and print its result",
        _THREAD,
        ("--timeout=text",),
    ),
    "why": Row(
        "why:why",
        "Explain a thread in sentences with proofs",
        _THREAD,
        ("--step=step", "--output=file"),
    ),
}

_STEP_ROWS: Final[Mapping[str, Entry]] = {
    "ask": Row(
        "step:ask",
        "Ask the session of a past step a question",
        _STEP,
        ("--prompt=text", "--agent=agent", "--no-fork"),
    ),
    "diff": Row("step_diff:diff", "Show what a step changed in the files", _STEP, ("--stat",)),
    "files": Row(
        "step_files:files",
        "List the files that a step delivered, or write them",
        _STEP,
        ("--output=dir", "--force"),
    ),
    "fork": _FORK,
    "list": Row("step:list_", "List the steps of a thread, oldest first", _THREAD),
    "read": Row(
        "step:read", "Read a step as Markdown, or its exact prompt", _STEP,
        ("--quota=text", "--prompt"),
    ),
    "show": Row("step:show", "Show a step: output, usage, corrections, turns", _STEP),
    "turns": Row(
        "step:turns", "Show all turns, also those of the running step", _THREAD,
        ("--role=text", "--live", "--running"),
    ),
}  # fmt: skip

_STORE_ROWS: Final[Mapping[str, Entry]] = {
    "check": Row("store:check", "Check that a store can be used", (), ("--root",)),
    "copy": Row("store:copy", "Copy or move a whole store", (), ("--all", "--move")),
    "migrate": Row("store:migrate", "Create or upgrade the tables of a store"),
    "prune": Row(
        "thread_many:prune",
        "Delete threads that finished long ago",
        (),
        ("--older-than=text", "--dry-run"),
    ),
}

_AGENT_ROWS: Final[Mapping[str, Entry]] = {
    "check": Row("agent:check", "Check whether an agent is ready", ("agent",), ("--trial",)),
    "list": Row("agent:list_", "List the available agents"),
}

_PLUGIN_ROWS: Final[Mapping[str, Entry]] = {
    "check": Row(
        "plugin:check", "Load a plugin and check whether it is ready", ("plugin",),
        ("--timeout=text",),
    ),
    "list": Row(
        "plugin:list_", "List all plugins with version, status and reason", (), ("--all", "--hooks")
    ),
    "new": Row(
        "uwf_testing.new_plugin:new", "Write a new plugin that passes its tests", ("kind",),
        ("--dir=dir",), owner="uwf-testing",
    ),
}  # fmt: skip

_CONFIG_ROWS: Final[Mapping[str, Entry]] = {
    "get": Row("config:get", "Print one setting", ("setting",)),
    "path": Row("config:path", "Print the paths of the configuration"),
    "set": Row(
        "config:set_",
        "Change one setting; the rest of the file stays unchanged",
        ("setting",),
        ("--add", "--remove"),
    ),
    "show": Row("config:show", "Show all settings", (), ("--origin",)),
    "trust": Row("config:trust", "Trust the workflows, settings and plugins of a folder", ("dir",)),
}

_SCHEMA_ROWS: Final[Mapping[str, Entry]] = {
    "add": Row("cas:add_type", "Store a JSON Schema as a type", _FILE),
    "list": Row("cas:list_types", "List the types in the store"),
    "show": Row("cas:show_type", "Show a type's JSON Schema", ("type",)),
}

_CAS_ROWS: Final[Mapping[str, Entry]] = {
    "gc": Row("upkeep:gc", "Delete unreachable nodes", (), ("--dry-run", "--grace=text")),
    "get": Row("cas:get", "Print a node"),
    "has": Row("cas:has", "Check whether a node exists"),
    "hash": Row("cas:hash_", "Print a payload's reference; stores nothing", ("type", "file")),
    "import": Row(
        "bundle:import_",
        "Import threads from a bundle or a folder",
        _FILE,
        ("--dry-run", "--as-new"),
    ),
    "put": Row("cas:put", "Store a payload and print its reference", ("type", "file")),
    "refs": Row("cas:refs", "List the nodes that a node refers to"),
    "schema": Noun("The types of nodes", _SCHEMA_ROWS),
    "verify": Row(
        "upkeep:verify",
        "Verify that nothing was lost or changed",
        ("thread",),
        ("--repair", "--from=file"),
    ),
    "walk": Row("cas:walk", "List a node and all nodes reachable from it"),
}

_BUNDLE_ROWS: Final[Mapping[str, Entry]] = {
    "verify": Row("bundle:verify", "Verify that a bundle is complete and unchanged", _FILE),
}

_LOG_ROWS: Final[Mapping[str, Entry]] = {
    "list": Row(
        "log:list_",
        "List past commands, newest first",
        (),
        ("--limit=text", "--thread=thread", "--since=text", "--errors"),
    ),
    "show": Row("log:show", "Show one log entry with its traceback"),
}

_PROMPT_ROWS: Final[Mapping[str, Entry]] = {
    "adapter-developing": Row("prompt:adapter_developing", "How to write an agent for uwf"),
    "bootstrap": Row("prompt:bootstrap", "Everything an agent needs to use uwf"),
    "list": Row("prompt:list_", "List the documents for agents"),
    "usage": Row("prompt:usage", "How to run threads and read their results"),
    "workflow-authoring": Row("prompt:workflow_authoring", "How to write a workflow"),
}

COMMANDS: Final[Mapping[str, Entry]] = {
    "run": Row(
        "thread_start:run",
        "Start a workflow and run it until it ends",
        ("workflow",),
        (
            *("--prompt=text", "--input=text", "--agent=binding", "--tag=text", "--queue"),
            *(*_LIMITS, *_RUN_OPTIONS[1:]),
        ),
    ),
    "inbox": Row("inbox:inbox", "Show what waits for you, or answer it", (), ("--answer",)),
    "watch": Row("watch:watch", "Follow a thread, or all that run", _THREAD),
    "thread": Noun("Threads: runs of workflows", _THREAD_ROWS),
    "replay": Row(
        "replay:replay",
        "Check recorded threads against a workflow; runs no agent",
        _THREAD,
        ("--workflow=workflow", "--allow=text", "--live", "--from=step", "--agent=agent"),
    ),
    "step": Noun("Steps: each the work of one role in a thread", _STEP_ROWS),
    "usage": Row(
        "usage:usage",
        "Show what threads have used",
        _THREAD,
        ("--workflow=workflow", "--since=text", "--by=text"),
    ),
    "workflow": Noun("Workflows: roles and the graph that connects them", _WORKFLOW_ROWS),
    "agent": Noun("Agents: the programs that play the roles", _AGENT_ROWS),
    "plugin": Noun("Plugins: installed distributions that extend uwf", _PLUGIN_ROWS),
    "config": Noun("Settings, their origins, and trusted folders", _CONFIG_ROWS),
    "setup": Row(
        "setup:setup",
        "Configure a provider, a model and a default agent",
        (),
        (
            "--provider=provider",
            "--base-url=text",
            "--protocol=text",
            "--api-key=text",
            "--model=text",
            "--agent=agent",
            "--no-trial",
        ),
    ),
    "cas": Noun("The store: nodes and their types", _CAS_ROWS),
    "store": Noun("Whole stores: check, create, copy, move, prune", _STORE_ROWS),
    "bundle": Noun("Bundles: threads exported to files", _BUNDLE_ROWS),
    "log": Noun("Past commands and their errors", _LOG_ROWS),
    "doctor": Row("doctor:doctor", "Check this installation and suggest repairs"),
    "mcp": Row("mcp:mcp", "Serve uwf as tools to another agent", (), ("--allow=permission",)),
    "prompt": Noun("Documents that teach an agent to use uwf", _PROMPT_ROWS),
    "demo": Row(
        "demo:demo",
        "Watch a workflow fix a failing test",
        (),
        ("--dir=dir", "--live"),
    ),
    "completion": Row("completion:completion", "Print a shell's completion script", ("shell",)),
}

RETIRED: Final[Mapping[tuple[str, ...], str]] = {
    ("workflow", "put"): "uwf workflow add FILE",
    ("thread", "step"): "uwf thread exec THREAD",
    ("thread", "steps"): "uwf step list THREAD",
    ("thread", "step-details"): "uwf step show STEP",
    ("thread", "kill"): "uwf thread cancel THREAD",
    ("thread", "running"): "uwf thread list --status running",
    ("thread", "join"): "uwf thread wait THREAD",
    ("workflow", "validate"): "uwf workflow check FILE",
    ("config", "list"): "uwf config show",
    ("import-original",): "uwf cas import FOLDER",
    ("cas", "put-text"): "uwf cas put string FILE",
    ("cas", "reindex"): "uwf cas verify",
    ("cas", "schema", "get"): "uwf cas schema show TYPE",
    ("log", "clean"): "the log keeps only its newest 8 MB",
    ("prompt", "setup"): "uwf setup",
    ("skill",): "uwf prompt bootstrap",
}
"""Commands of earlier systems and their replacements, or why none is needed."""

RETIRED_OPTIONS: Final[Mapping[str, str]] = {
    "--take": "use `--limit N`",
    "--skip": "use `--offset N`",
    "--start": "leave it out: `uwf thread read` begins with the task",
    "--process": "use `uwf log show ENTRY`",
    "--date": "use `uwf log list --since 7d`",
    "--thread": "use `uwf log list --thread THREAD`",
}
"""Options of earlier systems, and what to do today."""

RETIRED_FORMATS: Final[Mapping[str, str]] = {"raw-json": "json", "raw-yaml": "yaml"}
"""Formats of earlier systems and their names today."""
