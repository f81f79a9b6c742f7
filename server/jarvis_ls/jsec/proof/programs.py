"""Which files of a workspace make the program that a finding is in.

A `compile_commands.json` says how files are compiled. What is linked together is worked out from
names: a program is a file with `main` and, again and again, files that define what those use.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from jarvis_ls.codeintel.languages import HEADER_ENDS, language_of
from jarvis_ls.codeintel.nodes import ancestors, text, words_in
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.codeintel.source import Source
from jarvis_ls.core.errors import JarvisError, SkippedFile
from jarvis_ls.core.files import read_regular
from jarvis_ls.core.words import Words
from jarvis_ls.jsec.proof.configured import Linked, configured
from jarvis_ls.jsec.proof.evidence import Build
from jarvis_ls.jsec.proof.exported_names import (
    exported_names,
    functions_of_macros,
    is_for_windows,
    main_behind_macros,
    names_behind_macros,
    names_made_inline,
    plain_includes,
    static_macros,
)
from jarvis_ls.jsec.proof.system_build import system_of
from jarvis_ls.jsec.proof.workbench import Workbench
from jarvis_ls.jsec.scan.source_files import list_sources
from jarvis_ls.jsec.settings.settings import Settings

_MOST_FILES = 600
"""Larger projects are built by their own build system only."""
_NO_MAIN = Words("The project has no program: no file defines 'main'.")
_NO_USE = Words("No program of the project uses {file}.")
_MOST_LINKED = 200
_MOST_FOLDERS = 40
_LARGEST_DATABASE = 64_000_000
_DATABASES = ("", "build", "out", "cmake-build-debug", "cmake-build-release", "builddir")
_WITH_VALUE = ("-I", "-D", "-U", "-isystem", "-iquote", "-include", "-idirafter")
_KEPT = re.compile(
    r"-[DU][A-Za-z_]\w*(=.*)?|-std=[\w+]+|-ansi|-pthread|-fsigned-char|-funsigned-char"
)
_PATHS = ("-I", "-isystem", "-iquote", "-include", "-idirafter")
_LIBRARIES = {
    b"zlib.h": "-lz",
    b"bzlib.h": "-lbz2",
    b"curses.h": "-lncurses",
    b"ncurses.h": "-lncurses",
    b"readline/readline.h": "-lreadline",
    b"openssl/ssl.h": "-lssl",
    b"openssl/evp.h": "-lcrypto",
    b"sqlite3.h": "-lsqlite3",
    b"png.h": "-lpng",
}
_ALWAYS = ("-lm", "-lpthread", "-ldl")
_RELATIVE = re.compile(r"^(-include|-isystem|-iquote|-idirafter|-I)(?!/)")
_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"\n]{1,200})[>"]', re.MULTILINE)
_MACRO = re.compile(rb"^[ \t]*#[ \t]*define(?:[^\\\n]|\\\r?\n|\\.)*", re.MULTILINE)
_MAX_DECLARATORS = 20


@dataclass(frozen=True, slots=True)
class SourceNames:
    """What linking one file depends on."""

    path: str
    defined: frozenset[bytes]
    """Functions and variables it offers to others; methods of C++ by their last name."""
    words: frozenset[bytes]
    """All words in it."""
    has_main: bool
    wanted: tuple[str, ...]
    """Macros that must be defined for its `main` to be compiled."""
    arguments: bool
    """Whether `main` takes arguments."""
    is_built: bool
    """Whether the project's own build compiles it."""

    def is_linked_into(self, main: SourceNames) -> bool:
        """Return whether a program may have it: it has no `main` as it is compiled there, and the
        build that makes the program compiles it."""
        if main.is_built and not self.is_built:
            return False
        return not self.has_main or bool(set(self.wanted) - set(main.wanted))


@dataclass(frozen=True, slots=True)
class Program:
    """A program of the workspace."""

    build: Build
    arguments: bool
    """Whether its `main` takes arguments."""


def find_program(bench: Workbench, file: str) -> Program | str:
    """Return the smallest program that a file is linked into, one that the project builds before
    any other; or, in `Words`, why there is none."""
    names = _names_of(bench)
    if isinstance(names, str):
        return names
    own = names.get(file)
    if own is None:
        return Words("{file} is not compiled by itself.", file=file)
    is_program = own.has_main and not own.wanted
    mains = [own] if is_program else [item for item in names.values() if item.has_main]
    if not mains:
        return _NO_MAIN
    linked = [closure for main in mains if file in (closure := _closure(main, names, bench))]
    if not linked:
        return Words(_NO_USE.template, file=file)
    files = min(
        linked,
        key=lambda item: (
            _linked_with(bench, item[0]) is None,
            bool(names[item[0]].wanted),
            len(item),
            item,
        ),
    )
    if len(files) > _MOST_LINKED:
        return Words("The program has too many files to be built without its build system.")
    main = names[files[0]]
    build = replace(_build(bench, files, main.wanted), spare=_other_files(files, names))
    return Program(build, main.arguments)


def find_closure(bench: Workbench, file: str) -> Build | str:
    """Return how a file is built so that any function of it can be called: the program it is linked
    into, without one the file and what it uses; or, in `Words`, why it cannot be built."""
    program = find_program(bench, file)
    if isinstance(program, Program):
        return program.build
    names = _names_of(bench)
    if isinstance(names, str) or file not in names:
        return program
    files = _closure(names[file], names, bench)
    if len(files) > _MOST_LINKED:
        return program
    return replace(_build(bench, files, ()), spare=_other_files(files, names))


def lacks_program(why: str) -> bool:
    """Return whether a reason only says that there is no program, where nothing else is wrong."""
    return isinstance(why, Words) and why.template in (_NO_MAIN.template, _NO_USE.template)


def has_rivals(bench: Workbench, build: Build) -> bool:
    """Return whether files beside those of a build offer what these do: then calls may be meant for
    them, or come from them."""
    names = _names_of(bench)
    return isinstance(names, str) or bool(_spare(build.sources, names))


def parser_flags(bench: Workbench, build: Build) -> list[str]:
    """Return the options of a build as a parser needs them that runs elsewhere: whole paths, and
    where the headers are that configuring makes."""
    whole = rf"\1{bench.root}/"
    made = configured(bench)
    folders = sorted({str(PurePosixPath(path).parent) for path in made.made})
    return [
        *(_RELATIVE.sub(whole, flag) for flag in build.flags),
        *(f"-I{made.folder}/{folder}" for folder in folders),
    ]


def files_naming(bench: Workbench, name: str) -> list[str]:
    """Return the files in which a word is, in order."""
    names = _names_of(bench)
    known = {} if isinstance(names, str) else names
    return sorted(path for path, item in known.items() if name.encode() in item.words)


def is_defined_elsewhere(bench: Workbench, wanted: Iterable[str], file: str) -> bool:
    """Return whether another file offers one of some functions and variables."""
    names = _names_of(bench)
    words = {name.encode() for name in wanted}
    known = {} if isinstance(names, str) else names
    return any(path != file and words & item.defined for path, item in known.items())


def system_program(bench: Workbench, file: str) -> Program | None:
    """Return the program that the project's own build makes of a file; None without a build."""
    system = system_of(bench.root)
    if not system:
        return None
    tools = bench.tools
    return Program(Build(tools.compiler, tools.linker, (), (file,), system=system), True)


def files_of(bench: Workbench, program: Program) -> tuple[str, ...]:
    """Return the files that a program is of; all of the project when its own build says."""
    if not program.build.system:
        return program.build.sources
    names = _names_of(bench)
    return program.build.sources if isinstance(names, str) else tuple(names)


def _names_of(bench: Workbench) -> dict[str, SourceNames] | str:
    key = "programs: names"
    if key not in bench.results:
        bench.results[key] = _read_names(bench)
    found = bench.results[key]
    assert isinstance(found, dict | str)
    return found


def _read_names(bench: Workbench) -> dict[str, SourceNames] | str:
    settings = Settings(default_excludes=True)
    files = [
        file.path
        for file in list_sources(bench.root, settings).files
        if language_of(file.path) in ("c", "cpp") and not _is_header(file.path)
    ]
    if len(files) > _MOST_FILES:
        return Words(
            "The project has {count} source files: too many to be built without its build system.",
            count=len(files),
        )
    built, made = configured(bench).options, configured(bench).made
    files += [
        path
        for path in made
        if language_of(path) in ("c", "cpp") and path not in files and not _is_header(path)
    ]
    sources = {path: source for path in files if (source := bench.source(path)) is not None}
    headers = _Headers(bench)
    found = {}
    for path, source in sources.items():
        own = headers.of(source)
        plain = headers.of(source, plain_includes)
        if not any(is_for_windows(text, headers.names) for text in (source, *plain)):
            macros, static = _macros_of(own), static_macros((source, *own))
            names = _names(source, macros, static, is_built=path in built)
            inline = names_made_inline(source, map(headers.functions_of_macros, own))
            found[path] = replace(names, defined=names.defined | inline) if inline else names
    return found


def _is_header(path: str) -> bool:
    return path.lower().endswith(HEADER_ENDS)


def _macros_of(headers: Iterable[Source]) -> frozenset[bytes]:
    """Return the words in the macros of some headers: a file that uses one may mean any of them."""
    found: set[bytes] = set()
    for header in headers:
        for macro in _MACRO.findall(header.data):
            found |= words_in(macro)
    return frozenset(found)


def _all_includes(source: Source) -> list[bytes]:
    return _INCLUDE.findall(source.data)


class _Headers:
    """The headers of the project."""

    def __init__(self, bench: Workbench) -> None:
        self._bench = bench
        self._paths: dict[str, list[str]] = {}
        self._of_macros: dict[str, list[tuple[bytes, bytes]]] = {}
        for file in list_sources(bench.root, Settings(default_excludes=True)).files:
            if _is_header(file.path):
                self._paths.setdefault(PurePosixPath(file.path).name, []).append(file.path)

    @property
    def names(self) -> frozenset[str]:
        """Return their names without folders."""
        return frozenset(self._paths)

    def functions_of_macros(self, header: Source) -> list[tuple[bytes, bytes]]:
        """Return the functions that a header defines behind macros: macro and name."""
        if header.path not in self._of_macros:
            self._of_macros[header.path] = functions_of_macros(header)
        return self._of_macros[header.path]

    def of(
        self, source: Source, includes: Callable[[Source], Iterable[bytes]] = _all_includes
    ) -> list[Source]:
        """Return all headers that a file includes, by their names."""
        found: list[Source] = []
        waiting, seen = [source], {source.path}
        while waiting:
            for name in includes(waiting.pop()):
                for path in self._paths.get(PurePosixPath(name.decode("latin-1")).name, ()):
                    header = self._bench.source(path) if path not in seen else None
                    seen.add(path)
                    if header is not None:
                        waiting.append(header)
                        found.append(header)
        return found


def _names(
    source: Source, macros: frozenset[bytes], static: frozenset[bytes], *, is_built: bool
) -> SourceNames:
    language = language_of(source.path, source.data) or "c"
    defined: set[bytes] = set()
    main: Node | None = None
    for node, name in exported_names(source, language, static):
        if name == b"main":
            main = main or node
        else:
            defined.add(name.rpartition(b"::")[2])
    hidden = main_behind_macros(source, language) if main is None else None
    return SourceNames(
        source.path,
        names_behind_macros(source, language).union(defined),
        words_in(source.data) | macros,
        main is not None or hidden is not None,
        tuple(_guards(main)) if main is not None else (),
        _has_parameters(main) if main is not None else bool(hidden and hidden.strip() != b"void"),
        is_built,
    )


def _guards(node: Node) -> Iterator[str]:
    """Yield the macros that must be defined for a node to be compiled, by the conditions around
    it."""
    below = node
    for around in ancestors(node):
        is_other = below.type.startswith("preproc_el")  # behind `#else` or `#elif`
        below = around
        if is_other or not around.children or around.children[0].type not in ("#ifdef", "#if"):
            continue
        if around.type == "preproc_ifdef":
            name = text(around.child_by_field_name("name"))
        else:
            condition = around.child_by_field_name("condition")
            while condition is not None and condition.type == "preproc_defined":
                condition = condition.named_children[0] if condition.named_children else None
            is_name = condition is not None and condition.type == "identifier"
            name = text(condition) if is_name else ""
        if name and not name.startswith("_"):
            yield name


def _has_parameters(node: Node) -> bool:
    for _ in range(_MAX_DECLARATORS):
        inner = node.child_by_field_name("declarator")
        if inner is None:
            return False
        if inner.type == "function_declarator":
            listed = inner.child_by_field_name("parameters")
            return listed is not None and text(listed).strip("() \t\n") not in ("", "void")
        node = inner
    return False


def _linked_with(bench: Workbench, file: str) -> Linked | None:
    """Return what the project links with a file; None when it is not known."""
    return next((item for item in configured(bench).linked if file in item.files), None)


def _closure(main: SourceNames, names: dict[str, SourceNames], bench: Workbench) -> list[str]:
    """Return a file with `main`, those that the project links with it, and all that define what
    these use, itself first. Where it is known what the project links, what it names for other
    programs alone is not among them."""
    program = _linked_with(bench, main.path) if main.has_main else None
    chosen, elsewhere = [main], set[str]()
    if program is not None:
        elsewhere = {path for item in configured(bench).linked for path in item.files}
        elsewhere -= program.files
        own = (names[path] for path in sorted(program.files) if path in names)
        chosen += [item for item in own if not item.has_main]
    offered = frozenset[bytes]().union(*(item.defined for item in chosen))
    candidates = sorted(
        (
            item
            for item in names.values()
            if item.is_linked_into(main) and item.path not in elsewhere
        ),
        key=lambda item: (-_shared_depth(item.path, main.path), item.path),
    )
    grown = True
    while grown and len(chosen) <= _MOST_LINKED:
        grown = False
        used = frozenset().union(*(item.words for item in chosen))
        for item in candidates:
            fresh = item.defined - offered
            if item not in chosen and fresh & used and not item.defined & offered:
                chosen.append(item)
                offered |= item.defined
                grown = True
    return [item.path for item in chosen]


def _spare(files: Sequence[str], names: dict[str, SourceNames]) -> tuple[str, ...]:
    """Return further files of C that offer what some use, though a name of theirs is offered twice:
    it may be so under another condition only."""
    found = dict.fromkeys(files)
    main = names[files[0]]
    candidates = sorted(
        (
            item
            for item in names.values()
            if item.is_linked_into(main) and language_of(item.path) == "c"
        ),
        key=lambda item: (-_shared_depth(item.path, files[0]), item.path),
    )
    grown = True
    while grown and len(found) <= _MOST_LINKED:
        grown = False
        used = frozenset().union(*(names[path].words for path in found))
        for item in candidates:
            if item.path not in found and item.defined & used:
                found[item.path] = None
                grown = True
    return tuple(path for path in found if path not in files)


def _other_files(files: Sequence[str], names: dict[str, SourceNames]) -> tuple[str, ...]:
    """Return what may be linked with some files where they do not link: all that offers what they
    use, or, of a program that the project's build makes, all that it compiles."""
    main = names[files[0]]
    if not main.is_built:
        return _spare(files, names)
    others = (path for path, item in names.items() if item.is_linked_into(main))
    return tuple(path for path in others if path not in files and language_of(path) == "c")


def _shared_depth(left: str, right: str) -> int:
    """Return how many folders two paths share."""
    count = 0
    for a, b in zip(left.split("/")[:-1], right.split("/")[:-1], strict=False):
        if a != b:
            break
        count += 1
    return count


def _build(bench: Workbench, files: list[str], wanted: tuple[str, ...]) -> Build:
    own = _headers(bench)
    included = _headers_included(bench, files, own)
    libraries = dict.fromkeys(
        flag
        for name, flag in _LIBRARIES.items()
        if name in included and not any(f"/{path}".endswith(f"/{name.decode()}") for path in own)
    )
    program = _linked_with(bench, files[0])
    if program is not None:
        libraries.update(dict.fromkeys(program.libraries))
    flags = _known_flags(bench, files) or _folders_of_headers(own, included)
    return Build(
        compiler=bench.tools.compiler,
        linker=bench.tools.linker,
        flags=(*flags, *(f"-D{name}" for name in wanted)),
        sources=tuple(files),
        libraries=(*libraries, *(name for name in _ALWAYS if name not in libraries)),
        configured=bool(configured(bench).made),
    )


def _headers_included(bench: Workbench, files: list[str], headers: list[str]) -> set[bytes]:
    """Return the names of what some files include, and headers of the project by way of them."""
    waiting, found = list(files), set[bytes]()
    for file in waiting:
        source = bench.source(file)
        new = set(_INCLUDE.findall(source.data)) - found if source is not None else set()
        found |= new
        names = {PurePosixPath(name.decode("utf-8", "replace")).name for name in new}
        waiting += [path for path in headers if PurePosixPath(path).name in names]
    return found


def _headers(bench: Workbench) -> list[str]:
    """Return the headers of the project."""
    key = "programs: headers"
    if key not in bench.results:
        listed = list_sources(bench.root, Settings(default_excludes=True)).files
        bench.results[key] = [file.path for file in listed if _is_header(file.path)]
    found = bench.results[key]
    assert isinstance(found, list)
    return found


def _folders_of_headers(headers: list[str], included: Iterable[bytes]) -> list[str]:
    """Return options that let files include the headers of the project: first the folders that what
    they include is found from, then those that headers are in."""
    folders = dict.fromkeys(sorted(_bases(headers, included)))
    folders.update(dict.fromkeys(sorted({str(PurePosixPath(path).parent) for path in headers})))
    return [f"-I{folder}" for folder in list(folders)[:_MOST_FOLDERS]]


def _bases(headers: list[str], included: Iterable[bytes]) -> Iterator[str]:
    """Yield the folders from which some names with folders in them lead to headers."""
    paths: dict[str, list[str]] = {}
    for path in headers:
        paths.setdefault(PurePosixPath(path).name, []).append(path)
    for data in included:
        name = data.decode("utf-8", "replace")
        if "/" not in name:
            continue
        for path in paths.get(PurePosixPath(name).name, ()):
            if f"/{path}".endswith(f"/{name}"):
                yield path[: -len(name)].rstrip("/") or "."


def _known_flags(bench: Workbench, files: Iterable[str]) -> list[str]:
    """Return the options that a compilation database has for some files, each once."""
    wanted = set(files)
    found: dict[str, None] = {}
    for entry in _database(bench.root):
        words, folder = _words(entry), Path(str(entry.get("directory", bench.root)))
        file = _relative(folder / str(entry.get("file", "")), bench.root)
        if file in wanted:
            found.update(dict.fromkeys(_kept_files(words, folder, bench.root)))
    if not found:
        options = configured(bench).options
        for file in files:
            named, told = options.get(file, ("", ()))
            found.update(dict.fromkeys(_kept_files(["cc", *told], Path(named), bench.root)))
    return list(found)


def _database(root: Path) -> Iterator[dict[str, Any]]:
    for place in _DATABASES:
        try:
            data = read_regular(
                root / place / "compile_commands.json", limit=_LARGEST_DATABASE, root=root
            )
            entries = json.loads(data)
        except (SkippedFile, ValueError, RecursionError):
            continue
        if isinstance(entries, list):
            yield from (entry for entry in entries if isinstance(entry, dict))
            return


def _words(entry: dict[str, Any]) -> list[str]:
    words = entry.get("arguments")
    if isinstance(words, list):
        return [str(word) for word in words]
    try:
        return shlex.split(str(entry.get("command", "")))
    except ValueError:
        return []


def _kept_files(words: list[str], folder: Path, root: Path) -> Iterator[str]:
    """Yield the options that matter to what code means; none that runs or writes something."""
    rest = iter(words[1:])
    for word in rest:
        option = next((name for name in _WITH_VALUE if word.startswith(name)), "")
        if not option:
            if _KEPT.fullmatch(word):
                yield word
            continue
        value = word[len(option) :] or next(rest, "")
        if option not in _PATHS:
            if _KEPT.fullmatch(option + value):
                yield option + value
            continue
        path = folder / value
        inside = _relative(path, root)
        if inside or path.is_absolute():
            yield f"{option}{inside or path}"


def _relative(path: Path, root: Path) -> str:
    try:
        return path.resolve().relative_to(root).as_posix()
    except (ValueError, OSError, JarvisError):
        return ""
