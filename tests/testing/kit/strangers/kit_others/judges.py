"""The wrong judges: each looks for README.md in the trial's folder."""

# ruff: noqa: N801 (a class is called as its entry point is)

import os
import threading
import time
from dataclasses import replace
from pathlib import Path

from uwf_core.api import JudgeReply, Usage


class right_judge:
    def __init__(self, options, context):
        pass

    def judge(self, request):
        if not Path(request.cwd).is_dir():
            raise FileNotFoundError(f"there is no trial in {request.cwd}")
        if Path(request.cwd, "slow").exists():
            request.cancel.wait(9)
        return JudgeReply(score=float(Path(request.cwd, "README.md").is_file()))


class scores_in_percent(right_judge):
    def judge(self, request):
        return JudgeReply(score=super().judge(request).score * 100)


class likes_everything(right_judge):
    def judge(self, request):
        super().judge(request)
        return JudgeReply(score=1.0)


class scores_what_is_not_there(right_judge):
    def judge(self, request):
        try:
            return super().judge(request)
        except FileNotFoundError:
            return JudgeReply(score=0.0)


class keeps_paths(right_judge):
    def judge(self, request):
        return replace(super().judge(request), data={"file": Path("README.md")})


class spends_below_zero(right_judge):
    def judge(self, request):
        return replace(super().judge(request), usage=Usage(cost_usd=-0.5))


class marks_the_record(right_judge):
    def judge(self, request):
        request.record["judged"] = True
        return super().judge(request)


class takes_notes(right_judge):
    def judge(self, request):
        reply = super().judge(request)
        Path("judged.txt").write_text(str(reply.score))
        return reply


class shares_its_trial(right_judge):
    request = None

    def judge(self, request):
        type(self).request = request
        time.sleep(0.02)
        return super().judge(type(self).request)


class prints_the_score(right_judge):
    def judge(self, request):
        reply = super().judge(request)
        print(reply.score)
        return reply


class scores_true(right_judge):
    def judge(self, request):
        return JudgeReply(score=bool(super().judge(request).score))


class scores_below_zero(right_judge):
    def judge(self, request):
        return JudgeReply(score=super().judge(request).score - 1.5)


class fails_without_a_word(right_judge):
    def judge(self, request):
        try:
            return super().judge(request)
        except FileNotFoundError:
            raise ValueError from None


class writes_into_the_fixture(right_judge):
    def judge(self, request):
        if request.fixture is not None:
            Path(request.fixture, "cache.txt").write_text("for the next trial")
        return super().judge(request)


class makes_the_fixture_executable(right_judge):
    def judge(self, request):
        for file in Path(request.fixture).iterdir() if request.fixture else ():
            file.chmod(0o755)
        return super().judge(request)


class ignores_its_cancel_token(right_judge):
    def judge(self, request):
        if Path(request.cwd, "slow").exists():
            time.sleep(5)
        return super().judge(request)


class leaves_a_thread_running(right_judge):
    def judge(self, request):
        if threading.current_thread() is threading.main_thread():
            threading.Thread(target=time.sleep, args=(5,), daemon=True).start()
        return super().judge(request)


class goes_into_the_trial(right_judge):
    def judge(self, request):
        reply = super().judge(request)
        os.chdir(request.cwd)
        return reply


class sets_a_variable(right_judge):
    def judge(self, request):
        os.environ["KIT_JUDGE_WAS_HERE"] = request.cwd
        return super().judge(request)
