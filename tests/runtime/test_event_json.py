"""Events go to JSON and come back, from newer and older versions too."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jarvis_ls.runtime.base import event_json
from jarvis_ls.runtime.base.events import (
    Entry,
    EntryPut,
    Event,
    NodeInfo,
    NoticeEntry,
    PlanEntry,
    SessionInfo,
    ToolEntry,
)


@given(st.from_type(Event))  # type: ignore[arg-type]
def test_every_event_comes_back_as_it_was(event: Event) -> None:
    written = json.dumps(event_json.to_json(event))
    again = event_json.event_from_json(json.loads(written))
    assert json.dumps(event_json.to_json(again)) == written  # also where it is not a number
    assert type(again) is type(event)
    event_json.event_from_json(event_json.to_json(event))  # also without JSON between


@given(st.from_type(Entry))  # type: ignore[arg-type]
def test_every_entry_comes_back_as_it_was(entry: Entry) -> None:
    written = json.dumps(event_json.to_json(entry))
    assert (
        json.dumps(event_json.to_json(event_json.entry_from_json(json.loads(written)))) == written
    )


def test_what_a_newer_version_added_is_left_out() -> None:
    data = {**event_json.to_json(NoticeEntry("e", "info", "x")), "colour": "red"}
    assert event_json.entry_from_json(data) == NoticeEntry("e", "info", "x")


def test_what_an_older_version_lacked_gets_its_default() -> None:
    assert event_json.entry_from_json(
        {"kind": "tool", "id": "e", "name": "t", "arguments": "{}", "state": "done"}
    ) == ToolEntry("e", "t", "{}", "done")
    made = event_json.record_from_json(
        SessionInfo, {"id": "1", "title": "t", "folder": "/", "created": 1, "updated": 2}
    )
    assert isinstance(made.created, float)


@pytest.mark.parametrize(
    "data",
    [
        None,
        5,
        [],
        "text",
        {},
        {"kind": None},
        {"kind": []},
        {"kind": "new"},
        {"kind": "notice", "id": "e", "level": "info"},
        {"kind": "notice", "id": "e", "level": "shout", "text": "x"},
        {"kind": "notice", "id": 5, "level": "info", "text": "x"},
        {"kind": "plan", "id": "e", "steps": {"text": "a"}},
        {"kind": "plan", "id": "e", "steps": [5]},
        {"kind": "answer", "id": "e", "usage": {"input": "many"}},
    ],
)
def test_what_is_no_entry_is_refused(data: Any) -> None:
    with pytest.raises(ValueError):
        event_json.entry_from_json(data)


def test_the_right_record_or_none() -> None:
    with pytest.raises(ValueError):
        event_json.record_from_json(NodeInfo, event_json.to_json(PlanEntry("e", ())))
    entry = NoticeEntry("e", "info", "x")
    data = event_json.to_json(EntryPut("s", "n", entry))
    assert event_json.event_from_json(data) == EntryPut("s", "n", entry)
