"""Make bundles of the threads of a home of the original, and name its registered workflows."""

from collections.abc import Iterator

from uwf_core.api.importers import BundleMaker, ImportedThread, ImportedWorkflow
from uwf_core.errors import BundleError, MissingNodeError, PayloadError, UsageError
from uwf_core.ids import Ref
from uwf_import_original.fields import NotImported, text
from uwf_import_original.home import OriginalHome
from uwf_import_original.names import OriginalThread, read_names
from uwf_import_original.nodes import NodeCopy
from uwf_import_original.steps import StepReader, read_chain
from uwf_import_original.turns import TurnChains
from uwf_import_original.workflow import read_workflow


class OriginalImporter:
    """Reads the folder that has `.uwf` and `.ocas`, either of these, or a copy."""

    def recognizes(self, path: str) -> bool:
        """Whether the folder has nodes of the original."""
        try:
            OriginalHome(path)
        except UsageError:
            return False
        return True

    def convert(self, path: str, maker: BundleMaker) -> Iterator[ImportedThread | ImportedWorkflow]:
        """A bundle of each thread, and the names of workflows.

        A thread whose nodes are incomplete, or that has no form here, has a reason instead.

        Raises:
            BundleError: a file of the home is damaged or cannot be read.
        """
        home = OriginalHome(path)
        names = read_names(home)
        if not names.threads and not names.workflows:
            raise BundleError(
                "this home names no threads and no workflows",
                where=str(home.path),
                hint="give the folder that has both .uwf and .ocas",
            )
        conversion = _Conversion(home, maker)
        for thread in names.threads:
            conversion.chains.add(thread.turns)
        for thread in names.threads:
            yield conversion.thread(thread)
        for name, ref in names.workflows.items():
            yield conversion.name(name, ref)


class _Conversion:
    """Converts threads from the oldest on: a fork shares the steps that an older one has stored."""

    def __init__(self, home: OriginalHome, maker: BundleMaker) -> None:
        self._maker = maker
        self._copy = NodeCopy(home, maker)
        self.chains = TurnChains(self._copy)
        self._reader = StepReader(self._copy, self.chains)
        self._workflows: dict[str, Ref] = {}
        self._steps: dict[str, Ref] = {}

    def thread(self, original: OriginalThread) -> ImportedThread:
        """The bundle of a thread, or the reason why there is none."""
        try:
            return self._thread(original)
        except (MissingNodeError, NotImported, PayloadError) as error:
            return ImportedThread(
                original=original.id,
                thread=original.thread,
                status=original.status,
                reason=error.message,
            )

    def name(self, name: str, ref: str) -> ImportedWorkflow:
        """The name of a workflow."""
        try:
            return ImportedWorkflow(name=name, workflow=read_workflow(self._copy, ref))
        except (MissingNodeError, NotImported) as error:
            return ImportedWorkflow(name=name, reason=error.message)

    def _thread(self, original: OriginalThread) -> ImportedThread:
        chain = read_chain(self._copy, original.head)
        workflow = self._workflow(text(chain.begun, "workflow"))
        shared = [ref for ref, _ in chain.steps if ref in self._steps]
        thread = self._maker.thread(
            original.thread,
            original.id,
            workflow,
            task=text(chain.begun, "prompt"),
            cwd=text(chain.begun, "cwd"),
            after=self._steps[shared[-1]] if shared else None,
        )
        for ref, _ in chain.steps[len(shared) :]:
            self._steps[ref] = thread.step(self._reader.step(ref))
        return thread.end(
            original.status, original.role, original.message or "the original suspended it"
        )

    def _workflow(self, ref: str) -> Ref:
        if ref not in self._workflows:
            try:
                self._workflows[ref] = self._maker.workflow(read_workflow(self._copy, ref))
            except PayloadError as error:
                raise NotImported(f"its workflow is invalid here: {error.message}") from error
        return self._workflows[ref]
