"""Settings, trust, the registry of workflows, agents."""

import json

from tests.walkthrough.checking import Uwf, check


@check("config set", "config get", "config show", "config path")
def a_setting_keeps_its_value_and_origin(uwf: Uwf) -> None:
    file = uwf.site.home / "config.yaml"
    uwf("config path", has={"home": str(uwf.site.home), "file": str(file), "project": None})
    uwf("config set limits.runSeconds 600", has={"value": 600})
    uwf("config get limits.runSeconds", has={"value": 600})
    uwf("config show", has={"limits.runSeconds": 600, "limits.graceSeconds": 5})
    settings = {each["key"]: each for each in uwf("config show --origin")["settings"]}
    uwf.same("the origin", settings["limits.runSeconds"]["origin"], "user")
    uwf.expect(str(file) in settings["limits.runSeconds"]["place"], "the place is not config.yaml")
    before = file.read_bytes()
    uwf("config set limits.runSecond 5", code=2, fails="unknown key 'limits.runSecond'")
    uwf("config set limits.runSeconds soon", code=2, fails="limits.runSeconds")
    uwf.expect(file.read_bytes() == before, "an invalid setting changed config.yaml")
    uwf("config set limits.runSeconds null")
    uwf("config get limits.runSeconds", has={"value": 3600})


@check("config trust")
def only_a_trusted_folder_defines_agents(uwf: Uwf) -> None:
    file = uwf.folder / ".uwf" / "config.yaml"
    file.parent.mkdir()
    file.write_text("agents: {ours: {use: mock}}\n")
    uwf("config path", has={"project": str(file), "trusted": False})
    uwf("agent check ours", code=2, fails="")
    uwf("config trust", has={"trusted": str(uwf.folder)})
    uwf("config path", has={"trusted": True})
    uwf("agent check ours", has={"ready": True, "resolved": "mock"})


@check("workflow new", "workflow check", "workflow add", "workflow list", "workflow show")
def a_workflow_is_written_checked_and_registered(uwf: Uwf) -> None:
    examples = uwf("workflow new --examples")["examples"]
    uwf.expect("fix-bug" in [each["name"] for each in examples], "fix-bug is not an example")
    uwf("workflow new own/issue.yaml --from solve-issue", has={"name": "issue", "files.#": 2})
    uwf("workflow check own/issue.yaml own/develop.yaml", has={"valid": True, "problems.#": 0})
    uwf("workflow new walk-hello", has={"name": "walk-hello"})
    uwf("workflow new walk-hello", code=2, fails="walk-hello.yaml")
    uwf("workflow check walk-hello.yaml", has={"valid": True, "problems.#": 0})
    added = uwf("workflow add walk-hello.yaml", has={"name": "walk-hello"})["workflow"]
    found = {each["name"]: each for each in uwf("workflow list")["workflows"]}
    uwf.same("the registered workflow", found.get("walk-hello", {}).get("workflow"), added)
    uwf("workflow check --bound walk-hello.yaml", has={"bounds.0.bound.agentCalls": 20})
    uwf("workflow show walk-hello", has={"workflow": added, "version": 1, "bound.cycle": []})


@check("workflow check")
def an_error_names_its_line_and_a_fix(uwf: Uwf) -> None:
    file = uwf.folder / "letter.yaml"
    file.write_text(file.read_text().replace("{role: reader,", "{role: readr,"))
    uwf("workflow check letter.yaml", code=4, has={
        "valid": False, "problems.#": 1, "problems.0.code": "unknown-role", "problems.0.line": 24,
        "problems.0.hint": "did you mean 'reader'?",
    })  # fmt: skip
    uwf("run letter.yaml -p Task", code=4)


@check("workflow check")
def a_check_fixes_and_speaks_to_other_tools(uwf: Uwf) -> None:
    right = (uwf.folder / "letter.yaml").read_text()
    (uwf.folder / "letter.yaml").write_text(right.replace("goal:", "gaol:", 1))
    log = uwf("workflow check --format sarif letter.yaml", code=4)
    uwf.same("the rule", log["runs"][0]["results"][0]["ruleId"], "unknown-key")
    uwf("workflow check --format github letter.yaml", code=4, says=["::error file=letter.yaml,"])
    uwf("workflow check --fix letter.yaml", has={"valid": True, "fixed.#": 1})
    uwf.same("the fixed file", (uwf.folder / "letter.yaml").read_text(), right)


@check("workflow graph")
def a_graph_has_every_edge(uwf: Uwf) -> None:
    edges = ('-->|"written"|', '-->|"send"|', '-->|"again"|')
    text = uwf("workflow graph letter.yaml", says=["flowchart TD", '["reader"]', *edges])
    uwf.same("the number of edges", text.count("-->"), 5)


@check("agent list", "agent check")
def an_agent_is_ready_or_says_why_not(uwf: Uwf) -> None:
    found = {each["name"]: each for each in uwf("agent list")["agents"]}
    uwf.same("the status of human", found.get("human", {}).get("status"), "ready")
    uwf.same("the default agent", [name for name, one in found.items() if one["default"]], ["mock"])
    uwf("agent check mock", has={"ready": True, "kind": "plugin"})
    uwf("agent check no-such-agent", code=2, fails="unknown agent 'no-such-agent'")
    (uwf.folder / "silent").write_text("#!/bin/sh\n")
    (uwf.folder / "silent").chmod(0o755)
    answer = uwf("agent check ./silent")
    uwf.expect("ready" in json.dumps(answer), f"a program has no state: {answer}")


@check("workflow check", "workflow graph")
def branches_are_checked_and_drawn(uwf: Uwf) -> None:
    uwf(
        "workflow check --bound survey.yaml --format text", says=["at most 8 agent calls (9 steps)"]
    )
    uwf("workflow graph survey.yaml", says=["researcher", "reader", "owner"])
    wrong = (uwf.folder / "survey.yaml").read_text().replace("forEach: parts", "forEach: pieces")
    (uwf.folder / "wrong.yaml").write_text(wrong)
    found = uwf("workflow check wrong.yaml", code=4)["problems"]
    uwf.expect("pieces" in found[-1]["message"], f"no problem names the list: {found}")
