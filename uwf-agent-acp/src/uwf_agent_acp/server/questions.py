"""A pending question as the protocol can ask it: a permission, a form, or a message. Pure.

Sources: https://agentclientprotocol.com/protocol/tool-calls#requesting-permission and
https://agentclientprotocol.com/rfds/elicitation (form mode).
"""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from uwf_agent_acp.server.answers import only_field
from uwf_core.api import decisions_of
from uwf_core.api.permission import FIELD

if TYPE_CHECKING:
    from uwf_core.client import FormDocument, FormField, FormVariant, InboxItem

STATUS = "$status"
_OPTIONS = {
    "allow": ("Allow", "allow_once"),
    "once": ("Allow once", "allow_once"),
    "step": ("Allow in this step", "allow_always"),
    "always": ("Allow always", "allow_always"),
    "deny": ("Deny", "reject_once"),
    "never": ("Never allow", "reject_always"),
}


def permission_options(form: Mapping[str, Any]) -> list[dict[str, str]] | None:
    """The options of a request for permission; None if the form asks for something else."""
    decisions = decisions_of(form)
    if decisions is None:
        return None
    return [
        {"optionId": each, "name": _OPTIONS[each][0], "kind": _OPTIONS[each][1]}
        for each in decisions
    ]


def permission_params(item: "InboxItem", options: list[dict[str, str]]) -> dict[str, Any]:
    """The params of `session/request_permission` but the session."""
    call: dict[str, Any] = {
        "toolCallId": f"{item['thread']}/{item['head']}",
        "title": f"{item['role']}: {item['message']}",
        "kind": "other",
        "status": "pending",
    }
    about = ((item["form"] or {}).get("properties") or {}).get(FIELD, {}).get("description")
    if about:  # the kind and arguments of the tool that an agent asks for
        call["content"] = [{"type": "content", "content": {"type": "text", "text": about}}]
    return {"toolCall": call, "options": options}


# -- elicitation -----------------------------------------------------------------------------------


def status_request(form: "FormDocument") -> dict[str, Any] | None:
    """The schema that asks which status; None if there is only one way to answer."""
    names = [each["status"] for each in form["variants"]]
    if len(names) < 2:
        return None
    field = {"type": "string", "title": "Decision", "enum": names}
    return {"type": "object", "properties": {STATUS: field}, "required": [STATUS]}


def fields_request(variant: "FormVariant") -> dict[str, Any] | None:
    """The schema that asks for the fields of a variant, all of them flat: what is nested is a text
    with JSON. None if it has no fields.
    """
    fields = variant["fields"]
    if not fields:
        return None
    return {
        "type": "object",
        "properties": {_name(each): _property(each) for each in fields},
        "required": [_name(each) for each in fields if each["required"]],
    }


def texts_of_content(variant: "FormVariant", content: Any) -> dict[str, list[str]]:
    """What was entered, as texts by field, for `uwf_core.client.answer_of`."""
    given = content if isinstance(content, Mapping) else {}
    return {
        each["name"]: _texts(given[_name(each)])
        for each in variant["fields"]
        if given.get(_name(each)) is not None
    }


WHOLE = "answer"
"""The name of the field for a whole answer, which is called "" in a form."""


def _name(field: "FormField") -> str:
    return field["name"] or WHOLE


def _texts(value: Any) -> list[str]:
    values = value if isinstance(value, list) else [value]
    return [each if isinstance(each, str) else json.dumps(each) for each in values]


def _property(field: "FormField") -> dict[str, Any]:
    about = _about(field)
    shown: dict[str, Any] = {"title": field["label"] or "Answer"}
    kind, choices = field["kind"], [_choice(each) for each in field["choices"] or ()]
    match kind:
        case "boolean" | "integer" | "number":
            shown["type"] = kind
        case "choice":
            shown |= {"type": "string", "enum": choices}
        case "choices":
            shown |= {"type": "array", "items": {"type": "string", "enum": choices}}
        case _:
            shown["type"] = "string"
            how = {"json": "Write JSON", "list": "One a line", "file": "The path of a file"}
            about = ". ".join(filter(None, (about, how.get(kind, ""))))
    return shown | ({"description": about} if about else {})


def _choice(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


# -- a message -------------------------------------------------------------------------------------


def question_text(question: str, form: "FormDocument") -> str:
    """The question, and how to answer it in a message."""
    ways = "\n".join(f"- {_way(each)}" for each in form["variants"])
    return f"{question}\n\nAnswer with:\n{ways}"


def _way(variant: "FormVariant") -> str:
    status, fields, lone = variant["status"], variant["fields"], only_field(variant)
    required = [each for each in fields if each["required"]]
    if lone is not None:
        prefix = f"{status}: " if status else ""
        return f"`{prefix}<{lone['name']}>`{_facts(lone)}" + _others(fields, [lone])
    if not required and status:
        return f"`{status}`" + _others(fields, [])
    if [each["name"] for each in fields] == [""]:
        return "a JSON object"
    lines = [f"$status={status}"] if status else []
    lines += [f"{each['name']}=…" for each in required]
    notes = "; ".join(f"`{each['name']}`{_facts(each)}" for each in required)
    return f"a line for each: `{'`, `'.join(lines)}` ({notes})" + _others(fields, required)


def _others(fields: "list[FormField]", named: "list[FormField]") -> str:
    left = [f"`{each['name']}={_placeholder(each)}`" for each in fields if each not in named]
    return f"; optional, in lines with all fields named: {', '.join(left)}" if left else ""


def _placeholder(field: "FormField") -> str:
    return "|".join(map(_choice, field["choices"])) if field["choices"] else "…"


def _facts(field: "FormField") -> str:
    about = _about(field)
    return f" ({about})" if about else ""


def _about(field: "FormField") -> str:
    return ". ".join(filter(None, (field["description"].rstrip(". "), field["facts"])))
