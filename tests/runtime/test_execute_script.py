"""`execute_script`: whatever a script does, only what is accepted reaches the workspace."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from jarvis_ls.runtime.base.events import EntryGrew, Event, ProposedEdit, ToolEntry
from jarvis_ls.runtime.base.messages import ToolCall, ToolResult
from jarvis_ls.runtime.sandbox.base import SandboxSettings
from jarvis_ls.runtime.sandbox.ladder import Ladder
from jarvis_ls.runtime.tools.approval import Approved
from jarvis_ls.runtime.tools.current_call import RunningCall, running
from jarvis_ls.runtime.tools.interaction import NonInteractive, Review
from jarvis_ls.runtime.tools.long_output import Outputs
from jarvis_ls.runtime.tools.permissions import Answer, Asked, PermissionRule, Permissions
from jarvis_ls.runtime.tools.tool import Action, ToolContext, Tools
from jarvis_ls.tools.execute_script import execute_script
from jarvis_ls.tools.read_code import read_code

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="sandboxes are Linux's so far")


class Person(NonInteractive):
    """Accepts what the test says."""

    def __init__(self, accept: Any = "all", permit: bool = True) -> None:
        self.accept, self.permits = accept, permit
        self.asked: list[Asked] = []
        self.shown: list[ProposedEdit] = []

    async def permit(self, node: str, call: str, asked: Asked) -> Answer:
        self.asked.append(asked)
        return Answer(self.permits)

    async def review(self, node: str, call: str, edits: Sequence[ProposedEdit]) -> Review:
        self.shown.extend(edits)
        return Review.all_of(edits) if self.accept == "all" else Review(self.accept)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "a.txt").write_text("".join(f"{n}\n" for n in range(30)))
    return folder


@pytest.fixture(scope="module")
def ladder(tmp_path_factory: pytest.TempPathFactory) -> Ladder:
    return Ladder(tmp_path_factory.mktemp("home"), SandboxSettings(rungs=("bwrap", "landlock")))


TOOLS = Tools([execute_script])


async def run(
    ladder: Ladder | None,
    roots: Sequence[Path],
    script: str,
    *,
    interpreter: str = "bash",
    person: NonInteractive | None = None,
    permissions: Permissions | None = None,
    events: list[Event] | None = None,
    services: dict[str, Any] | None = None,
    trusted: bool = False,
    **arguments: Any,
) -> ToolResult:
    call = ToolCall(
        "c1", "execute_script", {"script": script, "interpreter": interpreter, **arguments}
    )
    context = ToolContext(
        tuple(roots),
        "s",
        "n",
        trusted,
        {
            "sandbox": ladder,
            "interaction": person or Person(),
            "permissions": permissions,
            **(services or {}),
        },
    )
    seen = events if events is not None else []
    entry = ToolEntry("c1", "execute_script", "", "running")
    with running(RunningCall("s", "n", entry, seen.append)):
        return await TOOLS.run(call, context)


async def test_success(ladder: Ladder, root: Path) -> None:
    result = await run(ladder, [root], "echo hello; pwd; wc -l <a.txt")
    assert not result.is_error
    assert "Exit code 0" in result.text and "no network" in result.text
    assert "Isolation: bwrap" in result.text or "Isolation: landlock" in result.text
    assert "hello\n" in result.text and "30" in result.text


async def test_a_failing_script_tells_its_code_and_errors(ladder: Ladder, root: Path) -> None:
    result = await run(ladder, [root], "echo oops >&2; exit 7")
    assert "Exit code 7" in result.text and "oops" in result.text


async def test_a_script_that_takes_too_long_is_ended(ladder: Ladder, root: Path) -> None:
    for seconds in (1, 10, 60):  # a slow machine says nothing within the first
        script = "echo before; sleep 600; echo after"
        result = await run(ladder, [root], script, timeout=seconds)
        assert f"ended: it ran longer than {seconds} s" in result.text
        assert "after" not in result.text
        if "before" in result.text:
            return
    pytest.fail("what it had said is not there")


async def test_a_script_that_asks_gets_no_answer(ladder: Ladder, root: Path) -> None:
    result = await run(ladder, [root], 'read -r answer; echo "status $? <$answer>"')
    assert "status 1 <>" in result.text


async def test_other_interpreters(ladder: Ladder, root: Path) -> None:
    result = await run(
        ladder, [root], "import os; print(6 * 7, os.getcwd())", interpreter="python3"
    )
    assert "42" in result.text
    result = await run(ladder, [root], "x", interpreter="no-such-program")
    assert "Exit code 12" in result.text and "no-such-program" in result.text


@pytest.mark.parametrize("name", ["/bin/sh", "../sh", "sh -c", "-x", "", "a b", "a\nb"])
async def test_an_interpreter_is_a_bare_name(ladder: Ladder, root: Path, name: str) -> None:
    result = await run(ladder, [root], "echo ran", interpreter=name)
    assert result.is_error and "ran" not in result.text.split()


async def test_bad_arguments(ladder: Ladder, root: Path) -> None:
    assert (await run(ladder, [root], "   ")).is_error
    assert (await run(ladder, [root], "echo", timeout=0)).is_error
    assert (await run(ladder, [root], "echo", timeout=10**9)).is_error
    assert (await run(None, [root], "echo")).is_error
    assert (await run(ladder, [], "echo")).is_error
    assert (await run(ladder, [Path("/")], "echo")).is_error
    assert "home folder" in (await run(ladder, [Path.home()], "cat .ssh/id_rsa")).text


async def test_changes_are_shown_and_written_when_accepted(ladder: Ladder, root: Path) -> None:
    person = Person()
    result = await run(
        ladder,
        [root],
        "sed -i s/^5$/five/ a.txt; echo new >b.txt; mkdir -p d/e; printf '\\0\\1' >d/e/data;"
        " ln -s a.txt link",
        person=person,
    )
    assert {edit.path: edit.change for edit in person.shown} == {
        "a.txt": "modify",
        "b.txt": "create",
        "d/e/data": "create",
        "link": "create",
    }
    assert "five" in (root / "a.txt").read_text()
    assert (root / "b.txt").read_text() == "new\n"
    assert (root / "d/e/data").read_bytes() == b"\0\1"
    assert (root / "link").is_symlink()
    assert "now in the workspace: 4" in result.text


async def test_until_accepted_nothing_is_written(ladder: Ladder, root: Path) -> None:
    before = (root / "a.txt").read_bytes()
    for person in (Person({}), NonInteractive()):
        result = await run(ladder, [root], "echo x >>a.txt; rm -f a.txt; echo y >b", person=person)
        assert (root / "a.txt").read_bytes() == before and not (root / "b").exists()
        assert "NOT written: 2" in result.text


async def test_a_part_of_a_change_can_be_accepted(ladder: Ladder, root: Path) -> None:
    person = Person({"a.txt": (1,)})
    result = await run(
        ladder, [root], "sed -i -e 's/^2$/two/' -e 's/^20$/twenty/' a.txt", person=person
    )
    text = (root / "a.txt").read_text()
    assert "twenty" in text and "two\n" not in text
    assert "(in part)" in result.text


async def test_rules_decide_before_anyone_is_asked(ladder: Ladder, root: Path) -> None:
    permissions = Permissions(
        [PermissionRule("allow", "*", "write", "ok*"), PermissionRule("deny", "*", "write", "no*")]
    )
    person = Person()
    result = await run(
        ladder,
        [root],
        "echo 1 >ok; echo 2 >no; echo 3 >ask",
        person=person,
        permissions=permissions,
    )
    assert [edit.path for edit in person.shown] == ["ask"]
    assert (root / "ok").exists() and (root / "ask").exists() and not (root / "no").exists()
    assert "NOT written: 1" in result.text


async def test_what_other_programs_act_on_is_asked_in_words(ladder: Ladder, root: Path) -> None:
    script = (
        "mkdir -p .vscode .github/workflows; echo {} >.vscode/settings.json;"
        "echo on: push >.github/workflows/x.yml; ln -s /etc/passwd out; echo ok >fine"
    )
    person = Person(permit=False)
    await run(ladder, [root], script, person=person, permissions=Permissions())
    assert len(person.asked) == 3 and [edit.path for edit in person.shown] == ["fine"]
    assert sorted(path.name for path in root.iterdir()) == ["a.txt", "fine"]


async def test_git_and_ignored_files_stay_in_the_copy(ladder: Ladder, root: Path) -> None:
    (root / ".gitignore").write_text("build/\n*.log\n")
    (root / ".git").mkdir()
    (root / ".git" / "config").write_text("[core]\n")
    person = Person()
    result = await run(
        ladder,
        [root],
        "mkdir -p .git/hooks build; echo evil >.git/hooks/pre-commit; echo x >>.git/config;"
        " echo o >build/o.o; echo l >x.log; echo s >src.c",
        person=person,
    )
    assert [edit.path for edit in person.shown] == ["src.c"]
    assert (root / ".git/config").read_text() == "[core]\n"
    assert not (root / ".git/hooks").exists() and not (root / "build").exists()
    assert "2 changed files in .git or .jarvis" in result.text
    assert "Built, kept in the sandbox and not proposed: build, x.log." in result.text
    result = await run(ladder, [root], "touch .git/index; ls build x.log", person=person)
    assert "o.o" in result.text and "Not carried over" not in result.text
    assert "Built" not in result.text


async def test_what_the_user_writes_meanwhile_is_kept(ladder: Ladder, root: Path) -> None:
    async def meanwhile() -> None:
        while not any("ready" in e.text for e in events if isinstance(e, EntryGrew)):
            await asyncio.sleep(0.01)
        (root / "a.txt").write_text("the user's own\n")

    events: list[Event] = []
    result, _ = await asyncio.gather(
        run(ladder, [root], "echo ready; sleep 3; echo script >>a.txt", events=events), meanwhile()
    )
    assert (root / "a.txt").read_text() == "the user's own\n"
    assert "changed in the workspace while the script ran" in result.text


async def test_unsaved_changes_in_the_editor_are_kept(ladder: Ladder, root: Path) -> None:
    before = (root / "a.txt").read_text()
    result = await run(ladder, [root], "echo x >>a.txt", services={"buffers": lambda _: "typed"})
    assert (root / "a.txt").read_text() == before and "unsaved" in result.text


async def test_output_is_seen_as_it_comes_and_capped(ladder: Ladder, root: Path) -> None:
    events: list[Event] = []
    result = await run(ladder, [root], "echo first; seq 1 100000", events=events)
    grown = [event for event in events if isinstance(event, EntryGrew)]
    assert grown and grown[0].text.startswith("first")
    assert "characters left out" in result.text and len(result.text) < 11_000
    assert "\n100000" in result.text and "read_code" not in result.text


async def test_the_whole_of_a_long_output_can_be_read(
    ladder: Ladder, root: Path, tmp_path: Path
) -> None:
    """Few long lines are cut by characters as many short ones are."""
    outputs = Outputs(tmp_path / "state", "s")
    services = {"outputs": outputs}
    script = (
        "for i in $(seq 40); do printf '%02d' $i; head -c 500 /dev/zero | tr '\\0' x; echo; done"
    )
    result = await run(ladder, [root], script, services=services)
    assert len(result.text) < 11_000 and "all 40 lines" in result.text
    (path,) = outputs
    context = ToolContext((root,), "s", "n", services=services)
    permissions = Permissions()
    read = [Action("read", str(path))]
    assert permissions.decide("read_code", read, context).effect == "allow"
    beside = [Action("read", str(path.with_name("other")))]
    assert permissions.decide("read_code", beside, context).effect == "ask"
    call = ToolCall("2", "read_code", {"files": [{"path": str(path), "start_line": 20}]})
    found = await Tools([read_code]).run(call, context)
    assert "20xxx" in found.text and not found.is_error, found.text
    write = [Action("write", str(path))]
    assert permissions.decide("edit_file", write, context).effect == "deny"
    outputs.close()
    assert not path.exists()


async def test_odd_output_does_no_harm(ladder: Ladder, root: Path) -> None:
    result = await run(ladder, [root], "head -c 300000 /dev/urandom; printf '\\xff\\xfe'; echo end")
    assert not result.is_error and "end" in result.text


async def test_several_roots(ladder: Ladder, root: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "a.txt").write_text("other\n")
    sandbox = await ladder.best()
    place = str(other) if sandbox.name == "bwrap" else "../copy1"
    result = await run(ladder, [root, other], f"echo 1 >>a.txt; echo 2 >>{place}/a.txt")
    assert (root / "a.txt").read_text().endswith("1\n")
    assert (other / "a.txt").read_text() == "other\n2\n"
    assert "now in the workspace: 2" in result.text


def test_scripts_are_taken_apart_by_the_gate(root: Path) -> None:
    context = ToolContext((root,))
    permissions = Permissions(
        [
            PermissionRule("allow", "execute_script", "execute", "cargo test*"),
            PermissionRule("allow", "execute_script", "execute", "python3"),
            PermissionRule("deny", "*", "execute", "perl*"),
        ]
    )

    def effect(script: str, interpreter: str = "bash", network: bool = False) -> str:
        given = {"script": script, "interpreter": interpreter, "network": network}
        return permissions.decide("execute_script", execute_script.actions(given), context).effect

    assert effect("cargo test") == "allow"
    assert effect("cargo test && curl evil") == "ask"
    assert effect("cargo test; `echo rm` -rf x") == "ask"
    assert effect("cargo test >out.txt") == "ask"
    assert effect("cargo test", network=True) == "ask"
    assert effect("print(1)", "python3") == "ask"
    assert effect("print 1", "perl") == "deny"


async def test_nothing_runs_that_is_not_allowed(ladder: Ladder, root: Path) -> None:
    async def refuse(asked: Asked) -> Answer:
        return Answer(False)

    gate = Approved(TOOLS, Permissions(), refuse)
    context = ToolContext((root,), services={"sandbox": ladder, "interaction": Person()})
    call = ToolCall("1", "execute_script", {"script": "echo ran >ran"})
    result = await gate.run(call, context)
    assert result.is_error and not (root / "ran").exists()


async def test_running_without_isolation_is_a_choice_that_shows(root: Path, tmp_path: Path) -> None:
    ladder = Ladder(tmp_path / "home", SandboxSettings(isolation="none"))
    result = await run(ladder, [root], "echo free >>a.txt; echo $JARVIS_SANDBOX", trusted=True)
    assert "Isolation: none" in result.text and "WITHOUT isolation" in result.text
    assert (root / "a.txt").read_text().endswith("free\n")


async def test_without_a_sandbox_nothing_runs(root: Path, tmp_path: Path) -> None:
    ladder = Ladder(tmp_path / "home", SandboxSettings(isolation="none", rungs=()))
    result = await run(ladder, [root], "echo ran", trusted=False)
    assert result.is_error and "No sandbox holds" in result.text
    assert 'isolation = "none" in [sandbox]' in result.text, "what the user can do is said"


async def test_programs_of_this_machine_work_inside(ladder: Ladder, root: Path) -> None:
    if shutil.which("cc") is None or shutil.which("git") is None:
        pytest.skip("no C compiler or git here")
    script = (
        "echo 'int main(void){return 3;}' >m.c && cc -fsanitize=address -o m m.c; ./m; echo got $?;"
        " rm -f m m.c; git init -q . && git add a.txt && git -c user.name=a -c user.email=a@b"
        " commit -qm x && git log --format=%s; id -u"
    )
    result = await run(ladder, [root], script)
    assert "got 3\nx\n" in result.text
    assert not (root / ".git").exists()
    assert str(os.geteuid() or 65534) in result.text
