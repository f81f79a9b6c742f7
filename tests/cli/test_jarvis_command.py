"""The command `jarvis` as a process: one message, a conversation at a terminal, what is kept."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
from collections.abc import AsyncIterator, Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from jarvis_ls.cli.choices import chosen
from jarvis_ls.cli.terminal import PERMIT
from tests.cli.terminal import JARVIS, Person
from tests.support.agents import until
from tests.support.model_server import ModelServer, without_models
from tests.support.patience import HANGS
from tests.support.starting import quick

pytestmark = pytest.mark.watches()

SETTINGS = """\
[model_providers.scripted]
base = "{url}"
env_keys = ["SCRIPTED_KEY"]
[model_groups.balanced]
models = ["scripted/scripted"]
"""


class Place:
    """A folder to work in, a home, and a model when there is one."""

    def __init__(self, folder: Path, home: Path, model: ModelServer | None) -> None:
        self.folder, self.home, self.model = folder, home, model
        if model is not None:
            (home / "config.toml").write_text(SETTINGS.format(url=model.url))
        own = {"JARVIS_HOME": str(home), "SCRIPTED_KEY": "sk-1"}
        self.environment = {**without_models(os.environ), **own}

    async def run(self, *arguments: str, given: str = "") -> tuple[int, str, str]:
        """Exit status, output and errors of a run without a terminal."""
        process = await self.start(*arguments, command=quick("jarvis_ls.cli.jarvis"))
        out, err = await asyncio.wait_for(process.communicate(given.encode()), HANGS)
        assert process.returncode is not None
        return process.returncode, out.decode(), err.decode()

    async def start(
        self, *arguments: str, command: tuple[str, ...] = JARVIS
    ) -> asyncio.subprocess.Process:
        """A run that goes on."""
        return await asyncio.create_subprocess_exec(
            *command,
            *arguments,
            cwd=self.folder,
            env=self.environment,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )

    @contextlib.contextmanager
    def person(self, *arguments: str, command: tuple[str, ...] = ()) -> Iterator[Person]:
        """A run at a terminal."""
        command = command or quick("jarvis_ls.cli.jarvis")
        person = Person((*command, *arguments), self.folder, self.environment)
        try:
            yield person
        finally:
            person.close()


@contextlib.asynccontextmanager
async def place(folder: Path, *, model: bool = True) -> AsyncIterator[Place]:
    """A place below `folder`."""
    for name in ("work", "home"):
        (folder / name).mkdir()
    async with contextlib.AsyncExitStack() as stack:
        server = await stack.enter_async_context(ModelServer()) if model else None
        yield Place(folder / "work", folder / "home", server)


@pytest.mark.parametrize(
    "answer",
    [
        "The answer.\n",
        "\n\nThe answer.",
        "The answer. !!!COMPLETE!!!",
        "The answer.\n!!!COMPLETE!!!\n",
        "!!!COMPLETE!!! The answer.",
    ],
)
async def test_an_answer_stands_once_whatever_stands_around_it(tmp_path, answer):
    async with place(tmp_path) as here:
        here.model.say(answer, pieces=9)
        status, out, _ = await here.run("-m", "A question")
        assert (status, out) == (0, "The answer.\n")
        here.model.say(answer, pieces=9)
        with here.person("--trust") as person:
            await person.sees("Ctrl-D exits")
            person.type("A question\r")
            await person.sees("tokens in")
            await person.sees("\n>")
            person.type("\x04")
            assert await person.ended() == 0
            assert person.shown.count("The answer.") == 1


async def test_of_an_attempt_that_failed_nothing_is_in_the_answer(tmp_path):
    async with place(tmp_path) as here:
        here.model.say("This one breaks off", cut_after=2)
        here.model.say("Half of it", done=False).chunks.pop(-2)
        here.model.say("This one is whole.")
        status, out, err = await here.run("-m", "A question")
        assert (status, out) == (0, "This one is whole.\n")
        assert "Retrying the model: scripted/scripted: The answer was cut off before" in err


async def test_where_every_call_is_confirmed_nobody_does_so_unattended(tmp_path):
    async with place(tmp_path) as here:
        here.environment["JARVIS_EXECUTE_TOOL_CONFIRM"] = "true"
        here.model.call("echo", {"text": "x"})
        here.model.say("I could not.")
        status, _, err = await here.run("-m", "go")
        assert status == 0
        assert "It needs approval, but the session is not interactive.\n" in err


async def test_results_of_calls_that_ran_together_say_whose_they_are(tmp_path):
    async with place(tmp_path) as here:
        for name in ("a", "b"):
            (here.folder / f"{name}.c").write_text(f"int {name};\n")
        files = [("read_code", {"files": [{"path": f"{name}.c"}]}) for name in ("a", "b")]
        here.model.call_all(files)
        here.model.say("Read.")
        _, _, err = await here.run("-m", "go")
        written = [line for line in err.splitlines() if line.startswith(("●", "  ✓"))]
        # a result directly below its call need not say whose it is
        whose = [
            line if "Read " in line else before
            for before, line in pairwise(written)
            if line.startswith("  ✓")
        ]
        assert len(written) == 2 * len(whose) == 4
        assert {"● Read a.c", "● Read b.c"} <= set(written)
        assert all("Read " in line for line in whose)
        assert {name for name in "ab" if any(f"{name}.c" in line for line in whose)} == {"a", "b"}


async def test_one_message_gives_one_answer_and_nothing_else(tmp_path):
    async with place(tmp_path) as here:
        here.model.say("The answer.", thinking="hm")
        status, out, err = await here.run("-m", "A question")
        assert (status, out) == (0, "The answer.\n")
        assert "session 0" in err and "hm" not in err
        here.model.say("Another.")
        status, out, err = await here.run("-m", "More", "--session", "last", "--thinking")
        assert (status, out) == (0, "Another.\n")
        said = json.dumps(here.model.requests[-1].body["messages"])
        assert "A question" in said and "The answer." in said
        status, out, _ = await here.run("sessions", "list", "--format", "json")
        [info] = json.loads(out)
        assert info["messages"] >= 4 and info["title"] == "A question"
        status, out, _ = await here.run("sessions", "show", info["id"][:13])
        assert "The answer." in out


async def test_the_message_may_come_from_a_pipe(tmp_path):
    async with place(tmp_path) as here:
        here.model.say("Read.")
        assert (await here.run(given="From a pipe\n"))[:2] == (0, "Read.\n")
        assert (await here.run(given="  \n"))[0] == 2
        assert (await here.run("-m", " "))[0] == 2


async def test_without_a_model_it_says_what_to_set_and_commands_run(tmp_path):
    async with place(tmp_path, model=False) as here:
        (here.folder / "a.c").write_text("#include <stdlib.h>\nvoid f(char *p){free(p);free(p);}\n")
        status, out, err = await here.run("-m", "Hello")
        assert status == 2 and out == "" and "JARVIS_MODEL" in err
        status, out, _ = await here.run("-m", "/scan")
        assert status == 0 and "a.c:2 `double-free`" in out
        status, out, _ = await here.run("-m", "/explain double-free")
        assert status == 0 and "CWE-415" in out
        status, _, err = await here.run("-m", "/nothing")
        assert status == 2 and "/nothing" in err
        assert (await here.run("sessions", "list", "--all"))[1] == ""
        status, out, err = await here.run("models")
        assert status == 2 and "deepseek" in out and "JARVIS_MODEL" in err


async def test_what_a_command_answers_is_the_answer(tmp_path):
    async with place(tmp_path, model=False) as here:
        for command, answer in (
            ("/help", "`/scan`"),
            ("/sessions", "(this one)"),
            ("/memory", "No memories yet."),
            ("/status", "Tools: "),
            ("/help", "`!command` runs"),
        ):
            status, out, err = await here.run("-m", command)
            assert status == 0 and answer in out and answer not in err, (command, out, err)
            assert not out.startswith("·")
        status, out, err = await here.run("-m", "/title")
        assert (status, out) == (1, "") and "/title Fix the parser" in err


async def test_the_status_says_whether_a_command_of_the_shell_succeeded(tmp_path):
    async with place(tmp_path, model=False) as here:
        assert (await here.run("-m", "!true", "--trust"))[0] == 0
        status, _, err = await here.run("-m", "!echo words; exit 3", "--trust")
        assert status == 1 and "words" in err
        assert (await here.run("-m", "!true"))[0] == 1  # not trusted: nothing is run
        assert (await here.run("-m", "!", "--trust"))[0] == 1


async def test_wrong_use_has_its_own_status(tmp_path):
    async with place(tmp_path, model=False) as here:
        for arguments in (
            ("--nonsense",),
            ("-C", "nowhere", "-m", "x"),
            ("sessions", "show", "x"),
            ("--allow", "all", "-m", "x"),
            ("memory", "show", "x"),
            ("-m", "x", "--session", "nothing"),
        ):
            status, out, err = await here.run(*arguments)
            assert (status, out) == (2, ""), arguments
            assert "Traceback" not in err


async def test_a_refused_model_fails_the_task(tmp_path):
    async with place(tmp_path) as here:
        here.model.refuse(401, message="wrong key")
        status, out, err = await here.run("-m", "Hello")
        assert (status, out) == (1, "")
        assert "scripted/scripted: The API key was rejected (HTTP 401): wrong key." in err
        assert "Set a valid key in SCRIPTED_KEY." in err


async def test_unattended_nothing_is_written_but_what_an_option_allows(tmp_path):
    async with place(tmp_path) as here:
        arguments = {"file_path": "new.txt", "content": "x\n"}
        for options in ((), ("--trust",)):
            here.model.call("rewrite_file", arguments)
            here.model.say("Tried.")
            status, out, err = await here.run("-m", "Write", *options)
            assert (status, out) == (0, "Tried.\n"), err
            assert not (here.folder / "new.txt").exists()
        assert "--allow write" in err
        here.model.call("rewrite_file", arguments)
        here.model.say("Wrote.")
        status, out, _ = await here.run("-m", "Write", "--trust", "--allow", "write:*.txt")
        assert (status, out) == (0, "Wrote.\n")
        assert (here.folder / "new.txt").read_text() == "x\n"


async def test_an_interrupt_ends_it_and_keeps_the_session(tmp_path):
    async with place(tmp_path) as here:
        here.model.say("never all of this", stall_after=2)
        process = await here.start("-m", "Hello")
        await until(lambda: here.model.requests)
        process.send_signal(signal.SIGINT)
        assert await asyncio.wait_for(process.wait(), HANGS) == 130
        _, out, _ = await here.run("sessions", "show", "01")
        assert "Hello" in out


async def test_a_conversation_at_a_terminal(tmp_path):
    async with place(tmp_path) as here:
        with here.person("--color", "never", command=JARVIS) as person:
            await person.sees("Do you trust the files in")
            person.type("y\r")
            await person.sees("\n>")
            here.model.say("Good morning.")
            person.type("Hello\r")
            await person.sees("Good morning.")
            await person.sees("\n>")
            here.model.call("rewrite_file", {"file_path": "a.txt", "content": "one\n"})
            here.model.say("It is written.")
            person.type("Write\r")
            await person.sees("+ one")
            await person.sees("Apply? [y]es all")
            person.type("y\r")
            await person.sees("It is written.")
            assert (here.folder / "a.txt").read_text() == "one\n"
            await person.sees("\n>")
            here.model.call("rewrite_file", {"file_path": "b.txt", "content": "two\n"})
            here.model.say("As you like.")
            person.type("Another\r")
            await person.sees("Apply? [y]es all")
            person.type("n\r")
            await person.sees("instead?")
            person.type("not that\r")
            await person.sees("As you like.")
            assert not (here.folder / "b.txt").exists()
            await person.sees("\n>")
            person.type("\x04")
            assert await person.ended() == 0
        with here.person("--session", "last", "--color", "never", command=JARVIS) as person:
            await person.sees("resuming: Hello")  # trusted from now on
            await person.sees("\n>")
            person.type("/exit\r")
            assert await person.ended() == 0


async def test_ctrl_c_ends_the_turn_and_not_the_program(tmp_path):
    async with place(tmp_path) as here:
        with here.person("--trust", "--color", "never", command=JARVIS) as person:
            await person.sees("\n>")
            here.model.say("this will never be said to its end", stall_after=2)
            person.type("Hello\r")
            await person.sees("this will")
            person.type("\x03")
            await person.sees("Stopped.")
            await person.sees("\n>")
            here.model.call("rewrite_file", {"file_path": "b.txt", "content": "two\n"})
            person.type("Write\r")
            await person.sees("Apply? [y]es all")
            person.type("\x03")
            await person.sees("Stopped.")
            await person.sees("\n>")
            here.model.say("Still here.")
            person.type("Are you there?\r")
            await person.sees("Still here.")
            await person.sees("\n>")
            person.type("\x04")
            assert await person.ended() == 0
        assert not (here.folder / "b.txt").exists()


async def test_what_the_user_runs_is_shown_whole(tmp_path):
    async with place(tmp_path) as here:
        status, _, err = await here.run("-m", "!seq 1 9", "--trust", "--allow", "execute:seq*")
        assert status == 0
        assert all(f"\n    {number}\n" in err for number in range(1, 10)), err
        assert "more lines" not in err


async def test_a_group_that_is_not_there_is_named_with_those_that_are(tmp_path):
    async with place(tmp_path) as here:
        status, out, err = await here.run("-m", "Hello", "--model", "bogus")
        assert (status, out) == (2, "")
        assert "jarvis: Unknown model group 'bogus'. Use one of balanced" in err


async def test_only_an_answer_to_the_question_is_consent(tmp_path):
    async with place(tmp_path) as here:
        with here.person("--trust", "--color", "never", command=JARVIS) as person:
            await person.sees("\n>")
            here.model.call("rewrite_file", {"file_path": "a.txt", "content": "one\n"}, silent=1.0)
            here.model.say("Not written.")
            person.type("Write\r")
            await until(lambda: here.model.requests)
            person.type("y\r")  # typed while the model thinks: before there is a question
            await person.sees("Apply? [y]es all")
            person.type("another file, please\r")
            await person.sees("Please answer y (yes), n (no), h (hunk).")
            await person.sees("Apply? [y]es all")
            assert not (here.folder / "a.txt").exists()
            person.type("No\r")
            await person.sees("instead?")
            person.type("\r")
            await person.sees("Not written.")
            assert not (here.folder / "a.txt").exists()


@pytest.mark.parametrize(
    ("line", "letter"),
    [
        ("y", "y"),
        (" Yes ", "y"),
        ("s", "s"),
        ("session", "s"),
        ("stop", ""),
        ("", ""),
        ("use a copy", ""),
        ("wait", ""),
        ("USER", "u"),
        ("yn", ""),
        ("n", "n"),
    ],
)
def test_what_begins_like_a_choice_is_none(line, letter):
    assert chosen(PERMIT, line) == letter


async def test_memories_are_kept_and_forgotten(tmp_path):
    async with place(tmp_path, model=False) as here:
        _, first, _ = await here.run("memory", "add", "Keys are read in keys.c", "--tag", "keys")
        _, second, _ = await here.run("memory", "add", "Answer in English", "--global")
        _, out, _ = await here.run("memory", "list", "KEYS")
        assert first.strip() in out and second.strip() not in out
        _, out, _ = await here.run("memory", "show", second.strip())
        assert out.startswith("global") and "Answer in English" in out
        assert (await here.run("memory", "delete", first.strip()))[0] == 0
        assert (await here.run("memory", "delete", first.strip()))[0] == 2
        _, out, _ = await here.run("memory", "list", "--format", "json")
        assert [one["content"] for one in json.loads(out)] == ["Answer in English"]


async def test_sessions_are_searched_exported_deleted_and_restored(tmp_path):
    async with place(tmp_path) as here:
        here.model.say("About parsers.")
        await here.run("-m", "Tell me of parsers")
        here.model.say("About cats.")
        await here.run("-m", "Tell me of cats")
        _, out, _ = await here.run("sessions", "search", "parsers", "--format", "json")
        [info] = json.loads(out)
        target = tmp_path / "out.md"
        assert (await here.run("sessions", "export", info["id"], "-o", str(target)))[0] == 0
        assert "About parsers." in target.read_text()
        assert (await here.run("sessions", "delete", info["id"]))[0] == 0
        assert (await here.run("sessions", "show", info["id"]))[0] == 2
        assert (await here.run("sessions", "restore", info["id"]))[0] == 0
        assert (await here.run("sessions", "show", info["id"]))[0] == 0
        status, _, err = await here.run("sessions", "show", "0")
        assert status == 2 and "2 session ids" in err


@pytest.mark.parametrize("arguments", [("--help",), ("sessions", "--help"), ("--version",)])
async def test_help_needs_nothing(tmp_path, arguments):
    async with place(tmp_path, model=False) as here:
        status, out, _ = await here.run(*arguments)
        assert status == 0 and "jarvis" in out


@pytest.mark.parametrize(
    ("model", "variable", "page"),
    [
        ("openrouter/vendor/large", "OPENROUTER_API_KEY", "https://openrouter.ai/keys"),
        ("zai/glm-5", "ZAI_API_KEY", "https://z.ai/manage-apikey/apikey-list"),
    ],
)
async def test_a_missing_key_is_told_with_the_page_that_makes_it(tmp_path, model, variable, page):
    async with place(tmp_path, model=False) as here:
        here.environment["JARVIS_MODEL"] = model
        status, _out, err = await here.run("-m", "hi")
        assert status == 2 and f"set {variable}. Keys are made at {page}" in err
        here.environment[variable] = "sk-0123456789"
        status, out, _err = await here.run("models")
        assert status == 0 and f"balanced   {model}\n" in out


async def test_a_provider_of_ones_own_is_not_sent_to_the_page_of_its_namesake(tmp_path):
    async with place(tmp_path, model=False) as here:
        section = '[model_providers.deepseek]\nbase = "http://127.0.0.1:9/v1"\nenv_keys = ["OWN"]\n'
        (here.home / "config.toml").write_text(section)
        here.environment["JARVIS_MODEL"] = "deepseek/small"
        status, _out, err = await here.run("-m", "hi")
        assert status == 2 and "set OWN." in err and "Keys are made" not in err


async def test_models_of_this_machine_need_neither_key_nor_section(tmp_path):
    async with place(tmp_path, model=False) as here:
        for model in ("ollama/qwen3", "lmstudio/qwen3"):
            here.environment["JARVIS_MODEL"] = model
            status, out, _err = await here.run("models")
            assert status == 0 and f"balanced   {model}\n" in out
