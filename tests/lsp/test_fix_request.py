"""What is done to a finding of the findings view, whatever else happens at that moment.

The view holds findings of the scan of the workspace. Of a file that is opened for it, the findings
of the rules come first; those of values that are followed come later, and change which is which.
"""

from __future__ import annotations

import sys

import pytest
from lsprotocol import types

from jarvis_ls.lsp.folders import uri_of
from tests.lsp.editor import DOUBLE_FREE, at, running

pytestmark = pytest.mark.watches()

HARMLESS_FIRST = """#include <string.h>

static void label(const char *text) {
    char line[16];
    strcpy(line, text);
}

void greet(void) { label("hello"); }

void copy(const char *text) {
    char line[16];
    strcpy(line, text);
}
"""
"""The first copy looks as dangerous as the second, until its only caller is known."""

ACROSS = """#include <stdlib.h>
#include <stdio.h>
#include <string.h>

static void let_go(char *memory) { free(memory); }

void twice(char *memory) {
    let_go(memory);
    puts("again");
    free(memory);
}

void name(const char *given) {
    char line[16];
    strcpy(line, given);
}
"""
"""Only who follows the call sees the double free."""

PATIENT = (
    sys.executable,
    "-X",
    "utf8",
    "-c",
    "import sys; from jarvis_ls.lsp import live_diagnostics as live; "
    "live._SETTLING_SECONDS = float('inf'); "
    "from jarvis_ls.cli.language_server import main; sys.exit(main())",
)
"""A server that waits for values to be followed for as long as that may take."""


async def scanned(editor, uri):
    """The findings of a file after a scan of the workspace, as the view has them."""
    await editor.request("jarvis/scanWorkspace", {})
    answer = await editor.request("jarvis/findings", {})
    return [one for one in answer.findings if one.uri == uri]


def written(folder, name, text):
    (folder / name).write_text(text)
    return uri_of(str(folder / name))


async def fixed(editor, finding):
    params = {"uri": finding.uri, "fingerprint": finding.fingerprint}
    answer = await editor.request("jarvis/fix", params)
    (change,) = answer.edit.documentChanges
    edits = [
        types.TextEdit(
            types.Range(
                types.Position(one.range.start.line, one.range.start.character),
                types.Position(one.range.end.line, one.range.end.character),
            ),
            one.newText,
        )
        for one in change.edits
    ]
    return editor.apply(types.WorkspaceEdit(changes={finding.uri: edits}))[finding.uri]


@pytest.mark.parametrize("pull", [False, True])
async def test_a_fix_asked_for_as_the_file_is_opened(tmp_path, pull):
    uri = written(tmp_path, "a.c", DOUBLE_FREE)
    async with running(tmp_path, pull=pull, options={"trusted": True}) as editor:
        (finding,) = await scanned(editor, uri)
        editor.open(uri, DOUBLE_FREE)
        assert "= NULL;" in await fixed(editor, finding)
        await editor.until(
            lambda: [one.findings for told in editor.changes for one in told.files][-1:] == [[]]
        )
        assert (await editor.request("jarvis/findings", {})).findings == []


async def test_a_fix_waits_for_the_values_and_not_for_a_time_to_pass(tmp_path):
    uri = written(tmp_path, "a.c", DOUBLE_FREE)
    async with running(tmp_path, options={"trusted": True}, command=PATIENT) as editor:
        (finding,) = await scanned(editor, uri)
        editor.open(uri, DOUBLE_FREE)
        assert "= NULL;" in await fixed(editor, finding)


async def test_the_finding_that_was_chosen_is_fixed_and_not_one_that_looks_like_it(tmp_path):
    uri = written(tmp_path, "a.c", HARMLESS_FIRST)
    async with running(tmp_path, options={"trusted": True}) as editor:
        (finding,) = await scanned(editor, uri)
        assert finding.range.start.line == 11
        editor.open(uri, HARMLESS_FIRST)
        text = await fixed(editor, finding)
        first, second = text.split("void greet")
        assert "strcpy" in first
        assert "strcpy" not in second


async def test_the_finding_that_was_chosen_is_suppressed_and_not_one_that_looks_like_it(tmp_path):
    uri = written(tmp_path, "a.c", HARMLESS_FIRST)
    async with running(tmp_path, options={"trusted": True}) as editor:
        (finding,) = await scanned(editor, uri)
        editor.open(uri, HARMLESS_FIRST)
        await editor.diagnostics(uri)  # what the rules see
        item = {"uri": uri, "fingerprint": finding.fingerprint}
        params = {"items": [item], "scope": "line", "reason": "short"}
        answer = await editor.request("jarvis/suppress", params)
        (edit,) = answer.edit.documentChanges[0].edits
        assert edit.range.start.line == 11


async def test_a_fix_asked_for_while_the_text_changes_fits_the_text(tmp_path):
    uri = written(tmp_path, "a.c", DOUBLE_FREE)
    async with running(tmp_path, options={"trusted": True}) as editor:
        (finding,) = await scanned(editor, uri)
        editor.open(uri, DOUBLE_FREE)
        params = {"uri": uri, "fingerprint": finding.fingerprint}
        asked = editor.begin("jarvis/fix", params, "fix")
        for lines in range(1, 4):
            editor.replace_all(uri, "\n" * lines + DOUBLE_FREE)
        answer = await editor.soon(asked)
        (change,) = answer.edit.documentChanges
        lines = change.textDocument.version - 1
        assert change.edits[0].range.start.line == 3 + lines


async def test_the_light_bulb_is_not_empty_because_the_text_changes(tmp_path):
    uri = written(tmp_path, "a.c", DOUBLE_FREE)
    long = DOUBLE_FREE + "".join(f"int f{number}(void) {{ return 1; }}\n" for number in range(9000))
    async with running(tmp_path) as editor:
        editor.open(uri, long)
        place = at(4, 6)
        params = types.CodeActionParams(
            types.TextDocumentIdentifier(uri), place, types.CodeActionContext([])
        )
        asked = editor.begin(types.TEXT_DOCUMENT_CODE_ACTION, params, "bulb")
        await editor.request("jarvis/findings", {})  # it is at work now
        for count in range(1, 4):
            editor.replace_all(uri, long + "\n" * count)
        assert any(one.is_preferred for one in await editor.soon(asked))


async def test_what_is_no_rewrite_for_sure_is_applied_when_asked_for(tmp_path):
    text = 'use std::fs;\npub fn clean() {\n    let _ = fs::remove_file("x");\n}\n'
    uri = written(tmp_path, "a.rs", text)
    async with running(tmp_path, options={"trusted": True}) as editor:
        found = [one for one in await scanned(editor, uri) if one.fixable]
        editor.open(uri, text, "rust")
        for one in found:
            assert (await fixed(editor, one)) != text


GETS = "#include <stdio.h>\n\nvoid ask(void) {\n    char line[16];\n    gets(line);\n}\n"


async def test_a_fix_that_changes_behaviour_is_to_be_confirmed(tmp_path):
    uri = written(tmp_path, "a.c", GETS)
    async with running(tmp_path, options={"trusted": True}) as editor:
        (finding,) = await scanned(editor, uri)
        editor.open(uri, GETS)
        params = {"uri": uri, "fingerprint": finding.fingerprint}
        answer = await editor.request("jarvis/fix", params)
        (reason,) = answer.edit.changeAnnotations
        assert reason.needsConfirmation


async def test_what_is_gone_or_closed_is_said(tmp_path):
    uri = written(tmp_path, "a.c", DOUBLE_FREE)
    async with running(tmp_path, options={"trusted": True}) as editor:
        (finding,) = await scanned(editor, uri)
        with pytest.raises(Exception, match="not open"):
            await fixed(editor, finding)
        editor.open(uri, "int nothing;\n")
        with pytest.raises(Exception, match="code has changed"):
            await fixed(editor, finding)


@pytest.mark.parametrize("pull", [False, True])
async def test_no_finding_goes_and_comes_back_when_its_file_is_opened(tmp_path, pull):
    uri = written(tmp_path, "a.c", ACROSS)
    async with running(tmp_path, pull=pull, options={"trusted": True}) as editor:
        before = {one.rule for one in await scanned(editor, uri)}
        assert "double-free" in before
        told = len(editor.changes)
        published = len(editor.published)
        editor.open(uri, ACROSS)
        if pull:
            params = types.DocumentDiagnosticParams(types.TextDocumentIdentifier(uri))
            answer = await editor.request(types.TEXT_DOCUMENT_DIAGNOSTIC, params)
            assert before <= {one.code for one in answer.items}
        else:
            assert before <= {one.code for one in await editor.diagnostics(uri)}
        # When the values have been followed too, a question about them has its answer.
        items = await editor.request("jarvis/findings", {})
        item = {"uri": uri, "fingerprint": next(iter(items.findings)).fingerprint}
        params = {"items": [item], "scope": "line", "reason": "short"}
        await editor.request("jarvis/suppress", params)
        views = [one for change in editor.changes[told:] for one in change.files]
        assert all(before <= {item.rule for item in one.findings} for one in views)
        if not pull:
            shown = [one for one in editor.published[published:] if one.uri == uri]
            assert all(before <= {item.code for item in one.diagnostics} for one in shown)
