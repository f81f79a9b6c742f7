"""What a project can be asked by name, with arguments as JSON: for fronts whose tools are declared
elsewhere, such as in the manifest of the extension.

The records are the schemas of the tools; the manifest holds the same, and a test compares them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import ConfigDict, Field, ValidationError

from jarvis_ls.core.errors import UsageError
from jarvis_ls.facade.project import Project
from jarvis_ls.facade.records import Query, Record


class Nothing(Record):
    """No arguments."""

    model_config = ConfigDict(extra="forbid")


class Which(Nothing):
    """Names one finding."""

    name: str
    """Id or fingerprint of a finding, as the list of findings gives it."""


class Wanted(Nothing):
    """Which findings are listed."""

    paths: tuple[str, ...] = ()
    """Only in these files or folders, relative to the workspace folder."""
    rule: str = ""
    """Only of this rule, such as double-free."""
    minConfidence: Annotated[float, Field(ge=0, le=1)] = 0.0
    """Only with this confidence or more."""
    limit: Annotated[int, Field(ge=1, le=500)] = 50
    """How many are listed, the most severe first."""


class WhichRule(Nothing):
    """Names one rule."""

    rule: str
    """Id of a rule, such as double-free."""


class Revisions(Nothing):
    """Names a change."""

    revisions: str = ""
    """Such as main..HEAD; without it, the files on the disk against the last commit."""


@dataclass(frozen=True, slots=True)
class Question:
    """One thing that can be asked."""

    arguments: type[Nothing]
    """Record of its arguments."""
    ask: Callable[[Project, Any], Awaitable[Any]]
    """Gives a record, plain data or text. Raises `JarvisError`."""
    runs_code: bool = False
    """Whether code of the project is built and run for it: the user is asked first."""


async def _findings(project: Project, wanted: Wanted) -> dict[str, Any]:
    found = await project.findings(
        Query(paths=wanted.paths, rule=wanted.rule, min_confidence=wanted.minConfidence)
    )
    listed = [record.model_dump(mode="json") for record in found[: wanted.limit]]
    return {"total": len(found), "findings": listed}


QUESTIONS: Mapping[str, Question] = {
    "scan": Question(Nothing, lambda project, _: project.scan()),
    "findings": Question(Wanted, _findings),
    "explain_finding": Question(Which, lambda project, asked: project.explain(asked.name)),
    "preview_fix": Question(Which, lambda project, asked: project.preview_fix(asked.name)),
    "prove": Question(
        Which, lambda project, asked: project.prove(asked.name, 30.0), runs_code=True
    ),
    "explain_rule": Question(WhichRule, lambda project, asked: project.rule_page(asked.rule)),
    "impact": Question(Revisions, lambda project, asked: project.impact(asked.revisions)),
    "migration_status": Question(Nothing, lambda project, _: project.migration()),
}
"""By name."""


async def ask(project: Project, name: str, arguments: Mapping[str, Any]) -> Any:
    """Return the answer to a question as plain data or text. Raises `JarvisError`."""
    try:
        question = QUESTIONS[name]
    except KeyError:
        raise UsageError("There is no question {name}.", name=name) from None
    try:
        asked = question.arguments.model_validate(arguments)
    except ValidationError as error:
        wrong = "; ".join(
            f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors()
        )
        raise UsageError("The arguments are not as the tool takes them: {why}", why=wrong) from None
    answer = await question.ask(project, asked)
    return answer.model_dump(mode="json") if isinstance(answer, Record) else answer
