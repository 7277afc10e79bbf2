"""The typed input of a new thread, checked before the thread exists."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from uwf_core.cas.codec import decode, encode
from uwf_core.cas.schemas import Violation
from uwf_core.errors import PayloadError, UsageError
from uwf_core.extract.typed import explained_violations, problem_words
from uwf_core.views.form import answer_options
from uwf_core.workflow.entered_fields import parse_fields, undeclared_fields
from uwf_core.workflow.lattice import alternatives, as_list

if TYPE_CHECKING:
    from uwf_core.api.redact import Redactor

_OPTION = "--input"


def checked_input(
    given: Mapping[str, Any] | str | None,
    schema: Mapping[str, Any] | None,
    workflow: str,
    redactor: "Redactor",
) -> dict[str, Any] | None:
    """The input as the thread stores it; None for a workflow without one.

    Args:
        given: the value, or a JSON object, or items `field=value`; None is an empty one.
        schema: that the workflow declares. workflow: its name, for messages.
        redactor: removes secrets.

    Raises:
        UsageError: the workflow has no typed input, or a secret cannot be removed from it.
        PayloadError: the input does not satisfy the schema.
    """
    if schema is None:
        if given is None:
            return None
        raise UsageError(
            f"the workflow {workflow} has no typed input",
            where=_OPTION,
            hint="give the task with -p, or declare `input:` at the top of the workflow",
        )
    value = parse_fields(given, schema, _OPTION) if isinstance(given, str) else given or {}
    _check(value, schema, workflow)
    cleaned: dict[str, Any] = redactor.value(value)
    if cleaned != value and explained_violations(schema, decode(encode(cleaned))):
        raise UsageError(
            "the input contains a secret in a field that cannot be redacted",
            where=_OPTION,
            hint="let the agents read the secret from the environment",
        )
    return cleaned


def check_stored(value: Any, schema: Mapping[str, Any], workflow: str) -> None:
    """Check the stored input of a thread against the schema of another workflow.

    Raises:
        PayloadError: it does not satisfy the schema.
    """
    _check({} if value is None else value, schema, workflow)


def _check(value: Mapping[str, Any], schema: Mapping[str, Any], workflow: str) -> None:
    unknown = undeclared_fields(schema, value, "the input")
    missing = [name for name in _required(schema) if name not in value]
    if missing:
        needed = {**schema, "required": missing}
        raise PayloadError(
            "; ".join(
                (
                    f"the workflow {workflow} requires the input {', '.join(missing)}",
                    *map(problem_words, unknown),
                )
            ),
            where=_OPTION,
            hint=f"add {answer_options(needed, _OPTION)[0]}",
        )
    try:
        found = explained_violations(schema, decode(encode(dict(value))))
    except PayloadError as error:
        found = [Violation(error.where or "", error.message)]
    found = [*unknown, *found]
    if found:
        words = "; ".join(map(problem_words, found))
        raise PayloadError(
            f"the input does not satisfy the schema of the workflow {workflow}: {words}",
            where=_OPTION,
            hint="the schema is `input` in: uwf workflow show WORKFLOW",
        )


def _required(schema: Mapping[str, Any]) -> list[str]:
    """The fields that every alternative requires."""
    each = [as_list(one.get("required")) for one in alternatives(schema)]
    return [name for name in (each[0] if each else ()) if all(name in one for one in each)]
