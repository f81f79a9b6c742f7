"""Modes of a conversation through everything joined: model over HTTP, gate, review, session."""

from __future__ import annotations

from pathlib import Path

from jarvis_ls.runtime.base.events import SessionPut, ToolEntry
from jarvis_ls.runtime.base.messages import ToolResult, User
from jarvis_ls.runtime.tools.permissions import Answer
from tests.assembly.test_conversation import entries, house
from tests.assembly.test_edits import CODE, Picky, edit


async def test_plan_mode_writes_and_runs_nothing_and_ends_when_the_user_says(
    tmp_path: Path,
) -> None:
    async with house(tmp_path) as h:
        person = Picky()
        person.answer = Answer(True)
        h.person = person
        h.configure('[[permissions]]\neffect = "allow"\n')
        (h.folder / "src").mkdir()
        (h.folder / "src/a.c").write_text(CODE)
        conversation = await h.start()
        conversation.set_mode("plan")
        h.server.call_all(
            [
                ("read_code", {"files": [{"path": "src/a.c"}]}),
                ("edit_file", edit(3)),
                ("execute_script", {"script": "touch made"}),
            ]
        )
        h.server.say("The plan: change value_3.")
        await conversation.send("Change value_3.")
        await conversation.wait()
        states = {entry.name: entry.state for entry in entries(conversation, ToolEntry)}
        assert states == {"read_code": "done", "edit_file": "denied", "execute_script": "denied"}
        assert (h.folder / "src/a.c").read_text() == CODE and not (h.folder / "made").exists()
        assert person.reviewed == [] and person.permits == []
        messages = conversation.session.messages("root")
        assert sum("Plan mode" in m.text for m in messages if isinstance(m, User)) == 1
        assert any("Plan mode" in m.text for m in messages if isinstance(m, ToolResult))

        id = conversation.id
        await conversation.close()
        again = await h.start(id)
        assert again.mode == "plan" and again.session.info.mode == "plan"
        again.set_mode("edits")
        h.server.call("edit_file", edit(3, 15))
        h.server.say("Done.")
        await again.send("Carry out the plan.")
        await again.wait()
        assert (h.folder / "src/a.c").read_text().count("-") == 2
        said = [m.text for m in again.session.messages("root") if isinstance(m, User)]
        assert sum("Plan mode is over" in text for text in said) == 1


async def test_accepted_edits_are_written_unseen_but_not_what_others_act_on(
    tmp_path: Path,
) -> None:
    async with house(tmp_path) as h:
        person = Picky()
        h.person = person
        (h.folder / "src").mkdir()
        (h.folder / "src/a.c").write_text(CODE)
        conversation = await h.start()
        h.server.call_all(
            [
                ("edit_file", edit(3, 15)),
                ("rewrite_file", {"file_path": ".git/config", "content": "[core]\n"}),
                ("execute_script", {"script": "touch made"}),
            ]
        )
        h.server.say("Done.")
        await conversation.send("/mode edits")
        await conversation.send("Change them.")
        await conversation.wait()
        assert (h.folder / "src/a.c").read_text().count("-") == 2 and person.reviewed == []
        assert [asked.tool for asked in person.permits] == ["rewrite_file", "execute_script"]
        assert not (h.folder / ".git").exists() and not (h.folder / "made").exists()


async def test_the_mode_is_told_with_the_session_and_an_unknown_one_is_refused(
    tmp_path: Path,
) -> None:
    async with house(tmp_path) as h:
        conversation = await h.start()
        told: list[str] = []
        end = conversation.feed.observe(
            lambda event: told.append(event.session.mode) if isinstance(event, SessionPut) else None
        )
        await conversation.send("/mode plan")
        ended = await conversation.send("/mode everything")
        end()
        assert told[-1] == "plan" and conversation.mode == "plan"
        assert ended is not None and ended.state == "failed"
        assert "ask, edits, plan" in ended.error
