"""The side panel's server side through a real client, against a scripted model over HTTP."""

from __future__ import annotations

from pathlib import Path

import pytest

from jarvis_ls.lsp import panel_protocol as panel
from jarvis_ls.runtime.events import AnswerEntry, NoticeEntry, ToolEntry, UserEntry
from tests.lsp.editor import DOUBLE_FREE
from tests.lsp.page import opened
from tests.support.model_server import ModelServer


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "work"
    made.mkdir()
    (made / "twice.c").write_text(DOUBLE_FREE)
    return made


async def test_without_a_model_the_panel_says_what_to_set_and_commands_run(folder, tmp_path):
    async with opened(folder, tmp_path / "home") as page:
        picture = await page.attach()
        assert not picture.models.ready
        assert "JARVIS_MODEL" in picture.models.advice
        assert picture.session == "" and picture.events == ()
        assert picture.folders == ("work",)
        await page.send("/scan")
        scanned = await page.answered("1 finding")
        assert "[twice.c:5](twice.c#L5)" in scanned.text and "`double-free`" in scanned.text
        await page.send("/explain double-free")
        await page.answered("CWE-415")
        await page.send("What is this?")
        await page.until(
            lambda: any("JARVIS_MODEL" in one.text for one in page.entries(NoticeEntry))
        )


async def test_an_answer_streams_into_the_page(folder, tmp_path):
    async with ModelServer() as model:
        model.say("Hello, this is the answer.", thinking="Let me see.", pieces=8)
        async with opened(folder, tmp_path / "home", model) as page:
            picture = await page.attach()
            assert picture.models.ready and picture.models.advice == ""
            session = await page.send("Hi")
            answer = await page.answered("this is the answer")
            assert answer.thinking == "Let me see."
            assert answer.usage.input == 11
            await page.rest()
            assert [one.text for one in page.entries(UserEntry)] == ["Hi"]
            again = await page.attach(session)
            assert again.sessions[0].id == session
            assert page.entries(AnswerEntry)[0] == answer
            assert model.requests[0].headers["authorization"] == "Bearer sk-test-0123456789"


async def test_a_tool_is_allowed_and_another_denied(folder, tmp_path):
    async with ModelServer() as model:
        arguments = {"file_path": "new.txt", "content": "made\n"}
        model.call("rewrite_file", arguments)
        model.say("First done.")
        model.call("rewrite_file", {**arguments, "file_path": "other.txt"})
        model.say("Second done.")
        async with opened(folder, tmp_path / "home", model) as page:
            await page.attach()
            await page.send("Write a file")
            asked = await page.asked()
            assert asked.edits[0].path == "new.txt"
            await page.ask(panel.ReviewAsk(page.session, asked.id, {"new.txt": [0]}))
            await page.answered("First done.")
            assert (folder / "new.txt").read_text() == "made\n"
            await page.rest()
            await page.send("Another")
            asked = await page.asked()
            await page.ask(panel.ReviewAsk(page.session, asked.id, {}, note="not that one"))
            await page.answered("Second done.")
            assert not (folder / "other.txt").exists()
            [denied] = [t for t in page.entries(ToolEntry) if t.state == "denied"]
            assert denied.reason == "not that one"
            assert "not that one" in str(model.requests[-1].body["messages"])
