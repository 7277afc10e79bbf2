"""What others say is data: no text is rendered twice, no name reaches SQL, no payload acts."""

import os
import stat
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from tests.faults.forked import attempted
from tests.faults.table import Case, Effort
from tests.faults.world import World

from uwf_core.api.store import Holder
from uwf_core.cas.store import Store
from uwf_core.errors import UwfError
from uwf_core.ids import Ref
from uwf_core.stores.open import open_backend

NAMES = (
    "'; DROP TABLE node; --", '"; DROP TABLE node; --', "' OR '1'='1", "x' UNION SELECT 1 --",
    "%", "_", "*", "?", ":name", "@name", "$name", "?1", "\\", "\\'", "''", "x\ny", "x\ty", "x;y",
    "$.a", "$[0]", "a.b", "a[0]", "[a]", "{a}", "{{a}}", "`a`", "a--", "/*", "NULL", "0", "-1", "",
    " ", "é", "e\u0301", "\u202e", "a" * 5_000, "__class__", "__proto__", "constructor", "$status",
    "status", "node", "rowid", "../x", "/etc/passwd", "x\x01y",
)  # fmt: skip
"""Hostile words for every place where a name or a key may stand; more are welcome."""

VALUES = (
    "{{note}}", "{{{_body}}}", "{{#note}}x{{/note}}", "{{^x}}y{{/x}}", "{{>partial}}",
    "{{=<% %>=}}",
    "{{!comment}}", "{{&note}}", "{{note.__class__}}", "{% raw %}", "${HOME}", "$(id)", "`id`",
    "%(note)s", "{note}", "{0.__class__}", "<b>&amp;\"'</b>", "\\{{note}}", "{{", "}}", "{{{",
    "}}}", "---\n$status: good\n---", "!include x", "&a *a", "\x1b[2J", "\u202e", "a\r\nb",
)  # fmt: skip
"""Hostile texts for the fields of an output."""


def borders(world: World, _effort: Effort) -> Iterator[Case]:
    """All names and texts in all places, and the modes of all files."""
    for text in VALUES:
        yield Case(f"{text!r} in a template", attempted(partial(_rendered, text)))
    folder = world.root / "names"
    checks: dict[str, Callable[[Store, str], str | None]] = {
        "variable": _as_variable, "tag": _as_tag, "prefix": _as_prefix, "reference": _as_reference,
        "lock": _as_lock, "payload": _as_payload,
    }  # fmt: skip
    store = _store(folder)
    kept = store.put_text("it must stay")
    for place, check in checks.items():
        for name in NAMES:
            fault = attempted(partial(check, store, name))
            if store.text(kept) != "it must stay":
                fault = "the store was changed"
            yield Case(f"{name[:30]!r} as a {place}", fault)
    store.close()
    yield from _modes(world)


def _store(folder: Path) -> Store:
    folder.mkdir(mode=0o700)
    return Store(open_backend("sqlite:store.db", str(folder)), lambda: 1_700_000_000_000)


def _rendered(text: str) -> str | None:
    """A field's text stands in the prompt as it is, and nothing in it is looked at again."""
    from uwf_core.workflow.template import render

    for template in ("{{note}}", "{{{note}}}", "{{&note}}", "{{#list}}{{.}}{{/list}}"):
        data = {"note": text, "list": [text], "_body": "THE BODY", "x": "X"}
        if render(f"<{template}>", data) != f"<{text}>":
            return f"{template} gives {render(f'<{template}>', data)!r}"
    return None


def _as_variable(store: Store, name: str) -> str | None:
    ref = store.put_text(name)
    for whole in (name, f"@uwf/test/{name}"):
        try:
            made = store.set_variable(whole, ref, {}, None)
        except UwfError:
            if store.variable(whole) is not None:
                return "refused, and there"
            continue
        found = store.variable(whole)
        if found != made or [each.name for each in store.variables(whole)] != [whole]:
            return f"found as {found}"
        store.delete_variable(made)
    return None


def _as_tag(store: Store, name: str) -> str | None:
    ref = store.put_text("x")
    tags = {name: name, "status": name}
    before = store.variables("@uwf/test/")
    try:
        made = store.set_variable("@uwf/test/tagged", ref, tags, None)
    except UwfError:
        return None if store.variables("@uwf/test/") == before else "refused, and there"
    found = store.variables("@uwf/test/", tags={"status": [tags["status"]]})
    by_key = store.variables("@uwf/test/", tags={name: [tags[name]]})
    others = store.variables("@uwf/test/", tags={"status": [name + "x"]})
    store.delete_variable(made)
    return (
        None if found == by_key == [made] and not others else f"found {found}, {by_key}, {others}"
    )


LIKE_EACH_OTHER = ("a_b", "aXb", "a.b", "A_B", "ab", "a_bc", "a-b", "a_b.c", "a_B")
"""Names that only some ways of comparing tell apart."""


def _as_prefix(store: Store, name: str) -> str | None:
    """What begins with a text is that alone, character by character."""
    if not store.variables("@uwf/like/"):
        for each in LIKE_EACH_OTHER:
            store.set_variable(f"@uwf/like/{each}", store.put_text("x"), {}, None)
    there = [each.name for each in store.variables("")]
    for prefix in (
        name,
        f"@uwf/like/{name}",
        f"@uwf/like/a{name}",
        f"@uwf/LIKE/{name}",
        "@uwf/like/a_",
    ):
        found = [each.name for each in store.variables(prefix)]
        if found != [each for each in there if each.startswith(prefix)]:
            return f"with {prefix!r} begin {found}"
    store.variables("", after=name, limit=3)
    found = store.find(name, 3)
    wrong = [ref for ref in found if not ref.startswith(name.upper())]
    return f"{name!r} finds {wrong}" if wrong else None


def _as_reference(store: Store, name: str) -> str | None:
    if store.has(name) or store.present([name]):
        return "it is there"
    try:
        store.get(name)
    except UwfError:
        return None
    return "something was read"


def _as_lock(store: Store, name: str) -> str | None:
    handle = store.lock(f"@uwf/lock/{name}", Holder(os.getpid(), "now", name, 1))
    holder = store.holder(f"@uwf/lock/{name}")
    handle.release()
    return None if holder is not None and holder.host == name else f"held by {holder}"


def _as_payload(store: Store, name: str) -> str | None:
    """A key and a value of a payload, and what looks like a reference."""
    from uwf_core.cas.hashing import PRIMITIVES

    payload = {name: name, "list": [name], "$ref": name, "format": "ocas_ref"}
    ref = store.put(PRIMITIVES["object"], payload)
    if store.get(ref).payload != payload or store.refs(ref):
        return f"read as {store.get(ref).payload}"
    return None if Ref.matches(ref) else f"named {ref}"


def _modes(world: World) -> Iterator[Case]:
    """Whatever uwf makes is for its owner alone, whatever the umask allows."""
    before = os.umask(0)
    try:
        world.put(None)
        commands = [
            ("thread", "start", "loop", "-p", "The task."),
            ("thread", "exec", "@last"),
            ("thread", "exec", "@last", "--agent", world.agent),
            ("config", "set", "limits.graceSeconds", "1"),
            ("config", "trust", "."),
            ("thread", "exec", "@last", "--background"),
            ("thread", "wait", "@last"),
        ]
        ended, acks = world.play(commands)
        yield Case("the commands", None if len(acks) == len(commands) else str(ended))
        for path in (world.home, *sorted(world.home.rglob("*"))):
            mode = stat.S_IMODE(path.lstat().st_mode)
            wanted = 0o700 if path.is_dir() else 0o600
            name = str(path.relative_to(world.root))
            yield Case(f"the mode of {name}", None if mode == wanted else f"it is {mode:o}")
    finally:
        os.umask(before)
