"""An agent that rewrites texts of a workflow after it has read trials on open tasks."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from uwf_core.client import Client, ThreadFilter
from uwf_core.commands import Session, cancel_on_signals
from uwf_core.errors import DefinitionError, UsageError, UwfError
from uwf_eval.records import Trial
from uwf_improve.edit.draft import EditRefused
from uwf_improve.reflect.ask import ask
from uwf_improve.reflect.prompt import quoted
from uwf_improve.search.candidates import Candidates, Texts

_TASK: Final = (
    "Improve the workflow below, whose recorded trials follow. `texts` has the texts that you may "
    "change, by their places; nothing else can be changed. Write what helps with any task of this "
    "kind. `findings` is empty: these are trials, not findings."
)
_TAG: Final = "search"
_DRAFTS: Final = 2
"""So many drafts are asked for in a row: the second one knows why the first was refused."""
_TRIES: Final = 3
"""So often an agent that does not answer is asked again."""
_MOST: Final = 1500


class Proposer:
    """Asks an agent for other texts. Each request is a thread with its own tag, so a search that
    starts again gets the answers that it had.

    Args:
        agent: its word. search: the name of the search.
    """

    def __init__(
        self, session: Session, client: Client, agent: str, search: str, candidates: Candidates
    ) -> None:
        self._session, self._client = session, client
        self._agent, self._search, self._candidates = agent, search, candidates
        self._asked: Counter[str] = Counter()
        self.reasons: dict[tuple[tuple[str, str], ...], str] = {}

    def propose(self, texts: Texts, trials: Sequence[Mapping[str, Any]]) -> dict[str, str]:
        """Other texts of some places; empty: it proposes none that may be tried.

        Raises:
            UwfError: the agent does not answer.
        """
        refused = ""
        for _ in range(_DRAFTS):
            document = {"texts": dict(texts), "trials": list(trials)}
            document |= {"refused": refused} if refused else {}
            output = self._answer(quoted(_TASK, document))
            if output["$status"] != "drafted":
                return {}
            new = {str(each["place"]): str(each["text"]) for each in output["edits"]}
            refused = self._refused(texts, new)
            if not refused:
                self.reasons[tuple(sorted({**texts, **new}.items()))] = str(output["why"])
                return new
            self._session.note(f"note: a draft is refused: {refused}")
        return {}

    def _refused(self, texts: Texts, new: Mapping[str, str]) -> str:
        unknown = [place for place in new if place not in texts]
        if unknown:
            return f"the workflow has no text {unknown[0]!r}"
        try:
            self._candidates.version({**texts, **new})
        except (DefinitionError, EditRefused, UsageError) as error:
            return error.message
        return ""

    def _answer(self, prompt: str) -> Mapping[str, Any]:
        digest = hashlib.sha256(f"{self._search} {self._agent} {prompt}".encode()).hexdigest()[:16]
        self._asked[digest] += 1
        key = f"{digest}.{self._asked[digest]}"
        wanted = ThreadFilter(statuses=("completed",), tags={_TAG: key}, limit=1)
        known = self._client.list(wanted)
        if known:
            step = next(self._client.thread(known[0]["thread"]).newest_first("output"))
            return dict(step.output)
        for tried in range(1, _TRIES + 1):
            try:
                with cancel_on_signals(self._session) as cancel:
                    said = ask(self._client, "propose", prompt, agent=self._agent, cancel=cancel,
                               tags={_TAG: key})  # fmt: skip
                return dict(said["output"])
            except UwfError:
                if tried == _TRIES or cancel.is_set():
                    raise
        raise AssertionError


def trial_records(client: Client, trials: Sequence[Trial]) -> Iterator[dict[str, Any]]:
    """What the agent reads of trials: the task, what each role delivered, the scores."""
    for each in trials:
        thread = None if each.thread is None else client.thread(each.thread)
        steps = [] if thread is None else [
            {"role": step.role, "output": json.dumps(dict(step.output), ensure_ascii=False)[:_MOST]}
            for step in thread.steps("output")
        ]  # fmt: skip
        yield {
            "task": "" if thread is None else thread.task[:_MOST],
            "steps": steps,
            "score": each.score,
            "judges": [
                {"name": judge.name, "score": judge.score, "error": judge.error}
                for judge in each.judges
            ],
            "failure": each.failure.message if each.failure else None,
        }
