"""Scripted tools: read from settings, run in a real sandbox, arguments never become code."""

from __future__ import annotations

import base64
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jarvis_ls.runtime.base.messages import ToolCall, ToolResult
from jarvis_ls.runtime.context.script_tools import ScriptedTools, read_tool, scripted_toolset
from jarvis_ls.runtime.sandbox.base import NoSandbox
from jarvis_ls.runtime.sandbox.ladder import Ladder
from jarvis_ls.runtime.tools.approval import Approved
from jarvis_ls.runtime.tools.permissions import Answer, Asked, PermissionRule, Permissions
from jarvis_ls.runtime.tools.tool import Action, ToolContext

MODULE = "AGFzbQEAAAABBQFgAAF/AwIBAAcIAQRfc3RhAAAKBgEEAEEqCw=="
TEXT = {
    "type": "object",
    "properties": {"text": {"type": "string"}, "n": {"type": "integer"}},
    "required": ["text"],
}


def table(**changes: Any) -> dict[str, Any]:
    base = {
        "name": "say",
        "description": "Say.",
        "script_type": "shell",
        "script": 'printf "%s|%s" "$1" "${ARG_N-none}"',
        "parameters": TEXT,
    }
    return {**base, **changes}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "root/.jarvis").mkdir(parents=True)
    return tmp_path / "root"


@pytest.fixture(scope="module")
def ladder(tmp_path_factory: pytest.TempPathFactory) -> Ladder:
    import asyncio

    found = Ladder(tmp_path_factory.mktemp("home"))
    try:
        asyncio.run(found.best())
    except NoSandbox as error:
        pytest.skip(str(error))
    return Ladder(found._home)  # another loop's lock is of no use to the tests


async def run(tools: ScriptedTools, ladder: Any, root: Path, /, **arguments: Any) -> ToolResult:
    context = ToolContext((root,), trusted=True, services={"sandbox": ladder} if ladder else {})
    (name,) = tools.tools()
    return await tools.run(ToolCall("1", name, arguments), context)


def only(**changes: Any) -> ScriptedTools:
    tools = scripted_toolset(Path("/nowhere"), settings=[table(**changes)])
    assert not tools.problems
    return tools


@pytest.mark.parametrize(
    ("kind", "script"),
    [
        ("shell", 'printf "%s|%s|%s" "$1" "$ARG_N" "$#"'),
        (
            "python",
            "from __future__ import annotations\nimport os, sys\n"
            "print(sys.argv[1], os.environ['ARG_N'], len(sys.argv) - 1, sep='|')",
        ),
        (
            "javascript",
            "console.log([process.argv[2], process.env.ARG_N, process.argv.length - 2].join('|'))",
        ),
    ],
)
async def test_arguments_arrive_as_they_are(
    ladder: Ladder, root: Path, kind: str, script: str
) -> None:
    if kind == "javascript" and shutil.which("node") is None:
        pytest.skip("there is no node here")
    tools = only(script_type=kind, script=script)
    nasty = '\'; touch canary; echo "$(touch canary)" `touch canary` \\ ${HOME} %s 中文\n</x>'
    result = await run(tools, ladder, root, text=nasty, n=3)
    assert not result.is_error, result.text
    assert result.text == f"{nasty}|3|2" and not (root / "canary").exists()
    result = await run(tools, ladder, root, text="-n")
    assert result.text.startswith("-n|") or (result.is_error and "ARG_N" in result.text)


async def test_a_script_has_no_secrets_and_no_time_without_end(
    ladder: Ladder, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    result = await run(only(script="env; echo $JARVIS_ARGS"), ladder, root, text="x")
    assert "sk-secret" not in result.text and '{"text": "x"}' in result.text
    for seconds in (1, 10, 60):  # a slow machine says nothing within the first
        endless = only(script="echo begun; sleep 600", timeout=seconds)
        slow = await run(endless, ladder, root, text="x")
        assert slow.is_error and "was stopped" in slow.text
        if "begun" in slow.text:
            break
    assert "begun" in slow.text
    failed = await run(only(script="echo bad >&2; exit 3"), ladder, root, text="x")
    assert failed.is_error and "exit status 3" in failed.text and "bad" in failed.text


async def test_a_script_works_on_a_copy(ladder: Ladder, root: Path) -> None:
    (root / "a.txt").write_text("one")
    tools = only(script="cat a.txt; echo two > a.txt; rm -rf .jarvis")
    result = await run(tools, ladder, root, text="x")
    assert result.text.startswith("one") and (root / "a.txt").read_text() == "one"
    assert (root / ".jarvis").is_dir()


async def test_web_assembly_runs_or_says_what_is_missing(ladder: Ladder, root: Path) -> None:
    module = root / "m.wasm"
    module.write_bytes(base64.b64decode(MODULE))
    tools = ScriptedTools([read_tool(table(script_type="wasm", script="m.wasm"), root)], [])
    result = await run(tools, ladder, root, text="x")
    if shutil.which("wasmtime") is None:
        assert result.is_error and "no wasmtime" in result.text
    else:
        assert not result.is_error


async def test_a_web_assembly_runtime_gets_the_module_and_the_arguments(root: Path) -> None:
    """The program the sandbox would run, with a stand-in for the runtime."""
    import subprocess

    from jarvis_ls.runtime.context.script_tools import _program

    tool = read_tool(table(script_type="wasm", script="(module)"), root)
    (root / "bin").mkdir()
    (root / "bin/wasmtime").write_text('#!/bin/sh\necho "$1 $2 $4 $5"; cat "$3"\n')
    (root / "bin/wasmtime").chmod(0o755)
    environment = {"PATH": f"{root}/bin:/usr/bin:/bin", "TMPDIR": str(root)}
    text = _program(tool, ["a b", "$(x)"])
    said = subprocess.run(
        ["sh", "-c", text], capture_output=True, text=True, env=environment, check=True
    )
    assert said.stdout == "run --dir=. a b $(x)\n(module)"


async def test_without_a_sandbox_nothing_runs(root: Path) -> None:
    result = await run(only(script="touch canary"), None, root, text="x")
    assert result.is_error and "no sandbox" in result.text and not (root / "canary").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "text"),
        ({"text": 3}, "text"),
        ({"text": "x", "n": "y"}, "n"),
        ({"text": "a\0b"}, "NUL"),
        ({"text": "x" * 70_000}, "more than"),
    ],
)
async def test_wrong_arguments_run_nothing(
    ladder: Ladder, root: Path, arguments: dict[str, Any], said: str
) -> None:
    tools = only(script="touch canary")
    result = await run(tools, ladder, root, **arguments)
    assert result.is_error and said in result.text

    async def ask(asked: Asked) -> Answer:
        raise AssertionError("nobody is asked about a call that cannot run")

    if said in (
        "text",
        "n",
    ):  # the schema says so; the rest is seen when the script is put together
        gate = Approved(tools, Permissions(), ask)
        result = await gate.run(ToolCall("1", "say", arguments), ToolContext((root,)))
        assert result.is_error and said in result.text


async def test_the_gate_decides_on_the_script_itself(root: Path) -> None:
    tools = only(script="cargo test; rm -rf /tmp/x", network=True)
    asked = tools.tools()["say"].actions({"text": "x"})
    assert asked == [Action("execute", "cargo test; rm -rf /tmp/x"), Action("connect", "any host")]
    python = only(script_type="python", script="print('a')")
    assert python.tools()["say"].actions({})[0].target == "python3 -c 'print('\"'\"'a'\"'\"')'"
    rules = [
        PermissionRule("allow", "*", "execute", "cargo *"),
        PermissionRule("deny", target="rm *"),
    ]
    gate = Approved(tools, Permissions(rules), None)
    result = await gate.run(ToolCall("1", "say", {"text": "x"}), ToolContext((root,)))
    assert result.is_error and "A permission rule denies it" in result.text


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"name": "a b"}, "name"),
        ({"name": "x" * 65}, "name"),
        ({"name": 3}, "name"),
        ({"description": " "}, "description"),
        ({"script_type": "perl"}, "script_type"),
        ({"script": ""}, "no script"),
        ({"script": 3}, "no script"),
        ({"script": "x" * 300_000}, "at most"),
        ({"timeout": 0}, "timeout"),
        ({"timeout": True}, "timeout"),
        ({"network": 1}, "network"),
        ({"more": 1}, "more"),
        ({"parameters": {"type": "string"}}, "object"),
        ({"parameters": 3}, "schema"),
        ({"parameters": {"properties": {"a": {"type": "odd"}}}}, "schema"),
        ({"parameters": {"properties": {"a-b": {}, "a_b": {}}}}, "same variable"),
    ],
)
def test_what_is_wrong_in_the_settings_is_said(changes: dict[str, Any], said: str) -> None:
    tools = scripted_toolset(Path("/nowhere"), settings=[table(**changes), table(name="good")])
    assert list(tools.tools()) == ["good"] and said in tools.problems[0]


def test_every_place_is_read_and_the_users_come_first(tmp_path: Path, root: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "work.sh").write_text("echo from a file")
    (home / "scripted_tools.toml").write_text(
        '[[scripted_tools]]\nname = "one"\ndescription = "d"\nscript_type = "shell"\n'
        'script = "work.sh"\n'
    )
    theirs = [table(name="one"), table(name="three"), 3]
    (root / ".jarvis/scripted_tools.yaml").write_text(json.dumps({"scripted_tools": theirs}))
    tools = scripted_toolset(home, [root], trusted=True, settings=[table()], taken={"three"})
    assert list(tools.tools()) == ["say", "one"] and len(tools.problems) == 3
    assert tools.tools()["one"].actions({})[0].target == "echo from a file"
    untrusted = scripted_toolset(home, [root], settings=[table()])
    assert list(untrusted.tools()) == ["say", "one"] and "not trusted" in untrusted.problems[0]
    for text in ("{", "scripted_tools: 3", "3"):
        (root / ".jarvis/scripted_tools.yaml").write_text(text)
        assert len(scripted_toolset(home, [root], trusted=True).problems) == 1


def test_schemas_reach_nowhere(root: Path) -> None:
    tools = only(parameters={"properties": {"text": {"$ref": "http://127.0.0.1:9/x.json"}}})
    from jarvis_ls.runtime.tools.schema_tools import wrong_arguments

    said = wrong_arguments(tools.schema_tools()["say"], {"text": "x"})
    assert "cannot be used" in said


@settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.lists(
        st.fixed_dictionaries(
            {"name": st.sampled_from(["say", "SAY", "new"])},
            optional={
                "description": st.text(max_size=5),
                "script_type": st.sampled_from(["shell", "python", "x"]),
                "script": st.sampled_from(["evil", "m.sh", ""]),
                "network": st.booleans(),
            },
        ),
        max_size=3,
    ),
    st.booleans(),
)
def test_a_workspace_never_replaces_a_users_tool(
    root: Path, theirs: list[Any], trusted: bool
) -> None:
    (root / ".jarvis/scripted_tools.yaml").write_text(json.dumps({"scripted_tools": theirs}))
    tools = scripted_toolset(Path("/nowhere"), [root], trusted=trusted, settings=[table()])
    own = only().schema_tools()["say"]
    assert tools.schema_tools()["say"].spec == own.spec
    assert tools.schema_tools()["say"].actions({}) == own.actions({})
    if not trusted:
        assert list(tools.tools()) == ["say"]
