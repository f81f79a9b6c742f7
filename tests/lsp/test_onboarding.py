"""Setting up a model in the panel: over the real protocol, as the extension asks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from jarvis_ls.lsp.protocol import model_setup as wire
from jarvis_ls.runtime.base.events import NoticeEntry
from tests.lsp.page import Page, opened
from tests.support.model_server import WRONG_KEY, Answer, ModelServer

pytestmark = pytest.mark.watches()

KEY = "sk-right-0123456789abcdef"
NOBODY = "127.0.0.1:9"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("OLLAMA_HOST", NOBODY)
    made = tmp_path / "work"
    made.mkdir()
    return made


async def on_trial(page: Page, key: str, **kept: str) -> None:
    await page.editor.request("jarvis/panel/keys", {"keys": kept, "trial": key})


def health(page: Page) -> Any:
    return getattr(page.editor.statuses[-1], "model", None) if page.editor.statuses else None


@pytest.mark.parametrize("trusted", [True, False])
async def test_from_nothing_to_an_answer_with_the_wrong_key_first(folder, tmp_path, trusted):
    home = tmp_path / "home"
    (folder / ".jarvis").mkdir()
    (folder / ".jarvis" / "config.toml").write_text("no toml [")
    async with ModelServer() as model:
        model.key, model.models = KEY, ["large", "text-embedding-3"]
        async with opened(folder, home, options={"trusted": trusted}) as page:
            assert not (await page.attach()).models.ready
            await page.until(lambda: health(page) == "none")
            await on_trial(page, "sk-wrong-deadbeef")
            checked = await page.ask(wire.CheckProviderAsk(base=model.url))
            assert checked.wrong == "key" and WRONG_KEY in checked.why
            await on_trial(page, KEY)
            checked = await page.ask(wire.CheckProviderAsk(base=model.url))
            assert (checked.wrong, checked.models) == ("", ("large",))
            used = await page.ask(wire.UseModelAsk(checked.name, "large", model.url))
            assert used.label == f"{checked.name}/large" and used.why == ""
            await on_trial(page, "", **{checked.variable: KEY})
            picture = await page.attach()
            assert picture.models.ready and picture.models.choices[0].models == (used.label,)
            await page.until(lambda: health(page) == "ready")
            model.say("Hello.")
            await page.send("Hi")
            await page.answered("Hello.")
        for file in home.rglob("*"):
            assert not file.is_file() or KEY.encode() not in file.read_bytes(), file


async def test_the_list_tells_what_runs_here_and_what_has_a_key(folder, tmp_path, monkeypatch):
    async with ModelServer() as model:
        monkeypatch.setenv("OLLAMA_HOST", model.url.removesuffix("/v1"))
        async with opened(folder, tmp_path / "home") as page:
            keys = {"keys": {"ANTHROPIC_API_KEY": "sk-1"}}
            await page.editor.request("jarvis/panel/keys", keys)
            offers = (await page.ask(wire.ProvidersAsk())).offers
            first, second = offers[:2]
            assert (first.name, first.running, first.models) == ("ollama", True, ("scripted",))
            assert (second.name, second.has_key) == ("anthropic", True)
            by_name = {offer.name: offer for offer in offers}
            assert by_name["zai"].title == "Zhipu GLM, Z.ai (international)"
            checked = await page.ask(wire.CheckProviderAsk("ollama"))
            assert (checked.models, checked.variable) == (("scripted",), "")
            used = await page.ask(wire.UseModelAsk("ollama", "scripted"))
            assert used.label == "ollama/scripted" and len(model.requests) == 2, "not tried"
            assert (await page.attach()).models.ready


async def test_a_model_that_does_not_answer_is_not_written(folder, tmp_path):
    async with ModelServer() as model:
        model.listing = Answer(status=404, body=b"{}")
        async with opened(folder, tmp_path / "home") as page:
            await on_trial(page, KEY)
            checked = await page.ask(wire.CheckProviderAsk(base=model.url))
            assert (checked.wrong, checked.models) == ("", ())
            model.refuse(404, message="The model `larg` does not exist")
            used = await page.ask(wire.UseModelAsk(checked.name, "larg", model.url))
            assert (used.label, used.wrong) == ("", "model")
            assert "The model `larg` does not exist" in used.why
            with pytest.raises(Exception, match="Name a model"):
                await page.ask(wire.UseModelAsk(checked.name, " ", model.url))
            assert not (tmp_path / "home" / "config.toml").exists()


async def test_what_is_wrong_with_a_model_is_told_with_the_failure_and_in_the_status(
    folder, tmp_path
):
    async with ModelServer() as model, opened(folder, tmp_path / "home", model) as page:
        await page.attach()
        await page.until(lambda: health(page) == "ready")
        for status, wrong in ((401, "key"), (404, "model"), (402, "credit"), (400, "other")):
            model.refuse(status, message="As the provider says.")
            before = len(page.entries(NoticeEntry))
            await page.send("Hi")
            await page.until(lambda seen=before: len(page.entries(NoticeEntry)) > seen)
            await page.rest()
            last = page.entries(NoticeEntry)[-1]
            assert (last.wrong, last.provider) == (wrong, "scripted")
            await page.until(lambda: health(page) == "failing")
        await on_trial(page, "sk-other-0123456789")
        await page.ask(wire.CheckProviderAsk("scripted"))
        assert (await page.attach(page.session)).models.ready and health(page) == "failing"
        model.say("Here again.")
        await page.send("Hi")
        await page.answered("Here again.")
        await page.until(lambda: health(page) == "ready")


async def test_a_failure_of_before_is_none_of_now(folder, tmp_path):
    async with ModelServer() as model:
        async with opened(folder, tmp_path / "home", model) as page:
            await page.attach()
            model.refuse(401)
            session = await page.send("Hi")
            await page.until(lambda: health(page) == "failing")
            await page.rest()
        async with opened(folder, tmp_path / "home", model) as page:
            picture = await page.attach(session)
            assert picture.session == session
            assert [n.wrong for n in page.entries(NoticeEntry)] == ["key"]
            await page.until(lambda: health(page) == "ready")


async def test_without_a_model_or_a_key_the_failure_says_which(folder, tmp_path):
    settings = '[model_groups.balanced]\nmodels = ["deepseek/deepseek-chat"]\n'
    for home, written, wrong in (("a", "", ("none", "")), ("b", settings, ("key", "deepseek"))):
        (tmp_path / home).mkdir()
        (tmp_path / home / "config.toml").write_text(written)
        async with opened(folder, tmp_path / home) as page:
            await page.attach()
            await page.send("Hi")
            notices = await page.until(lambda here=page: here.entries(NoticeEntry))
            assert (notices[0].wrong, notices[0].provider) == wrong
