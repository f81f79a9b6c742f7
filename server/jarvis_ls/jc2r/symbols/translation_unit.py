"""Symbols of one translation unit, by libclang. Runs in a worker process.

Cursors of system headers are passed over at the top, lines are asked for once a definition and
tokens never, because each of these costs more than the rest together. Macros come from the text
(tree-sitter), which is ten times faster than a preprocessing record.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jarvis_ls.codeintel import clang
from jarvis_ls.codeintel.extract.c import item_facts
from jarvis_ls.codeintel.languages import language_of
from jarvis_ls.codeintel.parse import parse
from jarvis_ls.codeintel.source import decode
from jarvis_ls.codeintel.top_level_items import Item, items
from jarvis_ls.core.files import read_regular
from jarvis_ls.jc2r.symbols.symbol import Parameter, Problem, Symbol, UnitSymbols

if TYPE_CHECKING:
    from clang.cindex import Cursor

MAX_BYTES = 32_000_000
"""Larger files are not read for macros."""
_TYPES = {
    "STRUCT_DECL": "struct",
    "UNION_DECL": "union",
    "ENUM_DECL": "enum",
    "CLASS_DECL": "class",
    "TYPEDEF_DECL": "typedef",
    "TYPE_ALIAS_DECL": "type_alias",
}
_FUNCTIONS = (
    "FUNCTION_DECL",
    "CXX_METHOD",
    "CONSTRUCTOR",
    "DESTRUCTOR",
    "FUNCTION_TEMPLATE",
    "CONVERSION_FUNCTION",
)
_OPENED = (
    "NAMESPACE",
    "LINKAGE_SPEC",
    "UNEXPOSED_DECL",
    "CLASS_DECL",
    "STRUCT_DECL",
    "CLASS_TEMPLATE",
)
_REFERRING = ("DECL_REF_EXPR", "TYPE_REF", "MEMBER_REF_EXPR", "CALL_EXPR", "TEMPLATE_REF")
_KINDS = {
    *_TYPES,
    *_FUNCTIONS,
    *_OPENED,
    *_REFERRING,
    "VAR_DECL",
    "PARM_DECL",
    "FIELD_DECL",
    "ENUM_CONSTANT_DECL",
}


def unit_symbols(root: str, path: str, arguments: list[str]) -> UnitSymbols:
    """Everything the unit `path` (relative to `root`) and its project headers define.

    Raises `ClangMissing`, or `SkippedFile` when the file cannot be parsed at all.
    """
    return _Reader(Path(root), path, arguments).read()


class _Reader:
    def __init__(self, root: Path, path: str, arguments: list[str]) -> None:
        self._root = root
        self._path = path
        self._arguments = arguments
        kinds = clang.cindex().CursorKind
        self._found: dict[tuple[str, str], Symbol] = {}
        self._inside: dict[str, str | None] = {}
        """File name as libclang says it, to the path in the project; None outside."""
        self._usr: dict[int, str | None] = {}
        """USR of what a cursor (by its identity) declares, when that is in the project."""
        number = {name: getattr(kinds, name).value for name in _KINDS}
        self._is = number
        self._function_kinds = frozenset(number[name] for name in _FUNCTIONS)
        self._type_kinds = {number[name]: word for name, word in _TYPES.items()}
        self._opened = frozenset(number[name] for name in _OPENED)
        self._referring = frozenset(number[name] for name in _REFERRING)

    def read(self) -> UnitSymbols:
        unit, problems = clang.parse(self._root / self._path, self._arguments)
        self._language = "c++" if _is_cpp(self._path, self._arguments) else "c"
        files = {self._path: None}
        self._below(unit.cursor, "", files)
        return UnitSymbols(
            self._path,
            tuple(self._found.values()),
            tuple(files),
            tuple(
                Problem(self._relative(problem.file) or problem.file, problem.line, problem.text)
                for problem in problems
            ),
        )

    def _below(self, outer: Cursor, prefix: str, files: dict[str, None]) -> None:
        for cursor in clang.children(outer):
            path = self._path_of(cursor)
            if path is None:
                continue
            files[path] = None
            kind = cursor._kind_id
            if kind in self._function_kinds:
                if cursor.is_definition():
                    self._function(cursor, path, prefix)
            elif kind in self._type_kinds:
                if cursor.is_definition() or kind == self._is["TYPEDEF_DECL"]:
                    self._type(cursor, path, prefix, self._type_kinds[kind])
            elif kind == self._is["VAR_DECL"] and clang.is_made_here(cursor):
                self._global(cursor, path, prefix)
            if kind in self._opened and (self._language == "c++" or kind not in self._type_kinds):
                name = cursor.spelling
                self._below(cursor, f"{prefix}{name}::" if name else prefix, files)

    def _function(self, cursor: Cursor, path: str, prefix: str) -> None:
        uses, indirect = self._uses(cursor)
        type_ = cursor.type
        self._add(
            cursor,
            path,
            prefix,
            "function",
            signature=type_.spelling,
            return_type=cursor.result_type.spelling,
            params=tuple(Parameter(p.spelling, p.type.spelling) for p in cursor.get_arguments()),
            static=self._is_static(cursor),
            variadic=type_.kind.name == "FUNCTIONPROTO" and type_.is_function_variadic(),
            uses=uses,
            indirect_calls=indirect,
        )

    def _type(self, cursor: Cursor, path: str, prefix: str, kind: str) -> None:
        uses, _ = self._uses(cursor)
        underlying = ""
        if kind in ("typedef", "type_alias"):
            underlying = cursor.underlying_typedef_type.spelling
        elif kind == "enum":
            underlying = cursor.enum_type.spelling
        self._add(
            cursor,
            path,
            prefix,
            "type",
            kind=kind,
            underlying_type=underlying,
            uses=uses,
        )

    def _global(self, cursor: Cursor, path: str, prefix: str) -> None:
        uses, _ = self._uses(cursor)
        self._add(
            cursor,
            path,
            prefix,
            "global",
            signature=cursor.type.spelling,
            static=self._is_static(cursor),
            uses=uses,
        )

    def _add(self, cursor: Cursor, path: str, prefix: str, category: Any, **more: Any) -> None:
        usr = cursor.get_usr()
        if (usr, path) in self._found:
            return
        name = cursor.spelling
        if not name or " at " in name:  # what has no name of its own is identified by its place
            name = f"(unnamed {more.get('kind', category)})"
        extent = cursor.extent
        start, end = extent.start, extent.end
        self._found[usr, path] = Symbol(
            key=f"{usr}|{path}",
            category=category,
            name=name,
            qualified_name=prefix + name,
            file=path,
            start_line=start.line,
            start_col=start.column,
            end_line=end.line,
            end_col=end.column,
            language=self._language,
            usr=usr,
            **more,
        )

    def _uses(self, cursor: Cursor) -> tuple[tuple[str, ...], int]:
        """USRs of what a definition refers to in the project, and its calls through pointers."""
        own = cursor.get_usr()
        uses: dict[str, None] = {}
        indirect = 0
        call = self._is["CALL_EXPR"]
        for child in clang.descendants(cursor, self._referring):
            referenced = child.referenced
            if child._kind_id == call:
                callee = referenced is not None and referenced._kind_id in self._function_kinds
                indirect += not callee
                if self._language == "c" or not callee:
                    continue  # a reference to the name is below it
            if referenced is None:
                continue
            usr = self._project_usr(referenced)
            if usr is not None and usr != own:
                uses[usr] = None
        return tuple(uses), indirect

    def _project_usr(self, declared: Cursor) -> str | None:
        key = clang.identity(declared)
        if key not in self._usr:
            usr = None
            kind = declared._kind_id
            parent = declared.semantic_parent
            if kind in (self._is["ENUM_CONSTANT_DECL"], self._is["FIELD_DECL"]):
                declared = parent
            elif kind == self._is["PARM_DECL"] or (
                kind == self._is["VAR_DECL"] and parent._kind_id in self._function_kinds
            ):
                self._usr[key] = None
                return None
            if self._path_of(declared) is not None:
                usr = declared.get_usr() or None
            self._usr[key] = usr
        return self._usr[key]

    def _is_static(self, cursor: Cursor) -> bool:
        return bool(cursor.linkage.name == "INTERNAL")

    def _path_of(self, cursor: Cursor) -> str | None:
        name = clang.own_file(cursor)
        return self._relative(name) if name is not None else None

    def _relative(self, name: str) -> str | None:
        if name not in self._inside:
            real = os.path.normpath(os.path.join(self._root, name))  # noqa: PTH118 - called often
            inside = real.startswith(f"{self._root}{os.sep}")
            self._inside[name] = Path(real).relative_to(self._root).as_posix() if inside else None
        return self._inside[name]


def macros_of(root: str, path: str) -> tuple[Symbol, ...]:
    """Macros the file `path` (relative to `root`) defines, `#if` or not.

    Raises `SkippedFile` when it cannot be read.
    """
    raw = read_regular(Path(root, path), limit=MAX_BYTES)
    language = "c++" if _is_cpp(path, []) else "c"
    source = decode(path, raw)
    found: dict[str, Symbol] = {}

    def add(item: Item, name: str, kind: str, body: str, parameters: tuple[str, ...]) -> None:
        first, last = source.line_of(item.start), source.line_of(max(item.start, item.end - 1))
        usr = f"macro@{name}"
        found.setdefault(
            usr,
            Symbol(
                key=f"{usr}|{path}",
                category="macro",
                name=name,
                qualified_name=name,
                file=path,
                start_line=first,
                start_col=1,
                end_line=last,
                end_col=1,
                language=language,
                kind=kind,
                underlying_type=body,
                usr=usr,
                params=tuple(Parameter(parameter, "") for parameter in parameters),
            ),
        )

    for item in items(parse(source.data, "c").root_node, "c"):
        if item.node.type not in ("preproc_def", "preproc_function_def"):
            continue
        facts = item_facts(item.node)
        if facts is None:
            continue
        for name, text in facts.macros.items():
            add(item, name, "object", text, ())
        for name, macro in facts.function_macros.items():
            add(item, name, "function", macro.body, macro.parameters)
    return tuple(found.values())


def _is_cpp(path: str, arguments: list[str]) -> bool:
    if "-x" in arguments:
        return "c++" in arguments[arguments.index("-x") + 1]
    return language_of(path) == "cpp"
