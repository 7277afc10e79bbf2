"""A part of a growing reply, for protocols whose services want the parts back in their order."""

from uwf_llm.reply import ReplyBuilder


class GrowingPart:
    """A text, a call or reasoning, as it grows.

    Attributes:
        said, argued, thought: the text, the arguments and the reasoning so far.
        call: the index of the call, if it is one.
    """

    def __init__(self, builder: ReplyBuilder) -> None:
        self.builder = builder
        self.said = self.argued = self.thought = ""
        self.call: int | None = None

    def say(self, piece: str) -> None:
        """A piece of text."""
        if piece:
            self.said += piece
            self.builder.text(piece)

    def think(self, piece: str) -> None:
        """A piece of reasoning."""
        if piece:
            self.thought += piece
            self.builder.reasoning(piece)

    def name(self, name: str, number: str) -> int:
        """The name and the id of a call, which begins it; its index."""
        if self.call is None:
            self.call = self.builder.begin_call()
        elif self.builder.name_of(self.call):
            name = ""
        self.builder.call(self.call, id=number or None, name=name)
        return self.call

    def argue(self, piece: str) -> None:
        """A piece of arguments."""
        assert self.call is not None
        self.argued += piece
        self.builder.call(self.call, arguments=piece)
