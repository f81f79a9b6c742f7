"""Functions that libraries replace: `library_replacements.jsonl`, and the tables without what only
these call. The names and fields are those of the seeds."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from jarvis_ls.core.store import read_records, replace_records
from jarvis_ls.jc2r.libraries.call_graph import CallGraph
from jarvis_ls.jc2r.libraries.known_functions import STD
from jarvis_ls.jc2r.symbols.symbol import Table
from jarvis_ls.jc2r.symbols.translation_order import steps

REPLACEMENTS = "library_replacements.jsonl"
ORDER = "translation_order.jsonl"
WHOLE_ORDER = "translation_order_raw.jsonl"
"""The order of all functions, for who shows them, once `ORDER` is without some."""
_PRUNED = ("symbols_library_pruned.jsonl", "symbols_prune.jsonl", "symbols.jsonl")
_ORDERS = ("translation_order_prune.jsonl", ORDER)


@dataclass(frozen=True, slots=True)
class Replacement:
    """One function that libraries can do."""

    id: int
    """Its number in `symbols_raw.jsonl`."""
    name: str
    qualified_name: str
    file: str
    libraries: tuple[str, ...]
    """Crates, or `std`."""
    versions: tuple[str, ...]
    """Of each; empty for `std`."""
    library: str
    apis: tuple[str, ...]
    api: str
    confidence: float
    notes: str
    mode: str
    """`table` or `llm`."""
    updated_at: str

    @property
    def crates(self) -> dict[str, str]:
        """Return the crates with their versions."""
        pairs = zip(self.libraries, self.versions, strict=True)
        return {name: version for name, version in pairs if name != STD}


def replacement_from_json(record: Any) -> Replacement | None:
    """Return what `asdict` has written; None when it is something else."""
    try:
        lists = {name: tuple(map(str, record[name])) for name in ("libraries", "versions", "apis")}
        found = Replacement(**{**record, **lists})
    except (TypeError, KeyError):
        return None
    sound = isinstance(found.id, int) and len(found.libraries) == len(found.versions)
    return found if sound else None


def read_replacements(folder: Path) -> dict[tuple[str, str], Replacement]:
    """Return the functions that libraries replace, by file and name; `folder` is `.jarvis/c2rust`
    of a project."""
    read = (replacement_from_json(record) for record in read_records(folder / REPLACEMENTS))
    return {(found.file, found.name): found for found in read if found is not None}


def timestamp() -> str:
    """Return the time as records have it."""
    return datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")


def write_outputs(
    folder: Path, graph: CallGraph, chosen: Sequence[Replacement], scope: Sequence[int] | None
) -> int:
    """Write the replacements, the tables and the orders; return how many functions are left out of
    these. `scope` are the candidates when only what they need is wanted. Raises `JarvisError`."""
    replaced = {found.id: found for found in chosen}
    if scope is None:
        starts = graph.roots()
        whole = graph.reach(starts)
        kept = graph.reach(starts, replaced) | (graph.functions - whole)
    else:
        kept = graph.reach(scope, replaced)
    stamp = timestamp()
    records = [
        _record(record, replaced, stamp)
        for record in graph.records
        if record["category"] != "function" or record["id"] in kept
    ]
    refs = [
        [other for other in refs if number not in replaced or other not in graph.functions]
        for number, refs in enumerate(graph.table.refs, 1)
    ]
    chosen_ids = {int(record["id"]) for record in records}
    order = steps(Table(graph.table.symbols, refs), chosen_ids)
    replace_records(folder / REPLACEMENTS, [asdict(found) for found in chosen])
    replace_records(folder / WHOLE_ORDER, steps(graph.table))
    for name in _PRUNED:
        replace_records(folder / name, records)
    for name in _ORDERS:
        replace_records(folder / name, order)
    return len(graph.functions - kept)


def _record(record: dict[str, Any], replaced: dict[int, Replacement], stamp: str) -> dict[str, Any]:
    found = replaced.get(int(record["id"]))
    if found is None:
        return record
    told = asdict(found)
    names = ("libraries", "library", "apis", "api", "confidence", "notes", "mode", "updated_at")
    return {
        **record,
        "ref": [f"lib::{name}" for name in found.libraries],
        "ref_ids": [],
        "lib_replacement": {name: told[name] for name in names},
        "updated_at": stamp,
    }
