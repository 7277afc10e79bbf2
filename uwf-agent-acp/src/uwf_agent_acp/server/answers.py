"""What a person writes to a pending question, read as an answer. Pure.

Whether it satisfies the schema of the question is checked where it is stored.
"""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from uwf_core.client import answer_of, form_of

if TYPE_CHECKING:
    from uwf_core.client import FormField, FormVariant

_FIELD = re.compile(r"[$\w.-]+=")
_AFTER_STATUS = re.compile(r"[\s:,]+")
_TEXTS = ("line", "text", "choice", "boolean", "integer", "number", "list", "choices", "file")


class Misunderstood(Exception):
    """A text that is not an answer to the form; the message has the reason."""


def answer_of_text(text: str, form: Mapping[str, Any]) -> str | dict[str, Any]:
    """The answer in a text: JSON or lines `field=value` unchanged; else the name of a status, with
    the text of its one field after it; else the text is the one field that there is.

    Raises:
        Misunderstood: it is none of these.
        PayloadError: a value is not one of its field.
    """
    said = text.strip()
    if said.startswith("{") or _FIELD.match(said):
        return said
    variants = form_of(form)["variants"]
    for variant in sorted(variants, key=lambda each: -len(each["status"] or "")):
        rest = _after(said, variant["status"])
        if rest is not None:
            return answer_of(form, variant["status"], _texts(variant, rest))
    if len(variants) > 1:
        names = ", ".join(f"`{each['status']}`" for each in variants)
        raise Misunderstood(f"It does not begin with one of: {names}.")
    return answer_of(form, variants[0]["status"], _texts(variants[0], said))


def only_field(variant: "FormVariant") -> "FormField | None":
    """The field that a text without its name belongs to: the one that is required, or the only
    one; None if there is none, or it is not written as text.
    """
    fields = variant["fields"]
    required = [each for each in fields if each["required"]]
    found = required if required else fields
    return found[0] if len(found) == 1 and found[0]["kind"] in _TEXTS else None


def _after(said: str, status: str | None) -> str | None:
    """What follows the name of a status; None if the text does not begin with it."""
    if status is None or not said.casefold().startswith(status.casefold()):
        return None
    rest = said[len(status) :]
    separator = _AFTER_STATUS.match(rest)
    return "" if not rest.strip(".!") else rest[separator.end() :] if separator else None


def _texts(variant: "FormVariant", said: str) -> dict[str, list[str]]:
    if not said:
        return {}
    field = only_field(variant)
    if field is None:
        names = ", ".join(f"`{each['name']}`" for each in variant["fields"])
        of = f" of `{variant['status']}`" if variant["status"] else ""
        raise Misunderstood(
            f"Name the fields{of}: {names}." if names else f"Nothing follows the answer{of}."
        )
    return {field["name"]: [said]}
