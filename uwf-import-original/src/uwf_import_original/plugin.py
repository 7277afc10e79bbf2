"""What this distribution announces to uwf."""

from collections.abc import Sequence

from uwf_core.api.hookspecs import hookimpl
from uwf_core.api.importers import ImporterSpec


@hookimpl
def uwf_importers() -> Sequence[ImporterSpec]:
    """The homes of the original uwf."""
    return [
        ImporterSpec(
            name="original",
            summary="the threads and workflows of the original uwf (TypeScript)",
            factory="uwf_import_original.importer:OriginalImporter",
        )
    ]
