"""Documents -> HTML by the templates. Every text is escaped, and invisible marks are shown.

Templates, since pages are layouts that are edited as HTML; what is drawn or computed (graphs,
differences) is made by `uwf_core.markup`, and both escape by its `text`.
"""

import json
import re
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from jinja2 import Environment, FileSystemBytecodeCache, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from uwf_core.commands import ago, count, duration
from uwf_core.markup import text as escaped
from uwf_web.actions import FORMS
from uwf_web.filters import FILTERS

if TYPE_CHECKING:
    from uwf_web.page import Document, Site

LINE = 160
SHORT = 100
_REFERENCE = re.compile(r"&quot;([0-9A-HJKMNP-TV-Z]{13})&quot;")


class Rendering:
    """The templates, each compiled on its first use by any server of the home.

    Args:
        cache: the folder of the compiled templates: compiling takes a tenth of the start.
    """

    def __init__(self, cache: Path) -> None:
        cache.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._templates = Environment(
            loader=FileSystemLoader(Path(__file__).with_name("templates")),
            bytecode_cache=FileSystemBytecodeCache(str(cache)),
            autoescape=True,
            finalize=_visible,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._templates.filters.update(
            ago=_ago, amount=_amount, cost=_cost, count=count, iso=_iso, json=_json, line=_line,
            linked=_linked, patch=_patch, short=_short, span=duration, text=_text,
            variants=_variants,
        )  # fmt: skip
        self._templates.filters["with"] = _with
        self._templates.filters.update(FILTERS)
        self._templates.globals["forms"] = FORMS

    def page(self, template: str, document: "Document", site: "Site") -> str:
        """A page: its template knows the document and the site, and nothing else."""
        found = self._templates.get_template(template)
        return found.render(document=document, site=site)


def _visible(value: Any) -> Any:
    """What a template inserts: markup as it is, text escaped with its invisible marks shown."""
    is_text = isinstance(value, str) and not hasattr(value, "__html__")
    return Markup(escaped(value)) if is_text else value


def _ago(moment_ms: int | None) -> str:
    if moment_ms is None:
        return ""
    found = ago(moment_ms, time.time_ns() // 1_000_000)
    return found if found == "now" else f"{found} ago"


def _iso(moment_ms: int | None) -> str:
    if moment_ms is None:
        return ""
    return datetime.fromtimestamp(moment_ms / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _cost(usage: Mapping[str, Any] | None, unknown: str = "cost unknown") -> str:
    """The cost; "≥" where a part of it is unknown."""
    if usage is None or usage["costUsd"] is None:
        return unknown
    least = "≥ " if "costUsd" in usage["atLeast"] else ""
    return f"{least}${usage['costUsd']:.4f}".rstrip("0").rstrip(".")


def _amount(usage: Mapping[str, Any], key: str) -> str:
    least = "≥ " if key in usage["atLeast"] else ""
    return least + count(usage[key])


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _line(value: str | None) -> str:
    """The first line, not too long."""
    first = next((line.strip() for line in (value or "").splitlines() if line.strip()), "")
    return first if len(first) <= LINE else first[: LINE - 1] + "…"


def _short(value: str | None) -> str:
    one = " ".join((value or "").split())
    return one if len(one) <= SHORT else one[: SHORT - 1] + "…"


def _with(query: Mapping[str, str], **changed: str) -> str:
    """A query with other values for some names."""
    return urlencode({**query, **changed})


def _patch(value: str) -> Markup:
    """A patch, its added and removed lines marked."""
    kinds = {"+": "ins", "-": "del", "@": "b"}
    lines = []
    for line in value.split("\n"):  # what else ends a line is part of a file
        tag = kinds.get(line[:1], "span") if not line.startswith(("+++", "---")) else "b"
        lines.append(f"<{tag}>{escaped(line)}</{tag}>")
    return Markup("\n".join(lines))


def _linked(value: str, base: str) -> Markup:
    """JSON whose references lead to their nodes."""
    link = rf'&quot;<a class="ref" href="{escaped(base)}/nodes/\1">\1</a>&quot;'
    return Markup(_REFERENCE.sub(link, escaped(value)))


def _variants(schema: Mapping[str, Any]) -> Any:
    """The ways to fill in the form of a schema."""
    from uwf_core.client import form_of

    return form_of(schema)["variants"]
