"""Which workflow, agent and model a trial ran with, under a name as short as it can be."""

from collections.abc import Iterable, Mapping, Sequence

from uwf_core.api.record import record
from uwf_eval.records import Cell

Key = tuple[str | None, str | None, str | None]
"""Workflow reference (None where each task has its own), agent, model."""


@record
class Configuration:
    """One combination of workflow version, agent and model.

    Attributes:
        label: tells it from the others of the run, and says nothing that all have in common.
        workflow: the published workflow's reference, None where each task has its own one.
        agent, model: None for what the user's configuration says.
    """

    label: str
    workflow: str | None
    workflow_name: str | None
    agent: str | None
    model: str | None

    def fits(self, cell: Cell) -> bool:
        """Whether a cell is of this configuration."""
        same_workflow = self.workflow in (None, cell.workflow)
        return same_workflow and (self.agent, self.model) == (cell.agent, cell.model)


class Configurations:
    """The configurations of some cells, in the order of their first cells."""

    def __init__(self, cells: Iterable[Cell]) -> None:
        workflows: dict[str, dict[str, str]] = {}
        first: dict[tuple[str, str | None, str | None], Cell] = {}
        for cell in cells:
            workflows.setdefault(cell.task, {})[cell.workflow] = cell.workflow_name
            first.setdefault((cell.workflow, cell.agent, cell.model), cell)
        # A task's own workflow is no choice that somebody compares.
        self._by_workflow = any(len(each) > 1 for each in workflows.values())
        keys = {self.key(cell): cell for cell in reversed(first.values())}
        self._known = _labelled({key: keys[key] for key in reversed(keys)}, self._by_workflow)

    def key(self, cell: Cell) -> Key:
        """What a cell's configuration is known by."""
        return (cell.workflow if self._by_workflow else None, cell.agent, cell.model)

    def all(self) -> Mapping[Key, Configuration]:
        """Every configuration by its key."""
        return self._known


def _labelled(cells: Mapping[Key, Cell], by_workflow: bool) -> dict[Key, Configuration]:
    versions = sorted({(cell.workflow_name, cell.workflow) for cell in cells.values()})
    agents = len({cell.agent for cell in cells.values()}) > 1
    models = len({cell.model for cell in cells.values()}) > 1
    found = {}
    for key, cell in cells.items():
        words = [_version(cell, versions)] if by_workflow else []
        words += [cell.agent or "configured agent"] if agents or cell.agent else []
        words += [cell.model or "configured model"] if models or cell.model else []
        found[key] = Configuration(
            label=" · ".join(words) or "as configured",
            workflow=cell.workflow if by_workflow else None,
            workflow_name=cell.workflow_name if by_workflow else None,
            agent=cell.agent,
            model=cell.model,
        )
    return found


def _version(cell: Cell, versions: Sequence[tuple[str, str]]) -> str:
    """A workflow's name, with as much of its reference as tells its versions apart."""
    others = [reference for name, reference in versions if name == cell.workflow_name]
    if len(others) == 1:
        return cell.workflow_name
    length = next(
        (size for size in range(4, 13) if len({each[:size] for each in others}) == len(others)), 13
    )
    return f"{cell.workflow_name}@{cell.workflow[:length]}"
