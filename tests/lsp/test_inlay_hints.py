"""Inlay hints: sizes of memory, and where input enters."""

from __future__ import annotations

from lsprotocol import types

from jarvis_ls.lsp.folders import uri_of
from tests.lsp.editor import running

TEXT = """\
#include <stdio.h>
#include <stdlib.h>
#define WIDE 64

int main(int argc, char **argv) {
    char line[WIDE * 2], *é = malloc(10 * sizeof(int));
    if (fgets(line, sizeof line, stdin) == NULL || é == NULL)
        return 1;
    int count = atoi(line);
    const char *home = getenv("HOME");
    return count + (home != NULL);
}

int other[3];
"""


async def hints(editor, uri, first=0, last=100):
    span = types.Range(types.Position(first, 0), types.Position(last, 0))
    params = types.InlayHintParams(types.TextDocumentIdentifier(uri), span)
    found = await editor.client.text_document_inlay_hint_async(params)
    return [(hint.position.line, hint.position.character, hint.label) for hint in found or []]


async def test_they_are_shown_when_wanted(tmp_path):
    uri = uri_of(str(tmp_path / "a.c"))
    async with running(tmp_path, options={"valueHints": True}) as editor:
        editor.open(uri, TEXT)
        assert await hints(editor, uri) == [
            (5, 23, "128 bytes"),
            (5, 54, "40 bytes"),
            (6, 18, "input: fgets"),
            (8, 13, "input: atoi"),
            (9, 20, "input: getenv"),
        ]
        assert await hints(editor, uri, 8, 8) == [(8, 13, "input: atoi")]
        editor.replace_all(uri, TEXT.replace("* 2", "* 3"))
        assert (await hints(editor, uri, 5, 5))[0] == (5, 23, "192 bytes")


async def test_they_are_off_until_asked_for(tmp_path):
    uri = uri_of(str(tmp_path / "a.c"))
    async with running(tmp_path) as editor:
        editor.open(uri, TEXT)
        await editor.diagnostics(uri)
        assert await hints(editor, uri) == []


async def test_what_is_no_c_has_none_and_broken_code_is_no_harm(tmp_path):
    rust, broken = uri_of(str(tmp_path / "a.rs")), uri_of(str(tmp_path / "b.c"))
    async with running(tmp_path, options={"valueHints": True}, locale="zh-cn") as editor:
        editor.open(rust, "fn main() { let a = [0u8; 4]; }\n", "rust")
        assert await hints(editor, rust) == []
        editor.open(broken, "void f(void) { char b[8]; gets(b;\n}\n")
        assert (0, 24, "8 字节") in await hints(editor, broken)
        assert await hints(editor, uri_of(str(tmp_path / "none.c"))) == []
