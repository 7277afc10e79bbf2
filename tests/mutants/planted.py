"""All planted bugs. A new one goes into the list of its area, with the check that sees it."""

from tests.mutants.of_branches import BRANCHES
from tests.mutants.of_bundled_files import BUNDLED_FILES
from tests.mutants.of_calls import CALLS
from tests.mutants.of_compaction import COMPACTION
from tests.mutants.of_models import MODELS
from tests.mutants.of_recorded_branches import RECORDED_BRANCHES
from tests.mutants.of_recorded_files import RECORDED_FILES
from tests.mutants.of_runs import RUNS
from tests.mutants.of_storage import STORAGE
from tests.mutants.of_strangers import STRANGERS
from tests.mutants.of_worktrees import WORKTREES

MUTANTS = (
    *STORAGE,
    *RUNS,
    *CALLS,
    *BRANCHES,
    *BUNDLED_FILES,
    *RECORDED_BRANCHES,
    *RECORDED_FILES,
    *COMPACTION,
    *STRANGERS,
    *WORKTREES,
    *MODELS,
)
"""In the order of the table."""
