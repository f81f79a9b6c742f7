"""Messages of a team as models write them: read where they can be, else answered with a hint."""

from __future__ import annotations

import json

import pytest

from jarvis_ls.agents.team_messages import LONGEST, TeamMessage, Unsendable, read_message

NAMES = ["lead", "reader", "writer"]


def block(body: str, end: str = "</SEND_MESSAGE>") -> str:
    return f"<SEND_MESSAGE>\n{body}\n{end}"


GOOD = '{"to": "reader", "content": "Read a.c"}'


@pytest.mark.parametrize(
    "text",
    [
        block(GOOD),
        f"I send it on.\n\n{block(GOOD)}",
        block(GOOD).replace("\n", "\r\n"),
        block(GOOD).replace("\n", "\r"),
        f"<SEND_MESSAGE>{GOOD}</SEND_MESSAGE>",
        block(GOOD, end=""),
        f"<send_message>\n{GOOD}\n</send_message>",
        block("{to: 'reader', content: 'Read a.c',}"),
        block('{\n  // the reader\n  "to": "reader",\n  "content": "Read a.c"\n}'),
        block(f"```json\n{GOOD}\n```"),
        f"```\n{block(GOOD)}\n```",
        f"```\n{block(GOOD, end='')}\n```",
        block('{"to": " reader ", "content": "Read a.c"}'),
        block('{"to": "reader", "content": "Read a.c", "why": "it is yours"}'),
    ],
)
def test_a_message_is_read_however_it_is_laid_out(text: str) -> None:
    assert read_message(text, "lead", NAMES) == TeamMessage("reader", "Read a.c")


def test_a_content_may_hold_tags_lines_and_nothing() -> None:
    for content in ("Write </SEND_MESSAGE> behind it", "<SEND_MESSAGE> is a tag", "", "one\ntwo"):
        text = block(json.dumps({"to": "reader", "content": content}))
        assert read_message(text, "lead", NAMES) == TeamMessage("reader", content)
    raw = block('{"to": "reader", "content": "one\ntwo"}')
    assert read_message(raw, "lead", NAMES) == TeamMessage("reader", "one\ntwo")


MALFORMED = [
    # nothing, or too much
    ("", "no message"),
    ("</SEND_MESSAGE>", "no message"),
    ("SEND_MESSAGE to reader", "no message"),
    (block(""), "is empty"),
    (block("   \n "), "is empty"),
    ("<SEND_MESSAGE>", "is empty"),
    (block(GOOD) + "\n" + block(GOOD), "2 messages"),
    (block(GOOD) + block(GOOD) + block(GOOD), "3 messages"),
    (block(GOOD, end="") + "\n" + block(GOOD), "2 messages"),
    (block(GOOD) + "\n<SEND_MESSAGE>", "2 messages"),
    # no JSON
    (block("to: reader, content: Read a.c"), "is not JSON"),
    (block('{"to": "reader", "content": "Read a.c"'), "is not JSON"),
    (block('{"to": "reader", "content": "Read a.c}'), "is not JSON"),
    (block('{"to": "reader" "content": "Read a.c"}'), "is not JSON"),
    (block('"to": "reader", "content": "Read a.c"}'), "is not JSON"),
    (block('{"to": "reader", "content": }'), "is not JSON"),
    (block('{"to": "reader", "content": "Read "a.c""}'), "is not JSON"),
    (block(GOOD + " and more"), "is not JSON"),
    (block(GOOD + GOOD), "is not JSON"),
    (block("[" * 100_000), "is not JSON"),
    (block('{"to": "reader", "content": NaN}'), "is not JSON"),
    (block('{"to": "reader", "content": "Read a.c', end=""), "end tag </SEND_MESSAGE> is missing"),
    # another value
    (block("[]"), "holds a list"),
    (block(f"[{GOOD}]"), "holds a list"),
    (block('"reader"'), "holds a string"),
    (block("7"), "holds a number"),
    (block("null"), "holds null"),
    (block("true"), "holds true or false"),
    # fields
    (block("{}"), '"to" and "content" is missing'),
    (block('{"content": "Read a.c"}'), '"to" is missing'),
    (block('{"to": "reader"}'), '"content" is missing'),
    (block('{"to": null, "content": "x"}'), '"to" is missing'),
    (block('{"To": "reader", "content": "x"}'), '"to" is missing'),
    (block('{"to": ["reader"], "content": "x"}'), '"to" must be a string, not a list'),
    (block('{"to": 7, "content": "x"}'), '"to" must be a string, not a number'),
    (block('{"to": "reader", "content": {"a": 1}}'), '"content" must be a string, not an object'),
    (block('{"to": "reader", "content": false}'), "not true or false"),
    (block('{"to": "", "content": "x"}'), '"to" is empty'),
    (block('{"to": "  ", "content": "x"}'), '"to" is empty'),
    # receivers
    (block('{"to": "tester", "content": "x"}'), "no agent 'tester'"),
    (block('{"to": "Reader", "content": "x"}'), "no agent 'Reader'"),
    (block('{"to": "lead", "content": "x"}'), "to yourself"),
    (block(json.dumps({"to": "reader", "content": "x" * (LONGEST + 1)})), "at most"),
]


@pytest.mark.parametrize(("text", "hint"), MALFORMED)
def test_a_malformed_message_is_answered_with_how_to_write_it(text: str, hint: str) -> None:
    found = read_message(text, "lead", NAMES)
    assert isinstance(found, Unsendable)
    assert hint in found.hint
    assert found.hint.startswith("Nothing was sent.")
    assert "lead, reader, writer" in found.hint
    example = found.hint[found.hint.index("<SEND_MESSAGE>\n{") :]
    assert isinstance(read_message(example, "writer", NAMES), TeamMessage)


def test_forty_kinds_of_malformed_messages_are_covered() -> None:
    assert len(MALFORMED) >= 40
