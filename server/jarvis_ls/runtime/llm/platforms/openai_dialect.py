"""What a model behind OpenAI's protocols takes, learned from what it refuses.

Endpoints differ in a few places, and say so in words. What a refusal asks for is done at once, and
from then on, so that no setting is needed where a model is served by a proxy or an own server.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from jarvis_ls.runtime.llm.platforms.base import ModelInfo


@dataclass(frozen=True, slots=True)
class _Lesson:
    """One thing that refusals say."""

    pattern: re.Pattern[str]
    is_new: Callable[[ModelInfo], bool]
    """Return whether the model is not asked that way already."""
    apply: Callable[[ModelInfo], ModelInfo]


_LESSONS = (
    _Lesson(
        re.compile(
            r"(?i)reasoning_content\b.{0,80}(?:passed back|is missing|missing|required)"
            r"|missing `?reasoning_content"
        ),
        lambda model: not model.reasoning_back,
        lambda model: replace(model, reasoning_back=True),
    ),
    _Lesson(
        re.compile(r"(?i)max_tokens\b.{0,120}\bmax_completion_tokens"),
        lambda model: not model.max_completion_tokens,
        lambda model: replace(model, max_completion_tokens=True),
    ),
    _Lesson(
        re.compile(
            r"(?i)only (?:supported|available) (?:in|with|through) (?:the )?(?:v1/)?responses"
            r"|not a chat model and thus not supported in the v1/chat/completions"
            r"|use (?:the )?/?v1/responses"
        ),
        lambda model: model.api != "responses",
        lambda model: replace(model, api="responses"),
    ),
    _Lesson(  # of another organisation, or of a model that was replaced behind its name
        re.compile(
            r"(?i)invalid_encrypted_content|encrypted content.{0,80}could not be"
            r"|invalid\W{1,8}signature\W{1,8}in\W{1,8}thinking"
        ),
        lambda model: model.reasoning_back is not False,
        lambda model: replace(model, reasoning_back=False),
    ),
)


class Dialects:
    """What was learned of the models of one endpoint."""

    def __init__(self) -> None:
        self._learned: dict[str, list[_Lesson]] = {}

    def of(self, model: ModelInfo) -> ModelInfo:
        """Return the model with what was learned of it."""
        for lesson in self._learned.get(model.name, ()):
            model = lesson.apply(model)
        return model

    def learn(self, model: ModelInfo, error: Exception) -> bool:
        """Return whether a refusal said something new, with which the model can be asked again."""
        if getattr(error, "status_code", None) not in (400, 404, 422):
            return False
        said = f"{error} {getattr(error, 'body', '')}"  # routers quote who they asked in there
        for lesson in _LESSONS:
            if lesson.pattern.search(said) and lesson.is_new(model):
                self._learned.setdefault(model.name, []).append(lesson)
                return True
        return False
