"""`plugin check`, `agent check` and `doctor` create and close a plugin before it is ready."""

import pytest
from bad_plugins import AGENT, RECORD
from tests.beside import beside
from wheels import build_wheel, install

GOOD = RECORD.format(name="odd") + AGENT
FORKS = GOOD.replace('make")]', 'make", capabilities=frozenset(["fork"]))]')
WRONG = {
    "a factory that exits": (GOOD + "\ndef make(options, context): raise SystemExit(0)", "exit(0)"),
    "a factory that ends the process": (
        GOOD + "\ndef make(options, context):\n    import os; os._exit(0)", "exit(0)",
    ),
    "a factory that raises": (GOOD + "\ndef make(options, context): 1 / 0", "ZeroDivisionError"),
    "an object that is no agent": (GOOD + "\nmake = lambda *_: None", "NoneType"),
    "a fork that is missing": (FORKS + "\nAgent.fork = None", "it has no fork"),
    "a fork without a session": (
        FORKS + "\nAgent.fork = lambda self: ''", "cannot be called as fork(session, request)",
    ),
    "an unknown capability": (FORKS.replace('"fork"', '"flying"'), "unknown capability 'flying'"),
    "a close that raises": (GOOD + "\nAgent.close = lambda self: 1 / 0", "ZeroDivisionError"),
}  # fmt: skip


def plugin(installation, group: str, code: str) -> None:
    entries, files = {group: {"odd": "uwf_agent_odd"}}, {"uwf_agent_odd.py": code}
    wheel = build_wheel(installation.wheels, "uwf-odd", entries, files)
    install(wheel, installation.site)


@pytest.mark.parametrize("wrong", WRONG)
def test_an_agent_that_cannot_do_what_it_announces_is_never_ready(installation, wrong):
    code, cause = WRONG[wrong]
    plugin(installation, "uwf.agents", code)
    checked = installation.uwf("plugin", "check", "odd")
    assert checked.exit_code == 1, checked
    assert checked.document["plugins"][0]["status"] == "broken"
    checks = installation.uwf("doctor", UWF_BLOCK_PLUGINS=beside()).document["checks"]
    (check,) = [each for each in checks if each["name"] == "agents odd"]
    readiness = installation.uwf("agent", "check", "odd")
    assert (readiness.exit_code, readiness.document["ready"]) == (6, False)
    for text in (checked.document["plugins"][0]["reason"], check["message"],
                 readiness.document["reason"]):  # fmt: skip
        assert cause in text
        assert "uwf-odd 1.2" in text


OF_OTHER_GROUPS = {
    "uwf.extractors": ("""
from uwf_core.api import ExtractorSpec, hookimpl
@hookimpl
def uwf_extractors():
    return [ExtractorSpec(name="odd", summary="odd", factory="uwf_agent_odd:make")]
def make(options, context): return object()
""", "no extract(request)"),
    "uwf.judges": ("""
from uwf_core.api import JudgeSpec, hookimpl
@hookimpl
def uwf_judges():
    return [JudgeSpec(name="odd", summary="odd", factory="uwf_agent_odd:make")]
def make(options, context): raise OSError("no dictionary")
""", "OSError: no dictionary"),
    "uwf.tools": ("""
from uwf_core.api import ToolSpec, hookimpl
@hookimpl
def uwf_tools():
    return [ToolSpec(name="odd", description="odd", parameters={}, factory="uwf_agent_odd:make")]
def make(): return lambda arguments: ""
""", "cannot be called as __call__(arguments, context)"),
    "uwf.exporters": ("""
from uwf_core.api import ExporterSpec, hookimpl
@hookimpl
def uwf_exporters():
    return [ExporterSpec(name="odd", summary="odd", factory="uwf_agent_odd:make")]
class make:
    def export(self): return ()
""", "cannot be called as export(thread)"),
    "uwf.importers": ("""
from uwf_core.api import ImporterSpec, hookimpl
@hookimpl
def uwf_importers():
    return [ImporterSpec(name="odd", summary="odd", factory="uwf_agent_odd:make")]
class make:
    def recognizes(self, path): return False
""", "no convert(path, maker)"),
    "uwf.stores": ("""
from uwf_core.api import StoreSpec, hookimpl
@hookimpl
def uwf_stores():
    return [StoreSpec(name="odd", summary="odd", factory="uwf_agent_odd:make")]
def make(url, home): return object()
""", "no get(ref)"),
}  # fmt: skip


@pytest.mark.parametrize("group", OF_OTHER_GROUPS)
def test_what_the_factory_of_any_other_plugin_returns_is_checked_too(installation, group):
    code, cause = OF_OTHER_GROUPS[group]
    plugin(installation, group, code)
    checked = installation.uwf("plugin", "check", "odd")
    assert checked.exit_code == 1, checked
    assert cause in checked.document["plugins"][0]["reason"]


def test_a_check_leaves_nothing_in_the_home(installation):
    code = GOOD + "\nimport os\ndef make(options, context):\n"
    code += "    os.makedirs(context.state_dir + '/cache')\n    return Agent()\n"
    plugin(installation, "uwf.agents", code)
    assert installation.uwf("plugin", "check", "odd").exit_code == 0
    assert not (installation.project.home / "agents" / "odd").exists()


def test_a_program_that_is_missing_is_an_error_of_the_check_and_not_of_the_plugin(installation):
    code = GOOD + "\nfrom uwf_core.api import Unavailable\ndef make(options, context):\n"
    code += "    raise Unavailable('no odd on the PATH', hint='install odd')\n"
    plugin(installation, "uwf.agents", code)
    checked = installation.uwf("plugin", "check", "odd")
    (found,) = checked.document["plugins"]
    assert (checked.exit_code, found["status"], checked.document["ready"]) == (1, "ready", False)
    assert [(each["state"], each["message"]) for each in found["checks"]] == [
        ("error", "no odd on the PATH")
    ]


def test_a_question_with_a_form_that_is_no_schema_is_refused_and_names_the_agent(installation):
    more = "\nfrom uwf_core.api import NeedsAnswer\ndef ask(*_):\n"
    more += "    raise NeedsAnswer('how many?', {'type': 'amount'})\nAgent.run = ask\n"
    plugin(installation, "uwf.agents", GOOD + more)
    done = installation.uwf("thread", "exec", installation.thread(), "--agent", "odd")
    assert done.exit_code == 1, done
    failure = done.document["steps"][-1]["failure"]
    assert failure["kind"] == "internal"
    assert "uwf-odd 1.2" in failure["message"]
    assert "asks with an unusable form" in failure["message"]
