"""Usage is true: what is known is summed and shown, and what is unknown is never taken as 0."""

from hypothesis import given
from hypothesis import strategies as st
from tests.core.engine.conftest import APPROVED, DONE, LOOP

from uwf_core.api import NO_USAGE, Model, Price, Usage, priced
from uwf_core.client import Client
from uwf_core.testing.project import Project

COST = st.none() | st.integers(0, 5).map(float)
USAGES = st.builds(Usage, cost_usd=COST, output_tokens=st.none() | st.integers(0, 5))
PRICED = Model(
    alias="m", name="m", provider="p", base_url="http://here", price=Price(input=1, output=2)
)


@given(st.lists(USAGES, min_size=1, max_size=5), st.randoms())
def test_a_total_is_the_known_sum_in_any_order_and_marks_what_is_not_all_of_it(usages, order):
    def total(parts):
        result = NO_USAGE
        for each in parts:
            result = result.plus(each)
        return result

    costs = [each.cost_usd for each in usages]
    summed = total(usages)
    assert summed.cost_usd == (sum(filter(None, costs)) or (None if None in costs else 0))
    assert summed.is_exact("costUsd") == (None not in costs)
    order.shuffle(usages)
    assert total(usages) == summed
    assert total(usages[:2]).plus(total(usages[2:])) == summed


def test_unknown_parts_do_not_hide_the_known_sum_of_a_thread(project: Project, uwf: Client) -> None:
    known = {"turns": 1, "inputTokens": 10, "outputTokens": 5, "costUsd": 0.25}
    project.script([{**DONE, "usage": known}, {**APPROVED, "usage": {"turns": 1}}])
    thread = uwf.start("loop", "x")["thread"]
    uwf.exec(thread, until_done=True)
    usage = uwf.show(thread)["usage"]
    assert (usage["turns"], usage["inputTokens"], usage["costUsd"]) == (2, 10, 0.25)
    assert {"inputTokens", "outputTokens", "costUsd"} <= set(usage["atLeast"])
    assert "turns" not in usage["atLeast"]
    assert usage["cacheReadTokens"] is None
    shown = project.uwf("thread", "show", thread, "--format", "text").stdout
    assert "2 turns, ≥ 10 in, ≥ 5 out, ≥ $0.2500" in shown
    assert uwf.list()[0]["usage"] == usage


def test_a_total_beyond_what_json_keeps_exactly_is_a_lower_bound(
    project: Project, uwf: Client
) -> None:
    most = {"turns": 1, "inputTokens": 2**53 - 1}
    project.script([{**DONE, "usage": most}, {**APPROVED, "usage": most}])
    thread = uwf.start("loop", "x")["thread"]
    uwf.exec(thread, until_done=True)
    usage = uwf.show(thread)["usage"]
    assert (usage["turns"], usage["inputTokens"]) == (2, 2**53 - 1)
    assert "inputTokens" in usage["atLeast"]
    assert "turns" not in usage["atLeast"]


def test_a_limit_counts_what_is_known_and_says_that_it_is_not_all(project: Project) -> None:
    """ "Not enforceable" would be wrong: the limit ends the thread."""
    fail = {"fail": {"kind": "crashed", "message": "x"}, "usage": {"turns": 1}}
    project.script([{"role": "developer", "outputs": [fail, DONE["output"]]}])
    project.workflow("few", LOOP.replace("name: loop", "name: few") + "limits: {maxTokens: 9}\n")
    said: list[str] = []
    with project.client(on_notice=lambda text: "limit " in text and said.append(text)) as uwf:
        thread = uwf.start("few", "x")["thread"]
        uwf.exec(thread)
        assert said == ["limit maxTokens is not enforceable: the agent does not report it"]
        project.script([{**DONE, "usage": {"inputTokens": 5, "outputTokens": 5}}, APPROVED])
        uwf.exec(thread)
        assert (
            said[1] == "limit maxTokens counts only what is known: a call did not report all of it"
        )
        assert uwf.exec(thread).exit_code == 5


def test_an_agent_that_was_not_there_has_used_nothing(project: Project) -> None:
    project.workflow("few", LOOP.replace("name: loop", "name: few") + "limits: {maxTokens: 9}\n")
    said: list[str] = []
    with project.client(on_notice=lambda text: "limit " in text and said.append(text)) as uwf:
        thread = uwf.start("few", "x")["thread"]
        failed = uwf.exec(thread, agent="/no/such/program").document["steps"][0]
        assert failed["failure"] is not None
        assert (failed["usage"]["inputTokens"], failed["usage"]["costUsd"]) == (0, 0)
    assert said == []


def test_a_price_gives_the_cost_of_all_that_is_known() -> None:
    whole = priced(Usage(input_tokens=10**6, output_tokens=10**6), PRICED)
    assert (whole.cost_usd, whole.at_least) == (3.0, ())
    for part in (
        Usage(input_tokens=10**6),
        Usage(input_tokens=10**6, output_tokens=0, cache_read_tokens=5),
    ):
        assert (priced(part, PRICED).cost_usd, priced(part, PRICED).is_exact("costUsd")) == (
            1.0,
            False,
        )
    assert priced(Usage(output_tokens=5), None).cost_usd is None
    assert priced(NO_USAGE, None).cost_usd == 0


def test_a_workflow_that_no_thread_has_is_an_error_and_not_a_usage_of_nothing(
    project: Project,
) -> None:
    outcome = project.uwf("usage", "--workflow", "nope")
    assert (outcome.exit_code, outcome.error["code"]) == (2, "unknown-id")
    assert project.uwf("usage", "--workflow", "nope", "--since", "7d").exit_code == 0
