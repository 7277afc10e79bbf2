"""The judge `expected-route`: did the expected roles run?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from uwf_core.api import JudgeReply, JudgeRequest
from uwf_core.api.extract import NO_USAGE
from uwf_eval.judges.failed import JudgeFailed

ANY = "..."
"""In a route: any number of any roles."""


@dataclass(frozen=True, kw_only=True)
class RouteOptions:
    """The conditions; the score is the share of satisfied ones. A role of a called thread is
    `work/writer`, where the role `work` called it.

    Attributes:
        route: the roles in order, `...` for any number of any roles. Called threads count only as
            deep as it names one of their roles; their steps come before that of the call.
        includes, excludes: roles that must run, or must not; each is a condition.
        at_most, at_least: limits of how often a role runs; each is a condition.
    """

    route: Sequence[str] = ()
    includes: Sequence[str] = ()
    excludes: Sequence[str] = ()
    at_most: Mapping[str, int] = field(default_factory=dict)
    at_least: Mapping[str, int] = field(default_factory=dict)


class ExpectedRoute:
    """Compares the roles that ran with the expected ones. Without a condition it only informs."""

    def __init__(self, options: RouteOptions, _context: Any) -> None:
        self._options = options

    def judge(self, request: JudgeRequest) -> JudgeReply:
        """The share of satisfied conditions."""
        steps = request.record.get("steps")
        if steps is None:
            raise JudgeFailed("the record has no steps")
        roles = [step["role"] for step in steps]
        held = conditions(self._options, roles)
        broken = [text for text, holds in held if not holds]
        score = 1 - len(broken) / len(held) if held else None
        return JudgeReply(score=score, data={"route": roles, "broken": broken}, usage=NO_USAGE)


def conditions(options: RouteOptions, roles: Sequence[str]) -> list[tuple[str, bool]]:
    """Each condition as a text, and whether it is satisfied."""
    found: list[tuple[str, bool]] = []
    if options.route:
        depth = max(role.count("/") for role in options.route)
        seen = [role for role in roles if role.count("/") <= depth]
        found.append((f"route {' -> '.join(options.route)}", fits(options.route, seen)))
    found += [(f"{role} runs", role in roles) for role in options.includes]
    found += [(f"{role} does not run", role not in roles) for role in options.excludes]
    for role, most in options.at_most.items():
        found.append((f"{role} runs at most {most} times", roles.count(role) <= most))
    for role, least in options.at_least.items():
        found.append((f"{role} runs at least {least} times", roles.count(role) >= least))
    return found


def fits(route: Sequence[str], roles: Sequence[str]) -> bool:
    """Whether the roles match the route, with `...` for any."""
    # `reached`: how many roles the parts of the route so far can match.
    reached = {0}
    for part in route:
        if part == ANY:
            reached = set(range(min(reached), len(roles) + 1))
        else:
            reached = {at + 1 for at in reached if at < len(roles) and roles[at] == part}
        if not reached:
            return False
    return len(roles) in reached
