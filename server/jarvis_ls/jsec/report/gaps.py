"""What the analysis does not know, as a page to read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from jarvis_ls.core.translations import Translations
from jarvis_ls.jsec.report.markdown import plain
from jarvis_ls.jsec.scan.gaps import ADVICE, ALL_KNOWN, HEADINGS, Gap, Sort

_TITLE = "What the analysis does not know"
_MEANING = (
    "Values that such a name gives, or is given, may be anything from then on: flaws in what is "
    "done with them are not found."
)


def gap_page(gaps: Sequence[Gap], say: Translations) -> str:
    """Return a page in Markdown over what is not known of a folder."""
    return "\n".join(_lines(gaps, say)) + "\n"


def _lines(gaps: Sequence[Gap], say: Translations) -> Iterator[str]:
    yield f"# {say(_TITLE)}"
    yield ""
    yield say(_MEANING if gaps else ALL_KNOWN)
    for sort in Sort:
        chosen = [gap for gap in gaps if gap.sort is sort]
        if not chosen:
            continue
        heading = say(HEADINGS[sort])
        yield f"\n## {heading[:1].upper()}{heading[1:]}\n"
        yield f"{say(ADVICE[sort])}\n"
        for gap in chosen:
            yield f"- {gap.count} × {plain(gap.name)} ({plain(gap.file)}:{gap.line})"
