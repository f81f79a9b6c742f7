"""What a reviewer with a model answers, checked against the diff it was given."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import BaseModel, Field

from jarvis_ls.core.finding import Severity
from jarvis_ls.review.excerpts import safe_lines
from jarvis_ls.review.units import ReviewUnit, Status
from jarvis_ls.runtime.agent.typed_answer import AnswerUnfit, ModelForm

_MOST_ISSUES = 30
_BLANKS = re.compile(r"\s+")
_MARKS = re.compile(r"^\s*\d*\s*[+-] ")


class ReportedIssue(BaseModel):
    """Something that a reviewer holds to be wrong."""

    path: str = Field(description="The file, as in the diff.")
    line: int = Field(ge=1, description="First line, as after the change; in the diff.")
    end_line: int = Field(default=0, ge=0, description="Last line; 0 when it is the first.")
    severity: Severity
    message: str = Field(min_length=1, max_length=2_000, description="What is wrong, and when.")
    suggestion: str = Field(min_length=1, max_length=2_000, description="What to do.")
    quote: str = Field(
        max_length=2_000, description="One changed line, word for word, that shows it."
    )


class ReviewAnswer(BaseModel):
    """What a reviewer says of a part of a diff."""

    issues: list[ReportedIssue] = Field(max_length=_MOST_ISSUES)
    summary: str = Field(max_length=4_000, description="Two sentences at most.")


class ReviewForm(ModelForm):
    """A `ReviewAnswer` whose places and quotes are in the diff.

    Models miscount lines: where the quoted line is changed in one place only, that place counts.
    """

    def __init__(
        self,
        units: Iterable[ReviewUnit],
        before: Mapping[str, bytes],
        after: Mapping[str, bytes],
    ) -> None:
        """`units` are the files that the reviewer is given."""
        super().__init__(ReviewAnswer)
        self._units = {unit.path: unit for unit in units}
        self._before, self._after = before, after

    def check(self, value: Any) -> ReviewAnswer:
        """See `AnswerForm`."""
        answer = super().check(value)
        assert isinstance(answer, ReviewAnswer)
        placed = []
        problems = []
        for number, issue in enumerate(answer.issues):
            try:
                placed.append(self._placed(issue))
            except AnswerUnfit as error:
                problems.append(f"issues.{number}: {error}")
        if problems:
            raise AnswerUnfit("; ".join(problems))
        return answer.model_copy(update={"issues": placed})

    def _placed(self, issue: ReportedIssue) -> ReportedIssue:
        """Return an issue with the lines at which it is shown. Raise `AnswerUnfit` when it speaks
        of something that is not in the diff."""
        unit = self._units.get(issue.path)
        if unit is None:
            raise AnswerUnfit(f"path: {issue.path!r} is not in the diff")
        last = max(issue.line, issue.end_line)
        places = self._places(unit, issue.quote)
        if not places:
            raise AnswerUnfit(
                f"quote: no line that changes in {issue.path} reads so; quote one word for word"
            )
        if unit.status is Status.DELETED:
            return issue.model_copy(update={"line": 1, "end_line": 1})
        fits = any(issue.line - 1 <= place <= last + 1 for place in places)
        if not fits:
            if len(places) > 1:
                raise AnswerUnfit(
                    f"line: the quoted line is at {', '.join(map(str, places[:5]))}, not at "
                    f"{issue.line}"
                )
            return issue.model_copy(update={"line": places[0], "end_line": places[0]})
        first = unit.nearest(issue.line)
        return issue.model_copy(update={"line": first, "end_line": max(first, unit.nearest(last))})

    def _places(self, unit: ReviewUnit, quote: str) -> list[int]:
        """Return the lines, as after the change, at which a changed line reads like a quote."""
        wanted = _plain(quote)
        if not wanted:
            return []
        new = safe_lines(self._after.get(unit.path, b""))
        old = safe_lines(self._before.get(unit.old_path, b""))
        found = []
        for hunk in unit.hunks:
            found += [
                line for line in range(hunk.start, hunk.end) if _plain(new[line - 1]) == wanted
            ]
            found += [
                unit.nearest(hunk.start)
                for line in range(hunk.old_start, hunk.old_end)
                if _plain(old[line - 1]) == wanted
            ]
        return found


def _plain(line: str) -> str:
    """Return a line without what models lose or add: blanks, and the marks of a diff."""
    return _BLANKS.sub(" ", _MARKS.sub("", line)).strip()
