"""Kinds of platform: built-in ones, the user's own, and what is wrong with those that are not."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path

import pytest

from jarvis_ls.core.errors import ConfigError
from jarvis_ls.runtime.base.errors import (
    AnswerBroken,
    ModelBusy,
    ModelError,
    ModelRefused,
    ModelUnreachable,
)
from jarvis_ls.runtime.base.messages import User
from jarvis_ls.runtime.llm.failure_advice import explained
from jarvis_ls.runtime.llm.model_group import ModelGroup
from jarvis_ls.runtime.llm.platforms.base import ModelInfo, Platform, Request
from jarvis_ls.runtime.llm.providers import Candidate, Provider, read_models
from jarvis_ls.runtime.llm.registry import PlatformRegistry
from tests.support.model_server import Answer, ModelServer

WHOLE = """
    from jarvis_ls.runtime.llm.platforms.base import FinishDelta, Platform, TextDelta

    class Office(Platform):
        name = "office"

        def __init__(self, base_url, api_key):
            self.base_url, self.closed = base_url, False

        async def stream(self, model, request):
            yield TextDelta(f"{self.base_url} {model.name} {request.messages[0].text}")
            yield FinishDelta("stop")

        async def models(self):
            return ["large"]

        async def close(self):
            self.closed = True
"""


@pytest.fixture
def models(tmp_path: Path) -> Path:
    folder = tmp_path / "models"
    folder.mkdir()
    return folder


def write(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(textwrap.dedent(text))


def candidate(kind: str, base: str | None = None, key: str = "key-0123456789") -> Candidate:
    return Candidate(Provider("p", kind, base), ModelInfo("m"), key)


def test_built_in_kinds_without_a_folder(tmp_path: Path) -> None:
    for registry in (PlatformRegistry(), PlatformRegistry(tmp_path)):
        assert registry.kinds == ("anthropic", "openai", "replay")
        assert registry.broken == ()
        for kind in registry.kinds:
            assert registry.platform_for(candidate(kind)).name == kind


def test_nothing_heavy_is_loaded_by_choosing() -> None:
    import subprocess

    script = (
        "import sys\n"
        "from jarvis_ls.runtime.llm.providers import Candidate, Provider\n"
        "from jarvis_ls.runtime.llm.platforms.base import ModelInfo\n"
        "from jarvis_ls.runtime.llm.registry import PlatformRegistry\n"
        "r = PlatformRegistry()\n"
        "for k in r.kinds: r.platform_for(Candidate(Provider('p', k), ModelInfo('m'), 'k'))\n"
        "assert not {'openai', 'anthropic', 'pydantic'} & set(sys.modules)\n"
    )
    environment = {"PYTHONPATH": ":".join(sys.path)}
    subprocess.run([sys.executable, "-c", script], check=True, env=environment)


async def test_a_users_platform_answers(models: Path, tmp_path: Path) -> None:
    write(models, "office.py", WHOLE)
    registry = PlatformRegistry(tmp_path)
    assert registry.broken == ()
    assert registry.kinds == ("anthropic", "office", "openai", "replay")
    settings = {
        "model_providers": {"mine": {"type": "office", "base": "http://x/v1", "needs_key": False}},
        "model_groups": {"balanced": {"models": ["mine/large"]}},
    }
    ways = read_models(settings, {}).candidates("balanced", {})
    answer = await ModelGroup(ways, registry.platform_for).ask(Request([User("hi")]))
    assert answer.text == "http://x/v1 large hi"
    made = registry.platform_for(ways[0])
    assert await made.models() == ["large"]
    assert not list(models.glob("__pycache__")), "nothing is left in the user's folder"
    await registry.close()
    assert registry.platform_for(ways[0]) is not made


def test_connections_are_shared_by_address_and_key() -> None:
    registry = PlatformRegistry()
    one = registry.platform_for(candidate("openai", "http://a/v1"))
    assert registry.platform_for(candidate("openai", "http://a/v1")) is one
    assert registry.platform_for(candidate("openai", "http://b/v1")) is not one
    assert registry.platform_for(candidate("openai", "http://a/v1", "another-key")) is not one


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("x = 1", "no subclass of Platform"),
        ("class Office: pass", "no subclass of Platform"),
        ("def (:", "SyntaxError"),
        ("import no_such_library", "no_such_library"),
        ("raise RuntimeError('not today')", "not today"),
        ("import sys; sys.exit(3)", "SystemExit"),
        (WHOLE.replace("async def stream", "async def flow"), "lacks stream"),
        (WHOLE.replace("async def models", "async def list"), "lacks models"),
        (WHOLE.replace("async def stream", "def stream"), "async generator"),
        (WHOLE.replace("async def models", "def models"), "no coroutine"),
        (WHOLE.replace("stream(self, model, request)", "stream(self, model)"), "take 2 arguments"),
        (WHOLE.replace("(self, base_url, api_key)", "(self)"), "base URL and a key"),
    ],
)
def test_a_broken_file_is_told_and_left_out(
    models: Path, tmp_path: Path, text: str, reason: str
) -> None:
    write(models, "broken.py", text)
    write(models, "office.py", WHOLE)
    registry = PlatformRegistry(tmp_path)
    (broken,) = registry.broken
    assert broken.file == models / "broken.py"
    assert reason in broken.reason
    assert "office" in registry.kinds
    with pytest.raises(ModelRefused, match=r"There is no platform 'broken'.*broken\.py.*cannot"):
        registry.platform_for(candidate("broken"))


def test_two_files_with_one_name_and_files_that_are_none(models: Path, tmp_path: Path) -> None:
    write(models, "a.py", WHOLE)
    write(models, "b.py", WHOLE)
    write(models, "_private.py", "raise SystemExit")
    write(models, "notes.txt", "not Python")
    (models / "folder.py").mkdir()
    (broken,) = PlatformRegistry(tmp_path).broken
    assert (broken.file.name, "already" in broken.reason) == ("b.py", True)


def test_an_unnamed_platform_is_called_after_its_file(models: Path, tmp_path: Path) -> None:
    write(models, "mine.py", WHOLE.replace('name = "office"', ""))
    assert "mine" in PlatformRegistry(tmp_path).kinds


def test_a_kind_that_is_not_known_says_what_there_is(tmp_path: Path) -> None:
    with pytest.raises(ModelRefused, match=r"no platform 'odd'.*anthropic, openai"):
        PlatformRegistry(tmp_path).platform_for(candidate("odd"))


def test_a_platform_that_cannot_be_made_says_why_without_its_key(
    models: Path, tmp_path: Path
) -> None:
    write(
        models,
        "office.py",
        WHOLE.replace(
            "self.base_url, self.closed = base_url, False", "raise ValueError('bad ' + api_key)"
        ),
    )
    with pytest.raises(ModelRefused, match=r"ValueError: bad \[redacted\]"):
        PlatformRegistry(tmp_path).platform_for(candidate("office"))


@pytest.mark.parametrize(
    ("failing", "kind", "words"),
    [
        ("raise KeyError('odd')", AnswerBroken, "KeyError: 'odd'"),
        ("raise ConnectionResetError(key)", ModelUnreachable, r"\[redacted\]"),
        ("raise errors.ModelBusy('later', 3)", ModelBusy, "later"),
        ("yield 'text'", AnswerBroken, "a str, which is not a delta"),
        ("await asyncio.sleep(0); 1 / 0", AnswerBroken, "ZeroDivisionError"),
    ],
)
async def test_whatever_goes_wrong_in_a_users_platform_is_told(
    models: Path, tmp_path: Path, failing: str, kind: type[ModelError], words: str
) -> None:
    text = textwrap.dedent(WHOLE).replace(
        '        yield FinishDelta("stop")', f"        key = self.key\n        {failing}"
    )
    text = text.replace('return ["large"]', "raise OSError('no line')")
    text = text.replace("self.closed = True", "raise RuntimeError('cannot')")
    text = text.replace(
        "self.base_url, self.closed = base_url, False",
        "self.base_url, self.key = base_url, api_key",
    )
    write(models, "office.py", f"import asyncio\nfrom jarvis_ls.runtime.base import errors\n{text}")
    registry = PlatformRegistry(tmp_path)
    assert registry.broken == ()
    platform = registry.platform_for(candidate("office"))
    with pytest.raises(kind, match=words) as raised:
        async for _ in platform.stream(ModelInfo("m"), Request([User("hi")])):
            pass
    assert type(raised.value) is kind
    with pytest.raises(ModelUnreachable, match="no line"):
        await platform.models()
    await registry.close()


async def test_a_kind_can_be_registered(tmp_path: Path) -> None:
    async with ModelServer() as server:
        from jarvis_ls.runtime.llm.platforms.openai import OpenAICompatible

        def office(base: str | None, key: str) -> Platform:
            return OpenAICompatible(server.url, key)

        registry = PlatformRegistry(tmp_path)
        registry.register("office", office)
        server.say("hello")
        group = ModelGroup([candidate("office")], registry.platform_for)
        assert (await group.ask(Request([User("hi")]))).text == "hello"
        await registry.close()


@pytest.mark.parametrize("kind", ["openai", "anthropic"])
async def test_a_provider_is_waited_for_as_long_as_its_settings_say(
    kind: str, tmp_path: Path
) -> None:
    """And who waited in vain is told which setting it is."""
    async with ModelServer() as server:
        server.add(Answer([], silent=60))
        provider = {"type": kind, "base": server.url, "needs_key": False, "timeout": 0.2}
        settings = {
            "model_providers": {"slow": provider},
            "model_groups": {"balanced": {"models": ["slow/m"]}},
        }
        registry = PlatformRegistry(tmp_path)
        ways = read_models(settings, {}).candidates("balanced", {})
        with pytest.raises(ModelUnreachable) as found:
            platform = registry.platform_for(ways[0])
            async for _ in platform.stream(ways[0].model, Request([User("x")])):
                pass
        await registry.close()
    assert found.value.late
    assert "timeout (in seconds)" in str(explained(found.value, ways[0]))


def test_a_server_on_this_machine_has_more_time() -> None:
    here = Provider("mine", base="http://127.0.0.1:8080/v1")
    assert here.patience >= 600 and Provider("openai").patience == 0
    assert Provider("mine", base=here.base, timeout=5).patience == 5
    for wrong in (-1, "60", True):
        with pytest.raises(ConfigError, match="timeout"):
            read_models({"model_providers": {"p": {"base": here.base, "timeout": wrong}}}, {})
