"""The light bulb: what it offers, what its edits do, and that they do it once."""

from __future__ import annotations

import json

import pytest
from lsprotocol import types

from jarvis_ls.lsp.folders import uri_of
from tests.lsp.editor import CLEAN, DOUBLE_FREE, edits_of, running

pytestmark = pytest.mark.watches()

TWICE = DOUBLE_FREE + DOUBLE_FREE.partition("\n\n")[2].replace("twice", "again")
CLIENTS = ["visual-studio-code", "neovim@v0.7"]


def titled(actions, start):
    return next(one for one in actions if one.title.startswith(start))


def at_margin(found):
    """The cursor in front of the text of a finding's line."""
    assert found.range.start.character > 0
    margin = types.Position(found.range.start.line, 0)
    return types.Range(margin, margin)


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
async def test_a_safe_rewrite_removes_its_finding(tmp_path, client, line_end):
    uri = uri_of(str(tmp_path / "a.c"))
    async with running(tmp_path, client=client) as editor:
        editor.open(uri, DOUBLE_FREE.replace("\n", line_end))
        (found,) = await editor.diagnostics(uri)
        actions = await editor.actions(uri, found.range)
        fix = next(one for one in actions if one.is_preferred)
        assert fix.kind == types.CodeActionKind.QuickFix
        assert [one.code for one in fix.diagnostics] == ["double-free"]
        if client == "visual-studio-code":
            (change,) = fix.edit.document_changes
            assert change.text_document.version == 1
        text = editor.apply(fix.edit)[uri]
        assert "\n" not in text.replace("\r\n", "") or line_end == "\n"
        assert await editor.diagnostics(uri) == []
        assert not any(one.is_preferred for one in await editor.actions(uri, found.range))


async def test_what_a_client_asks_about_is_meant_wherever_the_cursor_is(tmp_path):
    """Neovim sends the cursor, and with it the diagnostics of the whole line."""
    uri = uri_of(str(tmp_path / "a.c"))
    async with running(tmp_path, client=CLIENTS[1]) as editor:
        editor.open(uri, DOUBLE_FREE)
        (found,) = await editor.diagnostics(uri)
        cursor = at_margin(found)
        assert not any(one.is_preferred for one in await editor.actions(uri, cursor))
        actions = await editor.actions(uri, cursor, diagnostics=[found])
        assert any(one.is_preferred for one in actions)
        assert titled(actions, "Suppress double-free here")


async def test_asked_by_a_key_the_whole_line_is_meant(tmp_path):
    """VS Code looks for what is near the cursor itself, but not always in time."""
    uri = uri_of(str(tmp_path / "a.c"))
    async with running(tmp_path, client=CLIENTS[0]) as editor:
        editor.open(uri, DOUBLE_FREE)
        (found,) = await editor.diagnostics(uri)
        cursor = at_margin(found)
        moved = await editor.actions(uri, cursor, trigger=types.CodeActionTriggerKind.Automatic)
        assert not any(one.is_preferred for one in moved)
        asked = await editor.actions(uri, cursor, trigger=types.CodeActionTriggerKind.Invoked)
        assert any(one.is_preferred for one in asked)
        above = types.Position(cursor.start.line - 1, 0)
        there = types.Range(above, above)
        asked = await editor.actions(uri, there, trigger=types.CodeActionTriggerKind.Invoked)
        assert not any(one.is_preferred for one in asked)


BOTH = """#include <stdio.h>

void copy(const char *name)
{
    char line[16];
    gets(line); sprintf(line, "%s", name);
}
"""
"""In one line, a fix that changes behaviour before one that does not."""


@pytest.mark.parametrize("client", CLIENTS)
async def test_what_changes_behaviour_comes_last_and_is_shown_before(tmp_path, client):
    uri = uri_of(str(tmp_path / "a.c"))
    async with running(tmp_path, client=client) as editor:
        editor.open(uri, BOTH)
        await editor.diagnostics(uri)
        line = types.Range(types.Position(5, 4), types.Position(5, 40))
        actions = await editor.actions(uri, line, only=["quickfix"])
        safe, unsafe, *_ = [one for one in actions if one.edit is not None]
        assert safe.title == "Limit the output to the size of 'line'"
        assert safe.is_preferred
        assert unsafe.title == "Replace with fgets (changes behaviour)"
        assert not unsafe.is_preferred
        assert safe.edit.change_annotations is None
        if client == "visual-studio-code":
            ((name, reason),) = unsafe.edit.change_annotations.items()
            assert reason.needs_confirmation
            (change,) = unsafe.edit.document_changes
            assert all(edit.annotation_id == name for edit in change.edits)
        else:
            assert unsafe.edit.change_annotations is None
        assert "fgets(line, sizeof(line), stdin)" in editor.apply(unsafe.edit)[uri]


async def test_fix_all_leaves_nothing_to_fix(tmp_path):
    uri = uri_of(str(tmp_path / "a.c"))
    async with running(tmp_path) as editor:
        editor.open(uri, TWICE)
        found = await editor.diagnostics(uri)
        assert len(found) == 2
        (action,) = await editor.actions(uri, found[0].range, only=["source.fixAll"])
        assert action.kind == "source.fixAll.jarvis"
        editor.apply(action.edit)
        assert await editor.diagnostics(uri) == []
        assert await editor.actions(uri, found[0].range, only=["source.fixAll.jarvis"]) == []


async def test_fix_all_of_one_rule(tmp_path):
    uri = uri_of(str(tmp_path / "a.c"))
    async with running(tmp_path) as editor:
        editor.open(uri, TWICE)
        found = await editor.diagnostics(uri)
        action = titled(await editor.actions(uri, found[0].range), "Fix all 2 'double-free'")
        editor.apply(action.edit)
        assert await editor.diagnostics(uri) == []


@pytest.mark.parametrize(
    ("start", "comment"),
    [
        ("Suppress double-free here", "    // jsec-ignore: double-free reviewed in"),
        ("Suppress double-free in this function", "// jsec-ignore-function: double-free reviewed"),
        ("Suppress double-free in this file", "// jsec-ignore-file: double-free reviewed in"),
    ],
)
async def test_suppression_by_a_comment_with_a_reason(tmp_path, start, comment):
    uri = uri_of(str(tmp_path / "a.c"))
    async with running(tmp_path) as editor:
        editor.open(uri, DOUBLE_FREE)
        (found,) = await editor.diagnostics(uri)
        action = titled(await editor.actions(uri, found.range), start)
        text = editor.apply(action.edit)[uri]
        assert any(line.startswith(comment) for line in text.splitlines())
        assert await editor.diagnostics(uri) == []


@pytest.mark.parametrize(
    "text",
    [
        "void f(char *p) { free(p);\n/* a\n comment */ free(p); }\n",
        'void f(char *p) { free(p);\n  say("a\\\n b"); free(p); }\n',
        "void f(char *p) {\r\n\tfree(p);\r\n\tfree(p);\r\n}\r\n",
        "void f(char *p) { free(p); free(p); }",
        "/* 😀 */ void f(char *p) { free(p); /* 😀 */ free(p); }\n",
    ],
)
async def test_a_suppressing_comment_lands_where_it_is_one(tmp_path, text):
    uri = uri_of(str(tmp_path / "a.c"))
    async with running(tmp_path) as editor:
        editor.open(uri, text)
        (found,) = await editor.diagnostics(uri)
        action = titled(await editor.actions(uri, found.range), "Suppress double-free here")
        changed = editor.apply(action.edit)[uri]
        assert changed.count("jsec-ignore") == 1
        assert await editor.diagnostics(uri) == []


@pytest.mark.parametrize("trusted", [True, False])
async def test_the_baseline_is_offered_where_there_is_one(tmp_path, trusted):
    inside, outside = tmp_path / "ws" / "a.c", tmp_path / "b.c"
    inside.parent.mkdir()
    async with running(inside.parent, options={"trusted": trusted}) as editor:
        for file, offered in ((inside, trusted), (outside, False)):
            file.write_text(DOUBLE_FREE)
            uri = uri_of(str(file))
            editor.open(uri, DOUBLE_FREE)
            (found,) = await editor.diagnostics(uri)
            titles = [one.title for one in await editor.actions(uri, found.range)]
            assert "Explain double-free" in titles
            assert ("Add this double-free to the baseline" in titles) == offered


async def test_the_baseline_hides_a_finding_and_is_kept(tmp_path):
    file = tmp_path / "a.c"
    file.write_text(DOUBLE_FREE)
    uri = uri_of(str(file))
    async with running(tmp_path) as editor:
        editor.open(uri, DOUBLE_FREE)
        (found,) = await editor.diagnostics(uri)
        action = titled(await editor.actions(uri, found.range), "Add this double-free to the")
        command = action.command
        assert await editor.command(command.command, *command.arguments) == 1
        await editor.pushed(uri, lambda shown: shown == [])
        baseline = json.loads((tmp_path / ".jarvis/sec/baseline.json").read_text())
        assert list(baseline["files"]) == ["a.c"]
        version = editor.replace_all(uri, "\n\n" + DOUBLE_FREE)
        assert await editor.diagnostics(uri, version) == []
    async with running(tmp_path) as editor:
        editor.open(uri, DOUBLE_FREE)
        assert await editor.diagnostics(uri) == []


async def test_our_extension_asks_for_the_reason_itself(tmp_path):
    uri = uri_of(str(tmp_path / "a.c"))
    async with running(tmp_path, options={"trusted": True}) as editor:
        editor.open(uri, DOUBLE_FREE)
        (found,) = await editor.diagnostics(uri)
        actions = await editor.actions(uri, found.range)
        suppress = titled(actions, "Suppress double-free in this function").command
        assert suppress.command == "jarvisLs.suppressHere"
        (items, scope) = suppress.arguments
        assert scope == "function"
        answer = await editor.request(
            "jarvis/suppress", {"items": items, "scope": scope, "reason": "freed\n once */ only"}
        )
        assert titled(actions, "Explain double-free").command.command == "jarvisLs.explainRule"
    (edit,) = answer.edit.documentChanges[0].edits
    assert edit.newText == "// jsec-ignore-function: double-free freed once * / only\n"


async def test_several_findings_are_suppressed_at_once_in_files_that_are_not_open(tmp_path):
    names = ["a.c", "b.c"]
    for name in names:
        (tmp_path / name).write_text(TWICE)
    async with running(tmp_path) as editor:
        await editor.request("jarvis/scanWorkspace", {})
        known = (await editor.request("jarvis/findings", {})).findings
        items = [{"uri": one.uri, "fingerprint": one.fingerprint} for one in known]
        assert len(items) == 4
        for scope, count in (("line", 2), ("function", 2), ("file", 1)):
            answer = await editor.request(
                "jarvis/suppress", {"items": items, "scope": scope, "reason": "tested"}
            )
            assert [len(one.edits) for one in answer.edit.documentChanges] == [count, count]
        answer = await editor.request(
            "jarvis/suppress", {"items": items, "scope": "baseline", "reason": "tested"}
        )
        assert answer.baseline == 4
        known = (await editor.request("jarvis/findings", {})).findings
        assert all(one.baselined for one in known)


async def test_actions_are_of_the_text_as_it_is_now(tmp_path):
    uri = uri_of(str(tmp_path / "a.c"))
    async with running(tmp_path, options={"debounce": 5000}) as editor:
        editor.open(uri, CLEAN)
        await editor.diagnostics(uri)
        editor.replace_all(uri, DOUBLE_FREE)
        everything = types.Range(types.Position(0, 0), types.Position(99, 0))
        actions = await editor.actions(uri, everything, only=["quickfix"])
        edit = next(one for one in actions if one.is_preferred).edit
        assert edits_of(edit)[uri]
