"""Plugins: list, check, block, write."""

from tests.walkthrough.checking import Uwf, check


@check("plugin list", "plugin check")
def a_plugin_is_ready_or_says_why_not(uwf: Uwf) -> None:
    found = {each["name"]: each for each in uwf("plugin list")["plugins"]}
    uwf.same("the status of mock", found["mock"]["status"], "ready")
    uwf.same("the distribution of human", found["human"]["distribution"], "uwf-core")
    uwf("plugin check mock", has={"ready": True, "plugins.0.hooks": ["uwf_agents"]})
    uwf("plugin check no-such-plugin", code=2, fails="no-such-plugin")


@check("config set")
def a_blocked_plugin_is_never_loaded(uwf: Uwf) -> None:
    uwf("config set --add plugins.block diff-size", has={"value": ["diff-size"]})
    uwf("plugin check diff-size", code=2, has={"plugins.0.status": "blocked"})
    found = {each["name"]: each["status"] for each in uwf("plugin list")["plugins"]}
    uwf.same("the status", found["diff-size"], "blocked")
    uwf("config set --remove plugins.block diff-size", has={"value": []})
    uwf("plugin check diff-size", has={"ready": True})


@check("plugin new")
def a_new_plugin_is_a_complete_distribution(uwf: Uwf) -> None:
    made = uwf("plugin new agent walk --dir .", has={"distribution": "uwf-agent-walk"})
    folder = uwf.folder / "uwf-agent-walk"
    for name in made["files"]:
        text = (folder / name).read_text()
        if name.endswith(".py"):
            compile(text, name, "exec")
    uwf.expect('"uwf.agents"' in (folder / "pyproject.toml").read_text(), "no entry point")
    uwf("plugin new agent walk --dir .", code=2, fails="uwf-agent-walk")
