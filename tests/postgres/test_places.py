"""URLs of PostgreSQL: hostile ones, passwords, TLS, rights, versions, and what cannot be stored."""

import pytest
from psycopg.conninfo import conninfo_to_dict

from uwf_core.api.environment import passed_on, passwords_in, without_passwords
from uwf_core.errors import StoreError, StoreVersionError, UwfError
from uwf_core.testing.project import Project
from uwf_store_postgres.backend import open_postgres
from uwf_store_postgres.faults import masked
from uwf_store_postgres.place import place_of
from uwf_testing.store_records import record, variable

SECRET = "hunter2-hunter2"


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://u:{SECRET}@h:port/d",
        f"postgresql://u:{SECRET}%zz@h/d",
        f"postgresql:u:{SECRET}@h",
        f"postgresql://u:{SECRET}@[::1/d",
        f"postgresql://u:{SECRET}@h/d?nonsense=1",
        f"postgresql://u:{SECRET}@h/d?schema=a;DROP SCHEMA b",
        f"postgresql://u:{SECRET}@h/d?schema=Ä",
        f"postgresql://u:{SECRET}@h/d?pooler=magic",
        f"postgresql://u:{SECRET}@h/d?lease=0",
        f"postgresql://u:{SECRET}@h/d?lease=nan",
        f"postgresql://h/d?password={SECRET}&touch=-1",
        f"postgresql://u:{SECRET}@h/\0",
    ],
)
def test_a_url_that_cannot_be_used_is_rejected_without_its_password(url):
    with pytest.raises(StoreError) as caught:
        place_of(url)
    shown = f"{caught.value.document()}"
    assert SECRET not in shown
    assert caught.value.__cause__ is None
    assert caught.value.hint


@pytest.mark.parametrize(
    ("url", "mode"),
    [
        ("postgresql://u@db.example.org/d", "verify-full"),
        ("postgresql://u@localhost,db.example.org/d", "verify-full"),
        ("postgresql://u@localhost/d?hostaddr=203.0.113.1", "verify-full"),
        ("postgresql://u@db.example.org/d?sslmode=require", "require"),
        ("postgresql://u@localhost/d", None),
        ("postgresql://u@127.0.0.1:5433/d", None),
        ("postgresql://u@%2Frun%2Fpostgresql/d", None),
        ("postgresql:///d", None),
    ],
)
def test_the_certificate_of_another_machine_is_verified(url, mode, monkeypatch):
    monkeypatch.delenv("PGHOST", raising=False)
    monkeypatch.delenv("PGSSLMODE", raising=False)
    assert conninfo_to_dict(place_of(url).conninfo).get("sslmode") == mode


def test_no_password_is_shown():
    for url in (f"postgresql://u:{SECRET}@h/d", f"postgresql://u@h/d?password={SECRET}"):
        place = place_of(url)
        assert SECRET not in place.shown + repr(place)
        assert SECRET in place.conninfo
        assert SECRET not in without_passwords(url)
        assert SECRET not in masked(url) + masked(place.conninfo)
    assert [*passwords_in("postgresql://u:a%40b%2F@h/d")] == ["a%40b%2F", "a@b/"]


def test_no_agent_gets_the_url_of_the_store():
    assert passed_on({"UWF_STORE": "postgresql://x", "A": "1"}, ["UWF_*", "UWF_STORE", "A"]) == {
        "A": "1"
    }


def test_a_password_in_the_url_is_masked_everywhere(tmp_path):
    project = Project(tmp_path)
    project.config(f"store: postgresql://uwf:{SECRET}@127.0.0.1:1/uwf\n")
    for words in (("config", "show"), ("config", "get", "store"), ("config", "show", "--origin")):
        done = project.uwf(*words)
        assert done.exit_code == 0
        assert SECRET not in done.stdout + done.stderr
    for words in (("thread", "list"), ("store", "check"), ("store", "migrate"), ("doctor",)):
        done = project.uwf("--debug", *words) if words[0] == "thread" else project.uwf(*words)
        assert SECRET not in done.stdout + done.stderr
    logged = "".join(
        each.read_text(errors="replace") for each in project.home.rglob("*log*") if each.is_file()
    )
    assert SECRET not in logged


def test_a_worker_needs_no_right_to_change_the_schema(server, url):
    """With the rights that the guide lists everything works but `migrate`."""
    schema = url.partition("schema=")[2]
    server.execute("DROP ROLE IF EXISTS worker; CREATE ROLE worker LOGIN")
    theirs = url.replace("uwf@", "worker@")
    with pytest.raises(StoreError, match="right"):
        open_postgres(theirs, "").get(record("one").ref)
    server.execute(
        f"GRANT USAGE ON SCHEMA {schema} TO worker;"
        f"GRANT SELECT, INSERT, UPDATE, DELETE ON {schema}.node, {schema}.variable, "
        f"{schema}.lease TO worker; GRANT SELECT ON {schema}.migration TO worker"
    )
    project_backend = open_postgres(theirs, "")
    project_backend.put(record("one"))
    assert project_backend.set_variable(variable("@uwf/a"), None)
    facts = project_backend.facts()
    assert (facts["mayWrite"], facts["mayMigrate"]) == (True, False)
    assert project_backend.migrate() == [], "nothing is to be applied"
    project_backend.close()
    with pytest.raises(StoreError, match="right"):
        open_postgres(theirs.replace(schema, "other_schema"), "").migrate()
    server.execute(f"REVOKE ALL ON ALL TABLES IN SCHEMA {schema} FROM worker;"
                   f"REVOKE ALL ON SCHEMA {schema} FROM worker; DROP ROLE worker")  # fmt: skip


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("UPDATE {}.migration SET version = 99 WHERE version = 2", "newer uwf"),
        ("UPDATE {}.migration SET layout = 99", "newer uwf"),
        ("UPDATE {}.migration SET layout = 1", "older uwf"),
    ],
)
def test_a_store_of_another_version_is_refused(server, url, change, words):
    server.execute(change.format(url.partition("schema=")[2]))
    with pytest.raises(StoreVersionError, match=words):
        open_postgres(url, "").get(record("one").ref)


def test_older_tables_are_only_read(server, url):
    server.execute(f"DELETE FROM {url.partition('schema=')[2]}.migration WHERE version = 2")
    backend = open_postgres(url, "")
    assert backend.get(record("one").ref) is None
    for write in (
        lambda: backend.put(record("one")),
        lambda: backend.set_variable(variable("@uwf/a"), None),
        lambda: backend.lock("@uwf/a", None),
    ):
        with pytest.raises(StoreVersionError, match="only reads"):
            write()
    backend.close()


def test_what_cannot_be_stored_is_an_error_with_a_hint(url):
    """NUL in names, lone surrogates, nodes over 64 MB, and names that no index takes."""
    backend = open_postgres(url, "")
    one = variable("@uwf/a")
    for each in (
        one._replace(name="@uwf/\0"),
        one._replace(name="@uwf/\ud800"),
        one._replace(tags={"x": "\ud800"}),
        one._replace(name="@uwf/" + "".join(map(str, range(4000)))),
    ):
        with pytest.raises(UwfError) as caught:
            backend.set_variable(each, None)
        assert caught.value.hint
    with pytest.raises(StoreError, match="64 MB"):
        backend.put(record("x" * (64 << 20)))
    assert backend.variables("") == []
    tags = one._replace(tags={"status": "a\0b", "x": "\0"})
    assert backend.set_variable(tags, None), "NUL in tags is stored"
    assert backend.variables("", tags={"status": ["a\0b"]}) == [tags]
    large = record("x" * (3 << 20))
    backend.put(large)
    assert backend.get(large.ref) == large
    backend.close()
