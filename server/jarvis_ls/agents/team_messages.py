"""Messages between the agents of a team, as models write them, and what is wrong with those that
cannot be sent.

    <SEND_MESSAGE>
    {"to": "reviewer", "content": "Look at src/a.c, line 12."}
    </SEND_MESSAGE>
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from jarvis_ls.core.model_json import read_model_json
from jarvis_ls.core.words import Words

START, END = "<SEND_MESSAGE>", "</SEND_MESSAGE>"
LONGEST = 200_000
"""Characters of a message."""
ENDS = 20
"""End tags behind which a block may end; more of them are not in any content."""

_START = re.compile(re.escape(START), re.IGNORECASE)
_END = re.compile(re.escape(END), re.IGNORECASE)
_OPEN_FENCE = re.compile(r"\s*```\s*\Z")


@dataclass(frozen=True, slots=True)
class TeamMessage:
    """What one agent of a team sends another."""

    to: str
    """Name of the agent."""
    content: str


@dataclass(frozen=True, slots=True)
class Unsendable:
    """Why a message was not sent."""

    why: str
    """In one sentence, for people."""
    hint: str
    """The same and how to write the message instead, for the model."""


def mentions_message(text: str) -> bool:
    """Return whether a block begins somewhere."""
    return _START.search(text) is not None


def read_message(text: str, sender: str, names: Sequence[str]) -> TeamMessage | Unsendable:
    """Return the one message that an answer holds. A missing end tag is added.

    `names` are those of all agents of the team.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    bodies = _bodies(text)
    if not bodies:
        return _unsendable("There is no message in the answer.", names)
    if len(bodies) > 1:
        return _unsendable(
            Words(
                "The answer holds {n} messages; send one a turn. Put what belongs together into"
                " one, and send the rest in later turns.",
                n=len(bodies),
            ),
            names,
        )
    body, is_closed = bodies[0]
    if not body.strip():
        return _unsendable("The block is empty; write one JSON object into it.", names)
    try:
        value = read_model_json(body)
    except ValueError as error:
        ended = "" if is_closed else Words(" The end tag {tag} is missing too.", tag=END)
        return _unsendable(
            Words(
                "The block is not JSON: {why}. Look for a quote, comma or brace that is missing,"
                " and write line breaks in strings as \\n.{ended}",
                why=error,
                ended=ended,
            ),
            names,
        )
    if not isinstance(value, dict):
        return _unsendable(
            Words("The block holds {kind}, not one JSON object.", kind=_kind(value)), names
        )
    return check_message(value.get("to"), value.get("content"), sender, names)


def check_message(
    to: Any, content: Any, sender: str, names: Sequence[str]
) -> TeamMessage | Unsendable:
    """Return the message when it can be sent."""
    missing = [f'"{name}"' for name, value in (("to", to), ("content", content)) if value is None]
    if missing:
        return _unsendable(
            Words("{names} is missing in the message.", names=" and ".join(missing)), names
        )
    for name, value in (("to", to), ("content", content)):
        if not isinstance(value, str):
            return _unsendable(
                Words('"{name}" must be a string, not {kind}.', name=name, kind=_kind(value)), names
            )
    if not to.strip():
        return _unsendable('"to" is empty; it is the name of an agent.', names)
    if to.strip() not in names:
        return _unsendable(Words("There is no agent {name}.", name=repr(to.strip()[:80])), names)
    if to.strip() == sender:
        return _unsendable(
            "A message to yourself is not sent. Go on yourself, or choose another agent.", names
        )
    if len(content) > LONGEST:
        return _unsendable(
            Words(
                "The content has {n} characters; at most {most} are sent. Write it to a file and"
                " name that.",
                n=len(content),
                most=LONGEST,
            ),
            names,
        )
    return TeamMessage(to.strip(), content)


def _bodies(text: str) -> list[tuple[str, bool]]:
    """Return what is in the blocks, and whether each has its end tag."""
    found: list[tuple[str, bool]] = []
    at = 0
    while (start := _START.search(text, at)) is not None:
        end = _find_end(text, start.end())
        if end is None:
            body = text[start.end() :]
            following = _START.search(body)
            body = body if following is None else body[: following.start()]
            found.append((_OPEN_FENCE.sub("", body), False))
            at = start.end() + len(body)
        else:
            found.append((text[start.end() : end.start()], True))
            at = end.end()
    return found


def _find_end(text: str, at: int) -> re.Match[str] | None:
    """Return the end tag of the block whose text begins at `at`: the first behind which the JSON
    is whole, so that a tag in the content ends nothing; else the first before another block."""
    first: re.Match[str] | None = None
    following = _START.search(text, at)
    for end in islice(_END.finditer(text, at), ENDS):
        try:
            read_model_json(text[at : end.start()])
        except ValueError:
            if first is None and (following is None or end.start() < following.start()):
                first = end
        else:
            return end
    return first


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, (int, float)):
        return "a number"
    if isinstance(value, str):
        return "a string"
    return "a list" if isinstance(value, list) else "an object" if value is not None else "null"


def _unsendable(why: str, names: Sequence[str]) -> Unsendable:
    why = Words(why) if not isinstance(why, Words) else why
    example = json.dumps({"to": names[0] if names else "name", "content": "…"}, ensure_ascii=False)
    return Unsendable(
        why,
        Words(
            "Nothing was sent. {why}\nThe agents are: {names}. Write exactly one block:\n"
            "{start}\n{example}\n{end}",
            why=why,
            names=", ".join(names),
            start=START,
            example=example,
            end=END,
        ),
    )
