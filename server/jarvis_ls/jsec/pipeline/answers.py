"""What agents answer, as pydantic models, and what of it is checked before it counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from pydantic import BaseModel, Field, RootModel, model_validator
from typing_extensions import Self

from jarvis_ls.jsec.pipeline.quotes import QuoteChecker
from jarvis_ls.jsec.pipeline.records import FIELDS
from jarvis_ls.runtime.agent.typed_answer import AnswerUnfit, ModelForm

_SHOWN = 20
"""Numbers that are named in a problem."""


class Quote(BaseModel):
    """Code as it stands in a file."""

    file: str = Field(description="path relative to the workspace")
    line: int = Field(ge=1, description="number of the first line quoted, from 1")
    code: str = Field(description="the line, or the lines from there on, word for word")


class ClusterItem(BaseModel):
    """Candidates that one condition decides."""

    verification: str = Field(min_length=1, description="the condition to check")
    gids: list[int] = Field(min_length=1)
    is_invalid: bool
    invalid_reason: str = Field("", description="needed when is_invalid is true")

    @model_validator(mode="after")
    def _has_reason(self) -> Self:
        if self.is_invalid and not self.invalid_reason.strip():
            raise ValueError("invalid_reason is needed where is_invalid is true")
        return self


class ReviewItem(BaseModel):
    """Whether a reason holds."""

    gid: int
    is_reason_sufficient: bool
    review_notes: str = Field(min_length=1)


class AnalysisItem(BaseModel):
    """Whether a candidate is a flaw."""

    gid: int
    has_risk: bool
    preconditions: str = ""
    trigger_path: str = ""
    consequences: str = ""
    suggestions: str = ""
    reason: str = Field("", description="needed when has_risk is false: why it cannot happen")
    invariant: str = Field("", description="id of a checked invariant that rules it out, if any")
    quotes: list[Quote] = Field(
        default_factory=list, description="the lines it rests on; needed when has_risk is true"
    )

    @model_validator(mode="after")
    def _is_complete(self) -> Self:
        if not self.has_risk:
            if not self.reason.strip():
                raise ValueError("reason is needed where has_risk is false")
            return self
        missing = [name for name in FIELDS if not getattr(self, name).strip()]
        missing += [] if self.quotes else ["quotes"]
        if missing:
            raise ValueError(f"{', '.join(missing)} needed where has_risk is true")
        return self


class VerificationItem(BaseModel):
    """Whether an analysis is right."""

    gid: int
    is_valid: bool
    verification_notes: str = Field(min_length=1)
    quotes: list[Quote] = Field(default_factory=list)


class Clusters(RootModel[list[ClusterItem]]):
    """All clusters of a batch."""

    @model_validator(mode="before")
    @classmethod
    def _plain(cls, value: Any) -> Any:
        return _unwrap(value)


class Reviews(RootModel[list[ReviewItem]]):
    """One review for each candidate."""

    @model_validator(mode="before")
    @classmethod
    def _plain(cls, value: Any) -> Any:
        return _expand(_unwrap(value))


class Analyses(RootModel[list[AnalysisItem]]):
    """One analysis for each candidate."""

    @model_validator(mode="before")
    @classmethod
    def _plain(cls, value: Any) -> Any:
        return _expand(_unwrap(value))


class Verifications(RootModel[list[VerificationItem]]):
    """One verification for each candidate."""

    @model_validator(mode="before")
    @classmethod
    def _plain(cls, value: Any) -> Any:
        return _expand(_unwrap(value))


class CompleteForm(ModelForm):
    """A list that speaks of each candidate exactly once, and quotes only what is there."""

    def __init__(
        self,
        model: type[RootModel[Any]],
        gids: Iterable[int],
        quotes: QuoteChecker | None = None,
    ) -> None:
        super().__init__(model)
        self._gids = tuple(gids)
        self._quotes = quotes

    def check(self, value: Any) -> Any:
        """See `AnswerForm`; return the items."""
        items: list[Any] = vars(super().check(value))["root"]
        problems = _wrong_numbers(self._gids, items)
        if self._quotes is not None:
            quotes = [quote for item in items for quote in getattr(item, "quotes", ())]
            problems += self._quotes.problems(quotes)
        if problems:
            raise AnswerUnfit("; ".join(problems[:_SHOWN]))
        return items

    def plain(self, value: Any) -> Any:
        """See `AnswerForm`."""
        return [item.model_dump(mode="json") for item in value]


def _wrong_numbers(wanted: tuple[int, ...], items: list[Any]) -> list[str]:
    told = Counter(gid for item in items for gid in _numbers_of(item))
    missing = [gid for gid in wanted if not told[gid]]
    unknown = sorted(gid for gid in told if gid not in set(wanted))
    twice = sorted(gid for gid, count in told.items() if count > 1)
    cases: tuple[tuple[list[int], Callable[[str], str]], ...] = (
        (missing, lambda names: f"these gids are missing: {names}"),
        (unknown, lambda names: f"these gids were not given: {names}"),
        (twice, lambda names: f"these gids are there more than once: {names}"),
    )
    return [say(", ".join(map(str, gids[:_SHOWN]))) for gids, say in cases if gids]


def _numbers_of(item: Any) -> list[int]:
    return item.gids if isinstance(item, ClusterItem) else [item.gid]


def _unwrap(value: Any) -> Any:
    """Return the list in an object that holds nothing else, and one entry as a list."""
    if isinstance(value, dict):
        inner = list(value.values())
        if len(inner) == 1 and isinstance(inner[0], list):
            return inner[0]
        return [value]
    return value


def _expand(value: Any) -> Any:
    """Return a list in which an entry about several `gids` is one entry for each."""
    if not isinstance(value, list):
        return value
    entries: list[Any] = []
    for entry in value:
        gids = entry.get("gids") if isinstance(entry, dict) and "gid" not in entry else None
        if isinstance(gids, list):
            entries += [{**entry, "gid": gid} for gid in gids]
        else:
            entries.append(entry)
    return entries
