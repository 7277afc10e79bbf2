"""The combinations of workflow, agent and model, with labels as short as possible."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from uwf_eval.records import Cell

Key = tuple[str | None, ...]
"""The key of a configuration: a value for each of `Configurations.varies`."""

_CHOICES: Final = ("workflow", "agent", "model")


@dataclass(frozen=True, kw_only=True)
class Configuration:
    """One combination of workflow version, agent and model.

    Attributes:
        label: unique in the run, without the parts that all have in common.
        varies: which of `workflow`, `agent` and `model` differ between configurations. The others
            are equal for all, or each task has its own.
        workflow: the published workflow's reference. agent, model: None for the configured one.
            All are None if they do not vary.
    """

    label: str
    varies: Sequence[str]
    workflow: str | None
    workflow_name: str | None
    agent: str | None
    model: str | None

    def fits(self, cell: Cell) -> bool:
        """Whether a cell has this configuration."""
        return all(getattr(self, name) == getattr(cell, name) for name in self.varies)


class Configurations:
    """The configurations of cells, in the order of their first cells."""

    def __init__(self, cells: Iterable[Cell]) -> None:
        first: dict[tuple[str, str, str | None, str | None], Cell] = {}
        for cell in cells:
            first.setdefault((cell.task, cell.workflow, cell.agent, cell.model), cell)
        known = list(first.values())
        self._varies = [name for name in _CHOICES if _is_a_choice(known, name)]
        found: dict[Key, Cell] = {}
        for cell in known:
            found.setdefault(self.key(cell), cell)
        common = [
            str(getattr(known[0], name))
            for name in ("agent", "model")
            if name not in self._varies and _is_common(known, name)
        ]
        self._known = {key: self._labelled(cell, known, common) for key, cell in found.items()}

    def key(self, cell: Cell) -> Key:
        """The key of a cell's configuration."""
        return tuple(getattr(cell, name) for name in self._varies)

    def all(self) -> Mapping[Key, Configuration]:
        """Every configuration by its key."""
        return self._known

    def _labelled(self, cell: Cell, cells: Sequence[Cell], common: Sequence[str]) -> Configuration:
        named = {name: getattr(cell, name) or f"configured {name}" for name in ("agent", "model")}
        named["workflow"] = _version(cell, cells)
        own = {name: getattr(cell, name) if name in self._varies else None for name in _CHOICES}
        return Configuration(
            label=" · ".join([named[name] for name in self._varies] or common) or "as configured",
            varies=self._varies,
            workflow_name=cell.workflow_name if "workflow" in self._varies else None,
            **own,
        )


def _is_a_choice(cells: Sequence[Cell], name: str) -> bool:
    """Whether a task ran with several values."""
    return len({(cell.task, getattr(cell, name)) for cell in cells}) > len(
        {cell.task for cell in cells}
    )


def _is_common(cells: Sequence[Cell], name: str) -> bool:
    """Whether all have the same explicit value."""
    values = {getattr(cell, name) for cell in cells}
    return len(values) == 1 and None not in values


def _version(cell: Cell, cells: Sequence[Cell]) -> str:
    """A workflow's name, with a prefix of its reference if the run has several versions."""
    others = {each.workflow for each in cells if each.workflow_name == cell.workflow_name}
    if len(others) == 1:
        return cell.workflow_name
    length = next(
        (size for size in range(4, 13) if len({each[:size] for each in others}) == len(others)), 13
    )
    return f"{cell.workflow_name}@{cell.workflow[:length]}"
