"""`jarvis acp` as a process, with the client of the official SDK on the other side."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import acp
import pytest
from acp import schema

from tests.cli.test_jarvis_command import SETTINGS
from tests.support.agents import until
from tests.support.auto_model import AutoModel, plan_of
from tests.support.model_server import ModelServer
from tests.support.patience import HANGS
from tests.support.starting import ROOT, quick

JARVIS = (str(Path(sys.executable).with_name("jarvis")),)


class Editor(acp.Client):
    """An editor: what it was shown, and how its user answers."""

    def __init__(self) -> None:
        self.updates: list[tuple[str, Any]] = []
        self.questions: list[tuple[str, schema.ToolCallUpdate, list[schema.PermissionOption]]] = []
        self.answer = "allow_once"
        """Kind of the option that is chosen; empty lets the question wait."""
        self.asked = asyncio.Event()

    def on_connect(self, conn: Any) -> None:
        self.agent = conn

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        self.updates.append((session_id, update))

    async def request_permission(
        self,
        session_id: str,
        tool_call: schema.ToolCallUpdate,
        options: list[schema.PermissionOption],
        **_: Any,
    ) -> schema.RequestPermissionResponse:
        self.questions.append((session_id, tool_call, options))
        self.asked.set()
        if not self.answer:
            await asyncio.sleep(HANGS)
        chosen = next(option for option in options if option.kind == self.answer)
        outcome = schema.AllowedOutcome(outcome="selected", option_id=chosen.option_id)
        return schema.RequestPermissionResponse(outcome=outcome)

    def of(self, kind: str, session: str = "") -> list[Any]:
        """Updates of a kind, in order."""
        return [u for s, u in self.updates if u.session_update == kind and session in ("", s)]

    def said(self, kind: str = "agent_message_chunk", session: str = "") -> str:
        return "".join(update.content.text for update in self.of(kind, session))

    def calls(self) -> dict[str, Any]:
        """The last state of every call, by its title's first word."""
        shown: dict[str, Any] = {}
        for _, update in self.updates:
            if update.session_update == "tool_call":
                assert update.tool_call_id not in shown
                shown[update.tool_call_id] = update
            elif update.session_update == "tool_call_update":
                assert update.tool_call_id in shown, "updated before it was shown"
                shown[update.tool_call_id] = update
        return {call.title.partition(" ")[0]: call for call in shown.values()}


@dataclass
class Place:
    """A project, a home, and a model."""

    folder: Path
    home: Path
    model: ModelServer
    trusted: bool = True
    environment: dict[str, str] = field(default_factory=dict)

    @asynccontextmanager
    async def editor(
        self, *, trust: bool = True, command: Sequence[str] = ()
    ) -> AsyncIterator[tuple[Any, Editor, Any]]:
        """A connection that is initialized, its editor, and the process."""
        editor = Editor()
        program, *before = command or quick("jarvis_ls.cli.jarvis")
        arguments = [*before, "acp", *(["--trust"] if trust else [])]
        async with acp.spawn_agent_process(
            editor,
            program,
            *arguments,
            env=self.environment,
            cwd=self.folder,
            use_unstable_protocol=True,
            transport_kwargs={"limit": 50_000_000},
        ) as (agent, process):
            await agent.initialize(
                protocol_version=acp.PROTOCOL_VERSION,
                client_capabilities=schema.ClientCapabilities(),
            )
            yield agent, editor, process

    async def begin(self, agent: Any) -> str:
        opened = await agent.new_session(cwd=str(self.folder), mcp_servers=[])
        session: str = opened.session_id
        return session


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Place]:
    folder, home = tmp_path / "work", tmp_path / "home"
    folder.mkdir()
    home.mkdir()
    async with ModelServer() as model:
        (home / "config.toml").write_text(SETTINGS.format(url=model.url))
        environment = {
            name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")
        }
        environment |= {"JARVIS_HOME": str(home), "SCRIPTED_KEY": "sk-1", "LC_ALL": "C.UTF-8"}
        yield Place(folder, home, model, environment=environment)


def prompt(agent: Any, session: str, text: str) -> Any:
    return agent.prompt(session_id=session, prompt=[acp.text_block(text)])


async def test_an_answer_is_streamed_with_its_thoughts(place: Place) -> None:
    async with place.editor() as (agent, editor, _):
        opened = await agent.new_session(cwd=str(place.folder), mcp_servers=[])
        assert [mode.id for mode in opened.modes.available_modes] == ["ask", "edits", "plan"]
        (option,) = opened.config_options
        assert (option.id, option.current_value) == ("model", "think")
        assert "scripted/scripted" in [choice.value for choice in option.options]
        place.model.say("The answer is 42, of course.", thinking="Let me see.", pieces=6)
        ended = await prompt(agent, opened.session_id, "What is it?")
        assert ended.stop_reason == "end_turn"
        assert (ended.usage.input_tokens, ended.usage.output_tokens) == (11, 7)
        assert editor.said() == "The answer is 42, of course."
        assert editor.said("agent_thought_chunk") == "Let me see."
        (used,) = {(u.used > 0, u.size > u.used) for u in editor.of("usage_update")}
        assert used == (True, True)
        (commands,) = editor.of("available_commands_update")
        assert "scan" in [command.name for command in commands.available_commands]


async def test_a_change_is_shown_as_a_diff_and_written_when_it_is_allowed(place: Place) -> None:
    (place.folder / "a.c").write_text("int a;\nint b;\n")
    async with place.editor() as (agent, editor, _):
        session = await place.begin(agent)
        place.model.call("read_code", {"files": [{"path": "a.c"}]})
        place.model.say("I have read it.")
        await prompt(agent, session, "Read it")
        for answer, text in (("allow_once", "int c;\n"), ("reject_once", "int d;\n")):
            editor.answer = answer
            place.model.call("rewrite_file", {"file_path": "a.c", "content": "int a;\n" + text})
            place.model.say("Done.")
            assert (await prompt(agent, session, "Change it")).stop_reason == "end_turn"
        assert (place.folder / "a.c").read_text() == "int a;\nint c;\n"
        asked = [call for _, call, _ in editor.questions]
        assert [option.kind for option in editor.questions[0][2]] == [
            "allow_once",
            "allow_always",
            "allow_always",
            "reject_once",
        ]
        (diff,) = [part for part in asked[0].content if part.type == "diff"]
        assert diff.path == str(place.folder / "a.c")
        assert (diff.old_text, diff.new_text) == ("int a;\nint b;\n", "int a;\nint c;\n")
        assert asked[0].kind == "edit" and asked[0].status == "pending"
        assert asked[0].locations[0].path == diff.path
        first, second = (
            [u for _, u in editor.updates if getattr(u, "tool_call_id", "") == call.tool_call_id]
            for call in asked
        )
        assert first[0].session_update == second[0].session_update == "tool_call"
        assert (first[-1].status, second[-1].status) == ("completed", "failed")


async def test_what_is_allowed_always_is_not_asked_again(place: Place) -> None:
    async with place.editor() as (agent, editor, _):
        session = await place.begin(agent)
        editor.answer = "allow_always"
        for text in ("one", "two"):
            place.model.call("rewrite_file", {"file_path": "a.txt", "content": f"{text}\n"})
        place.model.say("Done.")
        await prompt(agent, session, "Write it twice")
        assert (place.folder / "a.txt").read_text() == "two\n"
        assert len(editor.questions) == 1


async def test_in_an_untrusted_folder_nothing_is_written_or_run(place: Place) -> None:
    marker = place.home / "started"
    server = schema.McpServerStdio(name="odd", command="/usr/bin/touch", args=[str(marker)], env=[])
    async with place.editor(trust=False) as (agent, editor, _):
        opened = await agent.new_session(cwd=str(place.folder), mcp_servers=[server])
        place.model.call("rewrite_file", {"file_path": "a.txt", "content": "x\n"})
        place.model.call("execute_script", {"interpreter": "bash", "script": f"touch {marker}"})
        place.model.say("I could not.")
        await prompt(agent, opened.session_id, "/servers")
        with pytest.raises(acp.RequestError):
            await prompt(agent, opened.session_id, f"!touch {marker}")
        ended = await prompt(agent, opened.session_id, "Write it")
        assert ended.stop_reason == "end_turn"
        assert editor.said().count("not trusted") == 1
        assert {call.status for call in editor.calls().values()} == {"failed"}
        assert editor.questions == []
    assert not marker.exists() and list(place.folder.iterdir()) == []


async def test_a_prompt_is_cancelled_at_once(place: Place) -> None:
    async with place.editor() as (agent, editor, _):
        session = await place.begin(agent)
        place.model.say("A long answer that never ends.", stall_after=2)
        before = len(editor.said())
        turn = asyncio.ensure_future(prompt(agent, session, "Tell me"))
        await until(lambda: len(editor.said()) > before)
        await agent.cancel(session_id=session)
        stopped = await asyncio.wait_for(turn, HANGS)
        assert stopped.stop_reason == "cancelled"
        place.model.say("Here I am.")
        assert (await prompt(agent, session, "Again")).stop_reason == "end_turn"


async def test_a_question_that_waits_is_cancelled_too(place: Place) -> None:
    async with place.editor() as (agent, editor, _):
        session = await place.begin(agent)
        editor.answer = ""
        place.model.call("rewrite_file", {"file_path": "a.txt", "content": "x\n"})
        turn = asyncio.ensure_future(prompt(agent, session, "Write it"))
        await asyncio.wait_for(editor.asked.wait(), HANGS)
        await agent.cancel(session_id=session)
        assert (await turn).stop_reason == "cancelled"
        assert not (place.folder / "a.txt").exists()


async def test_a_session_is_resumed_after_the_process_was_killed(place: Place) -> None:
    async with place.editor(command=JARVIS) as (agent, editor, process):
        session = await place.begin(agent)
        place.model.call("update_plan", {"steps": [{"text": "Look", "state": "active"}]})
        place.model.say("I looked.")
        await prompt(agent, session, "Look at it")
        (plan,) = editor.of("plan")
        assert [(step.content, step.status) for step in plan.entries] == [("Look", "in_progress")]
        os.kill(process.pid, signal.SIGKILL)
        await process.wait()
    async with place.editor() as (agent, editor, _):
        listed = await agent.list_sessions(cwd=str(place.folder))
        assert [info.session_id for info in listed.sessions] == [session]
        assert listed.sessions[0].cwd == str(place.folder)
        await agent.load_session(cwd=str(place.folder), session_id=session, mcp_servers=[])
        assert editor.said("user_message_chunk") == "Look at it"
        assert editor.said() == "I looked."
        assert editor.of("plan") == [plan]
        assert editor.calls()["update_plan"].status == "completed"
        place.model.say("I remember.")
        await prompt(agent, session, "Do you remember?")
        messages = json.dumps(place.model.requests[-1].body["messages"])
        assert "Look at it" in messages and "I looked." in messages
        await agent.close_session(session_id=session)
        await agent.resume_session(cwd=str(place.folder), session_id=session, mcp_servers=[])
        assert editor.said("user_message_chunk") == "Look at it"


async def test_two_sessions_do_not_mix(place: Place) -> None:
    other = place.folder / "other"
    other.mkdir()
    async with place.editor() as (agent, editor, _):
        first = await place.begin(agent)
        second = (await agent.new_session(cwd=str(other), mcp_servers=[])).session_id
        place.model.say("Slow and steady", pieces=5, delay=0.05)
        slow = asyncio.ensure_future(prompt(agent, first, "Slowly"))
        await until(lambda: editor.said(session=first) != "")
        place.model.say("Quick")
        await prompt(agent, second, "Quickly")
        await slow
        assert editor.said(session=first) == "Slow and steady"
        assert editor.said(session=second) == "Quick"


async def test_agents_below_are_in_the_tree_and_their_calls_are_asked_about(place: Place) -> None:
    (place.folder / "a.c").write_text("int a;\n")
    async with place.editor() as (agent, editor, _):
        session = await place.begin(agent)
        place.model.call("sub_agent", {"task": "Write b.txt", "title": "Writer"})
        place.model.call("rewrite_file", {"file_path": "b.txt", "content": "b\n"})
        place.model.say("Written.")
        place.model.say("The writer has written it.")
        await prompt(agent, session, "Have it written")
        assert (place.folder / "b.txt").read_text() == "b\n"
        (question,) = editor.questions
        assert question[1].title.startswith("Writer: ")
        assert editor.said() == "The writer has written it."
        trees = [
            update.field_meta["_jarvis/tree"]
            for update in editor.of("session_info_update")
            if update.field_meta
        ]
        root, child = trees[-1]
        assert (child["parent"], child["title"], child["state"]) == (
            root["id"],
            "Writer",
            "completed",
        )
        assert question[1].field_meta == {"_jarvis/node": child["id"]}


async def test_auto_mode_shows_its_tasks_as_the_plan(place: Place) -> None:
    model = AutoModel(place.model, plan_of(a=[], b=["a"]))
    model.plays["DO-b"] = lambda _asked, _turn: model.say("DO-b is done.", delay=0.5)
    async with place.editor() as (agent, editor, _):
        session = await place.begin(agent)
        ended = await prompt(agent, session, "/auto Document the library")
        assert ended.stop_reason == "end_turn"
        assert editor.said().endswith("All is summed up.")
        plans = [[(e.content, e.status) for e in shown.entries] for shown in editor.of("plan")]
        assert [("Task a", "completed"), ("Task b", "in_progress")] in plans
        assert plans[-1] == [("Task a", "completed"), ("Task b", "completed")]
        trees = [info.field_meta for info in editor.of("session_info_update") if info.field_meta]
        titles = [node["title"] for node in trees[-1]["_jarvis/tree"]]
        assert titles == ["Jarvis", "Plan", "Task a", "Task b"]
        (commands, *_) = editor.of("available_commands_update")
        assert "auto" in [command.name for command in commands.available_commands]


async def test_files_pictures_and_texts_of_a_prompt_reach_the_model(place: Place) -> None:
    (place.folder / "my file.c").write_text("int in_my_file;\n")
    text = schema.TextResourceContents(uri="file:///x/note.md", text="the note")
    async with place.editor() as (agent, _, _):
        session = await place.begin(agent)
        place.model.say("Read.")
        await agent.prompt(
            session_id=session,
            prompt=[
                acp.text_block("Compare "),
                acp.resource_link_block("f", (place.folder / "my file.c").as_uri()),
                acp.text_block(" with the note."),
                acp.resource_link_block("odd", "file:///%00%22"),
                acp.resource_link_block("page", "https://example.com/[x"),
                acp.resource_block(text),
            ],
        )
        messages = json.dumps(place.model.requests[-1].body["messages"])
        assert "int in_my_file;" in messages and "the note" in messages
        assert 'Compare @\\"my file.c\\" with the note.' in messages


async def test_mode_and_model_are_chosen(place: Place) -> None:
    async with place.editor() as (agent, editor, _):
        session = await place.begin(agent)
        await agent.set_session_mode(session_id=session, mode_id="edits")
        place.model.call("rewrite_file", {"file_path": "a.txt", "content": "x\n"})
        place.model.say("Done.")
        await prompt(agent, session, "Write it")
        assert (place.folder / "a.txt").exists() and editor.questions == []
        assert [u.current_mode_id for u in editor.of("current_mode_update")] == ["edits"]
        chosen = await agent.set_config_option(
            session_id=session, config_id="model", value="scripted/scripted"
        )
        assert chosen.config_options[0].current_value == "scripted/scripted"
        for change in (
            agent.set_session_mode(session_id=session, mode_id="odd"),
            agent.set_config_option(session_id=session, config_id="odd", value="x"),
            agent.set_config_option(session_id=session, config_id="model", value="no/where"),
        ):
            with pytest.raises(acp.RequestError):
                await change


async def test_tool_servers_of_the_editor_are_used(place: Place) -> None:
    server = schema.McpServerStdio(
        name="plain",
        command=sys.executable,
        args=["-m", "tests.support.tool_server", "plain"],
        env=[schema.EnvVariable(name="PYTHONPATH", value=str(ROOT))],
    )
    async with place.editor() as (agent, editor, _):
        opened = await agent.new_session(cwd=str(place.folder), mcp_servers=[server])
        await prompt(agent, opened.session_id, "/servers plain")
        assert "connected" in editor.said()
        place.model.say("Seen.")
        await prompt(agent, opened.session_id, "Hello")
        offered = [tool["function"]["name"] for tool in place.model.requests[-1].body["tools"]]
        assert "plain__add" in offered


async def test_without_a_model_the_error_says_what_to_set(place: Place) -> None:
    (place.home / "config.toml").unlink()
    async with place.editor() as (agent, editor, _):
        session = await place.begin(agent)
        with pytest.raises(acp.RequestError, match="model"):
            await prompt(agent, session, "Hello")
        assert (await prompt(agent, session, "/help")).stop_reason == "end_turn"
        assert "/scan" in editor.said()


async def test_what_cannot_be_is_refused_with_the_reason(place: Place) -> None:
    async with place.editor() as (agent, _, _):
        session = await place.begin(agent)
        sse = schema.SseMcpServer(type="sse", name="old", url="http://127.0.0.1/sse", headers=[])
        gone = str(place.folder / "gone")
        audio = schema.AudioContentBlock(type="audio", data="", mime_type="audio/wav")
        for refused, why in (
            (agent.new_session(cwd="relative", mcp_servers=[]), "not an absolute path"),
            (agent.new_session(cwd=gone, mcp_servers=[]), "no such folder"),
            (agent.new_session(cwd=str(place.folder), mcp_servers=[sse]), "stdio"),
            (agent.load_session(cwd=gone, session_id="x", mcp_servers=[]), "no such folder"),
            (
                agent.load_session(cwd=str(place.folder), session_id="../../etc", mcp_servers=[]),
                "not a valid session id",
            ),
            (agent.close_session(session_id="nothing"), "not open"),
            (prompt(agent, "nothing", "Hello"), "not open"),
            (prompt(agent, session, "  "), "empty"),
            (agent.prompt(session_id=session, prompt=[audio]), "audio"),
            (agent.list_sessions(cursor="minus one"), "no page"),
            (agent.list_sessions(cwd="/\0"), "not an absolute path"),
        ):
            with pytest.raises(acp.RequestError, match=why):
                await refused
        await agent.cancel(session_id="nothing")
        place.model.say("Still here.")
        assert (await prompt(agent, session, "Hello")).stop_reason == "end_turn"


async def test_a_session_that_is_open_elsewhere_is_refused(place: Place) -> None:
    async with place.editor() as (first, _, _), place.editor() as (second, _, _):
        session = await place.begin(first)
        with pytest.raises(acp.RequestError, match="open elsewhere"):
            await second.load_session(cwd=str(place.folder), session_id=session, mcp_servers=[])


async def test_what_is_no_pipe_is_told_and_not_waited_for(place: Place) -> None:
    process = await asyncio.create_subprocess_exec(
        *quick("jarvis_ls.cli.jarvis"),
        "acp",
        env=place.environment,
        stdin=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    _, errors = await asyncio.wait_for(process.communicate(), HANGS)
    assert process.returncode == 2 and b"must be pipes" in errors


async def test_lines_that_are_no_messages_are_refused_and_the_rest_is_answered(
    place: Place,
) -> None:
    process = await asyncio.create_subprocess_exec(
        *quick("jarvis_ls.cli.jarvis"),
        "acp",
        env=place.environment,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stdin is not None and process.stdout is not None
    nonsense = [
        b"{",
        b"7",
        b"[]",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"jsonrpc": "2.0", "method": 7, "id": 1}',
        b'{"jsonrpc": "2.0", "id": [1], "method": "initialize"}',
        b'{"jsonrpc": "2.0", "id": {"a": 1}, "result": 1}',
    ]
    unknown = [
        b'{"jsonrpc": "2.0", "id": 1, "method": "session/nothing", "params": {}}',
        b'{"jsonrpc": "2.0", "id": 2, "method": "session/new", "params": 5}',
        b'{"jsonrpc": "2.0", "id": 3, "method": "session/prompt", "params": {"prompt": 5}}',
        b'{"jsonrpc": "2.0", "id": 4, "method": "session/new", "params": {"cwd": "\\u0000",'
        b' "mcpServers": []}}',
        b'{"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": 5}}',
        b'{"jsonrpc": "2.0", "id": 99, "result": {}}',
    ]
    good = b'{"jsonrpc": "2.0", "id": 5, "method": "initialize", "params": {"protocolVersion": 1}}'
    process.stdin.write(b"\n".join([*nonsense, b"", *unknown, good, b""]))
    process.stdin.write_eof()
    out, errors = await asyncio.wait_for(process.communicate(), HANGS)
    answers = [json.loads(line) for line in out.splitlines()]
    refused = [answer for answer in answers if answer["id"] is None]
    assert len(refused) == len(nonsense)
    by_id = {answer["id"]: answer for answer in answers if answer["id"] is not None}
    assert set(by_id) == {1, 2, 3, 4, 5}
    assert by_id[1]["error"]["code"] == -32601
    assert all("error" in by_id[number] for number in (2, 3, 4))
    assert by_id[5]["result"]["agentInfo"]["name"] == "jarvis"
    assert process.returncode == 0, errors.decode()


def test_it_answers_before_what_it_does_not_need_yet_is_loaded() -> None:
    params = {"protocolVersion": 1}
    hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
    command = [sys.executable, "-X", "importtime", "-m", "jarvis_ls.cli.jarvis", "acp"]
    text = json.dumps(hello).encode() + b"\n"
    done = subprocess.run(command, input=text, capture_output=True, timeout=HANGS, check=True)
    assert json.loads(done.stdout)["result"]["agentInfo"]["name"] == "jarvis"
    loaded = {line.rpartition(b"|")[2].strip().decode() for line in done.stderr.splitlines()}
    assert "acp.schema" in loaded
    heavy = ["openai", "anthropic", "httpx", "mcp", "tree_sitter", "pygls", "rich", "z3"]
    ours = [f"jarvis_ls.{name}" for name in ("jsec", "jc2r", "agents", "tools")]
    assert not loaded & {*heavy, *ours}
