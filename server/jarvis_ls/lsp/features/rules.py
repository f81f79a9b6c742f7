"""The list of rules, and the page of each."""

from __future__ import annotations

import re
from typing import Any

from jarvis_ls.core.errors import UsageError
from jarvis_ls.jsec.base.weaknesses import REFERENCE, weakness_uri
from jarvis_ls.jsec.engine.page_text import facts
from jarvis_ls.lsp.protocol import extensions
from jarvis_ls.lsp.protocol.extensions import (
    ExplainRuleParams,
    ExplainRuleResult,
    RuleItem,
    RulesParams,
)
from jarvis_ls.lsp.server import Server


def register(server: Server) -> None:
    """Answer `jarvis/rules`, `jarvis/explainRule` and the command `jarvis.explainRule`."""

    async def rules(_params: RulesParams) -> list[RuleItem]:
        return [
            RuleItem(
                id=page.id,
                title=page.title,
                languages=list(page.languages),
                category=page.category,
                cwe=list(page.cwe),
                severity=page.severity,
                fixable=page.fixable,
            )
            for page in (await server.rule_pages()).values()
        ]

    async def explain(params: ExplainRuleParams) -> ExplainRuleResult:
        page = (await server.rule_pages()).get(params.rule)
        if page is None:
            raise UsageError(server.say("Unknown rule '{rule}'.", rule=params.rule))
        body = REFERENCE.sub(_link, page.page.partition("\n")[2].strip())
        weaknesses = (f"[CWE-{number}]({weakness_uri(number)})" for number in page.cwe)
        head = f"`{page.id}` · {facts(page, server.say, weaknesses)}"
        text = f"# {page.title}\n\n{head}\n\n{body}\n"
        return ExplainRuleResult(page.id, page.title, text)

    async def command(arguments: list[Any]) -> str:
        if len(arguments) != 1 or not isinstance(arguments[0], str):
            raise UsageError(server.say("The command needs the id of a rule."))
        return (await explain(ExplainRuleParams(arguments[0]))).markdown

    server.answer(extensions.RULES, rules)
    server.answer(extensions.EXPLAIN_RULE, explain)
    server.run(extensions.COMMAND_EXPLAIN_RULE, command)


def _link(reference: re.Match[str]) -> str:
    return f"- [{reference[1]}]({weakness_uri(int(reference[2]))})"
