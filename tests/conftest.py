"""What holds for every test."""

import gc
import os
import signal
import sys
from collections.abc import Generator
from contextlib import suppress
from pathlib import Path

import pytest

# `tests/forms.py`: which form of the expensive tests runs, also in the workers and what they start.
if "--long" in sys.argv:
    os.environ["UWF_TESTS_LONG"] = "1"


def pytest_addoption(parser: pytest.Parser) -> None:
    """The switches of this suite."""
    parser.addoption("--long", action="store_true", help="the long forms of expensive tests")
    parser.addoption("--changed", action="store_true", help="what differs from main concerns")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """With `--changed`, leave out the files that nothing new concerns."""
    if not config.getoption("--changed") or not collection_path.name.startswith("test_"):
        return None
    from tests.changed import is_concerned

    return None if collection_path.is_dir() or is_concerned(collection_path) else True


# Who starts the tests in the background may have them ignore Ctrl-C and hang-ups, and so every
# program that they start; but many tests are about these.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)

# What is collected stays until the end: no collector of garbage has to look at a million objects.
gc.disable()


def pytest_collection_finish() -> None:
    """Let the collector work again, on what the tests make."""
    gc.freeze()
    gc.enable()


# A check that decides over a merge gives the same verdict twice: with CI set, every property is
# tried on the same examples. On a desk they are new ones each time, and a failure prints how to
# repeat it.
with suppress(ImportError):  # the sessions that look at packages have no Hypothesis
    from hypothesis import HealthCheck, settings

    # How long an example takes is no property of it, on a machine that does other things as well.
    any_time = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.register_profile("uwf-ci", any_time, max_examples=50, derandomize=True, database=None)
    settings.register_profile("uwf-desk", any_time, derandomize=False, print_blob=True)
    settings.register_profile("uwf-long", any_time, max_examples=1000, print_blob=True)
    short = "uwf-ci" if os.environ.get("CI") else "uwf-desk"
    settings.load_profile("uwf-long" if "UWF_TESTS_LONG" in os.environ else short)

# A whole run starts `uwf` by forks; a test that runs alone starts it as users do.
if "PYTEST_XDIST_WORKER" in os.environ:
    from tests.warm_start import WarmStart

    from uwf_core.testing.project import Project

    Project.run_command = staticmethod(WarmStart().run)


# What the commands that `document_schemas` names print in a test has its generated schema.
with suppress(ImportError):  # the sessions that look at packages have no uwf
    from tests.document_schemas import checking

    from uwf_core.cli.session import Session

    Session.emit = checking(Session.emit)  # type: ignore[method-assign]
    Session.emit_line = checking(Session.emit_line)  # type: ignore[method-assign]


@pytest.fixture(scope="session", autouse=True)
def place_of_child_pytests(tmp_path_factory: pytest.TempPathFactory) -> None:
    """A pytest deletes, at its end, the temporary folders of earlier ones, and those of a whole
    suite take minutes: one that a test starts has a place of its own.
    """
    os.environ["PYTEST_DEBUG_TEMPROOT"] = str(tmp_path_factory.mktemp("pytests"))


# -- several workers -------------------------------------------------------------------------------


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Let each worker begin with another part of each folder: every worker imports every test file,
    and in a fresh checkout one of them compiles it for all.
    """
    report = yield
    found = report.result
    if isinstance(collector, pytest.Directory) and found:
        first = len(found) * _number() // _workers()
        report.result = [*found[first:], *found[:first]]
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Bring the tests into one order, which workers must have in common."""
    if _workers() > 1:
        items.sort(key=lambda item: item.path)


def _number() -> int:
    return int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))


def _workers() -> int:
    return int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
