"""The values of `--answer`, `--input` and `config set`: the schema decides the type of a text.

Fields come as a JSON object, or as items `field=value`. A text stays as it is where the schema
allows only text. Where it allows no text it is JSON or YAML (`5`, `[a, b]`, `{use: mock}`). Where
it allows both, it is JSON, or YAML in brackets or quotes, if that has an allowed type, else text.
"""

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from uwf_core.cas.inline import inline_refs
from uwf_core.errors import DefinitionError, PayloadError, UsageError
from uwf_core.fields.mismatch import not_a_field, short
from uwf_core.fields.records import without_doubles
from uwf_core.workflow.lattice import (
    alternatives,
    as_mapping,
    at,
    is_open,
    texts_of,
    type_of,
    types_of,
)
from uwf_core.workflow.variants import STATUS, role_variants
from uwf_core.yaml.nodes import YamlMapping, YamlNode, YamlScalar, YamlSequence, is_bad_number
from uwf_core.yaml.source import compose

if TYPE_CHECKING:
    from uwf_core.cas.schemas import Violation

_WRITE = "write field=value, a JSON object, or @file with one of these"


def typed_value(text: str, schema: Any) -> Any:
    """The value of a text; whether it satisfies the schema is not checked.

    Raises:
        DefinitionError: the schema allows no text, and it is not YAML.
    """
    allowed = types_of(schema)
    if allowed == {"string"}:
        return text
    try:
        value = json.loads(text, object_pairs_hook=without_doubles)
    except (ValueError, RecursionError):  # JSON is not quite a part of YAML: escapes, line ends
        if "string" not in allowed:
            return _yaml_value(text, schema)
        value = _quoted_value(text, schema)
    is_other = is_bad_number(value) or type_of(value) not in allowed
    return text if is_other and "string" in allowed else value


def field_value(text: str, schema: Any) -> Any:
    """The same; a text that is not a value stays as it is, since the check reports its type."""
    try:
        return typed_value(text, schema)
    except DefinitionError:  # the check reports the type
        return text


def _quoted_value(text: str, schema: Any) -> Any:
    """The value of YAML in brackets or quotes, else the text."""
    try:
        return _yaml_value(text, schema) if text.startswith(("[", "{", '"', "'")) else text
    except DefinitionError:
        return text


def _yaml_value(text: str, schema: Any) -> Any:
    node = compose(text, file="the value")
    return None if node is None else value_of(node, schema)


def parse_fields(text: str, schema: Mapping[str, Any], option: str) -> dict[str, Any]:
    """Parse fields: a JSON object, a JSON list of `field=value`, or lines of `field=value`.

    Args:
        text: what was given. schema: of the whole value.
        option: that gave it, for messages: `--answer`.

    Raises:
        PayloadError: it is none of these.
    """
    is_json = text.lstrip().startswith(("{", "["))
    given = _json_of(text, option) if is_json else items_of_lines(text)
    if isinstance(given, dict):
        return given
    texts = _fields(given, schema, option)
    inner = _schema_of(schema, texts.get(STATUS))
    return {name: field_value(value, at(inner, name)) for name, value in texts.items()}


def join_items(
    given: Sequence[str], texts: Sequence[str], option: str, others: str = ""
) -> str | None:
    """The values of a repeated option as one text: a JSON object alone as it is, else a JSON list
    of its items. None without any.

    Args:
        given: as they were written. texts: the same with the text of a file in place of `@file`.
        option: its name. others: options that give items as well, for the message.

    Raises:
        UsageError: JSON is combined with others.
    """
    whole = next((text for text in texts if text.lstrip().startswith(("{", "["))), None)
    if whole is not None:
        if len(texts) > 1:
            raise UsageError(
                f"an {_noun(option)} in JSON cannot be combined with {others}another {option}",
                hint=f"write all fields into the JSON, or each one as {option} field=value",
            )
        return whole
    items = list[str]()
    for each, text in zip(given, texts, strict=True):
        items += items_of_lines(text) if each.startswith("@") else [text]
    return json.dumps(items) if given else None


def items_of_lines(text: str) -> list[str]:
    """The items `field=value` of a text. A line without a field continues the value above it."""
    items: list[str] = []
    for line in text.strip("\r\n").split("\n"):
        word, equals, _ = line.partition("=")
        if items and not (equals and len(word.split()) == 1):
            items[-1] += "\n" + line.removesuffix("\r")
        elif line.strip():
            items.append(line.removesuffix("\r"))
    return items


def _noun(option: str) -> str:
    return option.lstrip("-")


def _json_of(text: str, option: str) -> dict[str, Any] | list[str]:
    try:
        value: Any = json.loads(text, object_pairs_hook=without_doubles)
        if isinstance(value, list) and not all(isinstance(each, str) for each in value):
            raise ValueError("it is a list of something else than field=value")
    except (ValueError, RecursionError) as error:
        raise PayloadError(
            f"the {_noun(option)} is not JSON: {error}", where=option, hint=_WRITE
        ) from error
    return value  # type: ignore[no-any-return]


def _fields(items: Sequence[str], schema: Mapping[str, Any], option: str) -> dict[str, str]:
    """The text of each field, exactly as it was given."""
    fields: dict[str, str] = {}
    for item in items:
        word, equals, value = item.partition("=")
        if not equals or not word.strip():
            raise PayloadError(
                f"{short(repr(item))} is not an {_noun(option)}", where=option, hint=_WRITE
            )
        name = _field(word.strip(), schema)
        if name in fields:
            raise PayloadError(f"the {_noun(option)} has {name!r} twice", where=option, hint=_WRITE)
        fields[name] = value
    if not fields:
        raise PayloadError(f"the {_noun(option)} is empty", where=option, hint=_WRITE)
    return fields


def _field(name: str, schema: Mapping[str, Any]) -> str:
    """The name of the field; `status` is short for `$status` if the schema has no such field."""
    known = role_variants(schema)
    if name == "status" and known and not any(name in each.properties for each in known):
        return STATUS
    return name


def _schema_of(schema: Mapping[str, Any], status: str | None) -> Any:
    """The schema of a value with this status."""
    fitting = [each.schema for each in role_variants(schema) if each.status == status]
    return fitting[0] if fitting else inline_refs(schema).schema


def undeclared_fields(
    schema: Mapping[str, Any], value: Mapping[str, Any], of: str
) -> "list[Violation]":
    """The fields that a schema with fields does not have: a misspelt one must not get lost. `of`
    names what has the fields.
    """
    from uwf_core.cas.schemas import Violation

    known = dict[str, None]()
    for each in alternatives(inline_refs(schema).schema):
        if is_open(each):
            return []
        known |= dict.fromkeys(as_mapping(each.get("properties")))
    if not known:
        return []
    return [Violation(name, not_a_field(name, of, known)) for name in value if name not in known]


# -- values of YAML --------------------------------------------------------------------------------
# A value is its source text if the schema allows text but not the typed value: `version: 1.0` is
# text if the schema requires text, and a commit id may have only digits.


def value_of(node: YamlNode, schema: Any) -> Any:
    """The value of `node`, typed by `schema`; it is not validated yet."""
    if isinstance(node, YamlMapping):
        return {name: value_of(each, at(schema, name)) for name, each in node.values.items()}
    if isinstance(node, YamlSequence):
        items = [each for each in node.items if not _is_comment(each, at(schema, 0))]
        return [value_of(each, at(schema, index)) for index, each in enumerate(items)]
    assert isinstance(node, YamlScalar)
    if node.whole != node.text:
        texts = texts_of(schema)
        if texts is None or node.whole in texts:
            return node.whole
    allowed = types_of(schema)
    is_other = node.plain and not isinstance(node.value, str) and type_of(node.value) not in allowed
    return node.text if is_other and "string" in allowed else node.value


def _is_comment(node: YamlNode, schema: Any) -> bool:
    """Whether an item is a comment alone, because the schema allows only certain values."""
    is_bare = isinstance(node, YamlScalar) and node.plain and not node.text and node.whole
    return bool(is_bare) and texts_of(schema) is not None
