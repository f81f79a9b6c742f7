"""The analysis as tools of an agent: findings, diagnostics, and what an edit is answered with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from jarvis_ls.assembly.workplace import Additions
from jarvis_ls.runtime.tools.permissions import PermissionRule
from tests.assembly.test_conversation import House, asked, house

FLAWED = """#include <stdlib.h>

void drop(char *p) {
    free(p);
    free(p);
}
"""
USER = """#include <stdlib.h>
int twice(int a);
int use(void) { return twice(2); }
"""
ALLOWED = Additions(rules=[PermissionRule("allow", kind="write")])


async def results(h: House, *calls: tuple[str, dict[str, Any]], **more: Any) -> list[str]:
    """What a model that makes these calls, one an answer, is told by each."""
    for name, arguments in calls:
        h.server.call(name, arguments)
    h.server.say("Done.")
    more.setdefault("additions", ALLOWED)
    await (await h.start(**more)).ask("go")
    return [str(m["content"]) for m in asked(h) if m["role"] == "tool"]


def edit(path: str, search: str, replace: str) -> tuple[str, dict[str, Any]]:
    change = {"file_path": path, "diffs": [{"search": search, "replace": replace}]}
    return "edit_file", {"files": [change]}


async def test_findings_are_listed_explained_and_gone_when_mended(tmp_path: Path) -> None:
    async with house(tmp_path) as h:
        (h.folder / "a.c").write_text(FLAWED)
        (h.folder / "b.c").write_text("int x;\n")
        first, elsewhere, mended, after, new = await results(
            h,
            ("findings", {"rule": "double-free"}),
            ("findings", {"paths": ["b.c"]}),
            edit("a.c", "    free(p);\n    free(p);\n", "    free(p);\n"),
            ("findings", {}),
            ("findings", {"new_only": True}),
        )
        line, count = first.splitlines()
        assert " a.c:5 double-free CWE-415 " in line and count == "Findings: 1."
        assert elsewhere == after == new == "No findings."
        assert "a.c: changed" in mended
        id = line.split()[0]
        h.server.call("explain_finding", {"id": id})
        h.server.say("Done.")
        (h.folder / "a.c").write_text(FLAWED)
        await (await h.start()).ask("explain")
        told = str(asked(h)[-1]["content"])
        assert f"{id} a.c:5 double-free" in told
        assert "a.c:4 " in told and "free(p);" in told and "-> " in told


async def test_an_unsaved_text_wins(tmp_path: Path) -> None:
    async with house(tmp_path) as h:
        (h.folder / "a.c").write_text("int x;\n")
        (h.folder / "b.c").write_text(FLAWED)
        unsaved = {h.folder / "a.c": FLAWED, h.folder / "b.c": "int y;\n"}
        services = {"buffers": unsaved.get}
        found, told = await results(
            h,
            ("findings", {}),
            ("diagnostics", {"files": ["a.c", "b.c"]}),
            additions=Additions(services=services),
        )
        assert "a.c:5 double-free" in found and "b.c" not in found
        assert "a.c:5 double-free" in told and "b.c: nothing" in told


async def test_an_untrusted_workspace_is_scanned_without_a_trace(tmp_path: Path) -> None:
    async with house(tmp_path) as h:
        (h.folder / "a.c").write_text(FLAWED)
        (found,) = await results(h, ("findings", {}), trusted=False)
        assert "a.c:5 double-free" in found
        assert [path.name for path in h.folder.iterdir()] == ["a.c"]


async def test_files_that_may_not_be_read_have_no_findings(tmp_path: Path) -> None:
    async with house(tmp_path) as h:
        h.configure('[[permissions]]\neffect = "deny"\nkind = "read"\ntarget = "secret.c"\n')
        (h.folder / "secret.c").write_text(FLAWED)
        (found,) = await results(h, ("findings", {}))
        assert found == "No findings."


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Edits wait as long as a busy machine needs."""
    monkeypatch.setattr("jarvis_ls.tools.edit_checks.SECONDS", 30.0)


@pytest.mark.usefixtures("patient")
async def test_an_edit_tells_what_it_broke(tmp_path: Path) -> None:
    async with house(tmp_path) as h:
        (h.folder / "a.c").write_text(FLAWED.replace("    free(p);\n", "", 1))
        (h.folder / "lib.c").write_text("int twice(int a) { return 2 * a; }\n")
        (h.folder / "use.c").write_text(USER)
        worse, broken, changed, fixed, since = await results(
            h,
            edit("a.c", "    free(p);\n", "    free(p);\n    free(p);\n"),
            edit("use.c", "{ return twice(2); }", "{ return twice(2; }"),
            edit("lib.c", "int twice(int a) {", "int twice(int a, int b) {"),
            edit("a.c", "    free(p);\n    free(p);\n", "    free(p);\n"),
            ("diagnostics", {"files": ["use.c", "a.c"], "new_only": True}),
        )
        assert "New findings:" in worse and "a.c:5 double-free" in worse
        assert "New syntax errors:" in broken and "use.c:3" in broken
        assert "twice changed; still used as before (places: 1, files: 1): use.c:3" in changed
        assert "Findings gone: double-free (1)." in fixed and "New" not in fixed
        assert "3 syntax:" in since and "a.c: nothing" in since


@pytest.mark.usefixtures("patient")
async def test_an_edit_is_not_blamed_for_what_was_there(tmp_path: Path) -> None:
    async with house(tmp_path) as h:
        (h.folder / "a.c").write_text(FLAWED + "int broken( {\n")
        (h.folder / "data.json").write_text("{}\n")
        same, line, data = await results(
            h,
            edit("a.c", "#include <stdlib.h>\n", "#include <stdlib.h>\n\n"),
            edit("a.c", "free(p);\n    free(p);\n", "free(p);\n    free(p); /* again */\n"),
            edit("data.json", "{}", '{"a": }'),
        )
        assert "New" not in same and "gone" not in same
        assert "New" not in line and "gone" not in line
        assert "data.json:1 Expecting value" in data


async def test_checks_that_take_too_long_are_cut_and_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jarvis_ls.tools.edit_checks.SECONDS", 0.0)
    async with house(tmp_path) as h:
        (h.folder / "a.c").write_text(FLAWED)
        (told,) = await results(h, edit("a.c", "char *p", "char *q"))
        assert "a.c: changed" in told and "Not checked within 0.0 s: " in told


@pytest.mark.parametrize(
    ("suffix", "before", "after", "use"),
    [
        (
            "c",
            "int f(int a) { return a; }\n",
            "long f(int a) { return a; }\n",
            "int g(void) { return f(1); }\n",
        ),
        (
            "cpp",
            "int f(int a) { return a; }\n",
            "int f(long a) { return a; }\n",
            "int g() { return f(1); }\n",
        ),
        (
            "rs",
            "pub fn f(a: i32) -> i32 { a }\n",
            "pub fn f(a: i64) -> i64 { a }\n",
            "fn g() -> i32 { f(1) }\n",
        ),
        ("h", "#define f(a) ((a) + 1)\n", "#define f(a, b) ((a) + (b))\n", ""),
    ],
)
@pytest.mark.usefixtures("patient")
async def test_callers_are_told_in_each_language(
    tmp_path: Path, suffix: str, before: str, after: str, use: str
) -> None:
    async with house(tmp_path) as h:
        (h.folder / f"lib.{suffix}").write_text(before)
        name = "use.c" if suffix == "h" else f"use.{suffix}"
        (h.folder / name).write_text(use or "int g(void) { return f(1); }\n")
        changed, gone, body = await results(
            h,
            edit(f"lib.{suffix}", before, after),
            edit(f"lib.{suffix}", after, "\n"),
            edit(name, "f(1)", "f(2)"),
        )
        assert f"f changed; still used as before (places: 1, files: 1): {name}:1" in changed
        assert f"f is gone; still used as before (places: 1, files: 1): {name}:1" in gone
        assert "still used" not in body
