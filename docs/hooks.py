"""Gives the site the pages that are written from the code, and the drawings. Read by mkdocs (see
`hooks` there).
"""

import os
import sys
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parent))

from generate import PAGES, page

_SCRIPT = "assets/mermaid.min.js"


def _mermaid() -> Path | None:
    """The library that `nox -s docs` installs. Without it a page shows the text of a drawing: the
    theme would fetch the library from elsewhere.
    """
    file = Path(os.environ.get("UWF_MERMAID", ""), "node_modules/mermaid/dist/mermaid.min.js")
    return file if file.is_file() else None


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Mark drawings, so that the theme draws them."""
    if _mermaid() is not None:
        from pymdownx.superfences import fence_code_format

        fence = {"name": "mermaid", "class": "mermaid", "format": fence_code_format}
        config.mdx_configs.setdefault("pymdownx.superfences", {})["custom_fences"] = [fence]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add every generated page under `reference/`."""
    for name in PAGES:
        files.append(File.generated(config, f"reference/{name}.md", content=page(name)))
    library = _mermaid()
    if library is not None:
        files.append(File.generated(config, _SCRIPT, abs_src_path=str(library)))
    return files


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Load the library on the pages with a drawing; it has 5 MB."""
    if 'class="mermaid"' not in html:
        return html
    above = "../" * page.url.count("/")
    return f'{html}<script src="{above}{_SCRIPT}"></script>'
