"""What `--model` means: an agent's own option, else a model of the configuration."""

from pathlib import Path

from run_site import Site

PLUGIN = """
from dataclasses import dataclass

from uwf_core.api import AgentReply, AgentSpec, hookimpl


@hookimpl
def uwf_agents():
    return [AgentSpec(name="chooser", summary="x", factory="chooser_plugin:Agent",
                      options="chooser_plugin:Options")]


@dataclass(frozen=True, kw_only=True)
class Options:
    model: str | None = None


class Agent:
    def __init__(self, options, context):
        self.options = options

    def run(self, request, sink):
        return AgentReply(structured={"$status": "done"}, model=self.options.model)

    def fork(self, session, request):
        return session

    def ask(self, request, sink):
        return AgentReply(text="")

    def close(self):
        pass
"""
CONFIG = """
providers: {p: {baseUrl: "http://127.0.0.1:1/v1"}}
models: {small: {provider: p, name: tiny}}
"""


def install(site: Site, folder: Path) -> None:
    info = folder / "uwf_chooser-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: uwf-chooser\nVersion: 1.0\n"
                                   "Requires-Dist: uwf-core<9\n")  # fmt: skip
    (info / "entry_points.txt").write_text("[uwf.agents]\nchooser = chooser_plugin\n")
    (folder / "chooser_plugin.py").write_text(PLUGIN)
    site.env["PYTHONPATH"] = str(folder)
    site.home.mkdir(mode=0o700)
    (site.home / "config.yaml").write_text(CONFIG)
    (site.home / "config.yaml").chmod(0o600)


def test_the_model_is_what_the_agent_takes_it_for(site: Site, tmp_path: Path) -> None:
    install(site, tmp_path / "site-packages")
    site.task()
    found = site.document("run", "t", "--agent", "chooser", "--model", "opus", "--model", "haiku")
    assert found["states"] == {"scored": 2}
    trials = site.stored()[1]
    assert [each.cell.model for each in trials] == ["opus", "haiku"]
    from uwf_core.client import Client

    with Client.open(env=site.env) as client:
        steps = [client.steps(each.thread or "")[1]["step"] for each in trials]
        assert [client.step(each)["model"] for each in steps] == ["opus", "haiku"]
    assert site.document("run", "t", "--model", "small")["states"] == {"scored": 1}
    refused = site.eval("run", "t", "--agent", "mock", "--model", "opus")
    assert refused.returncode == 2 and "opus" in refused.stderr
