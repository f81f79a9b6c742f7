"""`equivalence.jsonl` below `.jarvis/c2rust`: one JSON object a line, appended as results come.

Every record has `kind` and `made`, a digest of what it was made from (sources, crate, settings);
records with another digest say nothing of the state at hand.

- `function`: `file`, `function`, `line`, `state` (`equal`; `differs`; `no_input`: no generated
  input was fit; `unstable`; `not_run`: its types or what it does do not allow it), `cases` that
  counted, `excluded` (why other cases did not count, and how many), `reason`, `example` of a
  difference (`request` as `executor.py` reads it, `c`, `rust`) with names of the `parameters`, of
  which `difference.py` makes a sentence, `undefined` (places in the C),
  `seconds`.
- `case`: a recorded case: `name`, `program`, `state` (`equal`; `differs`; `stale`: the C does not
  repeat what was recorded; `not_run`), `difference` in words, `seconds`.
- `explored`: generated cases of programs: `cases` that were compared, `excluded`, `kept` (those
  that led somewhere new), `differences` (`case` as in `cases.jsonl`, `difference`).
- `own_tests`: the project's own tests (`jc2r check`; `made` is of sources and crate only):
  `command`, exit status on the `c` and with the `rust` in place (null: not tried, `reason` says
  why), files that were `replaced`, how many programs were `relinked`, the end of what they
  `said`.
- `mutants`: `wanted`, `seed`, `only` (files they are planted in; all when empty), `planted`
  (without the equivalent and those that do not compile), `killed`, `by_functions`, `equivalent`,
  `not_built`, `unasked` (survivors that may be equivalent), `survivors` (`file`, `line`,
  `function`, `before`, `after`), `seconds`.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from jarvis_ls.core.store import Appender, line_of, read_records, replace_records
from jarvis_ls.core.words import from_json, to_json

FILE = "equivalence.jsonl"
REQUESTS = "requests.jsonl"
"""Beside it, what is of use to tests only: `file`, `function`, and `requests` of the function that
counted, as `executor.py` reads them, each with what the C said under `expected`."""


class Results:
    """The records of one state of sources and crate."""

    def __init__(self, folder: Path, made: str) -> None:
        """Open the record; results of other inputs are dropped. Raises `JarvisError`."""
        self._made = made
        self._known = [
            read_result for read_result in read_results(folder) if self._fits(read_result)
        ]
        requests = [record for record in _records(folder / REQUESTS) if record.get("made") == made]
        self._requests = {_key(request): request for request in requests}
        write_results(folder, self._known)
        replace_records(folder / REQUESTS, requests)
        self._file = Appender(folder / FILE)
        self._more = Appender(folder / REQUESTS)

    def known(self, kind: str) -> list[dict[str, Any]]:
        """Return the records of a kind, from this run and those before it; functions with
        `requests`.
        """
        found = [record for record in self._known if record.get("kind") == kind]
        return _with_requests(found, self._requests) if kind == "function" else found

    def add(self, kind: str, record: dict[str, Any]) -> None:
        """Keep a record. Raises `JarvisError`."""
        whole = {"kind": kind, "made": self._made, **record}
        if requests := whole.pop("requests", None):
            more = {
                "made": self._made,
                "file": record["file"],
                "function": record["function"],
                "requests": requests,
            }
            self._more.append(line_of(more))
            self._requests[_key(more)] = more
        self._file.append(line_of(_record_fields(whole)))
        self._known.append(whole)

    def close(self) -> None:
        """Give the files back."""
        self._file.close()
        self._more.close()

    def _fits(self, record: dict[str, Any]) -> bool:
        made = str(record.get("made"))
        return made == self._made or (
            record.get("kind") == "own_tests" and self._made.startswith(made)
        )


def read_results(folder: Path) -> list[dict[str, Any]]:
    """All records, of whatever state; none when nothing was verified."""
    return [
        {**record, "reason": from_json(record["reason"])} if "reason" in record else record
        for record in _records(folder / FILE)
    ]


def write_results(folder: Path, records: Iterable[dict[str, Any]]) -> None:
    """Replace all records. Raises `JarvisError`."""
    replace_records(folder / FILE, map(_record_fields, records))


def _record_fields(record: dict[str, Any]) -> dict[str, Any]:
    """Return a record for the file: only its reason is meant for people."""
    return {**record, "reason": to_json(record["reason"])} if "reason" in record else record


def _with_requests(
    records: list[dict[str, Any]], requests: dict[tuple[str, str], dict[str, Any]]
) -> list[dict[str, Any]]:
    return [
        {**record, "requests": requests.get(_key(record), {}).get("requests", [])}
        for record in records
    ]


def _key(record: dict[str, Any]) -> tuple[str, str]:
    return str(record.get("file")), str(record.get("function"))


def _records(path: Path) -> list[dict[str, Any]]:
    return [read_record for read_record in read_records(path) if isinstance(read_record, dict)]
