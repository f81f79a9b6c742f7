"""What several rules tell in the same words: use after close, a result no one tested."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from jarvis_ls.codeintel.functions import Call
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.rule import Report
from jarvis_ls.jsec.local.c.next_use import use_after, use_before_test
from jarvis_ls.jsec.local.c.result_fixes import test_pointer
from jarvis_ls.jsec.local.c.statement_effects import USING


def used_after(
    closing: Call, by: Collection[str] | None = None, harmless: Callable[[Node], bool] | None = None
) -> Iterator[Report]:
    """Yield a use behind the call that closes something; `by` are the functions whose use counts,
    all when None, without those that are `harmless`.
    """
    use = use_after(closing)
    if use is None or use.does not in USING or (by is not None and use.by not in by):
        return
    if harmless is not None and harmless(use.node):
        return
    yield Report(
        use.node,
        "'{handle}' is used after {closer}() closed it.",
        confidence=0.85 if use.certain else 0.55,
        pattern=closing.name,
        handle=text(closing.arg(0)),
        closer=closing.name,
    ).with_related([(closing.node, "Closed here.")])


def used_untested(call: Call, message: str, place: str) -> Iterator[Report]:
    """Yield a use of the result of a call that may be NULL, which no one tested. `message` names
    the
    `{pointer}` and the `{function}`; `place` says what happened at the call."""
    use = use_before_test(call)
    if use is None:
        return
    yield Report(
        use,
        message,
        pattern=call.name,
        pointer=text(call.target) or call.name,
        function=call.name,
        fix=test_pointer(call),
    ).with_related([(call.node, place)] if use != call.node else ())
