"""The names by which templates read earlier steps: `{{steps.planner.plan}}`."""

import re
from collections.abc import Iterable, Mapping

_TAG = re.compile(r"\{\{[{&#^]?\s*steps\.([^\s{}.?]*)")


def named_steps(text: str) -> list[str]:
    """The names of the steps in a template."""
    return _TAG.findall(text)


def steps_by_name(roles: Iterable[str], templates: Iterable[str]) -> Mapping[str, str]:
    """The roles of a workflow by their names in its templates; none if no template has one."""
    if any(map(named_steps, templates)):
        return {name: name for name in roles if "." not in name and "/" not in name}
    return {}
