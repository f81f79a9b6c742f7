"""From what the rules said to what the user is told: suppressions, settings, baseline.

One place for the editor and the command line, so that both always say the same.
"""

from __future__ import annotations

from jarvis_ls.codeintel.languages import LanguageName
from jarvis_ls.codeintel.parse import Tree
from jarvis_ls.codeintel.source import Source
from jarvis_ls.core.finding import Finding


def assess(
    source: Source, language: LanguageName, tree: Tree, findings: list[Finding]
) -> list[Finding]:
    """The findings of one file with what hides them filled in; nothing is removed."""
    return findings
