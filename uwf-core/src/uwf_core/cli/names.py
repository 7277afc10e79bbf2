"""Every command by name: where it is, its line of help, what its words complete to.

Help and completion read this table and import no command. It imports nothing heavy itself.
"""

from collections.abc import Mapping
from typing import Final, TypeAlias

from uwf_core.named_tuple import NamedTuple


class Row(NamedTuple):
    """A command.

    Attributes:
        target: `module:attribute` below the group's package.
        help: one line.
        words: what each argument completes to (see `complete.WORDS`), the last one repeats.
        options: its own options, without those that every command has; what follows `=` is what
            its value completes to, without it the option is a flag.
    """

    target: str
    help: str
    words: tuple[str, ...] = ()
    options: tuple[str, ...] = ()


class Noun(NamedTuple):
    """A group of commands; `package` is where the modules of its rows are."""

    help: str
    rows: "Mapping[str, Entry]"
    package: str = "uwf_core.cli"


Entry: TypeAlias = Row | Noun

EVERYWHERE: Final = ("--format=format", "--color=color", "--debug", "--help")
"""The options of every command."""

_THREAD = ("thread",)
_STEP = ("step",)
_FILE = ("file",)
_FORK = Row("thread.fork:fork", "Start a new thread that shares what led to a step", _STEP)

_WORKFLOW_ROWS: Final[Mapping[str, Entry]] = {
    "add": Row("workflow.publish:add", "Check a workflow file and register it by its name", _FILE),
    "check": Row("workflow.check:check", "Report every fault of workflow files", _FILE),
    "graph": Row("workflow.show:graph", "Draw a workflow as Mermaid text", ("workflow",)),
    "list": Row("workflow.show:list_", "List the workflows that can be started here"),
    "new": Row(
        "workflow.new:new",
        "Write a starter, or an example, that passes the check",
        (),
        ("--from=text", "--examples"),
    ),
    "show": Row("workflow.show:show", "Show a workflow's definition", ("workflow",)),
}

_THREAD_ROWS: Final[Mapping[str, Entry]] = {
    "cancel": Row("thread.control:cancel", "Stop a thread and close it for good", _THREAD),
    "exec": Row(
        "thread.exec:exec_",
        "Run the next step, or several",
        _THREAD,
        ("--count=text", "--agent=agent", "--cwd=dir", "--background", "--until-done"),
    ),
    "export": Row(
        "thread.export:export", "Write a thread into one file", _THREAD, ("--output=file",)
    ),
    "fork": _FORK,
    "list": Row(
        "thread.show:list_",
        "List threads, newest first",
        (),
        (
            *(
                "--all",
                "--status=status",
                "--after=text",
                "--before=text",
                "--limit=text",
                "--offset=text",
            ),
            "--workflow=workflow",
        ),
    ),
    "poke": Row(
        "thread.resume:poke",
        "Run the last step again with a further instruction",
        _THREAD,
        ("--prompt=text", "--cwd=dir"),
    ),
    "read": Row(
        "thread.read:read", "Read a thread as Markdown", _THREAD, ("--quota=text", "--before=step")
    ),
    "resume": Row(
        "thread.resume:resume",
        "Go on with a thread that waits, or reopen a finished one",
        _THREAD,
        ("--prompt=text", "--answer=text", "--status=text", "--agent=agent", "--cwd=dir"),
    ),
    "rm": Row("thread.control:rm", "Forget a finished thread", _THREAD),
    "show": Row("thread.show:show", "Show where a thread stands", _THREAD),
    "start": Row(
        "thread.start:start",
        "Make a thread of a workflow; runs nothing yet",
        ("workflow",),
        ("--prompt=text", "--cwd=dir", "--agent=agent"),
    ),
    "stop": Row("thread.control:stop", "Stop a run in the background", _THREAD),
    "wait": Row(
        "thread.control:wait", "Wait for a run and print its document", _THREAD, ("--timeout=text",)
    ),
}

_STEP_ROWS: Final[Mapping[str, Entry]] = {
    "ask": Row(
        "step.ask:ask",
        "Put a question to the session of a past step",
        _STEP,
        ("--prompt=text", "--agent=agent", "--no-fork"),
    ),
    "fork": _FORK,
    "list": Row("step.show:list_", "List the steps of a thread, first one first", _THREAD),
    "read": Row(
        "step.read:read", "Read a step as Markdown, or its exact prompt", _STEP,
        ("--quota=text", "--prompt"),
    ),
    "show": Row("step.show:show", "Show a step: output, usage, corrections, turns", _STEP),
    "turns": Row(
        "step.turns:turns", "Show all turns, those under way included", _THREAD,
        ("--role=text", "--live"),
    ),
}  # fmt: skip

_AGENT_ROWS: Final[Mapping[str, Entry]] = {
    "check": Row(
        "agent:check", "Say whether an agent is ready, or why not", ("agent",), ("--trial",)
    ),
    "list": Row("agent:list_", "List the agents that can be used"),
}

_PLUGIN_ROWS: Final[Mapping[str, Entry]] = {
    "check": Row(
        "plugin.check:check", "Load a plugin and say whether it is ready, or why not", ("plugin",),
        ("--timeout=text",),
    ),
    "list": Row(
        "plugin.listing:list_", "List all plugins with version, status and reason", (), ("--all",)
    ),
    "new": Row(
        "plugin.new:new", "Write a plugin of your own that passes its tests", ("kind",),
        ("--dir=dir",),
    ),
}  # fmt: skip

_CONFIG_ROWS: Final[Mapping[str, Entry]] = {
    "get": Row("config:get", "Print one setting", ("setting",)),
    "path": Row("config:path", "Print where the configuration lies"),
    "set": Row("config:set_", "Change one setting and keep the rest of the file", ("setting",)),
    "show": Row("config:show", "Show all settings", (), ("--origin",)),
    "trust": Row("config:trust", "Trust a folder's own workflows and settings", ("dir",)),
}

_SCHEMA_ROWS: Final[Mapping[str, Entry]] = {
    "add": Row("cas.schema:add", "Store a JSON Schema as a type", _FILE),
    "list": Row("cas.schema:list_", "List the types in the store"),
    "show": Row("cas.schema:show", "Show a type's JSON Schema", ("type",)),
}

_CAS_ROWS: Final[Mapping[str, Entry]] = {
    "gc": Row(
        "cas.gc:gc", "Free the nodes that nothing leads to", (), ("--dry-run", "--grace=text")
    ),
    "get": Row("cas.nodes:get", "Print a node"),
    "has": Row("cas.nodes:has", "Say whether a node is there"),
    "hash": Row("cas.put:hash_", "Print a payload's reference; stores nothing", ("type", "file")),
    "import": Row(
        "cas.import_:import_", "Take over a thread from a bundle", _FILE, ("--dry-run", "--as-new")
    ),
    "put": Row("cas.put:put", "Store a payload and print its reference", ("type", "file")),
    "refs": Row("cas.nodes:refs", "List the nodes that a node points to"),
    "schema": Noun("The types of nodes", _SCHEMA_ROWS),
    "verify": Row(
        "cas.verify:verify",
        "Prove that nothing was lost or altered",
        ("thread",),
        ("--repair", "--from=file"),
    ),
    "walk": Row("cas.nodes:walk", "List a node and all that it leads to"),
}

_BUNDLE_ROWS: Final[Mapping[str, Entry]] = {
    "verify": Row("bundle:verify", "Prove that a bundle is whole and unaltered", _FILE),
}

_LOG_ROWS: Final[Mapping[str, Entry]] = {
    "list": Row(
        "log:list_",
        "List what commands did, newest first",
        (),
        ("--limit=text", "--thread=thread", "--since=text", "--errors"),
    ),
    "show": Row("log:show", "Show one entry of the log, with its traceback"),
}

_PROMPT_ROWS: Final[Mapping[str, Entry]] = {
    "adapter-developing": Row("prompt:adapter_developing", "How to write an agent for uwf"),
    "bootstrap": Row("prompt:bootstrap", "All that an agent needs to use uwf on its own"),
    "list": Row("prompt:list_", "List the documents for agents"),
    "usage": Row("prompt:usage", "How to drive threads and read their results"),
    "workflow-authoring": Row("prompt:workflow_authoring", "How to write a workflow that checks"),
}

COMMANDS: Final[Mapping[str, Entry]] = {
    "run": Row(
        "run:run",
        "Start a workflow and run it to its end",
        ("workflow",),
        ("--prompt=text", "--cwd=dir", "--agent=agent"),
    ),
    "thread": Noun("Threads: one run of a workflow each", _THREAD_ROWS),
    "step": Noun("Steps: one role's turn in a thread", _STEP_ROWS),
    "workflow": Noun("Workflows: roles and the graph between them", _WORKFLOW_ROWS),
    "agent": Noun("Agents: what plays the roles", _AGENT_ROWS),
    "plugin": Noun("Plugins: what is installed beside the core", _PLUGIN_ROWS),
    "config": Noun("Settings, where each comes from, trusted folders", _CONFIG_ROWS),
    "setup": Row(
        "setup:setup",
        "Write a provider, a model and a default agent into the configuration",
        (),
        (
            "--provider=provider",
            "--base-url=text",
            "--api-key=text",
            "--model=text",
            "--agent=agent",
            "--no-trial",
        ),
    ),
    "cas": Noun("The store as it is: nodes and their types", _CAS_ROWS),
    "bundle": Noun("Bundles: threads as files", _BUNDLE_ROWS),
    "log": Noun("What commands did, and why they failed", _LOG_ROWS),
    "doctor": Row("doctor:doctor", "Check this installation and say what to repair"),
    "prompt": Noun("Documents that teach an agent to use uwf", _PROMPT_ROWS),
    "demo": Row(
        "demo:demo",
        "See a workflow at work: a failing test is repaired",
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
}
"""Commands of earlier systems, and what does their work now."""
