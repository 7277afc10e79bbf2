"""Ask the person through the editor: for permission, or by a form."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

from uwf_agent_acp.protocol.errors import Abandoned, AcpError
from uwf_agent_acp.server.questions import (
    STATUS,
    fields_request,
    permission_options,
    permission_params,
    status_request,
    texts_of_content,
)
from uwf_core.client import answer_of, form_of

if TYPE_CHECKING:
    from uwf_agent_acp.server.updates import Update
    from uwf_core.client import InboxItem

Answer = str | Mapping[str, Any]


class Editor(Protocol):
    """The editor, as a session sees it."""

    @property
    def can_elicit(self) -> bool:
        """Whether it shows forms."""

    def update(self, update: "Update") -> None:
        """Show something. Called by any thread."""

    def ask(self, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """Ask the person something; raises AcpError, which is Abandoned after a cancel."""


def ask_permission(editor: Editor, item: "InboxItem") -> Answer | None:
    """The person's decision about what an agent wants to do; None if it is another question, or the
    editor does not decide.
    """
    options = permission_options(item["form"] or {})
    if options is None:
        return None
    try:
        answer = editor.ask("session/request_permission", permission_params(item, options))
    except Abandoned:
        raise
    except AcpError:
        return None
    outcome = answer.get("outcome")
    chosen = outcome.get("optionId") if isinstance(outcome, Mapping) else None
    known = {each["optionId"] for each in options}
    return {"decision": chosen} if isinstance(chosen, str) and chosen in known else None


def ask_form(
    editor: Editor, message: str, schema: Mapping[str, Any], problem: str = ""
) -> Answer | None:
    """The answer to a form: first a status, then the fields that belong to it. None if the editor
    shows no forms, or the person does not answer.

    Args:
        message: the question. schema: of the answer.
        problem: what is wrong with the answer before.
    """
    if not editor.can_elicit or permission_options(schema) is not None:
        return None
    form = form_of(schema)
    message = "\n\n".join(filter(None, (message, problem)))
    try:
        status, first = form["variants"][0]["status"], status_request(form)
        if first is not None:
            chosen = _form(editor, message, first)
            status = None if chosen is None else str(chosen.get(STATUS))
        variant = next((each for each in form["variants"] if each["status"] == status), None)
        if variant is None:
            return None
        wanted = fields_request(variant)
        content = {} if wanted is None else _form(editor, message, wanted)
    except Abandoned:
        raise
    except AcpError:
        return None
    if content is None:
        return None
    return answer_of(schema, status, texts_of_content(variant, content))


def _form(editor: Editor, message: str, schema: Mapping[str, Any]) -> Mapping[str, Any] | None:
    params = {"mode": "form", "message": message, "requestedSchema": schema}
    answer = editor.ask("elicitation/create", params)
    content = answer.get("content")
    is_given = answer.get("action") == "accept" and isinstance(content, Mapping)
    return content if is_given else None
