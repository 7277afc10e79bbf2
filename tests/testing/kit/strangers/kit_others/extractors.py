"""The wrong extractors: each takes the last line of a text as JSON."""

# ruff: noqa: N801 (a class is called as its entry point is)

import json
import time

from uwf_core.api import ExtractProblem, ExtractReply, Usage
from uwf_testing.extractor_contract import SCHEMA


class right_extractor:
    def __init__(self, options, context):
        pass

    def extract(self, request):
        body, _, last = request.raw.rstrip("\n").rpartition("\n")
        try:
            output = json.loads(last)
        except (ValueError, RecursionError) as error:
            return self.refused(str(error))
        if not isinstance(output, dict):
            return self.refused("the last line is no JSON object")
        return ExtractReply(output=output, body=body)

    def refused(self, why):
        return ExtractReply(errors=(ExtractProblem("", why),))


class reads_texts_only(right_extractor):
    def extract(self, request):
        reply = super().extract(request)
        if reply.output is None:
            return reply
        return reply._replace(output={key: str(value) for key, value in reply.output.items()})


class rewrites_the_body(right_extractor):
    def extract(self, request):
        reply = super().extract(request)
        return reply._replace(body=reply.body.replace("-", "*"))


class loses_the_body(right_extractor):
    def extract(self, request):
        return super().extract(request)._replace(body="")


class raises_at_bad_text(right_extractor):
    def extract(self, request):
        if ".nan" in request.raw:
            raise ValueError("no number")
        return super().extract(request)


class knows_few_characters(right_extractor):
    def extract(self, request):
        odd = [letter for letter in request.raw if "\x80" <= letter <= "\xff"]
        if odd and "quoted" not in request.raw:
            raise UnicodeError(f"what is {odd[0]!r}?")
        return super().extract(request)


class says_nothing(right_extractor):
    def refused(self, why):
        return ExtractReply()


class gives_empty_reasons(right_extractor):
    def refused(self, why):
        return ExtractReply(errors=(ExtractProblem("", ""),))


class takes_its_time(right_extractor):
    def extract(self, request):
        if len(request.raw) > 500_000:
            time.sleep(0.6)
        return super().extract(request)


class completes_the_schema(right_extractor):
    def extract(self, request):
        if type(request.schema) is dict and request.schema is not SCHEMA:
            request.schema["title"] = "completed"
        return super().extract(request)


class counts_below_zero(right_extractor):
    def extract(self, request):
        return super().extract(request)._replace(usage=Usage(input_tokens=-1))


class remembers_the_last_text(right_extractor):
    raw = ""

    def extract(self, request):
        type(self).raw = request.raw
        time.sleep(0.005)
        return super().extract(request._replace(raw=type(self).raw))


class prints_what_it_reads(right_extractor):
    def extract(self, request):
        print("reading ...")
        return super().extract(request)
