"""The roles of a workflow as a plan: which are done, at work, or still to come. Pure.

Source: https://agentclientprotocol.com/protocol/agent-plan
"""

from collections.abc import Iterator, Mapping
from typing import Any, Literal

Status = Literal["pending", "in_progress", "completed"]
_START = "$START"
MOST_CHARACTERS = 120


class Plan:
    """The plan of one thread.

    Args:
        workflow: its definition, as `Client.workflow` gives it.
    """

    def __init__(self, workflow: Mapping[str, Any]) -> None:
        self._lines = {role: _line(workflow, role) for role in _in_order(workflow["graph"])}
        self._status: dict[str, Status] = dict.fromkeys(self._lines, "pending")
        self._visits = dict.fromkeys(self._lines, 0)
        self._is_ended = False
        self._shown: dict[str, Any] | None = None

    def begin(self, role: str | None) -> None:
        """A role of the workflow is at work, or is next in a run."""
        self._is_ended = False
        if role in self._status and self._status[role] != "in_progress":
            self._status[role] = "in_progress"
            self._visits[role] += 1

    def finish(self, role: str) -> None:
        """A role has delivered."""
        self.begin(role)
        if role in self._status:
            self._status[role] = "completed"

    def rest(self) -> None:
        """Nothing runs."""
        for role, status in self._status.items():
            if status == "in_progress":
                self._status[role] = "pending"
                self._visits[role] -= 1

    def end(self) -> None:
        """The thread is completed: roles that it did not need are not shown."""
        self._is_ended = True

    def changed(self) -> Iterator[dict[str, Any]]:
        """The update with the whole plan, unless the last one was the same."""
        entries = [
            {"content": self._content(role), "priority": "medium", "status": status}
            for role, status in self._status.items()
            if not (self._is_ended and status == "pending")
        ]
        update = {"sessionUpdate": "plan", "entries": entries}
        if update != self._shown:
            self._shown = update
            yield update

    def _content(self, role: str) -> str:
        visits = self._visits[role]
        return self._lines[role] + (f" (visit {visits})" if visits > 1 else "")


def _in_order(graph: Mapping[str, Any]) -> Iterator[str]:
    """The roles as a new thread can reach them, level by level; a fan-out is `<role>/<status>`."""
    seen = {_START}
    found = [(_START, graph[_START])]
    for source, edges in found:
        for status, edge in edges.items():
            name, then = edge.get("role", ""), edge.get("then")
            if then is not None:
                name = f"{source}/{status}"
            following = graph.get(name) if then is None else then
            if name not in seen and following is not None:
                seen.add(name)
                found.append((name, following))
                yield name


def _line(workflow: Mapping[str, Any], name: str) -> str:
    role = workflow["roles"].get(name)
    if role is None:
        return f"{name} (branches)"
    about = str(role["description"] or role["goal"]).strip().partition("\n")[0]
    if not about and role["workflow"]:
        about = f"the workflow {role['workflow']}"
    line = f"{name}: {about}" if about else name
    return line if len(line) <= MOST_CHARACTERS else line[: MOST_CHARACTERS - 1] + "…"
