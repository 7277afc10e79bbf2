"""Which names of a template are there for a status: always, perhaps, never."""

import pytest

from uwf_core.workflow.fields import Fields, Presence
from uwf_core.workflow.template import parse, render
from uwf_core.workflow.variants import variants
from uwf_core.yaml.source import parse_yaml

SCHEMA = parse_yaml(
    """
type: object
properties:
  $status: {const: done}
  text: {type: string}
  maybe: {type: string}
  user:
    type: object
    properties: {name: {type: string}, nick: {type: string}}
    required: [name]
  owner:
    type: [object, "null"]
    properties: {name: {type: string}}
    required: [name]
  items:
    type: array
    minItems: 1
    maxItems: 9
    items: {type: object, properties: {id: {type: string}, tag: {type: string}}, required: [id]}
  pair: {type: array, prefixItems: [{properties: {x: {}}, required: [x]}, {type: string}]}
  free: {type: object}
  extra: {type: object, properties: {a: {}}, additionalProperties: {type: string}}
  either:
    oneOf:
      - {type: object, properties: {a: {}, b: {}}, required: [a, b]}
      - {type: object, properties: {a: {}}, required: [a]}
  any: {}
required: [$status, text, user, owner, items, pair, free, extra, either, any]
""",
    file="schema",
)
ALWAYS, NULLABLE, PERHAPS, NEVER = sorted(Presence, reverse=True)


@pytest.mark.parametrize(
    ("template", "presence"),
    [
        ("{{text}}", ALWAYS),
        ("{{$status}}", ALWAYS),
        ("{{_body}}", ALWAYS),
        ("{{.}}", ALWAYS),
        ("{{maybe}}", PERHAPS),
        ("{{nothing}}", NEVER),
        ("{{text.length}}", NEVER),
        ("{{_body.x}}", NEVER),
        ("{{user.name}}", ALWAYS),
        ("{{user.nick}}", PERHAPS),
        ("{{user.age}}", NEVER),
        ("{{owner.name}}", PERHAPS),
        ("{{#owner}}{{name}}{{/owner}}", ALWAYS),
        ("{{#owner}}{{owner.name}}{{/owner}}", ALWAYS),
        ("{{#maybe}}{{maybe}}{{/maybe}}", ALWAYS),
        ("{{#maybe}}{{text}}{{/maybe}}", ALWAYS),
        ("{{^maybe}}{{maybe}}{{/maybe}}", PERHAPS),
        ("{{items.0.id}}", ALWAYS),
        ("{{items.1.id}}", PERHAPS),
        ("{{items.9.id}}", NEVER),
        ("{{items.id}}", NEVER),
        ("{{#items}}{{id}}{{/items}}", ALWAYS),
        ("{{#items}}{{tag}}{{/items}}", PERHAPS),
        ("{{#items}}{{text}}{{/items}}", ALWAYS),
        ("{{#items}}{{user.name}}{{/items}}", ALWAYS),
        ("{{#items}}{{nothing}}{{/items}}", NEVER),
        ("{{#items}}{{.}}{{/items}}", ALWAYS),
        ("{{#items}}{{#tag}}{{tag}}{{id}}{{/tag}}{{/items}}", ALWAYS),
        ("{{pair.0.x}}", PERHAPS),
        ("{{pair.1.x}}", NEVER),
        ("{{free.whatever}}", PERHAPS),
        ("{{extra.b}}", PERHAPS),
        ("{{extra.b.c}}", NEVER),
        ("{{either.a}}", NULLABLE),
        ("{{either.b}}", PERHAPS),
        ("{{either.c}}", NEVER),
        ("{{any.a.b.0}}", PERHAPS),
    ],
)
def test_a_name_is_there_always_perhaps_or_never(template: str, presence: Presence) -> None:
    [variant] = variants(SCHEMA)
    name = parse(template).names()[-1]
    assert Fields(variant).presence(name) is presence


OUTPUT = {
    "$status": "done",
    "text": "TEXT",
    "user": {"name": "NAME"},
    "owner": None,
    "items": [{"id": "ID"}],
    "pair": [],
    "free": {},
    "extra": {},
    "either": {"a": "A"},
    "any": None,
    "_body": "BODY",
}


def test_what_is_always_there_renders_for_the_smallest_output() -> None:
    """The checker's word against the renderer's, on an output with nothing optional in it."""
    for template in (
        *("{{text}}", "{{user.name}}", "{{items.0.id}}", "{{#items}}{{id}}{{/items}}"),
        *("{{either.a}}", "{{_body}}", "{{#items}}{{user.name}}{{/items}}"),
    ):
        assert render(template, OUTPUT).isupper()
