"""A judge whose program was missing before the agent ran costs no trial its score."""

import json

from tests.eval.run.run_site import DONE

from uwf_core.client import Client
from uwf_eval.task.read import Origin, read_task


def test_a_setup_may_install_the_program_and_a_trial_without_it_is_not_counted(table):
    run = {"name": "c", "builtin": "command", "options": {"run": "no-such-program"}}
    trial = table.trial(judges=[run], setup=["true"])
    assert (trial.state, trial.failure.kind) == ("infra_error", "judge")
    assert "there is no program 'no-such-program'" in trial.failure.message
    table.agent("rm tool\n" + DONE)
    own = {"name": "c", "builtin": "command", "options": {"run": "./tool"}}
    setup = ["printf '#!/bin/sh\\n' > tool; chmod +x tool"]
    assert table.trial(judges=[own], setup=setup).state == "failed", "the agent removed it"


def test_a_check_names_the_place_of_the_command(table):
    run = {"name": "c", "builtin": "command", "options": {"run": "no-such-program"}}
    table.task()
    file = table.folder / "task.yaml"
    file.write_text(json.dumps({**json.loads(file.read_text()), "judges": [run]}))
    origin = Origin(table.folder, "folder", str(table.folder), "digest")
    with Client.open(env=table.env, cwd=table.root) as client:
        [problem] = read_task(origin, client).problems
    assert (problem.code, problem.severity) == ("judge-cannot-run", "error")
    assert "trial" in problem.message and "no-such-program" in problem.message
