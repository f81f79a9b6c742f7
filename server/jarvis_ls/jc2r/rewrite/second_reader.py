"""A second agent that reads a rewrite that has passed all gates, and what its objections are worth.

It proposes, a run decides: an objection counts when its test passes on the translation of the C and
fails on the rewrite. Others are kept beside the rewrite, as what nobody has shown.
"""

from __future__ import annotations

from enum import Enum
from typing import Any

from pydantic import BaseModel, Field

from jarvis_ls.jc2r.rewrite.function_tests import check_tests
from jarvis_ls.runtime.agent.typed_answer import ModelForm

MOST = 3
"""Objections of one review that are looked at."""


class Objection(BaseModel):
    """Something that is not as in the C."""

    what: str = Field(min_length=1, description="the input, what the C does, what the Rust does")
    test: str = Field(
        "", description="Rust: a #[test] function that passes on the old Rust and fails on the new"
    )


class Review(BaseModel):
    """What a second agent says of a rewrite."""

    agrees: bool = Field(description="whether it does what the C does, for every defined input")
    objections: list[Objection] = Field(default_factory=list, max_length=MOST)


class ReviewForm(ModelForm):
    """A `Review` whose tests can be run."""

    def __init__(self) -> None:
        super().__init__(Review)

    def check(self, value: Any) -> Any:
        """See `AnswerForm`."""
        answer = super().check(value)
        assert isinstance(answer, Review)
        for objection in answer.objections:
            if objection.test.strip():
                check_tests(objection.test)
        return answer


class Worth(Enum):
    """What a run says of an objection."""

    PROVEN = "proven"
    """Its test passes on the translation and fails on the rewrite."""
    REFUTED = "refuted"
    """Its test says the same of both."""
    UNTESTED = "untested"
    """It has no test that can be run."""
