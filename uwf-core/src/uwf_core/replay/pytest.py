"""A pytest plugin: `*.thread` files are bundles, with a test for each recorded attempt.

    pytest -p uwf_core.replay.pytest

A test passes if its verdict is the expected one: `same`, or that in `NAME.expect.json`, which
`--uwf-update` writes. Nothing runs, and no configuration is read.
"""

import json
import os
import tempfile
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from uwf_core.errors import BundleError, UwfError, place_of
from uwf_core.process.path_walk import read_regular
from uwf_core.replay.words import difference_text, headline

if TYPE_CHECKING:
    from typing import TypeGuard

    from uwf_core.replay.replay import ReplayDocument, ReplayedDocument

SUFFIX = ".thread"
_EXPECTED = ".expect.json"
_VERDICTS = ("same", "stale", "different", "unreachable")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the plugin."""
    group = parser.getgroup("uwf", "replay of uwf threads")
    group.addoption(
        "--uwf-workflow",
        metavar="FILE",
        help="replay with this workflow file, not with that of the bundle or of NAME.expect.json",
    )
    group.addoption(
        "--uwf-update",
        action="store_true",
        help="write the verdicts of each NAME.thread to NAME.expect.json",
    )


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> "ThreadFile | None":
    """Collect the bundles."""
    if file_path.suffix != SUFFIX:
        return None
    return ThreadFile.from_parent(parent, path=file_path)


class ThreadFile(pytest.File):
    """A bundle."""

    def collect(self) -> Iterable[pytest.Item]:
        """A test for each attempt, and one for attempts that are expected but not recorded.

        Raises:
            CollectError: the bundle, the expectations or the workflow cannot be used.
        """
        try:
            replay, expected = self.replay, self.expectations
        except UwfError as error:
            raise self.CollectError(_message(self.path, error)) from error
        if self.config.getoption("--uwf-update"):
            self._update(replay)
            expected = self.expectations
        verdicts = [str(each["verdict"]) for each in expected.get("steps", ())]
        verdicts += ["same"] * (0 if verdicts else len(replay["steps"]))
        for index, each in enumerate(replay["steps"]):
            wanted = verdicts[index] if index < len(verdicts) else "(none)"
            yield ThreadStep.from_parent(self, name=_name(each), replayed=each, expected=wanted)
        for verdict in verdicts[len(replay["steps"]) :]:
            yield ThreadStep.from_parent(self, name="missing", replayed=None, expected=verdict)

    @cached_property
    def expectations(self) -> dict[str, Any]:
        """What `NAME.expect.json` holds; nothing if there is no such file."""
        file = self._expectations_file
        if not file.exists():
            return {}
        try:
            found = json.loads(read_regular(str(file)))
        except OSError as error:
            raise self.CollectError(f"cannot read {file}: {error.strerror}") from error
        except ValueError as error:
            raise self.CollectError(f"{file} is not JSON: {error}") from error
        if not _is_expectations(found):
            raise self.CollectError(
                f"{file} must hold an object with `workflow` (a path or null) and `steps` (a list "
                f"of objects with a `verdict`: {', '.join(_VERDICTS)}); --uwf-update writes it"
            )
        return found

    @property
    def _expectations_file(self) -> Path:
        return self.path.with_suffix(_EXPECTED)

    @cached_property
    def replay(self) -> "ReplayDocument":
        """The replay of the bundle, in a store in memory."""
        from uwf_core.engine.open_engine import open_engine
        from uwf_core.engine.watch import Listener
        from uwf_core.maintenance.import_bundle import ImportOptions, import_bundle
        from uwf_core.replay.replay import read_changed, replay_thread

        with tempfile.TemporaryDirectory(prefix="uwf-replay-") as home:
            cwd, flags = str(self.path.parent), {"store": "memory:"}
            engine = open_engine(env={"UWF_HOME": home}, cwd=cwd, flags=flags)
            try:
                thread = import_bundle(engine, str(self.path), ImportOptions())["thread"]
                if thread is None:
                    raise BundleError("the bundle is not one of a thread", where=str(self.path))
                word = self._workflow()
                silent = Listener(None, None)
                changed = None if word is None else read_changed(engine, word, silent)
                return replay_thread(engine, thread, changed)
            finally:
                engine.close()

    def _workflow(self) -> str | None:
        """The workflow's file, absolute: that of the command line, else that of the expectations;
        None for the recorded one.
        """
        given = self.config.getoption("--uwf-workflow")
        if given:
            return str(self.config.invocation_params.dir / given)
        named = self.expectations.get("workflow")
        return None if named is None else str(self.path.parent / named)

    def _update(self, replay: "ReplayDocument") -> None:
        """Write the verdicts, and keep the workflow that somebody named there."""
        document = {
            "workflow": self.expectations.get("workflow"),
            "steps": [
                {"number": each["number"], "role": each["path"], "verdict": each["verdict"]}
                for each in replay["steps"]
            ],
        }
        del self.expectations
        text = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
        file = self._expectations_file
        if file.exists() and file.read_text("utf-8") == text:
            return
        draft = file.with_name(f"{file.name}.{os.getpid()}")
        draft.write_text(text, "utf-8")
        draft.replace(file)


def _is_expectations(found: Any) -> "TypeGuard[dict[str, Any]]":
    if not isinstance(found, dict):
        return False
    workflow, steps = found.get("workflow"), found.get("steps", [])
    return (workflow is None or isinstance(workflow, str)) and (
        isinstance(steps, list)
        and all(isinstance(each, dict) and each.get("verdict") in _VERDICTS for each in steps)
    )


def _message(bundle: Path, error: UwfError) -> str:
    """The whole error, with the bundle and each problem on a line."""
    problems = [
        f"{place_of(each)} {each['message']}".lstrip()
        for each in error.problems
        if each.get("severity", "error") == "error"
    ]
    lines = [f"cannot replay {bundle}:", *(problems or [str(error)])]
    return "\n".join([*lines, f"hint: {error.hint}"] if error.hint else lines)


def _name(each: "ReplayedDocument") -> str:
    """`3 reviewer`, in a called thread `1 work/writer`; an attempt before a step has its kind and
    reference as well.
    """
    name = f"{each['number']} {each['path']}"
    return name if each["kind"] == "step" else f"{name} {each['kind']} {each['step']}"


class ThreadStep(pytest.Item):
    """A recorded attempt."""

    def __init__(
        self, *, replayed: "ReplayedDocument | None", expected: str, **settings: Any
    ) -> None:
        super().__init__(**settings)
        self._replayed = replayed
        self._expected = expected

    def runtest(self) -> None:
        """Compare the verdict with the expected one.

        Raises:
            Unexpected: they differ.
        """
        if self._replayed is None:
            raise Unexpected(f"a further attempt is expected ({self._expected}), but not recorded")
        if self._replayed["verdict"] != self._expected:
            differences = map(difference_text, self._replayed["differences"])
            text = "\n\n".join((headline(self._replayed), *differences))
            raise Unexpected(f"expected: {self._expected}\n{text}")

    def repr_failure(
        self, excinfo: "pytest.ExceptionInfo[BaseException]", style: Any = None
    ) -> Any:
        """The difference, without a traceback of this module."""
        if isinstance(excinfo.value, Unexpected):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, None, str]:
        """The place of the test, for reports."""
        return self.path, None, f"{self.path.name}: {self.name}"


class Unexpected(Exception):
    """A verdict is not the expected one."""
