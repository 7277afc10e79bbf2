"""`uwf plugin new`: write the distribution of a new plugin."""

import os
import re
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Any, NamedTuple, TypedDict

import click

from uwf_core import __version__
from uwf_core.commands import Screen, Session, command
from uwf_core.errors import UsageError
from uwf_core.plugins.scan import CORE
from uwf_core.plugins.status import IMPOSSIBLE, RESERVED

_COMMON = {
    "pyproject.toml": "common/pyproject.txt",
    "README.md": "common/readme.txt",
    ".gitignore": "common/ignore.txt",
    ".github/workflows/tests.yml": "common/ci.txt",
    "src/@MODULE@/__init__.py": "common/init.txt",
}
_TEMPLATES = files(__package__) / "templates"


class NewPlugin(NamedTuple):
    """What is written for a kind of plugin.

    Attributes:
        summary: the summary of a new one.
        use: its usage, for the README.
        record: further lines of its record.
        needs: further distributions that it imports, in the versions of the core.
    """

    summary: str
    use: str
    record: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()


KINDS: Mapping[str, NewPlugin] = {
    "agent": NewPlugin(
        "@NAME@ as an agent of uwf",
        "Install it, then: `uwf run WORKFLOW -p TASK --agent @NAME@`.",
        ('options="@MODULE@.agent:Options",',),
    ),
    "store": NewPlugin(
        "@NAME@ as a store of uwf",
        "Choose it by its URL: `uwf config set store @NAME@:place`.",
    ),
    "extractor": NewPlugin(
        "@NAME@ as an extractor of uwf",
        "Try it after the built-in one: `uwf config set extractors '[frontmatter, @NAME@]'`.",
    ),
    "judge": NewPlugin(
        "@NAME@ as a judge of uwf-eval",
        "Name it in a task's `task.yaml`.",
        ('options="@MODULE@.judge:Options",',),
    ),
    "tool": NewPlugin(
        "@NAME@ as a tool of uwf's builtin agent",
        "The builtin agent offers it to the model once installed.",
    ),
    "exporter": NewPlugin(
        "@NAME@ as an export format of uwf",
        "Install it, then: `uwf thread export @last --format @NAME@`.",
        ('suffix=".csv",',),
    ),
    "model": NewPlugin(
        "@NAME@ as a model protocol of uwf",
        "Choose it for a provider: `uwf config set providers.NAME.protocol @NAME@`.",
        needs=("uwf-llm",),
    ),
    "observer": NewPlugin(
        "@NAME@ as an observer of uwf",
        "It is active once installed, and writes to the file in `@VARIABLE@`.",
    ),
    "command": NewPlugin(
        "the command uwf @NAME@",
        "Install it, then: `uwf @NAME@ --help`.",
    ),
}

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


class NewPluginDocument(TypedDict):
    """A new distribution; `files`: their paths in its folder."""

    kind: str
    name: str
    distribution: str
    folder: str
    files: list[str]


@command("new", "uwf plugin new agent aider", "uwf plugin new store files --dir ~/src")
@click.argument("kind", metavar="KIND", type=click.Choice(list(KINDS)))
@click.argument("name", metavar="NAME")
@click.option("--dir", "parent", metavar="DIR", default=".", help="Folder to create it in.")
def new(session: Session, kind: str, name: str, parent: str) -> None:
    """Write a complete distribution for a new plugin, which passes its tests unchanged.

    KIND is agent, store, extractor, judge, tool, exporter, model, observer or command. NAME is the
    name that users type.
    """
    name = name_of(kind, name)
    _check_name(session, kind, name)
    distribution = distribution_of(kind, name)
    folder = os.path.join(os.path.abspath(os.path.expanduser(parent)), distribution)  # noqa: PTH100, PTH111, PTH118
    made = dict(filled_files(kind, name, __version__))
    _write(folder, made)
    document: NewPluginDocument = {
        "kind": kind,
        "name": name,
        "distribution": distribution,
        "folder": folder,
        "files": sorted(made),
    }
    session.emit(document, _text)


def _check_name(session: Session, kind: str, name: str) -> None:
    """Reject an invalid or taken name.

    Raises:
        UsageError: with a hint.
    """
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"{name!r} is not a valid plugin name",
            hint="use lower-case letters, digits and single dashes, with a letter first: my-agent",
        )
    taken = _taken(session, group_of(kind))
    if name in taken:
        raise UsageError(
            f"the name {name!r} is taken by {taken[name]}",
            hint="choose another name, or remove that distribution first",
        )


def _taken(session: Session, group: str) -> Mapping[str, str]:
    installed = (each.found for each in session.engine.plugins.list((group,)))
    names = {each.name: each.distribution for each in installed}
    return {**names, **dict.fromkeys(IMPOSSIBLE.get(group, ()), CORE), **RESERVED.get(group, {})}


def _write(folder: str, files: Mapping[str, str]) -> None:
    try:
        os.makedirs(folder)  # noqa: PTH103
        for path, text in files.items():
            file = os.path.join(folder, path)  # noqa: PTH118
            os.makedirs(os.path.dirname(file), exist_ok=True)  # noqa: PTH103, PTH120
            with open(file, "x", encoding="utf-8") as stream:
                stream.write(text)
    except FileExistsError as error:
        raise UsageError(
            "the folder exists already", where=folder, hint="choose another name, or remove it"
        ) from error
    except OSError as error:
        raise UsageError(
            f"cannot write the file: {error.strerror}", where=error.filename
        ) from error


def _text(document: Mapping[str, Any], _screen: Screen) -> str:
    lines = [document["folder"], *(f"  {file}" for file in document["files"])]
    return "\n".join(
        [*lines, f"next: cd {document['folder']} && pip install -e '.[test]' && pytest"]
    )


def group_of(kind: str) -> str:
    """The group of entry points of a kind."""
    return f"uwf.{kind}s"


def distribution_of(kind: str, name: str) -> str:
    """The distribution name of a new plugin: `uwf-agent-aider`, `uwf-store-files`."""
    prefix = f"uwf-{kind}-"
    return name if name.startswith(prefix) else f"{prefix}{name}"


def name_of(kind: str, word: str) -> str:
    """The name of the plugin: `aider`, also for `uwf-agent-aider`."""
    return word.removeprefix(f"uwf-{kind}-")


def filled_files(kind: str, name: str, core_version: str) -> Iterator[tuple[str, str]]:
    """(path, text) of each file of a new distribution.

    Args:
        kind: one of `KINDS`. name: the name that users type.
        core_version: the version of uwf-core that it is for.
    """
    words = _words(kind, name, core_version)
    modules = [each.name for each in (_TEMPLATES / kind).iterdir() if each.name != "contract.txt"]
    parts = {} if kind == "command" else {"src/@MODULE@/plugin.py": "common/plugin.txt"}
    parts |= {f"src/@MODULE@/{each[:-4]}.py": f"{kind}/{each}" for each in modules}
    tests = {"tests/test_@TEST@.py": f"{kind}/contract.txt"}
    for path, template in {**_COMMON, **parts, **tests}.items():
        text = (_TEMPLATES / template).read_text("utf-8")
        yield _filled(path, words), _filled(text, words).rstrip("\n") + "\n"
    yield _filled("src/@MODULE@/py.typed", words), ""


def _words(kind: str, name: str, core_version: str) -> Mapping[str, str]:
    chosen = KINDS[kind]
    distribution = distribution_of(kind, name)
    module = distribution.replace("-", "_")
    camel = "".join(part.capitalize() for part in name.split("-"))
    major, minor, *_ = core_version.split(".")
    badge = ""
    if kind != "command":
        badge = (
            f"\n`python -m uwf_testing {name}` prints the result of its contract as a table. "
            "A known\nbug is marked, never removed: redefine that one clause with\n"
            '`@pytest.mark.xfail(reason="…")`.\n'
        )
    return {
        # First the values that contain placeholders themselves:
        "USE": chosen.use,
        "NEEDS": "".join(f', "{each}>=@FLOOR@,<@CEILING@"' for each in chosen.needs),
        "RECORD": "".join(f"\n            {each}" for each in chosen.record),
        "SUMMARY": chosen.summary,
        "BADGE": badge,
        "NAME": name,
        "DISTRIBUTION": distribution,
        "MODULE": module,
        "CLASS": camel if camel.endswith(kind.capitalize()) else camel + kind.capitalize(),
        "KIND": kind,
        "SPEC": "ModelProtocolSpec" if kind == "model" else f"{kind.capitalize()}Spec",
        "GROUP": group_of(kind),
        "TARGET": f"{module}.plugin" if badge else f"{module}.command:count",
        "TEST": "contract" if badge else kind,
        "VARIABLE": f"{module.upper()}_FILE",
        "FLOOR": f"{major}.{minor}",
        "CEILING": str(int(major) + 1),
    }


def _filled(text: str, words: Mapping[str, str]) -> str:
    for word, value in words.items():
        text = text.replace(f"@{word}@", value)
    return text
