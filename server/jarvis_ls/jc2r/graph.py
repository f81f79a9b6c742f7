"""Who refers to whom as a picture: DOT for every project, SVG and PNG where Graphviz is there."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

from jarvis_ls.core.files import replace_file
from jarvis_ls.jc2r.symbols import Table

_SHAPES = {"function": "box", "type": "ellipse", "global": "cylinder", "macro": "note"}
MAX_DRAWN = 3_000
"""Graphviz needs minutes for more nodes; they are written as DOT only."""
DRAW_SECONDS = 60


def dot_of(table: Table, ids: Iterable[int]) -> str:
    """A graph of some symbols in the DOT language, files as clusters."""
    chosen = set(ids)
    by_file: dict[str, list[int]] = {}
    for number in sorted(chosen):
        by_file.setdefault(table.symbols[number - 1].file, []).append(number)
    lines = ["digraph references {", "  rankdir=LR;", "  node [fontname=Helvetica fontsize=10];"]
    for at, (file, numbers) in enumerate(by_file.items()):
        lines += [f"  subgraph cluster_{at} {{", f"    label={_quoted(file)};"]
        for number in numbers:
            symbol = table.symbols[number - 1]
            shape = _SHAPES[symbol.category]
            lines.append(f"    n{number} [label={_quoted(symbol.name)} shape={shape}];")
        lines.append("  }")
    lines += [
        f"  n{number} -> n{other};"
        for number in sorted(chosen)
        for other in table.refs[number - 1]
        if other in chosen and other != number
    ]
    return "\n".join([*lines, "}", ""])


def write_graph(path: Path, table: Table, ids: Iterable[int], *, pictures: bool) -> str:
    """Write `path` (`….dot`), and SVG and PNG beside it when `pictures` are wanted and possible.

    Returns why there are no pictures, in words; empty when there are or none were wanted. Raises
    `JarvisError` when a file cannot be written.
    """
    chosen = set(ids)
    text = dot_of(table, chosen)
    replace_file(path, text.encode())
    if not pictures:
        return ""
    program = shutil.which("dot")
    if program is None:
        return "no pictures of the graphs: Graphviz (dot) is not installed"
    if len(chosen) > MAX_DRAWN:
        return f"{path.name}: no picture, it has more than {MAX_DRAWN} symbols"
    for form in ("svg", "png"):
        try:
            done = subprocess.run(
                [program, f"-T{form}"], input=text.encode(), capture_output=True,
                timeout=DRAW_SECONDS, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return f"{path.name}: no picture, Graphviz took longer than {DRAW_SECONDS} s"
        if done.returncode != 0:
            return f"{path.name}: Graphviz failed: {done.stderr.decode(errors='replace')[:200]}"
        replace_file(path.with_suffix(f".{form}"), done.stdout)
    return ""


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
