"""Documents -> HTML by the templates. Every text is escaped, and invisible marks are shown."""

from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from uwf_core.commands import ago, count, duration, usage
from uwf_core.markup import text

if TYPE_CHECKING:
    from uwf_web.page import Document, Site


class Rendering:
    """The templates, each compiled on its first use."""

    def __init__(self) -> None:
        self._templates = Environment(
            loader=PackageLoader("uwf_web"),
            autoescape=True,
            finalize=_visible,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._templates.filters.update(ago=_ago, count=count, duration=duration, usage=usage)

    def page(self, template: str, document: "Document", site: "Site") -> str:
        """A page: its template knows the document and the site, and nothing else."""
        found = self._templates.get_template(template)
        return found.render(document=document, site=site)


def _visible(value: Any) -> Any:
    """What a template inserts: markup as it is, text escaped with its invisible marks shown."""
    from markupsafe import Markup

    is_text = isinstance(value, str) and not hasattr(value, "__html__")
    return Markup(text(value)) if is_text else value


def _ago(moment_ms: int | None) -> str:
    import time

    return "" if moment_ms is None else ago(moment_ms, time.time_ns() // 1_000_000)
