"""A C file as the parser shows it: what it defines, and what is wrong with it."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

from jarvis_ls.codeintel import clang
from jarvis_ls.core.errors import JarvisError
from jarvis_ls.jc2r.translate import parser_prelude, vectors
from jarvis_ls.jc2r.translate.assembly import assembly, versions
from jarvis_ls.jc2r.translate.attributes import alias_of, is_weak, label_of, section_of
from jarvis_ls.jc2r.translate.libc_symbols import NEXT
from jarvis_ls.jc2r.translate.link_resolution import Part

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
        """What is at file scope, without versions of names."""
        self._versions: dict[str, str] = {}
        """Names that mean a version, each with what it is another name of."""
        self._versioned: dict[str, list[Any]] = {}
        """The definitions of what those are other names of."""

    def read(self) -> None:
        """Parse the file, once. Raises `JarvisError` when that is not possible at all."""
        path = self._root / self._path
        words = [*self._arguments, "-ferror-limit=0"]
        known = parser_prelude.TEXT + parser_prelude.version()
        self._unit, self._problems = clang.parse(path, words, prelude=known)
        if any("atomic_flag" in problem.text for problem in self._problems):
            known += parser_prelude.atomics()
            self._unit, self._problems = clang.parse(path, words, prelude=known)
        self._read_vectors(path, words, known)
        self._problems = [
            problem for problem in self._problems if not _OF_MAIN.fullmatch(problem.text)
        ]
        for cursor in clang.children(self._unit.cursor):
            if (text := assembly(cursor)) and not clang.in_system_header(cursor):
                named = versions(text)
                self._versions.update(named or {})
                self._assembly += [(cursor, text)] if named is None else []
        self._find_versioned()
        self._functions, self._variables = self._definitions(self._unit.cursor)

    def _read_vectors(self, path: Path, words: list[str], known: str) -> None:
        """Parse a file again that asks for functions of the processor, so that all are declared."""
        headers = [
            get_include.include.name
            for get_include in self._unit.get_includes()
            if get_include.include
            and vectors.is_header(get_include.include.name)
            and not vectors.is_header(get_include.source.name)
        ]
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
        """Return the function for which a declaration is another name; empty when it is none."""
        if target := alias_of(cursor):
            return target
        name = "" if cursor.is_definition() else self._versions.get(cursor.spelling, "")
        if not name:
            return ""
        type_ = cursor.type.get_canonical()
        same = any(
            declaration.type.get_canonical() == type_
            for declaration in self._versioned.get(name, ())
        )
        return name if same else ""

    @property
    def has_main(self) -> bool:
        """Return whether the file is a program."""
        return self.is_program and any(function.spelling == "main" for function in self._functions)

    @property
    def own_functions(self) -> list[tuple[str, int]]:
        """Names and lines of the functions that the file itself defines."""
        return [
            (function.spelling, function.location.line)
            for function in self._functions
            if self.is_own(function)
        ]

    def own_records(self) -> list[Any]:
        """Return the records that the file and its headers of the project define; none when the
        parser objects to something, which may be one of them.
        """
        if self._problems:
            return []
        return [
            child
            for child in clang.children(self._unit.cursor)
            if child.kind.name in ("STRUCT_DECL", "UNION_DECL")
            and child.is_definition()
            and not clang.in_system_header(child)
        ]

    @property
    def system_headers(self) -> set[str]:
        """Headers outside of the project that the file includes."""
        names = {
            get_include.include.name
            for get_include in self._unit.get_includes()
            if get_include.include
        }
        return {name for name in names if not Path(name).is_relative_to(self._root)}

    @property
    def sections(self) -> list[str]:
        """The sections of its variables, once for each that names one."""
        return [section for variable in self._variables if (section := section_of(variable))]

    @property
    def defined(self) -> set[str]:
        """Names that the file defines for others."""
        every = [*self._functions, *self._variables]
        return {
            declaration.spelling for declaration in every if declaration.linkage.name == "EXTERNAL"
        }

    @property
    def replaces(self) -> bool:
        """Return whether the file is made to take the place of functions that others have: it asks
        for the next ones of their name.
        """
        return any(
            descendant.spelling in NEXT
            for cursor in self._functions
            for descendant in clang.descendants(cursor, REFERENCES)
        )

    def of_kind(self, names: Collection[str], kind: str) -> frozenset[str]:
        """Those of `names` that the file itself defines as functions or as variables."""
        every = self._functions if kind == "FUNCTION_DECL" else self._variables
        return frozenset(
            declaration.spelling
            for declaration in every
            if declaration.spelling in names and self._is_firm(declaration)
        )

    def seen_by_linker(self, names: Collection[str]) -> Part:
        """Return what the file defines for others, and which of `names` it leaves to them."""
        functions = frozenset(
            function.spelling for function in self._functions if self._is_firm(function)
        )
        variables = frozenset(
            variable.spelling
            for variable in self._variables
            if self._is_firm(variable) and clang.initializer(variable) is not None
        )
        wanted = set(names) - self.defined
        asked: set[str] = set()
        for cursor in [*self._functions, *self._variables] if wanted else ():
            for reference in clang.descendants(cursor, REFERENCES):
                declared = reference.referenced if reference.spelling in wanted else None
                if declared is not None and declared.linkage.name == "EXTERNAL":
                    asked.add(reference.spelling)
        return Part(self._path, functions | variables, functions, frozenset(asked), self.has_main)

    @property
    def has_functions_only(self) -> bool:
        """Return whether the file has no variables that others may know."""
        return not any(variable.linkage.name == "EXTERNAL" for variable in self._variables)

    def _is_firm(self, cursor: Any) -> bool:
        """Return whether a definition is one that no other file may have, too."""
        place = Path(os.path.normpath(cursor.location.file.name))
        own = self.is_own(cursor) or place == self._root / self.of
        if cursor.linkage.name != "EXTERNAL" or not own:
            return False
        inline = cursor.kind.name == "FUNCTION_DECL" and clang.is_inline(cursor)
        return not (inline or is_weak(cursor) or label_of(cursor))

    @property
    def problem(self) -> str:
        """Return what the parser objects to first; empty when it takes the file."""
        return self.problem_text(self._problems[0]) if self._problems else ""

    @property
    def has_nested(self) -> bool:
        """Return whether functions are defined in functions, which gcc takes."""
        return any(
            "function definition is not allowed here" in problem.text for problem in self._problems
        )

    def rejections(self) -> dict[str, clang.Problem]:
        """Return what the parser objects to in the definitions of the file, by their USR. Raises
        `JarvisError` for an objection that is elsewhere.
        """
        if not self._problems:
            return {}
        own = [cursor for cursor in [*self._functions, *self._variables] if self.is_own(cursor)]
        found: dict[str, clang.Problem] = {}
        for problem in _outside(self._problems):
            inside = next((cursor for cursor in own if self._holds(cursor, problem)), None)
            if inside is None:
                raise JarvisError(self.problem_text(problem))
            found.setdefault(inside.get_usr(), problem)
        return found

    def _holds(self, cursor: Any, problem: clang.Problem) -> bool:
        start, end = cursor.extent.start, cursor.extent.end
        return problem.file == start.file.name and (
            (start.line, start.column) <= (problem.line, problem.column) < (end.line, end.column)
        )

    def problem_text(self, problem: clang.Problem) -> str:
        """Return what the parser objects to, with the place."""
        return f"{self._relative(problem.file)}:{problem.line}: {problem.text}"

    def is_own(self, cursor: Any) -> bool:
        """Return whether something is in the file itself, not in a header."""
        return Path(cursor.location.file.name) == self._root / self._path

    def _relative(self, name: str) -> str:
        path = Path(name)
        return path.relative_to(self._root).as_posix() if path.is_relative_to(self._root) else name

    def parts(self) -> tuple[Path, ...]:
        """Files of the project that it includes."""
        return self.headers(self._unit)

    def headers(self, unit: Any) -> tuple[Path, ...]:
        """Files of the project that it includes."""
        own = {
            Path(get_include.include.name).resolve()
            for get_include in unit.get_includes()
            if get_include.include
        }
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
                if (
                    usr not in variables
                    or clang.initializer(cursor) is not None
                    or (variables[usr].type.get_size() < 0)
                ):
                    variables[usr] = cursor
        return list(functions.values()), list(variables.values())


def _outside(problems: Iterable[clang.Problem]) -> list[clang.Problem]:
    """Return what the parser objects to without words of gcc for the processor, which only those
    who use them need.
    """
    return [problem for problem in problems if "/lib/gcc/" not in problem.file]
