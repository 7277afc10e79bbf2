"""Call the code of a plugin that takes part in one command."""

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from uwf_core.errors import InternalFailure, UwfError
from uwf_core.plugins.plugins import NOUNS

if TYPE_CHECKING:
    from uwf_core.plugins.plugins import Plugins
    from uwf_core.plugins.scan import EntryPoint

_Result = TypeVar("_Result")


def call_plugin(plugins: "Plugins", found: "EntryPoint", code: Callable[[], _Result]) -> _Result:
    """The result of plugin code, which cannot write to our stdout or end the process.

    Raises:
        UwfError: as the plugin raised it.
        InternalFailure: it raised another error.
    """
    try:
        with plugins.guard:
            return code()
    except (KeyboardInterrupt, UwfError):
        raise
    except BaseException as fault:
        raise InternalFailure(
            f"the {NOUNS[found.group]} {found} failed with {type(fault).__name__}: {fault}".rstrip(
                ": "
            ),
            hint="report it to its author with the traceback that --debug prints",
        ) from fault
