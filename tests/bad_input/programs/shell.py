"""Calls `uwf` as often as it is told to: a JSON line {words (hex), env} on stdin for each call, a
JSON line {exit_code, stdout, stderr} for its end.
"""

import contextlib
import io
import json
import os
import sys

from uwf_core.commands import main

environment = dict(os.environ)
for line in sys.stdin:
    order = json.loads(line)
    os.environ.clear()
    os.environ.update({**environment, **order["env"]})
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main([os.fsdecode(bytes.fromhex(word)) for word in order["words"]])
    end = {"exit_code": code, "stdout": out.getvalue(), "stderr": err.getvalue()}
    print(json.dumps(end), flush=True)
