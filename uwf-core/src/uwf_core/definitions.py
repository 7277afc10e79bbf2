"""The public API to read definition files as uwf reads its own: YAML 1.2 with positions, JSON
Schemas, and errors with their place.

    composed = compose_all(text, file="task.yaml")     # a node tree, and every YAML error
    value = to_value(composed.node)                    # plain data
    raise as_definition_error([error_at(node.place, "bad-value", "what is wrong", "the cure")])
"""

from uwf_core.cas.schemas import CompiledSchema, SchemaProblem, schema_problems, violations
from uwf_core.fields.mismatch import suggestion
from uwf_core.workflow.load import Loaded, load_file
from uwf_core.yaml.nodes import is_bad_number
from uwf_core.yaml.problem import (
    Place,
    Problem,
    as_definition_error,
    error_at,
    warning_at,
)
from uwf_core.yaml.quirks import check_comments
from uwf_core.yaml.shape import node_at, place_at, read_shape
from uwf_core.yaml.source import (
    Composed,
    YamlMapping,
    YamlNode,
    YamlScalar,
    YamlSequence,
    compose_all,
    decode,
    parse_yaml,
    to_value,
)

__all__ = [
    "CompiledSchema", "Composed", "Loaded", "Place", "Problem", "SchemaProblem", "YamlMapping",
    "YamlNode", "YamlScalar", "YamlSequence", "as_definition_error", "check_comments",
    "compose_all", "decode", "error_at", "is_bad_number", "load_file", "node_at", "parse_yaml",
    "place_at", "read_shape", "schema_problems", "suggestion", "to_value", "violations",
    "warning_at",
]  # fmt: skip
