"""The wrong extractors: each takes the last line of a text as JSON."""

# ruff: noqa: N801 (a class is called as its entry point is)

import json
import time

from uwf_core.api import ExtractProblem, ExtractReply, Usage
from uwf_testing.extractor_texts import SCHEMA


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
        return reply._replace(body=reply.body and f"{reply.body}\n(The end.)")


class loses_the_body(right_extractor):
    def extract(self, request):
        return super().extract(request)._replace(body="")


class raises_at_bad_text(right_extractor):
    def extract(self, request):
        if request.raw.startswith("---") and ".nan" in request.raw:
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
            time.sleep(4)
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


class completes_a_variant(right_extractor):
    def extract(self, request):
        request.schema["oneOf"][0]["additionalProperties"] = False
        return super().extract(request)


class keeps_one_line_of_the_body(right_extractor):
    def extract(self, request):
        reply = super().extract(request)
        return reply._replace(body=reply.body.strip().partition("\n")[0])


class takes_the_fields_for_the_body(right_extractor):
    def extract(self, request):
        return super().extract(request)._replace(body=request.raw)


class has_no_body_beside_errors(right_extractor):
    def refused(self, why):
        return super().refused(why)._replace(body=None)


class counts_nothing(right_extractor):
    def extract(self, request):
        return super().extract(request)._replace(usage=None)


class counts_only_what_fails(right_extractor):
    def extract(self, request):
        reply = super().extract(request)
        return reply if reply.output is None else reply._replace(usage=None)


# -- an own format: a last line that begins with @@ ------------------------------------------------


class right_in_its_format(right_extractor):
    def extract(self, request):
        body, _, last = request.raw.rstrip("\n").rpartition("\n")
        if not last.startswith("@@"):
            return self.refused("the last line does not begin with @@")
        return self.read(last[2:], body)

    def read(self, line, body):
        try:
            output = self.parse(line)
        except (ValueError, RecursionError) as error:
            return self.refused(str(error))
        if not isinstance(output, dict):
            return self.refused("what follows @@ is no object")
        return ExtractReply(output=output, body=body)

    def parse(self, line):
        return json.loads(line)


class trips_over_nan(right_in_its_format):
    def parse(self, line):
        return json.loads(line, parse_constant={}.__getitem__)


class trips_over_depth(right_in_its_format):
    def parse(self, line):
        try:
            return super().parse(line)
        except RecursionError as error:
            raise KeyError("too deep") from error


class trips_over_long_numbers(right_in_its_format):
    def parse(self, line):
        if "9" * 5_000 in line:
            raise OverflowError("the number is too long")
        return super().parse(line)


class trips_over_lone_surrogates(right_in_its_format):
    def read(self, line, body):
        reply = super().read(line, body)
        json.dumps(reply.output, ensure_ascii=False).encode()
        return reply


class trips_over_half_a_line(right_in_its_format):
    def read(self, line, body):
        assert line.endswith("}")
        return super().read(line, body)


class trips_over_a_missing_status(right_in_its_format):
    def read(self, line, body):
        reply = super().read(line, body)
        return reply if reply.output is None or reply.output["$status"] else self.refused("none")


class gives_errors_beside_an_output(right_in_its_format):
    def read(self, line, body):
        reply = super().read(line, body)
        if reply.output is None or reply.output.get("$status") in ("done", "failed"):
            return reply
        return reply._replace(errors=(ExtractProblem("$status", "is not one of done, failed"),))


class refuses_an_unknown_status_in_silence(right_in_its_format):
    def read(self, line, body):
        reply = super().read(line, body)
        if reply.output is None or reply.output.get("$status") in ("done", "failed"):
            return reply
        return ExtractReply(body=body)
