"""Any sequence of operations on a session, closed, torn and opened anywhere, equals a model.

The model knows nothing of journals: it is the list of what was done, and rewinding to a message
is forgetting everything from the moment on when it was said.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from jarvis_ls.runtime.base.events import (
    EntriesCut,
    EntryPut,
    NodeGone,
    NodeInfo,
    NodePut,
    NoticeEntry,
)
from jarvis_ls.runtime.base.messages import Assistant, Message, System, ToolResult, Usage, User
from jarvis_ls.runtime.session.session import JOURNAL
from jarvis_ls.runtime.session.store import SessionStore

pytestmark = pytest.mark.watches()

NODES = st.sampled_from(["root", "n1"])
TEXTS = st.text(max_size=12)
SAID = st.one_of(
    st.builds(User, TEXTS),
    st.builds(Assistant, TEXTS, TEXTS),
    st.builds(ToolResult, TEXTS, TEXTS, TEXTS, st.booleans()),
    st.builds(System, TEXTS),
)


def id_of(message: Message) -> str:
    return "" if isinstance(message, System) else message.id


class Model:
    """What one node should hold."""

    def __init__(self) -> None:
        self.done: list[tuple[str, Any]] = []

    def messages(self) -> list[Message]:
        found: list[Message] = []
        for what, value in self.done:
            found = [*found, value] if what == "said" else list(value)
        return found

    def transcript(self) -> list[Message]:
        return [value for what, value in self.done if what == "said"]

    def cut(self, first: str) -> None:
        place = next(
            n
            for n, (what, value) in enumerate(self.done)
            if what == "said" and id_of(value) == first
        )
        del self.done[place:]


class Sessions(RuleBasedStateMachine):
    @initialize()
    def begin(self) -> None:
        self.home = Path(tempfile.mkdtemp())
        self.store = SessionStore(self.home)
        self.session = self.store.create("/work")
        self.nodes: dict[str, Model] = {"root": Model(), "n1": Model()}
        self.entries: dict[str, str] = {}
        self.infos: dict[str, NodeInfo] = {}
        self.data: dict[str, int] = {}
        self.spent = Usage()
        self.title = ""

    def teardown(self) -> None:
        if hasattr(self, "home"):
            self.session.close()
            shutil.rmtree(self.home)

    @rule(node=NODES, message=SAID)
    def say(self, node: str, message: Message) -> None:
        self.nodes[node].done.append(("said", self.session.append(node, message)))

    @rule(node=NODES, summary=st.lists(SAID, max_size=2), keep=st.integers(0, 5))
    def summarise(self, node: str, summary: list[Message], keep: int) -> None:
        messages = self.nodes[node].messages()
        kept = messages[max(0, len(messages) - keep) :]
        given = self.session.replace(node, [*summary, *kept])
        assert given[len(summary) :] == kept
        self.nodes[node].done.append(("now", given))

    @precondition(lambda self: any(m.transcript() for m in self.nodes.values()))
    @rule(data=st.data())
    def rewind(self, data: st.DataObject) -> None:
        said = [
            (node, id_of(m))
            for node, model in self.nodes.items()
            for m in model.transcript()
            if id_of(m)
        ]
        if said:
            node, first = data.draw(st.sampled_from(said))
            self.session.cut(node, first)
            self.nodes[node].cut(first)

    @rule(key=st.sampled_from("abcd"), text=TEXTS)
    def show(self, key: str, text: str) -> None:
        self.session.put(EntryPut(self.session.id, "root", NoticeEntry(key, "info", text)))
        self.entries[key] = text

    @rule(key=st.sampled_from("abcd"))
    def cut_entries(self, key: str) -> None:
        self.session.put(EntriesCut(self.session.id, "root", key))
        if key in self.entries:
            keys = list(self.entries)
            self.entries = {k: self.entries[k] for k in keys[: keys.index(key)]}

    @rule(node=NODES, rounds=st.integers(0, 3), state=st.sampled_from(["running", "paused"]))
    def move(self, node: str, rounds: int, state: Any) -> None:
        info = NodeInfo(node, None, "root", node, state, rounds=rounds)
        self.session.put(NodePut(self.session.id, info))
        self.infos[node] = info

    @rule(node=NODES)
    def remove(self, node: str) -> None:
        self.session.put(NodeGone(self.session.id, node))
        self.infos.pop(node, None)
        if node == "root":
            self.entries = {}

    @rule(tokens=st.integers(0, 9))
    def spend(self, tokens: int) -> None:
        self.session.spend("root", Usage(tokens))
        self.spent += Usage(tokens)

    @rule(key=st.sampled_from("xy"), value=st.integers())
    def keep(self, key: str, value: int) -> None:
        self.session.data[key] = value
        self.data[key] = value

    @rule(title=TEXTS)
    def name(self, title: str) -> None:
        self.session.set_title(title)
        self.title = " ".join(title.split())

    @rule(torn=st.binary(max_size=20).filter(lambda b: b"\n" not in b))
    def reopen(self, torn: bytes) -> None:
        self.session.close()
        with (self.session.path / JOURNAL).open("ab") as file:
            file.write(torn)  # what a kill leaves of a record nobody was told of
        self.session = self.store.open(self.session.id)
        assert self.session.damage == ()

    @rule()
    def fork_and_go_on_there(self) -> None:
        self.session.sync()
        old, self.session = self.session, self.store.fork(self.session.id)
        old.close()
        self.title = self.session.info.title
        self.spent = Usage()

    @invariant()
    def all_is_as_the_model_says(self) -> None:
        if not hasattr(self, "session"):
            return
        for session in (self.session, self.store.open(self.session.id, read_only=True)):
            assert session.damage == ()
            for node, model in self.nodes.items():
                assert session.messages(node) == model.messages()
                assert session.transcript(node) == model.transcript()
            if session is self.session:  # what only moved is written a little later
                infos = [e.node for e in session.events() if isinstance(e, NodePut)]
                assert infos == list(self.infos.values())
            shown = [e.entry for e in session.events() if isinstance(e, EntryPut)]
            assert shown == [NoticeEntry(k, "info", t) for k, t in self.entries.items()]
            assert dict(session.data) == self.data
            assert session.spent() == self.spent
            if self.title:
                assert session.info.title == self.title
            ids = [id_of(m) for n in self.nodes for m in session.transcript(n) if id_of(m)]
            assert len(ids) == len(set(ids))
        assert self.session.info in self.store.list()


TestSessions = Sessions.TestCase
TestSessions.settings = settings(
    max_examples=40,
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)


def test_a_journal_cut_at_any_byte_holds_every_whole_record(tmp_path: Path) -> None:
    store = SessionStore(tmp_path)
    session = store.create("/work")
    for number in range(3):
        session.append("root", User(f"{number} ü"))
    session.close()
    journal = session.path / JOURNAL
    whole = journal.read_bytes()
    first = whole.index(b"\n") + 1
    for end in range(first, len(whole) + 1):
        journal.write_bytes(whole[:end])
        again = store.open(session.id)
        expected = whole[first:end].count(b"\n")
        assert [m.text for m in again.messages("root")] == [f"{n} ü" for n in range(expected)]
        assert again.damage == ()
        again.append("root", User("next"))  # nothing fuses with what was torn
        again.close()
        last = store.open(session.id, read_only=True)
        assert [m.text for m in last.messages("root")][expected:] == ["next"]
        assert store.list()[0].messages == expected + 1
