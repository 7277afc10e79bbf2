"""What people do: each action is a form of a page, calls an operation, and leads on.

The rows of the operation's arguments make the fields of the form and read what a person enters, as
they make and read the options of its command.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from uwf_core import client as uwf
from uwf_core.errors import UsageError
from uwf_core.operations.rows import own_rows
from uwf_web import editing
from uwf_web.page import Shown


class Act(NamedTuple):
    """What an action is made from: a client, the parts of the path, the values of the form, and the
    texts of the fields of a schema.
    """

    client: uwf.Client
    path: Mapping[str, str]
    form: Mapping[str, str]
    fields: Mapping[str, Sequence[str]]


class Action:
    """A form that calls an operation.

    Args:
        operation: its path; the method of the client has its last word.
        offers: the arguments that a person may give.
        always: the flags that are always set.
        template: shows the document; by default its thread is shown.
    """

    def __init__(self, operation: str, offers: str = "", always: str = "", template: str = ""):
        rows = {row["name"]: row for row in _OPERATIONS[operation]["arguments"]}
        self._operation, self._template = operation.split("."), template
        self._always = dict.fromkeys(always.split(), True)
        self._options = {name: row["options"][0] for name, row in rows.items() if "options" in row}
        self._rows = [rows[name] for name in offers.split()]

    def command(self, subject: str, head: str = "", **given: str | bool) -> str:
        """The command line that does the same; `…` is what a person enters."""
        known: dict[str, Any] = {row["name"]: "…" for row in self._rows if row.get("required")}
        known |= {**self._always, **given, "head": head}
        words = ["uwf", *self._operation, subject]
        for name, option in self._options.items():
            if value := known.get(name):
                words += [option] if value is True else [option, value]
        return " ".join(words)

    def fields(self, schema: Any = None, **own: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
        """The fields of the form, with those of a typed input or answer in its place.

        Args:
            schema: of the input or answer.
            own: what the page shows in place of the rows, by the names of the arguments.
        """
        for row in self._rows:
            if row.get("kind") in _SCHEMAS:
                for variant in uwf.form_of(schema)["variants"] if schema else ():
                    yield from variant["fields"]
                continue
            name = row["name"]
            yield {
                "input": name, "name": name, "kind": _kind(row), "default": None,
                "label": name.replace("_", " ").capitalize(), "required": row.get("required"),
                "description": "" if name in _CHOICES else row.get("help", ""),
                **own.get(name, {}),
            }  # fmt: skip

    def __call__(self, act: Act) -> str | Shown:
        """Call the operation with what the form has.

        Raises:
            UsageError: the form names no head, or a value that nobody may choose here.
        """
        *_, subject = act.path.values()
        entered = {row["name"]: _read(row, act, subject) for row in self._rows}
        given = {name: each for name, each in entered.items() if each is not None} | self._always
        if given.get("without_answer"):
            given.pop("text", None)
        if "head" in self._options:
            given["head"] = act.form.get("head")
            if not given["head"]:
                raise UsageError("the form names no newest step", hint="load the page again")
        result = getattr(act.client, self._operation[-1])(subject, **given)
        if error := getattr(result, "error", None):
            raise error
        document = getattr(result, "document", result)
        if self._template:
            return Shown(self._template, {"question": given["text"], "answer": document})
        return f"/threads/{document['thread']}"


def _kind(row: Mapping[str, Any]) -> str:
    """How an argument is entered, as the kinds of `FormField` say it."""
    if row.get("many") and row["name"] not in _CHOICES:
        return "list"
    return "boolean" if row.get("flag") else "text" if row.get("kind") == "text" else "line"


def _read(row: Mapping[str, Any], act: Act, subject: str) -> Any:
    """What a person entered for an argument; None for nothing. `@` and `-` mean nothing in it."""
    if find := _SCHEMAS.get(row.get("kind", "")):
        schema = find(act.client, subject)
        return uwf.answer_of(schema, act.form.get("status"), act.fields) if schema else None
    text = act.form.get(row["name"], "").replace("\r\n", "\n")
    if not text.strip() and row["name"] != "cwd":  # a form always names the folder
        return "" if row.get("required") else None
    if choice := _CHOICES.get(row["name"]):
        choices, refusal, hint = choice
        if (text := text.strip()) not in choices(act.client):
            raise UsageError(refusal.format(text), hint=hint)
    kind = _kind(row)
    if kind == "list":
        return [line for line in text.splitlines() if line.strip()]
    return text.strip() == "true" if kind == "boolean" else text


def known_folders(client: uwf.Client) -> list[str]:
    """The folders in which a thread may be started: the server's, those of existing threads and
    those that the user trusts.
    """
    rows = client.list(uwf.ThreadFilter(all=True, limit=RECENT))
    known = [str(client.folder), *client.trusted_folders, *(row["cwd"] for row in rows)]
    return list(dict.fromkeys(known))


RECENT = 200
"""Of so many threads the folders are offered."""
_OPERATIONS: Final = own_rows()["operations"]
_SCHEMAS: Final[Mapping[str, Callable[[uwf.Client, str], Any]]] = {
    "answer": lambda client, thread: client.show(thread)["form"],
    "fields": lambda client, workflow: client.workflow(workflow).get("input"),
}
"""Of kinds of arguments with a schema what has it."""
_CHOICES: Final[Mapping[str, tuple[Callable[[uwf.Client], list[str]], str, str]]] = {
    "agent": (
        lambda client: [row["name"] for row in client.agents()],  # never a command line
        "{!r} is not an agent of this installation",
        "choose one of the page Agents; a command line needs a terminal",
    ),
    "cwd": (
        known_folders,
        "threads cannot be started in {!r} here",
        "choose a folder of the list; `uwf config trust DIR` adds one",
    ),
}
"""Of arguments the values that a form may have, the refusal of others, and its hint."""

ACTIONS: Final[Mapping[str, Callable[[Act], str | Shown]]] = {
    "/start/{workflow}": Action("run", "prompt input cwd agent", "background"),
    "/threads/{thread}/exec": Action("thread.exec", "until_done agent", "background"),
    "/threads/{thread}/resume": Action(
        "thread.resume", "text answer grants without_answer agent", "until_done background"
    ),
    "/threads/{thread}/poke": Action("thread.poke", "text agent", "background"),
    "/threads/{thread}/stop": Action("thread.stop"),
    "/threads/{thread}/cancel": Action("thread.cancel"),
    "/threads/{thread}/steps/{step}/fork": Action("thread.fork"),
    "/threads/{thread}/steps/{step}/ask": Action("step.ask", "text agent", template="answer.html"),
    "/editor/check": editing.check,
    "/editor/check-live": editing.check_live,
    "/editor/save": editing.save,
}
"""The URLs that forms are sent to. Each returns the path of the next page, or what to show."""
FORMS: Final = {
    path.replace("/{workflow}", "").split("/")[-1]: each for path, each in ACTIONS.items()
}
"""The same by their names, for the templates."""
