"""The panel's parts without a server: edits of open documents, `@`, both sides of a change,
commands without a model, asking."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jarvis_ls.core.errors import UsageError
from jarvis_ls.core.finding import Finding, Message, Span
from jarvis_ls.jsec.engine.rule_pages import RulePage
from jarvis_ls.lsp.documents import Document
from jarvis_ls.lsp.panel.commands import (
    COMMANDS,
    Located,
    Memory,
    Project,
    Report,
    Scanned,
    find_command,
)
from jarvis_ls.lsp.panel.editor import minimal_edit
from jarvis_ls.lsp.panel.files import Mentions, explorer_files, read_targets, side_of
from jarvis_ls.lsp.panel.interaction import PanelInteraction
from jarvis_ls.lsp.user_messages import Messages
from jarvis_ls.runtime.base.events import (
    EntryPut,
    Event,
    ProposedEdit,
    QuestionEntry,
    SessionInfo,
    ToolEntry,
)
from jarvis_ls.runtime.base.folders import mention
from jarvis_ls.runtime.edits.text_change import hunks_of
from jarvis_ls.runtime.tools.current_call import RunningCall, running
from jarvis_ls.runtime.tools.interaction import Review
from jarvis_ls.runtime.tools.permissions import Answer, Asked
from jarvis_ls.runtime.tools.tool import Action

_TEXTS = st.text(alphabet="ab\n😀é", max_size=30)


@given(_TEXTS, _TEXTS, st.sampled_from(["\n", "\r\n"]))
@settings(max_examples=300, deadline=None)
def test_the_edit_makes_the_text_in_the_editor(old, new, end):
    document = Document("file:///a.c", "c", 1, old.replace("\n", end))
    edit = minimal_edit(document, new)
    has_ends = "\n" in old
    document.replace(edit.range, edit.new_text)
    assert document.text == new.replace("\n", end if has_ends else "\n")


def test_an_edit_leaves_alone_what_stays():
    document = Document("file:///a.c", "c", 1, "one\ntwo\nthree\n")
    edit = minimal_edit(document, "one\n2\nthree\n")
    assert (edit.range.start.line, edit.range.end.line, edit.new_text) == (1, 1, "2")


# Files ------------------------------------------------------------------------------------------


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in ("src/main.c", "src/deep/maximum.h", "README.md", "out/main.o", ".git/config"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("text\n")
    (tmp_path / ".gitignore").write_text("out/\n")
    return tmp_path


async def test_what_can_follow_an_at_sign(tree):
    mentions = Mentions()

    async def labels(text: str) -> list[str]:
        return [one.label for one in await mentions.complete(text, [tree])]

    assert (await labels("src/"))[:2] == ["src/", "src/deep/"]
    assert (await labels("mai"))[0] == "src/main.c"
    assert await labels("max") == ["src/deep/maximum.h"]
    assert "out/main.o" not in await labels("main")
    assert await labels("smx") == ["src/deep/maximum.h"]
    assert await labels("nothing like it") == []
    assert {"src/", "README.md"} <= set(await labels(""))
    [read_me] = await mentions.complete("READ", [tree])
    assert (read_me.kind, read_me.insert) == ("file", "@README.md")
    other = tree / "out"
    [there] = await Mentions().complete("out/ma", [tree / "src", other])
    assert (there.label, there.insert) == ("out/main.o", "@out/main.o")


def test_a_file_is_named_so_that_it_is_found(tmp_path):
    assert mention("a b.c", 0, [tmp_path], 3, 9) == '@"a b.c":3-9'
    one, two = tmp_path / "one", tmp_path / "two"
    assert mention("a.c", 1, [one, two]) == "@two/a.c"
    (one / "two").mkdir(parents=True)
    assert mention("a.c", 1, [one, two]) == f"@{two.as_posix()}/a.c"


def test_what_agents_touched(tree):
    edit = ProposedEdit("src/main.c", "modify", hunks_of("a\nb\n", "a\nc\nd\n"))
    read = ToolEntry("t1", "read_code", '{"path": "README.md", "n": 3}', "done")
    wrote = ToolEntry("t2", "edit_file", "{}", "done", edits=(edit,))
    refused = ToolEntry("t3", "edit_file", "{}", "denied", edits=(edit,))
    events: list[Event] = [EntryPut("s", "n", one) for one in (read, read, wrote, refused)]
    files = explorer_files(events, lambda entry: read_targets(entry, [tree]))
    assert [(f.path, f.read, f.change, f.added, f.removed, f.entries) for f in files] == [
        ("src/main.c", 0, "modify", 2, 1, ("t2",)),
        ("README.md", 2, "none", 0, 0, ()),
    ]


def test_what_a_call_names_outside_the_workspace_is_not_a_file_it_read(tree):
    entry = ToolEntry("t", "x", '{"path": "/etc/passwd", "other": ["../x", "src/main.c"]}', "done")
    assert read_targets(entry, [tree]) == [("src/main.c", 0)]
    assert read_targets(ToolEntry("t", "x", '{"path": "src/ma', "done"), [tree]) == []


@given(_TEXTS, _TEXTS)
@settings(max_examples=200, deadline=None)
def test_both_sides_of_a_change(old, new):
    edit = ProposedEdit("a.c", "modify", hunks_of(old, new))
    if old == new:
        return
    for now, written in ((old, False), (new, True)):
        assert side_of(edit, "before", now, written=written).text == old
        assert side_of(edit, "after", now, written=written).text == new


def test_sides_of_a_file_that_was_changed_again():
    edit = ProposedEdit("a.c", "modify", hunks_of("one\ntwo\n", "one\n2\n"))
    assert side_of(edit, "after", "all\nelse\n", written=True).text == "one\n2\n"
    assert side_of(edit, "before", None, written=True).text == "one\ntwo\n"
    created = ProposedEdit("a.c", "create", hunks_of("", "x"))
    assert not side_of(created, "before", "x", written=True).exists


# Commands ---------------------------------------------------------------------------------------


def _finding(rule: str, line: int, severity: str = "high") -> Finding:
    return Finding(
        rule,
        "c/cpp",
        "memory_mgmt",
        "free",
        (415,),
        "src/a|b.c",
        Span(line, 1, line, 5),
        "x",
        Message("freed {what}", (("what", "<p>"),)),
        Message("do not"),
        0.9,
        severity,
        rule,  # type: ignore[arg-type]
    )


class _Project(Project):
    def __init__(self, *found: Located) -> None:
        self.found = list(found)

    async def scan(self, report: Report) -> Scanned:
        report(1, 2)
        return Scanned(2, 1, 0.5)

    async def findings(self) -> list[Located]:
        return self.found

    async def pages(self) -> dict[str, RulePage]:
        text = "Allow double free\n\nThe page."
        page = RulePage(
            "double-free", "Allow double free", text, ("c",), "memory_mgmt", (415,), "high", False
        )
        return {"double-free": page}

    async def sessions(self, words: str) -> Sequence[SessionInfo]:
        return [SessionInfo("id-1", "A | title", "/", 1.0, 2.0)] if not words else []

    async def memories(self, words: str) -> Sequence[Memory]:
        return [Memory("project", "m1", "Keys are in keys.c\nmore", ("keys",))]

    def link(self, root: int, path: str, line: int) -> str:
        return f"{path}:{line}"


async def _run(line: str, project: Project | None = None, language: str = "en") -> str:
    found = find_command(line)
    assert found is not None
    command, argument = found
    return await command.run(argument, project or _Project(), Messages(language), lambda *_: None)


async def test_findings_are_listed_gravest_first_and_cannot_break_the_list():
    project = _Project(
        Located(0, _finding("use-after-free", 9, "low")), Located(0, _finding("double-free", 3))
    )
    text = await _run("/findings", project)
    lines = text.splitlines()
    assert lines[0] == "**2 findings**: 1 high, 1 low"
    assert lines[2] == "- **high** src/a|b.c:3 `double-free` freed &lt;p>"
    assert "use-after-free" in lines[3]
    assert "No findings match" in await _run("/findings double nothing", project)
    assert "use-after-free" not in await _run("/findings HIGH", project)
    assert "2 个问题" in await _run("/findings", project, "zh-cn")


async def test_the_other_commands():
    assert "### Allow double free" in await _run("/explain Double-Free")
    assert "`double-free`" in await _run("/explain doublefree")
    assert "1" in await _run("/explain")
    assert "| A \\| title |" in await _run("/sessions")
    assert "No sessions" in await _run("/sessions nothing")
    assert "Keys are in keys.c" in await _run("/memory")
    assert "Files scanned: 2" in await _run("/scan")
    for one in COMMANDS:
        assert one.name in await _run("/help")
    assert find_command("/nothing") is None and find_command("scan") is None
    assert find_command("  /EXPLAIN   a b ") == (COMMANDS[2], "a b")


# Asking -----------------------------------------------------------------------------------------


async def test_a_permission_waits_for_its_answer_and_is_answered_once():
    events: list[Event] = []
    asked_of = PanelInteraction("s", events.append)
    entry = ToolEntry("t1", "write", "{}", "running")
    call = RunningCall("s", "n", entry, events.append)
    with running(call):
        work = asyncio.ensure_future(
            asked_of.permit("n", "t1", Asked("write", (Action("write", "a\u202e.c"),), "", {}))
        )
        while not asked_of.waits:
            await asyncio.sleep(0)
    put = events[-1]
    assert isinstance(put, EntryPut) and isinstance(put.entry, ToolEntry)
    assert (put.entry.state, put.entry.asked[0].target) == ("asked", "a<U+202E>.c")
    assert not put.entry.lasting
    with pytest.raises(UsageError):
        asked_of.settle("t1", Review({}))
    with pytest.raises(UsageError):
        asked_of.settle("t2", Answer(True))
    asked_of.settle("t1", Answer(True, "session"))
    with pytest.raises(UsageError):
        asked_of.settle("t1", Answer(False))
    assert (await work).scope == "session"
    assert call.entry.state == "running"
    assert not asked_of.waits


async def test_a_question_takes_only_what_was_offered_and_ends_when_its_asker_does():
    events: list[Event] = []
    asked_of = PanelInteraction("s", events.append)
    work = asyncio.ensure_future(asked_of.question("n", "Which?", ["a", "b"]))
    while not asked_of.waits:
        await asyncio.sleep(0)
    put = events[-1]
    assert isinstance(put, EntryPut) and isinstance(put.entry, QuestionEntry)
    asked_of.settle(put.entry.id, "c")
    for _ in range(5):
        await asyncio.sleep(0)
    asked_of.settle(put.entry.id, "b")
    assert await work == "b"
    last = events[-1]
    assert isinstance(last, EntryPut) and last.entry == QuestionEntry(
        put.entry.id, "Which?", ("a", "b"), "b"
    )
    work = asyncio.ensure_future(asked_of.question("n", "Again?"))
    while not asked_of.waits:
        await asyncio.sleep(0)
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    assert not asked_of.waits
