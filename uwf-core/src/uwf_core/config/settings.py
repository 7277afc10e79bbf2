"""Read the settings of a call: read each file, merge the layers, apply trust, keep origins."""

# Every command comes through here, and pathlib is not imported for that:
# ruff: noqa: PTH118

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from uwf_core.config.home import (
    CONFIG_FILE,
    ENV_FILE,
    check_ending,
    expand_user,
    open_to_others,
    read_private,
)
from uwf_core.config.keys import (
    BLOCK_VARIABLE,
    ENVIRONMENT,
    AgentSetting,
    CallLimits,
    Config,
    Leaf,
    ModelSetting,
    NotifySettings,
    Path,
    Provider,
    QuestionSettings,
    WebSettings,
    WorkerSettings,
    WorkspaceSettings,
    parse_key,
    shape_at,
)
from uwf_core.config.trust import ProjectFolder, allowed, find_project
from uwf_core.errors import ConfigError, DefinitionError
from uwf_core.fields.kinds import MapOf, RecordOf, Shape
from uwf_core.fields.mismatch import Reading
from uwf_core.fields.records import shape_of
from uwf_core.process.path_walk import ANYWHERE

if TYPE_CHECKING:
    from uwf_core.api.retry import Retry
    from uwf_core.yaml.problem import Problem
    from uwf_core.yaml.source import YamlMapping


class Origin(NamedTuple):
    """The origin of a value: `layer` is flag, environment, project, user or default; `place` is
    `file:line` or a variable's name, None for a default.
    """

    layer: str
    place: str | None = None


class Settings(NamedTuple):
    """All settings of a call.

    Attributes:
        home: uwf's folder. project: its folder, None if there is none.
        environment: the environment, extended by `.env`.
        providers, models, agents: by name.
        agent_overrides: workflow -> role -> agent's word.
        model_overrides: `extract`, `judge` -> model's name.
        store: a URL, relative to `home`. workflow_paths: absolute folders.
        paths_trusted: whether `workflow_paths` come from the user or a trusted project.
        allowed_folders: absolute folders in which an edge's `location` may lie, besides the
            thread's folder and repository.
        blocked: names of plugins or distributions that are never imported, each with its place.
        observer_order: the observers that get each event first, by name.
        origins: by the path of each value that a layer sets.
        notices: warnings for the user, one line each (ignored keys, readable secrets).
    """

    home: str
    project: ProjectFolder | None
    environment: Mapping[str, str]
    providers: Mapping[str, Provider]
    models: Mapping[str, ModelSetting]
    agents: Mapping[str, AgentSetting]
    default_agent: str | None
    agent_overrides: Mapping[str, Mapping[str, str]]
    default_model: str | None
    model_overrides: Mapping[str, str]
    store: str
    workflow_paths: tuple[str, ...]
    paths_trusted: bool
    allowed_folders: tuple[str, ...]
    blocked: Mapping[str, str]
    observer_order: tuple[str, ...]
    extractors: tuple[str, ...]
    limits: CallLimits
    workspace: WorkspaceSettings
    notify: NotifySettings
    web: WebSettings
    worker: WorkerSettings
    retry: "Retry | None"
    questions: QuestionSettings
    wait_limits: float | None
    origins: Mapping[Path, Origin]
    notices: tuple[str, ...]

    def __repr__(self) -> str:
        return f"Settings({self.home!r})"

    def origin(self, path: Path) -> Origin:
        """The origin of the value at this path, or of the entry that it is part of."""
        for length in range(len(path), 0, -1):
            if path[:length] in self.origins:
                return self.origins[path[:length]]
        return Origin("default")

    def api_key(self, provider: Provider) -> str | None:
        """The provider's key from the configuration, the environment or `.env`, or None."""
        if provider.api_key_env is not None:
            return self.environment.get(provider.api_key_env) or None
        return provider.api_key


class _Values:
    """The merged leaves of all layers."""

    def __init__(self) -> None:
        self.leaves: dict[Path, Leaf] = {}
        self.origins: dict[Path, Origin] = {}

    def add(self, layer: str, leaves: Mapping[Path, Leaf]) -> None:
        """Merge `leaves` over the existing values."""
        for path, leaf in leaves.items():
            self.leaves[path] = leaf
            self.origins[path] = Origin(layer, leaf.place)

    def document(self) -> dict[str, Any]:
        """The values as one document."""
        document: dict[str, Any] = {}
        for path, leaf in self.leaves.items():
            inner = document
            for name in path[:-1]:
                inner = inner.setdefault(name, {})
            inner[path[-1]] = leaf.value
        return document


def load_settings(
    home: str, cwd: str, env: Mapping[str, str], flags: Mapping[str, str] | None = None
) -> Settings:
    """The settings of a call in `cwd`.

    Args:
        home: the result of `find_home`. cwd: absolute. env: the process's environment.
        flags: values of the command line, by key (`store`, `defaultAgent`, `defaultModel`).

    Raises:
        ConfigError: a file cannot be read, or it or the environment is invalid.
    """
    environment = _environment(home, env)
    project = find_project(home, cwd, env)
    values = _Values()
    notices: list[str] = []
    user_file = os.path.join(home, CONFIG_FILE)
    user = _read(user_file)
    values.add("user", _absolute(user, home, env))
    blocked = _blocked(user)
    if project is not None:
        file = project.file
        taken = allowed(project, {} if file is None else _read(file, project.folder))
        values.add("project", _absolute(taken.leaves, project.folder, env))
        blocked |= _blocked(taken.leaves)
        if taken.ignored:
            notices.append(_ignored(project, taken.ignored))
    values.add("environment", _from_environment(environment))
    blocked |= dict.fromkeys(names_in(environment.get(BLOCK_VARIABLE, "")), BLOCK_VARIABLE)
    values.add("flag", _from_flags(flags or {}))
    notices += _open_files(home, user)
    return _settings(home, project, environment, values, (blocked, notices))


def _environment(home: str, env: Mapping[str, str]) -> dict[str, str]:
    file = os.path.join(home, ENV_FILE)
    data = read_private(file)
    if data is None:
        return dict(env)
    from uwf_core.config.dotenv import decode_dotenv, parse_dotenv

    added = parse_dotenv(decode_dotenv(data, file), file)
    added.pop("UWF_HOME", None)  # reported already, for the folder of this file
    return {**added, **env}


def _read(file: str, within: str = ANYWHERE) -> dict[Path, Leaf]:
    data = read_private(file, within=within)
    if data is None:
        check_ending(file)
        return {}
    return read_settings(data, file)


def _absolute(leaves: Mapping[Path, Leaf], folder: str, env: Mapping[str, str]) -> dict[Path, Leaf]:
    """Make relative paths absolute: they are relative to their file."""

    def resolved(word: str) -> str:
        return os.path.normpath(os.path.join(folder, expand_user(word, env)))

    changed = dict(leaves)
    for path, leaf in leaves.items():
        if path in (("workflowPaths",), ("allowedFolders",)):
            folders = [resolved(each) for each in leaf.value]
            changed[path] = Leaf(folders, leaf.place)
        elif path[0] == "agents" and "/" in leaf.value.get("command", ""):
            entry = {**leaf.value, "command": resolved(leaf.value["command"])}
            changed[path] = Leaf(entry, leaf.place)
    return changed


def _blocked(leaves: Mapping[Path, Leaf]) -> dict[str, str]:
    leaf = leaves.get(("plugins", "block"))
    return {} if leaf is None else dict.fromkeys(leaf.value, leaf.place)


def names_in(text: str) -> list[str]:
    """The names in a list of the environment (`a,b`)."""
    return [name for each in text.split(",") if (name := each.strip())]


def _from_environment(environment: Mapping[str, str]) -> dict[Path, Leaf]:
    leaves: dict[Path, Leaf] = {
        (key,): _checked(key, environment[variable], variable)
        for variable, key in ENVIRONMENT.items()
        if environment.get(variable)
    }
    blocked = names_in(environment.get(BLOCK_VARIABLE, ""))
    if blocked:
        leaves["plugins", "block"] = Leaf(blocked, BLOCK_VARIABLE)
    return leaves


def _from_flags(flags: Mapping[str, str]) -> dict[Path, Leaf]:
    return {
        parse_key(key): _checked(key, value, f"the command line ({key})")
        for key, value in flags.items()
    }


def _checked(key: str, text: str, place: str) -> Leaf:
    shape, reading = shape_at(parse_key(key)), Reading()
    assert shape is not None
    shape.read(text, (), reading)
    for each in reading.mismatches:
        raise ConfigError(
            f"{key} {each.message}, not {text!r}",
            where=place,
            hint="the command line or this variable sets it",
        )
    return Leaf(text, place)


def _ignored(project: ProjectFolder, ignored: tuple[str, ...]) -> str:
    names = ", ".join(ignored)
    if project.trusted:
        return f"{project.file}: ignored {names}: only your own configuration can set that"
    return (
        f"{project.file}: ignored {names}: {project.folder} is not trusted; "
        f"if you trust it: uwf config trust {project.folder}"
    )


def _open_files(home: str, user: Mapping[Path, Leaf]) -> list[str]:
    """A notice for each file with secrets that others may read."""
    files = [os.path.join(home, ENV_FILE)]
    if any(path[0] == "providers" and "apiKey" in leaf.value for path, leaf in user.items()):
        files.append(os.path.join(home, CONFIG_FILE))
    return [
        f"{file} holds secrets and other users can read it; next: chmod 600 {file}"
        for file in files
        if open_to_others(file)
    ]


def _settings(
    home: str,
    project: ProjectFolder | None,
    environment: Mapping[str, str],
    values: _Values,
    gathered: tuple[Mapping[str, str], list[str]],
) -> Settings:
    blocked, notices = gathered
    config: Config = shape_of(Config).read(values.document(), (), Reading(null_unset=True))
    paths = values.origins.get(("workflowPaths",), Origin("default"))
    fields = config._asdict()
    del fields["plugins"]
    return Settings(
        **fields | {"model_overrides": _given(config.model_overrides)},
        home=home,
        project=project,
        environment=environment,
        paths_trusted=paths.layer != "project" or (project is not None and project.trusted),
        blocked=blocked,
        observer_order=config.plugins.order,
        origins=values.origins,
        notices=tuple(notices),
    )


def _given(record: Any) -> dict[str, Any]:
    return {name: value for name, value in record._asdict().items() if value is not None}


# -- one file --------------------------------------------------------------------------------------


def read_settings(data: bytes, file: str) -> dict[Path, Leaf]:
    """The values of a settings file, by key.

    Raises:
        ConfigError: it is not YAML, or has unknown keys or invalid values; see `problems`.
    """
    from uwf_core.yaml.shape import read_shape
    from uwf_core.yaml.source import YamlMapping, compose_all

    composed = compose_all(settings_text(data, file), file=file)
    if composed.node is None and not composed.problems:
        return {}
    problems = list(composed.problems)
    if composed.node is not None:
        found = read_shape(Config, composed.node, name="the configuration")[1]
        if found:
            from uwf_core.config.original import hinted  # for errors only

            problems += map(hinted, found)
    if problems:
        raise config_error(problems, file)
    assert isinstance(composed.node, YamlMapping)
    return dict(_leaves(shape_of(Config), composed.node, ()))


def _leaves(shape: Shape, mapping: "YamlMapping", path: Path) -> "Iterator[tuple[Path, Leaf]]":
    """The values that a layer sets as a whole: a record in a mapping by names is one of them.

    A key without a value is unset: the next layer decides.
    """
    from uwf_core.yaml.source import YamlMapping, to_value

    for name, node in mapping.values.items():
        inner, here = shape.at(name), (*path, name)
        is_record = isinstance(inner, RecordOf) and isinstance(shape, RecordOf)
        if isinstance(node, YamlMapping) and (is_record or isinstance(inner, MapOf)):
            assert inner is not None
            yield from _leaves(inner, node, here)
            continue
        value = to_value(node)
        if isinstance(value, dict):
            value = {key: each for key, each in value.items() if each is not None}
        place = mapping.keys[name].place
        if value is not None:
            yield here, Leaf(value, f"{place.file}:{place.line}")


def settings_text(data: bytes, file: str) -> str:
    """The bytes of a settings file as text.

    Raises:
        ConfigError: they are not UTF-8, or too long.
    """
    from uwf_core.yaml.source import decode

    try:
        return decode(data, file=file)
    except DefinitionError as error:
        raise as_config_error(error) from error


def as_config_error(error: DefinitionError) -> ConfigError:
    """A YAML error as a configuration error."""
    return ConfigError(error.message, where=error.where, hint=error.hint, problems=error.problems)


def config_error(problems: "Sequence[Problem]", file: str) -> ConfigError:
    """All errors of a file as one; a single error keeps its place and hint."""
    documents = [problem.document() for problem in problems]
    first = problems[0]
    if len(problems) == 1:
        return ConfigError(
            first.message, where=str(first.place), hint=first.hint or None, problems=documents
        )
    lines = "".join(f"\n  {problem}" for problem in problems)
    text, hint = f"{len(problems)} errors:{lines}", "fix each of them"
    return ConfigError(text, where=file, hint=hint, problems=documents)
