"""What a model answers when it is asked whether libraries can do what a function does."""

from __future__ import annotations

from pydantic import BaseModel, Field, model_validator
from typing_extensions import Self


class Assessment(BaseModel):
    """Whether a function, with all that it calls, can be replaced."""

    replaceable: bool
    libraries: list[str] = Field(
        default_factory=list, description="crates that do it together, or std"
    )
    library: str = Field("", description="the main one of them")
    apis: list[str] = Field(default_factory=list, description="what of them is called")
    api: str = Field("", description="the main one of these")
    confidence: float = Field(0.0, ge=0.0, le=1.0)
    notes: str = Field("", description="one line: why, and where behaviour could differ")

    @model_validator(mode="after")
    def _names_a_library(self) -> Self:
        if self.library and self.library not in self.libraries:
            self.libraries = [self.library, *self.libraries]
        if self.replaceable and not self.libraries:
            raise ValueError("libraries is needed where replaceable is true")
        if self.libraries and not self.library:
            self.library = self.libraries[0]
        if self.apis and not self.api:
            self.api = self.apis[0]
        return self
