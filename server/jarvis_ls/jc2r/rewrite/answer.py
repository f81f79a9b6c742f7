"""What a model answers: the new Rust of one function, and how a safe one is called from C."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field, model_validator
from typing_extensions import Self

Source = Literal[
    "value",
    "boolean",
    "slice",
    "slice_mut",
    "optional_slice",
    "optional_slice_mut",
    "reference",
    "reference_mut",
    "optional_reference",
    "optional_reference_mut",
    "c_string",
]


class Argument(BaseModel):
    """What one parameter of the safe function is made of."""

    kind: Source
    parameter: str = Field(min_length=1, description="name of the C parameter it comes from")
    length: str = Field(
        "",
        description="of slices: the C parameter that holds the number of elements, or that number",
    )

    @model_validator(mode="after")
    def _has_length(self) -> Self:
        if self.kind.removeprefix("optional_").startswith("slice") and not self.length.strip():
            raise ValueError("length is needed for a slice")
        return self


class Rewrite(BaseModel):
    """One function, rewritten."""

    status: Literal["rewritten", "cannot"]
    code: str = Field("", description="Rust: the function, and private helpers if it needs any")
    arguments: list[Argument] | None = Field(
        None,
        description="null when the signature stays; else one entry for each parameter of the safe"
        " function, in order",
    )
    notes: str = Field("", description="what was changed and why it behaves the same, or why not")
    learned: list[str] = Field(
        default_factory=list,
        max_length=5,
        description="what one who rewrites functions near it needs to know of the C, a sentence"
        " each",
    )

    @model_validator(mode="after")
    def _has_code(self) -> Self:
        if self.status == "rewritten" and not self.code.strip():
            raise ValueError("code is needed where status is rewritten")
        return self
