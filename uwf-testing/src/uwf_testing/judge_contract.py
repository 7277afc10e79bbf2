"""The promises of every judge, as tests: subclass `JudgeContract` and define its fixtures.

```python
import pytest
from uwf_testing.judge_contract import JudgeContract

class TestSpelling(JudgeContract):
    @pytest.fixture
    def judge(self):
        return "spelling"                                # the name of the entry point

    @pytest.fixture
    def trial(self, tmp_path):                           # a good one
        (tmp_path / "text.md").write_text("All words are right.")
        return JudgeRequest(cwd=str(tmp_path), thread="…", record={})
```

Three more fixtures are None by default, and the clauses that need them are skipped: `worse`, a
trial that must get a lower score; `hopeless`, one that cannot be judged; `slow`, one that takes
long. `options` are the judge's options.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from dataclasses import replace
from math import isfinite
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

from uwf_core.api.judge import Judge, JudgeReply, JudgeRequest
from uwf_core.cas.codec import encode
from uwf_core.errors import PayloadError
from uwf_core.plugins.scan import JUDGES
from uwf_core.process.cancel import Cancel
from uwf_testing.contract import KIT_VERSION, needs
from uwf_testing.plugin_contract import CalledPluginContract, check_usage
from uwf_testing.surroundings import Work, WorkContract, ends_within

__all__ = ["KIT_VERSION", "JudgeContract"]

Score = Callable[[JudgeRequest], JudgeReply]

THREAD = "01JD0000000000000000000000"


class JudgeContract(CalledPluginContract, WorkContract):
    """The promises of `Judge`."""

    kind = "judge"
    group = JUDGES

    @pytest.fixture
    def trial(self, tmp_path: Path) -> JudgeRequest:
        """A trial to judge: a folder with a file, and a completed thread."""
        folder = tmp_path / "trial"
        folder.mkdir()
        (folder / "README.md").write_text("# What was done\n", encoding="utf-8")
        record = {"thread": THREAD, "status": "completed", "done": True, "steps": []}
        return JudgeRequest(cwd=str(folder), thread=THREAD, record=record)

    @pytest.fixture
    def worse(self) -> JudgeRequest | None:
        """A trial that must get a lower score than `trial`."""
        return None

    @pytest.fixture
    def hopeless(self) -> JudgeRequest | None:
        """A trial that this judge cannot judge."""
        return None

    @pytest.fixture
    def slow(self) -> JudgeRequest | None:
        """A trial that takes the judge longer than `stop_seconds` if nothing cancels it."""
        return None

    @pytest.fixture
    def score(self, create: Callable[[], tuple[Any, Any]]) -> Score:
        """Calls a new judge, which is created as by the engine."""

        def call(request: JudgeRequest) -> JudgeReply:
            made, options = create()
            assert isinstance(made, Judge), f"its factory gave {type(made).__name__}"
            wanted = options if request.options is None else request.options
            return made.judge(replace(request, options=wanted))

        return call

    @pytest.fixture
    def work(self, score: Score, trial: JudgeRequest) -> Work:
        """Judges the trial."""
        return lambda: score(trial)

    def test_a_score_is_within_0_and_1(self, score: Score, trial: JudgeRequest) -> None:
        """A score is a number from 0 to 1, never NaN or a bool; None from a judge that only
        informs.
        """
        reply = score(trial)
        assert isinstance(reply, JudgeReply), f"it gave {type(reply).__name__}"
        found = reply.score
        if found is None:
            assert reply.data, "it gives neither a score nor data"
            return
        assert isinstance(found, int | float) and not isinstance(found, bool), f"{found!r}"
        assert isfinite(found) and 0 <= found <= 1, f"the score is {found!r}"

    @needs("worse")
    def test_a_worse_trial_gets_a_lower_score(
        self,
        score: Score,
        trial: JudgeRequest,
        worse: JudgeRequest,
    ) -> None:
        """The worse trial gets the lower score."""
        lower, higher = score(worse).score, score(trial).score
        assert lower is not None and higher is not None, "it gives no score"
        assert lower < higher

    @needs("hopeless")
    def test_a_judge_that_cannot_judge_raises(self, score: Score, hopeless: JudgeRequest) -> None:
        """A judge that cannot judge raises; a low score would count against the agent."""
        try:
            reply = score(hopeless)
        except Exception as error:
            assert str(error).strip(), "the error says nothing"
        else:
            pytest.fail(f"it gave the score {reply.score!r}")

    def test_what_it_keeps_can_be_stored(self, score: Score, trial: JudgeRequest) -> None:
        """`data` is JSON."""
        data = score(trial).data
        try:
            encode(data)
        except PayloadError as error:
            pytest.fail(f"data cannot be stored: {error}")

    def test_the_usage_is_a_record_of_known_and_unknown(
        self, score: Score, trial: JudgeRequest
    ) -> None:
        """Unknown numbers of the usage are None, and none is negative."""
        check_usage(score(trial).usage)

    def test_the_record_is_left_as_it_was(self, score: Score, trial: JudgeRequest) -> None:
        """The judge does not change the record, which other judges get as well."""
        before = deepcopy(trial.record)
        score(trial)
        assert trial.record == before

    def test_the_fixture_is_left_as_it_was(
        self, score: Score, trial: JudgeRequest, tmp_path: Path
    ) -> None:
        """The judge only reads the folder that the trial began with; later trials begin with it."""
        if trial.fixture is None:
            fixture = tmp_path / "kit-fixture"
            copytree(trial.cwd, fixture)
            trial = replace(trial, fixture=str(fixture))
        assert trial.fixture is not None
        before = _contents(Path(trial.fixture))
        score(trial)
        changed = {name for name, _ in before.items() ^ _contents(Path(trial.fixture)).items()}
        assert not changed, f"changed in the fixture: {', '.join(sorted(changed))}"

    @needs("slow")
    def test_it_stops_when_it_is_cancelled(self, score: Score, slow: JudgeRequest) -> None:
        """The judge ends when `request.cancel` is set, with a score or an error."""
        cancel = Cancel()
        request = replace(slow, cancel=cancel)
        assert ends_within(self.stop_seconds, lambda: score(request), cancel), (
            "it still runs after the cancel token was set"
        )

    def test_two_at_once_stay_apart(
        self,
        score: Score,
        trial: JudgeRequest,
        worse: JudgeRequest | None,
    ) -> None:
        """Two judgements at the same moment each get the score for their trial."""
        trials = [trial, worse or trial] * 4
        alone = [score(each).score for each in trials[:2]] * 4
        with ThreadPoolExecutor(4) as threads:
            together = [reply.score for reply in threads.map(score, trials)]
        assert together == alone


def _contents(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Every file below a folder with its mode and content."""
    return {
        path.relative_to(folder).as_posix(): (
            path.stat().st_mode,
            path.read_bytes() if path.is_file() else b"",
        )
        for path in folder.rglob("*")
    }
