"""Gives the site the pages that are written from the code. Read by mkdocs (see `hooks` there)."""

import sys
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

sys.path.insert(0, str(Path(__file__).parent))

from generate import PAGES, page


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add every generated page under `reference/`."""
    for name in PAGES:
        files.append(File.generated(config, f"reference/{name}.md", content=page(name)))
    return files
