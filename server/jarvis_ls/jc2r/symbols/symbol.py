"""The symbol table: functions, types, globals and macros of a C project, one record each.

The fields of the seeds' `symbols.jsonl` keep their names; what is added (`key`, `usr`, `refs`, …)
makes two `main`s or two statics of one name two symbols.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal

Category = Literal["function", "type", "global", "macro"]


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a function, or of a macro (without a type)."""

    name: str
    type: str


@dataclass(frozen=True, slots=True)
class Symbol:
    """One definition."""

    key: str
    """Unified Symbol Resolution and file: what identifies it in the project."""
    category: Category
    name: str
    """Its name."""
    qualified_name: str
    """With namespaces and classes, in C++; else the name."""
    file: str
    """Relative to the project, with forward slashes."""
    start_line: int
    start_col: int
    end_line: int
    end_col: int
    language: str
    """`c` or `c++`."""
    signature: str = ""
    """As the compiler writes it: `int (const char *, int)`; of a global its type."""
    return_type: str = ""
    params: tuple[Parameter, ...] = ()
    kind: str = ""
    """Of a type: struct, class, union, enum, typedef; of a macro: object, function."""
    underlying_type: str = ""
    """Of a typedef; of a macro its replacement text."""
    usr: str = ""
    static: bool = False
    """Known in its own file only."""
    variadic: bool = False
    indirect_calls: int = 0
    """Calls through pointers."""
    uses: tuple[str, ...] = ()
    """USRs of what it refers to inside the project."""


@dataclass(frozen=True, slots=True)
class Problem:
    """What was not understood of a unit."""

    file: str
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class UnitSymbols:
    """What one translation unit defines."""

    unit: str
    symbols: tuple[Symbol, ...]
    files: tuple[str, ...]
    """Project files the unit consists of, relative; itself first."""
    problems: tuple[Problem, ...] = ()


@dataclass
class Table:
    """All symbols of a project, each with a number, and who refers to whom."""

    symbols: list[Symbol]
    """In order of file and place; a symbol's id is its place here, from 1."""
    refs: list[list[int]] = field(default_factory=list)
    """For each symbol the ids it refers to, in order."""

    def records(self, stamp: str) -> list[dict[str, Any]]:
        """Lines of `symbols.jsonl`; `stamp` is when they were made."""
        found = []
        for number, (symbol, refs) in enumerate(zip(self.symbols, self.refs, strict=True), 1):
            record = asdict(symbol)
            record.pop("uses")
            record["id"] = number
            record["ref"] = [self.symbols[other - 1].qualified_name for other in refs]
            record["ref_ids"] = refs
            record["created_at"] = record["updated_at"] = stamp
            found.append(record)
        return found


def symbol_from_json(record: dict[str, Any]) -> Symbol:
    """Return the symbol of a record made by `asdict`. Raises `ValueError` when it is none."""
    names = {field_.name for field_ in fields(Symbol)}
    try:
        values = {name: value for name, value in record.items() if name in names}
        values["params"] = tuple(Parameter(**parameter) for parameter in values.get("params", ()))
        values["uses"] = tuple(values.get("uses", ()))
        return Symbol(**values)
    except TypeError as error:
        raise ValueError(f"not a symbol: {error}") from None
