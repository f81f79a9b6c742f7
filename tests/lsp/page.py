"""A page without a screen: asks over the real protocol, keeps what the events add up to."""

from __future__ import annotations

import contextlib
import os
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

from jarvis_ls.lsp.protocol import extensions, panel
from jarvis_ls.lsp.protocol.panel_json import from_wire, to_wire
from jarvis_ls.runtime.base.events import (
    AnswerEntry,
    Entry,
    EntryPut,
    Event,
    Feed,
    NodeInfo,
    NodePut,
    QuestionEntry,
    ToolEntry,
)
from tests.lsp.editor import Editor, running
from tests.support.model_server import ModelServer

T = TypeVar("T")
MODEL = "scripted/scripted"
SETTINGS = """\
[model_providers.scripted]
base = "{url}"
env_keys = ["SCRIPTED_KEY"]
[model_groups.balanced]
models = ["scripted/scripted"]
"""


class Page:
    """What a person sees and does in the panel."""

    def __init__(self, editor: Editor) -> None:
        self.editor = editor
        self.batches: list[panel.PanelEvents] = []
        self.feed = Feed()
        self.seq = -1
        self.session = ""
        self._answered: set[str] = set()
        editor.client.feature(extensions.PANEL_EVENTS)(lambda params: self._told(params))

    def _told(self, params: Any) -> None:
        batch = from_wire(plain(params), panel.PanelEvents)
        assert not self.batches or batch.seq == self.batches[-1].seq + 1
        self.batches.append(batch)
        if self.seq >= 0 and batch.seq > self.seq:
            for event in batch.events:
                self.feed.publish(event)

    async def ask(self, ask: Any) -> Any:
        """Ask as the extension does; the answer as a record."""
        if isinstance(ask, (panel.PermitAsk, panel.ReviewAsk)):
            self._answered.add(ask.entry)
        answer = await self.editor.request(extensions.PANEL_ASK, {"ask": to_wire(ask)})
        return from_wire(plain(answer), panel.ANSWERS[type(ask)])

    async def attach(self, session: str = "") -> panel.Picture:
        """Begin, or come back."""
        return self.take(await self.ask(panel.AttachAsk(session)))

    def take(self, picture: panel.Picture) -> panel.Picture:
        """Show a picture, and from then on what is new."""
        self.feed, self.session, self.seq = Feed(), picture.session, picture.seq
        for event in picture.events:
            self.feed.publish(event)
        for batch in self.batches:
            if batch.seq > picture.seq:
                for event in batch.events:
                    self.feed.publish(event)
        return picture

    async def send(self, text: str, **more: Any) -> str:
        """Say something; the session it was said in."""
        opened = await self.ask(panel.SendAsk(self.session, text, **more))
        if opened.session != self.session:
            await self.attach(opened.session)
        return str(opened.session)

    def entries(self, kind: type[T], node: str = "root") -> list[T]:
        """What is shown of a kind."""
        return [
            event.entry
            for event in self.events()
            if isinstance(event, EntryPut) and event.node == node and isinstance(event.entry, kind)
        ]

    def events(self) -> list[Event]:
        """What is shown."""
        return self.feed.snapshot(self.session)

    def nodes(self) -> dict[str, NodeInfo]:
        """The agents."""
        return {e.node.id: e.node for e in self.events() if isinstance(e, NodePut)}

    async def until(self, ready: Callable[[], T]) -> T:
        """What `ready` gives, once it gives something."""
        return await self.editor.until(ready)

    async def answered(self, text: str) -> AnswerEntry:
        """The answer that holds a text, once it is whole."""
        return await self.until(
            lambda: next(
                (a for a in self.entries(AnswerEntry) if text in a.text and not a.streaming), None
            )  # type: ignore[arg-type]
        )

    async def asked(self) -> ToolEntry:
        """The tool call that waits for the user, and was not answered here."""
        return await self.until(
            lambda: next(
                (
                    t
                    for t in self.entries(ToolEntry)
                    if t.state == "asked" and t.id not in self._answered
                ),
                None,
            )  # type: ignore[arg-type]
        )

    async def questioned(self) -> QuestionEntry:
        """The question that waits for the user."""
        return await self.until(
            lambda: next((q for q in self.entries(QuestionEntry) if q.answer is None), None)  # type: ignore[arg-type]
        )

    async def rest(self) -> None:
        """Until nobody works."""
        await self.until(
            lambda: all(n.state not in ("running", "paused") for n in self.nodes().values())
        )


def plain(value: Any) -> Any:
    """JSON as it came: pygls makes named tuples of what LSP does not know."""
    if hasattr(value, "_asdict"):
        return {key: plain(item) for key, item in value._asdict().items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return value


def same(one: Entry, other: Entry) -> bool:
    """Whether two entries show the same."""
    return asdict(one) == asdict(other)


@contextlib.contextmanager
def home_with(folder: Path, settings: str = "", **environment: str) -> Iterator[Path]:
    """Servers that are started in the block have this home and environment."""
    folder.mkdir(parents=True, exist_ok=True)
    if settings:
        (folder / "config.toml").write_text(settings)
    before = dict(os.environ)
    for name in list(os.environ):
        if name.endswith("_API_KEY") or name in ("JARVIS_MODEL", "OPENAI_BASE_URL"):
            del os.environ[name]
    os.environ.update({"JARVIS_HOME": str(folder), **environment})
    try:
        yield folder
    finally:
        os.environ.clear()
        os.environ.update(before)


@contextlib.asynccontextmanager
async def opened(
    folder: Path,
    home: Path,
    model: ModelServer | None = None,
    *,
    keys: bool = True,
    settings: str = "",
    **more: Any,
) -> AsyncIterator[Page]:
    """A page on a folder; with a model when there is one, and its key unless told otherwise;
    `settings` of the user are added."""
    if model is not None:
        settings = SETTINGS.format(url=model.url) + settings
    environment = {"SCRIPTED_KEY": "sk-test-0123456789"} if model is not None and keys else {}
    with home_with(home, settings, **environment):
        async with running(folder, **more) as editor:
            yield Page(editor)
