"""Answers that must meet a pydantic model, of the root and of its children."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, field_validator

from jarvis_ls.agents.node import Assignment
from jarvis_ls.agents.records import ROOT
from jarvis_ls.assembly.bootstrap import build
from jarvis_ls.runtime.agent.typed_answer import ModelForm
from tests.support.agents import Person
from tests.support.model_server import ModelServer


class Verdict(BaseModel):
    """Whether a finding is real."""

    confirmed: bool
    line: int

    @field_validator("line")
    @classmethod
    def must_exist(cls, line: int) -> int:
        """Refuse lines that are not there."""
        if line > 10:
            raise ValueError("the file has 10 lines")
        return line


def configure(home: Path, url: str) -> None:
    home.mkdir()
    (home / "config.toml").write_text(
        f'[model_providers.mine]\nbase = "{url}"\nenv_keys = ["MINE_KEY"]\n'
        '[model_groups.balanced]\nmodels = ["mine/m"]\n'
    )


async def test_the_last_answer_is_a_value_of_the_model(tmp_path: Path) -> None:
    async with ModelServer() as server:
        configure(tmp_path / "home", server.url)
        assembly = build(home=tmp_path / "home", environment={"MINE_KEY": "key-0123456789"})
        conversation = await assembly.start(None, [tmp_path], Person())
        server.say('{"confirmed": true, "line": 11}')
        server.say('I see: {"confirmed": "yes", "line": 7} is what I mean.')
        ending = await conversation.ask("Is it real?", form=ModelForm(Verdict))
        assert ending.value == Verdict(confirmed=True, line=7)
        assert "the file has 10 lines" in server.requests[1].body["messages"][-1]["content"]
        server.say("Just words.")
        ending = await conversation.ask("And why?")
        assert (ending.state, ending.text, ending.value) == ("completed", "Just words.", None)
        await assembly.close()


async def test_a_child_with_a_form(tmp_path: Path) -> None:
    async with ModelServer() as server:
        configure(tmp_path / "home", server.url)
        assembly = build(home=tmp_path / "home", environment={"MINE_KEY": "key-0123456789"})
        conversation = await assembly.start(None, [tmp_path], Person())
        tree = conversation.tree
        typed = tree.add(ROOT, Assignment("Judge it."), ModelForm(Verdict))
        by_schema = tree.add(ROOT, Assignment("Count.", answer={"type": "array", "minItems": 1}))
        server.say('{"confirmed": false, "line": 3}')
        tree.start(typed.id)
        assert (await tree.wait(typed.id)).value == Verdict(confirmed=False, line=3)
        server.say("[]")
        server.say("[1]")
        tree.start(by_schema.id)
        assert (await tree.wait(by_schema.id)).value == [1]
        assert Assignment.from_json(by_schema.assignment.to_json()) == by_schema.assignment
        await assembly.close()
