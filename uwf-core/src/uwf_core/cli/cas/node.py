"""Words for nodes and types, and payloads from JSON."""

import json
from typing import Any, NoReturn

from uwf_core.cli.session import Session
from uwf_core.cli.words import file_or_stdin
from uwf_core.errors import AmbiguousIdError, PayloadError, UnknownIdError
from uwf_core.ids import Ref

SHORTEST_PREFIX = 4


def find_node(session: Session, word: str) -> Ref:
    """The node that `word` means: its reference, or a unique prefix of four characters or more.

    Raises:
        UnknownIdError: there is none. AmbiguousIdError: there are several.
    """
    store, text = session.engine.store, word.upper()
    found = [Ref(text)] if Ref.matches(text) and store.has(text) else []
    if not found and SHORTEST_PREFIX <= len(text) < Ref.LENGTH:
        found = store.find(text, 3)
    if not found:
        raise UnknownIdError(
            f"there is no node {word!r} in {store.location()}",
            hint=f"give its reference, or {SHORTEST_PREFIX} or more of its first characters",
        )
    if len(found) > 1:
        raise AmbiguousIdError(
            f"{word!r} fits several nodes: {', '.join(found)}", hint="say more of its characters"
        )
    return found[0]


def find_type(session: Session, word: str) -> Ref:
    """The type that `word` means: a primitive's name, or a reference or prefix of one.

    Raises:
        UnknownIdError: there is none. AmbiguousIdError: there are several.
    """
    from uwf_core.cas.hashing import META, PRIMITIVES

    if word in PRIMITIVES:
        return PRIMITIVES[word]
    builtin = (META, *PRIMITIVES.values())  # known without being stored
    return Ref(word.upper()) if word.upper() in builtin else find_node(session, word)


def read_payload(path: str) -> Any:
    """The JSON value in a file, or on stdin for `-`.

    Raises:
        UsageError: the file cannot be read. PayloadError: it holds no JSON.
    """
    text = file_or_stdin(path, "FILE")
    try:
        return json.loads(text, parse_constant=_no_json)
    except RecursionError as error:
        raise PayloadError("nested too deeply", where=path) from error
    except ValueError as error:
        raise PayloadError(f"this is no JSON: {error}", where=path) from error


def _no_json(word: str) -> NoReturn:
    raise ValueError(f"JSON has no {word}")
