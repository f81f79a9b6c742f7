"""Hooks from settings: they refuse calls, add to results, and fail closed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from jarvis_ls.runtime.base.messages import ToolResult
from tests.assembly.test_conversation import House, house


def program(path: Path, text: str) -> str:
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
    return str(path)


def hook(event: str, command: str, **more: object) -> str:
    lines = [f"{key} = {json.dumps(value)}" for key, value in more.items()]
    return "\n".join(
        ["[[hooks]]", f'event = "{event}"', f"command = {json.dumps([command])}", *lines, ""]
    )


async def result_of_reading(h: House) -> ToolResult:
    (h.folder / "a.c").write_text("int a;\n")
    h.server.call("read_code", {"files": [{"path": "a.c"}]})
    h.server.say("Read.")
    conversation = await h.start()
    await conversation.send("Read it.")
    await conversation.wait()
    messages = conversation.session.messages("root")
    return next(m for m in messages if isinstance(m, ToolResult))


async def test_a_hook_refuses_with_its_reason_and_sees_the_call_but_no_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OFFICE_API_KEY", "very-secret")
    async with house(tmp_path) as h:
        said = tmp_path / "said"
        guard = program(tmp_path / "guard", f"cat >{said}; env >>{said}; echo not here >&2; exit 2")
        h.configure(hook("before_tool", guard, tool="read_*"))
        result = await result_of_reading(h)
        assert result.is_error and "The hook guard refuses it: not here" in result.text
        assert '"tool": "read_code"' in said.read_text() and "very-secret" not in said.read_text()


async def test_a_reason_may_be_printed_like_any_output(tmp_path: Path) -> None:
    async with house(tmp_path) as h:
        h.configure(hook("before_tool", program(tmp_path / "guard", "echo not today; exit 1")))
        assert "The hook guard refuses it: not today" in (await result_of_reading(h)).text


async def test_what_a_hook_prints_after_a_tool_is_added_to_the_result(tmp_path: Path) -> None:
    async with house(tmp_path) as h:
        lint = program(tmp_path / "lint", "echo two warnings")
        h.configure(hook("after_tool", lint) + hook("before_tool", lint, tool="edit_file"))
        result = await result_of_reading(h)
        assert "int a;" in result.text and result.text.endswith("lint: two warnings")


async def test_a_hook_that_cannot_run_refuses(tmp_path: Path) -> None:
    async with house(tmp_path) as h:
        h.configure(hook("before_tool", "/nowhere/guard"))
        assert "was not found" in (await result_of_reading(h)).text
    (tmp_path / "late").mkdir()
    async with house(tmp_path / "late") as h:
        slow = program(tmp_path / "slow", "sleep 60")
        h.configure(hook("before_tool", slow, timeout=0.2))
        assert "longer than 0.2 seconds" in (await result_of_reading(h)).text


async def test_a_program_of_the_workspace_is_not_run_as_the_user(tmp_path: Path) -> None:
    async with house(tmp_path) as h:
        ran = tmp_path / "ran"
        own = program(h.folder / "guard", f"touch {ran}")
        h.configure(hook("before_tool", own))
        assert "is in the workspace" in (await result_of_reading(h)).text
        assert not ran.exists()


async def test_hooks_of_a_workspace_run_in_the_sandbox_and_only_when_trusted(
    tmp_path: Path,
) -> None:
    async with house(tmp_path) as h:
        ran = tmp_path / "ran"
        program(h.folder / "guard.sh", f"touch {ran}; echo no reading; exit 1")
        (h.folder / ".jarvis").mkdir()
        (h.folder / ".jarvis/config.toml").write_text(hook("before_tool", "./guard.sh"))
        result = await result_of_reading(h)
        assert result.is_error and "no reading" in result.text and not ran.exists()
        untrusted = await h.start(trusted=False)
        h.server.call("read_code", {"files": [{"path": "a.c"}]})
        h.server.say("Read.")
        await untrusted.send("Read it.")
        await untrusted.wait()
        results = [m for m in untrusted.session.messages("root") if isinstance(m, ToolResult)]
        assert not results[0].is_error


async def test_hooks_that_cannot_be_understood_stop_every_tool(tmp_path: Path) -> None:
    async with house(tmp_path) as h:
        h.configure('[[hooks]]\nevent = "sometimes"\ncommand = ["true"]\n')
        result = await result_of_reading(h)
        assert result.is_error and "event must be before_tool or after_tool" in result.text
        assert "Until then no tool is called" in result.text
