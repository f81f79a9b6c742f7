"""Markdown of answers on a terminal: headings, lists, tables and code as such, block by block.

An answer streams in. What of it can still change how it looks (the last block: a paragraph, a list,
a fence) is kept back until the next block begins or the answer ends, so that nothing on the screen
is ever drawn twice, and the terminal's own scrolling, copying and line editing stay as they are.
"""

from __future__ import annotations

import shutil
from typing import TextIO

WIDEST = 100
"""Columns of prose; longer lines are hard to read."""


class MarkdownBlocks:
    """Write one streamed Markdown text to a terminal."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._pending = ""
        self._enough = 0
        """Characters to be kept back before blocks are looked for again: a long one is parsed a few
        times only."""
        self._is_first = True

    def feed(self, text: str) -> None:
        """Take more of the text; write the blocks that it completes."""
        self._pending += text
        if "\n" not in text or len(self._pending) < self._enough:
            return
        start = _last_block(self._pending)
        if start > 0:
            self._write(self._pending[:start])
            self._pending = self._pending[start:]
        self._enough = len(self._pending) * 9 // 8

    def end(self) -> None:
        """Write what is left; what is fed next is another text."""
        if self._pending.strip():
            self._write(self._pending)
        self.drop()
        self._is_first = True

    def drop(self) -> None:
        """Forget what is kept back."""
        self._pending = ""
        self._enough = 0

    def _write(self, text: str) -> None:
        from rich.console import Console
        from rich.markdown import Markdown

        columns = shutil.get_terminal_size().columns
        console = Console(
            file=self._out,
            force_terminal=True,
            width=max(20, min(columns, WIDEST)),
            highlight=False,
            markup=False,
            emoji=False,
        )
        # The address of a link stands beside its words: a model must not hide where one leads.
        shown = Markdown(text, code_theme="ansi_dark", hyperlinks=False)
        with console.capture() as captured:
            console.print(shown)
        lines = [line.rstrip() for line in captured.get().strip("\n").split("\n")]
        self._out.write(("" if self._is_first else "\n") + "\n".join(lines) + "\n")
        self._out.flush()
        self._is_first = False


def _last_block(text: str) -> int:
    """Return the offset at which the last block of the top level begins."""
    from markdown_it import MarkdownIt

    # Blocks only: what stands inside them decides nothing here.
    parser = MarkdownIt("commonmark").enable("table").disable(["inline", "linkify"], True)
    starts = [token.map[0] for token in parser.parse(text) if token.level == 0 and token.map]
    if len(starts) < 2:
        return 0
    return sum(len(line) + 1 for line in text.split("\n")[: starts[-1]])
