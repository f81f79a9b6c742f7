"""The scan for translation against libclang's own parse of the same units, in one process."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from jarvis_ls.codeintel import clang
from jarvis_ls.jc2r.build.compile_commands import find_units
from jarvis_ls.jc2r.symbols.scanner import merge
from jarvis_ls.jc2r.symbols.translation_order import steps
from jarvis_ls.jc2r.symbols.translation_unit import macros_of, unit_symbols
from measure import tree
from measure.table import Table

PROGRAMS = ("bzip2", "sqlite3")
LIMIT = 3


def main() -> int:
    """Measure, print the table, return the exit status."""
    table = Table("jc2r scan, one process, no cache")
    clang.cindex()
    clang.system_includes()
    for program in PROGRAMS:
        with tree.copy_of(program) as folder:
            _measure(table, program, (folder / program).resolve())
    return table.finish()


def _measure(table: Table, program: str, root: Path) -> None:
    units = find_units(root, build=False, folder=root / ".jarvis").units
    units = tuple(unit for unit in units if _is_core(program, unit.path))
    started = time.process_time()
    for unit in units:
        clang.parse(root / unit.path, unit.arguments)
    parsed = time.process_time() - started
    started = time.process_time()
    read = [unit_symbols(str(root), unit.path, list(unit.arguments)) for unit in units]
    files = sorted({file for unit in read for file in unit.files})
    found = merge(read, [macro for file in files for macro in macros_of(str(root), file)])
    order = steps(found)
    scanned = time.process_time() - started
    table.note(f"{program}: units", len(units))
    table.note(f"{program}: symbols", len(found.symbols))
    table.note(f"{program}: steps of translation", len(order))
    table.note(f"{program}: parsing alone", parsed, "CPU s")
    table.at_most(f"{program}: scan / parsing alone", scanned / parsed, LIMIT, "x")


def _is_core(program: str, path: str) -> bool:
    """SQLite's own sources; its extensions and tests need headers that its build makes."""
    return program != "sqlite3" or (path.startswith("src/") and "test" not in path)


if __name__ == "__main__":
    sys.exit(main())
