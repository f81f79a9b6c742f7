"""Edits through everything joined: model over HTTP, gate, review by hunk, panel, session."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from jarvis_ls.runtime.base.events import EntryPut, PlanEntry, ProposedEdit, ToolEntry
from jarvis_ls.runtime.base.messages import ToolResult
from jarvis_ls.runtime.tools.interaction import Review
from jarvis_ls.runtime.tools.permissions import Answer
from tests.assembly.test_conversation import entries, house
from tests.support.agents import Person

CODE = "".join(f"int value_{n} = {n};\n" for n in range(20))


class Picky(Person):
    """Accepts the first hunk of every diff, and allows nothing that is asked in words."""

    def __init__(self) -> None:
        super().__init__()
        self.answer = Answer(False)
        self.reviewed: list[Sequence[ProposedEdit]] = []

    async def review(self, node: str, call: str, edits: Sequence[ProposedEdit]) -> Review:
        self.reviewed.append(edits)
        return Review({edit.path: (0,) for edit in edits}, "only the first")


def edit(*numbers: int) -> dict[str, object]:
    diffs = [{"search": f"value_{n} = {n};", "replace": f"value_{n} = -{n};"} for n in numbers]
    return {"files": [{"file_path": "src/a.c", "diffs": diffs}]}


async def test_a_diff_is_accepted_by_hunk_and_kept(tmp_path: Path) -> None:
    async with house(tmp_path) as h:
        person = Picky()
        h.person = person
        (h.folder / "src").mkdir()
        (h.folder / "src/a.c").write_bytes(CODE.replace("\n", "\r\n").encode())
        conversation = await h.start()
        plan = [{"text": "change two values", "state": "active"}]
        h.server.call_all(
            [
                ("read_code", {"files": [{"path": "src/a.c", "start_line": 3, "end_line": 4}]}),
                ("update_plan", {"steps": plan}),
            ]
        )
        h.server.call("edit_file", edit(3, 15))
        h.server.call("rewrite_file", {"file_path": ".git/config", "content": "[core]\n"})
        h.server.say("Done.")
        await conversation.send("Change them.")
        await conversation.wait()
        text = (h.folder / "src/a.c").read_bytes().decode()
        assert text == CODE.replace("value_3 = 3", "value_3 = -3").replace("\n", "\r\n")
        assert len(person.reviewed) == 1 and len(person.reviewed[0][0].hunks) == 2
        assert [asked.tool for asked in person.permits] == ["rewrite_file"]
        assert not (h.folder / ".git").exists()

        tools = {entry.name: entry for entry in entries(conversation, ToolEntry)}
        assert tools["edit_file"].state == "done" and len(tools["edit_file"].edits[0].hunks) == 1
        assert tools["rewrite_file"].state == "denied"
        results = [m for m in conversation.session.messages("root") if isinstance(m, ToolResult)]
        assert "refused that at line 16" in results[2].text and "only the first" in results[2].text

        id = conversation.id
        await conversation.close()
        again = await h.start(id)
        kept = [e.entry for e in again.session.events() if isinstance(e, EntryPut)]
        assert any(isinstance(k, PlanEntry) and k.steps[0].text == plan[0]["text"] for k in kept)
        edits = [k for k in kept if isinstance(k, ToolEntry) and k.name == "edit_file"]
        assert edits[-1].edits[0].hunks[0].new_lines == ("int value_3 = -3;",)


async def test_a_rule_of_the_user_spares_the_review(tmp_path: Path) -> None:
    async with house(tmp_path) as h:
        person = Picky()
        h.person = person
        rule = '[[permissions]]\neffect = "allow"\nkind = "write"\ntarget = "src/*"\n'
        h.configure(rule)
        (h.folder / "src").mkdir()
        (h.folder / "src/a.c").write_text(CODE)
        conversation = await h.start()
        h.server.call("edit_file", edit(3, 15))
        h.server.say("Done.")
        await conversation.send("Change them.")
        await conversation.wait()
        assert person.reviewed == [] and person.permits == []
        assert (h.folder / "src/a.c").read_text().count("-") == 2


async def test_what_an_agent_wrote_it_need_not_read_to_write_again(tmp_path: Path) -> None:
    async with house(tmp_path) as h:
        (h.folder / "a.txt").write_text("one\n")
        h.server.call("read_code", {"files": [{"path": "a.txt"}]})
        for text in ("two\n", "three\n"):
            h.server.call("rewrite_file", {"file_path": "a.txt", "content": text})
        h.server.say("Done.")
        c = await h.start()
        await c.ask("write it twice")
        assert [entry.state for entry in entries(c, ToolEntry)] == ["done"] * 3
        assert (h.folder / "a.txt").read_text() == "three\n"
