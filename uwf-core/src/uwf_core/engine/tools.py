"""The tools of plugins, for agents whose loop is their own."""

from typing import TYPE_CHECKING

from uwf_core.errors import UwfError
from uwf_core.plugins.plugins import Status
from uwf_core.plugins.scan import TOOLS

if TYPE_CHECKING:
    from uwf_core.api.tool import LoadedTool
    from uwf_core.engine.engine import Engine


def plugin_tools(engine: "Engine") -> "tuple[LoadedTool, ...]":
    """Every tool that can be loaded, in the order of their plugins' names.

    One that cannot is reported and left out: it is not what the step was asked for.
    """
    from uwf_core.api.tool import LoadedTool

    plugins, loaded = engine.plugins, list[LoadedTool]()
    for plugin in plugins.list((TOOLS,)):
        name = plugin.found.name
        if plugin.status is Status.BLOCKED:
            continue
        try:
            for spec in plugins.load(TOOLS, name):
                factory = plugins.attribute(TOOLS, name, spec.factory)
                loaded.append(LoadedTool(spec=spec, tool=factory()))
        except UwfError as fault:
            engine.report_fault(fault)
        except Exception as fault:  # of the plugin's own factory
            engine.report_fault(
                f"the tool {name!r} cannot be made: {type(fault).__name__}: {fault}"
            )
    return tuple(loaded)
