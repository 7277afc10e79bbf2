"""Draw what a command prints on a terminal as an SVG: `python docs/pictures/terminal.py`.

Runs `uwf demo` in a pseudo-terminal and writes `docs/pictures/demo.svg`. Only lines that stay on
the screen are drawn. The picture names no font of another host, so nothing is fetched to show it.
"""

import io
import os
import pty
import re
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

HERE = Path(__file__).parent
COLUMNS = 78
REDRAWN = re.compile(r"[^\n]*\x1b\[2K|\r")
"""What a later part of the same line replaces."""
SHOWN = re.compile(r"(\x1b\[\d+m)*(#\d|tests before|tests after|thread\b.*completed)")
"""What is drawn of the demo: how it went, without the long text of the thread."""
FORMAT = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}">
<title>What uwf demo prints</title>
<style>
text {{ font: {char_height}px ui-monospace, Menlo, Consolas, monospace; }}
{styles}
</style>
<rect width="100%" height="100%" rx="8" fill="#0d1117"/>
<defs>{lines}</defs>
<g transform="translate(9, 12)">{backgrounds}<g class="{unique_id}-matrix">{matrix}</g></g>
</svg>
"""


def screen(command: list[str], env: dict[str, str]) -> str:
    """The lines that stay on the screen after a command, with their colours."""
    child, terminal = pty.fork()
    if child == 0:
        os.execvpe(command[0], command, env)
    printed = b""
    while part := _read(terminal):
        printed += part
    os.waitpid(child, 0)
    return REDRAWN.sub("", printed.decode())


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # Linux: the other side has closed
        return b""


def draw(title: str, text: str) -> str:
    """The text as an SVG document."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), color_system="standard")
    console.print(Text.from_ansi(text))
    drawn = console.export_svg(title=title, code_format=FORMAT, unique_id="uwf")
    return "\n".join(line.rstrip() for line in drawn.splitlines()) + "\n"


def main() -> None:
    """Run the demo, and draw its beginning."""
    with tempfile.TemporaryDirectory(prefix="uwf-picture-") as home:
        env = {**os.environ, "UWF_HOME": home, "COLUMNS": str(COLUMNS), "TERM": "xterm-256color"}
        printed = screen([str(Path(sys.executable).with_name("uwf")), "demo"], env)
    lines = ["\x1b[1m$ uwf demo\x1b[0m", *filter(SHOWN.match, printed.splitlines())]
    (HERE / "demo.svg").write_text(draw("uwf demo", "\n".join(lines)), encoding="utf-8")


if __name__ == "__main__":
    main()
