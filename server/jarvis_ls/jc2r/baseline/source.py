"""A C file as the parser shows it: what it defines, and what is wrong with it."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

from jarvis_ls.codeintel import clang
from jarvis_ls.core.errors import JarvisError
from jarvis_ls.jc2r.baseline import prelude, vectors
from jarvis_ls.jc2r.baseline.assembly import assembly, versions
from jarvis_ls.jc2r.baseline.attributes import alias_of, is_weak, label_of, section_of
from jarvis_ls.jc2r.baseline.choosing import Part
from jarvis_ls.jc2r.baseline.system import NEXT

_OF_MAIN = re.compile(
    r"'main' must return 'int'|(?:first|second|third) parameter of 'main' \(.*\) must be of type .*"
)
"""What clang says of a `main` that programs start with all the same."""
REFERENCES = frozenset({101})
"""`DECL_REF_EXPR`, as libclang counts."""


class Source:
    """One unit, parsed."""

    def __init__(self, root: Path, path: str, arguments: list[str]) -> None:
        self.is_program = True
        """Whether a `main` makes it one; not when the program could not be linked."""
        self._root, self._path, self._arguments = root, path, arguments
        self.of = ""
        """The file that this one includes, to compile it in another way; mostly none."""
        self._unit: Any = None
        self._problems: list[clang.Problem] = []
        self._functions: list[Any] = []
        self._variables: list[Any] = []
        self._assembly: list[tuple[Any, str]] = []
        """What stands at file scope, without versions of names."""
        self._versions: dict[str, str] = {}
        """Names that mean a version, each with what it is another name of."""
        self._versioned: dict[str, list[Any]] = {}
        """The definitions of what those are other names of."""

    def read(self) -> None:
        """Parse the file, once. Raises `JarvisError` when that is not possible at all."""
        path = self._root / self._path
        words = [*self._arguments, "-ferror-limit=0"]
        known = prelude.TEXT + prelude.version()
        self._unit, self._problems = clang.parse(path, words, prelude=known)
        if any("atomic_flag" in one.text for one in self._problems):
            known += prelude.atomics()
            self._unit, self._problems = clang.parse(path, words, prelude=known)
        self._read_vectors(path, words, known)
        self._problems = [one for one in self._problems if not _OF_MAIN.fullmatch(one.text)]
        for cursor in clang.children(self._unit.cursor):
            if (text := assembly(cursor)) and not clang.in_system_header(cursor):
                named = versions(text)
                self._versions.update(named or {})
                self._assembly += [(cursor, text)] if named is None else []
        self._find_versioned()
        self._functions, self._variables = self._definitions(self._unit.cursor)

    def _read_vectors(self, path: Path, words: list[str], known: str) -> None:
        """Parse a file anew that asks for functions of the processor, so that all are declared."""
        headers = [one.include.name for one in self._unit.get_includes()
                   if one.include and vectors.is_header(one.include.name)
                   and not vectors.is_header(one.source.name)]  # fmt: skip
        if not headers:
            return
        unit, problems = clang.parse(path, words, prelude=known + vectors.first(headers))
        if len(_outside(problems)) <= len(_outside(self._problems)):
            self._unit, self._problems = unit, problems

    def _find_versioned(self) -> None:
        names = set(self._versions.values())
        for cursor in clang.children(self._unit.cursor) if names else ():
            if cursor.spelling in names and cursor.is_definition():
                self._versioned.setdefault(cursor.spelling, []).append(cursor)

    def other_name_of(self, cursor: Any) -> str:
        """The function for which a declaration is another name; empty when it is none."""
        if target := alias_of(cursor):
            return target
        name = "" if cursor.is_definition() else self._versions.get(cursor.spelling, "")
        if not name:
            return ""
        type_ = cursor.type.get_canonical()
        same = any(one.type.get_canonical() == type_ for one in self._versioned.get(name, ()))
        return name if same else ""

    @property
    def has_main(self) -> bool:
        """Whether the file is a program."""
        return self.is_program and any(one.spelling == "main" for one in self._functions)

    @property
    def own_functions(self) -> list[tuple[str, int]]:
        """Names and lines of the functions that the file itself defines."""
        return [(one.spelling, one.location.line) for one in self._functions if self.is_own(one)]

    def own_records(self) -> list[Any]:
        """Records that the file and its headers of the project define; none when the parser
        objects to something, which may be one of them."""
        if self._problems:
            return []
        return [one for one in clang.children(self._unit.cursor)
                if one.kind.name in ("STRUCT_DECL", "UNION_DECL") and one.is_definition()
                and not clang.in_system_header(one)]  # fmt: skip

    @property
    def system_headers(self) -> set[str]:
        """Headers outside of the project that the file includes."""
        names = {one.include.name for one in self._unit.get_includes() if one.include}
        return {name for name in names if not Path(name).is_relative_to(self._root)}

    @property
    def sections(self) -> list[str]:
        """The sections of its variables, once for each that names one."""
        return [section for one in self._variables if (section := section_of(one))]

    @property
    def defined(self) -> set[str]:
        """Names that the file defines for others."""
        every = [*self._functions, *self._variables]
        return {one.spelling for one in every if one.linkage.name == "EXTERNAL"}

    @property
    def replaces(self) -> bool:
        """Whether the file is made to take the place of functions that others have: it asks for
        the next ones of their name."""
        return any(one.spelling in NEXT for cursor in self._functions
                   for one in clang.descendants(cursor, REFERENCES))  # fmt: skip

    def of_kind(self, names: Collection[str], kind: str) -> frozenset[str]:
        """Those of `names` that the file itself defines as functions or as variables."""
        every = self._functions if kind == "FUNCTION_DECL" else self._variables
        return frozenset(one.spelling for one in every
                         if one.spelling in names and self._is_firm(one))  # fmt: skip

    def seen_by_linker(self, names: Collection[str]) -> Part:
        """What the file defines for others, and which of `names` it leaves to them."""
        functions = frozenset(one.spelling for one in self._functions if self._is_firm(one))
        variables = frozenset(one.spelling for one in self._variables if self._is_firm(one)
                              and clang.initializer(one) is not None)  # fmt: skip
        wanted = set(names) - self.defined
        asked: set[str] = set()
        for cursor in [*self._functions, *self._variables] if wanted else ():
            for one in clang.descendants(cursor, REFERENCES):
                declared = one.referenced if one.spelling in wanted else None
                if declared is not None and declared.linkage.name == "EXTERNAL":
                    asked.add(one.spelling)
        return Part(self._path, functions | variables, functions, frozenset(asked), self.has_main)

    @property
    def has_functions_only(self) -> bool:
        """Whether the file has no variables that others may know."""
        return not any(one.linkage.name == "EXTERNAL" for one in self._variables)

    def _is_firm(self, cursor: Any) -> bool:
        """Whether a definition is one that no other file may have, too."""
        place = Path(os.path.normpath(cursor.location.file.name))
        own = self.is_own(cursor) or place == self._root / self.of
        if cursor.linkage.name != "EXTERNAL" or not own:
            return False
        inline = cursor.kind.name == "FUNCTION_DECL" and clang.is_inline(cursor)
        return not (inline or is_weak(cursor) or label_of(cursor))

    @property
    def problem(self) -> str:
        """What the parser objects to first; empty when it takes the file."""
        return self.said(self._problems[0]) if self._problems else ""

    @property
    def has_nested(self) -> bool:
        """Whether functions are defined in functions, which gcc takes."""
        return any("function definition is not allowed here" in one.text for one in self._problems)

    def rejected(self) -> dict[str, clang.Problem]:
        """What the parser objects to in the definitions of the file, by their USR. Raises
        `JarvisError` for an objection that lies elsewhere."""
        if not self._problems:
            return {}
        own = [one for one in [*self._functions, *self._variables] if self.is_own(one)]
        found: dict[str, clang.Problem] = {}
        for problem in _outside(self._problems):
            inside = next((one for one in own if self._holds(one, problem)), None)
            if inside is None:
                raise JarvisError(self.said(problem))
            found.setdefault(inside.get_usr(), problem)
        return found

    def _holds(self, cursor: Any, problem: clang.Problem) -> bool:
        start, end = cursor.extent.start, cursor.extent.end
        return problem.file == start.file.name and (
            (start.line, start.column) <= (problem.line, problem.column) < (end.line, end.column)
        )

    def said(self, problem: clang.Problem) -> str:
        """What the parser objects to, with the place."""
        return f"{self._relative(problem.file)}:{problem.line}: {problem.text}"

    def is_own(self, cursor: Any) -> bool:
        """Whether something stands in the file itself, not in a header."""
        return Path(cursor.location.file.name) == self._root / self._path

    def _relative(self, name: str) -> str:
        path = Path(name)
        return path.relative_to(self._root).as_posix() if path.is_relative_to(self._root) else name

    def parts(self) -> tuple[Path, ...]:
        """Files of the project that it includes."""
        return self.headers(self._unit)

    def headers(self, unit: Any) -> tuple[Path, ...]:
        """Files of the project that it includes."""
        own = {Path(one.include.name).resolve() for one in unit.get_includes() if one.include}
        return tuple(sorted(path for path in own if path.is_relative_to(self._root)))

    def _definitions(self, top: Any) -> tuple[list[Any], list[Any]]:
        functions: dict[str, Any] = {}
        variables: dict[str, Any] = {}
        for cursor in clang.children(top):
            name = cursor.kind.name
            if cursor.location.file is None or (
                clang.in_system_header(cursor)
                and (name != "VAR_DECL" or clang.initializer(cursor) is None)
            ):  # some headers define tables, such as `prioritynames` of syslog.h
                continue
            if name == "FUNCTION_DECL" and (cursor.is_definition() or self.other_name_of(cursor)):
                functions[cursor.get_usr()] = cursor
            elif name == "VAR_DECL" and clang.is_made_here(cursor):
                usr = cursor.get_usr()
                if usr not in variables or clang.initializer(cursor) is not None or (
                    variables[usr].type.get_size() < 0
                ):  # fmt: skip
                    variables[usr] = cursor
        return list(functions.values()), list(variables.values())


def _outside(problems: Iterable[clang.Problem]) -> list[clang.Problem]:
    """What the parser objects to without words of gcc for the processor, which only those who use
    them need."""
    return [one for one in problems if "/lib/gcc/" not in one.file]
