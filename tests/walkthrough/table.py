"""The phases in their order, and the commands of uwf that must have one."""

from collections.abc import Iterable, Iterator, Sequence
from types import ModuleType
from typing import NamedTuple

from tests.walkthrough.checking import Check
from tests.walkthrough.phases import (
    bootstrap,
    bundles,
    cancel_and_fork,
    cleanup,
    configuration,
    evaluation,
    inspection,
    plugins,
    reading,
    store,
    threads,
)


class Phase(NamedTuple):
    """A phase: the name of its role, and the module with its checks."""

    name: str
    module: ModuleType

    def checks(self, only: Sequence[str] = ()) -> list[Check]:
        """The checks in the order of the file; with `only`, those with one of these words.

        Raises:
            KeyError: there is none.
        """
        checks = [each for each in vars(self.module).values() if isinstance(each, Check)]
        texts = (f"{each.promise}, {', '.join(each.commands)}" for each in checks)
        named = [any(word in text for word in only or ("",)) for text in texts]
        if not any(named):
            raise KeyError(f"no check of {self.name} has a word of {only}")
        return [each for each, chosen in zip(checks, named, strict=True) if chosen]

    def commands(self) -> set[str]:
        """The commands that its checks are about."""
        return {command for each in self.checks() for command in each.commands}


PHASES = (
    Phase("bootstrap", bootstrap),
    Phase("configuration", configuration),
    Phase("threads", threads),
    Phase("inspection", inspection),
    Phase("cancel-and-fork", cancel_and_fork),
    Phase("store", store),
    Phase("bundles", bundles),
    Phase("plugins", plugins),
    Phase("evaluation", evaluation),
    Phase("reading", reading),
    Phase("cleanup", cleanup),
)
REPORT = "report"
"""The role after the last phase."""


def all_commands() -> set[str]:
    """Every command of the installed uwf without its groups, those of plugins included."""
    import click

    from uwf_core.cli.main import Root

    def below(group: click.Group, context: click.Context) -> Iterator[str]:
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            if isinstance(command, click.Group):
                own = click.Context(command, context, name)
                yield from (f"{name} {rest}" for rest in below(command, own))
            else:
                yield name

    root = Root()
    return set(below(root, click.Context(root, info_name="uwf")))


def declared(phases: Iterable[Phase] = PHASES) -> set[str]:
    """The commands that the checks of the phases are about."""
    return {command for phase in phases for command in phase.commands()}


def gaps(commands: Iterable[str], phases: Iterable[Phase] = PHASES) -> list[str]:
    """Commands without a phase, and phases with an unknown command."""
    known, phases = set(commands), tuple(phases)
    return [
        *(f"no phase exercises `uwf {each}`" for each in sorted(known - declared(phases))),
        *(
            f"phase {phase.name} names an unknown command `uwf {each}`"
            for phase in phases
            for each in sorted(phase.commands() - known)
        ),
    ]


def not_called(called: Iterable[str], commands: Iterable[str]) -> list[str]:
    """Commands that no logged call begins with."""
    words = [line.split() for line in called]
    return [
        f"nothing called `uwf {each}`"
        for each in sorted(commands)
        if not any(line[: len(each.split())] == each.split() for line in words)
    ]
