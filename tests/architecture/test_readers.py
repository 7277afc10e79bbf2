"""Files whose path others can choose are read by `read_regular` (or `open_regular`) alone. Each
module that reads in another way stands here, with the reason why nobody else chooses its files.
"""

import ast

from sources import nodes, shipped_modules

OWN_HOME = "a file of the home, whose name and content are uwf's"
OF_PACKAGE = "a file of an installed distribution"
OF_SYSTEM = "a file of the kernel, or a folder that is waited for"
RETURNED = "a descriptor that the reader has opened, or an opener that is as careful"
PROGRAM = "a program of its own: the caller chooses its files"

ALLOWED = {
    "uwf_agent_acp/agent/permissions.py": OWN_HOME,
    "uwf_agent_builtin/sessions/images.py": RETURNED,
    "uwf_agent_builtin/sessions/transcript.py": OWN_HOME,
    "uwf_agent_builtin/tools/walk.py": RETURNED,
    "uwf_agent_claude_code/environment.py": OF_SYSTEM,
    "uwf_agent_claude_code/sessions.py": OWN_HOME,
    "uwf_agent_claude_code/transcripts.py": RETURNED,
    "uwf_agent_hermes/role_plugin.py": PROGRAM,
    "uwf_core/agents/command.py": "opened before the program starts that writes it",
    "uwf_core/agents/session_totals.py": OWN_HOME,
    "uwf_core/api/serve.py": PROGRAM,
    "uwf_core/cli/operation.py": "the pipe of the process that has started this one",
    "uwf_core/cli/prompt.py": OF_PACKAGE,
    "uwf_core/demo/agent.py": PROGRAM,
    "uwf_core/demo/players.py": OF_PACKAGE,
    "uwf_core/demo/site.py": OF_PACKAGE,
    "uwf_core/engine/log_file.py": OWN_HOME,
    "uwf_core/engine/results.py": OWN_HOME,
    "uwf_core/examples/shelf.py": OF_PACKAGE,
    "uwf_core/fields/records.py": OF_PACKAGE,
    "uwf_core/files/index.py": OWN_HOME,
    "uwf_core/files/packs.py": OWN_HOME,
    "uwf_core/files/repository.py": OWN_HOME,
    "uwf_core/notices/sending.py": OWN_HOME,
    "uwf_core/operations/rows.py": OF_PACKAGE,
    "uwf_core/plugins/describe.py": OF_PACKAGE,
    "uwf_core/plugins/project_plugins.py": RETURNED,
    "uwf_core/plugins/repair.py": OF_PACKAGE,
    "uwf_core/plugins/scan.py": OF_PACKAGE,
    "uwf_core/process/folders.py": OF_SYSTEM,
    "uwf_core/process/identity.py": OF_SYSTEM,
    "uwf_core/process/launch.py": OF_PACKAGE,
    "uwf_core/process/leftovers.py": OF_SYSTEM,
    "uwf_core/process/mounts.py": OF_SYSTEM,
    "uwf_core/process/reaper.py": OF_SYSTEM,
    "uwf_core/process/tree.py": OF_SYSTEM,
    "uwf_core/replay/pytest.py": "compares what it has just written",
    "uwf_core/stores/locks.py": OWN_HOME,
    "uwf_core/testing/mock.py": OWN_HOME,
    "uwf_core/threads/background.py": OWN_HOME,
    "uwf_core/threads/clock.py": OWN_HOME,
    "uwf_core/maintenance/attest.py": "the bundle that it has just written",
    "uwf_core/maintenance/home_copy.py": RETURNED,
    "uwf_core/workflow/load.py": RETURNED,
    "uwf_eval/judges/identity.py": OF_PACKAGE,
    "uwf_eval/judges/launcher.py": PROGRAM,
    "uwf_eval/report/html/page.py": OF_PACKAGE,
    "uwf_eval/run/folder.py": OWN_HOME,
    "uwf_eval/task/archive.py": RETURNED,
    "uwf_eval/task/load.py": "the template that it has just copied",
    "uwf_eval/task/templates/expected.py": PROGRAM,
    "uwf_eval/task/templates/task/agents/scripted.py": PROGRAM,
    "uwf_eval/task/templates/task/judges/spelling.py": PROGRAM,
    "uwf_eval/task/tree.py": RETURNED,
    "uwf_improve/sealed/catalog.py": OWN_HOME,
    "uwf_improve/sealed/tasks.py": OWN_HOME,
    "uwf_store_postgres/schema.py": OF_PACKAGE,
    "uwf_web/assets.py": OF_PACKAGE,
    "uwf_web/keys.py": OWN_HOME,
    "uwf_web/pages/downloads.py": "the bundle that it has just written",
    "uwf_web/running.py": OWN_HOME,
    "uwf_web/workflow_files.py": RETURNED,
}


def reading_modules() -> set[str]:
    """The modules that read a file in another way, without the kits for tests."""
    return {
        path.as_posix().partition("/src/")[2]
        for path in shipped_modules()
        if "uwf-testing" not in path.parts
        and any(isinstance(node, ast.Call) and reads(node) for node in nodes(path))
    }


def reads(call: ast.Call) -> bool:
    """Whether a call opens a file to read it."""
    function, text = call.func, ast.unparse(call)
    if isinstance(function, ast.Attribute) and function.attr in ("read_text", "read_bytes"):
        return True
    if ast.unparse(function) == "os.open":
        others = ("O_DIRECTORY", "devnull", "_FOLDER")
        return "O_RDONLY" in text and not any(each in text for each in others)
    is_builtin = isinstance(function, ast.Name) and function.id == "open"
    is_method = isinstance(function, ast.Attribute) and function.attr == "open"
    given = [*call.args[is_builtin : is_builtin + 1]] if is_builtin or is_method else []
    given += [each.value for each in call.keywords if each.arg == "mode"]
    modes = [each.value for each in given if isinstance(each, ast.Constant)]
    return modes[0] in ("r", "rb") if modes else is_builtin and not given


def test_files_that_others_choose_are_read_by_one_function():
    """A pipe, an endless file or a link out of a repository stopped commands, or was printed."""
    assert reading_modules() == ALLOWED.keys()


def test_the_rule_sees_each_way_to_read_a_file():
    seen = [
        "open(x)", "open(x, 'rb')", "open(x, mode='r')", "p.open('rb')", "p.read_text()",
        "p.read_bytes()", "os.open(x, os.O_RDONLY)",
    ]  # fmt: skip
    others = [
        "open(x, 'wb')",
        "open(x, 'x')",
        "os.open(x, os.O_RDONLY | os.O_DIRECTORY)",
        "a.open()",
    ]
    for text, expected in [*((each, True) for each in seen), *((each, False) for each in others)]:
        call = ast.parse(text, mode="eval").body
        assert isinstance(call, ast.Call)
        assert reads(call) is expected, text
