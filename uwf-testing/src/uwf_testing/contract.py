"""The base of all contracts, and the requirements of a clause.

A contract is a class of tests, its *clauses*; their names are promises and do not change within a
major version of the kit. An author subclasses it and defines its fixtures. A clause may be
redefined only to mark a known bug with `@pytest.mark.xfail(reason=…)`.
"""

import inspect
from collections.abc import Callable, Collection, Iterator
from typing import Any, ClassVar, NamedTuple, TypeVar

import pytest

# The clauses are in modules of this package: pytest must show the values of their asserts.
pytest.register_assert_rewrite("uwf_testing")

KIT_VERSION = "1.3"
"""The version of the kits: a new clause or ability raises the second number."""

PROPERTY = "uwf_contract"
"""The property of a test's report with the tested plugin (read by `uwf_testing.results`)."""

_Test = TypeVar("_Test", bound=Callable[..., Any])
_NEEDS = "__uwf_needs__"
_DODGES = frozenset(("skip", "skipif", "xfail"))


class Needs(NamedTuple):
    """The requirements of a clause: declared capabilities, the first of which it is about, and
    abilities of the scripted peer, or fixtures.
    """

    capability: str | None = None
    peer: tuple[str, ...] = ()
    also: tuple[str, ...] = ()


def needs(
    *peer: str, capability: str | None = None, also: tuple[str, ...] = ()
) -> Callable[[_Test], _Test]:
    """Mark a clause: without a capability, or without one of the peer's abilities, it is skipped
    with the reason.
    """

    def mark(test: _Test) -> _Test:
        setattr(test, _NEEDS, Needs(capability, peer, also))
        return test

    return mark


class Contract:
    """The root of all contracts."""

    kind: ClassVar[str]
    """The kind of plugin: a key of `uwf_testing.__main__.KINDS`."""

    def __init_subclass__(cls, **arguments: Any) -> None:
        super().__init_subclass__(**arguments)
        for name, test in vars(cls).items():
            if name.startswith("test_") and _is_clause_of(cls.__mro__[1:], name):
                _refuse_redefinition(cls, name, test)
        marks = vars(cls).get("pytestmark", ())
        for mark in marks if isinstance(marks, list | tuple) else (marks,):
            if getattr(mark, "name", None) in _DODGES:
                raise TypeError(
                    f"{cls.__qualname__} is marked {mark.name!r} as a whole; mark the clauses that "
                    "are known to fail, one by one, with @pytest.mark.xfail(reason=…)"
                )

    @pytest.fixture(autouse=True)
    def _what_the_clause_needs(self, request: pytest.FixtureRequest) -> None:
        """Skip a clause whose requirements are not met, before any other work."""
        about = {
            "kind": self.kind,
            "subject": self.subject(request),
            "declared": sorted(self.declared(request)),
            "kit": KIT_VERSION,
        }
        request.node.user_properties.append((PROPERTY, about))
        wanted = needs_of(type(self), request.function.__name__)
        reason = self.missing(wanted, request) if wanted != Needs() else None
        if reason is not None:
            pytest.skip(reason)

    def subject(self, request: pytest.FixtureRequest) -> str:
        """The name of the tested plugin: what the fixture of its kind returns."""
        try:
            return str(request.getfixturevalue(self.kind))
        except pytest.FixtureLookupError:
            pytest.fail(f"define a fixture `{self.kind}` that returns the {self.kind}'s name")

    def declared(self, request: pytest.FixtureRequest) -> Collection[str]:
        """The capabilities that it declares; none if its kind has none."""
        return ()

    def missing(self, wanted: Needs, request: pytest.FixtureRequest) -> str | None:
        """Why a clause with these requirements is skipped; None: it is not."""
        for name in (wanted.capability, *wanted.also):
            if name is not None and name not in self.declared(request):
                return f"{self.subject(request)} does not declare {name!r}"
        reasons = (self.why_not(name, request) for name in wanted.peer)
        return next((reason for reason in reasons if reason is not None), None)

    def why_not(self, name: str, request: pytest.FixtureRequest) -> str | None:
        """Why the fixture `name` of an author cannot be used; None: it can."""
        if request.getfixturevalue(name) is None:
            return f"no fixture {name!r} is defined"
        return None


def clauses(cls: type[Contract]) -> list[str]:
    """The names of a contract's clauses in the order of the source, those of its bases first."""
    names: dict[str, None] = {}
    for base in (*cls.__bases__, cls):
        if base is cls:
            names |= dict.fromkeys(name for name in vars(cls) if name.startswith("test_"))
        elif issubclass(base, Contract):
            names |= dict.fromkeys(clauses(base))
    return list(names)


def needs_of(cls: type[Contract], name: str) -> Needs:
    """The requirements of the contract's original clause; a redefinition does not change them."""
    for base in reversed(cls.__mro__):
        if name in vars(base):
            found: Needs = getattr(vars(base)[name], _NEEDS, Needs())
            return found
    return Needs()


def _is_clause_of(bases: tuple[type, ...], name: str) -> bool:
    return any(
        name in vars(base) and callable(vars(base)[name])
        for base in bases
        if issubclass(base, Contract)
    )


def _refuse_redefinition(cls: type, name: str, test: Any) -> None:
    """Reject a redefinition that does not mark the clause as failing, with the reason.

    Raises:
        TypeError: pytest shows it as an error of the collection.
    """
    reasons = [
        str(mark.kwargs.get("reason") or "").strip()
        for mark in _marks(test)
        if mark.name == "xfail"
    ]
    if not any(reasons):
        raise TypeError(
            f"{cls.__qualname__}.{name} redefines a clause of the contract. That is allowed only "
            f"to mark a known bug: put @pytest.mark.xfail(reason='…') on it, or remove it"
        )


def _marks(test: Any) -> Iterator[Any]:
    if inspect.isfunction(test):
        yield from getattr(test, "pytestmark", ())
