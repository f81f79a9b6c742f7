"""Documents that the editor still holds when their file is deleted by another program."""

from __future__ import annotations

import asyncio

import pytest
from lsprotocol import types

from jarvis_ls.lsp.folders import uri_of
from tests.lsp.editor import CLEAN, DOUBLE_FREE, running
from tests.lsp.test_workspace import CHANGED, CREATED, DELETED, none, one, watched

pytestmark = pytest.mark.watches()

FREES = "#include <stdlib.h>\nvoid let_go(char *p) { free(p); }\n"
CALLS = """#include <stdlib.h>
void let_go(char *);
void f(void) {
    char *p = malloc(1);
    if (!p) return;
    let_go(p);
    free(p);
}
"""


def delete(editor, file):
    file.unlink()
    watched(editor, (file, DELETED))


def insert(editor, uri, text):
    editor.texts[uri] = text + editor.texts[uri]
    start = types.Position(0, 0)
    span = types.Range(start, start)
    editor.change(uri, types.TextDocumentContentChangePartial(text=text, range=span))


async def files_are_known(editor, folder):
    """A file that is written and told of has findings once the folder has been listed."""
    other = folder / "other.c"
    other.write_text(DOUBLE_FREE)
    while not any(one.uri == uri_of(str(other)) for one in editor.published):
        watched(editor, (other, CREATED))
        await asyncio.sleep(0.5)


async def listed(editor):
    """The files of the findings view."""
    known = await editor.request("jarvis/findings", {})
    return {one.uri for one in known.findings}


@pytest.mark.parametrize("scan", [True, False])
async def test_a_deleted_file_has_no_findings_until_it_is_back_or_edited(tmp_path, scan):
    file, uri = tmp_path / "a.c", uri_of(str(tmp_path / "a.c"))
    file.write_text(DOUBLE_FREE)
    async with running(tmp_path, options={"workspaceScan": scan}) as editor:
        await files_are_known(editor, tmp_path)
        editor.open(uri, DOUBLE_FREE)
        await editor.pushed(uri, one)
        delete(editor, file)
        await editor.pushed(uri, none)
        assert uri not in await listed(editor)
        file.write_text(DOUBLE_FREE)
        watched(editor, (file, CREATED))
        await editor.pushed(uri, one)
        assert uri in await listed(editor)
        delete(editor, file)
        await editor.pushed(uri, none)
        insert(editor, uri, "// mine\n")
        (found,) = await editor.pushed(uri, one)
        assert found.range.start.line == 5
        assert uri in await listed(editor)


async def test_what_is_not_saved_is_kept(tmp_path):
    first, second = tmp_path / "a.c", tmp_path / "b.c"
    for file in (first, second):
        file.write_text(DOUBLE_FREE)
    async with running(tmp_path, options={"workspaceScan": True}) as editor:
        await editor.pushed(uri_of(str(second)), one)
        for file in (first, second):
            editor.open(uri_of(str(file)), DOUBLE_FREE)
        insert(editor, uri_of(str(first)), "// mine\n")
        for file in (first, second):
            delete(editor, file)
        await editor.pushed(uri_of(str(second)), none)
        assert await listed(editor) == {uri_of(str(first))}


async def test_a_document_that_the_editor_has_read_again_is_not_changed(tmp_path):
    file, uri = tmp_path / "a.c", uri_of(str(tmp_path / "a.c"))
    file.write_text(CLEAN)
    async with running(tmp_path, options={"workspaceScan": True}) as editor:
        await editor.until(lambda: editor.statuses and editor.statuses[-1].done == 1)
        editor.open(uri, CLEAN)
        file.write_text(DOUBLE_FREE)
        watched(editor, (file, CHANGED))
        editor.replace_all(uri, DOUBLE_FREE)
        await editor.pushed(uri, one)
        await editor.request("jarvis/scanWorkspace", {})
        delete(editor, file)
        await editor.pushed(uri, none)


async def test_it_is_no_part_of_the_program_any_more(tmp_path):
    callee, caller = tmp_path / "callee.c", tmp_path / "caller.c"
    callee.write_text(FREES)
    caller.write_text(CALLS)
    async with running(tmp_path, options={"workspaceScan": True}) as editor:
        for file in (callee, caller):
            editor.open(uri_of(str(file)), file.read_text())
        await editor.pushed(uri_of(str(caller)), lambda found: "double-free" in codes(found))
        delete(editor, callee)
        await editor.pushed(uri_of(str(caller)), lambda found: "double-free" not in codes(found))


def codes(found):
    return {one.code for one in found}
