"""A block of code of an answer is placed in the file it is meant for, or not at all; nothing is
written before the user accepts."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio
from pygls.exceptions import JsonRpcException

from jarvis_ls.lsp.protocol import panel
from jarvis_ls.lsp.protocol.apply_code import CodeFile, PlaceCodeAsk, PlacedCode
from tests.lsp.page import Page, opened

pytestmark = pytest.mark.watches()

STORE = """\
#include <stdlib.h>

/* Frees a store. */
void store_free(struct store *store) {
    free(store->items);
    free(store->items);
}

static int count(void)
{
    int n = 0;
    return n;
}
"""
FREE = """\
void store_free(struct store *store) {
    free(store->items);
    store->items = NULL;
}
"""
FREED = STORE.replace("    free(store->items);\n    free(", "    free(store->items);\n    X(", 1)
FREED = FREED.replace("    X(store->items);\n", "    store->items = NULL;\n")
RUST = """\
impl Queue {
    /// Takes one.
    pub fn take(&mut self) -> Option<u32> {
        self.items.pop()
    }
}
"""
MAKE = "all: tool\n\ntool: main.o\n\tcc -o tool main.o\n"


@dataclass
class Work:
    """A workspace with a page before it."""

    page: Page
    folder: Path

    async def place(self, code: str, **more: object) -> PlacedCode:
        """Apply a block."""
        placed = await self.page.ask(PlaceCodeAsk("", code, **more))  # type: ignore[arg-type]
        assert isinstance(placed, PlacedCode)
        return placed

    async def after(self, code: str, **more: object) -> str:
        """The file as the diff shows it, refused then."""
        placed = await self.place(code, **more)
        assert placed.entry is not None, placed.said
        side = panel.SideAsk(placed.session, placed.entry.id, placed.path, "after", placed.root)
        text = await self.page.ask(side)
        await self.page.ask(panel.ReviewAsk(placed.session, placed.entry.id, {}))
        return str(text.text)

    async def refusal(self, code: str, **more: object) -> str:
        """Why it is not placed."""
        with pytest.raises(JsonRpcException) as refused:
            await self.place(code, **more)
        return refused.value.message


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def work(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Work]:
    base = tmp_path_factory.mktemp("apply")
    folder = base / "work"
    files = {
        "src/store.c": STORE,
        "src/queue.rs": RUST,
        "a/same.h": "int a;\n",
        "b/same.h": "int b;\n",
        "Makefile": MAKE,
        ".git/hooks/pre-commit": "exit 0\n",
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    async with opened(folder, base / "home") as page:
        await page.attach()
        yield Work(page, folder)


in_module = pytest.mark.asyncio(loop_scope="module")


@in_module
@pytest.mark.parametrize(
    "named",
    [
        {"info": "c src/store.c"},
        {"info": "c:src/store.c"},
        {"info": "12:40:src/store.c"},
        {"info": 'c title="src/store.c"'},
        {"info": "c", "before": "Change src/store.c:4 so that nothing is freed twice:"},
        {"info": "c", "before": "In store.c, e.g. like this:"},
        {"info": "c", "active": "src/store.c"},
        {"info": "c", "path": "src/store.c", "before": "not in Makefile"},
    ],
)
async def test_the_file_is_the_one_that_is_named(work, named):
    assert await work.after(FREE, **named) == FREED


@in_module
async def test_a_comment_on_the_first_line_names_the_file_and_is_not_part_of_the_code(work):
    assert await work.after(f"// src/store.c\n{FREE}", info="c", active="Makefile") == FREED


@in_module
async def test_of_several_files_the_user_chooses(work):
    placed = await work.place("int c;\n", before="In same.h:")
    assert placed.choices == (CodeFile("a/same.h", 0), CodeFile("b/same.h", 0))
    assert placed.entry is None
    named = await work.place(FREE, before="In src/store.c, whose Makefile stays:")
    assert named.choices == (CodeFile("Makefile", 0), CodeFile("src/store.c", 0))


@in_module
async def test_definitions_replace_those_of_their_name(work):
    with_helper = FREE.replace("store->items = NULL", "clear(store)") + (
        "\nstatic void clear(struct store *store) { store->items = NULL; }\n"
    )
    after = await work.after("#include <string.h>\n\n// New.\n" + with_helper, path="src/store.c")
    assert after == STORE.replace("stdlib.h>\n", "stdlib.h>\n#include <string.h>\n").replace(
        STORE[STORE.index("/* Frees") : STORE.index("static int")],
        "// New.\n" + with_helper + "\n",
    )
    method = "pub fn take(&mut self) -> Option<u32> {\n    None\n}\n"
    taken = RUST.replace("self.items.pop()", "None")
    assert await work.after(method, path="src/queue.rs") == taken
    assert await work.after(f"impl Queue {{\n{method}}}\n", path="src/queue.rs") == taken


@in_module
async def test_a_diff_and_lines_between_known_ones_are_placed(work):
    diff = (
        "--- a/src/store.c\n+++ b/src/store.c\n@@ -5,2 +5,2 @@\n     free(store->items);\n"
        "-    free(store->items);\n+    store->items = NULL;\n"
    )
    assert await work.after(diff, info="diff") == FREED
    part = "    int n = 0;\n    n++;\n    return n;\n"
    assert await work.after(part, path="src/store.c") == STORE.replace(
        "int n = 0;\n", "int n = 0;\n    n++;\n"
    )
    rule = "tool: main.o\n\tcc -g -o tool main.o\n"
    placed = await work.place(rule, before="In the Makefile:")
    assert placed.entry is None  # it ends with no line of the file
    assert await work.after(rule, path="Makefile", whole=True) == rule


@in_module
@pytest.mark.parametrize(
    "code",
    [
        'printf("hello\\n");\n',
        "void store_freed(struct store *store) {\n    free(store->items);\n}\n",
        FREE.replace("    free(store->items);\n", "    // rest of the function unchanged\n"),
        "@@ -5,2 +5,2 @@\n     free(store->item);\n-    free(store->items);\n+    x();\n",
        "free(store->items);\n",
    ],
)
async def test_what_has_no_certain_place_is_not_placed(work, code):
    placed = await work.place(code, path="src/store.c")
    assert placed.entry is None and placed.path == "src/store.c"
    assert placed.said == (
        "Where this code belongs in src/store.c is not certain: nothing was placed."
    )


@in_module
async def test_nothing_is_written_before_it_is_accepted_and_then_what_was_accepted(work):
    file = work.folder / "src" / "store.c"
    code = FREE + "\nstatic int count(void)\n{\n    return 1;\n}\n"
    placed = await work.place(code, info="c src/store.c")
    assert placed.said == "In place of store_free, count."
    assert file.read_text() == STORE
    hunks = placed.entry.edits[0].hunks
    assert len(hunks) == 2
    await work.page.ask(
        panel.ReviewAsk(placed.session, placed.entry.id, {"src/store.c": [hunks[0].index]})
    )
    assert file.read_text() == FREED
    with pytest.raises(JsonRpcException, match="not open any more"):
        await work.page.ask(panel.ReviewAsk(placed.session, placed.entry.id, {"src/store.c": [1]}))
    assert "has this code already" in await work.refusal(FREE, path="src/store.c")
    file.write_text(STORE)


@in_module
async def test_a_file_that_changed_in_the_meantime_is_not_overwritten(work):
    file = work.folder / "src" / "store.c"
    placed = await work.place(FREE, path="src/store.c")
    file.write_text(STORE + "int later;\n")
    with pytest.raises(JsonRpcException, match="changed since it was read"):
        await work.page.ask(panel.ReviewAsk(placed.session, placed.entry.id, {"src/store.c": [0]}))
    assert file.read_text() == STORE + "int later;\n"
    file.write_text(STORE)


@in_module
async def test_a_new_file_is_made_where_the_block_names_one(work):
    placed = await work.place("int a;\n", info="c src/new/extra.c", active="src/store.c")
    assert placed.entry.edits[0].change == "create" and placed.said == "The whole file."
    await work.page.ask(panel.ReviewAsk(placed.session, placed.entry.id, {"src/new/extra.c": [0]}))
    assert (work.folder / "src" / "new" / "extra.c").read_text() == "int a;\n"


@in_module
async def test_nothing_is_placed_outside_or_where_other_programs_act_on_it(work):
    assert "outside the workspace" in await work.refusal("x\n", info="sh ../evil.sh")
    hook = await work.refusal("exit 1\n", info="sh .git/hooks/pre-commit")
    assert "makes other programs act" in hook
    assert (await work.place("x\n")).said == "The answer names no file, and none is open."


async def test_in_a_workspace_that_is_not_trusted_nothing_is_applied(tmp_path):
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "main.c").write_text("int a;\n")
    async with opened(tmp_path / "work", tmp_path / "home", options={"trusted": False}) as page:
        await page.attach()
        with pytest.raises(JsonRpcException, match="nothing is written"):
            await page.ask(PlaceCodeAsk("", "int b;\n", path="main.c"))
