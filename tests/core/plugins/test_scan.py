"""What is installed is found without importing anything, and as imports would find it."""

from pathlib import Path

from uwf_core.plugins.scan import AGENTS, EntryPoint, scan

from .conftest import Site


def names(found: list[EntryPoint]) -> list[tuple[str, str, str]]:
    return [(each.group, each.name, each.target) for each in found]


def test_entry_points_are_found_with_their_distribution(site: Site) -> None:
    site.add(
        "Demo.Agent",
        {"console_scripts": {"demo": "demo:main"}, AGENTS: {"demo": "demo.plugin [extra]"}},
        version="2.1",
        requires=["click", "uwf-core>=0.1,<1", "uwf_core[llm]; extra == 'llm'"],
    )
    (found,) = scan(path=[str(site.folder)])
    assert (found.group, found.name, found.target) == (AGENTS, "demo", "demo.plugin")
    assert (found.distribution, found.version) == ("Demo.Agent", "2.1")
    assert found.requires == ("uwf-core>=0.1,<1",)


def test_the_built_ins_are_found_like_any_other() -> None:
    found = {(each.group, each.name): each.distribution for each in scan()}
    assert found["uwf.agents", "mock"] == "uwf-core"
    assert found["uwf.agents", "human"] == "uwf-core"
    assert found["uwf.extractors", "frontmatter"] == "uwf-core"


def test_an_editable_install_by_egg_info_is_found(tmp_path: Path) -> None:
    info = tmp_path / "demo_agent.egg-info"
    info.mkdir()
    (info / "PKG-INFO").write_text("Metadata-Version: 2.1\nName: demo-agent\nVersion: 3\n")
    (info / "entry_points.txt").write_text("[uwf.agents]\ndemo = demo\n")
    assert names(scan(path=[str(tmp_path)])) == [(AGENTS, "demo", "demo")]


def test_what_an_interrupted_pip_left_behind_is_ignored(site: Site) -> None:
    info = site.agent("one")
    info.rename(info.with_name("~emo_one-1.0.dist-info"))
    assert scan(path=[str(site.folder)]) == []


def test_a_distribution_without_metadata_is_found_with_its_fault(site: Site) -> None:
    (site.agent("one") / "METADATA").unlink()
    (found,) = scan(path=[str(site.folder)])
    assert (found.name, found.distribution, found.version) == ("one", "demo_one", "1.0")
    assert found.defect.endswith("has no readable METADATA")
    site.agent("one", version="2.0")
    (found,) = scan(path=[str(site.folder)])
    assert (found.version, found.defect) == ("2.0", ""), "what is whole wins"


def test_a_name_with_a_nul_is_listed_as_broken_and_stops_nothing(site: Site) -> None:
    site.agent("one")
    info = site.agent("two")
    (info / "entry_points.txt").write_bytes(
        b"[uwf.agents]\nt\0o = demo_two\n[uwf.observers]\ne\0e = demo_two\n"
    )
    done = site.run(
        "for each in Plugins(home=HOME_).list():\n"
        "    print(repr(each.found.name), each.status.value, each.reason)\n"
        "Plugins(home=HOME_).observers(print, 60)\n"
        "Plugins(home=HOME_).found('uwf.agents', 'one')\n"
        "Plugins(home=HOME_).found('uwf.agents', 't\\0o')",
        check=False,
    )
    assert "'t\\x00o' broken its name 't\\x00o' is invalid" in done.stdout
    assert "PluginBroken" in done.stderr.splitlines()[-1]


def test_the_first_entry_of_the_path_wins_as_it_does_for_imports(tmp_path: Path) -> None:
    first, second = Site(tmp_path / "first"), Site(tmp_path / "second")
    first.add("demo-one", {AGENTS: {"new": "one"}}, version="2")
    second.add("Demo_One", {AGENTS: {"old": "one"}}, version="1")
    assert names(scan(path=[str(first.folder), str(second.folder)])) == [(AGENTS, "new", "one")]


def test_a_first_entry_without_plugins_still_hides_the_second(tmp_path: Path) -> None:
    first, second = Site(tmp_path / "first"), Site(tmp_path / "second")
    first.add("demo-one", {"console_scripts": {"demo": "one:main"}}, version="2")
    second.add("demo-one", {AGENTS: {"old": "one"}}, version="1")
    assert scan(path=[str(first.folder), str(second.folder)]) == []


def test_the_same_folder_twice_on_the_path_is_no_duplicate(site: Site) -> None:
    site.agent("one")
    assert len(scan(path=[str(site.folder), f"{site.folder}/"])) == 1


def test_names_that_share_their_first_word_do_not_hide_each_other(tmp_path: Path) -> None:
    for name in ("demo-one-1.0", "demo-two-1.0"):
        info = tmp_path / f"{name}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Name: {name[:8]}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[uwf.agents]\n{name[5:8]} = demo\n")
    assert [each.name for each in scan(path=[str(tmp_path)])] == ["one", "two"]


def test_zip_files_and_absent_folders_on_the_path_are_ignored(tmp_path: Path) -> None:
    archive = tmp_path / "a.zip"
    archive.write_bytes(b"PK\x05\x06" + bytes(18))
    assert scan(path=[str(archive), str(tmp_path / "absent")]) == []


def test_comments_blank_lines_and_strange_bytes_do_no_harm(site: Site) -> None:
    info = site.agent("one")
    with (info / "entry_points.txt").open("ab") as stream:
        stream.write(b"\n# uwf\n; uwf\n\xff\xfe\n[other]\nx = y\n")
    assert (AGENTS, "one", "demo_one") in names(scan(path=[str(site.folder)]))


def test_the_scan_imports_no_plugin_and_nothing_heavy(site: Site) -> None:
    site.agent("one", "raise SystemExit(3)")
    done = site.run("print(len(Plugins().list()), *sorted(sys.modules))")
    count, *modules = done.stdout.split()
    assert int(count) >= 4
    heavy = {"pluggy", "importlib.metadata", "packaging", "pydantic", "demo_one", "tomllib"}
    assert heavy.isdisjoint(modules)


def test_an_agents_name_may_have_two_parts(tmp_path):
    info = tmp_path / "family-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: family\nVersion: 1\n")
    names = ("f:one", "f:", ":one", "f:one:two")
    lines = "".join(f"{name} = family\n" for name in names)
    (info / "entry_points.txt").write_text(f"[uwf.agents]\n{lines}[uwf.stores]\nf:one = family\n")
    found = {(each.group, each.name): bool(each.defect) for each in scan(path=[str(tmp_path)])}
    assert found == {
        ("uwf.agents", "f:one"): False,
        ("uwf.agents", "f:"): True,
        ("uwf.agents", ":one"): True,
        ("uwf.agents", "f:one:two"): True,
        ("uwf.stores", "f:one"): True,
    }
