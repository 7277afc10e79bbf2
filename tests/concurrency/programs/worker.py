"""Calls the command `uwf` several times over within one process, from the moment stdin is closed:
`worker.py TIMES WORD…`. Prints a JSON line for each call: {code, out, err}.
"""

import contextlib
import io
import json
import sys

from uwf_core.commands import main

print("ready", flush=True)
sys.stdin.read()
for _ in range(int(sys.argv[1])):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(sys.argv[2:])
    print(json.dumps({"code": code, "out": out.getvalue(), "err": err.getvalue()}), flush=True)
