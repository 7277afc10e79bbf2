"""The clauses of every kind of plugin: its registration, and the cost of its import."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Hashable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, cast

import pytest

from uwf_core.api.agent import AgentContext, Usage
from uwf_core.api.sums import FIELDS
from uwf_core.errors import ConfigError, UwfError
from uwf_core.fields.records import camel, read_options
from uwf_core.plugins.plugins import Plugins
from uwf_core.plugins.scan import CORE, EntryPoint, normalised
from uwf_core.plugins.status import Status
from uwf_testing.contract import Contract

HEAVY = frozenset((
    "asyncio", "concurrent.futures.process", "ctypes", "email.message", "http.client",
    "importlib.metadata", "multiprocessing", "sqlite3", "ssl", "unittest", "urllib.request",
    "xml.etree",
))  # fmt: skip
"""Modules of the standard library that cost more than a bare interpreter."""

_SECONDS = 30
_PROBE = """
import json, sys, threading
before = set(sys.modules)
__import__(sys.argv[1])
print("\\n" + json.dumps([sorted(set(sys.modules) - before), threading.active_count()]))
"""


class Imported(NamedTuple):
    """The effects of importing a plugin's module in a fresh interpreter."""

    modules: frozenset[str]
    threads: int
    printed: str


class PluginContract(Contract):
    """A plugin that is found by its entry point and registers a record by its hook."""

    group: ClassVar[str]
    """The group of entry points."""

    @pytest.fixture
    def plugin_name(self, request: pytest.FixtureRequest) -> str:
        """The name of the entry point."""
        return self.subject(request)

    @pytest.fixture
    def plugins(self) -> Plugins:
        """The installed plugins; scanned once for all clauses."""
        return _plugins_for(cast(Hashable, type(self)))

    @pytest.fixture
    def found(self, plugin_name: str, plugins: Plugins) -> EntryPoint:
        """The entry point of an installed distribution."""
        named = [each for each in plugins.list((self.group,)) if each.found.name == plugin_name]
        if not named:
            pytest.fail(
                f"no installed distribution has the entry point {plugin_name!r} in the group "
                f"{self.group!r}: is it installed (`pip install -e .`), is the name right?"
            )
        return named[0].found

    @pytest.fixture
    def record(self, found: EntryPoint, plugins: Plugins) -> Any:
        """The record that the plugin registers."""
        try:
            return plugins.record(found.group, found.name)
        except UwfError as error:
            pytest.fail(f"{error.message} ({error.hint})")

    @pytest.fixture
    def imported(self, found: EntryPoint) -> Imported:
        """The effects of importing the plugin's module in a fresh interpreter."""
        return _import_of(found.target.partition(":")[0], tuple(sys.path))

    def test_it_is_registered(
        self, plugin_name: str, found: EntryPoint, record: Any, plugins: Plugins
    ) -> None:
        """The distribution has the entry point, no other one claims the name, and the hook returns
        the record of that name.
        """
        installed = plugins.list((self.group,))
        plugin = next(each for each in installed if each.found.name == plugin_name)
        assert plugin.status is Status.READY, plugin.reason
        assert plugin_name == found.name
        self.check_announced(record, plugin_name)
        self.check_record(record)

    def check_announced(self, record: Any, name: str) -> None:
        """Check the name and the summary of the record."""
        assert record.name == name
        summary = record.summary
        assert isinstance(summary, str), "the summary is a text"
        assert summary.strip(), "the summary says something"
        assert len(summary.splitlines()) == 1, "the summary is one line"

    def check_record(self, record: Any) -> None:
        """Check what else must be true of the record of this kind of plugin."""

    def test_importing_it_is_light(
        self, found: EntryPoint, record: Any, imported: Imported
    ) -> None:
        """Many commands import the plugin's module only to list it: the import loads neither the
        module of the factory, nor third-party packages, nor heavy modules of the standard library.
        """
        target = found.target.partition(":")[0]
        named = (getattr(record, "factory", None), getattr(record, "options", None))
        behind = {path.partition(":")[0] for path in named if path} - {target}
        assert not behind & imported.modules, "it imports the module of its factory or options"
        heavy = sorted(imported.modules & HEAVY)
        assert not heavy, f"it imports {', '.join(heavy)}"
        own = {target.partition(".")[0], "uwf_core", "pluggy"}
        packages = {name.partition(".")[0] for name in imported.modules}
        foreign = sorted(packages - own - sys.stdlib_module_names)
        assert not foreign, f"it imports {', '.join(foreign)}"

    def test_importing_it_does_nothing(self, imported: Imported) -> None:
        """The import prints nothing and starts no thread."""
        assert imported.printed.strip() == "", "it prints"
        assert imported.threads == 1, "it starts a thread"

    def test_its_distribution_bounds_the_core(self, found: EntryPoint) -> None:
        """The distribution requires uwf-core with a floor and a ceiling, so that uwf detects a
        version that does not fit before any import.
        """
        if normalised(found.distribution) == CORE:
            pytest.skip("it belongs to the core itself")
        demands = ",".join(found.requires)
        assert ">" in demands or "~=" in demands, f"no floor: it demands {demands or 'nothing'}"
        assert "<" in demands or "~=" in demands, f"no ceiling: it demands {demands or 'nothing'}"


@cache
def _plugins_for(_contract: Hashable) -> Plugins:
    return Plugins()


@cache
def _import_of(module: str, path: tuple[str, ...]) -> Imported:
    done = subprocess.run(
        [sys.executable, "-P", "-c", _PROBE, module],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, path))},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="replace",
        timeout=_SECONDS,
        check=False,
    )
    if done.returncode != 0:
        pytest.fail(f"importing {module} failed:\n{done.stderr[-2000:]}")
    printed, _, last = done.stdout.rstrip("\n").rpartition("\n")
    modules, threads = json.loads(last)
    return Imported(frozenset(modules), threads, printed + done.stderr)


class PluginWithOptionsContract(PluginContract):
    """The promises of a plugin about its options."""

    @pytest.fixture
    def options_class(self, found: EntryPoint, record: Any, plugins: Plugins) -> type:
        """The class of the plugin's options."""
        if record.options is None:
            pytest.skip("it has no options")
        cls = plugins.attribute(found.group, found.name, record.options)
        assert isinstance(cls, type) and is_dataclass(cls), "its options are not a dataclass"
        return cls

    def test_every_option_has_a_default(self, options_class: Any) -> None:
        """The plugin works without configuration, and its options are immutable."""
        without = [
            camel(each.name)
            for each in fields(options_class)
            if each.init and each.default is MISSING and each.default_factory is MISSING
        ]
        assert not without, f"without a default: {', '.join(without)}"
        assert options_class.__dataclass_params__.frozen, "the class of the options is not frozen"

    def test_options_refuse_what_they_do_not_know(self, options_class: Any) -> None:
        """An unknown key and a value of a wrong type are configuration errors that name the key."""
        _refused(options_class, {"noSuchOption": 1}, "noSuchOption")
        for each in fields(options_class):
            if each.init:
                _refused(options_class, {camel(each.name): float("nan")}, camel(each.name))


class CalledPluginContract(PluginWithOptionsContract):
    """A plugin that the engine creates and calls; the fixture named as its kind gives its name."""

    @pytest.fixture
    def options(self) -> Mapping[str, Any]:
        """The plugin's options, as in the configuration."""
        return {}

    @pytest.fixture
    def create(
        self, plugins: Plugins, plugin_name: str, options: Mapping[str, Any], tmp_path: Path
    ) -> Callable[[], tuple[Any, Any]]:
        """Creates the plugin as the engine does; returns it with the record of its options."""
        spec = plugins.record(self.group, plugin_name)
        factory = plugins.attribute(self.group, plugin_name, spec.factory)
        record = None
        if spec.options is not None:
            cls = plugins.attribute(self.group, plugin_name, spec.options)
            record = read_options(cls, options, where="options")
        context = AgentContext(name=plugin_name, state_dir=str(tmp_path / "state"))
        return lambda: (factory(record, context), record)


def check_usage(usage: Usage) -> None:
    """Check that it is a `Usage` without a negative number; unknown ones are None."""
    assert isinstance(usage, Usage), f"the usage is {usage!r}"
    numbers = {name: getattr(usage, name) for _, name in FIELDS}
    wrong = [name for name, value in numbers.items() if value is not None and value < 0]
    assert not wrong, f"below 0: {', '.join(wrong)}"


def _refused(cls: Any, mapping: Mapping[str, Any], key: str) -> None:
    try:
        options = read_options(cls, mapping, where="options")
    except ConfigError as error:
        assert key in str(error.where), f"the error does not name {key}: {error}"
    else:
        pytest.fail(f"{dict(mapping)} is taken: {options!r}")
