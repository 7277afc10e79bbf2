"""A connection without a process."""

import json
from collections.abc import Iterator
from typing import Any


class Wire:
    """A channel without a process: `answers` are the lines that the agent says, one call for each
    line that it was sent.
    """

    def __init__(self, *answers: Any) -> None:
        self._answers = list(answers)
        self.sent: list[dict[str, Any]] = []

    def write(self, data: bytes) -> None:
        assert data.endswith(b"\n") and data.count(b"\n") == 1
        self.sent.append(json.loads(data))

    def lines(self) -> Iterator[bytes]:
        for answer in self._answers:
            said = answer(self.sent) if callable(answer) else answer
            yield said if isinstance(said, bytes) else json.dumps(said).encode()
