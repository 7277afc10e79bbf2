"""A defect for each phase: the shell runs something else instead of one command, which only this
phase calls. `real` is the command under test.
"""

from typing import NamedTuple


class Defect(NamedTuple):
    """What is planted: the command, what is wrong with it, and what the shell runs instead."""

    phase: str
    command: str
    what: str
    instead: str


DEFECTS = (
    Defect("bootstrap", "completion", "the script sets another variable than bash reads",
           """real "$@" | sed s/COMPREPLY/REPLIES/g"""),
    Defect("configuration", "config get", "it prints the default instead of the value",
           """echo '{"key": "limits.runSeconds", "value": 3600}'"""),
    Defect("threads", "thread wait", "the exit code is 0 although the thread is busy",
           """real "$@" || true"""),
    Defect("inspection", "step turns", "the last letter of a text is lost",
           """real "$@" | sed 's/greeting/greetin/'"""),
    Defect("cancel-and-fork", "thread cancel", "it reports success and changes nothing",
           """real thread show "$3" | sed 's/"idle"/"cancelled"/'"""),
    Defect("store", "cas walk", "it stops after the first references",
           """real cas refs "$3" """),
    Defect("bundles", "bundle verify", "it accepts an altered bundle",
           """real "$@" 2>/dev/null || echo '{}'"""),
    Defect("plugins", "config set", "it reports a change and writes nothing",
           """echo '{"key": "plugins.block", "value": ["diff-size"]}'"""),
    Defect("evaluation", "eval report", "it counts one trial that passed too few",
           """real "$@" | sed 's/"passed": 2/"passed": 1/'"""),
    Defect("reading", "thread diff", "it says that two different threads are the same",
           """real "$@" | sed 's/"same": false/"same": true/'"""),
    Defect("cleanup", "cas gc", "it frees nothing",
           """real "$@" --dry-run | sed 's/"dryRun": true/"dryRun": false/'"""),
)  # fmt: skip
