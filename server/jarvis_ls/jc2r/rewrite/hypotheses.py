"""What models have learned of the code while they rewrote it: `rewrite/hypotheses.jsonl`.

Lines are added and never changed: a claim that a gate has refuted stays, with the gate, so that no
later agent finds out the same anew. Each prompt holds those that are near to its function.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from jarvis_ls.core.store import Appender, line_of, read_records

FILE = "hypotheses.jsonl"
_MOST = 12
"""Claims that one prompt holds."""
_LONGEST = 300
"""Characters of one."""
_NAME = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """One claim."""

    file: str
    """The C file of the function that it was learned at."""
    name: str
    text: str
    gate: str = ""
    """Where the answer that made it failed; empty when it passed."""


class Hypotheses:
    """The claims about one translation."""

    def __init__(self, folder: Path, made: str) -> None:
        """Read those below `folder` of the translation `made`. Raises `JarvisError`."""
        self._made = made
        self._known = list(_read(folder / FILE, made))
        self._file = Appender(folder / FILE)

    def add(self, found: Sequence[Hypothesis]) -> None:
        """Keep claims that are not there yet. Raises `JarvisError`."""
        for claim in found:
            text = " ".join(claim.text.split())[:_LONGEST]
            new = Hypothesis(claim.file, claim.name, text, claim.gate)
            if text and new not in self._known:
                self._known.append(new)
                self._file.append(line_of({"made": self._made, **asdict(new)}))
        self._file.sync()

    def near(self, file: str, name: str, c: str) -> list[Hypothesis]:
        """Return the latest claims about a function, about those it names, and about its file."""
        named = set(_NAME.findall(c))
        own = [claim for claim in self._known if claim.name == name or claim.name in named]
        others = [claim for claim in self._known if claim.file == file and claim not in own]
        return [*others, *own][-_MOST:]

    def close(self) -> None:
        """Give the file back."""
        self._file.close()


def _read(path: Path, made: str) -> Iterator[Hypothesis]:
    for line in read_records(path):
        if not isinstance(line, dict) or line.get("made") != made:
            continue
        values = [line.get(name) for name in ("file", "name", "text", "gate")]
        if all(isinstance(value, str) for value in values):
            yield Hypothesis(*map(str, values))
