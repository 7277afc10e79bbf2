"""Chains of steps of the original, and what a bundle records of each."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from uwf_core.api.importers import ImportedStep
from uwf_core.errors import MissingNodeError
from uwf_import_original.fields import NotImported, mapping, moment, text, texts
from uwf_import_original.nodes import NodeCopy
from uwf_import_original.turns import TurnChains, session_of, usage_of

_LONGEST = 100_000


class OriginalChain(NamedTuple):
    """The steps of a thread in the original, oldest first, each with its reference; and its start.

    Raises where it is made: MissingNodeError, NotImported.
    """

    begun: Mapping[str, Any]
    steps: list[tuple[str, Mapping[str, Any]]]


def read_chain(copy: NodeCopy, head: str) -> OriginalChain:
    """The chain that ends at `head`, a step or a start.

    Raises:
        MissingNodeError: a node of it is missing. NotImported: it is not a chain.
    """
    steps: list[tuple[str, Mapping[str, Any]]] = []
    payload, ref = mapping(copy.node(head).payload, "the head"), head
    while "role" in payload and "output" in payload:
        steps.append((ref, payload))
        if len(steps) > _LONGEST:
            raise NotImported(f"it has more than {_LONGEST} steps")
        ref = text(payload, "prev") or text(payload, "start")
        payload = mapping(copy.node(ref).payload, "a step")
    if not ("workflow" in payload and "prompt" in payload):
        raise NotImported(f"the node {ref} is neither a step nor a start")
    return OriginalChain(payload, steps[::-1])


class StepReader:
    """Reads the steps of a home, with the turns of all its threads."""

    def __init__(self, copy: NodeCopy, chains: TurnChains) -> None:
        self._copy = copy
        self._chains = chains

    def step(self, ref: str) -> ImportedStep:
        """A step with its failed attempts; its output is stored.

        Raises:
            MissingNodeError, NotImported: a part of it is missing, or has no form here.
        """
        step = mapping(self._copy.node(ref).payload, "a step")
        failed = tuple(map(self._failed, texts(step.get("previousAttempts"))))
        output = self._copy.copy(text(step, "output"))
        return ImportedStep(output=output, failed=failed, **self._facts(ref, step))

    def _failed(self, ref: str) -> ImportedStep:
        step = mapping(self._copy.node(ref).payload, "a failed step")
        output = mapping(self._copy.node(text(step, "output")).payload, "the output of a step")
        return ImportedStep(error=text(output, "error"), **self._facts(ref, step))

    def _facts(self, ref: str, step: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "role": text(step, "role"),
            "agent": text(step, "agent") or "unknown",
            "turns": self._chains.of(step),
            "session": session_of(self._copy, step),
            "edge_prompt": text(step, "edgePrompt"),
            "prompt": self._prompt(step),
            "cwd": text(step, "cwd"),
            "started_ms": moment(step, "startedAtMs"),
            "ended_ms": moment(step, "completedAtMs"),
            "usage": usage_of(step),
            "proof": f"step {ref} of the original",
        }

    def _prompt(self, step: Mapping[str, Any]) -> str:
        """The whole prompt, empty where it was not recorded."""
        try:
            found = self._copy.node(text(step, "assembledPrompt")).payload
        except MissingNodeError:
            return ""
        return found if isinstance(found, str) else ""
