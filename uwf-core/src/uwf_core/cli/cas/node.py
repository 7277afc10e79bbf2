"""Find nodes and types by what a user types; read payloads from JSON."""

import json
from typing import Any, NoReturn

from uwf_core.cli.session import Session
from uwf_core.cli.words import file_or_stdin
from uwf_core.errors import AmbiguousIdError, PayloadError, UnknownIdError
from uwf_core.ids import Ref

SHORTEST_PREFIX = 4


def find_node(session: Session, word: str) -> Ref:
    """Find the node by its reference, or by a unique prefix of at least four characters.

    Raises:
        UnknownIdError: none matches. AmbiguousIdError: several match.
    """
    store, text = session.engine.store, word.upper()
    found = [Ref(text)] if Ref.matches(text) and store.has(text) else []
    if not found and SHORTEST_PREFIX <= len(text) < Ref.LENGTH:
        found = store.find(text, 3)
    if not found:
        raise UnknownIdError(
            f"unknown node {word!r} in {store.location()}",
            hint=f"give its reference, or at least {SHORTEST_PREFIX} of its first characters",
        )
    if len(found) > 1:
        raise AmbiguousIdError(
            f"{word!r} matches several nodes: {', '.join(found)}", hint="give more characters"
        )
    return found[0]


def find_type(session: Session, word: str) -> Ref:
    """Find the type by the name of a primitive, a reference or a prefix of one.

    Raises:
        UnknownIdError: none matches. AmbiguousIdError: several match.
    """
    from uwf_core.cas.hashing import META, PRIMITIVES

    if word in PRIMITIVES:
        return PRIMITIVES[word]
    builtin = (META, *PRIMITIVES.values())  # known without being stored
    return Ref(word.upper()) if word.upper() in builtin else find_node(session, word)


def read_payload(path: str) -> Any:
    """The JSON value in a file, or on stdin for `-`.

    Raises:
        UsageError: the file cannot be read. PayloadError: it is not valid JSON.
    """
    text = file_or_stdin(path, "FILE")
    try:
        return json.loads(text, parse_constant=_no_json)
    except RecursionError as error:
        raise PayloadError("nested too deeply", where=path) from error
    except ValueError as error:
        raise PayloadError(f"invalid JSON: {error}", where=path) from error


def _no_json(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a JSON value")
