"""`equivalence.jsonl` below `.jarvis/c2rust`: one JSON object a line, appended as results come.

Every record has `kind` and `made`, a digest of what it was made from (sources, crate, settings);
records with another digest say nothing of the state at hand.

- `function`: `file`, `function`, `line`, `state` (`equal`; `differs`; `no_input`: no generated
  input was fit; `unstable`; `not_run`: its types or what it does do not allow it), `cases` that
  counted, `excluded` (why other cases did not count, and how many), `reason`, `example` of a
  difference (`request` as `executor.py` reads it, `c`, `rust`), `undefined` (places in the C),
  `seconds`.
- `case`: a recorded case: `name`, `program`, `state` (`equal`; `differs`; `stale`: the C does not
  repeat what was recorded; `not_run`), `difference` in words, `seconds`.
- `explored`: generated cases of programs: `cases` that were compared, `excluded`, `kept` (those
  that led somewhere new), `differences` (`case` as in `cases.jsonl`, `difference`).
- `own_tests`: the project's own tests (`jc2r check`; `made` is of sources and crate only):
  `command`, exit status on the `c` and with the `rust` in place (null: not tried, `reason` says
  why), files that were `replaced`, the end of what they `said`.
- `mutants`: `wanted`, `seed`, `only` (files they are planted in; all when empty), `planted`
  (without the equivalent and those that do not compile), `killed`, `by_functions`, `equivalent`,
  `not_built`, `survivors` (`file`, `line`, `function`, `before`, `after`), `seconds`.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from jarvis_ls.core.store import Appender, line_of, read_records, replace_records

FILE = "equivalence.jsonl"


class Results:
    """The records of one state of sources and crate."""

    def __init__(self, folder: Path, made: str) -> None:
        """What was made from something else is dropped. Raises `JarvisError`."""
        self._made = made
        path = folder / FILE
        self._known = [
            one for one in read_records(path)
            if isinstance(one, dict) and (
                one.get("made") == made
                or (one.get("kind") == "own_tests" and made.startswith(str(one.get("made"))))
            )
        ]  # fmt: skip
        replace_records(path, self._known)
        self._file = Appender(path)

    def known(self, kind: str) -> Iterable[dict[str, Any]]:
        """Records of a kind, from this run and those before it."""
        return [one for one in self._known if one.get("kind") == kind]

    def add(self, kind: str, record: dict[str, Any]) -> None:
        """Keep a record. Raises `JarvisError`."""
        whole = {"kind": kind, "made": self._made, **record}
        self._file.append(line_of(whole))
        self._known.append(whole)

    def close(self) -> None:
        """Give the file back."""
        self._file.close()


def read_results(folder: Path) -> list[dict[str, Any]]:
    """All records, of whatever state; none when nothing was verified."""
    return [one for one in read_records(folder / FILE) if isinstance(one, dict)]
