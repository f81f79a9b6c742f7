"""Agents of a team that send each other messages, with a scripted model."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from jarvis_ls.agents.team_config import read_team
from jarvis_ls.assembly.conversation import Conversation
from jarvis_ls.assembly.team import REPAIRS, Team
from jarvis_ls.assembly.workplace import Additions
from jarvis_ls.runtime.base.events import NoticeEntry, ToolEntry
from jarvis_ls.runtime.tools.interaction import NonInteractive
from tests.assembly.test_conversation import House, asked, entries, house

TEAM = """\
main_agent: lead
common_system_prompt: Be brief.
agents:
  - name: lead
    description: Leads.
    system_prompt: You lead.
    summary_on_send: false
  - name: reader
    description: Reads code.
    system_prompt: You read.
    tools: [read_code]
    summary_on_send: false
"""


def sent(to: str, content: str) -> str:
    return f'<SEND_MESSAGE>\n{{"to": "{to}", "content": "{content}"}}\n</SEND_MESSAGE>'


@asynccontextmanager
async def team(folder: Path, text: str = TEAM) -> AsyncIterator[tuple[House, Team, Conversation]]:
    async with house(folder) as h:
        file = folder / "team.yaml"
        file.write_text(text)
        made = Team(read_team(file))
        conversation = await h.assembly().start(
            None,
            [h.folder],
            NonInteractive(),
            trusted=True,
            additions=made.additions(Additions()),
        )
        made.join(conversation)
        yield h, made, conversation


async def test_a_message_is_passed_on_and_answered(tmp_path: Path) -> None:
    async with team(tmp_path) as (h, made, conversation):
        h.server.say(sent("reader", "Read a.c"))
        h.server.call("send_message", {"to": "lead", "content": "It returns 7."})
        h.server.say("The program returns 7.")
        ending = await made.run("What does it return?")
        assert (ending.state, ending.text) == ("completed", "The program returns 7.")
        assert made.main_speaks
        lead, reader, last = (asked(h, number) for number in range(3))
        assert "You lead." in str(lead) and "- reader: Reads code." in str(lead)
        assert "You read." in str(reader) and "What does it return?" in str(reader)
        assert "from: lead\\nsummary_of_sender_work: \\ncontent: Read a.c" in str(reader)
        assert "from: reader" in last[-1]["content"] and "It returns 7." in last[-1]["content"]
        tools = {tool["function"]["name"] for tool in h.server.requests[1].body["tools"]}
        assert tools == {"read_code", "send_message"}
        nodes = [(node.info.title, node.state) for node in conversation.tree.walk()]
        assert nodes == [("Jarvis", "completed"), ("reader", "completed")]
        (call,) = entries(conversation, ToolEntry)
        assert (call.name, call.state) == ("send_message", "done")


async def test_who_is_sent_nothing_is_never_created(tmp_path: Path) -> None:
    async with team(tmp_path) as (h, made, conversation):
        h.server.say("I know: 7.")
        assert (await made.run("What does it return?")).text == "I know: 7."
        assert len(conversation.tree) == 1


async def test_an_answer_of_another_agent_ends_the_work(tmp_path: Path) -> None:
    async with team(tmp_path) as (h, made, _):
        h.server.say(sent("reader", "Answer it yourself"))
        h.server.say("It is 7.")
        assert (await made.run("What is it?")).text == "It is 7."
        assert made.speaker == "reader"


async def test_what_cannot_be_sent_is_told_the_sender_until_it_can(tmp_path: Path) -> None:
    async with team(tmp_path) as (h, made, conversation):
        h.server.say(sent("tester", "x"))
        h.server.say(sent("lead", "x"))
        h.server.call("send_message", {"to": "nobody", "content": "x"})
        h.server.say(sent("reader", "Read a.c"))
        h.server.say("Read.")
        assert (await made.run("Have it read")).text == "Read."
        assert "There is no agent 'tester'." in asked(h, 1)[-1]["content"]
        assert "A message to yourself is not sent." in asked(h, 2)[-1]["content"]
        assert "There is no agent 'nobody'." in asked(h, 3)[-1]["content"]
        told = "Nothing was sent. “lead” learns why: There is no agent 'tester'."
        assert told in [entry.text for entry in entries(conversation, NoticeEntry)]


async def test_an_agent_that_never_writes_a_message_that_can_be_sent_fails(tmp_path: Path) -> None:
    async with team(tmp_path) as (h, made, _):
        for number in range(REPAIRS + 1):
            h.server.say(f"Try {number}\n<SEND_MESSAGE>\nnonsense {number}\n</SEND_MESSAGE>")
        ending = await made.run("Have it read")
        assert ending.state == "failed" and "is not JSON" in ending.error


async def test_a_summary_is_handed_over_and_the_sender_forgets(tmp_path: Path) -> None:
    forgetful = TEAM.replace(
        "    tools: [read_code]\n    summary_on_send: false\n",
        "    clear_after_send_message: true\n",
    )
    async with team(tmp_path, forgetful) as (h, made, _):
        h.server.say(sent("reader", "Read the first file"))
        h.server.say(sent("lead", "It is short."))
        h.server.say("I have read the first file.")
        h.server.say(sent("reader", "Read the second file"))
        h.server.say("Both are read.")
        assert (await made.run("Have both read")).text == "Both are read."
        assert "without calling tools" in asked(h, 2)[-1]["content"]
        told = asked(h, 3)[-1]["content"]
        assert "summary_of_sender_work: I have read the first file." in told
        again = str(asked(h, 4))
        assert "Read the second file" in again and "Read the first file" not in again
        assert "original_question: Have both read" in again


async def test_a_main_agent_that_forgets_is_told_the_question_again(tmp_path: Path) -> None:
    forgetful = TEAM.replace("You lead.\n", "You lead.\n    clear_after_send_message: true\n")
    async with team(tmp_path, forgetful) as (h, made, _):
        h.server.say(sent("reader", "Read a.c"))
        h.server.say(sent("lead", "It returns 7."))
        h.server.say("The program returns 7.")
        assert (await made.run("What does it return?")).text == "The program returns 7."
        told = [message["content"] for message in asked(h, 2)]
        assert any(
            text.startswith("original_question: What does it return?\nfrom: reader")
            for text in told
        )


async def test_without_a_summary_the_message_goes_on(tmp_path: Path) -> None:
    async with team(tmp_path, TEAM.replace("    summary_on_send: false\n", "")) as (h, made, _):
        h.server.say(sent("reader", "Read a.c"))
        h.server.refuse(400)
        h.server.say("Read.")
        assert (await made.run("Have it read")).text == "Read."
        assert "summary_of_sender_work: \\ncontent" in str(asked(h))


async def test_a_failure_is_told_who_asked(tmp_path: Path) -> None:
    async with team(tmp_path) as (h, made, _):
        h.server.say(sent("reader", "Read a.c"))
        h.server.refuse(400, message="too long")
        h.server.say("The reader failed.")
        assert (await made.run("Have it read")).text == "The reader failed."
        assert "“reader” did not finish" in asked(h)[-1]["content"]


async def test_a_circle_of_messages_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jarvis_ls.assembly.team.MESSAGES", 4)
    async with team(tmp_path) as (h, made, _):
        for number in range(20):
            to = "reader" if number % 2 == 0 else "lead"
            h.server.say(f"Round {number}.\n\n{sent(to, f'Go on {number}')}")
        ending = await made.run("Talk")
        assert ending.state == "failed" and "came to no answer" in ending.error
        assert len(h.server.requests) <= 4 + REPAIRS + 1
