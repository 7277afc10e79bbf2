"""Demands on uwf-core mean what `packaging` says they mean, mostly without importing it."""

import subprocess
import sys

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from packaging.requirements import Requirement

from uwf_core.plugins.status import demand_problem, demand_warning

releases = st.lists(st.integers(0, 3), min_size=1, max_size=3).map(
    lambda parts: ".".join(map(str, parts))
)
operators = st.sampled_from([">=", "<=", ">", "<", "==", "!=", "~="])
clauses = st.lists(st.tuples(operators, releases), max_size=3).map(
    lambda pairs: ",".join(f"{operator}{'1.' if operator == '~=' else ''}{release}"
                           for operator, release in pairs)
)  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(
    name=st.sampled_from(["uwf-core", "uwf_core[llm]", "UWF.Core [a,b]"]),
    demand=clauses,
    blank=st.sampled_from(["", " "]),
    installed=st.one_of(releases, st.sampled_from(["1.0rc1", "2.0.dev1", "1.1.post1"])),
)
@example(name="uwf-core", demand="==1.*", blank="", installed="1.2")
@example(name="uwf-core", demand="===1.0", blank="", installed="1")
def test_a_demand_means_what_packaging_says(
    name: str, demand: str, blank: str, installed: str
) -> None:
    text = f"{name}{blank}{demand}"
    expected = Requirement(text).specifier.contains(installed, prereleases=True)
    assert (demand_problem([text], installed) is None) is expected


@pytest.mark.parametrize("text", ["uwf-core >>> 1", "uwf-core[llm", "uwf-core>=", "uwf-core>=1,"])
def test_what_is_no_demand_is_quoted(text: str) -> None:
    problem = demand_problem([text], "1.0")
    assert (problem is None) is (text == "uwf-core>=1,")  # packaging allows the trailing comma
    assert problem is None or repr(text) in problem


def test_the_usual_demand_costs_no_import() -> None:
    code = (
        "import sys\nfrom uwf_core.plugins.status import demand_problem, demand_warning\n"
        "assert demand_problem(['uwf-core[llm]>=0.1,<1'], '0.1.0') is None\n"
        "assert demand_problem(['uwf-core[llm]>=0.2,<1'], '0.1.0')\n"
        "assert 'packaging' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    ("requires", "warning"),
    [
        ([], "declares no requirement on uwf-core"),
        (["uwf-core"], "no upper bound on uwf-core (uwf-core)"),
        (["uwf-core>=0.1"], "no upper bound on uwf-core (uwf-core>=0.1)"),
        (["uwf-core>=0.1; python_version<'4'"], "no upper bound"),
        (["uwf-core!=0.3"], "no upper bound"),
        (["uwf-core==0.1"], "pins uwf-core to one version (uwf-core==0.1)"),
        (["uwf-core===0.1"], "pins uwf-core"),
        (["uwf-core>=0.1,<1"], None),
        (["uwf-core[llm]>=0.1,<1"], None),
        (["uwf-core~=0.1"], None),
        (["uwf-core==0.*"], None),
        (["uwf-core>=0.1", "uwf-core<1"], None),
    ],
)
def test_an_unwise_demand_is_told_before_it_breaks_anything(
    requires: list[str], warning: str | None
) -> None:
    told = demand_warning(requires)
    assert (told is None) is (warning is None)
    assert (warning or "") in (told or "")
