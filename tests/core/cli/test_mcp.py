"""`uwf mcp` where its extra is missing. `tests/core/mcp` has what it does."""

import sys


def test_without_the_extra_uwf_says_how_to_install_it(uwf, monkeypatch):
    for name in ("anyio", "mcp", "mcp_types"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, "uwf_core.mcp.serve", raising=False)
    answer = uwf("mcp", "--format", "json")
    assert answer.code == 2
    assert "pip install 'uwf-core[mcp]'" in answer.err
