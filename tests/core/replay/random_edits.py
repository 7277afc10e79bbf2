"""Random edits of a workflow, by a seed: of texts, routes, schemas, names and their order."""

import copy
import random
from collections.abc import Callable
from typing import Any

Workflow = dict[str, Any]

_WORDS = ("plainly", "ünïcode", "{{{title}}}", "{{{note}}}", "{{title}}", "{{{_body}}}", "a & b")
_TARGETS = ("writer", "editor", "checker", "$END", "$SUSPEND")
_TYPES = ("string", "integer", "number", "boolean", "array")
_KEYWORDS: tuple[dict[str, Any], ...] = (
    {"description": "a field"}, {"title": "Field"}, {"maxLength": 3}, {"minLength": 4},
    {"enum": ["good", "A & B", "too long"]}, {"pattern": "^[A-Za-z &]+$"}, {"default": "x"},
    {"maximum": 2}, {"minItems": 2}, {"maxItems": 1}, {"examples": ["one"]},
)  # fmt: skip


def random_edit(workflow: Workflow, seed: int) -> Workflow:
    """A copy with one to three random changes; it may be invalid, or mean the same."""
    draw, changed = random.Random(seed), copy.deepcopy(workflow)
    for _ in range(draw.choice((1, 1, 1, 2, 3))):
        draw.choice(_EDITS)(changed, draw)
    return changed


def _text_of_role(workflow: Workflow, draw: random.Random) -> None:
    role, field = _role(workflow, draw), draw.choice(("goal", "procedure", "output", "description"))
    role[field] = _changed(role.get(field, ""), draw)


def _capabilities(workflow: Workflow, draw: random.Random) -> None:
    role = _role(workflow, draw)
    role["capabilities"] = draw.choice(([], ["reading"], ["reading", "cutting"], ["cutting"]))


def _prompt(workflow: Workflow, draw: random.Random) -> None:
    edge = _edge(workflow, draw)
    edge["prompt"] = _changed(edge["prompt"], draw)


def _target(workflow: Workflow, draw: random.Random) -> None:
    _edge(workflow, draw)["role"] = draw.choice(_TARGETS)


def _location(workflow: Workflow, draw: random.Random) -> None:
    edge = _edge(workflow, draw)
    edge["location"] = draw.choice((None, "part", "other", "./part", "{{{note}}}"))
    if edge["location"] is None:
        del edge["location"]


def _swap_edges(workflow: Workflow, draw: random.Random) -> None:
    edges = workflow["graph"][draw.choice(list(workflow["graph"]))]
    one, two = draw.choice(list(edges)), draw.choice(list(edges))
    edges[one], edges[two] = edges[two], edges[one]


def _status(workflow: Workflow, draw: random.Random) -> None:
    """Rename a status in its schema and its edge."""
    name = _role_name(workflow, draw)
    variant = draw.choice(_variants(workflow["roles"][name]))
    old, edges = variant["properties"]["$status"]["const"], workflow["graph"][name]
    new = variant["properties"]["$status"]["const"] = f"{old}_now"
    workflow["graph"][name] = {new if key == old else key: edges[key] for key in edges}


def _more_statuses(workflow: Workflow, draw: random.Random) -> None:
    """A further variant with its edge."""
    name = _role_name(workflow, draw)
    role = workflow["roles"][name]
    more = {"properties": {"$status": {"const": "other"}}, "required": ["$status"]}
    role["frontmatter"] = {"oneOf": [*_variants(role), more]}
    target = draw.choice(_TARGETS)
    workflow["graph"][name]["other"] = {"role": target, "prompt": "Something else."}


def _fewer_statuses(workflow: Workflow, draw: random.Random) -> None:
    """One variant less, and its edge."""
    name = _role_name(workflow, draw)
    variants = workflow["roles"][name]["frontmatter"].get("oneOf", ())
    if len(variants) > 1:
        gone = variants.pop(draw.randrange(len(variants)))
        workflow["graph"][name].pop(gone["properties"]["$status"]["const"], None)


def _property(workflow: Workflow, draw: random.Random) -> None:
    field = _field(workflow, draw)
    if draw.random() < 0.5:
        field["type"] = draw.choice(_TYPES)
    else:
        field.update(copy.deepcopy(draw.choice(_KEYWORDS)))


def _required(workflow: Workflow, draw: random.Random) -> None:
    variant = draw.choice(_variants(_role(workflow, draw)))
    names = [each for each in variant["properties"] if each != "$status"]
    for name in draw.sample(names, min(1, len(names))):
        required = variant["required"]
        required.remove(name) if name in required else required.append(name)


def _fields(workflow: Workflow, draw: random.Random) -> None:
    """Add a field, drop one, order them in another way, or close the variant."""
    variant = draw.choice(_variants(_role(workflow, draw)))
    names, kind = list(variant["properties"]), draw.randrange(4)
    if kind == 0:
        variant["properties"]["extra"] = {"type": draw.choice(_TYPES)}
    elif kind == 1 and len(names) > 1:
        gone = draw.choice(names[1:])
        del variant["properties"][gone]
        variant["required"] = [each for each in variant["required"] if each != gone]
    elif kind == 2:
        variant["properties"] = {each: variant["properties"][each] for each in reversed(names)}
    else:
        variant["additionalProperties"] = False


def _role_renamed(workflow: Workflow, draw: random.Random) -> None:
    old = _role_name(workflow, draw)
    for part in ("roles", "graph"):
        of = workflow[part]
        workflow[part] = {f"{old}_2" if key == old else key: of[key] for key in of}
    for edges in workflow["graph"].values():
        for edge in edges.values():
            edge["role"] = f"{old}_2" if edge["role"] == old else edge["role"]


def _order(workflow: Workflow, draw: random.Random) -> None:
    """The same roles, edges and variants, in another order."""
    part = draw.choice(("roles", "graph", "edges", "variants"))
    if part in ("roles", "graph"):
        workflow[part] = dict(reversed(workflow[part].items()))
    elif part == "edges":
        name = draw.choice(list(workflow["graph"]))
        workflow["graph"][name] = dict(reversed(workflow["graph"][name].items()))
    else:
        _variants(_role(workflow, draw)).reverse()


def _nothing(workflow: Workflow, draw: random.Random) -> None:
    workflow["description"] = draw.choice(("Another.", "For people."))


_EDITS: tuple[Callable[[Workflow, random.Random], None], ...] = (
    _text_of_role, _text_of_role, _capabilities, _prompt, _prompt, _prompt, _target, _target,
    _location, _swap_edges, _status, _more_statuses, _fewer_statuses, _property, _property,
    _property, _required, _fields, _fields, _role_renamed, _order, _nothing,
)  # fmt: skip


def _role_name(workflow: Workflow, draw: random.Random) -> str:
    return draw.choice(list(workflow["roles"]))


def _role(workflow: Workflow, draw: random.Random) -> dict[str, Any]:
    role: dict[str, Any] = workflow["roles"][_role_name(workflow, draw)]
    return role


def _variants(role: dict[str, Any]) -> list[dict[str, Any]]:
    schema = role["frontmatter"]
    variants: list[dict[str, Any]] = schema.get("oneOf", [schema])
    return variants


def _field(workflow: Workflow, draw: random.Random) -> dict[str, Any]:
    properties = draw.choice(_variants(_role(workflow, draw)))["properties"]
    names = [each for each in properties if each != "$status"]
    field: dict[str, Any] = properties[draw.choice(names)] if names else {}
    return field


def _edge(workflow: Workflow, draw: random.Random) -> dict[str, Any]:
    edges = workflow["graph"][draw.choice(list(workflow["graph"]))]
    edge: dict[str, Any] = edges[draw.choice(list(edges))]
    return edge


def _changed(text: str, draw: random.Random) -> str:
    words, kind = text.split(" "), draw.randrange(5)
    place, word = draw.randrange(len(words) + 1), draw.choice(_WORDS)
    if kind == 0:
        return f"{text} "
    if kind == 1:
        return f"{text}\n\n{word}"
    if kind == 2:
        return " ".join(words[:place])
    return " ".join([*words[:place], word, *words[place:]])
