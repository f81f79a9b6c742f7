"""A conversation put aside under its agent's, platform's and model's name, and taken back once.

The cases are those of the seed's test design for its session manager; prompts, length and user
data are `Saved`, which is also what clearing works on.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from jarvis_ls.core.errors import JarvisError
from jarvis_ls.runtime.base.messages import (
    Assistant,
    Image,
    System,
    ToolCall,
    ToolResult,
    Usage,
    User,
)
from jarvis_ls.runtime.session.saved import Restored, Saved, SavedSession

MESSAGES = (
    System("Be brief."),
    User("hi ü \ud800", (Image("image/png", "AA"),), id="m1"),
    Assistant("", "hm", (ToolCall("c", "t", {"a": [1]}),), "tool_calls", "p/m", Usage(1, 2), "m2"),
    ToolResult("c", "t", "found", id="m3"),
)
WHOLE = Saved(MESSAGES, "next", "once", 7, {"k": [1, {"x": None}]})


@pytest.fixture
def place(tmp_path: Path) -> SavedSession:
    return SavedSession(tmp_path / "saved", "Jarvis", "openai", "large")


def test_prompt_addon_prompt_length_and_user_data(place: SavedSession) -> None:
    place.save(WHOLE)
    assert place.restore() == Restored(WHOLE)


def test_the_file_is_named_after_agent_platform_and_model(tmp_path: Path) -> None:
    path = SavedSession(tmp_path, "Jarvis", "openai", "large-v2.1").path
    assert path == tmp_path / "saved_session_Jarvis_openai_large-v2.1.json"


@pytest.mark.parametrize("name", ["../../etc/passwd", "a/b\\c", "..", "", "\0", "x" * 500, "a:b*?"])
def test_names_cannot_leave_the_folder(tmp_path: Path, name: str) -> None:
    place = SavedSession(tmp_path, name, name, name)
    assert place.path.parent == tmp_path
    place.save(WHOLE)
    assert [p.name for p in tmp_path.iterdir()] == [place.path.name]
    assert place.restore().saved == WHOLE


def test_names_in_any_script_are_told_apart(tmp_path: Path) -> None:
    places = [SavedSession(tmp_path, name, "p", "m") for name in ("助手", "коде", "agent")]
    assert len({place.path for place in places}) == 3


def test_other_models_have_other_files(tmp_path: Path) -> None:
    SavedSession(tmp_path, "a", "p", "m").save(WHOLE)
    assert SavedSession(tmp_path, "a", "p", "other").restore() == Restored()
    assert SavedSession(tmp_path, "a", "other", "m").restore() == Restored()


def test_names_that_are_written_alike_are_not_mixed_up(tmp_path: Path) -> None:
    SavedSession(tmp_path, "a", "p", "x/y").save(WHOLE)
    other = SavedSession(tmp_path, "a", "p", "x_y").restore()
    assert other.saved is None and "written alike" in other.problem
    assert SavedSession(tmp_path, "a", "p", "x/y").restore().saved == WHOLE
    long = [SavedSession(tmp_path, "a", "p", "x" * 200 + end).path for end in "ab"]
    assert long[0] != long[1]


def test_what_was_restored_is_deleted(place: SavedSession) -> None:
    place.save(WHOLE)
    assert place.restore().saved == WHOLE
    assert not place.path.exists()
    assert place.restore() == Restored()


def test_saving_again_replaces(place: SavedSession) -> None:
    place.save(WHOLE)
    place.save(Saved(prompt="newer"))
    assert place.restore().saved == Saved(prompt="newer")


def test_nothing_was_saved(place: SavedSession) -> None:
    assert place.restore() == Restored(None, "")
    place.delete()


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[:0],
        lambda text: text[: len(text) // 2],
        lambda text: f"[{len(text)}]",
        lambda text: "null" + text[:0],
        lambda text: "\0" * len(text),
        lambda text: json.dumps({**json.loads(text), "messages": [{"kind": "odd"}]}),
        lambda text: json.dumps({**json.loads(text), "messages": 5}),
        lambda text: json.dumps({**json.loads(text), "user_data": []}),
        lambda text: json.dumps({**json.loads(text), "length": "many"}),
        lambda text: json.dumps({"messages": json.loads(text)["messages"]}),
        lambda text: "[" * (len(text) + 100_000),
    ],
)
def test_a_corrupt_file_is_no_reason_not_to_begin(place: SavedSession, damage: object) -> None:
    place.save(WHOLE)
    place.path.write_text(damage(place.path.read_text()))  # type: ignore[operator]
    restored = place.restore()
    assert restored.saved is None
    assert str(place.path) in restored.problem
    assert place.path.exists(), "what cannot be read is not deleted"
    place.save(WHOLE)
    assert place.restore() == Restored(WHOLE)


def test_a_file_that_is_none(place: SavedSession) -> None:
    place.path.mkdir(parents=True)
    assert "a folder" in place.restore().problem
    with pytest.raises(JarvisError):
        place.save(WHOLE)
    with pytest.raises(JarvisError, match="cannot delete"):
        place.delete()


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    place = SavedSession(tmp_path / "file" / "x", "a", "p", "m")
    with pytest.raises(JarvisError, match="cannot write"):
        place.save(WHOLE)
    assert place.restore() == Restored()


def test_clearing_keeps_the_system_prompt_and_user_data() -> None:
    assert WHOLE.cleared() == Saved((System("Be brief."),), user_data=WHOLE.user_data)


def test_deleting(place: SavedSession) -> None:
    place.save(WHOLE)
    place.delete()
    assert place.restore() == Restored()
