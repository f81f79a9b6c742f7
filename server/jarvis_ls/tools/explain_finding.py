"""Explain one finding: the path that leads to it, and why it is bad."""

from __future__ import annotations

from jarvis_ls.core.errors import JarvisError
from jarvis_ls.core.finding import Finding, Related
from jarvis_ls.core.words import Words, together
from jarvis_ls.runtime.base.errors import ToolRetry
from jarvis_ls.runtime.edits.text_file import read_text, resolve_path
from jarvis_ls.runtime.tools.permissions import shown
from jarvis_ls.runtime.tools.tool import Action, ToolContext, tool
from jarvis_ls.tools.code_analysis import analysis_of, finding_line
from jarvis_ls.tools.findings import SECONDS, visible
from jarvis_ls.tools.project import hidden_from

STEPS = 40
"""Steps of a path that are shown."""
WHY = 600
"""Characters of a rule's page."""
LINE = 200


@tool(actions=lambda _: [Action("read", ".")], independent=True, timeout=SECONDS)
async def explain_finding(context: ToolContext, id: str) -> str:
    """Explain a finding: the path to it with source lines, what to do, why it is bad.

    Args:
        id: As `findings` lists it.
    """
    analysis = analysis_of(context)
    survey = await analysis.survey()
    known = visible(survey.found, "explain_finding", context)
    meant = [item for item in known if id in (item[0].finding.id, item[0].finding.fingerprint)]
    if not meant:
        raise ToolRetry("There is no finding {id} (any more); `findings` lists them.", id=shown(id))
    lines = _Lines(context)
    parts: list[str] = []
    for located, name in meant:
        parts.append(shown(finding_line(located.finding, name)))
        parts += await _path(located.finding, located.root, lines)
        if suggestion := str(located.finding.suggestion):
            parts.append(f"-> {suggestion}")
    why = await analysis.why(meant[0][0].finding.rule)
    if why:
        parts.append(why if len(why) <= WHY else f"{why[:WHY]}…")
    return together(parts, "\n")


async def _path(finding: Finding, root: int, lines: _Lines) -> list[str]:
    steps = finding.steps
    told: list[str] = []
    for number, step in enumerate(steps[:STEPS], 1):
        name, line = await lines.at(root, step)
        told += [f"{number}. {name}:{step.span.line} {step.message}", f"     {line}"]
    if len(steps) > STEPS:
        told.append(Words("… {count} more", count=len(steps) - STEPS))
    if len(steps) < 2:
        told.append(Words("Only the place is known, no path to it."))
    return told


class _Lines:
    """Lines of the files that paths lead through, as they are now."""

    def __init__(self, context: ToolContext) -> None:
        self._context = context
        self._files: dict[tuple[int, str], list[str]] = {}

    async def at(self, root: int, step: Related) -> tuple[str, str]:
        """Return the name of the file of a step, and its line."""
        folder = self._context.roots[root]
        place = resolve_path(str(folder / step.file), self._context)
        key = root, step.file
        if key not in self._files:
            hides = hidden_from(
                "explain_finding", resolve_path(str(folder), self._context), self._context
            )
            try:
                hidden = hides is not None and hides(step.file)
                file = None if hidden else await read_text(str(place.real), self._context)
            except JarvisError:  # it is gone, or no text: the step says enough
                file = None
            self._files[key] = file.lines if file is not None else []
        lines = self._files[key]
        line = lines[step.span.line - 1].strip() if step.span.line <= len(lines) else ""
        return shown(place.name), shown(line[:LINE])
