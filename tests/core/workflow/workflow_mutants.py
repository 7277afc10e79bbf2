"""Mutants of workflow files: each operator breaks one rule at every place where it can."""

import copy
from collections.abc import Callable, Iterator
from typing import Any

Document = dict[str, Any]
Change = Callable[[], None]
"""Breaks the copy of a document at one place."""


def mutants(document: Document) -> Iterator[tuple[str, Document]]:
    """Every mutant with the name of its operator and place."""
    for operator in OPERATORS:
        for number in range(len([*operator(copy.deepcopy(document))])):
            mutant = copy.deepcopy(document)
            place, change = [*operator(mutant)][number]
            change()
            yield f"{operator.__name__}: {place}", mutant


# -- places


def _edges(document: Document) -> Iterator[tuple[str, Document, str]]:
    """Each edge to a role, also those of `then` and `parallel`: its path, and where it is."""
    for source, edges in document["graph"].items():
        for status in edges:
            yield from _edge(f"{source}.{status}", edges, status)


def _edge(path: str, holder: Document, key: str) -> Iterator[tuple[str, Document, str]]:
    edge = holder[key]
    if "parallel" not in edge:
        yield path, holder, key
    for inner in ("then", "parallel"):
        for name in edge.get(inner, {}):
            yield from _edge(f"{path}.{inner}.{name}", edge[inner], name)


def _roles(document: Document, key: str = "") -> Iterator[tuple[str, Document]]:
    for name, role in document["roles"].items():
        if not key or key in role:
            yield name, role


def _variants(document: Document) -> Iterator[tuple[str, Document]]:
    """Each schema that declares a `$status`."""
    for name, role in _roles(document, "frontmatter"):
        yield from _declaring(name, role["frontmatter"])


def _declaring(path: str, schema: Any) -> Iterator[tuple[str, Document]]:
    if "$status" in schema.get("properties", {}):
        yield path, schema
    for word in ("oneOf", "anyOf", "allOf"):
        for number, each in enumerate(schema.get(word, ())):
            yield from _declaring(f"{path}.{word}.{number}", each)


def _set(holder: Any, key: Any, value: Any) -> Change:
    return lambda: holder.__setitem__(key, value)


def _del(holder: Any, key: Any) -> Change:
    return lambda: holder.__delitem__(key)


Found = Iterator[tuple[str, Change]]

# -- operators


def a_target_is_misspelt(document: Document) -> Found:
    for path, holder, key in _edges(document):
        yield path, _set(holder[key], "role", holder[key]["role"] + "x")


def an_edge_is_missing(document: Document) -> Found:
    for path, holder, key in _edges(document):
        is_start = holder is document["graph"]["$START"]
        is_needed = ".then." not in path or key.startswith("$")
        if ".parallel." not in path and not is_start and is_needed:
            yield path, _del(holder, key)


def an_edge_has_another_status(document: Document) -> Found:
    for path, holder, key in _edges(document):
        if ".parallel." not in path:
            yield path, lambda h=holder, k=key: h.__setitem__(k + "x", h.pop(k))


def a_prompt_is_blank(document: Document) -> Found:
    for path, holder, key in _edges(document):
        yield path, _set(holder[key], "prompt", "  ")


def a_prompt_is_missing(document: Document) -> Found:
    for path, holder, key in _edges(document):
        yield path, _del(holder[key], "prompt")


def a_name_in_a_template_is_misspelt(document: Document) -> Found:
    for path, holder, key in _edges(document):
        text = holder[key]["prompt"]
        if "{{" in text and "}}" in text:
            yield (
                path,
                _set(holder[key], "prompt", text.replace("}}", "q}}", 1).replace("}q}}", "q}}}")),
            )


def a_template_is_not_closed(document: Document) -> Found:
    for path, holder, key in _edges(document):
        yield path, _set(holder[key], "prompt", holder[key]["prompt"] + "{{#open}}")


def a_template_has_a_partial(document: Document) -> Found:
    for path, holder, key in _edges(document):
        yield path, _set(holder[key], "prompt", holder[key]["prompt"] + "{{>part}}")


def a_key_of_an_edge_is_unknown(document: Document) -> Found:
    for path, holder, key in _edges(document):
        yield path, _set(holder[key], "promt", "x")


def a_role_is_not_in_the_graph(document: Document) -> Found:
    for name, _ in _roles(document):
        if name in document["graph"]:
            yield name, _del(document["graph"], name)


def a_role_is_removed(document: Document) -> Found:
    for name, _ in _roles(document):
        yield name, _del(document["roles"], name)


def a_role_has_no_goal(document: Document) -> Found:
    for name, role in _roles(document, "goal"):
        yield name, _del(role, "goal")


def a_role_has_no_frontmatter(document: Document) -> Found:
    for name, role in _roles(document, "frontmatter"):
        yield name, _del(role, "frontmatter")


def a_key_of_a_role_is_unknown(document: Document) -> Found:
    for name, role in _roles(document):
        yield name, _set(role, "procedur", "x")


def a_called_workflow_does_not_exist(document: Document) -> Found:
    for name, role in _roles(document, "workflow"):
        yield name, _set(role, "workflow", "./missing.yaml")


def a_role_cannot_be_left(document: Document) -> Found:
    for name in document["roles"]:
        edges = document["graph"].get(name, {})
        if edges and all("then" not in each for each in edges.values()):
            yield name, lambda e=edges, n=name: [each.__setitem__("role", n) for each in e.values()]


def the_end_has_an_edge(document: Document) -> Found:
    yield "$END", _set(document["graph"], "$END", {"x": {"role": "$END", "prompt": "x"}})


def the_start_is_incomplete(document: Document) -> Found:
    for entry in ("new", "resume"):
        yield entry, _del(document["graph"]["$START"], entry)


def the_start_leads_to_the_end(document: Document) -> Found:
    for entry in ("new", "resume"):
        yield entry, _set(document["graph"]["$START"][entry], "role", "$END")


def the_status_is_not_required(document: Document) -> Found:
    for path, schema in _variants(document):
        if "$status" in schema.get("required", ()):
            yield path, lambda s=schema: s["required"].remove("$status")


def the_status_is_an_enum(document: Document) -> Found:
    for path, schema in _variants(document):
        yield path, _set(schema["properties"], "$status", {"enum": ["a", "b"]})


def the_status_is_a_number(document: Document) -> Found:
    for path, schema in _variants(document):
        yield path, _set(schema["properties"], "$status", {"const": 1})


def the_status_is_any_text(document: Document) -> Found:
    for path, schema in _variants(document):
        yield path, _set(schema["properties"], "$status", {"type": "string"})


def the_status_has_another_name(document: Document) -> Found:
    for path, schema in _variants(document):
        yield path, _set(schema["properties"], "$status", {"const": "other"})


def the_status_is_reserved(document: Document) -> Found:
    for path, schema in _variants(document):
        yield path, _set(schema["properties"], "$status", {"const": "$SUSPEND"})


def a_field_is_reserved(document: Document) -> Found:
    for path, schema in _variants(document):
        yield path, _set(schema["properties"], "_body", {"type": "string"})


def a_schema_has_a_remote_reference(document: Document) -> Found:
    for path, schema in _variants(document):
        yield path, _set(schema["properties"], "more", {"$ref": "https://example.com/x.json"})


def a_schema_has_a_wrong_type(document: Document) -> Found:
    for path, schema in _variants(document):
        yield path, _set(schema["properties"], "more", {"type": "strnig"})


def a_schema_has_an_unknown_keyword(document: Document) -> Found:
    for path, schema in _variants(document):
        yield path, _set(schema["properties"], "more", {"maxLenght": 3})


def a_field_that_a_template_uses_is_gone(document: Document) -> Found:
    """Only in a variant whose edge uses it."""
    for name, field, schema, _ in _used_fields(document):
        yield f"{name}.{field}", lambda s=schema, f=field: _forget(s, f)


def a_field_that_a_template_uses_is_optional(document: Document) -> Found:
    for name, field, schema, text in _used_fields(document):
        is_variable = "{{" + field + "}}" in text and "{{#" + field not in text
        if field in schema.get("required", ()) and is_variable:
            yield f"{name}.{field}", lambda s=schema, f=field: s["required"].remove(f)


def a_field_that_a_template_uses_is_renamed(document: Document) -> Found:
    for name, field, schema, _ in _used_fields(document):
        yield f"{name}.{field}", lambda s=schema, f=field: _rename(s, f)


def _used_fields(document: Document) -> Iterator[tuple[str, str, Document, str]]:
    for path, schema in _variants(document):
        role = path.partition(".")[0]
        status = schema["properties"]["$status"].get("const")
        edge = document["graph"].get(role, {}).get(status, {})
        text = edge.get("prompt", "") if "then" not in edge else ""
        for field in schema["properties"]:
            if "{{" + field + "}}" in text or "{{#" + field + "}}" in text:
                yield path, field, schema, text


def _forget(schema: Document, field: str) -> None:
    del schema["properties"][field]
    if field in schema.get("required", ()):
        schema["required"].remove(field)


def _rename(schema: Document, field: str) -> None:
    schema["properties"][field + "x"] = schema["properties"].pop(field)
    schema["required"] = [f"{e}x" if e == field else e for e in schema.get("required", ())]


def a_list_of_branches_is_misspelt(document: Document) -> Found:
    for path, holder, key in _edges(document):
        if "forEach" in holder[key]:
            yield path, _set(holder[key], "forEach", holder[key]["forEach"] + "x")


def a_list_of_branches_is_optional(document: Document) -> Found:
    for path, schema in _variants(document):
        for field in [*schema.get("required", ())]:
            edge = (
                document["graph"]
                .get(path.partition(".")[0], {})
                .get(schema["properties"]["$status"].get("const"), {})
            )
            if edge.get("forEach") == field:
                yield f"{path}.{field}", lambda s=schema, f=field: s["required"].remove(f)


def a_program_has_another_status(document: Document) -> Found:
    for name, role in _roles(document, "program"):
        yield name, lambda p=role["program"]: p["statuses"].update({"7": "other"})


def an_exit_code_is_none(document: Document) -> Found:
    for name, role in _roles(document, "program"):
        yield name, lambda p=role["program"]: p["statuses"].update({"300": "x"})


def a_program_is_chosen_by_an_output(document: Document) -> Found:
    for name, role in _roles(document, "program"):
        yield name, lambda p=role["program"]: p["argv"].__setitem__(0, "{{x}}")


def the_version_is_another(document: Document) -> Found:
    yield "version", _set(document, "version", 2)


def a_name_is_invalid(document: Document) -> Found:
    yield "name", _set(document, "name", "not a name")


def a_key_at_the_top_is_unknown(document: Document) -> Found:
    yield "top", _set(document, "rols", {})


def a_limit_is_negative(document: Document) -> Found:
    yield "limits", _set(document, "limits", {"maxSteps": -1})


OPERATORS = [
    each
    for name, each in list(globals().items())
    if callable(each) and not name.startswith("_") and each.__module__ == __name__
    and name != "mutants"
]  # fmt: skip
"""Every operator, in the order of this file."""
