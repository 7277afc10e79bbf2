"""A plugin is loaded alone; whatever it does there is one clear line and stops nobody else."""

import json
import signal

import pytest

from uwf_core.plugins.repair import repair_line

from .conftest import AGENT, Site

RECORDS = "[r.name for r in Plugins(home=HOME_).load('uwf.agents', 'one')]"


def broken(site: Site, code: str | None) -> str:
    """The message about a broken plugin with this code; checked for what it must always say."""
    site.agent("one", code)
    site.agent("two")
    error = site.error(
        "load('uwf.agents', 'one')", after="assert plugins.load('uwf.agents', 'two')"
    )
    assert error["code"] == "plugin-broken"
    assert error["exitCode"] == 1
    assert "'one'" in error["message"]
    assert "demo-one 1.0" in error["message"]
    assert "\n" not in error["message"]
    assert repair_line("demo-one") in error["hint"]
    message: str = error["message"]
    return message


def test_a_plugin_gives_the_records_of_its_hook(site: Site) -> None:
    site.agent("one")
    assert site.value(RECORDS) == ["one"]


def test_a_module_with_two_agents_serves_both_names(site: Site) -> None:
    two = AGENT.format(name="one", module="m").replace(
        "return [", "return [AgentSpec(name='other', summary='', factory='m:B'), "
    )
    site.add("demo", {"uwf.agents": {"one": "m", "other": "m"}}, modules={"m": two})
    record = "Plugins().record('uwf.agents', 'other').factory"
    assert site.value(record) == "m:B"


def test_an_exception_at_import_is_one_line_with_its_cause(site: Site) -> None:
    assert "ValueError: no way" in broken(site, "raise ValueError('no\\n  way')")


def test_a_missing_module_is_named(site: Site) -> None:
    assert "No module named 'nowhere_at_all'" in broken(site, "import nowhere_at_all")


def test_an_exit_at_import_does_not_end_the_command(site: Site) -> None:
    assert "called exit(3)" in broken(site, "raise SystemExit(3)")


def test_a_syntax_error_is_named(site: Site) -> None:
    assert "SyntaxError" in broken(site, "def broken(:")


def test_an_exception_in_the_hook_is_one_line_with_its_cause(site: Site) -> None:
    code = "from uwf_core.api import hookimpl\n@hookimpl\ndef uwf_agents(): raise KeyError('x')"
    assert "uwf_agents: KeyError" in broken(site, code)


def test_a_misspelt_hook_is_an_error_that_names_it(site: Site) -> None:
    code = "from uwf_core.api import hookimpl\n@hookimpl\ndef uwf_agentz(): return []"
    assert "uwf_agentz" in broken(site, code)


def test_a_hook_with_wrong_arguments_is_an_error_that_names_it(site: Site) -> None:
    code = "from uwf_core.api import hookimpl\n@hookimpl\ndef uwf_agents(config): return []"
    message = broken(site, code)
    assert "uwf_agents" in message
    assert "config" in message


def test_a_hook_without_its_mark_is_an_error_that_says_so(site: Site) -> None:
    assert "hookimpl" in broken(site, "def uwf_agents(): return []")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("'one'", "'one', not AgentSpec"),
        ("['one']", "'one', not AgentSpec"),
        ("[{'name': 'one'}]", ", not AgentSpec"),
        ("[]", "returned nothing, not 'one'"),
        ("None", "returned nothing, not 'one'"),
        ("[AgentSpec(name='uno', summary='', factory='m:A')]", "returned 'uno', not 'one'"),
        ("[AgentSpec(name='one', summary='', factory='m')]", "'module:attribute'"),
        ("[AgentSpec(name='one', summary='', factory=None)]", "factory of its AgentSpec is no"),
    ],
)
def test_a_plugin_that_announces_something_else_is_broken(
    site: Site, given: str, said: str
) -> None:
    code = (
        "from uwf_core.api import AgentSpec, hookimpl\n"
        f"@hookimpl\ndef uwf_agents(): return {given}\n"
    )
    assert said in broken(site, code)


def test_an_entry_point_without_a_module_is_broken(site: Site) -> None:
    site.add("demo-one", {"uwf.agents": {"one": ""}})
    assert "has no module" in site.error("load('uwf.agents', 'one')")["message"]


@pytest.mark.parametrize("api", ["'2.0'", "'1.99'", "'1'", "None"])
def test_a_plugin_for_a_contract_that_we_do_not_have_does_not_fit(site: Site, api: str) -> None:
    code = AGENT.format(name="one", module="m").replace("factory", f"api={api}, factory")
    site.agent("one", code)
    error = site.error("load('uwf.agents', 'one')")
    assert error["code"] == "plugin"
    assert error["exitCode"] == 2
    assert api.strip("'") in error["message"]


def test_what_a_plugin_prints_never_reaches_our_stdout(site: Site) -> None:
    noise = (
        "import os, sys, subprocess\n"
        "print('from print')\n"
        "kept = sys.__stdout__; kept.write('from kept')\n"
        "os.write(1, b'from descriptor')\n"
        "subprocess.run(['echo', 'from child'])\n"
    )
    site.agent("one", noise + AGENT.format(name="one", module="m"))
    done = site.run(f"print('before')\nvalue = {RECORDS}\nprint('after', *value)")
    assert done.stdout == "before\nafter one\n"
    for words in ("from print", "from kept", "from descriptor", "from child"):
        assert words in done.stderr


def test_a_plugin_that_prints_without_any_stdout_does_no_harm(site: Site) -> None:
    site.agent("one", "print('x')\n" + AGENT.format(name="one", module="m"))
    code = f"import os\nos.close(1)\nsys.stdout = None\nvalue = {RECORDS}\nsys.exit(len(value) + 6)"
    assert site.run(code, check=False).returncode == 7


def test_ctrl_c_while_a_plugin_loads_is_no_fault_of_the_plugin(site: Site) -> None:
    site.agent("one", "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\nimport time\n")
    done = site.run(RECORDS, check=False)
    assert "KeyboardInterrupt" in done.stderr
    assert "PluginBroken" not in done.stderr
    assert not (site.home / "loading").exists()


def test_a_plugin_that_was_broken_once_is_listed_as_broken(site: Site) -> None:
    site.agent("one", "raise ValueError('no')")
    code = (
        "from uwf_core.errors import PluginBroken\nplugins = Plugins()\n"
        "for _ in range(2):\n  try: plugins.load('uwf.agents', 'one')\n"
        "  except PluginBroken as error: print(error.message)\n"
        "print([p.document() for p in plugins.list(['uwf.agents']) if p.found.name == 'one'])"
    )
    first, second, listed = site.run(code).stdout.splitlines()
    assert first == second
    assert "'status': 'broken'" in listed
    assert "ValueError: no" in listed


def test_a_factory_that_cannot_be_imported_is_broken_and_named(site: Site) -> None:
    site.agent("one")
    error = site.error("attribute('uwf.agents', 'one', 'demo_one:Agent')")
    assert "'demo_one:Agent'" in error["message"]
    assert error["code"] == "plugin-broken"


def test_a_command_must_be_a_click_command(site: Site) -> None:
    code = "import click\n@click.command()\ndef good(): ...\nbad = 3\n"
    site.add("d", {"uwf.commands": {"good": "m:good", "bad": "m:bad"}}, modules={"m": code})
    assert site.value("Plugins().command('good').name") == "good"
    assert "not a click command" in site.error("command('bad')")["message"]


def test_if_the_process_dies_in_a_plugin_the_next_command_names_it(site: Site) -> None:
    site.agent("one", "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n")
    assert site.run(RECORDS, check=False).returncode == -signal.SIGKILL
    crashed = "[str(d) for d in guards.crashed_loads(HOME_)]"
    setup = "from uwf_core.plugins import guards"
    (said,) = site.value(crashed, setup)
    assert "demo-one 1.0" in said
    assert said.endswith("block it: uwf config set --add plugins.block one")
    assert site.value(crashed, setup) == []


def test_a_plugin_that_another_process_is_loading_now_did_not_die(site: Site) -> None:
    site.agent("one", "import subprocess, sys\nsubprocess.run([sys.executable, 'look.py'])\n")
    look = site.folder / "look.py"
    look.write_text(
        "import json, os\nfrom uwf_core.plugins.guards import crashed_loads\n"
        f"crashed = crashed_loads({str(site.home)!r})\n"
        f"open({str(site.folder / 'seen')!r}, 'w').write(json.dumps(crashed))"
    )
    site.run(f"import os; os.chdir({str(site.folder)!r})\n{RECORDS}", check=False)
    assert json.loads((site.folder / "seen").read_text()) == []


def test_a_home_that_cannot_be_written_stops_no_plugin(site: Site) -> None:
    site.agent("one")
    site.home.write_text("a file, not a folder")
    assert site.value(RECORDS) == ["one"]


def test_loading_imports_nothing_that_a_step_must_not_pay_for(site: Site) -> None:
    site.agent("one")
    modules = site.value(f"({RECORDS}, sorted(sys.modules))[1]")
    heavy = {
        "importlib.metadata",
        "pydantic",
        "jsonschema",
        "httpx",
        "rich",
        "asyncio",
        "packaging",
    }
    assert heavy.isdisjoint(modules)


def test_the_trace_shows_each_hook_call_with_its_secrets_taken_out(site: Site) -> None:
    site.agent("one")
    code = (
        "import os\nfrom uwf_core.plugins.plugins import stderr_trace\n"
        "trace = stderr_trace(os.environ, lambda line: line.replace('demo_one:Agent', '***'))\n"
        "Plugins(trace=trace).load('uwf.agents', 'one')"
    )
    line = site.run(code, env={"UWF_TRACE_PLUGINS": "1"}).stderr
    assert "one of demo-one 1.0: uwf_agents() -> " in line
    assert "AgentSpec(" in line
    assert " ms" in line
    assert "***" in line
    assert "demo_one:Agent" not in line
    assert site.run(code).stderr == ""


def test_a_file_that_another_thread_closes_meanwhile_is_nobodys_fault(site: Site) -> None:
    """A program that drives uwf has threads of its own."""
    code = "import threading\nthreading.other_closes()\n" + AGENT.format(name="one", module="m")
    site.agent("one", code)
    setup = """
import os, threading
opened, asked, closed = os.open("/dev/null", os.O_RDONLY), threading.Event(), threading.Event()
def close():
    asked.wait(60)
    os.close(opened)
    closed.set()
    asked.clear()
    asked.wait(60)
threading.Thread(target=close, daemon=True).start()
def other_closes():
    asked.set()
    assert closed.wait(60)
threading.other_closes = other_closes
"""
    assert site.value(RECORDS, setup) == ["one"]


def test_a_file_that_the_program_left_unclosed_is_not_held_against_a_plugin(site: Site) -> None:
    """Python closes it at some time, also in the middle of an import."""
    site.agent("one")
    module = next(site.folder.glob("*one*.py"))
    module.write_text("lists = [[] for _ in range(200_000)]\n" + module.read_text())
    unclosed = "loop = [open('/dev/null')]\nloop.append(loop)\ndel loop"
    leave = f"import gc\ngc.set_threshold(50_000)\n{unclosed}"
    assert site.value(RECORDS, leave) == ["one"]
