"""What a type is good for: to check payloads, and to find the references in them."""

from collections.abc import Mapping
from typing import Any

from uwf_core.cas.references import marked_places
from uwf_core.cas.schemas import CompiledSchema


class Types:
    """Schemas by their reference, made ready once."""

    def __init__(self) -> None:
        self._compiled: dict[str, CompiledSchema] = {}
        self._places: dict[str, Mapping[str, Any]] = {}

    def compiled(self, type_: str, schema: Mapping[str, Any]) -> CompiledSchema:
        """The schema of `type_`, ready to check values.

        Raises:
            PayloadError: it is no valid schema.
        """
        found = self._compiled.get(type_)
        if found is None:
            found = self._compiled[type_] = CompiledSchema(schema)
        return found

    def places(self, type_: str, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        """The places of `schema` that hold references, for `references_in`."""
        found = self._places.get(type_)
        if found is None:
            found = self._places[type_] = marked_places(schema)
        return found
