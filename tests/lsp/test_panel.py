"""The side panel's server side through a real client, against a scripted model over HTTP."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from pathlib import Path

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from jarvis_ls.lsp.protocol import extensions, panel
from jarvis_ls.runtime.base.events import (
    AnswerEntry,
    NoticeEntry,
    SessionPut,
    ToolEntry,
    UserEntry,
)
from tests.lsp.editor import DOUBLE_FREE
from tests.lsp.page import opened
from tests.support.model_server import ModelServer
from tests.support.starting import quick

pytestmark = pytest.mark.watches()

ALLOWED = '[[permissions]]\neffect = "allow"\nkind = "execute"\n'
TEAM = """\
main_agent: lead
agents:
  - {name: lead, description: Leads., summary_on_send: false}
  - {name: reader, description: Reads code., summary_on_send: false}
"""
REQUEST_FAILED = -32803
"""Asked rightly as far as the wire goes; the text says to the user why it cannot be done."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "work"
    made.mkdir()
    (made / "twice.c").write_text(DOUBLE_FREE)
    return made


async def test_without_a_model_the_panel_says_what_to_set_and_commands_run(folder, tmp_path):
    async with opened(folder, tmp_path / "home") as page:
        picture = await page.attach()
        assert not picture.models.ready
        assert "Choose a provider" in picture.models.advice
        assert picture.session == "" and picture.events == ()
        assert picture.folders == ("work",) and picture.suggestions == ()
        await page.send("/scan")
        scanned = await page.answered("1 finding")
        assert "[twice.c:5](twice.c#L5)" in scanned.text and "`double-free`" in scanned.text
        await page.send("/explain double-free")
        await page.answered("CWE-415")
        await page.send("What is this?")
        await page.until(
            lambda: any("JARVIS_MODEL" in one.text for one in page.entries(NoticeEntry))
        )


async def test_an_empty_chat_offers_to_explain_the_findings_at_hand(folder, tmp_path):
    async with ModelServer() as model, opened(folder, tmp_path / "home", model) as page:
        await page.attach()
        await page.send("/scan")
        await page.answered("1 finding")
        (suggestion,) = (await page.attach()).suggestions
        assert suggestion.title.startswith("Explain and fix twice.c:5: ")
        assert "(double-free, twice.c:5)" in suggestion.text


async def test_an_answer_streams_into_the_page(folder, tmp_path):
    async with ModelServer() as model:
        model.say("Hello, this is the answer.", thinking="Let me see.", pieces=8)
        async with opened(folder, tmp_path / "home", model) as page:
            picture = await page.attach()
            assert picture.models.ready and picture.models.advice == ""
            await page.until(
                lambda: (
                    page.editor.statuses
                    and getattr(page.editor.statuses[-1], "model", "") == "ready"
                )
            )
            session = await page.send("Hi")
            answer = await page.answered("this is the answer")
            assert answer.thinking == "Let me see."
            assert answer.usage.input == 11
            await page.rest()
            assert [one.text for one in page.entries(UserEntry)] == ["Hi"]
            again = await page.attach(session)
            assert again.sessions[0].id == session
            assert page.entries(AnswerEntry)[0] == answer
            assert model.requests[0].headers["authorization"] == "Bearer sk-test-0123456789"


async def test_a_turn_that_failed_goes_on_when_it_is_tried_again(folder, tmp_path):
    async with ModelServer() as model:
        model.refuse(401, message="this key has expired")
        async with opened(folder, tmp_path / "home", model) as page:
            await page.attach()
            session = await page.send("Hi")
            await page.until(
                lambda: any("has expired" in one.text for one in page.entries(NoticeEntry))
            )
            await page.until(lambda: page.nodes()["root"].state == "failed")
            model.say("Now it works.")
            await page.ask(panel.ControlAsk(session, "root", "retry"))
            await page.answered("Now it works.")


async def test_a_tool_is_allowed_and_another_denied(folder, tmp_path):
    async with ModelServer() as model:
        arguments = {"file_path": "new.txt", "content": "made\n"}
        model.call("rewrite_file", arguments)
        model.say("First done.")
        model.call("rewrite_file", {**arguments, "file_path": "other.txt"})
        model.say("Second done.")
        async with opened(folder, tmp_path / "home", model) as page:
            await page.attach()
            await page.send("Write a file")
            asked = await page.asked()
            assert asked.edits[0].path == "new.txt"
            await page.ask(panel.ReviewAsk(page.session, asked.id, {"new.txt": [0]}))
            await page.answered("First done.")
            assert (folder / "new.txt").read_text() == "made\n"
            await page.rest()
            await page.send("Another")
            asked = await page.asked()
            await page.ask(panel.ReviewAsk(page.session, asked.id, {}, note="not that one"))
            await page.answered("Second done.")
            assert not (folder / "other.txt").exists()
            [denied] = [t for t in page.entries(ToolEntry) if t.state == "denied"]
            assert denied.reason == "not that one"
            assert "not that one" in str(model.requests[-1].body["messages"])


async def test_edits_are_taken_hunk_by_hunk(folder, tmp_path):
    (folder / "list.txt").write_text("".join(f"line {n}\n" for n in range(1, 30)))
    async with ModelServer() as model:
        new = (folder / "list.txt").read_text().replace("line 2\n", "LINE 2\n")
        new = new.replace("line 20\n", "LINE 20\n").replace("line 28\n", "LINE 28\n")
        model.call("read_code", {"files": [{"path": "list.txt"}]})
        model.call("rewrite_file", {"file_path": "list.txt", "content": new})
        model.say("Partly.")
        async with opened(folder, tmp_path / "home", model) as page:
            await page.attach()
            await page.send("Change it")
            asked = await page.asked()
            [edit] = asked.edits
            assert [hunk.index for hunk in edit.hunks] == [0, 1, 2]
            sides = [
                (await page.ask(panel.SideAsk(page.session, asked.id, "list.txt", side))).text
                for side in ("before", "after")
            ]
            assert sides == [(folder / "list.txt").read_text(), new]
            await page.ask(panel.ReviewAsk(page.session, asked.id, {"list.txt": [0, 2]}))
            await page.answered("Partly.")
            text = (folder / "list.txt").read_text()
            assert "LINE 2\n" in text and "LINE 28\n" in text and "LINE 20\n" not in text
            explored = await page.ask(panel.ExplorerAsk(page.session))
            [file] = explored.files
            assert (file.path, file.change, file.added, file.removed) == (
                "list.txt",
                "modify",
                2,
                2,
            )
            assert file.entries == (asked.id,)
            before = await page.ask(panel.SideAsk(page.session, asked.id, "list.txt", "before"))
            assert before.text == sides[0]


async def test_a_mode_that_is_chosen_first_holds_for_the_session_that_begins(folder, tmp_path):
    (folder / "list.txt").write_text("one\n")
    async with ModelServer() as model, opened(folder, tmp_path / "home", model) as page:
        await page.attach()
        model.call("rewrite_file", {"file_path": "list.txt", "content": "two\n"})
        model.say("A plan.")
        chosen, sent = await asyncio.gather(
            page.ask(panel.SetModeAsk("", "plan")),
            page.ask(panel.SendAsk("", "Change it")),
        )
        assert chosen.session == sent.session
        picture = await page.attach(chosen.session)
        assert [e.session.mode for e in picture.events if isinstance(e, SessionPut)] == ["plan"]
        await page.answered("A plan.")
        assert (folder / "list.txt").read_text() == "one\n"
        assert [entry.state for entry in page.entries(ToolEntry)] == ["denied"]


@pytest.mark.skipif(sys.platform != "linux", reason="sandboxes are Linux's so far")
async def test_a_script_in_the_background_is_stopped_and_goes_on_unseen(folder, tmp_path):
    async with (
        ModelServer() as model,
        opened(folder, tmp_path / "home", model, settings=ALLOWED) as page,
    ):
        await page.attach()
        for _ in range(2):
            script = "echo ready; sleep 600"
            model.call("execute_script", {"script": script, "background": True})
        model.say("They run.")
        await page.send("Run them")
        await page.answered("They run.")
        await page.until(lambda: all("ready" in e.output for e in page.entries(ToolEntry)))
        session = page.session
        first, _ = page.entries(ToolEntry)
        await page.ask(panel.EndScriptAsk(session, first.id))
        await page.until(lambda: page.entries(ToolEntry)[0].state == "cancelled")
        page.take(await page.ask(panel.NewSessionAsk()))
        await page.attach(session)
        assert [e.state for e in page.entries(ToolEntry)] == ["cancelled", "running"]


async def test_without_a_sandbox_the_user_reads_why_nothing_runs_and_is_not_asked(folder, tmp_path):
    settings = "[sandbox]\nrungs = []\n"
    async with (
        ModelServer() as model,
        opened(folder, tmp_path / "home", model, settings=settings) as page,
    ):
        await page.attach()
        model.call("execute_script", {"script": "echo out >made.txt"})
        model.say("It cannot be run.")
        await page.send("Run it")
        await page.answered("It cannot be run.")
        [entry] = page.entries(ToolEntry)
        assert entry.state == "denied" and entry.reason.startswith("No sandbox holds")
        assert not (folder / "made.txt").exists()


async def test_stop_is_at_once_and_what_was_said_stays(folder, tmp_path):
    async with ModelServer() as model:
        model.say("The beginning of a long answer", stall_after=2)
        async with opened(folder, tmp_path / "home", model) as page:
            await page.attach()
            await page.send("Go")
            await page.until(lambda: any(a.text for a in page.entries(AnswerEntry)))
            await page.ask(panel.StopAsk(""))
            assert all(not a.streaming for a in page.entries(AnswerEntry))
            await page.until(lambda: page.nodes()["root"].state == "cancelled")
            await page.until(lambda: model.dropped == 1)
            model.say("I am back.")
            await page.send("Go on")
            await page.answered("I am back.")


async def test_words_said_meanwhile_are_queued(folder, tmp_path):
    async with ModelServer() as model:
        model.call("rewrite_file", {"file_path": "a.txt", "content": "a\n"})
        model.say("Seen both.")
        async with opened(folder, tmp_path / "home", model) as page:
            await page.attach()
            await page.send("First")
            asked = await page.asked()
            await page.send("Second")
            await page.until(lambda: any(u.queued for u in page.entries(UserEntry)))
            await page.ask(panel.ReviewAsk(page.session, asked.id, {"a.txt": [0]}))
            await page.answered("Seen both.")
            said = str(model.requests[-1].body["messages"])
            assert "First" in said and "Second" in said
            assert not any(u.queued for u in page.entries(UserEntry))


async def test_one_file_is_brought_back_and_the_others_stay(folder, tmp_path):
    async with ModelServer() as model:
        for name in ("a.txt", "b.txt"):
            model.call("rewrite_file", {"file_path": name, "content": "new\n"})
        model.say("Both done.")
        async with opened(folder, tmp_path / "home", model) as page:
            await page.attach()
            await page.send("Write two")
            for name in ("a.txt", "b.txt"):
                asked = await page.asked()
                await page.ask(panel.ReviewAsk(page.session, asked.id, {name: [0]}))
                await page.until(lambda name=name: (folder / name).exists())
            await page.answered("Both done.")
            await page.rest()
            [said] = page.entries(UserEntry)
            with pytest.raises(JsonRpcException):
                await page.ask(panel.RewindAsk(page.session, said.id, "both", ("a.txt",)))
            with pytest.raises(JsonRpcException):
                await page.ask(panel.RewindAsk(page.session, said.id, "files", ("a.txt",), 7))
            done = await page.ask(panel.RewindAsk(page.session, said.id, "files", ("a.txt",)))
            assert done.files == ("a.txt",)
            assert not (folder / "a.txt").exists()
            assert (folder / "b.txt").read_text() == "new\n"
            assert page.entries(UserEntry) == [said]


async def test_rewind_brings_back_files_and_conversation(folder, tmp_path):
    async with ModelServer() as model:
        model.say("One.")
        model.call("rewrite_file", {"file_path": "new.txt", "content": "x\n"})
        model.say("Two.")
        async with opened(folder, tmp_path / "home", model) as page:
            await page.attach()
            await page.send("First")
            await page.answered("One.")
            await page.rest()
            await page.send("Second")
            asked = await page.asked()
            await page.ask(panel.ReviewAsk(page.session, asked.id, {"new.txt": [0]}))
            await page.answered("Two.")
            await page.rest()
            second = page.entries(UserEntry)[-1]
            explored = await page.ask(panel.ExplorerAsk(page.session))
            point = next(one for one in explored.checkpoints if one.entry == second.id)
            changed = await page.ask(panel.ChangesAsk(page.session, point.id))
            assert [(e.path, e.change) for e in changed.edits] == [("new.txt", "create")]
            done = await page.ask(panel.RewindAsk(page.session, second.id, "both"))
            assert done.text == "Second" and done.files == ("new.txt",)
            assert not (folder / "new.txt").exists()
            await page.until(lambda: [u.text for u in page.entries(UserEntry)] == ["First"])
            again = await page.attach(page.session)
            assert again.session and [u.text for u in page.entries(UserEntry)] == ["First"]
            model.say("Three.")
            await page.send("Other")
            await page.answered("Three.")
            said = str(model.requests[-1].body["messages"])
            assert "First" in said and "Second" not in said
            forked = await page.ask(panel.ForkAsk(page.session, page.entries(UserEntry)[-1].id))
            await page.attach(forked.session)
            assert [u.text for u in page.entries(UserEntry)] == ["First"]


async def test_a_session_comes_back_after_the_server_was_killed(folder, tmp_path):
    async with ModelServer() as model:
        model.say("Before the end.")
        model.call("rewrite_file", {"file_path": "new.txt", "content": "x\n"})
        with pytest.raises(Exception):  # noqa: B017 - however the client sees it
            async with opened(folder, tmp_path / "home", model) as page:
                await page.attach()
                session = await page.send("Remember this")
                await page.answered("Before the end.")
                await page.rest()
                await page.send("And this")
                asked = await page.asked()
                shown = page.entries(AnswerEntry)
                page.editor.client._server.kill()
                await page.editor.client._server.wait()
        async with opened(folder, tmp_path / "home", model) as page:
            listed = await page.ask(panel.SessionsAsk())
            assert session in [one.id for one in listed.sessions]
            found = await page.ask(panel.SessionsAsk("remember THIS"))
            assert [one.id for one in found.sessions] == [session]
            await page.attach(session)
            assert page.entries(AnswerEntry)[: len(shown)] == shown
            assert [u.text for u in page.entries(UserEntry)] == ["Remember this", "And this"]
            [call] = [t for t in page.entries(ToolEntry) if t.id == asked.id]
            assert call.state == "cancelled"
            model.say("Still known.")
            await page.send("Go on")
            await page.answered("Still known.")
            assert "Remember this" in str(model.requests[-1].body["messages"])
            assert not (folder / "new.txt").exists()


async def test_agents_that_sent_each_other_messages_are_in_the_panel(folder, tmp_path):
    home, team = tmp_path / "home", tmp_path / "team.yaml"
    team.write_text(TEAM)
    async with ModelServer() as model, opened(folder, home, model) as page:
        model.call("send_message", {"to": "reader", "content": "Read twice.c"})
        model.call("send_message", {"to": "lead", "content": "It frees twice."})
        model.say("Line 5 frees twice.")
        run = [*quick("jarvis_ls.cli.jarvis"), "multi", "-c", team, "-i", "Is it right?", "-n"]
        process = await asyncio.create_subprocess_exec(
            *run, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        out, err = await process.communicate()
        assert (process.returncode, out) == (0, b"Line 5 frees twice.\n"), err
        picture = await page.attach()
        picture = await page.attach(picture.sessions[0].id)
        assert [node.title for node in page.nodes().values()] == ["Jarvis", "reader"]
        assert page.entries(AnswerEntry)[-1].text == "Line 5 frees twice."
        (reader,) = (node.id for node in page.nodes().values() if node.title == "reader")
        (sent,) = page.entries(ToolEntry, reader)
        assert (sent.name, sent.state) == ("send_message", "done")


async def test_a_page_that_comes_back_finds_what_is_asked(folder, tmp_path):
    async with ModelServer() as model:
        model.call("rewrite_file", {"file_path": "new.txt", "content": "x\n"})
        model.say("Fine.")
        async with opened(folder, tmp_path / "home", model) as page:
            await page.attach()
            session = await page.send("Write")
            asked = await page.asked()
            await page.ask(panel.NewSessionAsk())  # another session is looked at meanwhile
            picture = await page.attach(session)
            assert next(s for s in picture.sessions if s.id == session).working
            assert (await page.asked()).id == asked.id
            await page.ask(panel.ReviewAsk(session, asked.id, {"new.txt": [0]}))
            await page.answered("Fine.")
            with pytest.raises(Exception, match="not open any more"):
                await page.ask(panel.ReviewAsk(session, asked.id, {}))


async def test_in_a_workspace_that_is_not_trusted_nothing_is_written_or_run(folder, tmp_path):
    (folder / ".jarvis" / "skills").mkdir(parents=True)
    async with ModelServer() as model:
        model.call("rewrite_file", {"file_path": "new.txt", "content": "x\n"})
        model.call("execute_script", {"script_content": "touch ran.txt"})
        model.say("Could not.")
        async with opened(folder, tmp_path / "home", model, options={"trusted": False}) as page:
            picture = await page.attach()
            assert not picture.trusted
            await page.send("Write")
            await page.answered("Could not.")
            assert {t.state for t in page.entries(ToolEntry)} <= {"denied", "failed"}
            assert {p.name for p in folder.iterdir()} == {"twice.c", ".jarvis"}


async def test_keys_from_the_editor_reach_the_model_and_nothing_else(folder, tmp_path):
    home = tmp_path / "home"
    async with ModelServer() as model:
        model.say("Hello.")
        async with opened(folder, home, model, keys=False) as page:
            assert not (await page.attach()).models.ready
            params = {"keys": {"SCRIPTED_KEY": "sk-secret-of-the-editor-1234"}}
            assert await page.editor.request("jarvis/panel/keys", params) is True
            assert (await page.attach()).models.ready
            await page.send("Hi")
            await page.answered("Hello.")
            bearer = model.requests[0].headers["authorization"]
            assert bearer == "Bearer sk-secret-of-the-editor-1234"
            with pytest.raises(Exception, match="environment variable"):
                await page.editor.request("jarvis/panel/keys", {"keys": {"A B": "x"}})
        for file in home.rglob("*"):
            assert not file.is_file() or b"secret-of-the-editor" not in file.read_bytes(), file


async def test_a_file_open_in_the_editor_is_changed_there(folder, tmp_path):
    text = "int one;\nint two;\n"
    (folder / "open.c").write_text(text)
    async with ModelServer() as model:
        new = "int one;\nint 2;\n"
        model.call("read_code", {"files": [{"path": "open.c"}]})
        model.call("rewrite_file", {"file_path": "open.c", "content": new})
        model.say("Changed.")
        async with opened(folder, tmp_path / "home", model) as page:
            uri = (folder / "open.c").as_uri()
            page.editor.open(uri, text)
            applied = []

            def apply(params: types.ApplyWorkspaceEditParams) -> types.ApplyWorkspaceEditResult:
                applied.append(page.editor.apply(params.edit))
                return types.ApplyWorkspaceEditResult(applied=True)

            page.editor.client.feature(types.WORKSPACE_APPLY_EDIT)(apply)
            await page.attach()
            await page.send("Change")
            asked = await page.asked()
            await page.ask(panel.ReviewAsk(page.session, asked.id, {"open.c": [0]}))
            await page.answered("Changed.")
            assert page.editor.texts[uri] == new and len(applied) == 1
            assert (folder / "open.c").read_text() == text  # the editor saves it


async def test_what_a_page_asks_wrongly_is_refused_in_words(folder, tmp_path):
    async with opened(folder, tmp_path / "home") as page:
        await page.attach()
        for ask in (
            {},
            {"kind": "nothing"},
            {"kind": "send", "session": "", "text": 7},
            {"kind": "send", "session": "", "text": " "},
            {"kind": "send", "session": "../../etc", "text": "x"},
            {"kind": "export", "session": "nothing"},
            {"kind": "permit", "session": "", "entry": "x", "allowed": True},
            {"kind": "rewind", "session": "x", "entry": "x", "what": "both"},
            {"kind": "pick_model", "session": "", "group": "nonsense/model"},
            {"kind": "delete", "session": ""},
            {"kind": "side", "session": "", "entry": "x", "path": "../x", "side": "before"},
        ):
            with pytest.raises(JsonRpcException) as raised:
                await page.editor.request(extensions.PANEL_ASK, {"ask": ask})
            assert raised.value.code == REQUEST_FAILED, (ask, raised.value)
        assert (await page.attach("gone-session")).session == ""


async def test_memory_completion_models_and_settings(folder, tmp_path):
    async with ModelServer() as model, opened(folder, tmp_path / "home", model) as page:
        await page.attach()
        made = await page.ask(panel.SaveMemoryAsk("global", "Answer in English", ("tone",)))
        assert made.path.endswith(f"{made.id}.json")
        await page.ask(panel.SaveMemoryAsk("project", "Keys are in keys.c"))
        listed = await page.ask(panel.MemoriesAsk("english"))
        assert [(one.memory, one.content, one.tags) for one in listed.items] == [
            ("global", "Answer in English", ("tone",))
        ]
        await page.ask(panel.SaveMemoryAsk("global", "Answer in Chinese", ("tone",), made.id))
        await page.ask(panel.DeleteMemoryAsk("global", made.id))
        listed = await page.ask(panel.MemoriesAsk())
        assert [one.content for one in listed.items] == ["Keys are in keys.c"]
        found = await page.ask(panel.CompleteAsk("@", "twi"))
        assert [one.insert for one in found.items] == ["@twice.c"]
        found = await page.ask(panel.CompleteAsk("/", "sc"))
        assert [one.insert for one in found.items] == ["/scan"]
        found = await page.ask(panel.CompleteAsk("/", "explain double-f"))
        assert [one.insert for one in found.items] == ["/explain double-free"]
        state = await page.ask(panel.ModelsAsk())
        assert [(one.name, one.ready) for one in state.choices] == [
            ("balanced", True),
            ("scripted/scripted", True),
        ]
        assert (await page.ask(panel.PickModelAsk("", "scripted/scripted"))).current == (
            "scripted/scripted"
        )
        shown = await page.ask(panel.SettingsAsk())
        assert shown.file.endswith("config.toml")
        assert [p.ready for p in shown.providers if p.name == "scripted"] == [True]


async def test_attachments_go_along(folder, tmp_path):
    async with ModelServer() as model:
        model.say("Seen.")
        async with opened(folder, tmp_path / "home", model) as page:
            await page.attach()
            await page.send(
                "Look",
                attachments=(
                    panel.Attachment("file", "twice.c"),
                    panel.Attachment("selection", "twice.c", 0, 4, 5, "free(p);\n```\nfree(p);"),
                    panel.Attachment("diagnostics", "twice.c", text="5:10 error: freed twice"),
                ),
            )
            await page.answered("Seen.")
            said = [one["content"] for one in model.requests[0].body["messages"]]
            text = "\n".join(
                one if isinstance(one, str) else "".join(part["text"] for part in one)
                for one in said
            )
            assert "void twice(char *p)" in text
            assert "twice.c:4-5\n````\nfree(p);\n```\nfree(p);\n````" in text
            assert "freed twice" in text


async def test_sessions_are_named_exported_and_deleted(folder, tmp_path):
    async with ModelServer() as model:
        model.say("Hello.")
        async with opened(folder, tmp_path / "home", model) as page:
            await page.attach()
            session = await page.send("Hi")
            await page.answered("Hello.")
            await page.rest()
            await page.ask(panel.RenameAsk(session, "A / name"))
            exported = await page.ask(panel.ExportAsk(session))
            assert exported.name == "A name.md" and "Hello." in exported.markdown
            await page.attach(session)
            await page.ask(panel.NewSessionAsk())
            await page.ask(panel.RenameAsk(session, "Another name"))
            listed = await page.ask(panel.SessionsAsk())
            assert [one.title for one in listed.sessions] == ["Another name"]
            await page.ask(panel.DeleteAsk(session))
            assert (await page.ask(panel.SessionsAsk())).total == 0


async def test_a_chinese_editor_gets_chinese(folder, tmp_path):
    async with opened(folder, tmp_path / "home", locale="zh-cn") as page:
        picture = await page.attach()
        assert picture.locale == "zh-cn"
        assert "选择服务商，输入其密钥" in picture.models.advice
        assert all(re.search("[\u4e00-\u9fff]", one.title) for one in picture.commands)


def test_nothing_of_the_agents_is_loaded_before_the_panel_is_used():
    code = """
import asyncio, sys
from jarvis_ls.lsp.analysis_worker import AnalysisWorker
from jarvis_ls.lsp.start import make_server

async def main():
    server = make_server(AnalysisWorker())
    assert "jarvis/panel/ask" in server.protocol.fm.features
    heavy = ("jarvis_ls.runtime", "jarvis_ls.agents", "jarvis_ls.assembly", "jarvis_ls.tools",
             "jarvis_ls.lsp.panel.bridge", "openai", "anthropic", "mcp", "pydantic", "yaml", "ssl")
    print([name for name in sys.modules if name.startswith(heavy) and sys.modules[name]])

sys.modules["ssl"] = None
asyncio.run(main())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n", done.stdout


def test_the_offered_commands_are_those_of_a_conversation():
    from jarvis_ls.assembly.commands import builtin_commands
    from jarvis_ls.lsp.panel.agent_mode import COMMAND as AGENT_MODE
    from jarvis_ls.lsp.panel.commands import COMMANDS
    from jarvis_ls.lsp.panel.settings import Commands
    from jarvis_ls.lsp.user_messages import Messages

    offered = {one.name for one in Commands(Messages()).items()}
    own = {f"/{one.name}" for one in builtin_commands(None)}  # type: ignore[arg-type]
    assert offered == own | {one.name for one in COMMANDS} | {AGENT_MODE}


async def test_a_session_that_another_program_has_open_can_be_read(folder, tmp_path):
    async with ModelServer() as model:
        model.say("Hello.")
        async with opened(folder, tmp_path / "home", model) as page:
            await page.attach()
            session = await page.send("Hi")
            await page.answered("Hello.")
            await page.rest()
        code = (
            "import sys; from pathlib import Path;"
            "from jarvis_ls.runtime.session.store import SessionStore;"
            "held = SessionStore(Path(sys.argv[1])).open(sys.argv[2]);"
            "print('held', flush=True); sys.stdin.read()"
        )
        other = subprocess.Popen(
            [sys.executable, "-c", code, str(tmp_path / "home"), session],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            assert other.stdout is not None and other.stdout.readline() == "held\n"
            async with opened(folder, tmp_path / "home", model) as page:
                picture = await page.attach(session)
                assert picture.session == session
                await page.answered("Hello.")
                with pytest.raises(JsonRpcException, match="has it open"):
                    await page.send("More")
        finally:
            other.communicate("")
