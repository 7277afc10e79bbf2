"""The page of hooks says what the specifications say, and every example on it works."""

import inspect
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pluggy
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "docs"))

from generate.hooks import all_hooks, markdown
from uwf_core.api import CheckResult, Turn, Usage, hookspecs
from uwf_core.plugins.status import api_problem

HOOKS = list(all_hooks())
SAMPLES: dict[str, Any] = {"turn": Turn(index=0, role="assistant", text="said"), "usage": Usage()}


def module_of(hook) -> ModuleType:
    module = ModuleType("example")
    exec(compile(hook.example, f"example of {hook.name}", "exec"), vars(module))
    return module


def sample_of(event: Any) -> Any:
    """An event of that kind, with something in each field."""
    return event(**{name: _value(name) for name in event._fields})


def _value(name: str) -> Any:
    if name in SAMPLES:
        return SAMPLES[name]
    return {"$status": "done"} if name == "output" else 1 if name.endswith("_ms") else "text"


def test_every_specification_is_on_the_page():
    named = {name for name in vars(hookspecs) if name.startswith("uwf_")}
    assert {hook.name for hook in HOOKS} == named
    page = markdown()
    for hook in HOOKS:
        function = getattr(hookspecs, hook.name)
        arguments = ", ".join(inspect.signature(function).parameters)
        assert f"## `{hook.name}({arguments})`" in page


@pytest.mark.parametrize("hook", HOOKS, ids=lambda hook: hook.name)
def test_the_example_of_a_hook_is_a_plugin_that_works(hook, capfd):
    manager = pluggy.PluginManager(hookspecs.PROJECT)
    manager.add_hookspecs(hookspecs)
    manager.register(module_of(hook))
    manager.check_pending()
    if hook.returns:
        (records,) = getattr(manager.hook, hook.name)()
        assert records
        assert all(isinstance(each, hook.gives) for each in records)
        if hook.name == "uwf_checks":
            assert all(isinstance(each.run(), CheckResult) for each in records)
        return
    assert getattr(manager.hook, hook.name)(event=sample_of(hook.gives)) in ([], [None])
    printed = capfd.readouterr()
    assert printed.out == ""
    assert printed.err.strip(), "the example shows nothing"


@pytest.mark.parametrize("hook", HOOKS, ids=lambda hook: hook.name)
def test_a_hook_is_no_newer_than_the_contract(hook):
    from uwf_core.api import API_VERSION

    assert api_problem(hook.since, API_VERSION) is None


def test_an_observer_returns_nothing_and_gets_one_event():
    for hook in HOOKS:
        parameters = list(inspect.signature(getattr(hookspecs, hook.name)).parameters)
        assert parameters == ([] if hook.returns else ["event"])
