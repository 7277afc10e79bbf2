"""Who reads a module of a room need not read the whole room."""

from benchmarks.circles import LARGEST, circles
from benchmarks.size import modules
from sources import counted_modules


def test_no_circle_of_imports_is_larger_than_four_modules():
    large = [each for found in circles(counted_modules()).values() for each in found]
    assert [each for each in large if len(each) > LARGEST] == []


def test_the_stages_of_the_engine_import_each_other_in_no_circle():
    assert circles(counted_modules())["uwf_core.engine"] == []


def test_an_import_in_a_function_or_for_the_types_alone_closes_a_circle(tmp_path):
    room = tmp_path / "uwf-some" / "src" / "uwf_some" / "room"
    room.mkdir(parents=True)
    texts = {
        "first": "if TYPE_CHECKING:\n    from uwf_some.room.second import B\n",
        "second": "def f():\n    from uwf_some.room import first\n",
        "third": "import uwf_some.room.first\n",
    }
    for name, text in texts.items():
        (room / f"{name}.py").write_text(text)
    assert circles(modules(tmp_path)) == {
        "uwf_some.room": [["uwf_some.room.first", "uwf_some.room.second"]]
    }
