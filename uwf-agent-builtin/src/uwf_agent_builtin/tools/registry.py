"""The tools of one call: built-in ones and those of plugins, restricted by the role."""

from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

from uwf_agent_builtin.options import BuiltinOptions
from uwf_agent_builtin.schemas import problems
from uwf_agent_builtin.tools.command import RUN_COMMAND
from uwf_agent_builtin.tools.errors import ToolError
from uwf_agent_builtin.tools.fetch import FETCH_URL
from uwf_agent_builtin.tools.files import EDIT_FILE, READ_FILE, WRITE_FILE
from uwf_agent_builtin.tools.folders import LIST_FILES
from uwf_agent_builtin.tools.grep import GREP
from uwf_agent_builtin.tools.record import BuiltinTool, CallContext, ImageAnswer, offered_schema
from uwf_core.api import AgentFailure, AgentInterrupted, LoadedTool, NeedsAnswer, ToolContext
from uwf_llm.chat import ChatTool, Image
from uwf_llm.sendable import safe_name

READING = (READ_FILE, LIST_FILES, GREP)
BUILTIN_TOOLS = (READ_FILE, WRITE_FILE, EDIT_FILE, LIST_FILES, GREP, RUN_COMMAND, FETCH_URL)
RESOLVE = "resolve"
SERVER_PREFIX = "mcp__"
"""The names of the tools of servers begin with it: `mcp__<server>__<tool>`."""
ANSWER_CHARACTERS = 200_000
_SHOWN = 200


class Answered(NamedTuple):
    """The answer to a call; `denied` is the reason if it was not allowed."""

    text: str
    is_error: bool = False
    denied: str | None = None
    image: Image | None = None


class Registry:
    """The tools that may be called, by their names.

    Args:
        options: what the user allows.
        plugins: the tools of plugins; one with the name of another one is left out.
        narrowed: what the role may use; None is everything.
        servers: the tools of servers, of those that the role may use.

    Attributes:
        foreign: the names of the tools of plugins and servers that may be called.
        problems: what is odd about the tools, for people.
    """

    def __init__(
        self,
        options: BuiltinOptions,
        plugins: Sequence[LoadedTool] = (),
        narrowed: Sequence[str] | None = None,
        servers: Sequence[BuiltinTool] = (),
    ) -> None:
        self._withheld: dict[str, str] = {}
        self._tools: dict[str, BuiltinTool] = {}
        self.problems: list[str] = []
        others = [*self._of_plugins(plugins), *servers]
        allowed = None if narrowed is None else {safe_name(name) for name in narrowed}
        for tool in (*BUILTIN_TOOLS, *others):
            why = _withheld(tool.name, options, allowed)
            if why is None:
                self._tools[tool.name] = tool
            else:
                self._withheld[tool.name] = why
        self.foreign = tuple(each.name for each in others if each.name in self._tools)
        known = {*self._tools, *self._withheld, RESOLVE}
        self.problems += [
            f"this role may use the tool {name!r}, and there is none of that name"
            for name in narrowed or ()
            if safe_name(name) not in known
        ]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the tools that may be called."""
        return tuple(sorted(self._tools))

    def offered(self) -> tuple[ChatTool, ...]:
        """The tools as sent to the model."""
        return tuple(
            ChatTool(
                name=each.name,
                description=each.description,
                parameters=offered_schema(each.parameters)
                if each in BUILTIN_TOOLS
                else each.parameters,
            )
            for each in self._tools.values()
        )

    def call(self, name: str, arguments: dict[str, Any], context: CallContext) -> Answered:
        """Call a tool; whatever goes wrong in it is an answer.

        Raises:
            AgentInterrupted: the run is stopped. NeedsAnswer: a person must decide.
        """
        tool = self._tools.get(name)
        if tool is None:
            return self._unknown(name)
        wrong = problems(tool.parameters, arguments)
        if wrong:
            told = "\n".join(wrong)
            return Answered(f"the arguments of {name} are wrong; nothing was done:\n{told}", True)
        try:
            answer = tool.run(arguments, context)
        except ToolError as fault:
            return Answered(str(fault), True)
        except (AgentInterrupted, NeedsAnswer):
            raise
        except AgentFailure as fault:
            return Answered(fault.message, True)
        except Exception as fault:  # of a plugin's tool or our own: answer the model
            return Answered(f"{name} failed: {type(fault).__name__}: {fault}", True)
        if isinstance(answer, ImageAnswer):
            return Answered(answer.text, image=answer.image)
        if len(answer) > ANSWER_CHARACTERS:
            answer = f"{answer[:ANSWER_CHARACTERS]}\n[… cut at {ANSWER_CHARACTERS} characters]"
        return Answered(answer or "[nothing]")

    def _unknown(self, name: str) -> Answered:
        there, name = ", ".join(self.names) or "none", name[:_SHOWN]
        why = self._withheld.get(name)
        if why is None:
            return Answered(f"there is no tool {name!r}; there are: {there}", True)
        return Answered(f"{name} is not allowed: {why}; there are: {there}", True, f"{name}: {why}")

    def _of_plugins(self, plugins: Sequence[LoadedTool]) -> list[BuiltinTool]:
        taken, tools = {RESOLVE, *(each.name for each in BUILTIN_TOOLS)}, []
        for loaded in plugins:
            spec, name = loaded.spec, safe_name(loaded.spec.name)
            if name in taken or name.startswith(SERVER_PREFIX):
                self.problems.append(f"the tool {spec.name!r} of a plugin has a name that is taken")
                continue
            taken.add(name)
            run = _plugin_run(loaded)
            tools.append(BuiltinTool(name, spec.description, spec.parameters, run))
        return tools


def _withheld(name: str, options: BuiltinOptions, narrowed: Collection[str] | None) -> str | None:
    """Why a tool may not be used."""
    if narrowed is not None and name not in narrowed:
        return "this role is narrowed to other tools"
    if name == RUN_COMMAND.name and not options.allow_shell:
        return "commands need the option allowShell of the agent"
    if name == FETCH_URL.name and not options.fetch:
        return "the option `fetch` of the agent is off"
    return None


def _plugin_run(loaded: LoadedTool) -> Callable[[Any, CallContext], str]:
    def run(arguments: Any, context: CallContext) -> str:
        call = context.call
        plain = ToolContext(cwd=context.workspace.root, env=call.env, cancel=call.cancel)
        answer = loaded.tool(arguments, plain)
        if not isinstance(answer, str):
            raise ToolError(f"the tool returned {type(answer).__name__}, not text")
        return answer

    return run
