"""What the user accepted is written, all of it or none; the rest is as it was, and is said."""

from __future__ import annotations

import asyncio
import os
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jarvis_ls.core.errors import JarvisError
from jarvis_ls.runtime.base.errors import ToolRetry
from jarvis_ls.runtime.base.events import EntryPut, Hunk, ProposedEdit, ToolEntry
from jarvis_ls.runtime.base.messages import ToolCall, ToolResult
from jarvis_ls.runtime.edits import writer
from jarvis_ls.runtime.edits.proposals import propose
from jarvis_ls.runtime.edits.review import Reviewed
from jarvis_ls.runtime.edits.text_change import Change, apply_hunks, hunks_of, rename
from jarvis_ls.runtime.edits.text_file import load, resolve_path
from jarvis_ls.runtime.edits.writer import write
from jarvis_ls.runtime.tools.approval import Approved
from jarvis_ls.runtime.tools.current_call import RunningCall, running
from jarvis_ls.runtime.tools.interaction import NonInteractive, Review
from jarvis_ls.runtime.tools.permissions import Answer, PermissionRule, Permissions
from jarvis_ls.runtime.tools.tool import Action, ToolContext, Tools, tool
from tests.support.desk import Desk, User

texts = st.text("ab\n", max_size=30)


@given(texts, texts)
def test_all_hunks_give_the_new_text_and_none_the_old(old: str, new: str) -> None:
    hunks = hunks_of(old, new)
    assert apply_hunks(old, hunks, range(len(hunks))) == new
    assert apply_hunks(old, hunks, ()) == old
    assert [h.index for h in hunks] == list(range(len(hunks)))


@given(texts, texts, st.data())
def test_some_hunks_are_the_sum_of_each(old: str, new: str, data: st.DataObject) -> None:
    hunks = hunks_of(old, new)
    chosen = data.draw(st.sets(st.sampled_from(range(len(hunks))))) if hunks else set()
    some = apply_hunks(old, hunks, chosen)
    text = old
    for hunk in reversed(hunks):  # from the end, so that line numbers above stay true
        if hunk.index in chosen:
            text = apply_hunks(text, [hunk], [hunk.index])
    assert some == text
    # The rest, proposed again against what was written, leads to the whole.
    assert apply_hunks(some, hunks_of(some, new), range(99)) == new


@given(texts, texts)
def test_hunks_show_what_stands_around_them(old: str, new: str) -> None:
    lines = old.split("\n")
    for hunk in hunks_of(old, new):
        start = hunk.old_start - 1
        assert tuple(lines[start : start + len(hunk.old_lines)]) == hunk.old_lines
        assert tuple(lines[max(0, start - 3) : start]) == hunk.before
        end = start + len(hunk.old_lines)
        assert tuple(lines[end : end + 3]) == hunk.after


def test_a_hunk_that_does_not_fit_is_refused() -> None:
    with pytest.raises(ToolRetry, match="does not fit"):
        apply_hunks("a\nb", [Hunk(0, 2, ("x",), 2, ("y",))], [0])


# What follows goes through the whole stack: gate, review, tools.

TEXT = "".join(f"line {n}\n" for n in range(1, 31))
NEW = TEXT.replace("line 5\n", "five\n").replace("line 20\n", "twenty\n")


async def rewritten(desk: Desk, path: str = "a.txt", new: str = NEW) -> ToolResult:
    await desk.text("read_code", files=[{"path": path}])
    return await desk.run("rewrite_file", file_path=path, content=new)


def only(*indices: int) -> Any:
    return lambda edits: Review({edits[0].path: indices}, "leave twenty alone")


async def test_accepted_hunks_are_written_and_the_model_is_told_which(desk: Desk) -> None:
    desk.put("a.txt", TEXT)
    desk.user.reviews = only(0)
    result = await rewritten(desk)
    assert desk.read("a.txt") == TEXT.replace("line 5\n", "five\n")
    assert not result.is_error
    assert "accepted the change at line 5 and refused that at line 20" in result.text
    assert "leave twenty alone" in result.text and "+5: five" in result.text
    assert "+twenty" not in result.text
    # What the agent has in mind is not what is in the file: it must look again.
    desk.user.reviews = Review.all_of
    assert (await desk.run("rewrite_file", file_path="a.txt", content=NEW)).is_error
    assert not (await rewritten(desk)).is_error
    assert not (await desk.run("rewrite_file", file_path="a.txt", content=TEXT)).is_error


@pytest.mark.parametrize("review", [Review({}, "no thanks"), Review({"a.txt": ()}, "no thanks")])
async def test_a_refusal_leaves_the_file_and_is_an_answer(desk: Desk, review: Review) -> None:
    desk.put("a.txt", TEXT)
    desk.user.reviews = lambda _: review
    result = await rewritten(desk)
    assert result.is_error and "no thanks" in result.text and "Not written" in result.text
    assert desk.read("a.txt") == TEXT


async def test_indices_that_do_not_exist_write_nothing_else(desk: Desk) -> None:
    desk.put("a.txt", TEXT)
    desk.user.reviews = only(7, -1, 1, 1)
    await rewritten(desk)
    assert desk.read("a.txt") == TEXT.replace("line 20\n", "twenty\n")


async def test_files_are_accepted_one_by_one(desk: Desk) -> None:
    desk.put("a.txt", "a\n")
    desk.put("b.txt", "b\n")
    desk.user.reviews = lambda _: Review({"b.txt": (0,)})
    diffs = [{"search": "a", "replace": "A"}], [{"search": "b", "replace": "B"}]
    files = [{"file_path": f, "diffs": d} for f, d in zip(("a.txt", "b.txt"), diffs, strict=True)]
    said = await desk.text("edit_file", files=files)
    assert (desk.read("a.txt"), desk.read("b.txt")) == ("a\n", "B\n")
    assert "a.txt: the user refused" in said and "b.txt: changed" in said


async def test_files_of_one_name_in_two_folders_are_reviewed_one_by_one(
    desk: Desk, tmp_path: Path
) -> None:
    other = (tmp_path / "other").resolve()
    other.mkdir()
    (other / "a.txt").write_text("a\n")
    desk.put("a.txt", "a\n")
    desk.context = replace(desk.context, roots=(*desk.context.roots, other))
    desk.user.reviews = lambda edits: Review.all_of([e for e in edits if e.root == 1])
    diffs = [{"search": "a", "replace": "A"}]
    files = [{"file_path": p, "diffs": diffs} for p in ("a.txt", "other/a.txt")]
    said = await desk.text("edit_file", files=files)
    assert desk.read("a.txt") == "a\n" and (other / "a.txt").read_text() == "A\n"
    assert "a.txt: the user refused" in said and "other/a.txt: changed" in said
    assert len(desk.user.reviewed) == 2


async def test_a_file_the_user_types_in_during_the_review_is_not_changed(desk: Desk) -> None:
    file = desk.put("a.txt", "a\n").resolve()
    open_in_editor = {file: "a\n"}
    desk.offer(buffers=open_in_editor.get, applied=lambda *_: True)

    def types(edits: Sequence[ProposedEdit]) -> Review:
        open_in_editor[file] = "a user at work\n"
        return Review.all_of(edits)

    desk.user.reviews = types
    edit = {"file_path": "a.txt", "diffs": [{"search": "a", "replace": "A"}]}
    assert "in the user's editor" in await desk.refused("edit_file", files=[edit])


async def test_a_file_that_changed_during_the_review_is_not_overwritten(desk: Desk) -> None:
    desk.put("a.txt", TEXT)

    def reviews(edits: Sequence[ProposedEdit]) -> Review:
        desk.put("a.txt", "the user's own\n")
        return Review.all_of(edits)

    desk.user.reviews = reviews
    result = await rewritten(desk)
    assert result.is_error and "changed since it was read" in result.text
    assert desk.read("a.txt") == "the user's own\n"


async def test_a_file_that_came_or_went_meanwhile_is_said(desk: Desk) -> None:
    def comes(edits: Sequence[ProposedEdit]) -> Review:
        desk.put("new.txt", "other\n")
        return Review.all_of(edits)

    desk.user.reviews = comes
    said = await desk.refused("rewrite_file", file_path="new.txt", content="x\n")
    assert "exists now" in said and desk.read("new.txt") == "other\n"

    def goes(edits: Sequence[ProposedEdit]) -> Review:
        (desk.root / "a.txt").unlink()
        return Review.all_of(edits)

    desk.put("a.txt", TEXT)
    desk.user.reviews = goes
    assert "was deleted" in (await rewritten(desk)).text
    assert not (desk.root / "a.txt").exists()


async def test_a_link_put_in_the_way_during_the_review_leads_nowhere(
    desk: Desk, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.txt").write_text("a\n")
    desk.put("dir/a.txt", "a\n")

    def swaps(edits: Sequence[ProposedEdit]) -> Review:
        (desk.root / "dir").rename(desk.root / "moved")
        (desk.root / "dir").symlink_to(outside)
        return Review.all_of(edits)

    desk.user.reviews = swaps
    result = await rewritten(desk, "dir/a.txt", "changed\n")
    assert result.is_error and "outside" in result.text
    assert (outside / "a.txt").read_text() == "a\n" and desk.read("moved/a.txt") == "a\n"


async def test_a_rule_that_allows_spares_the_review(desk: Desk) -> None:
    desk.rules = [PermissionRule("allow", "*", "write", "src/*")]
    desk.put("src/a.txt", TEXT)
    result = await rewritten(desk, "src/a.txt")
    assert not result.is_error and desk.user.reviewed == [] and desk.read("src/a.txt") == NEW
    desk.put("a.txt", TEXT)
    await rewritten(desk)
    assert len(desk.user.reviewed) == 1


async def test_a_rule_that_forbids_refuses_before_anything_is_computed(desk: Desk) -> None:
    desk.rules = [PermissionRule("deny", "*", "write", "a.txt")]
    desk.accept = True
    desk.put("a.txt", TEXT)
    result = await rewritten(desk)
    assert result.is_error and "rule denies it" in result.text
    assert desk.user.reviewed == [] and desk.read("a.txt") == TEXT


async def test_nobody_is_asked_for_what_will_be_refused(desk: Desk) -> None:
    edit = {"file_path": "../outside.txt", "diffs": [{"search": "a", "replace": "b"}]}
    assert "outside the workspace" in await desk.refused("edit_file", files=[edit])
    assert desk.user.asked == [] and desk.user.reviewed == []


async def test_reading_that_a_rule_asks_for_is_asked_before_anything_is_shown(desk: Desk) -> None:
    desk.rules = [PermissionRule("ask", "*", "read", "key*"), PermissionRule("allow", "*", "write")]
    desk.put("key.txt", "secret\n")
    edit = {"file_path": "key.txt", "diffs": [{"search": "secre", "replace": "x"}] * 2}
    said = await desk.refused("edit_file", files=[edit])
    assert "secret" not in said and [a.kind for a in desk.user.asked[0].actions] == ["read"]
    desk.user.permits = Answer(True)
    assert "not in the file" in await desk.refused("edit_file", files=[edit])


async def test_the_accepting_mode_writes_unless_a_rule_says_to_ask(desk: Desk) -> None:
    desk.accept = True
    desk.workspace_rules = [PermissionRule("ask", "*", "write", "b.txt")]
    desk.put("a.txt", TEXT)
    desk.put("b.txt", TEXT)
    await rewritten(desk)
    assert desk.user.reviewed == [] and desk.read("a.txt") == NEW
    await rewritten(desk, "b.txt")
    assert len(desk.user.reviewed) == 1


async def test_files_other_programs_act_on_are_asked_in_words_and_shown(desk: Desk) -> None:
    desk.accept = True
    said = await desk.refused("rewrite_file", file_path=".vscode/tasks.json", content="{}\n")
    assert "Not written" in said and desk.user.reviewed == []
    assert ".vscode" in desk.user.asked[0].reason
    desk.user.permits = Answer(True)
    await desk.text("rewrite_file", file_path=".vscode/tasks.json", content="{}\n")
    assert len(desk.user.reviewed) == 1 and desk.read(".vscode/tasks.json") == "{}\n"


async def test_consent_to_a_file_can_hold_longer(desk: Desk) -> None:
    desk.put("a.txt", TEXT)
    desk.user.reviews = lambda edits: replace(Review.all_of(edits), scope="session")
    await rewritten(desk)
    await rewritten(desk, new=TEXT)
    assert len(desk.user.reviewed) == 1 and desk.read("a.txt") == TEXT
    await desk.text("rewrite_file", file_path="b.txt", content="x\n")
    assert len(desk.user.reviewed) == 2


async def test_nobody_there_writes_nothing_that_no_rule_allows(desk: Desk) -> None:
    desk.put("a.txt", "a\n")
    gate = Permissions([PermissionRule("allow", "*", "write", "ok.txt")])
    stack = Approved(Reviewed(Tools([]), NonInteractive(), gate), gate, None)
    assert stack.tools() == {}
    from jarvis_ls.tools.rewrite_file import rewrite_file

    stack = Approved(Reviewed(Tools([rewrite_file]), NonInteractive(), gate), gate, None)

    async def run(path: str) -> ToolResult:
        arguments = {"file_path": path, "content": "x\n"}
        return await stack.run(ToolCall("1", "rewrite_file", arguments), desk.context)

    result = await run("no.txt")
    assert result.is_error and "needs approval" in result.text
    assert not (await run("ok.txt")).is_error and desk.read("ok.txt") == "x\n"
    assert not (desk.root / "no.txt").exists()


async def test_without_rules_every_proposal_is_shown_behind_the_gate(desk: Desk) -> None:
    from jarvis_ls.tools.rewrite_file import rewrite_file

    gate, user = Permissions(), User()
    reviewed = Reviewed(Tools([rewrite_file]), user)
    assert [a.kind for a in reviewed.tools()["rewrite_file"].actions({"file_path": "a"})] == [
        "write"
    ]
    stack = Approved(reviewed, gate, lambda asked: user.permit("", "", asked))
    call = ToolCall("1", "rewrite_file", {"file_path": "a.txt", "content": "x\n"})
    assert (await stack.run(call, desk.context)).is_error and len(user.asked) == 1
    user.permits = Answer(True)
    assert not (await stack.run(call, desk.context)).is_error and len(user.reviewed) == 1


async def test_the_panel_sees_what_is_proposed_and_what_was_written(desk: Desk) -> None:
    desk.put("a.txt", TEXT)
    await desk.text("read_code", files=[{"path": "a.txt"}])
    shown: list[ToolEntry] = []

    def publish(event: object) -> None:
        assert isinstance(event, EntryPut) and isinstance(event.entry, ToolEntry)
        shown.append(event.entry)

    desk.user.reviews = only(1)
    with running(RunningCall("s", "n", ToolEntry("c", "rewrite_file", "", "running"), publish)):
        await desk.text("rewrite_file", file_path="a.txt", content=NEW)
    assert [e.state for e in shown][-1] == "running" and "asked" in [e.state for e in shown]
    assert len(shown[0].edits[0].hunks) == 2 and len(shown[-1].edits[0].hunks) == 1
    desk.user.reviews = lambda _: Review({}, "no")
    shown.clear()
    with running(RunningCall("s", "n", ToolEntry("c", "rewrite_file", "", "running"), publish)):
        await desk.refused("rewrite_file", file_path="b.txt", content="x")
    assert shown[-1].state == "denied" and shown[-1].reason == "no"


# Writing itself.


def context(root: Path, **services: Any) -> ToolContext:
    return ToolContext((root.resolve(),), node="n", services=services)


def change(root: Path, path: str, after: str | None) -> Change:
    place = resolve_path(path, context(root))
    before = load(place) if (root / path).exists() else None
    return Change(place, before, after)


async def test_one_file_that_cannot_be_written_undoes_all(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a\n")
    (tmp_path / "gone.txt").write_text("gone\n")
    (tmp_path / "bad").write_text("a file, no folder\n")
    changes = [
        change(tmp_path, "a.txt", "A\n"),
        change(tmp_path, "new/deep/b.txt", "b\n"),
        change(tmp_path, "bad/c.txt", "c\n"),
        change(tmp_path, "gone.txt", None),
    ]
    with pytest.raises(JarvisError):
        await write(changes, context(tmp_path))
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.txt", "bad", "gone.txt"]
    assert (tmp_path / "a.txt").read_text() == "a\n"


FULL = """
import asyncio, json, resource, sys
from pathlib import Path
from jarvis_ls.core.errors import JarvisError
from jarvis_ls.runtime.edits.text_change import Change
from jarvis_ls.runtime.edits.writer import write
from jarvis_ls.runtime.edits.text_file import load, resolve_path
from jarvis_ls.runtime.tools.tool import ToolContext

root = Path(sys.argv[1]).resolve()
context = ToolContext((root,))
places = [resolve_path(name, context) for name in "abc"]
texts = {"a": "A", "b": "B", "c": "C" * 100_000}
changes = [Change(place, load(place), texts[place.path]) for place in places]
changes.append(Change(resolve_path("new/d", context), None, "d"))
resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
try:
    asyncio.run(write(changes, context))
except JarvisError as error:
    print(error)
"""


def test_a_full_disk_in_the_middle_undoes_what_was_written(tmp_path: Path) -> None:
    for name in "abc":
        (tmp_path / name).write_text(name)
    ran = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert "cannot write" in ran.stdout and "File too large" in ran.stdout
    assert [(tmp_path / name).read_text() for name in "abc"] == ["a", "b", "c"]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a", "b", "c"]


async def test_stopping_while_files_are_written_leaves_all_or_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in "abcd":
        (tmp_path / name).write_text(name)
    begun = threading.Event()
    real = writer.replace_beneath

    def slow(root: Path, path: str, data: bytes, *, mode: int | None = None) -> int:
        begun.set()
        time.sleep(0.05)
        return real(root, path, data, mode=mode)

    monkeypatch.setattr(writer, "replace_beneath", slow)
    told: list[str | None] = []

    def applied(path: Path, before: str | None, after: str | None) -> bool:
        told.append(after)
        return path.name == "a"

    changes = [change(tmp_path, name, name.upper()) for name in "abcd"]
    task = asyncio.ensure_future(write(changes, context(tmp_path, applied=applied)))
    await asyncio.to_thread(begun.wait)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [(tmp_path / name).read_text() for name in "bcd"] == ["B", "C", "D"]
    assert told == ["A", "B", "C", "D"]  # the editor's part was not taken back


async def test_create_delete_and_rename(tmp_path: Path) -> None:
    (tmp_path / "old.txt").write_bytes(b"one\r\ntwo\r\n")
    (tmp_path / "bye.txt").write_text("bye\n")
    await write(
        [change(tmp_path, "bye.txt", None), change(tmp_path, "x/new.txt", "new\n")],
        context(tmp_path),
    )
    assert not (tmp_path / "bye.txt").exists() and (tmp_path / "x/new.txt").read_text() == "new\n"
    file = load(resolve_path("old.txt", context(tmp_path)))
    moved = rename(file, resolve_path("x/moved.txt", context(tmp_path)))
    await write(moved, context(tmp_path))
    assert not (tmp_path / "old.txt").exists()
    assert (tmp_path / "x/moved.txt").read_bytes() == b"one\r\ntwo\r\n"


@tool(
    actions=lambda a: [Action("write", a["old"]), Action("write", a["new"])],
    proposes=True,
)
async def move_file(context: ToolContext, old: str, new: str) -> str:
    """Move a file."""
    file = load(resolve_path(old, context))
    return await propose(context, rename(file, resolve_path(new, context)), "")


@tool(actions=lambda _: [Action("write", "a.txt")], proposes=True)
async def lying(context: ToolContext) -> str:
    """Says a.txt, writes b.txt."""
    return await propose(context, [Change(resolve_path("b.txt", context), None, "x")], "")


async def test_half_a_move_is_no_loss(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a\n")
    user, gate = User(), Permissions()
    stack = Reviewed(Tools([move_file]), user, gate)
    call = ToolCall("1", "move_file", {"old": "a.txt", "new": "b.txt"})
    user.reviews = lambda _: Review({"a.txt": (0,)})  # only that it goes
    result = await stack.run(call, context(tmp_path))
    assert result.is_error and (tmp_path / "a.txt").exists()
    user.reviews = Review.all_of
    assert not (await stack.run(call, context(tmp_path))).is_error
    assert [p.name for p in tmp_path.iterdir()] == ["b.txt"]


async def test_what_was_not_declared_is_not_written(tmp_path: Path) -> None:
    stack = Reviewed(Tools([lying]), User(), Permissions())
    result = await stack.run(ToolCall("1", "lying", {}), context(tmp_path))
    assert result.is_error and "did not declare" in result.text
    assert list(tmp_path.iterdir()) == []


async def test_a_read_only_file_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a\n")
    (tmp_path / "a.txt").chmod(0o444)
    with pytest.raises(ToolRetry, match="read-only"):
        await write([change(tmp_path, "a.txt", "b\n")], context(tmp_path))


async def test_mode_encoding_and_links_survive(tmp_path: Path) -> None:
    (tmp_path / "run.sh").write_bytes("#!/bin/sh\r\n# é\r\n".encode("latin-1"))
    (tmp_path / "run.sh").chmod(0o750)
    (tmp_path / "link.sh").symlink_to("run.sh")
    await write([change(tmp_path, "link.sh", "#!/bin/sh\n# é\nexit\n")], context(tmp_path))
    assert (tmp_path / "run.sh").read_bytes() == "#!/bin/sh\r\n# é\r\nexit\r\n".encode("latin-1")
    assert stat.S_IMODE((tmp_path / "run.sh").stat().st_mode) == 0o750
    assert os.path.islink(tmp_path / "link.sh")  # noqa: PTH114


async def test_the_editor_makes_the_change_itself_when_it_can(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a\n")
    (tmp_path / "b.txt").write_text("b\n")
    told: list[tuple[Path, str | None, str | None]] = []

    async def applied(path: Path, before: str | None, after: str | None) -> bool:
        told.append((path, before, after))
        return path.name == "a.txt"

    changes = [change(tmp_path, "a.txt", "A\n"), change(tmp_path, "b.txt", "B\n")]
    await write(changes, context(tmp_path, applied=applied))
    root = tmp_path.resolve()
    assert told == [(root / "a.txt", "a\n", "A\n"), (root / "b.txt", "b\n", "B\n")]
    assert (tmp_path / "a.txt").read_text() == "a\n"  # the editor's to save
    assert (tmp_path / "b.txt").read_text() == "B\n"


async def test_the_editor_takes_back_what_the_disk_refuses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.txt").write_text("a\n")

    def full(*_: object, **__: object) -> int:
        raise JarvisError("cannot write x.txt: No space left on device")

    monkeypatch.setattr(writer, "replace_beneath", full)
    told: list[tuple[str, str | None]] = []

    def applied(path: Path, before: str | None, after: str | None) -> bool:
        told.append((path.name, after))
        return path.name == "a.txt"

    changes = [change(tmp_path, "a.txt", "A\n"), change(tmp_path, "x.txt", "x\n")]
    with pytest.raises(JarvisError, match="No space"):
        await write(changes, context(tmp_path, applied=applied))
    assert told[-1] == ("a.txt", "a\n")


async def test_unsaved_changes_are_never_written_over(desk: Desk) -> None:
    file = desk.put("a.txt", "saved\n").resolve()
    desk.offer(buffers={file: "unsaved\n"}.get)
    edit = {"file_path": "a.txt", "diffs": [{"search": "unsaved", "replace": "new"}]}
    said = await desk.refused("edit_file", files=[edit])
    assert "unsaved changes" in said and desk.read("a.txt") == "saved\n"
    told: list[tuple[str | None, str | None]] = []

    def applied(path: Path, before: str | None, after: str | None) -> bool:
        told.append((before, after))
        return True

    desk.offer(applied=applied)
    await desk.text("edit_file", files=[edit])
    assert told == [("unsaved\n", "new\n")] and desk.read("a.txt") == "saved\n"


async def test_agents_that_write_the_same_file_at_once_lose_nothing(desk: Desk) -> None:
    desk.put("a.txt", "".join(f"slot {n}\n" for n in range(8)))

    async def one(n: int) -> bool:
        edit = {
            "file_path": "a.txt",
            "diffs": [{"search": f"slot {n}\n", "replace": f"done {n}\n"}],
        }
        for _ in range(60):
            if not (await desk.run("edit_file", files=[edit])).is_error:
                return True
        return False

    assert all(await asyncio.gather(*(one(n) for n in range(8))))
    assert desk.read("a.txt") == "".join(f"done {n}\n" for n in range(8))


async def test_a_file_is_read_before_it_is_rewritten(desk: Desk) -> None:
    desk.put("a.txt", TEXT)
    said = await desk.refused("rewrite_file", file_path="a.txt", content="x\n")
    assert "have not read it" in said
    await desk.text("read_code", files=[{"path": "a.txt", "start_line": 1, "end_line": 2}])
    desk.put("a.txt", TEXT + "more\n")
    said = await desk.refused("rewrite_file", file_path="a.txt", content="x\n")
    assert "changed since you read it" in said
    await rewritten(desk, new="x")
    assert desk.read("a.txt") == "x\n"  # the last newline stays
    assert "exactly this text" in await desk.refused(
        "rewrite_file", file_path="a.txt", content="x\n"
    )
