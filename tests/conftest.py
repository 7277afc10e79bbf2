"""What holds for every test."""

import os
import signal
from contextlib import suppress

# Who starts the tests in the background may have them ignore Ctrl-C and hang-ups, and so every
# program that they start; but many tests are about these.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)

# A check that decides over a merge gives the same verdict twice: with CI set, every property is
# tried on the same examples. On a desk they are new ones each time, and a failure prints how to
# repeat it.
with suppress(ImportError):  # the sessions that look at packages have no Hypothesis
    from hypothesis import HealthCheck, settings

    # How long an example takes is no property of it, on a machine that does other things as well.
    any_time = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.register_profile("uwf-ci", any_time, derandomize=True, database=None)
    settings.register_profile("uwf-desk", any_time, derandomize=False, print_blob=True)
    settings.load_profile("uwf-ci" if os.environ.get("CI") else "uwf-desk")

# A whole run starts `uwf` by forks; a test that runs alone starts it as users do.
if "PYTEST_XDIST_WORKER" in os.environ:
    from tests.warm_start import WarmStart

    from uwf_core.testing.project import Project

    Project.run_command = staticmethod(WarmStart().run)
