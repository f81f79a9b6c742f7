"""Headers outside of the workspace, as somebody meets them who edits a file."""

from __future__ import annotations

import json

import pytest

from jarvis_ls.lsp.folders import uri_of
from tests.lsp.editor import running

pytestmark = pytest.mark.watches()

SOURCE = """#include <string.h>
#include <sdk.h>
void own(const char *from) { char to[4]; memcpy(to, from, 5); }
void copy(const char *from) { sdk_name to; memcpy(to, from, 9); }
"""
PAST = "write-past-buffer"


def project(root, size):
    own, sdk = root / "own", root / "include"
    for folder in (own, sdk):
        folder.mkdir()
    (sdk / "sdk.h").write_text(f"typedef char sdk_name[{size}];\n")
    (own / "a.c").write_text(SOURCE)
    entry = {"directory": str(own), "file": "a.c", "arguments": ["cc", f"-I{sdk}", "-c", "a.c"]}
    (own / "compile_commands.json").write_text(json.dumps([entry]))
    return own


async def told(own, **settings):
    """The lines, from 0, of what is told once values were followed, in a file that is edited after
    a scan."""
    async with running(own, **settings) as editor:
        await editor.request("jarvis/scanWorkspace", {})
        uri = uri_of(str(own / "a.c"))
        editor.open(uri, SOURCE)
        await editor.diagnostics(uri)
        version = editor.replace_all(uri, "\n" + SOURCE)

        def lines():
            last = [shown for shown in editor.published if shown.uri == uri][-1]
            if last.version != version:
                return set()
            found = [one for one in last.diagnostics if one.code == PAST]
            return {one.range.start.line for one in found}

        await editor.until(lambda: 3 in lines())
        return lines()


async def test_what_is_past_a_type_of_a_header_is_told(tmp_path):
    assert await told(project(tmp_path, 8)) == {3, 4}


async def test_what_fits_is_not_told(tmp_path):
    assert await told(project(tmp_path, 9)) == {3}


async def test_switched_off_headers_are_not_asked(tmp_path):
    own = project(tmp_path, 8)
    assert await told(own, options={"installedHeaders": False}) == {3}
