"""The operations that this distribution adds to uwf."""

from typing import Annotated, Any, Final

from uwf_core.operations.declare import Table, Tool
from uwf_core.operations.kinds import OUTPUT, Step, Thread

TABLE: Final = Table("uwf_explain", texts="uwf_explain")


@TABLE.operation(
    "thread.why", ":why", run="commands:why", document=True,
    mcp=[Tool("why", "thread step", pages="sections")],
)  # fmt: skip
def thread_why(
    thread: Thread,
    *,
    step: Annotated[Step | None, "Explain only this step."] = None,
    output: Annotated[str | None, OUTPUT, "Write a whole page: FILE.html or FILE.md."] = None,
) -> Any:
    """Explain why a thread went as it did, in sentences.

    For each step: what the role was asked and by which rule, what it delivered, rejected replies,
    failed attempts, what persons said, costs, and the prompt with the origin of each part. Each
    sentence ends with the references of the nodes that prove it. A page contains all texts, is one
    file and requests nothing.

    > Explain why a thread went as it did: for each step the reply, the field and the rule that
    > routed it, each statement with the references that prove it.

    $ uwf thread why @last
    $ uwf thread why @last -o why.html
    $ uwf thread why @last --step 3FQ8
    """
