"""Tools for the language models of the editor, asked of the server and declared in the manifest."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pygls.exceptions import JsonRpcException

from jarvis_ls.facade.questions import QUESTIONS
from tests.lsp.editor import Editor, running
from tests.lsp.test_prove import TRUSTED, project
from tests.support.starting import ROOT

__all__ = ["project"]


async def ask(editor: Editor, name: str, /, **arguments: Any) -> Any:
    answer = await editor.request("jarvis/tool", {"name": name, "arguments": arguments})
    return json.loads(answer.text) if answer.text[:1] in "{[" else answer.text


async def test_a_model_is_told_what_the_folder_holds(project: Path) -> None:
    async with running(project, options=TRUSTED) as editor:
        found = await ask(editor, "findings")
        assert found["total"] == len(found["findings"]) > 0
        name = found["findings"][0]["id"]
        told = await ask(editor, "explain_finding", name=name)
        assert told["finding"]["id"] == name and told["why"]
        assert (await ask(editor, "scan"))["findings"] == found["total"]
        assert (await ask(editor, "explain_rule", rule="double-free")).startswith("# double-free")
        for wrong, arguments, why in (
            ("nothing_of_the_kind", {}, "no question"),
            ("findings", {"limit": 0}, "limit"),
            ("findings", {"more": 1}, "more"),
            ("explain_finding", {}, "name"),
            ("impact", {}, "git repository"),
        ):
            with pytest.raises(JsonRpcException, match=why):
                await ask(editor, wrong, **arguments)


async def test_nothing_is_run_or_written_without_trust(project: Path) -> None:
    async with running(project, options={**TRUSTED, "trusted": False}) as editor:
        name = (await ask(editor, "findings"))["findings"][0]["id"]
        with pytest.raises(JsonRpcException, match="not trusted"):
            await ask(editor, "prove", name=name)
    assert not (project / ".jarvis").exists()


def test_the_manifest_declares_what_the_server_answers() -> None:
    manifest = json.loads((ROOT / "package.json").read_text(encoding="utf-8"))
    declared = {tool["name"]: tool for tool in manifest["contributes"]["languageModelTools"]}
    assert list(declared) == [f"jarvis_{name}" for name in QUESTIONS]
    for name, question in QUESTIONS.items():
        schema = question.arguments.model_json_schema()
        wanted = {
            key: {part: value for part, value in field.items() if part != "title"}
            for key, field in schema.get("properties", {}).items()
        }
        shown = dict(declared[f"jarvis_{name}"]["inputSchema"])
        properties = dict(shown.pop("properties"))
        assert properties.pop("folder")["type"] == "string"
        assert properties == wanted, name
        assert shown.get("required", []) == schema.get("required", [])
        assert shown["additionalProperties"] is False
