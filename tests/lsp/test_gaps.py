"""What the analysis does not know, as an editor is told."""

from __future__ import annotations

import pytest

from tests.lsp.editor import running

pytestmark = pytest.mark.watches()

NEEDS = """#include "vendor/thing.h"
void run(thing_t *thing) { thing_start(thing); }
"""


def write(folder, count):
    for number in range(count):
        (folder / f"{number}.c").write_text(NEEDS)


async def test_a_scan_tells_of_headers_that_are_not_found(tmp_path):
    write(tmp_path, 6)
    async with running(tmp_path) as editor:
        told = []
        editor.client.feature("jarvis/gapsFound")(lambda params: told.append(params))
        await editor.request("jarvis/scanWorkspace", {})
        await editor.until(lambda: told)
        assert (told[0].headers, told[0].files) == (1, 6)


async def test_few_files_are_not_worth_a_word(tmp_path):
    write(tmp_path, 2)
    async with running(tmp_path) as editor:
        told = []
        editor.client.feature("jarvis/gapsFound")(lambda params: told.append(params))
        await editor.request("jarvis/scanWorkspace", {})
        result = await editor.request("jarvis/gaps", {})
        assert result.count == 3
        assert told == []


async def test_the_summary_names_what_costs_the_most(tmp_path):
    write(tmp_path, 6)
    async with running(tmp_path) as editor:
        result = await editor.request("jarvis/gaps", {})
        assert result.count == 3
        assert "- 6 × vendor/thing.h (0.c:1)" in result.markdown
        assert "- 6 × thing\\_start (0.c:2)" in result.markdown
        answer = await editor.command("jarvis.explainGaps")
        assert answer["markdown"] == result.markdown


async def test_it_is_said_in_the_language_of_the_editor(tmp_path):
    write(tmp_path, 1)
    async with running(tmp_path, locale="zh-cn") as editor:
        result = await editor.request("jarvis/gaps", {})
        assert "未知" in result.markdown


async def test_of_two_folders_each_file_says_its_folder(tmp_path):
    first, second = tmp_path / "one", tmp_path / "two"
    for folder in (first, second):
        folder.mkdir()
        write(folder, 1)
    async with running(first, second) as editor:
        result = await editor.request("jarvis/gaps", {})
        assert "(one/0.c:1)" in result.markdown
        assert "(two/0.c:1)" in result.markdown
