"""The wrong tools: each counts the words of a file in the workspace."""

# ruff: noqa: N801 (a class is called as its entry point is)

import os
import sys
import threading
import time
from pathlib import Path


class right_tool:
    def __call__(self, arguments, context):
        if arguments["path"] == "slow":
            context.cancel.wait(9)
            return "stopped"
        return str(len(Path(context.cwd, arguments["path"]).read_text().split()))


class answers_a_number(right_tool):
    def __call__(self, arguments, context):
        return int(super().__call__(arguments, context))


class takes_a_failure_for_an_answer(right_tool):
    def __call__(self, arguments, context):
        try:
            return super().__call__(arguments, context)
        except OSError:
            return "0"


class fails_in_silence(right_tool):
    def __call__(self, arguments, context):
        try:
            return super().__call__(arguments, context)
        except OSError:
            raise ValueError from None


class ends_the_process(right_tool):
    def __call__(self, arguments, context):
        try:
            return super().__call__(arguments, context)
        except OSError as error:
            sys.exit(str(error))


class takes_its_arguments_apart(right_tool):
    def __call__(self, arguments, context):
        return super().__call__({"path": arguments.pop("path")}, context)


class shows_the_environment(right_tool):
    def __call__(self, arguments, context):
        return f"{super().__call__(arguments, context)}\n{dict(os.environ)}"


class writes_where_uwf_was_called(right_tool):
    def __call__(self, arguments, context):
        answer = super().__call__(arguments, context)
        Path("counted.txt").write_text(answer)
        return answer


class ignores_the_cancel_token(right_tool):
    def __call__(self, arguments, context):
        if arguments["path"] == "slow":
            time.sleep(5)
        return super().__call__(arguments, context)


class leaves_a_helper_running(right_tool):
    def __call__(self, arguments, context):
        if threading.current_thread() is threading.main_thread():
            threading.Thread(target=time.sleep, args=(5,), daemon=True).start()
        return super().__call__(arguments, context)


class works_in_the_current_folder(right_tool):
    def __call__(self, arguments, context):
        answer = super().__call__(arguments, context)
        os.chdir(context.cwd)
        return answer


class prints_the_count(right_tool):
    def __call__(self, arguments, context):
        answer = super().__call__(arguments, context)
        print(answer)
        return answer


class has_a_list_of_parameters(right_tool):
    """Its record has the schema of a list."""


class has_no_schema(right_tool):
    """Its record has parameters that are no JSON Schema."""


class says_nothing_about_itself(right_tool):
    """Its record has an empty description."""
