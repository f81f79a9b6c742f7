"""What a model answers when it polishes a file: new texts of functions, or comments."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, Field

from jarvis_ls.jc2r.lift.rust import name_of, parse_source
from jarvis_ls.runtime.agent.typed_answer import AnswerUnfit, ModelForm


class Item(BaseModel):
    """A rewritten function."""

    name: str = Field(min_length=1)
    code: str = Field(min_length=1, description="the whole function, with what stands above it")


class Changes(BaseModel):
    """Rewritten functions of one file."""

    status: Literal["changed", "nothing"]
    items: list[Item] = Field(default_factory=list)
    notes: str = Field("", description="what was changed and why it behaves the same, or why not")


class Comment(BaseModel):
    """The documentation of one function."""

    name: str = Field(min_length=1)
    text: str = Field(min_length=1, max_length=600, description="without comment marks")


class Comments(BaseModel):
    """Documentation that one file lacks."""

    module: str = Field("", max_length=600, description="of the file, without comment marks")
    functions: list[Comment] = Field(default_factory=list)


class ChangesForm(ModelForm):
    """`Changes` of functions that are there."""

    def __init__(self, names: frozenset[str]) -> None:
        """`names` are the functions of the file."""
        super().__init__(Changes)
        self._names = names

    def check(self, value: Any) -> Any:
        """See `AnswerForm`."""
        answer = super().check(value)
        assert isinstance(answer, Changes)
        for item in answer.items:
            source = parse_source(Path(), item.code.encode())
            found = [name_of(function) for function in source.functions]
            if item.name not in self._names:
                raise AnswerUnfit(f"{item.name}: there is no such function in the file.")
            if source.root.has_error or found != [item.name]:
                raise AnswerUnfit(f"{item.name}: the code is not this one function.")
        if answer.status == "changed" and not answer.items:
            raise AnswerUnfit("There are no items in it.")
        return answer


class CommentsForm(ModelForm):
    """`Comments` on functions that lack them."""

    def __init__(self, names: frozenset[str]) -> None:
        """`names` are the functions without documentation."""
        super().__init__(Comments)
        self._names = names

    def check(self, value: Any) -> Any:
        """See `AnswerForm`."""
        answer = super().check(value)
        assert isinstance(answer, Comments)
        for comment in answer.functions:
            if comment.name not in self._names:
                raise AnswerUnfit(f"{comment.name}: no such function lacks documentation.")
        return answer
