"""`uwf watch` on a terminal: the finished lines, and below them a live part, drawn by Rich."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from rich.console import Console
from rich.live import Live
from rich.text import Text

from uwf_core.cli.form import can_ask
from uwf_core.cli.inbox import answered
from uwf_core.cli.render.colours import screen_of
from uwf_core.cli.session import Session
from uwf_core.cli.watch_screen import PlainLines, live_now
from uwf_core.errors import UwfError
from uwf_core.views.inbox import waiting_in

if TYPE_CHECKING:
    from uwf_core.views.following import Look


class LiveScreen(PlainLines):
    """Lines that stay, above a part that shows the steps under way, second by second."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._looks: Mapping[str, Look] = {}
        self._left: set[tuple[str, str]] = set()
        self._console = Console(
            file=session.stdout, force_terminal=True, highlight=False, markup=False, emoji=False,
            no_color=not session.screen.colour,
        )  # fmt: skip
        self._live = self._new()
        self._live.start()

    def _new(self) -> Live:
        return Live(
            get_renderable=self._now, console=self._console, transient=True, refresh_per_second=4,
            redirect_stdout=False, redirect_stderr=False,
        )  # fmt: skip

    def _now(self) -> Text:
        screen = screen_of(self.session.stdout, self.session.env, self.session.color)
        narrower = screen._replace(width=max(screen.width - 1, 10))
        return Text.from_ansi("\n".join(live_now(self._looks, narrower)), no_wrap=True)

    def show(self, looks: "Mapping[str, Look]") -> None:
        """Print what is new, and draw how it is now."""
        self._looks = {root: look for root, look in looks.items() if look.is_running}
        super().show(looks)

    def write(self, text: str) -> None:
        """Print lines above the live part."""
        self._console.print(Text.from_ansi(text), soft_wrap=True)

    def stop(self) -> None:
        """Remove the live part."""
        self._live.stop()

    def answer(self, thread: str) -> bool:
        """Ask the person what the thread asks; run it on in the background with the answer."""
        self.was_asked = False
        items = [
            each
            for each in waiting_in(self.session.engine, thread)
            if each["kind"] in ("question", "message")
            and (each["thread"], each["head"]) not in self._left
        ]
        if not items or not can_ask(self.session):
            return False
        self.stop()
        item = items[0]
        if not answered(self.session, item):
            self._left.add((item["thread"], item["head"]))
            self.was_asked = True
            return False
        self._live = self._new()
        self._live.start()
        return True

    def left(self, thread: str, look: "Look") -> None:
        """Print how the run ended, or ask what it asks."""
        try:
            if not self.answer(thread):
                super().left(thread, look)
        except UwfError as error:  # the other threads are followed on
            self.write(error.message)
        if not self._live.is_started:
            self._live = self._new()
            self._live.start()
