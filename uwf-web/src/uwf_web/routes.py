"""The URLs: of each page its path and the `Page` that it shows, imported on its first request.

A page module holds a `Page`; its name here is `module:attribute` below `uwf_web.pages`.
"""

from collections.abc import Mapping
from typing import Final

PAGES: Final[Mapping[str, str]] = {
    "/": "threads:INBOX",
    "/threads": "threads:THREADS",
    "/threads/{thread}": "threads:THREAD",
    "/threads/{thread}/steps/{step}": "step:STEP",
    "/threads/{thread}/steps/{step}/diff": "step:DIFF",
    "/nodes/{ref}": "step:NODE",
    "/threads/{thread}/compare": "explaining:COMPARE",
    "/threads/{thread}/diff/{other}": "explaining:DIFF",
    "/threads/{thread}/usage": "explaining:USAGE",
    "/threads/{thread}/why": "explaining:WHY",
    "/workflows": "workflows:WORKFLOWS",
    "/workflows/{word}": "workflows:WORKFLOW",
    "/workflows/{a}/diff/{b}": "workflows:WORKFLOW_DIFF",
    "/editor": "editor:EDITOR",
    "/agents": "installed:AGENTS",
    "/agents/{agent}": "installed:AGENT",
    "/evaluations": "evaluations:EVALUATIONS",
    "/evaluations/{run}": "evaluations:EVALUATION",
    "/usage": "explaining:USAGE",
    "/start": "threads:WORKFLOWS",
    "/start/{workflow}": "threads:START",
}
DOWNLOADS: Final[Mapping[str, str]] = {
    "/threads/{thread}/export": "downloads:export",
    "/threads/{thread}/steps/{step}/files/{path:rest}": "downloads:delivered",
}
"""Functions that take a `Visit` and return a `Download`."""
