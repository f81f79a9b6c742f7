"""Findings in the editor: by push, by pull, per version, for open and for closed files."""

from __future__ import annotations

import asyncio

import pytest
from lsprotocol import types

from jarvis_ls.lsp.folders import uri_of
from tests.jsec.two_files import HEADER, LONG, PAST, SINK
from tests.lsp.editor import CLEAN, DOUBLE_FREE, at, running

pytestmark = pytest.mark.watches()

CLIENTS = ["visual-studio-code", "neovim@v0.7"]


@pytest.mark.parametrize("client", CLIENTS)
async def test_findings_follow_every_version(tmp_path, client):
    uri = uri_of(str(tmp_path / "a.c"))
    async with running(tmp_path, client=client) as editor:
        editor.open(uri, DOUBLE_FREE)
        (found,) = await editor.diagnostics(uri)
        assert (found.code, found.range.start.line) == ("double-free", 4)
        version = editor.change(uri, types.TextDocumentContentChangePartial(at(0), "\n\n"))
        (moved,) = await editor.diagnostics(uri, version)
        assert moved.range.start.line == 6
        assert await editor.diagnostics(uri, editor.replace_all(uri, CLEAN)) == []


async def test_a_diagnostic_says_all_there_is(tmp_path):
    uri = uri_of(str(tmp_path / "a.c"))
    async with running(tmp_path) as editor:
        editor.open(uri, DOUBLE_FREE)
        (found,) = await editor.diagnostics(uri)
    assert found.range == types.Range(types.Position(4, 4), types.Position(4, 11))
    assert found.source == "jarvis"
    assert found.severity == types.DiagnosticSeverity.Error
    assert found.code_description.href == "https://cwe.mitre.org/data/definitions/415.html"
    assert "'p'" in found.message
    way = [(one.location.uri, one.location.range.start.line) for one in found.related_information]
    assert way == [(uri, 3), (uri, 4)]
    assert found.data["fingerprint"] and found.data["rule"] == "double-free"


async def test_columns_are_utf16(tmp_path):
    uri = uri_of(str(tmp_path / "a.c"))
    text = "void f(char *p) { /* 😀é */ free(p); /*\f\u2028*/ free(p); }\n"
    async with running(tmp_path) as editor:
        editor.open(uri, text)
        (found,) = await editor.diagnostics(uri)
    column = len(text[: text.rindex("free")].encode("utf-16-le")) // 2
    assert found.range.start == types.Position(0, column)


async def test_typing_is_debounced(tmp_path):
    uri = uri_of(str(tmp_path / "a.c"))
    async with running(tmp_path, options={"debounce": 300}) as editor:
        editor.open(uri, DOUBLE_FREE)
        await editor.diagnostics(uri)
        for _ in range(10):
            last = editor.change(uri, types.TextDocumentContentChangePartial(at(0), "\n"))
        await editor.diagnostics(uri, last)
        assert [one.version for one in editor.published] == [1, last]


async def test_pull_serves_open_documents_and_push_the_others(tmp_path):
    (tmp_path / "closed.c").write_text(DOUBLE_FREE)
    (tmp_path / "open.c").write_text(CLEAN)
    opened, closed = (uri_of(str(tmp_path / name)) for name in ("open.c", "closed.c"))
    async with running(tmp_path, pull=True, options={"workspaceScan": True}) as editor:
        editor.open(opened, DOUBLE_FREE)
        identifier = types.TextDocumentIdentifier(opened)
        first = await editor.client.text_document_diagnostic_async(
            types.DocumentDiagnosticParams(identifier)
        )
        again = first
        for _ in range(3):  # the way to it may come a little later
            if again.kind == "unchanged":
                break
            first = again
            assert [one.code for one in first.items] == ["double-free"]
            again = await editor.client.text_document_diagnostic_async(
                types.DocumentDiagnosticParams(identifier, previous_result_id=first.result_id)
            )
        assert again.kind == "unchanged" and again.result_id == first.result_id
        await editor.pushed(closed, lambda found: len(found) == 1)
        assert all(one.uri != opened or not one.diagnostics for one in editor.published)


async def test_a_client_that_pulls_is_told_when_findings_change_without_an_edit(tmp_path):
    source, header = uri_of(str(tmp_path / "a.c")), uri_of(str(tmp_path / "own.h"))
    for name in ("a.c", "own.h"):
        (tmp_path / name).write_text("")
    async with running(tmp_path, pull=True) as editor:

        async def pull():
            params = types.DocumentDiagnosticParams(types.TextDocumentIdentifier(source))
            report = await editor.client.text_document_diagnostic_async(params)
            return [one.code for one in report.items]

        async def told_until(wanted):
            """Pull whenever the server asks for it, and never besides."""
            while True:
                await editor.until(lambda: editor.client.diagnostic_refresh_count)
                editor.client.diagnostic_refresh_count = 0
                if wanted(await pull()):
                    return

        editor.open(header, "#define RELEASE keep\n")
        editor.open(source, '#include "own.h"\nvoid f(char *p) { free(p); RELEASE(p); }\n')
        assert "double-free" not in await pull()
        editor.replace_all(header, "#define RELEASE free\n")
        await told_until(lambda codes: "double-free" in codes)
        settings = {"jarvisLs": {"rules": {"double-free": "off"}}}
        editor.client.workspace_did_change_configuration(
            types.DidChangeConfigurationParams(settings)
        )
        await told_until(lambda codes: "double-free" not in codes)


async def test_a_client_that_cannot_be_told_is_answered_when_all_is_known(tmp_path):
    """It pulls once and has what only following values finds."""
    uri = uri_of(str(tmp_path / "a.c"))
    through = """#include <stdlib.h>
static void drop(char *p) { free(p); }
void f(char *q) { drop(q); drop(q); }
"""
    async with running(tmp_path, client="neovim@v0.7", pull=True, refresh=False) as editor:
        editor.open(uri, through)
        params = types.DocumentDiagnosticParams(types.TextDocumentIdentifier(uri))
        report = await editor.soon(editor.client.text_document_diagnostic_async(params))
        assert [one.code for one in report.items] == ["double-free"]


async def test_values_are_followed_in_a_file_outside_every_folder(tmp_path):
    inside, alone = (uri_of(str(tmp_path / one)) for one in ("in/a.c", "b.c"))
    (tmp_path / "in").mkdir()
    through = """#include <stdlib.h>
static void drop(char *p) { free(p); }
void f(char *q) { drop(q); drop(q); }
"""
    async with running(tmp_path / "in") as editor:
        for uri in (inside, alone):
            editor.open(uri, through)
            found = await editor.pushed(uri, bool)
            assert [one.code for one in found] == ["double-free"]
        change = types.DidChangeConfigurationParams({"jarvisLs": {"flow": False}})
        editor.client.workspace_did_change_configuration(change)
        await editor.pushed(alone, lambda found: not found)


async def test_remarks_on_comments_are_hints(tmp_path):
    uri = uri_of(str(tmp_path / "a.c"))
    async with running(tmp_path) as editor:
        editor.open(uri, "// jsec-ignore: double-free there is none\nint a;\n")
        (found,) = await editor.diagnostics(uri)
        assert found.code == "unused-suppression"
        assert found.severity == types.DiagnosticSeverity.Hint
        assert found.tags == (types.DiagnosticTag.Unnecessary,)


async def test_unsaved_text_wins_over_the_disk(tmp_path):
    file = tmp_path / "a.c"
    file.write_text(DOUBLE_FREE)
    uri = uri_of(str(file))
    async with running(tmp_path, options={"workspaceScan": True}) as editor:
        await editor.pushed(uri, lambda found: len(found) == 1)
        editor.open(uri, CLEAN)
        assert await editor.diagnostics(uri) == []
        editor.close(uri)
        await editor.pushed(uri, lambda found: len(found) == 1)


async def test_nothing_when_switched_off(tmp_path):
    uri = uri_of(str(tmp_path / "a.c"))
    async with running(tmp_path, options={"enable": False}) as editor:
        editor.open(uri, DOUBLE_FREE)
        assert await editor.diagnostics(uri) == []


async def test_a_document_that_is_no_file_is_analysed(tmp_path):
    async with running(tmp_path) as editor:
        editor.open("untitled:Untitled-1", DOUBLE_FREE)
        assert len(await editor.diagnostics("untitled:Untitled-1")) == 1
        editor.open("untitled:notes", DOUBLE_FREE, language="plaintext")
        assert await editor.diagnostics("untitled:notes") == []


async def test_a_late_result_of_an_old_version_is_not_shown(tmp_path):
    uri = uri_of(str(tmp_path / "a.c"))
    async with running(tmp_path) as editor:
        editor.open(uri, DOUBLE_FREE * 400)
        for number in range(40):
            last = editor.replace_all(uri, (DOUBLE_FREE, CLEAN)[number % 2])
            await asyncio.sleep(0.005)
        await editor.diagnostics(uri, last)
        versions = [one.version for one in editor.published]
        assert versions == sorted(versions) and versions[-1] == last


async def test_a_declaration_changed_in_one_document_reaches_the_others(tmp_path):
    header, source = uri_of(str(tmp_path / "own.h")), uri_of(str(tmp_path / "a.c"))
    (tmp_path / "own.h").write_text("")
    (tmp_path / "a.c").write_text("")
    async with running(tmp_path) as editor:
        editor.open(header, "#define RELEASE keep\n")
        editor.open(source, '#include "own.h"\nvoid f(char *p) { free(p); RELEASE(p); }\n')
        before = await editor.diagnostics(source)
        assert "double-free" not in [one.code for one in before]
        editor.replace_all(header, "#define RELEASE free\n")
        await editor.pushed(source, lambda found: "double-free" in [one.code for one in found])


async def test_a_declaration_that_was_not_saved_is_gone_with_its_document(tmp_path):
    header, source = uri_of(str(tmp_path / "own.h")), uri_of(str(tmp_path / "a.c"))
    keep = "#define RELEASE keep\n"
    (tmp_path / "own.h").write_text(keep)
    (tmp_path / "a.c").write_text("")
    async with running(tmp_path) as editor:
        editor.open(header, keep)
        await editor.diagnostics(header)
        editor.open(source, '#include "own.h"\nvoid f(char *p) { free(p); RELEASE(p); }\n')
        editor.replace_all(header, "#define RELEASE free\n")
        await editor.pushed(source, lambda found: "double-free" in [one.code for one in found])
        await asyncio.sleep(0.5)  # nothing is under way any more
        editor.close(header)
        await editor.pushed(source, lambda found: "double-free" not in [one.code for one in found])


async def test_closing_a_document_reaches_the_others(tmp_path):
    start, sink = (uri_of(str(tmp_path / name)) for name in ("start.c", "sink.c"))
    (tmp_path / "sink.h").write_text(HEADER)
    async with running(tmp_path) as editor:
        editor.open(start, LONG)
        editor.open(sink, SINK)
        await editor.pushed(sink, lambda found: PAST in [one.code for one in found])
        editor.close(start)
        await editor.pushed(sink, lambda found: PAST not in [one.code for one in found])


async def test_pulling_is_offered_to_who_can(tmp_path):
    """An editor that does not ask is sent everything, and must not begin to ask."""
    for pull in (False, True):
        async with running(tmp_path, client="neovim@v0.7", pull=pull) as editor:
            assert editor.offered is not None
            offered = editor.offered.capabilities.diagnostic_provider
            assert (offered is not None) is pull
