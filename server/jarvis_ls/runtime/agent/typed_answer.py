"""What the last answer of a task must be: a value that a pydantic model or a JSON schema takes.

    class Verdict(BaseModel):
        confirmed: bool
        reason: str

    ending = await conversation.ask("Is the finding real?", form=ModelForm(Verdict))
    ending.value  # a Verdict

The model is given the schema. Loosely written JSON is read as it was meant; what does not meet the
form is asked for again, with what is wrong, and in the end the task has failed.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

from jarvis_ls.core.model_json import read_model_json
from jarvis_ls.runtime.agent.prompts import prompt
from jarvis_ls.runtime.tools.schema_tools import check_schema, violations

if TYPE_CHECKING:
    from pydantic import BaseModel

_FENCED = re.compile(r"```[\w-]*[ \t]*\n(.*?)```", re.DOTALL)
_PROBLEMS = 8
"""Of one answer that the model is shown at once."""


class AnswerUnfit(ValueError):
    """An answer does not meet the form; the text says why, to the model."""


class AnswerForm(ABC):
    """What an answer must be."""

    schema: dict[str, Any]
    """As JSON schema."""
    refused: int = 0
    """How many answers did not fit."""

    @abstractmethod
    def check(self, value: Any) -> Any:
        """Return what represents a JSON value. Raise `AnswerUnfit` when it does not fit."""

    @abstractmethod
    def plain(self, value: Any) -> Any:
        """Return what `check` gave as JSON values."""

    def read(self, text: str) -> Any:
        """Return the value in an answer. Raise `AnswerUnfit` when there is none that fits."""
        try:
            return self._read(text)
        except AnswerUnfit:
            self.refused += 1
            raise

    def _read(self, text: str) -> Any:
        problem = "There is no JSON in it."
        for candidate in _candidates(text):
            try:
                value = read_model_json(candidate)
            except ValueError as error:
                problem = f"It cannot be read as JSON: {error}."
                continue
            return self.check(value)
        raise AnswerUnfit(problem)

    @property
    def instructions(self) -> str:
        """Return what the model reads."""
        written = json.dumps(self.schema, ensure_ascii=False)
        return prompt("typed_answer").replace("{schema}", written)


class SchemaForm(AnswerForm):
    """A value that a JSON schema takes, as plain JSON."""

    def __init__(self, schema: dict[str, Any]) -> None:
        """Raise `ValueError` when it is no JSON schema."""
        check_schema(schema)
        self.schema = schema

    def check(self, value: Any) -> Any:
        """See `AnswerForm`."""
        problems = violations(self.schema, value)
        if problems:
            raise AnswerUnfit("; ".join(problems[:_PROBLEMS]))
        return value

    def plain(self, value: Any) -> Any:
        """See `AnswerForm`."""
        return value


class ModelForm(AnswerForm):
    """An instance of a pydantic model."""

    def __init__(self, model: type[BaseModel]) -> None:
        self.model = model
        self.schema = _schema_of(model)

    def check(self, value: Any) -> BaseModel:
        """See `AnswerForm`."""
        from pydantic import ValidationError

        try:
            return self.model.model_validate(value)
        except ValidationError as error:
            problems = [
                f"{'.'.join(map(str, p['loc'])) or 'the answer'}: {p['msg']}"
                for p in error.errors(include_url=False)[:_PROBLEMS]
            ]
            raise AnswerUnfit("; ".join(problems)) from None

    def plain(self, value: Any) -> Any:
        """See `AnswerForm`."""
        return value.model_dump(mode="json")


@cache
def _schema_of(model: type[BaseModel]) -> dict[str, Any]:
    return model.model_json_schema()


def _candidates(text: str) -> Iterator[str]:
    """Yield the parts of a text that may be its JSON: all of it, what is in fences from the
    last on, and what is between the first bracket and the last.
    """
    yield text.strip()
    yield from reversed(_FENCED.findall(text))
    starts = [place for place in (text.find("{"), text.find("[")) if place >= 0]
    end = max(text.rfind("}"), text.rfind("]"))
    if starts and min(starts) < end:
        yield text[min(starts) : end + 1]
