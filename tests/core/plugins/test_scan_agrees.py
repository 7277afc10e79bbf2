"""Our scan of names and importlib-metadata say the same about whatever lies on the import path."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from importlib_metadata import Distribution, distributions
from packaging.requirements import Requirement

from uwf_core.plugins.describe import dependencies, describe
from uwf_core.plugins.scan import GROUPS, normalised, scan

from .conftest import Site

# (group, name, target, distribution, version)
Row = tuple[str, str, str, str, str]

ENTRY_POINTS = st.sampled_from(
    [
        "[uwf.agents]\none = demo\n",
        "[uwf.agents]\none = demo.plugin\ntwo = demo:make\n\n[console_scripts]\nd = demo:main\n",
        "# a comment\n[uwf.stores]\n\n  files=demo.files  \n[ uwf.judges ]\nj = demo\n",
        "[uwf.commands]\r\neval = demo:command\r\n",
        "[uwf.agents]\none = demo\n[uwf.observers]\nwith-extra = demo:it [more]\n",
        "[console_scripts]\ndemo = demo:main\n",
        "",
        None,
    ]
)
BROKEN = st.sampled_from(
    [
        "[uwf.agents]\nno target\nbad = demo\n",
        "one = demo\n[uwf.agents",
        "\0\0 uwf.agents",
        "[]\n=\n",
    ]
)
METADATA = st.sampled_from(
    [
        "Requires-Dist: uwf-core>=0.1\n",
        "Summary: it\n",
        "Requires-Dist: other>=1; extra == 'more'\n",
        'Requires-Dist: demo.one ; extra == "more"\n',
        "Requires-Dist: absent; extra == 'more'\nRequires-Dist: absent2; extra == 'none'\n",
        "",
        None,
    ]
)
FOLDER = st.sampled_from(
    ["demo_one-{}.dist-info", "Demo.One-{}.dist-info", "demo_one.egg-info", "other-{}.dist-info"]
)
DISTRIBUTION = st.tuples(FOLDER, st.sampled_from(["1.0", "2.1"]), ENTRY_POINTS, METADATA)
ONE_OF_A_NAME = {"unique_by": lambda each: each[0][:4].lower()}  # two would come in any order
PATH = st.lists(st.lists(DISTRIBUTION, max_size=2, **ONE_OF_A_NAME), min_size=1, max_size=3)
CALM = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


def install(site: Path, folder: str, version: str, points: str | None, more: str | None) -> None:
    info = site / folder.format(version)
    info.mkdir(parents=True, exist_ok=True)
    if points is not None:
        (info / "entry_points.txt").write_bytes(points.encode())
    if more is not None:
        name = "other" if folder.startswith("other") else "Demo.One"
        text = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{more}\nText\n"
        (info / ("PKG-INFO" if "egg" in folder else "METADATA")).write_text(text)


def has_metadata(each: Distribution) -> bool:
    return any(each.read_text(name) is not None for name in ("METADATA", "PKG-INFO"))


def by_importlib_metadata(path: list[str]) -> Iterator[Row]:
    """As `importlib_metadata.entry_points` chooses: the first of each name, whole ones before."""
    seen: set[str] = set()
    for each in sorted(distributions(path=path), key=has_metadata, reverse=True):
        name = normalised(each.name) if has_metadata(each) else None
        if name is not None and name not in seen:
            seen.add(name)
            for point in each.entry_points:
                if point.group in GROUPS and _has(each, point.extras, path):
                    target = point.value.partition("[")[0].strip()
                    yield point.group, point.name, target, each.name, each.version


def _has(each: Distribution, extras: list[str], path: list[str]) -> bool:
    """Whether what the extras of an entry point require is installed."""
    known = {normalised(other.name) for other in distributions(path=path) if has_metadata(other)}
    needed = map(Requirement, each.requires or ())
    return all(
        normalised(need.name) in known
        for need in needed
        if need.marker and any(need.marker.evaluate({"extra": extra}) for extra in extras)
    )


@CALM
@example(
    path=[
        [("demo_one-{}.dist-info", "1.0", None, None)],
        [("demo_one-{}.dist-info", "2.1", "[uwf.agents]\none = demo\n", "")],
    ]
)
@given(PATH)
def test_both_find_the_same_plugins_of_the_same_distributions(
    path: list[list[tuple[str, str, str | None, str | None]]],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        sites = [Path(folder, str(number)) for number in range(len(path))]
        for site, installed in zip(sites, path, strict=True):
            site.mkdir()
            for each in installed:
                install(site, *each)
        found = scan(path=[str(site) for site in sites])
        ours = [
            (each.group, each.name, each.target, each.distribution, each.version)
            for each in found
            if not each.defect
        ]
        assert sorted(ours) == sorted(by_importlib_metadata([str(site) for site in sites]))


@CALM
@given(DISTRIBUTION, BROKEN)
def test_leftovers_and_malformed_files_change_nothing_about_the_others(
    good: tuple[str, str, str | None, str | None], broken: str
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        site = Path(folder, "site")
        install(site, *good)
        expected = sorted(by_importlib_metadata([str(site)]))
        install(site, "~emo_one-{}.dist-info", "0.9", "[uwf.agents]\nleft = over\n", "")
        install(site, "broken-{}.dist-info", "1.0", broken, None)
        found = [each for each in scan(path=[str(site)]) if not each.defect]
        rows = [(e.group, e.name, e.target, e.distribution, e.version) for e in found]
        assert sorted(rows) == expected


def test_both_agree_about_this_installation() -> None:
    import sys

    ours = {(e.group, e.name, e.target, e.distribution, e.version) for e in scan()}
    assert ours == set(by_importlib_metadata(sys.path))


def test_a_distribution_is_described_with_its_place_and_its_unmet_requirements(site: Site) -> None:
    requires = ["click>=1", "click<1", "absent-library", "x[; y", "tomli; python_version < '3'"]
    info = site.add("demo-one", {}, requires=[*requires, "absent; extra == 'more'"])
    (info / "INSTALLER").write_text("pip\n")
    (info / "direct_url.json").write_text('{"url": "file:///x", "dir_info": {"editable": true}}')
    setup = "from uwf_core.plugins.describe import dependencies, describe"
    assert site.value("describe('demo.one')", setup) == {
        "location": str(site.folder),
        "installer": "pip",
        "editable": True,
    }
    met = site.value("{e.requirement: e.met for e in dependencies('Demo_One')}", setup)
    assert met == {"click>=1": True, "click<1": False, "absent-library": False, "x[; y": False}
    assert describe("no-such-distribution") is None
    assert list(dependencies("no-such-distribution")) == []
