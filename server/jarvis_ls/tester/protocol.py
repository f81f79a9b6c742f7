"""What is asked of the tester and what it answers, as OpenAI's function calling has them.

The fields are an interface for other programs: they are neither renamed nor added to.
"""

from __future__ import annotations

import secrets
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from jarvis_ls.core.errors import UsageError

NAME = "repair_tests"
"""Of the function."""
DESCRIPTION = (
    "Repair failing tests of a project inside an enforced scope: analyse, plan, patch and validate "
    "in a copy in a sandbox without network. Nothing of the project is written; the answer has "
    "patches for the caller to show and apply."
)


class Strict(BaseModel):
    """A record without other fields."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class GivenCase(Strict):
    """An input and the output it should give."""

    input: list[Any]
    """Arguments of the function, or of the program, at the entry point."""
    output: Any
    """What it should return, or print."""


class Request(Strict):
    """What is asked."""

    project_root: str
    """Absolute path of the project, such as `/workspace/my-app`."""
    task_id: Annotated[str, Field(pattern=r"^[\w.-]{1,100}$")]
    """Id of the task; `.tester/tasks/ID.json` may say more about it."""
    test_cases: Annotated[tuple[GivenCase, ...], Field(max_length=1000)] | None = None
    """Inputs and outputs that must hold; without them the project's own tests are run."""
    entry_point: str | None = None
    """Entry file, such as `src/math.py`, or a function in it: `src/math.py::divide`."""
    language: str | None = None
    """Programming language and version, such as `python 3.12`; recognised when it is not given."""
    prompt_hint: str | None = None
    """A hint how to repair, such as `stay backwards compatible`."""
    human_in_the_loop: bool = True
    """Whether all candidates are returned for somebody to choose from."""
    conversation_id: str | None = None
    """Conversation it belongs to: what came of earlier requests in it is taken into account."""

    @field_validator("project_root")
    @classmethod
    def _check_root(cls, value: str) -> str:
        if "\0" in value or not Path(value).is_absolute():
            raise ValueError("it must be an absolute path")
        return value


class FilePatch(Strict):
    """The change of one file."""

    file: str
    """Path from the project's root."""
    patch: str
    """Hunks of a unified diff."""


class ValidationSummary(Strict):
    """What was checked of a patch."""

    syntax_check: str
    type_check: str
    """`passed`, or `not run` where the project has no type checker that can be run."""
    tests_passed: int
    tests_total: int
    impact_analysis: str


class Candidate(Strict):
    """A patch that has passed validation."""

    id: str
    description: str
    risk: Literal["low", "medium", "high"]
    files: dict[str, str]
    """What the changed files hold, by path."""
    patch_set: list[FilePatch]


class Response(Strict):
    """What all answers have."""

    session_id: str
    """`dbg_YYYYMMDD_xxxxxx`."""


class Fixed(Response):
    """All tests pass with this patch."""

    status: Literal["fixed"] = "fixed"
    repairable_scope: list[str]
    fixed_files: dict[str, str]
    """What the changed files hold, by path."""
    patch_set: list[FilePatch]
    validation_summary: ValidationSummary


class Candidates(Response):
    """All tests pass with each of these patches; somebody has to choose."""

    status: Literal["candidates"] = "candidates"
    repairable_scope: list[str]
    candidates: list[Candidate]
    diagnosis: str


class Unfixable(Response):
    """No patch inside the scope passes validation."""

    status: Literal["unfixable"] = "unfixable"
    repairable_scope: list[str]
    diagnosis: str
    suggested_action: str


Answer = Annotated[Fixed | Candidates | Unfixable, Field(discriminator="status")]


def read_request(values: object) -> Request:
    """Return a request from JSON values. Raises `UsageError` naming the first wrong field."""
    try:
        return Request.model_validate(values)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(map(str, first["loc"])) or "-"
        raise UsageError("the request: {field}: {why}", field=field, why=first["msg"]) from None


def new_session_id() -> str:
    """Return an id such as `dbg_20251108_a1b2c3`."""
    return f"dbg_{datetime.now().astimezone():%Y%m%d}_{secrets.token_hex(3)}"


def function_definition() -> dict[str, Any]:
    """Return the function as an entry of `tools` in a request to a model."""
    return {
        "type": "function",
        "function": {
            "name": NAME,
            "description": DESCRIPTION,
            "parameters": Request.model_json_schema(),
        },
    }
