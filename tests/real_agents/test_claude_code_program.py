import os
import subprocess

import pytest


@pytest.mark.parametrize("variable", ["UWF_REAL_CLAUDE_CODE", "UWF_REAL_CLAUDE_CODE_NEWER"])
def test_the_pinned_version_is_the_one_that_runs(variable):
    program = os.environ[variable]
    done = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.split()[0] in program
