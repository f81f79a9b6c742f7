"""What the user types before a model sees it."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest

from jarvis_ls.core.errors import UsageError
from jarvis_ls.runtime.agent.user_input import (
    Command,
    Commands,
    Files,
    Input,
    InputContext,
    InputHandler,
    Inputs,
    Shell,
)
from jarvis_ls.runtime.base.messages import Image, User
from jarvis_ls.runtime.context.mentions import FILE_CHARACTERS, mentions, not_found
from jarvis_ls.runtime.tools.approval import Approved
from jarvis_ls.runtime.tools.interaction import asking
from jarvis_ls.runtime.tools.permissions import Answer, PermissionRule, Permissions
from jarvis_ls.runtime.tools.tool import Action, ToolContext, Tools, tool
from tests.support.agents import Desk, Person, desk

RAN: list[str] = []
PICTURE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


@tool(actions=lambda a: [Action("execute", a["script"])])
async def execute_script(context: ToolContext, script: str) -> str:
    """Run."""
    RAN.append(script)
    return f"ran {script}"


def place(
    d: Desk, *, gate: Permissions | None = None, person: Person | None = None
) -> InputContext:
    agent = d.agent(execute_script, person=person)
    toolset: Any = Tools([execute_script])
    if gate is not None:
        toolset = Approved(toolset, gate, asking(person or Person()))
    return InputContext(agent.context, toolset, agent.showing, person or Person())


async def given(d: Desk, text: str, permissions: Permissions | None = None) -> Input:
    return await Inputs([Files(permissions)]).handle(text, (), place(d))


@pytest.fixture(autouse=True)
def _empty() -> None:
    RAN.clear()


async def test_the_chain_goes_on_until_one_is_done(tmp_path: Path) -> None:
    class Add(InputHandler):
        def __init__(self, text: str, done: bool = False) -> None:
            self.text, self.done = text, done

        async def handle(self, said: Input, place: InputContext) -> Input:
            return Input(said.text + self.text, said.images, self.done)

    async with desk(tmp_path) as d:
        chain = Inputs([Add("1"), Add("2", done=True), Add("3")])
        assert await chain.handle("0", (), place(d)) == Input("012", done=True)
        chain = Inputs([Add("1"), Add("2")])
        assert await chain.handle("several\nlines", (), place(d)) == Input("several\nlines12")


async def test_what_a_handler_raises_is_shown_and_asks_no_model(tmp_path: Path) -> None:
    class Fails(InputHandler):
        async def handle(self, said: Input, place: InputContext) -> Input:
            raise UsageError("It cannot be done.")

    async with desk(tmp_path) as d:
        said = await Inputs([Fails()]).handle("x", (), place(d))
    assert said == Input("It cannot be done.", done=True, failed=True)


async def test_commands(tmp_path: Path) -> None:
    async def later(rest: str, _: InputContext) -> str:
        return f"later {rest}"

    commands = Commands(
        [
            Command("now", "At once", lambda rest, _: f"now {rest!r}", "<what>"),
            Command("later", "Later", later),
            Command("tell", "Ask the model", lambda rest, _: Input(f"Tell me about {rest}")),
        ]
    )
    async with desk(tmp_path) as d:
        where = place(d)

        async def typed(text: str) -> Input:
            return await Inputs([commands]).handle(text, (), where)

        assert await typed("/now a b\nc") == Input("now 'a b\\nc'", done=True)
        assert await typed("  /NOW ") == Input("now ''", done=True)
        assert await typed("/later x") == Input("later x", done=True)
        assert await typed("/tell me") == Input("Tell me about me")
        for text in ("/usr/bin/env", "/ now", "look at /now", "//", "/now/x"):
            assert await typed(text) == Input(text)
        unknown = await typed("/nwo")
        assert unknown.done and "Unknown command /nwo" in unknown.text and "/now" in unknown.text
        told = (await typed("/help")).text
        assert "`/now <what>`: At once" in told and told.index("/help") < told.index("/now")
    with pytest.raises(ValueError, match="two commands /now"):
        commands.add(Command("now", "Again", lambda *_: ""))


async def test_shell_commands_pass_the_gate_and_reach_the_next_question(tmp_path: Path) -> None:
    person = Person()
    async with desk(tmp_path) as d:
        said = await Inputs([Shell()]).handle(
            "!echo hi", (), place(d, gate=Permissions(), person=person)
        )
        assert said.done and RAN == ["echo hi"]
        assert [a.tool for a in person.permits] == ["execute_script"]
        assert [(c.state, c.output) for c in d.calls] == [("done", "ran echo hi")]
        kept = d.messages()[-1]
        assert isinstance(kept, User) and "`echo hi`" in kept.text and "ran echo hi" in kept.text


async def test_a_shell_command_that_is_refused_is_not_run(tmp_path: Path) -> None:
    person = Person()
    person.answer = Answer(False, note="Not that.")
    async with desk(tmp_path) as d:
        await Inputs([Shell()]).handle("!rm x", (), place(d, gate=Permissions(), person=person))
        denied = Permissions([PermissionRule("deny", target="curl *")])
        await Inputs([Shell()]).handle("!curl http://x", (), place(d, gate=denied))
    assert RAN == [] and [c.state for c in d.calls] == ["denied", "denied"]


async def test_who_types_a_command_has_consented_to_it(tmp_path: Path) -> None:
    """Nobody is asked about it; a rule that denies holds, and so does an untrusted workspace."""
    person = Person()
    async with desk(tmp_path) as d:
        for text, gate in [
            ("!make all", Permissions()),
            ("!make; curl x", Permissions([PermissionRule("deny", target="curl *")])),
            ("!make", Permissions(read_only="It is not trusted.")),
        ]:
            where = place(d, gate=gate, person=person)
            await Inputs([Shell(text)]).handle(text, (), where)
    assert RAN == ["make all"] and person.permits == []
    assert [call.state for call in d.calls] == ["done", "denied", "denied"]


async def test_text_that_was_not_typed_is_asked_about(tmp_path: Path) -> None:
    """A predefined task of the workspace may begin like a command."""
    person = Person()
    commands = Commands([Command("task", "Of the workspace", lambda *_: Input("!rm -rf src"))])
    person.answer = Answer(False)
    async with desk(tmp_path) as d:
        where = place(d, gate=Permissions(), person=person)
        await Inputs([commands, Shell("/task")]).handle("/task", (), where)
    assert RAN == [] and len(person.permits) == 1


async def test_shell_without_a_command_or_a_tool(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        where = place(d)
        assert (await Inputs([Shell()]).handle("!", (), where)).done
        assert (await Inputs([Shell()]).handle("look!", (), where)) == Input("look!")
        bare = InputContext(where.context, Tools(()), where.showing, where.interaction)
        said = await Inputs([Shell()]).handle("!ls", (), bare)
        assert said.done and "cannot be run" in said.text


def workspace(folder: Path) -> Path:
    (folder / "src").mkdir()
    (folder / "src" / "a.c").write_text("one\ntwo\nthree\nfour\n")
    (folder / "with blank.txt").write_text("blank\n")
    (folder / "中文.md").write_text("# 标题\n")
    (folder / "shot.png").write_bytes(PICTURE)
    (folder / "data.bin").write_bytes(b"\0\1\2")
    return folder


async def test_files_are_handed_over(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        workspace(d.folder)
        said = await given(d, "Explain @src/a.c, please.")
        assert said.text.startswith('Explain @src/a.c, please.\n\n<file path="src/a.c">\n1\tone')
        assert "4\tfour\n</file>" in said.text and not said.done
        assert (
            '<file path="src/a.c" lines="2-3">\n2\ttwo\n3\tthree\n</file>'
            in (await given(d, "@src/a.c:2-3")).text
        )
        assert 'lines="2-3">\n2\ttwo\n3\tthree\n</' in (await given(d, "@src/a.c:3-2")).text
        assert 'lines="1-2">\n1\tone\n2\ttwo\n</' in (await given(d, "@src/a.c:0-2")).text
        assert "4\tfour" in (await given(d, "line @src/a.c:4.")).text
        assert "1\tblank" in (await given(d, 'see @"with blank.txt"')).text
        assert "1\tblank" in (await given(d, 'see @"with blank.txt":1-9')).text
        assert "1\t# 标题" in (await given(d, "看 @中文.md。")).text
        assert (await given(d, "@src/a.c and @src/a.c")).text.count("<file") == 1


async def test_folders_pictures_and_what_cannot_be_read(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        workspace(d.folder)
        assert '<folder path="src">\na.c\n</folder>' in (await given(d, "@src")).text
        said = await given(d, "what is @shot.png?")
        assert said.images == (Image("image/png", base64.b64encode(PICTURE).decode()),)
        assert "not attached" in (await given(d, "@data.bin")).text
        (d.folder / "photo.png").write_bytes(b"\xff\xd8\xff\xe0\0\x10JFIF")
        assert (await given(d, "@photo.png")).images[0].media_type == "image/jpeg"
        (d.folder / "page.png").write_text("<html>not found</html>")
        said = await given(d, "@page.png")
        assert not said.images and "page.png was not attached: it is not an image" in said.text
        assert "nothing at line 9" in (await given(d, "@src/a.c:9")).text


@pytest.mark.parametrize(
    "text",
    [
        "mail me@src/a.c",
        "@Override",
        "@app.route('/x')",
        "@types/node",
        "@",
        "@src/a.c.bak",
        "@property.setter",
        '@""',
        "@\0",
        "import x from '@scope/pkg/index.js'",
        "https://host/@me/a.js",
    ],
)
async def test_what_is_no_file_of_the_workspace_is_only_text(tmp_path: Path, text: str) -> None:
    async with desk(tmp_path) as d:
        workspace(d.folder)
        assert await given(d, text) == Input(text)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("see @src/b.c:3, please", "`src/b.c`"),
        ("@../outside.txt", "`../outside.txt`"),
        ('@"/etc/passwd" and @"no such"', "`/etc/passwd`, `no such`"),
        ("（@docs/说明.md）", "`docs/说明.md`"),
        ("@missing.c too", "`missing.c`"),
        ("@link.txt", "`link.txt`"),
    ],
)
async def test_a_file_that_is_not_there_is_named(tmp_path: Path, text: str, names: str) -> None:
    """Who names a file believes that it goes along."""
    async with desk(tmp_path) as d:
        workspace(d.folder)
        (tmp_path / "outside.txt").write_text("secret")
        (d.folder / "link.txt").symlink_to(tmp_path / "outside.txt")
        said = await given(d, text)
        notice = d.notices
    assert notice == f"Not found in the workspace, so not attached: {names}"
    assert said.text == f"{text}\n\n({notice})" and "secret" not in said.text


async def test_lines_that_are_not_there_are_told_the_user_too(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        workspace(d.folder)
        await given(d, "@src/a.c:9")
        assert d.notices == "src/a.c has 4 lines; there is nothing at line 9."


def test_names_that_are_found_are_not_missed(tmp_path: Path) -> None:
    workspace(tmp_path)
    text = '@src/a.c:1-2 @"with blank.txt" @src/b.c @src/b.c, @src'
    assert not_found(text, [tmp_path]) == ["src/b.c"]


async def test_long_files_keep_their_ends_and_many_files_have_a_limit(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        (d.folder / "long").write_text("".join(f"line {n}\n" for n in range(20_000)))
        said = (await given(d, "@long")).text
        assert len(said) < FILE_CHARACTERS + 200 and "lines left out" in said
        assert "1\tline 0" in said and "20000\tline 19999" in said
        for number in range(25):
            (d.folder / f"f{number}").write_text("x")
        said = (await given(d, " ".join(f"@f{n}" for n in range(25)))).text
        assert said.count("<file") == 20 and "Only the first 20" in said


async def test_what_may_not_be_read_is_not_handed_over(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        (d.folder / ".env").write_text("KEY=secret")
        rules = Permissions([PermissionRule("deny", kind="read", target=".env")])
        said = (await given(d, "look at @.env", rules)).text
    assert "secret" not in said and "not attached" in said


async def test_an_agent_reads_its_words_through_the_chain(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        workspace(d.folder)
        d.server.say("Four lines.")
        commands = Commands([Command("hello", "Hello", lambda *_: "Hello yourself.")])
        agent = d.agent(inputs=Inputs([commands, Files()]))
        assert (await agent.run("what is in @src/a.c?")).text == "Four lines."
        assert "1\tone" in d.asked()[0]["content"]
        assert [u.text for u in d.said] == ["what is in @src/a.c?"]
        asked = len(d.server.requests)
        outcome = await agent.run("/hello")
        assert outcome.text == "Hello yourself." and len(d.server.requests) == asked


async def test_the_files_of_a_task_go_with_its_first_message(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        workspace(d.folder)
        for _ in range(2):
            d.server.say("Seen.")
        agent = d.agent(options={"files": ["src/a.c", "shot.png", "../x"]})
        await agent.run("look")
        first = d.asked()[1]["content"]
        await agent.run("again")
        assert str(d.asked()).count("1\\tone") == 1
    assert "1\tone" in first[0]["text"] and "not in the workspace" in first[0]["text"]
    assert first[1]["type"] == "image_url"


async def test_the_files_of_a_task_are_uploaded_where_that_is_possible(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        workspace(d.folder)
        d.server.say("Seen.")
        await d.agent(options={"files": ["src/a.c"]}, model={"upload": True}).run("look")
        content = d.asked()[1]["content"]
        assert content[1] == {"type": "file", "file": {"file_id": "file-1"}}
    (tmp_path / "again").mkdir()
    async with desk(tmp_path / "again") as d:
        workspace(d.folder)
        d.server.refuse_files = True
        d.server.say("Seen.")
        await d.agent(options={"files": ["src/a.c"]}, model={"upload": True}).run("look")
        assert "1\tone" in d.asked()[1]["content"] and "goes as text" in d.notices


def test_mentions_are_found(tmp_path: Path) -> None:
    workspace(tmp_path)
    found = mentions('(@src/a.c:1-2), @src/a.c: @"with blank.txt":3 `@src`', [tmp_path])
    assert [(m.path, m.first, m.last) for m in found] == [
        ("src/a.c", 1, 2),
        ("src/a.c", 0, 0),
        ("with blank.txt", 3, 3),
        ("src", 0, 0),
    ]
