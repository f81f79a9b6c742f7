"""The panel's records on the wire: what goes out comes back, nonsense is refused by name."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jarvis_ls.lsp.protocol import panel, panel_host
from jarvis_ls.lsp.protocol.panel_json import from_wire, to_wire
from jarvis_ls.runtime.base.event_batch import Batch
from jarvis_ls.runtime.base.events import (
    AnswerEntry,
    EntriesCut,
    EntryGrew,
    EntryPut,
    Event,
    Feed,
    NodeGone,
    NodeInfo,
    NodePut,
    SessionInfo,
    SessionPut,
    ToolEntry,
    UserEntry,
)
from jarvis_ls.runtime.base.messages import Usage

st.register_type_strategy(float, st.floats(allow_nan=False, allow_infinity=False))


@pytest.mark.parametrize(
    "union", [panel.Ask, Event, panel_host.HostAsk], ids=["ask", "event", "host"]
)
@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_every_message_comes_back_as_it_went(union, data):
    member = data.draw(st.sampled_from(get_args(union)))
    record = data.draw(st.from_type(member))
    wire = json.loads(json.dumps(to_wire(record)))
    assert from_wire(wire, union) == record


@pytest.mark.parametrize("answer", sorted(set(panel.ANSWERS.values()), key=lambda c: c.__name__))
@given(data=st.data())
@settings(max_examples=10, deadline=None)
def test_every_answer_comes_back_as_it_went(answer, data):
    record = data.draw(st.from_type(answer))
    assert from_wire(json.loads(json.dumps(to_wire(record))), answer) == record


def test_every_ask_has_an_answer_and_a_kind_of_its_own():
    asks = get_args(panel_host.PageAsk)
    assert set(asks) == {*panel.ANSWERS, *panel_host.HOST_ANSWERS}
    kinds = [ask.__dataclass_fields__["kind"].default for ask in asks]
    assert len(set(kinds)) == len(kinds)


def test_what_may_be_left_out_may_be_left_out():
    assert from_wire({"kind": "attach"}, panel.Ask) == panel.AttachAsk()
    sent = from_wire({"kind": "send", "session": "s", "text": "hi"}, panel.Ask)
    assert sent == panel.SendAsk("s", "hi")
    node = {**to_wire(NodeInfo("n", None, "root", "t"))}
    assert "parent" not in node
    assert from_wire(node, NodeInfo).parent is None


@pytest.mark.parametrize(
    ("data", "word"),
    [
        (None, "kind"),
        ([], "kind"),
        ({}, "kind"),
        ({"kind": "nonsense"}, "nonsense"),
        ({"kind": ["send"]}, "kind"),
        ({"kind": "send", "text": "x"}, "session"),
        ({"kind": "send", "session": "s", "text": None}, "expected str"),
        ({"kind": "send", "session": "s", "text": "x", "images": "abc"}, "list"),
        ({"kind": "send", "session": "s", "text": "x", "images": [1]}, "Image"),
        ({"kind": "permit", "session": "s", "entry": "e", "allowed": 1}, "bool"),
        ({"kind": "permit", "session": "s", "entry": "e", "allowed": True, "scope": "all"}, "all"),
        ({"kind": "review", "session": "s", "entry": "e", "accepted": {"a": [1.5]}}, "int"),
        ({"kind": "budget", "session": "s", "node": "n", "tokens": "5"}, "int"),
    ],
)
def test_nonsense_is_refused_and_named(data, word):
    with pytest.raises(ValueError, match=word):
        from_wire(data, panel.Ask)


# Batches ----------------------------------------------------------------------------------------

_IDS = st.sampled_from(["a", "b"])
_PUTS = st.builds(
    EntryPut,
    st.just("s"),
    _IDS,
    st.one_of(
        st.builds(AnswerEntry, _IDS, st.text(max_size=4)),
        st.builds(
            ToolEntry,
            _IDS,
            st.just("t"),
            st.just("{}"),
            st.just("running"),
            output=st.text(max_size=4),
        ),
        st.builds(UserEntry, _IDS, st.text(max_size=4)),
    ),
)
_EVENTS = st.one_of(
    _PUTS,
    st.builds(EntriesCut, st.just("s"), _IDS, _IDS),
    st.builds(NodeGone, st.just("s"), _IDS),
    st.builds(
        NodePut,
        st.just("s"),
        st.builds(NodeInfo, _IDS, st.none(), st.just("root"), st.text(max_size=3)),
    ),
    st.builds(
        SessionPut,
        st.builds(
            SessionInfo, st.just("s"), st.text(max_size=3), st.just("/"), st.just(1.0), st.just(2.0)
        ),
    ),
    st.tuples(
        _IDS, _IDS, st.sampled_from(["text", "thinking", "output"]), st.text(min_size=1, max_size=3)
    ),
)


@given(st.lists(_EVENTS, max_size=40), st.sets(st.integers(0, 40)))
@settings(max_examples=300, deadline=None)
def test_what_is_merged_adds_up_to_the_same(drawn, flushes):
    """A page that gets batches shows what one shows that gets every event."""
    sent: list[Event] = []
    batch = Batch(sent.extend)
    direct, merged = Feed(), Feed()
    for number, item in enumerate(drawn):
        event = _growth(direct, item) if isinstance(item, tuple) else item
        if event is None:
            continue
        direct.publish(event)
        batch._merge(event)
        if number in flushes:
            batch.flush()
    batch.flush()
    for event in sent:
        merged.publish(event)
    assert _by_id(merged) == _by_id(direct)


def _growth(feed: Feed, item: tuple[str, str, str, str]) -> EntryGrew | None:
    node, entry, part, text = item
    for event in feed.snapshot("s"):
        if isinstance(event, EntryPut) and (event.node, event.entry.id) == (node, entry):
            before = getattr(event.entry, part, None)
            if before is None:
                return None
            return EntryGrew("s", node, entry, part, len(before), text)
    return None


def _by_id(feed: Feed) -> list[Event]:
    return feed.snapshot("s")


async def test_a_thousand_chunks_are_one_event():
    sent: list[list[Event]] = []
    batch = Batch(sent.append)
    batch.add(EntryPut("s", "n", AnswerEntry("e", streaming=True)))
    for at in range(1000):
        batch.add(EntryGrew("s", "n", "e", "text", at, "x"))
        batch.add(NodePut("s", NodeInfo("n", None, "root", "t", usage=Usage(at))))
    batch.flush()
    [events] = sent
    assert [event.kind for event in events] == ["entry_put", "entry_grew", "node_put"]
    assert events[1] == EntryGrew("s", "n", "e", "text", 0, "x" * 1000)
    assert events[2].node.usage.input == 999
    whole = replace(events[0].entry, text="x" * 1000)
    batch.add(EntryGrew("s", "n", "e", "text", 1000, "y"))
    batch.add(EntryPut("s", "n", whole))
    batch.flush()
    assert sent[1] == [EntryPut("s", "n", whole)]
