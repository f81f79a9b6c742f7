"""What an empty chat offers to begin with: the gravest findings, each of another rule."""

from __future__ import annotations

from collections.abc import Iterable

from jarvis_ls.lsp.panel.commands import Located, order_by_score
from jarvis_ls.lsp.protocol.panel import Suggestion
from jarvis_ls.lsp.user_messages import Messages

MOST = 3


def suggest(found: Iterable[Located], say: Messages) -> tuple[Suggestion, ...]:
    """Return at most three questions about findings."""
    by_rule: dict[str, Located] = {}
    for located in sorted(found, key=order_by_score):
        by_rule.setdefault(located.finding.rule, located)
    return tuple(_explain(located, say) for located in list(by_rule.values())[:MOST])


def _explain(located: Located, say: Messages) -> Suggestion:
    finding = located.finding
    place = f"{finding.file}:{finding.span.line}"
    title = say(
        "Explain and fix {place}: {message}", place=place, message=say.text(finding.message)
    )
    text = say(
        "Explain finding {id} ({rule}, {place}): what leads to it, whether it is real, and how to "
        "repair it.",
        id=finding.id,
        rule=finding.rule,
        place=place,
    )
    return Suggestion(title, text)
