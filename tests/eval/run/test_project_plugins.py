"""Plugins of the folder in which `uwf-eval` is called, and of a task's files."""

import os
from pathlib import Path

from run_site import Site

AGENT = """
from uwf_core.api import AgentReply, AgentSpec, hookimpl

@hookimpl
def uwf_agents():
    return [AgentSpec(name="own", summary="x", factory=f"{__name__}:Agent")]

class Agent:
    def __init__(self, options, context):
        pass

    def run(self, request, sink):
        return AgentReply(structured={"$status": "done"})

    def fork(self, session, request):
        return session

    def ask(self, request, sink):
        return AgentReply(text="")

    def close(self):
        pass
"""
JUDGE = """
from uwf_core.api import JudgeReply, JudgeSpec, hookimpl

@hookimpl
def uwf_judges():
    return [JudgeSpec(name="half", summary="x", factory=f"{__name__}:Judge")]

class Judge:
    def __init__(self, options, context):
        pass

    def judge(self, request):
        return JudgeReply(score=0.5)
"""


def add(folder: Path, file: str, code: str) -> None:
    path = folder / ".uwf" / "plugins" / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(code)


def test_a_run_uses_the_agents_and_judges_of_the_folder_it_is_called_in(site: Site) -> None:
    add(site.folder, "agents/own.py", AGENT)
    add(site.folder, "judges/half.py", JUDGE)
    site.task(judges=[{"name": "j", "plugin": "half"}])
    words = ("run", "t", "--agent", "own", "--repeat", "3", "--budget", "2trials", "--name", "n")
    refused = site.eval(*words)
    assert refused.returncode == 4 and f"uwf config trust {site.folder}" in refused.stderr
    site.trust(site.folder)
    site.document(*words, code=5)
    assert [each.score for each in site.stored()[1]] == [0.5, 0.5, None]
    elsewhere = site.folder.parent / "elsewhere"
    elsewhere.mkdir()
    site.folder, here = elsewhere, site.folder
    assert site.document("resume", "n", "--budget", "9trials")["states"] == {"scored": 3}
    site.folder = here


def test_plugins_in_the_files_of_a_task_are_not_imported(site: Site) -> None:
    """Also if the user trusts the task: a trial works in a copy, which nobody has trusted."""
    ran = site.folder / "ran"
    code = f"open({os.fspath(ran)!r}, 'w').close()\n{AGENT}"
    folder = site.task()
    for place in (folder, folder / "fixture"):
        add(place, "agents/own.py", code)
        add(place, "observers/own.py", code)
        add(place, "judges/own.py", code)
        site.trust(place)
    assert site.document("run", "t")["states"] == {"scored": 1}
    refused = site.eval("run", "t", "--agent", "own")
    assert refused.returncode == 2 and "unknown agent 'own'" in refused.stderr
    assert not ran.exists()
