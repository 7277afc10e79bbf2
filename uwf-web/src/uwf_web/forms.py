"""What a browser sends with a form: names and texts. `uwf_core.client` types those of a schema."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple
from urllib.parse import parse_qsl

from uwf_core.errors import UsageError

MOST_BYTES = 1024 * 1024
"""The largest form: a long text."""
MOST_FIELDS = 500
PREFIX = "field."
"""Before the names of a schema's fields, which could otherwise equal a name that every form has."""


class SentForm(NamedTuple):
    """A form that was sent.

    Attributes:
        words: the value of each name; of a repeated one the last.
        fields: the texts of each field of a schema, by its name.
    """

    words: Mapping[str, str]
    fields: Mapping[str, Sequence[str]]


def parse_form(body: bytes) -> SentForm:
    """The values of a form.

    Raises:
        UsageError: it is not a form, or has too many fields.
    """
    try:
        pairs = parse_qsl(
            body.decode("ascii"), keep_blank_values=True, max_num_fields=MOST_FIELDS,
            errors="strict",
        )  # fmt: skip
    except ValueError as error:
        raise UsageError("this is not a form that a page has sent") from error
    fields: dict[str, list[str]] = {}
    for name, value in pairs:
        if name.startswith(PREFIX):
            fields.setdefault(name[len(PREFIX) :], []).append(value.replace("\r\n", "\n"))
    return SentForm(dict(pairs), fields)
