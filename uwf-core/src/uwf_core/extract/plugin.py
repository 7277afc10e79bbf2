"""The built-in extractors, registered like those of any plugin."""

from collections.abc import Sequence

from uwf_core.api.extract import ExtractorSpec
from uwf_core.api.hookspecs import hookimpl


@hookimpl
def uwf_extractors() -> Sequence[ExtractorSpec]:
    """`frontmatter`: YAML between two `---` lines at the start of the reply."""
    return [
        ExtractorSpec(
            name="frontmatter",
            summary="YAML frontmatter at the start of the reply; no model call",
            factory="uwf_core.extract.frontmatter:FrontmatterExtractor",
        )
    ]
