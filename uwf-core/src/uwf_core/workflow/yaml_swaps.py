"""Characters that PyYAML reads in another way than uwf, swapped one for one while it reads.

Each becomes a private character of Unicode that the text does not have, so positions stay:

- NEL, LS and PS are ordinary characters in YAML 1.2, but libyaml breaks lines there;
- JSON writes a character beyond the basic plane as two escapes, which YAML does not know;
- what PyYAML would read as a comment and belongs to a text (`yaml_comments`).
"""

import re
from collections.abc import Collection

_BREAKS = "\x85\u2028\u2029"
_PAIR = r"\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|\\."
_ESCAPED = r"\\[uU](?:0000)?([e-fE-F][0-9a-fA-F]{3})"


class Swaps:
    """The swaps of one text.

    Args:
        text: what was written.
        plain: the indices of characters that belong to a text, whatever YAML says.

    Attributes:
        hidden: what PyYAML gets. marks: what it gets for each character at `plain`.
    """

    __slots__ = ("_back", "_escapes", "_unused", "hidden", "marks")

    def __init__(self, text: str, plain: Collection[int] = ()) -> None:
        self.hidden = text
        self.marks: dict[str, str] = {}
        self._back: dict[int, str] = {}
        self._escapes: dict[str, str] = {}
        breaks = [each for each in _BREAKS if each in text]
        if not (breaks or plain or "\\u" in text):
            return
        taken = {int(code, 16) for code in re.findall(_ESCAPED, text)}
        free = (code for code in range(0xE000, 0xF900) if code not in taken)
        self._unused = (chr(code) for code in free if chr(code) not in text)
        letters = list(text)
        for at in plain:
            letters[at] = self._mark(text[at])
        table = {ord(each): self._private(each) for each in breaks}
        self.hidden = "".join(letters).translate(table)
        if "\\u" in text:
            self.hidden = re.sub(_PAIR, self._hide_pair, self.hidden, flags=re.DOTALL)

    def restore(self, text: str, style: str = "") -> str:
        """The text of a scalar as it was written; the escapes in double quotes are read."""
        if not self._back:
            return text
        if self._escapes and style == '"':
            whole = text.translate(self._back).encode("utf-16", "surrogatepass")
            return whole.decode("utf-16", "surrogatepass")
        for written, hidden in self._escapes.items():
            text = text.replace(hidden, written)
        return text.translate(self._back)

    def _mark(self, character: str) -> str:
        if character not in self.marks:
            self.marks[character] = self._private(character)
        return self.marks[character]

    def _private(self, character: str) -> str:
        private = next(self._unused, character)  # after 6,400 others it stays as it is
        self._back[ord(private)] = character
        return private

    def _hide_pair(self, found: re.Match[str]) -> str:
        return found[0] if found[1] is None else self._hide(found[1]) + self._hide(found[2])

    def _hide(self, half: str) -> str:
        written = f"\\u{half}"
        if written not in self._escapes:
            private = self._private(chr(int(half, 16)))
            self._escapes[written] = f"\\u{ord(private):04x}"
        return self._escapes[written]
