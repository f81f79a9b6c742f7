"""A scripted model for `jsec agent`: it answers each request by the role of the agent that asks.

A test changes what single roles answer: `roles["analysis"] = lambda asked: …`. Without that the
model is agreeable: clusters of one candidate each, reasons hold, everything is a flaw.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.support.model_server import Answer, Asked, ModelServer

OPENINGS = {
    "clustering": "Group the candidates below",
    "review": "Try to break these reasons",
    "analysis": "Find out whether the candidates below",
    "verification": "Check the analyses below",
}


@dataclass
class Question:
    """What an agent asks, as the model sees it."""

    role: str
    candidates: list[dict[str, Any]]
    text: str
    """The whole conversation."""
    round: int
    """How many answers it was given before."""
    results: list[str] = field(default_factory=list)
    """What tools gave."""
    tools: list[str] = field(default_factory=list)
    """Names of the tools it may call."""

    @property
    def gids(self) -> list[int]:
        """The candidates' numbers."""
        return [candidate["gid"] for candidate in self.candidates]


Reply = Callable[[Question], "Answer | str | list[Any] | None"]


class SecurityModel(ModelServer):
    """See the module; use it as an async context manager."""

    def __init__(self) -> None:
        super().__init__()
        self.roles: dict[str, Reply] = {}
        self.asked: list[Question] = []
        self.decide = self._decide

    def called(self, role: str) -> list[Question]:
        """The questions of a role."""
        return [question for question in self.asked if question.role == role]

    def text(self, text: str) -> Answer:
        """An answer in words."""
        return self._taken(self.say(text, pieces=1))

    def tool(self, name: str, arguments: dict[str, Any]) -> Answer:
        """An answer that calls a tool."""
        return self._taken(self.call(name, arguments))

    def _taken(self, answer: Answer) -> Answer:
        self.answers.remove(answer)
        return answer

    def _decide(self, asked: Asked) -> Answer | None:
        question = read_question(asked)
        if question is None:
            return self.text("Nothing. !!!COMPLETE!!!")
        self.asked.append(question)
        reply = self.roles.get(question.role)
        given = reply(question) if reply is not None else None
        if given is None:
            given = agreeable(question)
        if isinstance(given, Answer):
            return given
        return self.text(given if isinstance(given, str) else json.dumps(given))


def read_question(asked: Asked) -> Question | None:
    """What an agent asks; None for other questions."""
    messages = asked.body.get("messages", [])
    texts = [_text(message) for message in messages]
    whole = "\n".join(texts)
    role = next((name for name, words in OPENINGS.items() if words in whole), "")
    if not role:
        return None
    block = re.search(r"<candidates>\n(.*?)\n</candidates>", whole, re.DOTALL)
    assert block is not None
    candidates = [json.loads(line) for line in block[1].splitlines() if line.strip()]
    answers = sum(message.get("role") == "assistant" for message in messages)
    results = [_text(message) for message in messages if message.get("role") == "tool"]
    tools = [tool["function"]["name"] for tool in asked.body.get("tools", [])]
    return Question(role, candidates, whole, answers, results, tools)


def _text(message: dict[str, Any]) -> str:
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "") for part in content)


def agreeable(question: Question) -> list[Any]:
    """What a model answers that agrees with everything."""
    if question.role == "clustering":
        return [
            {"verification": f"check {gid}", "gids": [gid], "is_invalid": False}
            for gid in question.gids
        ]
    if question.role == "review":
        return [
            {"gid": gid, "is_reason_sufficient": True, "review_notes": "All callers are bounded."}
            for gid in question.gids
        ]
    if question.role == "analysis":
        return [flaw(candidate) for candidate in question.candidates]
    return [
        {"gid": gid, "is_valid": True, "verification_notes": "The chain of calls exists."}
        for gid in question.gids
    ]


def flaw(candidate: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """An analysis that says that a candidate is a flaw."""
    return {
        "gid": candidate["gid"],
        "has_risk": True,
        "preconditions": "An argument longer than the buffer.",
        "trigger_path": "main() -> copy(): nothing checks the length.",
        "consequences": "The stack is overwritten.",
        "suggestions": "Check the length first.",
        "quotes": [
            {
                "file": candidate["file"],
                "line": candidate["line"],
                "code": candidate["evidence"],
            }
        ],
        **changes,
    }


def no_flaw(gid: int, reason: str = "All callers bound the length.") -> dict[str, Any]:
    """An analysis that says that a candidate is none."""
    return {"gid": gid, "has_risk": False, "reason": reason}
