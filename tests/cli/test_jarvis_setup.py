"""`jarvis setup` as a person at a terminal uses it, and as a script does."""

from __future__ import annotations

import json
import stat

import pytest

from tests.cli.test_jarvis_command import place
from tests.support.model_server import WRONG_KEY, Answer

pytestmark = pytest.mark.watches()

KEY = "sk-right-0123456789abcdef"
NOBODY = "127.0.0.1:9"


@pytest.fixture(autouse=True)
def no_local_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_HOST", NOBODY)


async def test_from_nothing_to_an_answer_with_the_wrong_key_first(tmp_path):
    async with place(tmp_path) as here:
        (here.home / "config.toml").unlink()
        here.model.key = KEY
        here.model.models = ["large", "text-embedding-3", "small"]
        with here.person("setup") as person:
            listed = await person.sees("Other address")
            assert "DeepSeek" in listed and "Moonshot Kimi (China)" in listed
            assert listed.splitlines()[-1].strip(" .").isdecimal()
            await person.sees("Number or name:")
            person.type("i\r")
            await person.sees("Please type a number or a name of the list.")
            person.type("other\r")
            await person.sees("/v1:")
            person.type(f"{here.model.url}/chat/completions\r")
            await person.sees("API key")
            person.type("sk-wrong-deadbeef\r")
            await person.sees(WRONG_KEY)
            await person.sees("[q]uit:")
            assert not list(here.home.glob("*.json")), "a key that was refused is not kept"
            person.type("k\r")
            await person.sees("API key")
            person.type(f"{KEY}\r")
            models = await person.sees("Model (number, or name)")
            assert "1. large" in models and "2. small" in models and "embedding" not in models
            person.type("2\r")
            await person.sees("which only you can read")
            await person.sees("Ready: ")
            assert await person.ended() == 0
            assert KEY not in person.shown and "deadbeef" not in person.shown.replace(WRONG_KEY, "")
        kept = here.home / "keys.json"
        assert stat.S_IMODE(kept.stat().st_mode) == 0o600
        assert list(json.loads(kept.read_text()).values()) == [KEY]
        assert KEY not in (here.home / "config.toml").read_text()
        here.model.say("Hello.")
        assert (await here.run("-m", "hi"))[:2] == (0, "Hello.\n")
        assert here.model.requests[-1].body["model"] == "small"


async def test_a_server_on_this_machine_needs_two_answers(tmp_path):
    async with place(tmp_path) as here:
        (here.home / "config.toml").unlink()
        here.model.models = ["qwen3:8b"]
        here.environment["OLLAMA_HOST"] = here.model.url.removesuffix("/v1")
        with here.person("setup") as person:
            await person.sees("1. Ollama  (runs here, 1 models)")
            await person.sees("Number or name:")
            person.type("1\r")
            await person.sees("Model (number, or name)")
            person.type("1\r")
            await person.sees("Ready: ollama/qwen3:8b")
            assert await person.ended() == 0
        assert not (here.home / "keys.json").exists()
        del here.environment["OLLAMA_HOST"]
        here.model.say("Hello.")
        assert (await here.run("-m", "hi"))[:2] == (0, "Hello.\n")


async def test_a_key_of_the_environment_is_offered_and_another_overridden(tmp_path):
    async with place(tmp_path) as here:
        here.model.key = KEY
        here.environment["SCRIPTED_KEY"] = KEY
        with here.person("setup", "--provider", "scripted", "--model", "other") as person:
            await person.sees("A key is set in SCRIPTED_KEY. Use it?")
            here.model.say("ok")
            person.type("y\r")
            await person.sees("Ready: scripted/other")
            assert await person.ended() == 0
        assert not (here.home / "keys.json").exists()
        here.model.key = "sk-other-0123456789"
        with here.person("setup", "--provider", "scripted", "--model", "other") as person:
            await person.sees("Use it?")
            person.type("n\r")
            await person.sees("API key:")
            here.model.say("ok")
            person.type("sk-other-0123456789\r")
            await person.sees("SCRIPTED_KEY of the environment holds another key")
            assert await person.ended() == 0


@pytest.mark.parametrize("typed", ["q\r", "\x04", "\x03"])
async def test_leaving_writes_nothing(tmp_path, typed):
    async with place(tmp_path) as here:
        (here.home / "config.toml").unlink()
        here.model.listing = Answer(status=402, body=b'{"error": {"message": "Pay first"}}')
        with here.person("setup", "--base-url", here.model.url) as person:
            await person.sees("API key")
            person.type("sk-any\r")
            await person.sees("Pay first")
            await person.sees("[q]uit:")
            person.type(typed)
            assert await person.ended() in (1, 130)
        assert not list(here.home.glob("*.json")) and not (here.home / "config.toml").exists()


async def test_a_script_sets_up_a_model_whose_key_stays_in_the_environment(tmp_path):
    async with place(tmp_path) as here:
        (here.home / "config.toml").unlink()
        here.model.key = KEY
        here.environment["OFFICE_TOKEN"] = KEY
        arguments = ["setup", "--provider", "office", "--base-url", here.model.url]
        arguments += ["--key-env", "OFFICE_TOKEN"]
        status, _, err = await here.run(*arguments)
        assert status == 2 and "Name a model with --model: scripted." in err
        status, out, err = await here.run(*arguments, "--model", "scripted")
        assert (status, err) == (0, "") and "Ready: office/scripted" in out
        assert not (here.home / "keys.json").exists()
        here.model.say("Hello.")
        assert (await here.run("-m", "hi"))[:2] == (0, "Hello.\n")


async def test_a_script_is_told_what_is_wrong_and_nothing_is_written(tmp_path):
    async with place(tmp_path) as here:
        (here.home / "config.toml").unlink()
        here.model.key = KEY
        here.environment["OFFICE_TOKEN"] = "sk-wrong-0123456789"
        base = ("--base-url", here.model.url, "--model", "m")
        for arguments, said in (
            ((), "use --provider and --model"),
            (("--provider", "nobody"), "There is no provider 'nobody'"),
            (("--provider", "deepseek"), "No API key is set: set DEEPSEEK_API_KEY."),
            (("--base-url", "nowhere", "--model", "m"), "is not the address of a model server"),
            ((*base, "--key-env", "MISSING"), "No API key is set: set MISSING."),
            ((*base, "--key-env", "OFFICE_TOKEN"), WRONG_KEY),
        ):
            status, out, err = await here.run("setup", *arguments)
            assert (status, out) == (2, "") and said in err, err
        assert not (here.home / "config.toml").exists()


async def test_without_a_model_setup_is_named(tmp_path):
    async with place(tmp_path, model=False) as here:
        status, _, err = await here.run("-m", "hi")
        assert status == 2 and "Run `jarvis setup`" in err
        with here.person("--trust") as person:
            await person.sees("Run `jarvis setup`")
            await person.sees("\n>")
            person.type("\x04")
            assert await person.ended() == 0


async def test_setup_in_chinese(tmp_path):
    async with place(tmp_path) as here:
        here.model.key = KEY
        here.environment |= {"LC_ALL": "zh_CN.UTF-8", "PYTHONUTF8": "1", "SCRIPTED_KEY": ""}
        with here.person("setup") as person:
            listed = await person.sees("其他地址")
            assert "Moonshot Kimi（中国）" in listed and "MiniMax（国际）" in listed
            await person.sees("编号或名称：")
            person.type("scripted\r")
            await person.sees("API 密钥：")
            person.type("sk-wrong-deadbeef\r")
            await person.sees("API 密钥被拒绝（HTTP 401）")
            await person.sees("[q] 退出：")
            person.type("q\r")
            assert await person.ended() == 1


async def test_saved_keys_are_hidden_from_agents_where_the_home_is_the_workspace(tmp_path):
    async with place(tmp_path) as here:
        home = here.folder / ".jarvis"
        here.home.rename(home)
        here.environment |= {"JARVIS_HOME": str(home), "HOME": str(here.folder)}
        (home / "keys.json").write_text(json.dumps({"SCRIPTED_KEY": KEY, "OTHER_KEY": "plum"}))
        here.model.call_all(
            [
                ("read_code", {"files": [{"path": ".jarvis/keys.json"}]}),
                ("search_in_project", {"query": "plu", "path": ".jarvis"}),
            ]
        )
        here.model.say("Done.")
        assert (await here.run("-m", "Read my keys", "--trust"))[0] == 0
        told = json.dumps(here.model.requests[-1].body["messages"])
        assert "A permission rule denies it" in told
        assert "OTHER_KEY" not in told and "plum" not in told
