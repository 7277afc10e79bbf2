"""Stage 9 for an output that names files: check and store them; those of a call for its caller."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from uwf_core.extract.file_fields import file_fields
from uwf_core.files.artifacts import read_delivered, store_delivered

if TYPE_CHECKING:
    from uwf_core.api.extract import ExtractProblem
    from uwf_core.engine.context import Attempt
    from uwf_core.engine.engine import Engine


def deliver(
    engine: "Engine", attempt: "Attempt", schema: Mapping[str, Any], output: Mapping[str, Any]
) -> "tuple[ExtractProblem, ...]":
    """Store the files that a valid output names, or return what is wrong with them."""
    attempt.artifacts = None
    fields = file_fields(schema, output)
    if not fields:
        return ()
    files, problems = read_delivered(fields, attempt.payload["attempt"]["cwd"], engine.redactor)
    if not problems:
        attempt.artifacts = store_delivered(engine.store, engine.nodes.put, files)
    return problems


def answer_problems(
    engine: "Engine", folder: str, schema: Mapping[str, Any], answer: Mapping[str, Any]
) -> "tuple[ExtractProblem, ...]":
    """What is wrong with the files that a valid answer of a person names."""
    fields = file_fields(schema, answer)
    return read_delivered(fields, folder, engine.redactor)[1] if fields else ()


def joint_artifacts(
    branches: "Sequence[tuple[str, Mapping[str, str] | None]]",
) -> dict[str, str] | None:
    """The files of branches, each with the name or number of its branch before its path.

    Branches work on the same paths, so the path alone would name several files. No name of a branch
    has a slash, so two of these paths are never equal.
    """
    joint = {
        f"{branch}/{path}": ref for branch, files in branches for path, ref in (files or {}).items()
    }
    return joint or None
