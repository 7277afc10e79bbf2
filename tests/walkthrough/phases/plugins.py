"""Plugins: list, check, block, write; the installer runs only where it changes nothing."""

from tests.walkthrough.checking import Uwf, check


@check("plugin list", "plugin check")
def a_plugin_is_ready_or_says_why_not(uwf: Uwf) -> None:
    found = {each["name"]: each for each in uwf("plugin list")["plugins"]}
    uwf.same("the status of mock", found["mock"]["status"], "ready")
    uwf.same("the distribution of human", found["human"]["distribution"], "uwf-core")
    uwf("plugin check mock", has={"ready": True, "plugins.0.hooks": ["uwf_agents"]})
    uwf("plugin check no-such-plugin", code=2, fails="no-such-plugin")


@check("plugin block", "plugin unblock")
def a_blocked_plugin_is_never_loaded(uwf: Uwf) -> None:
    uwf("plugin block diff-size", has={"plugins.0.changed": True})
    uwf("plugin check diff-size", code=2, has={"plugins.0.status": "blocked"})
    found = {each["name"]: each["status"] for each in uwf("plugin list")["plugins"]}
    uwf.same("the status", found["diff-size"], "blocked")
    uwf("plugin unblock diff-size", has={"plugins.0.changed": True, "plugins.0.blockedBy": []})
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


@check("plugin install", "plugin uninstall")
def the_installer_is_called_for_this_environment(uwf: Uwf) -> None:
    wheel = uwf.folder / "walk-1.0-py3-none-any.whl"
    wheel.write_bytes(b"")
    shown = uwf("plugin install --dry-run", f"./{wheel.name}", has={"dryRun": True})
    uwf.same("the wheel", shown["command"][-1], str(wheel))
    uwf("plugin install", f"./{wheel.name}", code=1, fails=wheel.name)
    shown = uwf("plugin uninstall --dry-run uwf-eval", has={"dryRun": True})
    uwf.same("the distribution", shown["command"][-1], "uwf-eval")
    uwf("plugin uninstall no-such-plugin", code=2, fails="unknown plugin")
    uwf("plugin uninstall --dry-run uwf-core", code=2, fails="uwf-core")
