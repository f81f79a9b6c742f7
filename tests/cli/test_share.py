"""`jarvis share` with the real git: files move to the team's repository, and others use them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from jarvis_ls.runtime.memory.memory import METHODOLOGY, Memory
from tests.support.repositories import ENVIRONMENT, git, write
from tests.support.starting import quick

TOOL = '''\
from jarvis_ls.runtime.tools.tool import ToolContext, tool


@tool()
async def team_state(context: ToolContext) -> str:
    """State of the team."""
    return "All well."
'''


class Desk:
    """A member of the team."""

    def __init__(self, folder: Path, repository: str) -> None:
        self.home = folder
        self.home.mkdir()
        self.configure(f'[central]\nrepository = "{repository}"\n')

    def configure(self, text: str) -> None:
        (self.home / "config.toml").write_text(text)

    def share(self, *arguments: str, answer: str = "") -> tuple[int, str, str]:
        run = subprocess.run(
            [*quick("jarvis_ls.cli.jarvis"), "share", *arguments],
            env={**ENVIRONMENT, "JARVIS_HOME": str(self.home), "LC_ALL": "C.UTF-8"},
            cwd=self.home,
            input=answer,
            capture_output=True,
            text=True,
            check=False,
        )
        return run.returncode, run.stdout, run.stderr


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    git(tmp_path, "init", "--quiet", "--bare", "--initial-branch=main", "team.git")
    return tmp_path / "team.git"


def tree(bare: Path) -> list[str]:
    return git(bare, "ls-tree", "-r", "--name-only", "main").split()


async def test_what_one_shares_the_other_has(tmp_path: Path, bare: Path) -> None:
    one, two = Desk(tmp_path / "one", str(bare)), Desk(tmp_path / "two", f"file://{bare}")
    write(one.home, {"rules/style.md": "Use tabs.", "tools/team_state.py": TOOL})
    memory = Memory(one.home)
    await memory.save("global_long_term", "It is Tuesday.", ["day"])
    saved = await memory.save(
        "global_long_term", "Bisect it.", title="Find a leak", category=METHODOLOGY
    )
    status, out, _ = one.share()
    assert (status, out.split("\n")[:-1]) == (
        0,
        ["rules          style.md", "tools          team_state.py", "methodologies  Find a leak"],
    )
    status, out, err = one.share("add", "style.md", "team_state", "Find a leak")
    assert (status, "moved to" in out) == (0, True), err
    note = f"methodologies/{saved.entry.id}.json"
    assert tree(bare) == [note, "rules/style.md", "tools/team_state.py"]
    assert not (one.home / "rules/style.md").exists(), "a share moves the file"
    assert one.share()[1] == ""
    # the other has a rule of this name and the same methodology: they are not offered again
    write(two.home, {"rules/style.md": "Use blanks.", "rules/mine.md": "Be brief."})
    theirs = Memory(two.home)
    await theirs.save("global_long_term", "Bisect it.", title="Find a leak", category=METHODOLOGY)
    assert two.share("update")[0] == 0
    assert two.share()[1] == "rules          mine.md\n"
    status, _, err = two.share("add", "style.md")
    assert (status, "no style.md that could be shared" in err) == (2, True)
    status, _, err = two.share("add", "mine.md")
    assert status == 0, err
    assert "rules/mine.md" in tree(bare)
    assert one.share("update")[0] == 0
    assert (one.home / "central/rules/mine.md").read_text() == "Be brief."


def test_a_tool_of_the_team_is_used_once_it_was_read(tmp_path: Path, bare: Path) -> None:
    one, two = Desk(tmp_path / "one", str(bare)), Desk(tmp_path / "two", str(bare))
    write(one.home, {"tools/team_state.py": TOOL})
    assert one.share("add", "team_state")[0] == 0
    assert two.share("update")[0] == 0
    loads = (
        "import os, sys; from pathlib import Path\n"
        "from jarvis_ls.assembly.settings_file import read_settings\n"
        "from jarvis_ls.assembly.sharing import Team\n"
        "from jarvis_ls.runtime.context.user_tools import user_toolset\n"
        "home = Path(sys.argv[1]); team = Team(home, read_settings(home), {})\n"
        "found = user_toolset(home, central=team.part('tools'), allowed=team.is_allowed)\n"
        "print(*found.tools(), *found.problems)"
    )

    def known(desk: Desk) -> str:
        command = [sys.executable, "-c", loads, str(desk.home)]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    assert known(one) == "team_state", "who shares a tool has read it"
    assert "jarvis share allow team_state" in known(two)
    status, out, _ = two.share("allow", "team_state", answer="n\n")
    assert status == 1 and "State of the team." in out
    assert "jarvis share allow" in known(two)
    assert two.share("allow", "team_state", answer="y\n")[0] == 0
    assert known(two) == "team_state"
    (two.home / "central/tools/team_state.py").write_text(TOOL + "# changed\n")
    assert "jarvis share allow" in known(two)


def test_what_cannot_be_shared_stays_where_it_is(tmp_path: Path, bare: Path) -> None:
    one = Desk(tmp_path / "one", str(bare))
    write(one.home, {"rules/style.md": "Use tabs."})
    hook = bare / "hooks/pre-receive"
    hook.write_text("#!/bin/sh\necho not today >&2\nexit 1\n")
    hook.chmod(0o755)
    status, _, err = one.share("add", "style.md")
    assert status == 2 and "git push" in err
    assert (one.home / "rules/style.md").read_text() == "Use tabs."
    hook.unlink()
    status, _, err = one.share("add", "style.md")
    assert status == 0, err
    one.configure(f'[central]\nrepository = "{tmp_path}/none.git"\nmore = 1\n')
    assert "central.more" in one.share()[2]
    one.configure('[central]\nrepository = "--upload-pack=touch x"\n')
    assert one.share()[0] == 2
    one.configure("")
    status, _, err = one.share()
    assert status == 2 and "[central]" in err


def test_a_folder_is_used_as_it_is(tmp_path: Path) -> None:
    folder = tmp_path / "shared"
    write(folder, {"rules/known.md": "Known."})
    one = Desk(tmp_path / "one", str(folder))
    write(one.home, {"rules/known.md": "Mine.", "rules/new.md": "New."})
    assert one.share()[1] == "rules          new.md\n"
    assert one.share("add", "new.md")[0] == 0
    assert (folder / "rules/new.md").read_text() == "New."
    assert [path.name for path in (one.home / "rules").iterdir()] == ["known.md"]


def test_a_clone_runs_nothing_and_makes_no_links(tmp_path: Path, bare: Path) -> None:
    work = tmp_path / "work"
    git(tmp_path, "clone", "--quiet", str(bare), str(work))
    (work / "rules").mkdir()
    (work / "rules/out.md").symlink_to("/etc/passwd")
    git(work, "add", "--all")
    git(work, "commit", "--quiet", "-m", "link")
    git(work, "push", "--quiet", "origin", "HEAD:main")
    one = Desk(tmp_path / "one", str(bare))
    assert one.share("update")[0] == 0
    assert not (one.home / "central/rules/out.md").is_symlink()
    kept = json.loads((one.home / "central.json").read_text())
    assert kept["repository"] == str(bare)


def test_a_git_of_the_current_folder_is_not_run(
    tmp_path: Path, bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = Desk(tmp_path / "one", str(bare))
    (one.home / "git").write_text("#!/bin/sh\ntouch ran\nexit 1\n")
    (one.home / "git").chmod(0o755)
    monkeypatch.setitem(ENVIRONMENT, "PATH", f".:{ENVIRONMENT['PATH']}")
    assert one.share("update")[0] == 0
    assert not list(one.home.rglob("ran"))
