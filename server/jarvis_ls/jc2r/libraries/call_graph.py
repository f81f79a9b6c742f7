"""The functions of a symbol table, who calls whom, and what is left when some are replaced."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any

from jarvis_ls.core.store import read_records
from jarvis_ls.jc2r.symbols.symbol import Symbol, Table, symbol_from_json


class CallGraph:
    """Functions by their numbers in `symbols_raw.jsonl`; types and globals stay aside."""

    def __init__(self, records: Iterable[dict[str, Any]]) -> None:
        """Raise `ValueError` when the records are no symbol table."""
        self.records = list(records)
        """As they were written, in the order of their numbers."""
        symbols = [symbol_from_json(record) for record in self.records]
        refs = [[int(other) for other in record["ref_ids"]] for record in self.records]
        self.table = Table(symbols, refs)
        self.functions = {n for n, s in enumerate(symbols, 1) if s.category == "function"}
        self._calls = {
            number: [o for o in refs[number - 1] if o in self.functions and o != number]
            for number in sorted(self.functions)
        }
        self._callers: dict[int, int] = dict.fromkeys(self.functions, 0)
        for called in self._calls.values():
            for other in called:
                self._callers[other] += 1

    def symbol(self, number: int) -> Symbol:
        """Return the symbol of a number."""
        return self.table.symbols[number - 1]

    def calls(self, number: int) -> list[int]:
        """Return the functions that a function calls."""
        return self._calls[number]

    def roots(self) -> list[int]:
        """Return the functions that no other one calls; all when each is called."""
        return [n for n in sorted(self.functions) if not self._callers[n]] or sorted(self.functions)

    def named(self, names: Collection[str]) -> list[int]:
        """Return the functions of some names, plain or qualified."""
        return [
            number
            for number in sorted(self.functions)
            if self.symbol(number).name in names or self.symbol(number).qualified_name in names
        ]

    def reach(self, starts: Iterable[int], ends: Collection[int] = ()) -> set[int]:
        """Return what functions need, themselves included, without what only those of `ends`
        call."""
        found: set[int] = set()
        waiting = list(starts)
        while waiting:
            number = waiting.pop()
            if number in found:
                continue
            found.add(number)
            if number not in ends:
                waiting.extend(self._calls[number])
        return found

    def breadth_first(self, starts: Iterable[int]) -> Iterator[tuple[int, int]]:
        """Yield functions and how far they are below a start, near ones first."""
        waiting = deque((start, 0) for start in starts)
        seen = {start for start, _ in waiting}
        while waiting:
            number, depth = waiting.popleft()
            yield number, depth
            for other in self._calls[number]:
                if other not in seen:
                    seen.add(other)
                    waiting.append((other, depth + 1))


def read_graph(folder: Path) -> CallGraph | None:
    """Return the graph of the last scan in `folder`, the `.jarvis/c2rust` of a project; None when
    there was none, or its table is damaged."""
    records = list(read_records(folder / "symbols_raw.jsonl"))
    try:
        if [record["id"] for record in records] != list(range(1, len(records) + 1)):
            return None
        return CallGraph(records) if records else None
    except (ValueError, KeyError, TypeError):
        return None
