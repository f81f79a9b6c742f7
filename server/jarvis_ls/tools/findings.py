"""List the findings of the workspace."""

from __future__ import annotations

from jarvis_ls.core.words import Words, together
from jarvis_ls.runtime.edits.text_file import WorkspacePath, resolve_path
from jarvis_ls.runtime.tools.permissions import shown
from jarvis_ls.runtime.tools.tool import Action, ToolContext, tool
from jarvis_ls.tools.code_analysis import Located, analysis_of, finding_line
from jarvis_ls.tools.project import hidden_from

LIMIT = 40
"""Findings told at once."""
SECONDS = 900.0


@tool(
    actions=lambda a: [Action("read", path) for path in a["paths"] or (".",)],
    independent=True,
    timeout=SECONDS,
)
async def findings(
    context: ToolContext,
    paths: list[str] | None = None,
    rule: str = "",
    min_confidence: float = 0.0,
    new_only: bool = False,
    skip: int = 0,
) -> str:
    """List the security findings of the workspace (C, C++, Rust): id, place, rule, severity,
    confidence, message. What changed is scanned again.

    Args:
        paths: Only in these files or folders.
        min_confidence: From 0 to 1.
        new_only: Only those that came during this session.
        skip: Leave out this many first.
    """
    survey = await analysis_of(context).survey()
    chosen = visible(survey.found, "findings", context)
    places = [resolve_path(path, context) for path in paths or ()]
    if places:
        chosen = [item for item in chosen if any(_lies_in(item, place) for place in places)]
    if rule:
        chosen = [item for item in chosen if item[0].finding.rule == rule]
    if new_only:
        chosen = [item for item in chosen if item[0].finding.fingerprint in survey.fresh]
    chosen = [item for item in chosen if item[0].finding.confidence >= min_confidence]
    part = chosen[max(0, skip) : max(0, skip) + LIMIT]
    lines: list[str] = [
        shown(finding_line(located.finding, name)).replace("\n", " ") for located, name in part
    ]
    if len(chosen) > len(part):
        told = Words(
            "{shown} of {all} findings; more with skip {skip} or narrower arguments.",
            shown=len(part),
            all=len(chosen),
            skip=max(0, skip) + len(part),
        )
    else:
        told = Words("Findings: {all}.", all=len(chosen)) if chosen else Words("No findings.")
    return together([*lines, told, *survey.notes], "\n")


def visible(
    found: tuple[Located, ...], tool_name: str, context: ToolContext
) -> list[tuple[Located, str]]:
    """Return the findings in files that the tool may look at, with the names of the files."""
    hiding = {
        number: hidden_from(tool_name, resolve_path(str(root), context), context)
        for number, root in enumerate(context.roots)
    }
    kept: list[tuple[Located, str]] = []
    for located in found:
        hides = hiding.get(located.root)
        if hides is None or not hides(located.finding.file):
            root = context.roots[located.root]
            place = resolve_path(str(root / located.finding.file), context)
            kept.append((located, shown(place.name)))
    return kept


def _lies_in(item: tuple[Located, str], place: WorkspacePath) -> bool:
    located, _ = item
    if located.root != place.number:
        return False
    path = place.path
    return path in (".", "", located.finding.file) or located.finding.file.startswith(f"{path}/")
