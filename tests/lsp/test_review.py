"""Review of a change in an editor: issues are diagnostics, and what is dismissed stays so."""

from __future__ import annotations

import json
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from pygls.exceptions import JsonRpcException

from tests.lsp.editor import running
from tests.lsp.test_repair import SETTINGS
from tests.support.model_server import Answer, Asked, ModelServer
from tests.support.repositories import git, make_repository, write
from tests.support.starting import quick

pytestmark = pytest.mark.watches()

BEFORE = {"a.py": "x = 1\n", "lib.c": "int f(int a) { return a; }\n"}
AFTER = {"a.py": "x = 1\nbreakpoint()\n", "lib.c": "int f(int a) { return 8 / a; }\n"}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("JARVIS_HOME", str(tmp_path / "home"))
    root = make_repository(tmp_path / "work", BEFORE)
    write(root, AFTER)
    return root


@pytest.fixture
async def model(project: Path) -> AsyncIterator[ModelServer]:
    """A model that finds one flaw."""
    issue = {
        "path": "lib.c",
        "line": 1,
        "severity": "high",
        "message": "f divides by zero when 'a' is 0.",
        "suggestion": "Check 'a' first.",
        "quote": "int f(int a) { return 8 / a; }",
    }
    async with ModelServer() as server:

        def decide(asked: Asked) -> Answer:
            said = server.say(json.dumps({"issues": [issue], "summary": "It divides."}))
            server.answers.remove(said)
            return said

        server.decide = decide
        (project.parent / "home" / "config.toml").write_text(SETTINGS.format(url=server.url))
        yield server


def shown(editor, name: str) -> list[str]:
    """Codes of the diagnostics of a review that a file has."""
    for published in reversed(editor.published):
        if published.uri.endswith(f"/{name}"):
            return [str(d.code) for d in published.diagnostics if d.source == "jarvis review"]
    return []


def said(editor, name: str) -> str:
    """What the diagnostics of a review in a file say."""
    for published in reversed(editor.published):
        if published.uri.endswith(f"/{name}"):
            return "".join(d.message for d in published.diagnostics if d.source == "jarvis review")
    return ""


def remembered(project: Path) -> str:
    """What the memory of the project has learnt."""
    notes = (project / ".jarvis" / "memory").glob("learned_*.json")
    return "".join(file.read_text() for file in notes)


async def test_issues_are_diagnostics_of_files_in_any_language(project: Path) -> None:
    async with running(project) as editor:
        told = await editor.request("jarvis/review", {"state": "working", "agents": False})
        assert told.status == "reviewed"
        (issue,) = [issue for issue in told.issues if issue.rule == "debugger-left"]
        assert (issue.uri, issue.line) == ((project / "a.py").as_uri(), 2)
        await editor.until(lambda: "debugger-left" in shown(editor, "a.py"))
        write(project, {"a.py": BEFORE["a.py"]})
        await editor.request("jarvis/review", {"state": "working", "agents": False})
        await editor.until(lambda: shown(editor, "a.py") == [])
        told = await editor.request("jarvis/review", {"state": "staged", "agents": False})
        assert told.issues == [] and told.summary == "Nothing has changed."


async def test_what_is_dismissed_stays_so_until_the_line_changes(project: Path) -> None:
    async with running(project) as editor:
        told = await editor.request("jarvis/review", {"state": "working", "agents": False})
        (issue,) = [issue for issue in told.issues if issue.rule == "debugger-left"]
        named = {"uri": issue.uri, "key": issue.key}
        with pytest.raises(JsonRpcException, match="reason"):
            await editor.request("jarvis/reviewDismiss", {**named, "reason": " "})
        assert await editor.request("jarvis/reviewDismiss", {**named, "reason": "It is a tool."})
        await editor.until(lambda: "debugger-left" not in shown(editor, "a.py"))
        again = {**named, "reason": "twice"}
        assert not await editor.request("jarvis/reviewDismiss", again)
    assert not list((project / ".jarvis").rglob("*review*"))
    write(project, {"a.py": "y = 0\nx = 1\nbreakpoint()\n"})
    async with running(project) as editor:
        told = await editor.request("jarvis/review", {"state": "working", "agents": False})
        assert "debugger-left" not in {issue.rule for issue in told.issues}
        assert "1 dismissed before" in told.summary
        write(project, {"a.py": "x = 1\nimport pdb; pdb.set_trace()\n"})
        told = await editor.request("jarvis/review", {"state": "working", "agents": False})
        assert "debugger-left" in {issue.rule for issue in told.issues}
        await editor.until(lambda: "Reason: It is a tool." in remembered(project))


async def test_what_is_accepted_is_shown_so_until_it_is_dismissed(project: Path) -> None:
    async with running(project) as editor:
        told = await editor.request("jarvis/review", {"state": "working", "agents": False})
        (issue,) = [issue for issue in told.issues if issue.rule == "debugger-left"]
        assert not issue.accepted
        named = {"uri": issue.uri, "key": issue.key}
        assert await editor.request("jarvis/reviewAccept", named)
        assert not await editor.request("jarvis/reviewAccept", {**named, "key": "another"})
        await editor.until(lambda: "(accepted)" in said(editor, "a.py"))
        told = await editor.request("jarvis/review", {"state": "working", "agents": False})
        assert [i.rule for i in told.issues if i.accepted] == ["debugger-left"]
        await editor.until(lambda: "user accepted the issue debugger-left" in remembered(project))
    out = subprocess.run(
        [*quick("jarvis_ls.cli.jarvis"), "review", "--format", "json"],
        cwd=project,
        capture_output=True,
        check=True,
    ).stdout
    assert [i["rule"] for i in json.loads(out)["issues"] if i["accepted"]] == ["debugger-left"]
    async with running(project) as editor:
        told = await editor.request("jarvis/review", {"state": "working", "agents": False})
        assert await editor.request("jarvis/reviewDismiss", {**named, "reason": "It is a tool."})
        told = await editor.request("jarvis/review", {"state": "working", "agents": False})
        assert "debugger-left" not in {issue.rule for issue in told.issues}


async def test_agents_read_it_only_when_asked_to(project: Path, model: ModelServer) -> None:
    async with running(project) as editor:
        await editor.request("jarvis/review", {"state": "working", "agents": False})
        assert model.requests == []
        told = await editor.request("jarvis/review", {"state": "working", "agents": True})
        assert told.status == "reviewed" and len(model.requests) == 4
        (issue,) = [issue for issue in told.issues if issue.rule.startswith("review-")]
        assert issue.message == "f divides by zero when 'a' is 0."
        answer = await editor.command("jarvis.review", "working", "agents")
        assert answer["issues"] == len(told.issues)


async def test_without_a_model_it_says_so(project: Path) -> None:
    async with running(project) as editor:
        told = await editor.request("jarvis/review", {"state": "working", "agents": True})
        assert told.status == "no_model" and "Reviewing without agents: " in told.summary
        assert "debugger-left" in {issue.rule for issue in told.issues}


async def test_it_speaks_the_language_of_the_editor(project: Path) -> None:
    async with running(project, locale="zh-cn") as editor:
        told = await editor.request("jarvis/review", {"state": "working", "agents": False})
        assert "已评审文件" in told.summary
        assert all(not issue.message.isascii() for issue in told.issues)


async def test_a_folder_without_a_repository_is_told(tmp_path: Path) -> None:
    async with running(tmp_path) as editor:
        with pytest.raises(JsonRpcException, match="no git repository"):
            await editor.request("jarvis/review", {"state": "working", "agents": False})


async def test_staged_changes_are_reviewed_as_they_are_staged(project: Path) -> None:
    git(project, "add", "a.py")
    write(project, {"a.py": BEFORE["a.py"]})
    async with running(project) as editor:
        told = await editor.request("jarvis/review", {"state": "staged", "agents": False})
        assert "debugger-left" in {issue.rule for issue in told.issues}
