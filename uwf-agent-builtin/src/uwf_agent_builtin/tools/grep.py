"""grep: search in a separate process, see search.py."""

import json
from dataclasses import replace

from uwf_agent_builtin.tools.errors import ToolError
from uwf_agent_builtin.tools.record import Arguments, BuiltinTool, CallContext, cut, parameters
from uwf_core.api import End, own_python

SECONDS = 30.0
_CHARACTERS = 40_000


def grep(arguments: Arguments, context: CallContext) -> str:
    """The lines that match, as `path:number: line`."""
    request = {
        "path": ".",
        **arguments,
        "root": context.workspace.root,
        "deny": context.options.deny,
        "own": context.workspace.protection.own,
    }
    seconds = min(SECONDS, max(0.1, context.seconds_left()))
    limits = replace(context.call.limits, seconds=seconds, idle_seconds=None)
    result = replace(context.call, limits=limits).run_program(
        own_python("uwf_agent_builtin.tools.search"),
        stdin=json.dumps(request).encode(),
    )
    if result.end is End.TIMED_OUT:
        raise ToolError(
            f"the search was not done within {seconds:g} s; take a simpler pattern or fewer files"
        )
    try:
        document = json.loads(result.stdout)
    except ValueError as fault:
        words = result.stderr.decode("utf-8", "replace")[-500:]
        raise ToolError(f"the search ended without a result: {words}") from fault
    if "error" in document:
        raise ToolError(document["error"])
    return cut(document["text"], _CHARACTERS, "matches")


GREP = BuiltinTool(
    "grep",
    "Find lines by a Python regex in a file or folder, without what .gitignore names.",
    parameters(
        ("pattern",),
        pattern={"type": "string"},
        path={"type": "string"},
        glob={"type": "string"},
        ignore_case={"type": "boolean"},
        literal={"type": "boolean"},
        context={"type": "integer", "minimum": 0, "maximum": 20},
    ),
    grep,
)
