"""What is built is checked where it was built: `nox -s wheels` says where in UWF_DIST."""

import os

collect_ignore = [] if os.environ.get("UWF_DIST") else ["test_contents.py"]
