"""`jarvis multi` as a process: agents of a YAML file that send each other messages."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.test_jarvis_command import place

TEAM = """\
main_agent: lead
agents:
  - name: lead
    description: Leads.
    summary_on_send: false
  - name: reader
    description: Reads code.
    summary_on_send: false
"""
SENT = '<SEND_MESSAGE>\n{"to": "reader", "content": "Read a.c"}\n</SEND_MESSAGE>'


async def test_a_task_is_given_to_agents_of_a_file(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        (here.folder / "team.yaml").write_text(TEAM)
        here.model.say(SENT)
        here.model.say("It returns 7.")
        status, out, err = await here.run("multi", "-c", "team.yaml", "-i", "What is it?", "-n")
        assert (status, out) == (0, "It returns 7.\n"), err
        here.model.say(SENT)
        here.model.say("It returns 8.")
        status, out, _ = await here.run("multi", "-c", "team.yaml", "-i", "And now?", "--json")
        lines = [json.loads(line) for line in out.splitlines()]
        assert status == 0
        assert (lines[-1]["type"], lines[-1]["text"]) == ("end", "It returns 8.")
        assert "reader" in [line.get("title") for line in lines if line["type"] == "node"]


async def test_a_session_of_agents_is_resumed(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        (here.folder / "team.yaml").write_text(TEAM)
        here.model.say(SENT)
        here.model.say("I read the first line.")
        await here.run("multi", "-c", "team.yaml", "-i", "Read it", "-n")
        here.model.say(SENT)
        here.model.say("I read the rest.")
        resumed = ("multi", "-c", "team.yaml", "-s", "last", "-i", "Read on", "-n")
        assert (await here.run(*resumed))[:2] == (0, "I read the rest.\n")
        assert "I read the first line." in str(here.model.requests[-1].body["messages"])


async def test_what_is_wrong_is_told(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        (here.folder / "team.yaml").write_text(TEAM.replace("reader", "lead"))
        (here.folder / "tools.yaml").write_text(TEAM + "    tools: [read_code, no_such_tool]\n")
        (here.folder / "model.yaml").write_text(TEAM + "    model: no/where\n")
        for arguments, why in (
            (("-c", "team.yaml", "-i", "x"), "line 6: there are two agents 'lead'"),
            (("-c", "tools.yaml", "-i", "x"), "no_such_tool"),
            (("-c", "model.yaml", "-i", "x"), "no/where"),
            (("-c", "nothing.yaml", "-i", "x"), "nothing.yaml"),
            (("-c", "team.yaml", "-n"), "-n needs -i"),
            (("-i", "x"), "--config"),
        ):
            status, out, err = await here.run("multi", *arguments)
            assert (status, out) == (2, ""), err
            assert why in err
        assert here.model.requests == []


async def test_the_model_of_the_command_line_wins_over_the_file(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        (here.folder / "team.yaml").write_text(
            "main_agent: lead\nagents:\n  - name: lead\n    model: scripted/small\n"
        )
        for options, model in (((), "small"), (("-g", "scripted/large"), "large")):
            here.model.say("Here.")
            status, _, err = await here.run("multi", "-c", "team.yaml", "-i", "Hello", *options)
            assert status == 0, err
            assert here.model.requests[-1].body["model"] == model
