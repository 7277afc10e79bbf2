"""The wrong judges: each looks for README.md in the trial's folder."""

# ruff: noqa: N801 (a class is called as its entry point is)

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
