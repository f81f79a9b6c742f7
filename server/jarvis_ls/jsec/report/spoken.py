"""The language of reports: English, or what their reader reads."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from jarvis_ls.core.finding import AGENTS, Finding, Proof
from jarvis_ls.core.translations import Translations
from jarvis_ls.jsec.proof.evidence import Verdict
from jarvis_ls.jsec.proof.said import NAMES

LOCALE = Path(__file__).resolve().parents[1] / "locale"

IN_ENGLISH = Translations()


_HIDDEN = {"baseline": "hidden by the baseline", AGENTS: "held to be no flaw by the agents"}
_VERDICTS = {
    "reproduced": "Agents: a flaw, reproduced by a run.",
    "unproven": "Agents: a flaw, not yet shown by a run.",
    "undecided": "Agents: not decided.",
    "false_positive": "Agents: no flaw.",
}


def speaker(language: str) -> Translations:
    """Says the templates of reports and findings in a language."""
    return Translations(language, LOCALE)


def count_phrase(say: Translations, item: str, many: str, count: int) -> str:
    """Return a count with its noun: templates with `{count}`, for one and for any other number."""
    return say(item if count == 1 else many, count=count)


def findings_in_words(say: Translations, count: int) -> str:
    """`1 finding`, `2 findings`."""
    return count_phrase(say, "{count} finding", "{count} findings", count)


def hidden_by(say: Translations, why: str) -> str:
    """Return what hides a finding: the baseline, or a comment with its reason."""
    kind, _, reason = why.partition(": ")
    what = say(_HIDDEN.get(kind, "hidden by a comment"))
    return f"{what}: {reason}" if reason else what


def verdict_in_words(say: Translations, finding: Finding) -> str:
    """Return what agents concluded of a finding, in a sentence."""
    return say(_VERDICTS.get(finding.verdict, _VERDICTS["undecided"]))


def conclusion_in_words(say: Translations, finding: Finding) -> Iterator[str]:
    """Yield what agents concluded of a finding, a line for each field."""
    if finding.conclusion is None:
        return
    yield verdict_in_words(say, finding)
    told = finding.conclusion
    for template, text in (
        ("Preconditions: {text}", told.preconditions),
        ("Trigger path: {text}", told.trigger_path),
        ("Consequences: {text}", told.consequences),
        ("What to do: {text}", told.suggestions),
        ("Notes: {text}", told.notes),
    ):
        if text:
            yield say(template, text=" ".join(text.split()))


def proof_in_words(say: Translations, proof: Proof) -> str:
    """Return what running the code has shown, what it assumes, and how to see it again."""
    told = f"{say(NAMES[Verdict(proof.verdict)])}: {say(proof.message)}"
    for assumption in proof.assumptions:
        told += " " + say("Assumed: {what}", what=say(assumption))
    return f"{told} jsec replay {proof.case}" if proof.case else told
