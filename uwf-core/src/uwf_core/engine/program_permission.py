"""Which workflows may run programs on this machine: a variable of the store for each.

A workflow is allowed by its reference, so another version needs a new permission. The variable is
kept as long as the workflow itself. A bundle contains none, so an imported workflow runs nothing.
"""

# Loaded by every step of a program: pathlib is not imported for that.
# ruff: noqa: PTH100, PTH119, PTH120

import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from uwf_core.cas.walk import walk
from uwf_core.config.trust import withheld_folders, withhold_programs
from uwf_core.errors import UsageError
from uwf_core.ids import Ref
from uwf_core.prompt.command import command_text
from uwf_core.thread.names import programs_name
from uwf_core.workflow.definition import SELF, Definition
from uwf_core.workflow.discover import FOLDERS

if TYPE_CHECKING:
    from uwf_core.engine.engine import Engine
    from uwf_core.engine.watch import Watch
    from uwf_core.workflow.check import Checked
    from uwf_core.workflow.definition import RoleProgram


def programs_of(engine: "Engine", workflow: Ref) -> list[str]:
    """The commands of a workflow and of all workflows that it calls, with their templates, each as
    `<workflow> runs for <role>: <command>`, with the variables that the workflow sets for it.

    Raises:
        StoreError: one of them is missing or damaged.
    """
    found = (
        f"{definition.name} runs for {role.name}: {_shown(role.program)}"
        for definition in _called(engine, workflow)
        for role in definition.roles.values()
        if role.program is not None
    )
    return list(dict.fromkeys(found))  # a branch has the program of a role that is listed


def _shown(program: "RoleProgram") -> str:
    """What a user permits, on one line as a shell would read it: `CC=gcc make test`.

    A variable can decide what the command does (`PATH`, `BASH_ENV`), and a line break in the
    command could forge a line of another one.
    """
    variables = "".join(f"{name}={command_text((value,))} " for name, value in program.env.items())
    text = variables + command_text(program.argv)
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)


def add_programs(
    engine: "Engine", workflow: Ref, notice: Callable[[str], None], *, allow: bool
) -> None:
    """Report the commands of a workflow; then allow them, or report how to."""
    for line in programs_of(engine, workflow):
        notice(line)
    if allow:
        with engine.store.transaction():
            allow_programs(engine, workflow)
    elif not may_run_programs(engine, workflow):
        notice("these commands are not allowed yet; --allow-programs allows them")


def allow_programs(engine: "Engine", workflow: Ref) -> None:
    """Allow a workflow, and all that it calls, to run programs. Within a transaction."""
    for definition in _called(engine, workflow):
        if definition.runs_programs and not _is_allowed(engine, definition.ref):
            name = programs_name(definition.ref)
            engine.store.set_variable(name, definition.ref, {}, None)


def may_run_programs(engine: "Engine", workflow: Ref) -> bool:
    """Whether every program of a workflow, and of those that it calls, may run."""
    return all(
        _is_allowed(engine, definition.ref)
        for definition in _called(engine, workflow)
        if any(role.command is not None for role in definition.roles.values())
    )


def check_programs(engine: "Engine", workflow: Ref, file: str | None = None) -> None:
    """Check that a workflow may run its programs. `file` defines it, if it is not stored yet.

    Raises:
        UsageError: it may not.
    """
    if may_run_programs(engine, workflow):
        return
    programs = programs_of(engine, workflow)
    shown = "; ".join(programs[:_SHOWN])
    more = f"; and {len(programs) - _SHOWN} more" if len(programs) > _SHOWN else ""
    raise UsageError(
        f"the programs of the workflow {workflow} are not allowed: {shown}{more}",
        hint=f"read the commands; then allow them with `uwf workflow add {file or workflow} "
        "--allow-programs`, or trust its folder (uwf config trust DIR) and start the file there",
    )


_SHOWN = 3


def allow_start(
    engine: "Engine", workflow: Ref, folder: str, file: str | None, watch: "Watch"
) -> None:
    """Allow the programs of a workflow if the user trusts the folder of the new thread, and that of
    the workflow's file, which may lie in another repository. Within a transaction.

    A workflow that is named without a file is not: its name may come from a bundle.

    Raises:
        UsageError: they are not allowed. ConfigError: the list of trusted folders cannot be read.
    """
    if may_run_programs(engine, workflow):
        return
    if not (engine.trusts(folder) and _is_trusted_file(engine, file, folder)):
        check_programs(engine, workflow, file)
    for line in programs_of(engine, workflow):
        watch.notice(line)
    allow_programs(engine, workflow)


def withhold_unless_plain(engine: "Engine", checked: "Checked") -> bool:
    """Let the trust in the folder of a file allow no programs until a person trusts it again,
    unless the text surely runs none: it is valid, and no program or workflow plays a role.

    For a page that writes the file: a login to that page must not be enough to run programs. A file
    that is not valid may be a part of another one. Returns whether programs are withheld.

    Raises:
        ConfigError: the list of trusted folders cannot be read or written.
    """
    roles = None if checked.workflow is None else checked.workflow["roles"].values()
    if roles is not None and not any(each["program"] or each["workflow"] for each in roles):
        return False
    withhold_programs(engine.home, _project_of(checked.file))
    return True


def _is_trusted_file(engine: "Engine", file: str | None, folder: str) -> bool:
    if file is None:
        return False
    own = _project_of(file)
    callees = (_project_of(f"{each}/any.yaml") for each in engine.settings.workflow_paths)
    places = {os.path.realpath(each) for each in (own, *callees)}
    if not places.isdisjoint(withheld_folders(engine.home)):
        return False
    return own == folder or engine.trusts(own)


def _project_of(file: str) -> str:
    """The folder to which a workflow's file belongs."""
    own = os.path.dirname(os.path.abspath(file))
    above = os.path.dirname(own)
    if os.path.basename(own) in FOLDERS:
        return above
    if os.path.basename(above) in FOLDERS:  # the folder of an index.yaml
        return os.path.dirname(above)
    return own


def _is_allowed(engine: "Engine", workflow: Ref) -> bool:
    return engine.store.variable(programs_name(workflow)) is not None


def _called(engine: "Engine", workflow: Ref) -> Iterator[Definition]:
    """A workflow, then all that it calls, each once."""

    def look(ref: str) -> tuple[Definition, Iterator[str]]:
        definition = engine.definition(Ref(ref))
        called = (each for role in definition.roles.values() for each in role.workflows)
        return definition, (each for each in called if each != SELF)

    return walk([str(workflow)], look)
