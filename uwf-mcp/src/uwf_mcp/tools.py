"""The tools, made from the table of operations: what a client sees of them, and their calls."""

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import make_dataclass
from inspect import Parameter, signature
from typing import Annotated, Any, Final, Literal, TypedDict

from uwf_core.client import Cancel, Client, ExecDocument
from uwf_core.config.trust import is_command_line
from uwf_core.errors import UsageError, UwfError
from uwf_core.fields.mismatch import NOT_BLANK, above, between
from uwf_core.fields.records import read_options, shape_of
from uwf_core.operations.kinds import LARGEST
from uwf_core.operations.plugin_rows import tool_rows
from uwf_core.operations.rows import function_of
from uwf_core.thread.limits import WORDS
from uwf_core.thread.names import STATUSES
from uwf_core.workflow.discover import is_path
from uwf_mcp.calls import OWN

_EMPTY: Final = Parameter.empty
_OFFSET: Final = (
    "offset",
    Annotated[int, between(0, 2**31), "Where to begin: `nextOffset` of the previous page."],
    0,
)
_KINDS: Final = {
    "fields": "The typed input, if the workflow has one.",
    "answer": "Fields that satisfy `form`, if it has one.",
    "binding": "The agent that plays the roles, by its name.",
    "dir": "Where the agents work, in this server's folder.",
    "status": f"Only these, with commas: {', '.join(STATUSES)}; `active` is idle or running.",
}
"""What a model reads about kinds of arguments in place of their help."""
_WITHOUT_HELP: Final = {
    "thread": "A thread: its id, a unique prefix of it, or @last.",
    "step": "A step: its id, a unique prefix of it, or @last.",
    "workflow": "A name of `workflows`, or a file in this server's folder.",
}


class ServedTool:
    """A tool.

    Attributes:
        name, text, permission: as `Tool` has them. command: of the operation.
        uses_agent: whether an agent works for the call.
        is_run: whether the answer has an exit code.
        pages: the list or text of the document that comes in pages; "" for none.
        arguments: the class that is the input schema, and reads what a client gives.
        document: the type of the document in the answer.
    """

    def __init__(self, operation: Mapping[str, Any], tool: Mapping[str, Any]) -> None:
        self.name, self.text, self.permission = tool["name"], tool["text"], tool["permission"]
        self.command = f"uwf {operation['path'].replace('.', ' ')}"
        self.uses_agent = operation["permission"] == "run"
        self.is_run = operation["returns"] == "Outcome"
        self.pages, self._key = tool.get("pages", ""), operation.get("key", "")
        self.document = _document(operation, tool)
        method = getattr(Client, tool.get("client") or tool["name"], None)
        self._function = OWN.get(self.name) or method or function_of(operation["target"])
        self._names = signature(self._function).parameters
        rows = [*operation["arguments"], *tool.get("arguments", ())]
        self._taken = [row for row in rows if row["name"] in tool.get("takes", ())]
        fields = [self._field(row) for row in self._taken]
        fields += [_OFFSET] if self.pages else []
        self.arguments: Any = make_dataclass("Arguments", fields, kw_only=True)

    def _field(self, row: Mapping[str, Any]) -> tuple[Any, ...]:
        """A field of the class of arguments, with the default of what the tool calls."""
        name, kind = row["name"], _type(row)
        default = row.get(
            "default", _EMPTY if row.get("required") else False if kind is bool else None
        )
        if name in self._names:
            default = self._names[name].default
        if name == "until_done":
            default = True
        rules = [NOT_BLANK] if kind is str and default is _EMPTY else []
        if "least" in row:
            most = row.get("most", LARGEST)
            rules = [above(row["least"]) if row.get("open") else between(row["least"], most)]
        words = row.get("words", row.get("kind", ""))
        about = _KINDS.get(words) or row.get("help") or _WITHOUT_HELP.get(words, "")
        typed: Any = Annotated[(kind if default is not None else kind | None, *rules, about)]
        return (name, typed, *([] if default is _EMPTY else [default]))

    def call(self, uwf: Client, read: Any, cancel: Cancel) -> Any:
        """The result of a call: the document, or the outcome of a run.

        Raises:
            UsageError: an argument names what is not in this server's folder.
        """
        context: dict[str, Any] = {
            "self": uwf,
            "client": uwf,
            "cancel": cancel,
            "offset": getattr(read, "offset", 0),
        }
        found = {name: each for name, each in context.items() if name in self._names}
        for row in self._taken:
            value = getattr(read, row["name"])
            if value is not None and "into" in row:
                word = WORDS[row["name"].removeprefix("max_")]
                found.setdefault(row["into"], {})[word] = value
            elif value is not None:
                found[row["name"]] = _named(uwf, row, value)
        if self.is_run and self.permission != "read":
            found["background"] = True
        try:
            result = self._function(**found)
        except UwfError as fault:
            self._translate(fault)
            raise
        if not self._key:
            return result
        more = {"characters": len(result)} if isinstance(result, str) else {}
        return {self._key: result, **more}

    def read(self, given: Mapping[str, Any]) -> Any:
        """The arguments. Raises UsageError."""
        try:
            return read_options(self.arguments, given, where="arguments", error=UsageError)
        except UsageError as fault:
            name = (fault.where or "").split(" -> ")[1]
            fault.hint = fault.hint or self._cure(name)
            raise

    def _cure(self, name: str) -> str:
        schema = shape_of(self.arguments).schema()["properties"][name]
        return f"the schema of `{name}`: {json.dumps(schema, ensure_ascii=False)}"

    def _translate(self, fault: UwfError) -> None:
        """Let an error name the arguments and tools for what it calls options and commands."""
        words = {each.command: each.name for each in allowed_tools(()).values()}
        for row in self._taken:
            for option in row.get("options", ()):
                words[option] = row["name"]
                if re.search(rf"uwf [^;`]*{option}(?![\w-])", fault.hint or ""):
                    fault.hint = self._cure(row["name"])
        for word, name in words.items():
            known = rf"(?<![\w-]){word}(?![\w-])"
            for part in ("message", "where", "hint"):
                text = getattr(fault, part) or ""
                text = re.sub(rf"{known} (\S+)=(\S+)", rf'{name} {{"\1": \2}}', text)
                text = re.sub(known, name, text).replace(f"}} {name} {{", ", ")
                setattr(fault, part, text or None)

    def schema(self) -> dict[str, Any]:
        """The JSON Schema of an answer."""
        properties: dict[str, Any] = {
            "about": {"type": "string"},
            "recorded": shape_of(self.document).schema(),
            "cut": {"type": "boolean", "description": "Long texts or lists in it were shortened."},
            "nextOffset": {"type": ["integer", "null"], "description": "The `offset` of the rest."},
            "notices": {"type": "array", "items": {"type": "string"}},
        }
        if self.is_run:
            properties["exitCode"] = {"type": "integer", "description": "That of the command."}
        return {"type": "object", "properties": properties, "required": list(properties)}


def _document(operation: Mapping[str, Any], tool: Mapping[str, Any]) -> Any:
    """The type of the document in an answer."""
    returns, key = operation["returns"], operation.get("key")
    if returns == "Outcome":
        return ExecDocument
    kind: Any = str if returns == "str" else Mapping[str, Any]
    if "document" in tool:
        kind = function_of(tool["document"])
    kind = list[kind] if returns.startswith("Sequence") else kind
    more = {"characters": int} if kind is str else {}
    return TypedDict("Document", {key: kind, **more}) if key else kind  # type: ignore


def _type(row: Mapping[str, Any]) -> Any:
    """The type of an argument."""
    if row.get("kind") in ("fields", "answer"):
        return Mapping[str, Any]
    if "choices" in row:
        return Literal[tuple(row["choices"])]
    return bool if row.get("flag") else {"int": int, "float": float}.get(row.get("type", ""), str)


def _named(uwf: Client, row: Mapping[str, Any], value: Any) -> Any:
    """What an argument names: files and folders inside, and agents by their names."""
    kind = row.get("words")
    if kind == "dir":
        return uwf.place(value, "folder")
    if kind == "file" or (kind == "workflow" and is_path(value)):
        return uwf.place(value, "workflow file")
    if kind == "binding" and is_command_line(value):
        raise UsageError(
            "the agent must be a name, not a command line",
            where=row["name"],
            hint="a person can configure it: uwf config set agents.NAME.command PROGRAM",
        )
    return value


TOOLS: Final = {tool["name"]: ServedTool(operation, tool) for operation, tool in tool_rows()}


def allowed_tools(allowed: Collection[str]) -> dict[str, ServedTool]:
    """The tools of a server that allows this besides reading."""
    return {name: each for name, each in TOOLS.items() if each.permission in ("read", *allowed)}
