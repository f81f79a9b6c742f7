"""`jarvis memory organize|export|import`, `jarvis skills`, `jarvis servers`, as processes."""

from __future__ import annotations

import json
import sys
import zipfile
from pathlib import Path

import pytest

from tests.cli.test_jarvis_command import Place
from tests.support.model_server import ModelServer

pytestmark = pytest.mark.watches()

SKILL = "---\nname: review\ndescription: How we review.\n---\nRead twice.\n"
SUPPORT = Path(__file__).parents[1] / "support" / "tool_server.py"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    for name in ("work", "home"):
        (tmp_path / name).mkdir()
    return Place(tmp_path / "work", tmp_path / "home", None)


async def test_memory_is_exported_imported_and_organised(tmp_path: Path) -> None:
    for name in ("work", "home"):
        (tmp_path / name).mkdir()
    async with ModelServer() as server:
        place = Place(tmp_path / "work", tmp_path / "home", server)
        for text in ("Keys are in a.c", "Keys are in b.c"):
            await place.run("memory", "add", text, "--tag", "keys", "--tag", "store")
        status, out, _ = await place.run("memory", "export", "all.json", "-t", "project")
        assert status == 0 and "2 memories" in out
        status, out, _ = await place.run("memory", "organize", "--dry-run")
        assert status == 0 and "overlap (keys, store)" in out and "nothing was changed" in out
        server.say('<merged_memory>{"content": "Keys are in b.c", "tags": ["keys"]}')
        status, out, err = await place.run("memory", "organize")
        assert (status, err) == (0, "jarvis: Merging 1 of 1: keys, store\n") and "created" in out
        status, out, _ = await place.run("memory", "organize")
        assert status == 0 and "nothing to merge" in out
        status, out, _ = await place.run("memory", "import", "all.json")
        assert status == 0 and "added" in out
        (place.folder / "bad.json").write_text('[{"content": 3}]')
        status, _, err = await place.run("memory", "import", "bad.json")
        assert status == 1 and "record 1" in err
        assert (await place.run("memory", "import", "none.json"))[0] == 2


async def test_organising_without_a_model_does_what_needs_none(place: Place) -> None:
    for text in ("Keys are in a.c", "Keys are in b.c"):
        await place.run("memory", "add", text, "--tag", "keys", "--tag", "store")
    status, _, err = await place.run("memory", "organize")
    assert status == 1 and "needs a model" in err
    status, _, err = await place.run("memory", "organize", "-g", "think")
    assert status == 2 and "model" in err


async def test_skills_are_installed_listed_shown_and_allowed(place: Place) -> None:
    with zipfile.ZipFile(place.folder / "review.zip", "w") as archive:
        archive.writestr("review/SKILL.md", SKILL)
        archive.writestr("review/run.sh", "echo hi")
    status, out, _ = await place.run("skills", "install", "review.zip")
    assert status == 0 and "run.sh: it is a script" in out and "jarvis skills allow review" in out
    assert "needs your consent" in (await place.run("skills"))[1]
    assert "Read twice" not in (await place.run("skills", "show", "review"))[1]
    status, out, _ = await place.run("skills", "allow", "review")
    assert status == 0 and "run.sh" in out
    assert "waits" not in (await place.run("skills"))[1]
    assert "Read twice" in (await place.run("skills", "show", "review"))[1]
    status, _, err = await place.run("skills", "install", "review.zip")
    assert status == 2 and "already" in err
    assert (await place.run("skills", "show", "none"))[0] == 2
    assert (await place.run("skills", "allow", "review"))[0] == 2


async def test_servers_are_tried_and_those_of_a_folder_allowed(place: Place) -> None:
    command = json.dumps([sys.executable, str(SUPPORT), "plain"])
    (place.home / "mcp.toml").write_text(
        f'[mcp_servers.mine]\ncommand = {command}\n[mcp_servers.bad]\ncommand = "/nowhere/x"\n'
    )
    (place.folder / ".mcp.json").write_text(
        f'{{"mcpServers": {{"theirs": {{"command": {command}}}}}}}'
    )
    status, out, err = await place.run("servers")
    assert status == 0 and "mine" in out and "theirs" not in out and "not trusted" in err
    status, out, _ = await place.run("servers", "try", "mine")
    assert status == 0 and "mine__add" in out
    status, _, err = await place.run("servers", "try", "bad")
    assert status == 1 and "cannot be used" in err
    status, out, _ = await place.run("servers", "--trust", "try", "theirs")
    assert status == 1 and "needs consent" in out
    status, out, _ = await place.run("servers", "--trust", "allow", "theirs")
    assert status == 0 and str(SUPPORT) in out
    assert (await place.run("servers", "--trust", "try", "theirs"))[0] == 0
    assert (await place.run("servers", "try", "none"))[0] == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("skills",), "no skills; add one to"),
        (("skills", "list"), "no skills; add one to"),
        (("servers", "list"), "no tool servers;"),
        (("memory", "list"), "no memories yet"),
        (("memory", "list", "parsers"), "no memory contains all these words"),
        (("sessions", "list", "--all"), "no sessions yet"),
        (("sessions", "search", "parsers"), "no session contains all these words"),
    ],
)
async def test_an_empty_list_says_that_it_is_empty(
    place: Place, arguments: tuple[str, ...], said: str
) -> None:
    status, out, err = await place.run(*arguments)
    assert (status, out) == (0, "") and said in err
