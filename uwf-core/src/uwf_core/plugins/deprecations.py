"""The parts of the contract that a later major version removes, and the plugins that use them."""

from collections.abc import Collection, Iterator, Sequence
from typing import Any, Literal, NamedTuple

from uwf_core.plugins.loading import ANNOUNCEMENTS
from uwf_core.plugins.status import api_version


class Deprecation(NamedTuple):
    """A part of the contract that will be removed: one of `below` and `hook`.

    Attributes:
        since: the version of the contract that deprecated it. removed: the one that removes it.
        instead: what an author does.
        contract: of stores, or of all other plugins.
        below: records that are written for an earlier version than this.
        hook: plugins that implement this hook.
    """

    since: str
    removed: str
    instead: str
    contract: Literal["API_VERSION", "STORE_API_VERSION"] = "API_VERSION"
    below: str | None = None
    hook: str | None = None


DEPRECATED: Sequence[Deprecation] = ()
"""A minor version adds what it deprecates; the major version that removes it removes its entry."""


def deprecations(
    group: str,
    records: Sequence[Any],
    hooks: Collection[str],
    table: Sequence[Deprecation] = DEPRECATED,
) -> Iterator[tuple[str, str]]:
    """What a loaded plugin uses of `table`: a message and a hint for each.

    Args:
        group: the plugin's. records: what it announces. hooks: the names that it implements.
    """
    contract = ANNOUNCEMENTS[group].api if group in ANNOUNCEMENTS else "API_VERSION"
    for each in table:
        until = f"is deprecated since {each.since}, and removed in {each.removed}"
        if each.hook in hooks:
            yield f"the hook {each.hook} {until}", each.instead
        if each.below is not None and each.contract == contract:
            least = api_version(each.below) or (0, 0)
            old = {one.api for one in records if (api_version(one.api) or least) < least}
            for version in sorted(old):
                yield f"contract version {version} {until}", each.instead
