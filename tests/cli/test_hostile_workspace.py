"""A workspace of a stranger: whatever is called on it, nothing of it runs before it is trusted."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters

from jarvis_ls.lsp.folders import uri_of
from tests.cli.test_jarvis_command import SETTINGS
from tests.fronts.test_acp_agent import Place, prompt
from tests.jc2r.toolchain import needs_cargo
from tests.lsp.editor import running
from tests.support.canaries import FLAW, command_lines, environment, foreign_crate, run, workspace
from tests.support.model_server import ModelServer
from tests.support.patience import HANGS

pytestmark = pytest.mark.watches()

JC2R = str(Path(sys.executable).with_name("jc2r"))
JARVIS = str(Path(sys.executable).with_name("jarvis"))
ASKED = "Do that only if you trust the files in"
ASKING = "verify lift check prove test-repair evolve rewrite optimize".split()
ASKING_OPTIONS = {"--build", "--agent", "--check-patch", "-r"}


def test_the_canaries_sing_when_somebody_obeys(tmp_path: Path) -> None:
    """Otherwise their silence would show nothing."""
    with workspace(tmp_path) as (root, canaries):
        assert len(set(canaries.names)) >= 60
        env = dict(os.environ)
        for command, name in (
            (["make", "all"], "make shell"),
            (["git", "status"], "git core.fsmonitor"),
            (["cc", "-fsyntax-only", f"@{root / 'args'}", "a.c"], "compiler plugin"),
            (["cc", "-fsyntax-only", "-wrapper", str(root / "wrapper"), "a.c"], "-wrapper"),
            ([sys.executable, "-c", "import json"], "python json"),
        ):
            run(command, root, env)
            assert name in canaries.sung(), command
        run(["gcc", "--version"], root, environment(root, tmp_path / "home"))
        assert "current folder gcc" in canaries.sung()


@needs_cargo
def test_files_for_cargo_and_rustup_have_no_say(tmp_path: Path) -> None:
    with workspace(tmp_path) as (root, canaries):
        done = run([JC2R, "run", "--baseline", str(root)], root, environment(root, tmp_path / "h"))
        assert canaries.sung() == [] and done.returncode == 1, done.stderr  # C++ is left out
        assert "kept stays in C" in done.stdout and "crate: " in done.stdout
        run(["cargo", "--version"], root, dict(os.environ))
        assert canaries.sung(), "these files are obeyed by others"


async def test_nothing_runs_before_trust(tmp_path: Path) -> None:
    with workspace(tmp_path) as (root, canaries):
        env = environment(root, tmp_path / "home")
        for command in command_lines(root):
            done = await asyncio.to_thread(run, command, root, env)
            assert canaries.sung() == [], command
            assert "Traceback" not in done.stderr, command
            if command[1] in ASKING or ASKING_OPTIONS & {*command}:
                assert done.returncode == 2 and ASKED in done.stderr, command


async def test_agents_run_nothing_of_it_before_trust(tmp_path: Path) -> None:
    with workspace(tmp_path) as (root, canaries):
        home = tmp_path / "home"
        env = environment(root, home) | {"SCRIPTED_KEY": "sk-1"}
        async with ModelServer() as model:
            (home / "config.toml").write_text(SETTINGS.format(url=model.url))
            disobey(model)
            done = await asyncio.to_thread(run, [JARVIS, "-m", "Test it"], root, env)
            assert canaries.sung() == []
            assert done.returncode == 0, done.stderr
            disobey(model)
            acp = Place(root, home, model, environment=env)
            async with acp.editor(trust=False, command=(JARVIS,)) as (agent, editor, _):
                editor.answer = "reject_once"
                ended = await prompt(agent, await acp.begin(agent), "Test it")
                assert ended.stop_reason == "end_turn"
        assert canaries.sung() == []


def disobey(model: ModelServer) -> None:
    """Have a model run what the workspace brings, and read it."""
    model.call("execute_script", {"interpreter": "bash", "script": "make test"})
    model.call("read_code", {"files": [{"path": "a.c"}]})
    model.call("get_dependencies", {"path": "."})
    model.say("Nothing was done.")


async def test_other_agents_have_nothing_of_it_run_before_trust(tmp_path: Path) -> None:
    with workspace(tmp_path) as (root, canaries):
        env = environment(root, tmp_path / "home")
        server = StdioServerParameters(command=JARVIS, args=["mcp", str(root)], env=env, cwd=root)
        async with Client(server, read_timeout_seconds=HANGS) as client:
            found = await client.call_tool("scan", {})
            assert not found.is_error, found.content
            assert not (await client.call_tool("preview_fix", {"name": FLAW})).is_error
            request = {"project_root": str(root), "task_id": "T1"}
            for tool, arguments in (("prove", {"name": FLAW}), ("repair_tests", request)):
                refused = await client.call_tool(tool, arguments)
                assert refused.is_error and "trust" in str(refused.content).lower()
        assert canaries.sung() == []


async def test_the_server_runs_nothing_of_it_before_trust(tmp_path: Path) -> None:
    with workspace(tmp_path) as (root, canaries):
        async with running(root, options={"workspaceScan": True, "trusted": False}) as editor:
            uri = uri_of(str(root / "flawed.c"))
            editor.open(uri, (root / "flawed.c").read_text())
            assert await editor.diagnostics(uri)
            await editor.request("jarvis/scanWorkspace", {})
            for scope in ("scan", "project", "resume", "verify", "lift"):
                with pytest.raises(Exception, match=r"[Tt]rust"):
                    await editor.request(
                        "jarvis/migration/run", {"folder": uri_of(str(root)), "scope": scope}
                    )
        assert canaries.sung() == []


@needs_cargo
def test_a_crate_that_was_made_elsewhere_is_not_built(tmp_path: Path) -> None:
    """It says that jc2r has made it, as anything may say that a project brings."""
    with workspace(tmp_path) as (root, canaries):
        foreign_crate(root, canaries)
        env = environment(root, tmp_path / "home")
        done = run([JC2R, "run", "--baseline", str(root)], root, env)
        assert done.returncode == 2 and "made by jc2r, but not here" in done.stderr
        trusting = run([JC2R, "run", "--baseline", "--trust", str(root)], root, env)
        assert "crate: " in trusting.stdout, trusting.stderr
        assert canaries.sung() == []  # what is trusted is replaced all the same
        again = run([JC2R, "run", "--baseline", str(root)], root, env)
        assert "no changes" in again.stdout


@needs_cargo
def test_a_crate_of_ours_keeps_its_place(tmp_path: Path) -> None:
    root = tmp_path / "p"
    root.mkdir()
    (root / "a.c").write_text("int one(void) { return 1; }\n")
    env = {**os.environ, "JARVIS_HOME": str(tmp_path / "home")}
    assert run([JC2R, "run", "--baseline", str(root)], root, env).returncode == 0
    (root / "a.c").write_text("int one(void) { return 2; }\n")
    assert run([JC2R, "run", "--baseline", str(root)], root, env).returncode == 0
    crate = root.with_name("p_rs")
    crate.rename(tmp_path / "moved")
    shutil.copytree(tmp_path / "moved", crate)
    done = run([JC2R, "run", "--baseline", "--reset", str(root)], root, env)
    assert done.returncode == 2 and "but not here" in done.stderr
