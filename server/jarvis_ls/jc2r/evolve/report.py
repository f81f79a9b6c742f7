"""The measurements over time: as rows of a table, and as a page that needs nothing but itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from html import escape

from jarvis_ls.core.columns import columns as width_of
from jarvis_ls.core.words import Words
from jarvis_ls.jc2r.evolve.state import Ended, Measured, State

Say = Callable[[str], str]
"""Puts `Words` into the reader's language."""
UNKNOWN = "-"
_NAMES = 2
"""Columns that say which row it is; the others are numbers."""

STAGES: dict[str, str] = {
    "assess": Words("assess the C"),
    "harden": Words("harden the C"),
    "replace": Words("replace library functions"),
    "transpile": Words("transpile"),
    "optimize": Words("optimize"),
}
"""The stages, as people read them."""
STANDINGS: dict[str, str] = {
    "done": Words("done"),
    "skipped": Words("left out"),
    "stopped": Words("stopped"),
}

_Cell = Callable[[Measured], str]

_STYLE = """
:root { color-scheme: light dark; --text: #1f2328; --back: #ffffff; --line: #8b949e; }
@media (prefers-color-scheme: dark) { :root { --text: #e6e8eb; --back: #16181c; --line: #767d87; } }
body { margin: 0 auto; max-width: 80rem; padding: 1rem 1.25rem 4rem; color: var(--text);
  background: var(--back); font: 1rem/1.5 system-ui, sans-serif; }
div { overflow-x: auto; } table { border-collapse: collapse; }
th, td { text-align: right; padding: .2rem .9rem .2rem 0; border-bottom: 1px solid var(--line); }
th:nth-child(-n+2), td:nth-child(-n+2), .text th, .text td { text-align: left; }
caption { text-align: left; font-weight: 600; }
"""
_CSP = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def columns(rows: Sequence[Measured]) -> list[tuple[str, _Cell]]:
    """Return the heads of the table of these measurements, in words, and what is below each; a
    column of which nothing is known is left out."""
    known: list[tuple[str, _Cell]] = [
        (Words("round"), lambda row: str(row.round)),
        (Words("stage"), lambda row: row.stage),
        (Words("score"), lambda row: f"{row.score:.2f}"),
        (Words("findings"), lambda row: str(row.findings)),
        (Words("high"), lambda row: str(row.high)),
        (Words("in Rust"), lambda row: _of(row.in_rust, row.functions)),
        (Words("rewritten"), lambda row: _number(row.rewritten)),
        (Words("equal"), lambda row: _number(row.equal)),
        (Words("mutants found"), lambda row: _of(row.killed, row.mutants)),
        (Words("unsafe lines"), lambda row: _of(row.unsafe_lines, row.lines)),
        (Words("raw pointers"), lambda row: _number(row.raw_pointers)),
        (Words("C library"), lambda row: _of(row.library_left, row.library)),
        (Words("time in C"), lambda row: _seconds(row.c_seconds)),
        (Words("time in Rust"), lambda row: _seconds(row.rust_seconds)),
    ]
    return [column for column in known if any(column[1](row) != UNKNOWN for row in rows)]


def family_columns(rows: Sequence[Measured], name: Callable[[str], str]) -> list[tuple[str, _Cell]]:
    """Return the same for the findings by family; `name` says a family in words. Empty when there
    are no findings."""
    families = sorted({family for row in rows for family in row.families})
    if not families:
        return []
    return [*columns(rows)[:_NAMES], *((name(family), _count_of(family)) for family in families)]


def table(rows: Sequence[Measured], heads: Sequence[tuple[str, _Cell]], say: Say) -> Iterator[str]:
    """Yield the lines of a table for the terminal."""
    cells = [[say(head) for head, _ in heads]]
    cells += [[cell(row) for _, cell in heads] for row in rows]
    widths = [max(map(width_of, column)) for column in zip(*cells, strict=True)]
    for line in cells:
        padded = []
        for at, (text, width) in enumerate(zip(line, widths, strict=True)):
            blanks = " " * (width - width_of(text))
            padded.append(f"{blanks}{text}" if at >= _NAMES else f"{text}{blanks}")
        yield "  ".join(padded).rstrip()


def page(title: str, state: State, name: Callable[[str], str], say: Say, language: str) -> str:
    """Return the page; `name` says a family of findings in words."""
    rows = state.measured
    parts = [
        "<!doctype html>",
        f'<html lang="{language}">',
        "<head>",
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{_CSP}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{_text(title)}</title>",
        f"<style>{_STYLE}</style>",
        "</head>",
        f"<body><main><h1>{_text(title)}</h1>",
    ]
    if rows:
        parts += _html_table(say(Words("Measurements after each stage")), rows, columns(rows), say)
        if heads := family_columns(rows, name):
            parts += _html_table(say(Words("Findings in the C by family")), rows, heads, say)
    parts += _stage_table(state.ended, say)
    return "\n".join([*parts, "</main></body>", "</html>"]) + "\n"


def _html_table(
    caption: str, rows: Sequence[Measured], heads: Sequence[tuple[str, _Cell]], say: Say
) -> Iterator[str]:
    yield f"<div><table><caption>{_text(caption)}</caption><thead><tr>"
    yield "".join(f'<th scope="col">{_text(say(head))}</th>' for head, _ in heads)
    yield "</tr></thead><tbody>"
    for row in rows:
        yield f"<tr>{''.join(f'<td>{_text(cell(row))}</td>' for _, cell in heads)}</tr>"
    yield "</tbody></table></div>"


def _stage_table(ended: Sequence[Ended], say: Say) -> Iterator[str]:
    heads = (Words("round"), Words("stage"), Words("state"), Words("seconds"), Words("result"))
    yield f'<div><table class="text"><caption>{_text(say(Words("Stages")))}</caption><thead><tr>'
    yield "".join(f'<th scope="col">{_text(say(head))}</th>' for head in heads)
    yield "</tr></thead><tbody>"
    for record in ended:
        cells = (
            str(record.round),
            say(STAGES[record.stage]),
            say(STANDINGS[record.standing]),
            f"{record.seconds:.1f}",
            say(record.why),
        )
        yield f"<tr>{''.join(f'<td>{_text(cell)}</td>' for cell in cells)}</tr>"
    yield "</tbody></table></div>"


def _count_of(family: str) -> _Cell:
    return lambda row: str(row.families.get(family, 0))


def _of(part: int | None, whole: int | None) -> str:
    return UNKNOWN if part is None or whole is None else f"{part}/{whole}"


def _number(value: int | None) -> str:
    return UNKNOWN if value is None else str(value)


def _seconds(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:.3f} s"


def _text(text: str) -> str:
    return escape(text, quote=True)
