"""A workspace of several folders: how paths name them, for a model and for its user."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from jarvis_ls.runtime.base.events import ProposedEdit, ToolEntry
from jarvis_ls.runtime.tools.interaction import Review
from jarvis_ls.runtime.tools.permissions import Answer
from tests.assembly.test_conversation import House, asked, entries, house
from tests.support.agents import Person

RULES = """
[[permissions]]
effect = "allow"
kind = "write"
target = "two/made/*"
[[permissions]]
effect = "deny"
target = "two/private/*"
"""


class Refusing(Person):
    """Allows nothing that is asked, and takes no change."""

    def __init__(self) -> None:
        super().__init__()
        self.answer = Answer(False)

    async def review(self, node: str, call: str, edits: Sequence[ProposedEdit]) -> Review:
        return Review({})


def two_folders(h: House) -> tuple[Path, Path]:
    one, two = h.folder / "one", h.folder / "two"
    for folder in (one, two):
        folder.mkdir()
        (folder / "same.txt").write_text(f"in {folder.name}\n")
    return one, two


def results(h: House) -> list[str]:
    return [str(m["content"]) for m in asked(h) if m["role"] == "tool"]


async def test_a_path_that_begins_with_the_name_of_a_folder_means_that_folder(
    tmp_path: Path,
) -> None:
    async with house(tmp_path) as h:
        one, two = two_folders(h)
        c = await h.assembly().start(None, [one, two], h.person, trusted=True)
        h.server.call_all(
            [
                ("rewrite_file", {"file_path": "two/new/a.txt", "content": "a\n"}),
                ("rewrite_file", {"file_path": "./two/a.txt", "content": "mine\n"}),
            ]
        )
        h.server.call("read_code", {"files": [{"path": "same.txt"}]})
        h.server.say("Done.")
        await c.ask("what stands in @two/same.txt, and where?")
        assert (two / "new/a.txt").read_text() == "a\n"
        assert (one / "two/a.txt").read_text() == "mine\n" and not (one / "two/new").exists()
        system, said = asked(h)[0]["content"], str(asked(h)[1]["content"])
        assert f"{two.as_posix()}: `two/…`" in system and f"{one.as_posix()} (the first)" in system
        assert '<file path="two/same.txt">\n1\tin two' in said
        assert "two/new/a.txt" in results(h)[0] and "./two/a.txt" in results(h)[1]
        assert "in one" in results(h)[2]
        changed = [entry.edits[0] for entry in entries(c, ToolEntry) if entry.edits]
        assert [(edit.path, edit.root) for edit in changed] == [("new/a.txt", 1), ("two/a.txt", 0)]


async def test_rules_name_a_folder_as_paths_do(tmp_path: Path) -> None:
    async with house(tmp_path) as h:
        h.configure(RULES)
        h.person = person = Refusing()
        one, two = two_folders(h)
        (two / "private").mkdir()
        (two / "private/key.txt").write_text("secret needle\n")
        c = await h.assembly().start(None, [one, two], person, trusted=True)
        h.server.call_all(
            [
                ("rewrite_file", {"file_path": "two/made/a.txt", "content": "a\n"}),
                ("rewrite_file", {"file_path": "made/a.txt", "content": "a\n"}),
                ("read_code", {"files": [{"path": str(two / "private/key.txt")}]}),
                ("search_in_project", {"query": "needle", "path": "two"}),
            ]
        )
        h.server.say("Done.")
        await c.ask("go")
        allowed, asked_for, forbidden, searched = results(h)
        assert (two / "made/a.txt").exists() and "two/made/a.txt" in allowed
        assert not (one / "made").exists() and "refused" in asked_for
        assert "A permission rule denies it" in forbidden and "secret" not in forbidden
        assert "Nothing matches" in searched


async def test_what_a_script_writes_is_judged_where_it_is_written(tmp_path: Path) -> None:
    async with house(tmp_path) as h:
        h.configure(RULES)
        h.person = person = Refusing()
        one, two = two_folders(h)
        c = await h.assembly().start(None, [one, two], person, trusted=True)
        h.server.call("execute_script", {"script": "mkdir -p two && echo a > two/same.txt"})
        h.server.say("Done.")
        await c.ask("go")
        written = [a.target for one in person.permits for a in one.actions if a.kind == "write"]
        assert written == ["./two/same.txt"]
        assert not (one / "two").exists()
