"""Show what the static analysis knows of a candidate."""

from __future__ import annotations

from jarvis_ls.core.words import Words, together
from jarvis_ls.jsec.pipeline.tools.service import candidate_of, examiner_of
from jarvis_ls.runtime.tools.permissions import shown
from jarvis_ls.runtime.tools.tool import Action, ToolContext, tool

_MOST = 60
"""Steps that are told."""


@tool(actions=lambda _: [Action("read", ".")], independent=True)
async def trace(context: ToolContext, gid: int) -> str:
    """Show the path of the static analysis to a candidate, step by step, what to do about it, and
    what runs have shown of it.

    Args:
        gid: Number of the candidate.
    """
    finding = candidate_of(context, gid)
    cwe = f" CWE-{finding.cwe[0]}" if finding.cwe else ""
    lines: list[str] = [f"#{gid} {finding.rule}{cwe} {finding.file}:{finding.span.line}"]
    for number, step in enumerate(finding.steps[:_MOST], 1):
        lines.append(f"{number}. {step.file}:{step.span.line} {step.message}")
    if len(finding.steps) > _MOST:
        lines.append(Words("… {count} more", count=len(finding.steps) - _MOST))
    lines += [f"see {place.file}:{place.span.line} {place.message}" for place in finding.related]
    if text := str(finding.suggestion):
        lines.append(f"-> {text}")
    proof = examiner_of(context).proof(gid)
    if proof is not None:
        lines.append(f"{proof.verdict}: {proof.message}")
        lines += [f"case {proof.case}"] if proof.case else []
    return together([shown(line) for line in lines], "\n")
