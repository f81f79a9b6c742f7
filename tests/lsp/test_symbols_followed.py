"""The graph of symbols follows an editor where there is one."""

from __future__ import annotations

import os
import sqlite3
import subprocess
from pathlib import Path

import pytest
from lsprotocol import types

from tests.lsp.editor import running
from tests.lsp.test_workspace import CHANGED, CREATED, DELETED, watched
from tests.support.repositories import make_repository, write
from tests.support.starting import quick

pytestmark = pytest.mark.watches()

FILES = {
    "lib/a.py": "def kept():\n    return 1\n",
    "lib/b.c": "int old_name(void) { return 1; }\n",
    "a.go": "package a\n",
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("JARVIS_HOME", str(tmp_path / "home"))
    return make_repository(tmp_path / "work", FILES)


def make_graph(root: Path) -> None:
    run = [*quick("jarvis_ls.cli.jca"), "recommend", "old name"]
    subprocess.run(run, cwd=root, check=True, capture_output=True, env=os.environ)


def names(root: Path) -> set[str]:
    """Names that the graph on the disk defines."""
    database = root / ".jarvis" / "cache" / "symbols.db"
    link = sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True)
    try:
        return {name for (name,) in link.execute("SELECT name FROM definitions")}
    finally:
        link.close()


async def test_it_follows_files_and_documents(project: Path) -> None:
    make_graph(project)
    assert "old_name" in names(project)
    write(project, {"lib/a.py": "def changed_meanwhile():\n    return 1\n"})
    async with running(project) as editor:  # an older graph is brought up to date by itself
        await editor.until(lambda: "changed_meanwhile" in names(project))
        write(project, {"lib/a.py": "def by_another_program():\n    return 1\n"})
        watched(editor, (project / "lib/a.py", CHANGED))
        await editor.until(lambda: "by_another_program" in names(project))
        write(project, {"lib/new.rs": "fn made() {}\n"})
        (project / "lib/a.py").unlink()
        watched(editor, (project / "lib/new.rs", CREATED), (project / "lib/a.py", DELETED))
        await editor.until(lambda: names(project) >= {"made", "old_name"})
        assert "by_another_program" not in names(project)
        uri = (project / "lib/b.c").as_uri()
        editor.open(uri, FILES["lib/b.c"])
        editor.replace_all(uri, "int typed(void) { return 1; }\n")
        await editor.until(lambda: "typed" in names(project) and "old_name" not in names(project))
        editor.close(uri)
        await editor.until(lambda: "old_name" in names(project) and "typed" not in names(project))
        (globs,) = [
            [watcher["globPattern"] for watcher in registered.register_options["watchers"]]
            for registered in editor.registered
            if registered.method == types.WORKSPACE_DID_CHANGE_WATCHED_FILES
        ]
        assert any("tsx" in str(glob) for glob in globs)


async def test_a_folder_of_a_repository_keeps_the_graph_of_all_of_it(project: Path) -> None:
    make_graph(project)
    async with running(project / "lib") as editor:
        uri = (project / "lib/b.c").as_uri()
        editor.open(uri, FILES["lib/b.c"])
        editor.replace_all(uri, "int typed(void) { return 1; }\n")
        await editor.until(lambda: "typed" in names(project))
        assert "kept" in names(project)


async def test_nothing_is_written_without_trust_or_without_a_graph(
    project: Path, tmp_path: Path
) -> None:
    without = make_repository(tmp_path / "without", FILES)
    foreign = make_repository(tmp_path / "foreign", FILES)
    for root in (project, foreign):
        make_graph(root)
    changed = {"lib/a.py": "def by_another_program():\n    return 1\n"}
    async with (
        running(foreign, options={"trusted": False}) as stranger,
        running(project, without) as editor,
    ):
        for root, one in ((foreign, stranger), (without, editor), (project, editor)):
            write(root, changed)
            watched(one, (root / "lib/a.py", CHANGED))
        await editor.until(lambda: "by_another_program" in names(project))
    assert "by_another_program" not in names(foreign)
    assert not (without / ".jarvis").exists()
