"""The panel's Agent mode: an agent changes code in a copy, and the user decides on one card."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from pygls.exceptions import JsonRpcException

from jarvis_ls.lsp.protocol import panel
from jarvis_ls.runtime.base.events import NoticeEntry, UserEntry
from tests.lsp.page import Page, opened
from tests.support.code_agent import FILES, OFF_BY_ONE, state_of
from tests.support.model_server import ModelServer
from tests.support.repositories import git, make_repository, write

pytestmark = pytest.mark.watches()

MENDED = FILES["src/header.py"].replace("len(data) - 1", "len(data)")
SAVE = {"memory_type": "project_long_term", "content": "Slices end at len.", "tags": ["slices"]}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = make_repository(tmp_path / "work", FILES)
    git(made, "config", "user.name", "A")
    git(made, "config", "user.email", "a@example.org")
    return made


@pytest.fixture
async def model() -> AsyncIterator[ModelServer]:
    async with ModelServer() as server:
        yield server


def notices(page: Page) -> str:
    return "\n".join(entry.text for entry in page.entries(NoticeEntry))


async def test_a_change_is_written_when_it_is_accepted(
    root: Path, tmp_path: Path, model: ModelServer
) -> None:
    before = state_of(root)
    model.call("edit_file", OFF_BY_ONE)
    model.say("It is mended.")
    model.call("save_memory", SAVE)
    forced = "[agent]\nforce_save_memory = true\n"
    async with opened(root, tmp_path / "home", model, settings=forced) as page:
        await page.attach()
        await page.send("/change fix parse_header")
        card = await page.asked()
        assert [(edit.path, edit.change) for edit in card.edits] == [("src/header.py", "modify")]
        picture = await page.attach(page.session)
        (info,) = [info for info in picture.sessions if info.id == page.session]
        assert info.in_copy and info.mode == "ask"
        assert state_of(root) == before
        assert len(model.requests) == 2, "nothing is remembered of what was not accepted"
        first = str(model.requests[0].body["messages"])
        assert "Places in the code that these words fit" in first and "src/header.py:1" in first
        assert [said.text for said in page.entries(UserEntry)] == ["fix parse_header"]
        assert "tests.pytest: passed" in notices(page)
        assert "Tests at risk: tests/test_header.py::test_all" in notices(page)
        await page.ask(panel.ReviewAsk(page.session, card.id, {"src/header.py": [0]}))
        await page.until(lambda: "Files written: 1." in notices(page))
        assert (root / "src/header.py").read_text() == MENDED
        await page.until(lambda: "Saved to memory." in notices(page))
        assert list((root / ".jarvis/memory").rglob("*.json"))
    after = state_of(root)
    assert {path for path in before if before[path] != after[path]} == {"src/header.py"}


async def test_a_task_that_names_nothing_begins_with_what_is_open(
    root: Path, tmp_path: Path, model: ModelServer
) -> None:
    model.say("There is nothing to do.")
    async with opened(root, tmp_path / "home", model) as page:
        await page.attach()
        page.editor.open((root / "src/use.py").as_uri(), FILES["src/use.py"], "python")
        await page.send("/change mend it")
        await page.until(lambda: "No file was changed." in notices(page))
    asked = str(model.requests[0].body["messages"])
    assert "src/header.py:1: def parse_header(data)" in asked.partition("Places in the code")[2]


async def test_what_is_refused_is_not_written_and_more_can_be_said(
    root: Path, tmp_path: Path, model: ModelServer
) -> None:
    before = state_of(root)
    model.call("edit_file", OFF_BY_ONE)
    model.say("Done.")
    async with opened(root, tmp_path / "home", model) as page:
        await page.attach()
        session = await page.send("/change fix parse_header")
        first = await page.asked()
        note = {"file_path": "NOTES.md", "content": "Mended.\n"}
        model.call("rewrite_file", note)
        model.say("Done.")
        assert await page.send("Add a note") == session
        page._answered.add(first.id)
        both = await page.asked()
        assert [edit.path for edit in both.edits] == ["NOTES.md", "src/header.py"]
        await page.ask(panel.ReviewAsk(session, both.id, {"NOTES.md": [0]}))
        await page.until(lambda: "Files written: 1." in notices(page))
        assert (root / "NOTES.md").read_text() == "Mended.\n"
        assert (root / "src/header.py").read_text() == FILES["src/header.py"]
        model.call("edit_file", OFF_BY_ONE)
        model.say("Done.")
        await page.send("Now mend it")
        again = await page.asked()
        assert [edit.path for edit in again.edits] == ["src/header.py"]
        await page.ask(panel.ReviewAsk(session, again.id, {}))
        await page.until(lambda: page.entries(type(again))[-1].state == "denied")
        model.say("Nothing is to be done.")
        await page.send("Is anything left?")
        await page.until(lambda: "No file was changed." in notices(page))
    (root / "NOTES.md").unlink()
    assert state_of(root) == before


async def test_a_loss_is_asked_and_a_file_that_changed_is_not_overwritten(
    root: Path, tmp_path: Path, model: ModelServer
) -> None:
    loss = {"search": FILES["src/header.py"], "replace": "X = 1\n"}
    model.call("edit_file", {"files": [{"file_path": "src/header.py", "diffs": [loss]}]})
    model.say("Done.")
    async with opened(root, tmp_path / "home", model) as page:
        await page.attach()
        await page.send("/change clear it out")
        question = await page.questioned()
        assert "deletion guard" in question.text and "parse_header" in question.text
        await page.ask(panel.AnswerAsk(page.session, question.id, "Allow"))
        card = await page.asked()
        assert "Lost: " in notices(page)
        write(root, {"src/header.py": "mine = 1\n"})
        await page.ask(panel.ReviewAsk(page.session, card.id, {"src/header.py": [0]}))
        await page.until(lambda: "nothing was written" in notices(page))
        again = await page.asked()
        await page.ask(panel.ReviewAsk(page.session, again.id, {}))
        await page.until(lambda: page.entries(type(again))[-1].state == "denied")
        assert (root / "src/header.py").read_text() == "mine = 1\n"


async def test_without_trust_or_a_repository_it_says_so(root: Path, tmp_path: Path) -> None:
    async with ModelServer() as model:
        bare = tmp_path / "bare"
        bare.mkdir()
        async with opened(bare, tmp_path / "home", model) as page:
            await page.attach()
            with pytest.raises(JsonRpcException, match="is in no git repository"):
                await page.send("/change it")
            with pytest.raises(JsonRpcException, match="Say what is to be changed"):
                await page.send("/change")
        async with opened(root, tmp_path / "home", model, options={"trusted": False}) as page:
            await page.attach()
            with pytest.raises(JsonRpcException, match="untrusted workspace"):
                await page.send("/change it")
        assert model.requests == []


async def test_a_session_that_is_opened_again_changes_code_in_a_copy_as_before(
    root: Path, tmp_path: Path, model: ModelServer
) -> None:
    before = state_of(root)
    model.call("edit_file", OFF_BY_ONE)
    model.say("Done.")
    async with opened(root, tmp_path / "home", model) as page:
        await page.attach()
        session = await page.send("/change fix parse_header")
        first = await page.asked()
    async with opened(root, tmp_path / "home", model) as page:
        await page.attach(session)
        card = await page.asked()
        assert card.id != first.id and [edit.path for edit in card.edits] == ["src/header.py"]
        cards = {entry.id: entry.state for entry in page.entries(type(card))}
        assert cards[first.id] == "cancelled"
        assert state_of(root) == before
        note = {"file_path": "NOTES.md", "content": "Mended.\n"}
        model.call("rewrite_file", note)
        model.say("Done.")
        assert await page.send("Add a note") == session
        page._answered.add(card.id)
        both = await page.asked()
        assert [edit.path for edit in both.edits] == ["NOTES.md", "src/header.py"]
        await page.ask(panel.ReviewAsk(session, both.id, {"src/header.py": [0]}))
        await page.until(lambda: "Files written: 1." in notices(page))
        assert (root / "src/header.py").read_text() == MENDED
        page.take(await page.ask(panel.NewSessionAsk()))
        await page.attach(session)
        assert not [entry for entry in page.entries(type(card)) if entry.state == "asked"]
        model.call("rewrite_file", note)
        model.say("Done.")
        assert await page.send("Add the note after all") == session
        last = await page.asked()
        assert [edit.path for edit in last.edits] == ["NOTES.md"]
        assert not (root / "NOTES.md").exists()
        await page.ask(panel.ReviewAsk(session, last.id, {}))
        await page.until(lambda: page.entries(type(last))[-1].state == "denied")
        assert len(page.entries(UserEntry)) == 3
