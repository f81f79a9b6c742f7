"""The prompt about a function and all that it calls: `prompts/library.md`, filled in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from jarvis_ls.core.errors import SkippedFile
from jarvis_ls.core.files import read_regular
from jarvis_ls.core.words import filled
from jarvis_ls.jc2r.crate.config import Config
from jarvis_ls.jc2r.libraries.call_graph import CallGraph
from jarvis_ls.jc2r.libraries.crate_registry import Listed
from jarvis_ls.runtime.agent.prompts import as_data
from jarvis_ls.runtime.base.prompt_files import read_prompt

_MOST_FUNCTIONS = 80
_MOST_EDGES = 160
_MOST_CRATES = 200
_CHILDREN = 2
"""Functions called directly whose source is shown, too."""
_LINES = 120
"""Lines of source that are shown of one function."""


def brief(
    root: Path,
    graph: CallGraph,
    number: int,
    crates: Sequence[Listed],
    library: str,
    config: Config,
) -> str:
    """Return the task of a model for a function; `library` is the crate to try first."""
    symbol = graph.symbol(number)
    below = [n for n, _ in graph.breadth_first([number])][:_MOST_FUNCTIONS]
    edges = [
        f"{graph.symbol(n).name} -> {graph.symbol(other).name}"
        for n in below
        for other in graph.calls(n)
    ]
    notes = config.additional_notes.strip()
    disabled = ", ".join(config.disabled_libraries)
    values = {
        "place": f"{symbol.file}:{symbol.start_line}, {symbol.name}",
        "functions": as_data("\n".join(_heads(graph, below))),
        "edges": as_data("\n".join(edges[:_MOST_EDGES]) or "It calls no function of the project."),
        "source": as_data("\n\n".join(_sources(root, graph, below[: 1 + _CHILDREN]))),
        "crates": as_data("\n".join(_listed(crates)) or "Those of the public registry."),
        "preferred": f"Consider `{library}` first." if library else "",
        "disabled": f"Never propose: {disabled}." if disabled else "",
        "notes": f"Additional notes of the user:\n{notes}" if notes else "",
    }
    text = filled(read_prompt("jarvis_ls.jc2r.libraries", "library"), values)
    return text.encode("utf-8", "backslashreplace").decode()


def _heads(graph: CallGraph, numbers: Sequence[int]) -> Iterator[str]:
    for number in numbers:
        symbol = graph.symbol(number)
        yield f"{symbol.name} | {symbol.signature}"


def _sources(root: Path, graph: CallGraph, numbers: Sequence[int]) -> Iterator[str]:
    for number in numbers:
        symbol = graph.symbol(number)
        try:
            data = read_regular(root / symbol.file, limit=64_000_000, root=root)
        except SkippedFile:
            continue  # it went away; the next scan says so
        lines = data.decode("utf-8", "replace").split("\n")[symbol.start_line - 1 : symbol.end_line]
        yield "\n".join(lines[:_LINES])


def _listed(crates: Sequence[Listed]) -> Iterator[str]:
    for crate in crates[:_MOST_CRATES]:
        yield f"{crate.name} {crate.version}: {crate.about}"
