"""What people do: each action is a form of a page, calls one method of the client, and leads on."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from uwf_core.errors import UsageError
from uwf_web import editing
from uwf_web.page import Shown

if TYPE_CHECKING:
    from uwf_core.client import Client


class Act(NamedTuple):
    """What an action is made from: a client, the parts of the path, the values of the form, and the
    texts of the fields of a schema.
    """

    client: "Client"
    path: Mapping[str, str]
    form: Mapping[str, str]
    fields: Mapping[str, Sequence[str]]

    @property
    def thread(self) -> str:
        """The thread of the path."""
        return self.path["thread"]

    @property
    def head(self) -> str:
        """The head that the person saw.

        Raises:
            UsageError: the form names none.
        """
        head = self.form.get("head", "")
        if not head:
            raise UsageError("the form does not name the newest step", hint="load the page again")
        return head

    @property
    def text(self) -> str | None:
        """The text of the form, as it is: `@` and `-` mean nothing. None if it is blank."""
        given = self.form.get("text", "").replace("\r\n", "\n")
        return given if given.strip() else None

    @property
    def agent(self) -> str | None:
        """The agent that the form names: one of the page "Agents", never a command line, so that
        no form decides which program runs.

        Raises:
            UsageError: it is none of them.
        """
        named = self.form.get("agent", "").strip()
        if named and named not in {row["name"] for row in self.client.agents()}:
            raise UsageError(
                f"{named!r} is not an agent of this installation",
                hint="choose one of the page Agents; a command line needs a terminal",
            )
        return named or None


def exec_(act: Act) -> str:
    """Run the thread to its end, or one step."""
    until_done = act.form.get("steps") != "one"
    act.client.exec(
        act.thread, until_done=until_done, agent=act.agent, head=act.head, background=True
    )
    return f"/threads/{act.thread}"


def resume(act: Act) -> str:
    """Answer the pending question, or continue with a text, or grant more of a limit."""
    without = act.form.get("without") == "answer"
    form = act.client.show(act.thread)["form"]
    answer = None
    if form is not None:
        from uwf_core.client import answer_of

        answer = json.dumps(answer_of(form, act.form.get("status"), act.fields))
    act.client.resume(
        act.thread, None if without else act.text, answer=answer,
        grants=[grant] if (grant := act.form.get("grant")) else (), without_answer=without,
        until_done=True, agent=act.agent, head=act.head, background=True,
    )  # fmt: skip
    return f"/threads/{act.thread}"


def poke(act: Act) -> str:
    """Run the newest step again with a further instruction."""
    act.client.poke(act.thread, act.text or "", agent=act.agent, head=act.head, background=True)
    return f"/threads/{act.thread}"


def stop(act: Act) -> str:
    """Stop the run of the thread."""
    act.client.stop(act.thread, head=act.head)
    return f"/threads/{act.thread}"


def cancel(act: Act) -> str:
    """Cancel the thread permanently."""
    act.client.cancel(act.thread, head=act.head)
    return f"/threads/{act.thread}"


def fork(act: Act) -> str:
    """Start a new thread from a step."""
    return f"/threads/{act.client.fork(act.path['step'])['thread']}"


def start(act: Act) -> str:
    """Start a thread and run it to its end."""
    workflow = act.path["workflow"]
    folder = act.form.get("cwd", "")
    folders = known_folders(act.client)
    if folder not in folders:
        raise UsageError(
            f"threads cannot be started in {folder!r} here",
            hint="choose a folder of the list; `uwf config trust DIR` adds one",
        )
    schema = act.client.workflow(workflow).get("input")
    from uwf_core.client import answer_of

    started = act.client.start(
        workflow, act.text or "", cwd=folder, agent=act.agent,
        input=answer_of(schema, None, act.fields) if schema else None,
    )  # fmt: skip
    act.client.exec(started["thread"], until_done=True, background=True)
    return f"/threads/{started['thread']}"


def known_folders(client: "Client") -> list[str]:
    """The folders in which a thread may be started: the server's, those of existing threads and
    those that the user trusts.
    """
    from uwf_core.client import ThreadFilter

    rows = client.list(ThreadFilter(all=True, limit=RECENT))
    known = [str(client.folder), *client.trusted_folders, *(row["cwd"] for row in rows)]
    return list(dict.fromkeys(known))


RECENT = 200
"""Of so many threads the folders are offered."""


def ask(act: Act) -> Shown:
    """Ask the session of a past step."""
    answer = act.client.ask(act.path["step"], act.text or "", agent=act.agent)
    return Shown("answer.html", {"question": act.text, "answer": answer})


ACTIONS: Final[Mapping[str, Callable[[Act], str | Shown]]] = {
    "/threads/{thread}/exec": exec_,
    "/threads/{thread}/resume": resume,
    "/threads/{thread}/poke": poke,
    "/threads/{thread}/stop": stop,
    "/threads/{thread}/cancel": cancel,
    "/threads/{thread}/steps/{step}/fork": fork,
    "/threads/{thread}/steps/{step}/ask": ask,
    "/start/{workflow}": start,
    "/editor/check": editing.check,
    "/editor/check-live": editing.check_live,
    "/editor/save": editing.save,
}
"""The URLs that forms are sent to. Each returns the path of the next page, or what to show."""
