"""One function of a migration rewritten by a model from the editor, and put back."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from pygls.exceptions import JsonRpcException

from tests.lsp.editor import running
from tests.lsp.test_migration import PROJECT, SUMS, TRUSTED, ask, bulb, jc2r, states, titles, uri
from tests.lsp.test_repair import SETTINGS
from tests.support.model_server import Answer, Asked, ModelServer
from tests.support.rewriting_agents import agree

pytestmark = [
    pytest.mark.watches(),
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="jc2r rewrite needs Linux"),
]

SUM = """\
fn sum(n: i32) -> i32 {
    if n == 0 {
        return 0;
    }
    n.wrapping_add(sum(n.wrapping_sub(1)))
}
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("JARVIS_HOME", str(tmp_path / "home"))
    root = tmp_path / "small"
    root.mkdir()
    for name, text in PROJECT.items():
        (root / name).write_text(text)
    jc2r("run", "--baseline", root)
    return root


@pytest.fixture
async def model(project: Path) -> AsyncIterator[ModelServer]:
    """A model that rewrites `sum`, wrong at first."""
    wrong = SUM.replace("return 0", "return 1")
    answers = [json.dumps({"status": "rewritten", "code": code}) for code in (wrong, SUM)]
    async with ModelServer() as server:

        def decide(asked: Asked) -> Answer:
            text = "\n".join(str(message.get("content")) for message in asked.body["messages"])
            answer = agree(text)
            if answer is None:
                answer = answers.pop(0) if len(answers) > 1 else answers[0]
            said = server.say(answer)
            server.answers.remove(said)
            return said

        server.decide = decide
        (project.parent / "home" / "config.toml").write_text(SETTINGS.format(url=server.url))
        yield server


async def test_a_function_is_rewritten_from_the_light_bulb_and_put_back(
    project: Path, model: ModelServer
) -> None:
    sums, crate = project / "sums.c", project.parent / "small_rs" / "src" / "sums.rs"

    async def do(editor, title):
        (action,) = [one for one in await bulb(editor, sums, 4) if one.title == title]
        (options,) = action.command.arguments
        options = {**options, "workDoneToken": "mine"}
        asked = editor.client.protocol.send_request_async("jarvis/migration/run", options)
        return await asyncio.wait_for(asked, 400)

    async with running(project, options=TRUSTED) as editor:
        editor.open(uri(sums), SUMS)
        await ask(editor)
        before = crate.read_text()
        steps = editor.client.progress_reports["mine"] = []
        result = await do(editor, "Rewrite with a model")
        assert result.functions == 1 and result.told.startswith("rewritten: equal on "), result
        assert 'pub extern "C" fn sum(n: i32) -> i32' in crate.read_text()
        found = await ask(editor)
        assert states(found)["sum"] == "idiomatic"
        (sum_,) = [one for one in found.functions if one.name == "sum"]
        assert sum_.tests == "equal" and int(sum_.testsNote) > 10, "the gates have compared it"
        (lens,) = [title for line, title in await titles(editor, sums) if "idiomatic" in title]
        assert "inputs · unsafe lines " in lens and lens.endswith(" -> 0")
        assert (2, "Put the baseline back") in await titles(editor, sums)
        told = [str(getattr(step, "message", "")) for step in steps]
        assert any("Rewriting with a model: 1/11, compiles" in one for one in told), told
        result = await do(editor, "Put the baseline back")
        assert result.told == "the baseline stays: reverted by the user"
        assert crate.read_text() == before and states(await ask(editor))["sum"] == "baseline"
    assert len(model.requests) == 4, "tests, two answers, a review"


async def test_without_a_model_or_trust_nothing_is_asked_or_written(project: Path) -> None:
    options = {"scope": "rewrite", "uri": uri(project / "sums.c"), "function": "sum"}
    for trusted, why in ((True, "Rewriting needs a model: "), (False, "needs a trusted workspace")):
        async with running(project, options={"trusted": trusted}) as editor:
            with pytest.raises(JsonRpcException, match=why):
                await editor.request("jarvis/migration/run", options)
