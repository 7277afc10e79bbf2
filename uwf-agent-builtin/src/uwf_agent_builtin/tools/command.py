"""run_command: a shell command, where the user has given leave."""

from dataclasses import replace

from uwf_agent_builtin.tools.errors import ToolError
from uwf_agent_builtin.tools.record import Arguments, BuiltinTool, CallContext, cut, parameters
from uwf_core.api import End

OUTPUT_CHARACTERS = 30_000
OUTPUT_BYTES = 32 * 1024 * 1024
_ENDS = {
    End.TIMED_OUT: "it was ended after {seconds:.0f} s, with everything that it had started",
    End.TOO_LARGE: f"it was ended because it printed more than {OUTPUT_BYTES} bytes",
    End.STALLED: "it was ended because it said nothing",
    End.CANCELLED: "it was ended because the run is stopped",
}


def run_command(arguments: Arguments, context: CallContext) -> str:
    """Run a command line with /bin/sh: what it prints, and how it ended unless it succeeded. Each
    result is sent again with each later request.
    """
    allowed, command = context.options.allow_shell, arguments["command"]
    if not allowed:
        raise ToolError("commands are not allowed here (the option allowShell)")
    if "\0" in command:
        raise ToolError("a command cannot hold a NUL")
    if allowed == "ask":
        assert context.permission is not None
        context.permission.require(command, f"role {context.call.role}")
    most = context.options.command_seconds
    seconds = max(0.1, min(arguments.get("timeout_seconds", most), most, context.seconds_left()))
    limits = replace(
        context.call.limits, seconds=seconds, idle_seconds=None, reply_bytes=OUTPUT_BYTES
    )
    # Errors in between what belongs to them, as on a terminal.
    script = f"exec 2>&1\n{command}"
    assert allowed != "sandbox" or context.sandbox
    argv = [*context.sandbox, "/bin/sh", "-c", script]
    result = replace(context.call, limits=limits).run_program(argv)
    output = result.stdout.decode("utf-8", "replace").replace("\0", "\ufffd")
    said = cut(output, OUTPUT_CHARACTERS, "output").rstrip("\n")
    how = _ENDS.get(result.end, "exit code {code}").format(
        seconds=result.duration_ms / 1000, code=result.exit_code
    )
    if not said:
        return f"[no output; {how}]"
    return said if result.end not in _ENDS and result.exit_code == 0 else f"{said}\n[{how}]"


RUN_COMMAND = BuiltinTool(
    "run_command",
    "Run a command with /bin/sh without input: its output, and its exit code unless 0. What it "
    "leaves running is ended.",
    parameters(
        ("command",),
        command={"type": "string"},
        timeout_seconds={"type": "number", "exclusiveMinimum": 0},
    ),
    run_command,
)
