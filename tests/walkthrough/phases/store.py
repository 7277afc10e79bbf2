"""Nodes and their types."""

import json

from tests.walkthrough.checking import Uwf, check

_SCHEMA = {
    "title": "walkthrough pair",
    "type": "object",
    "properties": {"left": {"type": "integer"}, "right": {"type": "string"}},
    "required": ["left"],
}


@check("cas put", "cas get", "cas has", "cas hash")
def a_payload_is_stored_under_its_reference(uwf: Uwf) -> None:
    text = json.dumps("a text of the walkthrough")
    ref = uwf("cas hash string", stdin=text)["ref"]
    uwf("cas has", ref, code=1, has={"has": False})
    uwf("cas put string", stdin=text, has={"ref": ref})
    uwf("cas has", ref, has={"has": True})
    uwf("cas get", ref, has={"ref": ref, "payload": json.loads(text)})
    uwf("cas get 0000000000000", code=2, fails="unknown node")


@check("cas schema add", "cas schema list", "cas schema show")
def a_type_rejects_what_it_does_not_allow(uwf: Uwf) -> None:
    (uwf.folder / "pair.json").write_text(json.dumps(_SCHEMA))
    (uwf.folder / "good.json").write_text('{"left": 1, "right": "one"}')
    (uwf.folder / "bad.json").write_text('{"left": "one"}')
    kind = uwf("cas schema add pair.json")["type"]
    listed = {each["type"]: each["title"] for each in uwf("cas schema list")["schemas"]}
    uwf.same("the title", listed.get(kind), "walkthrough pair")
    uwf("cas schema show", kind, has={"type": kind, "schema.properties.left.type": "integer"})
    ref = uwf("cas put", kind, "good.json")["ref"]
    uwf("cas get", ref, has={"type": kind, "payload.right": "one"})
    uwf("cas put", kind, "bad.json", code=4, fails="left")


@check("store check", "store migrate", "store copy", alone=True)
def a_copy_of_the_store_is_equal_to_it(uwf: Uwf) -> None:
    uwf("store migrate", "sqlite:copied.db", has={"applied": ["created"]})
    copied = uwf("store copy sqlite:store.db sqlite:copied.db", has={"moved": False})
    uwf("store check --root", has={"root": copied["root"]})
    uwf("store check --root sqlite:copied.db", has={"root": copied["root"]})
    uwf("store copy sqlite:store.db sqlite:copied.db", code=2, fails="is not empty")
    uwf("store check sqlite:", code=1, fails="has no file")


@check("cas refs", "cas walk")
def a_step_leads_to_everything_that_it_uses(uwf: Uwf) -> None:
    steps = uwf.letter()["steps"]
    first, second = steps[0]["step"], steps[1]["step"]
    refs = uwf("cas refs", second, has={"ref": second})["refs"]
    uwf.expect(first in refs, "the references lack the step before")
    reached = uwf("cas walk", second, has={"ref": second})["refs"]
    uwf.expect({first, second, *refs} <= set(reached), "the walk lacks a reference")
    uwf.same("the number of repeated nodes", len(reached) - len(set(reached)), 0)


@check("worker start", "worker status", "worker drain", "worker migrate")
def workers_need_a_store_that_many_machines_reach(uwf: Uwf) -> None:
    """They work in the tests of PostgreSQL; with the file of this walkthrough each one says so."""
    for command in ("start", "status", "drain --all", "migrate"):
        uwf(f"worker {command}", code=2, fails="workers cannot run threads of")
