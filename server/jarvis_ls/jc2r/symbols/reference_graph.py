"""Who refers to whom as a picture: DOT and SVG for every project, PNG where Graphviz is there."""

from __future__ import annotations

import itertools
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from jarvis_ls.core.files import replace_file
from jarvis_ls.core.store import read_records
from jarvis_ls.jc2r.symbols.layered_layout import HEIGHT, Layout, lay_out
from jarvis_ls.jc2r.symbols.symbol import Table

_SHAPES = {"function": "box", "type": "ellipse", "global": "cylinder", "macro": "note"}
MAX_DRAWN = 1_500
"""A picture of more nodes helps no one and takes long; they are written as DOT only."""
MAX_LINES = 5_000
"""The same for lines."""
DRAW_SECONDS = 60
_CHARACTER = 6.7
"""Width of a character of a name, in pixels."""
_STYLE = """
text { font: 11px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #1f2328; }
rect { fill: #eef4fb; stroke: #3572b0; }
.type rect { fill: #f3eefb; stroke: #7a4fb5; }
.global rect { fill: #fbf3e6; stroke: #a86a12; }
.macro rect { fill: #f2f2f2; stroke: #777; }
path { fill: none; stroke: #8a93a0; }
marker path { fill: #8a93a0; stroke: none; }
@media (prefers-color-scheme: dark) {
  svg { background: #1b1e23; } text { fill: #d9dee5; }
  rect { fill: #20303f; stroke: #5b9bd5; } .type rect { fill: #2c2439; stroke: #a98bd8; }
  .global rect { fill: #3a2f1d; stroke: #d8a24a; } .macro rect { fill: #2b2b2b; stroke: #999; }
  path { stroke: #7d8794; } marker path { fill: #7d8794; }
}
"""


@dataclass(frozen=True, slots=True)
class DrawnNode:
    """A symbol in the picture; places are in pixels."""

    id: int
    kind: str
    name: str
    file: str
    line: int
    x: float
    y: float
    width: float


@dataclass(frozen=True, slots=True)
class DrawnEdge:
    """One symbol refers to another."""

    source: int
    target: int
    points: tuple[float, ...]
    """x and y in turn."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A graph, laid out."""

    width: float
    height: float
    nodes: tuple[DrawnNode, ...]
    """By layer, and from top to bottom."""
    edges: tuple[DrawnEdge, ...]
    omitted: int = 0
    """Symbols there are when they are too many to draw; then there are no nodes."""


@dataclass(frozen=True, slots=True)
class _Shown:
    id: int
    kind: str
    name: str
    file: str
    line: int
    refs: tuple[int, ...]


def dot_of(table: Table, ids: Iterable[int]) -> str:
    """Return a graph of some symbols in the DOT language, files as clusters."""
    chosen = set(ids)
    by_file: dict[str, list[int]] = {}
    for number in sorted(chosen):
        by_file.setdefault(table.symbols[number - 1].file, []).append(number)
    lines = ["digraph references {", "  rankdir=LR;", "  node [fontname=Helvetica fontsize=10];"]
    for at, (file, numbers) in enumerate(by_file.items()):
        lines += [f"  subgraph cluster_{at} {{", f"    label={_quote(file)};"]
        for number in numbers:
            symbol = table.symbols[number - 1]
            shape = _SHAPES[symbol.category]
            lines.append(f"    n{number} [label={_quote(symbol.name)} shape={shape}];")
        lines.append("  }")
    lines += [
        f"  n{number} -> n{other};"
        for number in sorted(chosen)
        for other in table.refs[number - 1]
        if other in chosen and other != number
    ]
    return "\n".join([*lines, "}", ""])


def picture(root: str, start: int | None, kinds: Sequence[str]) -> Picture:
    """Return the picture of a scanned project: its symbols of some kinds, from `symbols.jsonl`.

    With `start`, a symbol's number, only it and what it needs, at any remove.
    """
    shown = list(_read(Path(root) / ".jarvis" / "c2rust" / "symbols.jsonl"))
    if start is not None:
        shown = _needed_nodes(shown, start)
    return _draw([node for node in shown if node.kind in kinds])


def svg_of(drawn: Picture, title: str) -> str:
    """Return the picture as a document of its own, in the colours the reader prefers."""
    size = f'width="{drawn.width:g}" height="{drawn.height:g}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size}'
        f' viewBox="0 0 {drawn.width:g} {drawn.height:g}" role="img">',
        f"<title>{_text(title)}</title>",
        f"<style>{_STYLE}</style>",
        '<defs><marker id="to" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7"'
        ' markerHeight="7" orient="auto"><path d="M0 1L7 4L0 7z"/></marker></defs>',
    ]
    lines += [f'<path d="{path_of(edge.points)}" marker-end="url(#to)"/>' for edge in drawn.edges]
    for node in drawn.nodes:
        middle = f'x="{node.x + node.width / 2:g}" y="{node.y + HEIGHT / 2 + 4:g}"'
        lines.append(
            f'<g class="{node.kind}"><title>{_text(f"{node.name} · {node.file}:{node.line}")}'
            f'</title><rect x="{node.x:g}" y="{node.y:g}" width="{node.width:g}"'
            f' height="{HEIGHT:g}" rx="4"/><text {middle} text-anchor="middle">'
            f"{_text(node.name)}</text></g>"
        )
    return "\n".join([*lines, "</svg>", ""])


def path_of(points: Sequence[float]) -> str:
    """Return a line through points, bent softly between layers."""
    pairs = list(zip(points[::2], points[1::2], strict=True))
    path = f"M{pairs[0][0]:g} {pairs[0][1]:g}"
    for (x, y), (to_x, to_y) in itertools.pairwise(pairs):
        middle = (x + to_x) / 2
        path += (
            f"L{to_x:g} {to_y:g}"
            if y == to_y
            else f"C{middle:g} {y:g} {middle:g} {to_y:g} {to_x:g} {to_y:g}"
        )
    return path


def write_graph(
    path: Path, table: Table, ids: Iterable[int], *, svg: bool = True, png: bool = False
) -> str:
    """Write `path` (`….dot`), SVG beside it, and PNG when that is wanted and Graphviz is there.

    Returns why there is no picture, in words; empty when there is one or none was wanted. Raises
    `JarvisError` when a file cannot be written.
    """
    chosen = set(ids)
    text = dot_of(table, chosen)
    replace_file(path, text.encode("utf-8", "replace"))
    if not svg:
        return ""
    path.with_suffix(".png").unlink(missing_ok=True)  # of an earlier scan, which had another graph
    symbols = table.symbols
    drawn = _draw(
        [
            _Shown(
                n,
                symbols[n - 1].category,
                symbols[n - 1].name,
                symbols[n - 1].file,
                symbols[n - 1].start_line,
                tuple(table.refs[n - 1]),
            )
            for n in sorted(chosen)
        ]
    )
    if drawn.omitted:
        path.with_suffix(".svg").unlink(missing_ok=True)
        return f"{path.name}: no picture, it has too many symbols ({drawn.omitted})"
    replace_file(path.with_suffix(".svg"), svg_of(drawn, path.stem).encode("utf-8", "replace"))
    program = shutil.which("dot")
    return _write_png(path, text, program) if png and program is not None else ""


def _write_png(path: Path, text: str, program: str) -> str:
    try:
        done = subprocess.run(
            [program, "-Tpng"],
            input=text.encode("utf-8", "replace"),
            capture_output=True,
            timeout=DRAW_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"{path.name}: no PNG, Graphviz took longer than {DRAW_SECONDS} s"
    if done.returncode != 0:
        return f"{path.name}: Graphviz failed: {done.stderr.decode(errors='replace')[:200]}"
    replace_file(path.with_suffix(".png"), done.stdout)
    return ""


def _draw(shown: Sequence[_Shown]) -> Picture:
    place = {node.id: at for at, node in enumerate(shown)}
    pairs = [
        (place[node.id], place[other])
        for node in shown
        for other in node.refs
        if other in place and other != node.id
    ]
    if len(shown) > MAX_DRAWN or len(pairs) > MAX_LINES:
        return Picture(0, 0, (), (), omitted=len(shown))
    widths = [round(len(node.name) * _CHARACTER + 16, 1) for node in shown]
    layout: Layout = lay_out(widths, pairs)
    nodes = [
        DrawnNode(node.id, node.kind, node.name, node.file, node.line, x, y, width)
        for node, width, (x, y) in zip(shown, widths, layout.places, strict=True)
    ]
    edges = [DrawnEdge(shown[a].id, shown[b].id, points) for (a, b), points in layout.lines.items()]
    nodes.sort(key=lambda node: (node.x, node.y))
    return Picture(layout.width, layout.height, tuple(nodes), tuple(edges))


def _read(path: Path) -> Iterable[_Shown]:
    """Symbols of a file; records that are none are left out."""
    for record in read_records(path):
        try:
            refs = tuple(int(other) for other in record["ref_ids"])
            line = int(record["start_line"])
            yield _Shown(
                int(record["id"]),
                str(record["category"]),
                str(record["name"]),
                str(record["file"]),
                line,
                refs,
            )
        except (KeyError, TypeError, ValueError):
            continue


def _needed_nodes(shown: Sequence[_Shown], start: int) -> list[_Shown]:
    by_id = {node.id: node for node in shown}
    found = {start} & by_id.keys()
    stack = list(found)
    while stack:
        for other in by_id[stack.pop()].refs:
            if other in by_id and other not in found:
                found.add(other)
                stack.append(other)
    return [node for node in shown if node.id in found]


def _text(text: str) -> str:
    """For XML, which knows no control characters."""
    return escape("".join(char if char >= " " else "\N{REPLACEMENT CHARACTER}" for char in text))


def _quote(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
