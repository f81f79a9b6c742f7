"""What the analysis of C and C++ does not know of a project, summed up: headers that are not found,
macros that cannot be read, types and functions that nothing says anything of.

A value of such a type, or that such a function gives or is given, may be anything from then on:
what is wrong with it is not found. So each is counted, for people to see what costs the most.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from jarvis_ls.codeintel.compile_commands import read_compile_commands
from jarvis_ls.codeintel.declarations import Facts
from jarvis_ls.codeintel.dependencies import imports
from jarvis_ls.codeintel.functions import Unit
from jarvis_ls.codeintel.headers import Headers
from jarvis_ls.codeintel.installed_headers import InstalledHeaders
from jarvis_ls.codeintel.languages import LanguageName, language_of
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.codeintel.parse import Node, Tree, captures, compile_query
from jarvis_ls.codeintel.source import Source
from jarvis_ls.core.errors import JarvisError, SkippedFile
from jarvis_ls.jsec.flow.ir.c_types import CONTAINERS, NAMED
from jarvis_ls.jsec.flow.library.c_functions import TABLE
from jarvis_ls.jsec.flow.library.c_tables import LIBRARY
from jarvis_ls.jsec.flow.library.signatures import RESULTS
from jarvis_ls.jsec.flow.lower.c.macros import Macros, with_library_macros
from jarvis_ls.jsec.flow.lower.c.types import Types
from jarvis_ls.jsec.scan.project import project_of
from jarvis_ls.jsec.scan.source_files import Listing
from jarvis_ls.jsec.scan.worker_pool import Pool, Process
from jarvis_ls.jsec.settings.settings import Settings

MOST = 20
"""Gaps of one sort that are named."""


class Sort(str, Enum):
    """What is not known."""

    HEADER = "header"
    MACRO = "macro"
    TYPE = "type"
    FUNCTION = "function"


ADVICE: dict[Sort, str] = {
    Sort.HEADER: "Scan a folder that holds it as well: headers are looked for among scanned files.",
    Sort.MACRO: "Scan the header that defines it as well, or write it so that it is C by itself.",
    Sort.TYPE: "Scan the header that defines it as well.",
    Sort.FUNCTION: "Scan the source that defines it as well; where it takes values from outside or "
    "must not get any, name it in .jarvis/jsec.toml.",
}
"""What to do, by sort."""


ALL_KNOWN = "The analysis knows all headers, macros, types and functions that are used."

HEADINGS: dict[Sort, str] = {
    Sort.HEADER: "headers that are not found, and how many files include them",
    Sort.MACRO: "macros that cannot be read, and how often they are used",
    Sort.TYPE: "types that nothing defines, and how often they are used",
    Sort.FUNCTION: "functions whose code is not here, and how often they are called",
}
"""What heads the list of a sort."""


@dataclass(frozen=True, slots=True)
class Gap:
    """One thing that is not known."""

    sort: Sort
    """What it is."""
    name: str
    """Its name."""
    count: int
    """How many places need it: files for a header, else uses and calls."""
    file: str
    """One of the files."""
    line: int
    """A place there, from 1."""

    def to_json(self) -> dict[str, Any]:
        """Return it as members of JSON."""
        return {
            "kind": self.sort.value,
            "name": self.name,
            "count": self.count,
            "file": self.file,
            "line": self.line,
            "advice": ADVICE[self.sort],
        }


@dataclass(slots=True)
class FileGaps:
    """What one file needs and what it gives."""

    path: str
    """Path relative to the root."""
    needed: dict[tuple[Sort, str], tuple[int, int]] = field(default_factory=dict)
    """How often, and the first line."""
    functions: frozenset[str] = frozenset()
    """Functions that it defines."""
    types: frozenset[str] = frozenset()
    """Structures, unions, classes and enumerations that it defines, by their tag."""


_PLACES = """
(call_expression function: (identifier) @call)
(type_identifier) @type
(_ declarator: (identifier) @declared)
(function_definition declarator: (_) @function)
(struct_specifier name: (_) @tag body: (_))
(union_specifier name: (_) @tag body: (_))
(enum_specifier name: (_) @tag body: (_))
(type_definition declarator: (type_identifier) @tag)
"""
_PLACES_CPP = (
    _PLACES
    + """
(class_specifier name: (_) @tag body: (_))
(alias_declaration name: (_) @tag)
(type_parameter_declaration (type_identifier) @tag)
(optional_type_parameter_declaration name: (type_identifier) @tag)
"""
)


def gaps_of(
    source: Source,
    language: LanguageName,
    tree: Tree,
    facts: Facts,
    missing: Sequence[str],
) -> FileGaps:
    """Return what a file of C or C++ needs that it, its headers and the tables of libraries do not
    say.

    `facts` are its declarations and those of its headers, `missing` the headers that it includes
    and that are not found.
    """
    query = compile_query(language, _PLACES_CPP if language == "cpp" else _PLACES)
    found = captures(query, tree.root_node)
    tags = frozenset(text(node) for node in found.get("tag", ()))
    needed: Counter[tuple[Sort, str]] = Counter()
    lines: dict[tuple[Sort, str], int] = {}

    def need(sort: Sort, name: str, line: int) -> None:
        needed[sort, name] += 1
        lines.setdefault((sort, name), line)

    types = Types(Unit(source, language, facts))
    wanted = {name for name in missing if not LIBRARY.stands_for(name)}
    for place in imports(source.path, source.data) or ():
        if place.name in wanted:
            wanted.discard(place.name)
            need(Sort.HEADER, place.name, place.line)
    for node in found.get("type", ()):
        name = text(node)
        if (
            name not in tags
            and not _is_type(name, facts)
            and types.installed.type(types, name) is None
        ):
            sort = Sort.MACRO if _is_macro(name) else Sort.TYPE
            need(sort, name, node.start_point.row + 1)
    declared = {text(node) for node in found.get("declared", ())}
    with_macros = with_library_macros(facts)
    macros = Macros(with_macros, language)
    for node in found.get("call", ()):
        name = text(node)
        unknown = None if name in declared else _unknown_call(name, with_macros, macros)
        if unknown is not None and types.installed.function(types, name) is None:
            need(unknown, name, node.start_point.row + 1)
    return FileGaps(
        source.path,
        {key: (count, lines[key]) for key, count in needed.items()},
        frozenset(name for node in found.get("function", ()) if (name := _defined_name(node))),
        tags,
    )


def _is_type(name: str, facts: Facts) -> bool:
    return (
        name in NAMED
        or name in LIBRARY.types
        or name in LIBRARY.structures
        or name in CONTAINERS
        or name in facts.types
        or name in facts.macros
    )


def _unknown_call(name: str, facts: Facts, macros: Macros) -> Sort | None:
    """Return what is not known of what is called; None when that is known, or defined somewhere,
    perhaps."""
    if name in TABLE or name in RESULTS:
        return None
    macro = facts.function_macros.get(name)
    if macro is not None and name not in facts.functions:
        read = macros.call(name, ["0"] * len(macro.parameters))
        if read is None and macro.body.strip():
            return Sort.MACRO
        if read is not None:
            macros.leave()
        return None
    if name in facts.macros or name in facts.variables or name in facts.types:
        return None
    return Sort.MACRO if _is_macro(name) and name not in facts.functions else Sort.FUNCTION


def _is_macro(name: str) -> bool:
    """Return whether a name that nothing declares looks like that of a macro."""
    return name.isupper() and "_" in name


def _defined_name(node: Node | None) -> str:
    """Return the name of a function that is defined, without its class."""
    for _ in range(8):
        if node is None or "declarator" not in node.type:
            break
        node = node.child_by_field_name("declarator")
    return text(node).rpartition("::")[2] if node is not None else ""


def sum_up(files: Iterable[FileGaps]) -> list[Gap]:
    """Return what no file of a project knows, the most frequent of each sort first."""
    known = sorted(files, key=lambda file: file.path)
    functions = frozenset().union(*(file.functions for file in known))
    types = frozenset().union(*(file.types for file in known))
    counts: Counter[tuple[Sort, str]] = Counter()
    places: dict[tuple[Sort, str], tuple[str, int]] = {}
    for file in known:
        for key, (count, line) in file.needed.items():
            sort, name = key
            if name not in (functions if sort in (Sort.FUNCTION, Sort.MACRO) else types):
                counts[key] += count
                places.setdefault(key, (file.path, line))
    found: list[Gap] = []
    for sort in Sort:
        gaps = [
            Gap(sort, name, counts[key], *places[key])
            for key in counts
            if key[0] is sort
            for name in (key[1],)
        ]
        found += sorted(gaps, key=lambda gap: (-gap.count, gap.name))[:MOST]
    return found


def missing_headers(
    includes: Mapping[str, tuple[str, ...]], installed: InstalledHeaders | None = None
) -> dict[str, int]:
    """Return the headers that files include and that neither the project has, nor the machine, nor
    a table knows, with how many files include them. `includes` are the headers that each file of
    the project names, `installed` those of the machine.
    """
    headers = Headers(lambda _: None, includes, installed=installed)
    found: Counter[str] = Counter()
    for path, names in includes.items():
        if names and language_of(path) != "rust":
            missing = headers.missing(path, Facts(includes=names))
            found.update(name for name in missing if not LIBRARY.stands_for(name))
    return dict(found)


async def find_gaps(
    listing: Listing, settings: Settings, *, jobs: int, seconds: float
) -> list[Gap]:
    """Return what the analysis does not know of the files of a listing."""
    pool = Pool(max(1, min(jobs, len(listing.files))), seconds)
    paths = [file.path for file in listing.files]
    commands, _ = await asyncio.to_thread(read_compile_commands, listing.root, paths)
    try:
        await pool.tell("set_project", project_of(listing, settings, commands))
        return sum_up([found async for _, found in pool.each(_look, paths)])
    finally:
        await pool.close()


async def _look(worker: Process, path: str, seconds: float) -> FileGaps:
    try:
        found: FileGaps = await worker.call_or_retry("gaps", path, timeout=seconds)
        return found
    except (JarvisError, SkippedFile):  # the scan itself says why
        return FileGaps(path)
