"""Inspect itself opens the log of a run: its API, `inspect log dump` and `inspect view bundle`."""

import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from uwf_core.client import Client
from uwf_eval.inspect_log.file import export_inspect_log
from uwf_eval.records import Run, Trial
from uwf_eval.store.results import Results

sys.path.insert(0, str(Path(__file__).parents[1] / "eval" / "report"))
from report_kit import RUN, rich_run


class Evaluated:
    """A stored run with trials of every state, and of the recorded threads."""

    def __init__(self, client: Client, threads: Mapping[str, Any]) -> None:
        run, trials = rich_run()
        found = [replace(each, thread=None, head=None) for each in trials]
        for number, thread in enumerate(threads.values()):
            found[number] = replace(found[number], thread=thread.id, head=thread.head)
        results = Results(client)
        results.save_run(replace(run, trials=len(found)), found)
        results.save_trials(found)
        self.run: Run = results.run(RUN)
        self.trials: list[Trial] = list(results.trials(RUN))
        self.client = client

    def log(self, file: Path) -> Path:
        """The log, written to a file."""
        document = export_inspect_log(self.client, self.run, self.trials, file)
        assert document["samples"] == sum(trial.state != "not_run" for trial in self.trials)
        return file


@pytest.fixture
def evaluated(recorded: Any) -> Iterator[Evaluated]:
    uwf, threads = recorded
    yield Evaluated(uwf, threads)


def _usage_sum(trials: list[Trial]) -> int:
    return sum(trial.usage.output_tokens or 0 for trial in trials)


def test_inspect_reads_scores_usage_and_messages(
    tool: Any, evaluated: Evaluated, recorded: Any, tmp_path: Path
) -> None:
    log = tool("inspect_ai.log").read_eval_log(str(evaluated.log(tmp_path / "run.eval")))
    shown = [trial for trial in evaluated.trials if trial.state != "not_run"]
    assert log.eval.run_id == evaluated.run.run
    assert log.results.total_samples == len(evaluated.trials)
    assert sum(each.output_tokens for each in log.stats.model_usage.values()) == _usage_sum(shown)
    assert len({(sample.id, sample.epoch) for sample in log.samples}) == len(shown)
    by_trial = {sample.metadata["uwf"]["number"]: sample for sample in log.samples}
    for trial in shown:
        sample = by_trial[trial.number]
        judged = {each.name: each.score for each in trial.judges if each.score is not None}
        scores = {name: score.value for name, score in sample.scores.items() if name != "uwf"}
        assert scores == judged
        assert (sample.error is not None) == (trial.state == "infra_error")
    texts = {thread.id: thread for thread in recorded[1].values()}
    for trial in shown:
        if trial.thread in texts:
            sample = by_trial[trial.number]
            said = [message.text for message in sample.messages]
            for step in texts[trial.thread].steps():
                if not step.calls and step.node["agent"] not in ("human", "program"):
                    assert step.prompt in said
                    assert step.raw in said


def test_the_mean_of_each_judge_is_that_of_the_trials(
    tool: Any, evaluated: Evaluated, tmp_path: Path
) -> None:
    file = str(evaluated.log(tmp_path / "run.eval"))
    log = tool("inspect_ai.log").read_eval_log(file, header_only=True)
    for score in log.results.scores:
        if score.name != "uwf":
            values = [
                judge.score
                for trial in evaluated.trials
                for judge in trial.judges
                if judge.name == score.name and judge.score is not None
            ]
            assert score.metrics["mean"].value == pytest.approx(sum(values) / len(values))
    summaries = tool("inspect_ai.log").read_eval_log_sample_summaries(file)
    assert len(summaries) == log.results.completed_samples


def test_the_programs_of_inspect_open_it(tool: Any, evaluated: Evaluated, tmp_path: Path) -> None:
    tool("inspect_ai")
    logs = tmp_path / "logs"
    logs.mkdir()
    file = evaluated.log(logs / "run.eval")
    program = str(Path(sys.executable).with_name("inspect"))
    env = {**os.environ, "HOME": str(tmp_path)}
    dumped = subprocess.run(
        [program, "log", "dump", str(file)], env=env, capture_output=True, text=True, timeout=120
    )
    assert dumped.returncode == 0, dumped.stderr
    assert len(json.loads(dumped.stdout)["samples"]) > 0
    bundle = [program, "view", "bundle", "--log-dir", str(logs), "--output-dir", "site"]
    done = subprocess.run(
        bundle, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "site" / "index.html").is_file()
    assert list((tmp_path / "site" / "logs").glob("*.eval"))


def test_the_same_run_gives_the_same_bytes(evaluated: Evaluated, tmp_path: Path) -> None:
    one, other = (evaluated.log(tmp_path / name).read_bytes() for name in ("a.eval", "b.eval"))
    assert one == other
    with zipfile.ZipFile(tmp_path / "a.eval") as archive:
        assert {"header.json", "summaries.json", "_journal/start.json"} < {*archive.namelist()}


def test_a_thread_that_was_removed_leaves_the_scores(recorded: Any, tmp_path: Path) -> None:
    evaluated = Evaluated(recorded[0], {})
    gone = [replace(trial, thread=f"01K9ZZZZZZ{trial.number:016}") for trial in evaluated.trials]
    document = export_inspect_log(evaluated.client, evaluated.run, gone, tmp_path / "gone.eval")
    assert document["samples"] > 0
    with zipfile.ZipFile(tmp_path / "gone.eval") as archive:
        summaries = json.loads(archive.read("summaries.json"))
    assert all(
        each["message_count"] == 0 and each["scores"] for each in summaries if each["scores"]
    )
