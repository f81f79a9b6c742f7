"""A scripted model for auto mode: a plan, and what each agent answers, by what it is asked."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tests.support.model_server import Answer, Asked, ModelServer

PLAN, DIAGNOSIS, SUMMARY = "Plan how the task", "An agent below you", "You have split"
"""How the prompts of auto mode begin."""
TASK = re.compile(r"(DO-\w+) now")
Play = Callable[[Asked, int], Answer]
"""Gives the answer to a request of an agent, and to which of its requests, from 0."""


class AutoModel:
    """Answers for all agents of a run; what is not scripted is done at once."""

    def __init__(self, server: ModelServer, plan: Any) -> None:
        self.server = server
        self.plan = plan if isinstance(plan, list) else [plan]
        """Answers with a plan, in order; the last one stays."""
        self.plays: dict[str, Play] = {}
        """By task: `DO-a`, or `whole` for one that is not split."""
        self.diagnoses: dict[str, list[Any]] = {}
        """What the parent says of an agent, by its task, in order; the last one stays."""
        self.asked: list[str] = []
        """Who has asked: `plan`, `diagnosis DO-a`, `summary`, or a task."""
        server.decide = self._decide

    def count(self, who: str) -> int:
        """How often someone has asked."""
        return self.asked.count(who)

    def _decide(self, asked: Asked) -> Answer:
        words = written(asked)
        if DIAGNOSIS in words:
            task = next(iter(TASK.findall(words)), "plan")
            usual = [{"action": "redirect", "instructions": "Go another way."}]
            return self._say(f"diagnosis {task}", self.diagnoses.get(task, usual))
        if SUMMARY in words:
            return self._say("summary", ["All is summed up."])
        if PLAN in words:
            return self._say("plan", self.plan)
        who = (["whole", *TASK.findall(words)])[-1]
        self.asked.append(who)
        if who in self.plays:
            return self.plays[who](asked, self.count(who) - 1)
        return self.say(f"{who} is done.")

    def _say(self, who: str, answers: Sequence[Any]) -> Answer:
        answer = answers[min(self.count(who), len(answers) - 1)]
        self.asked.append(who)
        if isinstance(answer, Answer):
            return answer
        return self.say(answer if isinstance(answer, str) else json.dumps(answer))

    def say(self, text: str, **answer: Any) -> Answer:
        """An answer with text."""
        return self._taken(self.server.say(text, **answer))

    def call(self, name: str, arguments: Mapping[str, Any], **answer: Any) -> Answer:
        """An answer with a tool call."""
        return self._taken(self.server.call(name, dict(arguments), **answer))

    def refuse(self, status: int, message: str = "no") -> Answer:
        """An answer with an error."""
        return self._taken(self.server.refuse(status, message=message))

    def _taken(self, answer: Answer) -> Answer:
        self.server.answers.remove(answer)
        return answer


def written(asked: Asked) -> str:
    """The words of a request, without the system prompt."""
    messages = asked.body.get("messages", [])
    return "\n".join(str(m.get("content", "")) for m in messages if m.get("role") != "system")


def plan_of(**tasks: Sequence[str]) -> dict[str, Any]:
    """A plan with these tasks, each with the ids it depends on; `a` is told `DO-a`."""
    subtasks = [
        {"id": id, "title": f"Task {id}", "task": f"DO-{id} now", "dependencies": list(needs)}
        for id, needs in tasks.items()
    ]
    return {"should_split": True, "background": "Shared.", "subtasks": subtasks}
