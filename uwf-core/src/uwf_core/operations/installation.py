"""What is done with the installation: agents, plugins, settings, the log, documents, servers."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

from uwf_core.operations.declare import Bounds, Kind
from uwf_core.operations.kinds import MOMENT, ONE_OR_MORE, Agent, Key
from uwf_core.operations.table import command, operation

if TYPE_CHECKING:
    from uwf_core.maintenance.agent_ready import Readiness


@operation(
    "agent.check", "maintenance.agent_ready:agent_readiness", text="installed:readiness_text",
    exit=("ready", 6), client="check_agent",
)  # fmt: skip
def agent_check(
    agent: Agent,
    *,
    trial: Annotated[bool, "Also send one small request to its model, where supported."] = False,
) -> "Readiness":
    """Check whether an agent is ready. Loads it in a separate process.

    AGENT is an alias, an installed agent's name, a program uwf-NAME on the PATH, or a command line.

    $ uwf agent check human
    $ uwf agent check ./my-agent
    """


@operation(
    "agent.list", "views.installed:list_agents", text="installed:agents_text", key="agents",
    client="agents",
)  # fmt: skip
def agent_list() -> "Sequence[dict[str, Any]]":
    """List the available agents: installed ones, aliases, and programs uwf-NAME on the PATH.

    $ uwf agent list
    """


@operation(
    "plugin.check", "maintenance.plugin_check:check_plugins", text="installed:checked_text",
    exit=("sound", 1, "ready", 2),
)  # fmt: skip
def plugin_check(
    name: Annotated[str, Kind("", "NAME", "plugin")],
    *,
    timeout: Annotated[float, Bounds(0.1), Kind("", "SECONDS"), "Time limit for loading."] = 20.0,
) -> Any:
    """Load a plugin in a separate process and check whether it is ready.

    NAME is the name of a plugin or a distribution. Exit code 1 if it is broken or one of its checks
    fails, 2 if it is blocked, incompatible, shadowed or claimed twice.

    $ uwf plugin check mock
    $ uwf plugin check uwf-agent-hermes --timeout 5
    """


@operation(
    "plugin.list", "maintenance.plugin_check:list_plugins", text="installed:plugins_text",
    key="plugins", client="plugins",
)  # fmt: skip
def plugin_list(
    *,
    all: Annotated[bool, "Also list built-in stores and entry points of unknown groups."] = False,
    hooks: Annotated[
        bool, "Load the plugins in separate processes and list the hooks that they implement."
    ] = False,
) -> Sequence[Mapping[str, Any]]:
    """List all plugins with distribution, version, status and reason; loads none.

    With --hooks, the status is the one after loading, as `uwf plugin check` prints it.

    $ uwf plugin list
    $ uwf plugin list --all
    $ uwf plugin list --hooks
    """


@operation("config.get", "maintenance.settings:show_setting", text="installed:setting_text")
def config_get(key: Key) -> Any:
    """Print one setting; secrets are masked. KEY is dotted, as in limits.runSeconds.

    $ uwf config get defaultAgent
    $ uwf config get 'models."gpt-4.1".name'
    """


@operation("config.path", "maintenance.settings:show_paths", text="installed:paths_text")
def config_path() -> Any:
    """Print the paths of your configuration and of the project's.

    $ uwf config path
    """


@operation(
    "config.set", "maintenance.settings:change_setting", text="{key} in {file}",
    permission="admin",
)  # fmt: skip
def config_set(
    key: Key,
    value: Annotated[str, Kind("", "VALUE")],
    *,
    add: Annotated[bool, "Add VALUE to the list at KEY."] = False,
    remove: Annotated[bool, "Remove VALUE from the list at KEY."] = False,
) -> Any:
    """Change one setting of your config.yaml; the rest of the file stays unchanged.

    VALUE is text where the key takes text, else YAML: [a, b], {use: mock}, 5, or null to unset.
    The result is validated before it is written: agents, models, extractors and observers must
    exist, and an agent must have the options.

    $ uwf config set defaultAgent hermes
    $ uwf config set limits.runSeconds 600
    $ uwf config set --add plugins.block noisy-observer
    """


@operation("config.show", "maintenance.settings:show_settings", text="installed:settings_text")
def config_show(
    *, origin: Annotated[bool, "Show the layer and file of each value."] = False
) -> Any:
    """Show all settings, defaults included; secrets are masked.

    $ uwf config show
    $ uwf config show --origin
    """


@operation(
    "config.trust", "config.trust:trust", text="trusted: {trusted}", key="trusted",
    permission="admin",
)  # fmt: skip
def config_trust(folder: Annotated[str, Kind("", "[DIR]")] = ".") -> Any:
    """Trust a folder: its settings may define agents, its plugins are imported, its workflows may
    hide others.

    Trusts only that folder (default: the current one), not the folders below it. Its files
    `.uwf/plugins/*/*.py`, also later ones, then run as a part of uwf.

    $ uwf config trust
    $ uwf config trust ~/work/shop
    """


@operation(
    "log.list",
    "maintenance.past_commands:list_entries",
    text="installed:entries_text",
    key="entries",
)
def log_list(
    *,
    limit: Annotated[int, ONE_OR_MORE, Kind("", "N"), "Show at most N."] = 20,
    thread: Annotated[str | None, Kind("", "THREAD"), "Show only commands on this thread."] = None,
    since: Annotated[int | None, MOMENT, "Not older: a date, or 7d, 12h."] = None,
    errors: Annotated[bool, "Show only failed commands."] = False,
) -> Any:
    """List the commands that ran or changed something, newest first.

    $ uwf log list
    $ uwf log list --errors --limit 5
    $ uwf log list --thread @last --since 7d
    """


@operation("log.show", "maintenance.past_commands:show_entry", text="installed:entry_text")
def log_show(entry: Annotated[str, Kind("", "ENTRY")]) -> Any:
    """Show one log entry, with the traceback of an error.

    ENTRY is an id of `log list`, a unique prefix of one, or @last.

    $ uwf log show @last
    """


@operation("doctor", "maintenance.doctor:diagnose", text="render.findings:checks_text",
           exit=("healthy", 1))  # fmt: skip
def doctor(
    *,
    as_: Annotated[
        Literal["tick"] | None, Kind(options=("--as",)),
        "Check as `tick` runs: in the environment of the lines of `uwf tick --print`.",
    ] = None,
) -> Any:  # fmt: skip
    """Check this installation and suggest repairs: Python, home, configuration, store, plugins.

    Loads the plugins in separate processes. Exit code 1 if something is broken.

    $ uwf doctor
    $ uwf doctor --as tick
    $ uwf doctor --format json
    """


@operation("demo", "demo.play:play", text="installed:demo_text")
def demo(
    *,
    folder: Annotated[
        str | None,
        Kind("", "DIR", options=("--dir",)),
        "An empty or new folder (default: a temporary one).",
    ] = None,
    live: Annotated[bool, "Use the configured model (this costs tokens)."] = False,
) -> Any:
    """Watch a workflow fix a failing test in a small project.

    Files really change and tests really run; a script plays the agent, so no key, model or server
    is needed. If the builtin agent is installed, it runs the script with its tools. Everything,
    including a separate store, is in one folder.

    $ uwf demo
    $ uwf demo --dir /tmp/try-uwf
    $ uwf demo --live
    """


@operation("completion", "cli.completion:completion_script", text="{script}", document=True)
def completion(shell: Annotated[Literal["bash", "zsh", "fish"], Kind("", "SHELL")]) -> Any:
    """Print the completion script of a shell: bash, zsh or fish.

    $ eval "$(uwf completion bash)"
    $ uwf completion zsh > ~/.zfunc/_uwf
    $ uwf completion fish > ~/.config/fish/completions/uwf.fish
    """


@operation("prompt.list", "cli.prompt:list_documents", text="prompt:documents_text",
           key="documents")  # fmt: skip
def prompt_list() -> Any:
    """List the documents for agents with their descriptions.

    $ uwf prompt list
    """


@operation("prompt.bootstrap", "cli.prompt:bootstrap", text="{text}", document=True)
def prompt_bootstrap() -> Any:
    """Everything an agent needs to use uwf.

    $ uwf prompt bootstrap
    """


@operation("prompt.usage", "cli.prompt:usage", text="{text}", document=True)
def prompt_usage() -> Any:
    """How to run threads and read their results.

    $ uwf prompt usage
    """


@operation(
    "prompt.workflow-authoring", "cli.prompt:workflow_authoring", text="{text}", document=True
)
def prompt_workflow_authoring() -> Any:
    """How to write a workflow.

    $ uwf prompt workflow-authoring
    """


@operation(
    "prompt.adapter-developing", "cli.prompt:adapter_developing", text="{text}", document=True
)
def prompt_adapter_developing() -> Any:
    """How to write an agent for uwf.

    $ uwf prompt adapter-developing
    """


command("setup", "cli.setup:setup")
