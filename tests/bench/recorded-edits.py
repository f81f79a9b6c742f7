"""Whether edits that models wrote go where they belong: `npm run bench -- recorded-edits -- REPO…`.

Each `REPO` is a clone of a public project whose history of conversations with aider was committed
(`tests/fixtures/chat-history.md` or `.aider.chat.history.md`, in any commit). An edit counts when
the conversation says that it was applied and names its commit: the file before is that of the
commit's parent, and where it belongs is what the commit has. White space at the ends of lines and
blank lines are not compared. Edits that fit several places are refused, and counted apart.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[2])]  # so that `tests` is found

from jarvis_ls.runtime.base.errors import ToolRetry  # noqa: E402
from jarvis_ls.tools.edit_file import Diff, place_text  # noqa: E402
from tests.bench.measure.table import Table  # noqa: E402

HISTORIES = ("tests/fixtures/chat-history.md", ".aider.chat.history.md")
_COMMIT = re.compile(r"^> Commit ([0-9a-f]{7,40}) ", re.MULTILINE)
_APPLIED = re.compile(r"^> Applied edit to (\S+)", re.MULTILINE)
_BLOCK = re.compile(
    r"^<{5,9} SEARCH[^\n]*\n(.*?)^={5,9}[ ]*\n(.*?)^>{5,9} REPLACE", re.DOTALL | re.MULTILINE
)
_BORDER = re.compile(r"^(?:<{5,9} SEARCH|={5,9}$|>{5,9} REPLACE)", re.MULTILINE)
_BEGINNINGS = (
    "\n#### ",
    "\n# aider chat started",
    "\n> The SEARCH section must exactly match",
    "\n> ^^^ ",
)
"""What stands before the answer that was applied: the task, or why the answer before was not."""


@dataclass(frozen=True, slots=True)
class Turn:
    """The edits of one file that one commit holds."""

    commit: str
    path: str
    edits: tuple[Diff, ...]


def main(folders: list[str]) -> int:
    """Measure; return the exit status."""
    if not folders:
        print("Name at least one clone.", file=sys.stderr)
        return 2
    table = Table("Edits that models wrote")
    counts: Counter[str] = Counter()
    seen: set[tuple[str, str]] = set()
    for folder in folders:
        repository = Repository(Path(folder))
        for turn in repository.turns():
            if (turn.commit, turn.path) in seen:  # a copy of a project that was named before
                continue
            seen.add((turn.commit, turn.path))
            outcome = judge(repository, turn)
            counts.update(outcome)
            for kind in ("refused", "elsewhere"):
                if outcome[kind]:
                    print(f"{folder} {turn.commit} {turn.path}: {kind}", file=sys.stderr)
    asked = counts["right"] + counts["elsewhere"] + counts["refused"]
    table.note("recorded edits", asked + counts["several"] + counts["same"])
    table.note("with more than one place, refused", counts["several"])
    table.note("that change nothing, or have no text to replace, refused", counts["same"])
    table.note("with one place", asked)
    table.note("of them exact but for white space", counts["near"])
    table.at_least("placed right", counts["right"] / max(1, asked), 0.99)
    table.at_most("placed elsewhere", counts["elsewhere"], 0)
    return table.finish()


def judge(repository: Repository, turn: Turn) -> Counter[str]:
    """Place the edits of a turn; return what became of them."""
    found: Counter[str] = Counter()
    text, goal = repository.around(turn)
    for edit in turn.edits:
        try:
            text, note = place_text(text, edit)
        except ToolRetry as error:
            several = "occurs" in str(error)
            same = "are the same" in str(error) or not edit.search
            found["several" if several else "same" if same else "refused"] += 1
            continue
        found["right"] += 1
        found["near"] += bool(note)
    is_whole = not (found["several"] or found["refused"])
    if is_whole and trimmed(text) != trimmed(goal):
        found["elsewhere"], found["right"] = found["right"], 0
    return found


class Repository:
    """A clone, read by git."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def turns(self) -> Iterator[Turn]:
        """Yield what the conversation says, as it was recorded first: later ones were edited."""
        seen: set[tuple[str, str]] = set()
        for history in HISTORIES:
            commits = self._git("log", "--all", "--reverse", "--format=%H", "--", history).split()
            for commit in commits:
                for turn in self._read(self._git("show", f"{commit}:{history}")):
                    if (turn.commit, turn.path) not in seen:
                        seen.add((turn.commit, turn.path))
                        yield turn

    def around(self, turn: Turn) -> tuple[str, str]:
        """Return the file before and after the turn."""
        before = self._git("show", f"{turn.commit}^:{turn.path}")
        return before, self._git("show", f"{turn.commit}:{turn.path}")

    def _read(self, text: str) -> Iterator[Turn]:
        at = 0
        for match in _COMMIT.finditer(text):
            part, at = text[at : match.start()], match.end()
            bare = _BLOCK.sub(lambda block: " " * len(block[0]), part)  # edits may hold beginnings
            cut = max(0, *(bare.rfind(beginning) for beginning in _BEGINNINGS))
            earlier, part = set(_APPLIED.findall(part[:cut])), part[cut:]
            applied = set(_APPLIED.findall(part)) - earlier  # the commit holds more than is here
            if not applied or not self._git("rev-parse", "--verify", "-q", f"{match[1]}^"):
                continue
            edits: dict[str, list[Diff]] = defaultdict(list)
            for block in _BLOCK.finditer(part):
                path = next(
                    (p for p in reversed(_names(part[: block.start()])) if p in applied), ""
                )
                edits[path].append(Diff(block[1], block[2]))
                if _BORDER.search(block[1]) or _BORDER.search(block[2]):
                    edits[""].append(Diff("", ""))  # what aider had to guess
            edits = {path: found for path, found in edits.items() if path not in earlier}
            if not edits or "" in edits:
                continue
            for path, found in edits.items():
                if self._git("cat-file", "-e", f"{match[1]}:{path}", fails="no") != "no":
                    yield Turn(match[1], path, tuple(found))

    def _git(self, *arguments: str, fails: str = "") -> str:
        ran = subprocess.run(
            ["git", "-C", str(self._folder), *arguments], capture_output=True, check=False
        )
        return ran.stdout.decode("utf-8", "replace") if ran.returncode == 0 else fails


def _names(before: str) -> list[str]:
    """Return what the lines above a block may name."""
    return [line.strip().strip("`*:#").strip() for line in before.rstrip("\n").split("\n")[-3:]]


def trimmed(text: str) -> list[str]:
    """Return the lines that are not blank, without blanks at their ends."""
    return [line.rstrip() for line in text.split("\n") if line.strip()]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
