"""Setting up a model: a key is checked in the provider's own words before anything is written, and
of the user's configuration only the choice changes.
"""

from __future__ import annotations

import json
import stat
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from jarvis_ls.assembly.bootstrap import build
from jarvis_ls.assembly.model_setup import Chosen, ModelSetup
from jarvis_ls.core.errors import ConfigError, JarvisError, UsageError
from jarvis_ls.runtime.llm import model_check
from jarvis_ls.runtime.llm.model_check import Problem
from jarvis_ls.runtime.llm.providers import PROVIDERS, Provider
from jarvis_ls.runtime.llm.stored_keys import FILE, store_key
from tests.support.anthropic_server import AnthropicServer
from tests.support.model_server import WRONG_KEY, Answer, ModelServer

KEY = "sk-right-0123456789abcdef"
NOWHERE = "http://127.0.0.1:9/v1"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture(autouse=True)
def no_local_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    """What runs on the machine of the tests is not asked."""
    for name, provider in list(PROVIDERS.items()):
        if provider.is_here:
            monkeypatch.setitem(PROVIDERS, name, replace(provider, base=NOWHERE))


def setup_at(home: Path, environment: Mapping[str, str] | None = None) -> ModelSetup:
    return ModelSetup(build(home=home, environment=environment or {}))


def config(home: Path) -> str:
    return (home / "config.toml").read_text()


async def test_the_list_names_providers_and_where_their_keys_are_made(home: Path) -> None:
    offers = await setup_at(home, {"MOONSHOT_API_KEY": "sk-1"}).offers()
    names = [offer.provider.name for offer in offers]
    assert {"deepseek", "zhipuai", "minimax", "openai", "anthropic", "openrouter"} <= set(names)
    assert names[:2] == ["moonshot", "moonshot-ai"], "those with a key come first"
    assert names[-2:] == ["ollama", "lmstudio"], "servers that are not there come last"
    of = {offer.provider.name: offer for offer in offers}
    assert of["moonshot"].has_key and not of["deepseek"].has_key
    assert of["deepseek"].title == "DeepSeek"
    assert of["deepseek"].key_page == "https://platform.deepseek.com/api_keys"


async def test_a_server_on_this_machine_is_found_and_chosen_without_a_key(home: Path) -> None:
    async with ModelServer() as server:
        server.models = ["qwen3:8b"]
        address = server.url.removeprefix("http://").removesuffix("/v1")
        setup = setup_at(home, {"OLLAMA_HOST": address})
        first = (await setup.offers())[0]
        assert (first.provider.name, first.running) == ("ollama", ("qwen3:8b",))
        checked = await setup.check(first.provider, "")
        assert (checked.models, checked.is_proven) == (("qwen3:8b",), True)
        chosen = await setup.choose(first.provider, "", "qwen3:8b", is_proven=True)
        assert isinstance(chosen, Chosen) and chosen.label == "ollama/qwen3:8b"
        asked = build(home=home, environment={}).models.candidates("balanced", {})
        assert [(a.label, a.provider.base) for a in asked] == [("ollama/qwen3:8b", server.url)]


@pytest.mark.parametrize(
    "written", ["http://models.example.com:11434", "10.0.0.7:11434", "models.example.com"]
)
async def test_only_this_machine_is_looked_at(
    home: Path, written: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    async def note(base: str) -> None:
        asked.append(base)

    monkeypatch.setattr("jarvis_ls.runtime.llm.local_servers._list_models", note)
    await setup_at(home, {"OLLAMA_HOST": written}).offers()
    assert asked == [NOWHERE]  # LM Studio's


@pytest.mark.parametrize(
    ("written", "base"),
    [
        ("0.0.0.0", "http://127.0.0.1:11434/v1"),
        (":8080", "http://127.0.0.1:8080/v1"),
        ("127.0.0.1:8080", "http://127.0.0.1:8080/v1"),
        ("http://localhost", "http://localhost:80/v1"),
        ("[::1]:8080", "http://[::1]:8080/v1"),
        ("localhost:none", NOWHERE),
    ],
)
def test_the_address_of_ollama_is_read_as_ollama_reads_it(
    home: Path, written: str, base: str
) -> None:
    assert setup_at(home, {"OLLAMA_HOST": written}).provider("ollama").base == base


async def test_a_right_key_lists_the_models_that_talk(home: Path) -> None:
    async with ModelServer() as server:
        server.key, server.models = KEY, ["large", "text-embedding-3", "whisper-1", "small"]
        setup = setup_at(home)
        checked = await setup.check(setup.provider("", server.url), KEY)
        assert checked.models == ("large", "small") and checked.problem is None
        assert not list(home.glob("*")), "nothing is written before a model is chosen"


async def test_a_wrong_key_is_told_in_the_providers_words(home: Path) -> None:
    async with ModelServer() as server, AnthropicServer() as other:
        server.key = other.key = KEY
        setup = setup_at(home)
        for provider in (
            setup.provider("", server.url),
            Provider("claude", "anthropic", other.url, ("CLAUDE_KEY",)),
        ):
            problem = (await setup.check(provider, "sk-wrong-deadbeef")).problem
            assert problem is not None and problem.wrong == "key"
            assert WRONG_KEY in problem.text and "HTTP 401" in problem.text


async def test_a_key_that_a_provider_repeats_is_not_shown(home: Path) -> None:
    async with ModelServer() as server:
        server.listing = Answer(
            status=401, body=b'{"error": {"message": "bad key %s"}}' % KEY.encode()
        )
        setup = setup_at(home)
        problem = (await setup.check(setup.provider("", server.url), KEY)).problem
        assert problem is not None and "bad key [redacted]" in problem.text


async def test_what_a_provider_says_is_not_shown_whole_when_it_has_no_end(home: Path) -> None:
    async with ModelServer() as server:
        body = b'{"error": {"message": "No: %s"}}' % (b"x" * 50_000)
        server.listing = Answer(status=403, body=body)
        setup = setup_at(home)
        problem = (await setup.check(setup.provider("", server.url), KEY)).problem
        assert problem is not None and problem.wrong == "key"
        assert problem.text.startswith("The API key was rejected (HTTP 403): No: xxx")
        assert len(problem.text) < 600


async def test_anthropic_lists_its_models(home: Path) -> None:
    async with AnthropicServer() as server:
        server.key, server.models = KEY, ["claude-new", "claude-old"]
        provider = Provider("claude", "anthropic", server.url, ("CLAUDE_KEY",))
        checked = await setup_at(home).check(provider, KEY)
        assert checked.models == ("claude-new", "claude-old")


async def test_a_provider_without_a_list_is_asked_for_a_few_tokens(home: Path) -> None:
    async with ModelServer() as server:
        server.key, server.listing = KEY, Answer(status=404, body=b'{"error": {"message": "no"}}')
        setup = setup_at(home)
        provider = setup.provider("office", server.url)
        checked = await setup.check(provider, KEY)
        assert (checked.models, checked.is_proven, checked.problem) == ((), False, None)
        server.refuse(404, message="The model `larg` does not exist")
        problem = await setup.choose(provider, KEY, "larg", is_proven=False)
        assert isinstance(problem, Problem) and problem.wrong == "model"
        assert "The model `larg` does not exist" in problem.text and not home.exists()
        server.say("ok")
        assert isinstance(await setup.choose(provider, KEY, "large", is_proven=False), Chosen)
        assert server.requests[-1].body["max_tokens"] == 16
        assert 'models = ["office/large"]' in config(home)


async def test_a_list_for_everyone_proves_no_key(home: Path) -> None:
    async with ModelServer() as server:
        setup = setup_at(home)
        checked = await setup.check(
            setup.provider("", server.url.replace("127.0.0.1", "127.1")), KEY
        )
        assert checked.problem is None and checked.models == ("scripted",)
        away = Provider("office", base="http://office.invalid/v1", env_keys=("K",))
        assert not model_check._lists_to_keys_only(away)
        assert not model_check._lists_to_keys_only(setup.provider("openrouter"))
        assert model_check._lists_to_keys_only(setup.provider("deepseek"))


@pytest.mark.parametrize(
    ("listing", "wrong", "said"),
    [
        (Answer(body=b"<html>Welcome to nginx</html>"), "address", "invalid"),
        (Answer(body=b"not even", headers={"content-type": "text/plain"}), "address", "invalid"),
        (Answer(status=500, body=b'{"error": {"message": "on fire"}}'), "busy", "on fire"),
        (
            Answer(status=402, body=b'{"error": {"message": "Insufficient Balance"}}'),
            "credit",
            "Insufficient Balance",
        ),
        (Answer(status=429, body=b'{"error": {"message": "slow down"}}'), "busy", "slow down"),
    ],
)
async def test_what_else_is_wrong_is_told(
    home: Path, listing: Answer, wrong: str, said: str
) -> None:
    async with ModelServer() as server:
        server.listing = listing
        setup = setup_at(home)
        problem = (await setup.check(setup.provider("", server.url), KEY)).problem
        assert problem is not None and (problem.wrong, said in problem.text) == (wrong, True)


async def test_nobody_there_and_nobody_answers(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    setup = setup_at(home)
    problem = (await setup.check(setup.provider("", NOWHERE.replace("9", "19")), KEY)).problem
    assert problem is not None and problem.wrong == "address"
    assert "could not be reached" in problem.text
    monkeypatch.setattr(model_check, "LIST_SECONDS", 0.2)
    async with ModelServer() as server:
        server.listing = Answer(silent=600)
        problem = (await setup.check(setup.provider("", server.url), KEY)).problem
        assert problem is not None and problem.wrong == "address"
        assert problem.text == "The provider did not answer within 0.2 s."


async def test_only_the_choice_changes_in_the_configuration(home: Path) -> None:
    home.mkdir()
    before = (
        "# mine\n[agent]\nmax_rounds = 9 # enough\n\n"
        '[model_groups.think]\nmodels = ["openai/big"]\n\n'
        '[model_groups.normal]   # what is asked\nmodels = [\n  "openai/a",\n  "openai/b",\n]\n'
    )
    (home / "config.toml").write_text(before)
    (home / "config.toml").chmod(0o640)
    setup = setup_at(home)
    done = await setup.choose(setup.provider("deepseek"), KEY, "deepseek-chat", is_proven=True)
    assert isinstance(done, Chosen) and done.notes == ()
    after = config(home)
    assert after.startswith(before[: before.index("models = [\n")])
    assert after[before.index("models = [\n") :] == 'models = ["deepseek/deepseek-chat"]\n'
    assert stat.S_IMODE((home / "config.toml").stat().st_mode) == 0o640
    models = build(home=home, environment={"DEEPSEEK_API_KEY": KEY}).models
    assert models.groups == {
        "think": ("openai/big",),
        "balanced": ("deepseek/deepseek-chat",),
    }


@pytest.mark.parametrize(
    "text",
    [
        "[model_groups.balanced\n",
        "model_groups = 3\n",
        "[model_groups]\nbalanced = 1\n",
        'model_groups = "x"\n',
    ],
)
async def test_a_file_that_is_not_understood_stays(home: Path, text: str) -> None:
    home.mkdir()
    (home / "config.toml").write_text(text)
    setup = setup_at(home)
    with pytest.raises(ConfigError, match="was not changed"):
        await setup.choose(setup.provider("deepseek"), KEY, "deepseek-chat", is_proven=True)
    assert config(home) == text


@pytest.mark.parametrize(
    "text",
    [
        'model_groups = { balanced = { models = ["openai/a"] } }\n',
        'model_groups.balanced.models = ["openai/a"]\n',
        '[model_groups.balanced]\nmodels = ["openai/a"]\n[agent]\nname = "J"\n'
        '[model_groups.think]\nmodels = ["openai/a"]\n',
        "[[permissions]]\neffect = 'ask'\n",
        "\r\n# windows\r\n[agent]\r\nname = 'J'\r\n",
    ],
)
async def test_every_form_of_toml_is_changed(home: Path, text: str) -> None:
    home.mkdir()
    (home / "config.toml").write_bytes(text.encode())
    setup = setup_at(home)
    provider = setup.provider("office", "https://llm.example.com/v1/chat/completions")
    await setup.choose(provider, KEY, "large", is_proven=True)
    made = build(home=home, environment={"OFFICE_API_KEY": KEY})
    assert made.problems == []
    (way,) = made.models.candidates("balanced", made.environment)
    assert (way.label, way.provider.base, way.key) == (
        "office/large",
        "https://llm.example.com/v1",
        KEY,
    )


async def test_what_overrides_the_choice_is_said(home: Path) -> None:
    home.mkdir()
    (home / "config.toml").write_text('[agent]\nmodel_group = "openai/x"\n')
    environment = {"JARVIS_MODEL": "openai/y", "OPENAI_BASE_URL": "http://gateway.example.com/v1"}
    setup = setup_at(home, environment)
    done = await setup.choose(setup.provider("openai"), KEY, "z", is_proven=True)
    assert isinstance(done, Chosen)
    said = " ".join(done.notes)
    assert "JARVIS_MODEL is set to openai/y" in said
    assert "model_group in [agent] of the settings file is openai/x" in said
    assert "OPENAI_BASE_URL is set" in said and "is not encrypted" in said


@pytest.mark.parametrize(
    ("base", "name"),
    [
        ("https://api.mistral.example/v1/", "mistral-example"),
        ("http://localhost:8080/v1", "local-8080"),
        ("https://api.deepseek.com/v1/chat/completions", "deepseek"),
        ("https://10.1.2.3/v1", "10-1-2-3"),
    ],
)
def test_an_address_gets_a_name(home: Path, base: str, name: str) -> None:
    provider = setup_at(home).provider("", base)
    assert provider.name == name
    assert all(variable[0].isalpha() for variable in provider.env_keys)


@pytest.mark.parametrize(
    "base", ["ftp://x/v1", "llm.example.com", "https://", "https://u:p@x/v1", "http://x:99999/v1"]
)
def test_what_is_no_address_is_refused(home: Path, base: str) -> None:
    with pytest.raises(UsageError, match="is not the address of a model server"):
        setup_at(home).provider("", base)


def test_a_model_for_something_else_is_not_written(home: Path) -> None:
    with pytest.raises(UsageError, match="There is no provider"):
        setup_at(home).provider("nobody")


async def test_a_model_that_does_not_talk_is_not_written(home: Path) -> None:
    setup = setup_at(home)
    with pytest.raises(ConfigError, match="choose a chat model"):
        await setup.choose(setup.provider("openai"), KEY, "text-embedding-3", is_proven=True)
    assert not home.exists()


def test_a_kept_key_is_the_users_alone_and_below_the_environment(home: Path) -> None:
    store_key(home, "DEEPSEEK_API_KEY", KEY)
    file = store_key(home, "OPENAI_API_KEY", "sk-other")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert sorted(json.loads(file.read_text())) == ["DEEPSEEK_API_KEY", "OPENAI_API_KEY"]
    kept = build(home=home, environment={"OPENAI_API_KEY": "sk-environment"}).environment
    assert (kept["DEEPSEEK_API_KEY"], kept["OPENAI_API_KEY"]) == (KEY, "sk-environment")


@pytest.mark.parametrize("text", ["{", "[]", "\xff"])
def test_keys_that_cannot_be_read_are_a_problem_that_is_told(home: Path, text: str) -> None:
    home.mkdir()
    (home / FILE).write_bytes(text.encode("latin-1"))
    assert any(FILE in problem for problem in build(home=home, environment={}).problems)
    with pytest.raises(JarvisError):
        store_key(home, "A_KEY", KEY)
