"""What the `CMakeLists.txt` of a project set up with the default options: their variables, the
headers that they would write, what they give the compiler for which file. They are read, never run:
where only a run would tell, a variable stays unset, as it is for CMake where nothing was found.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import platform
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from jarvis_ls.codeintel import clang
from jarvis_ls.core.errors import SkippedFile
from jarvis_ls.core.files import read_regular
from jarvis_ls.core.regex import compile_regex
from jarvis_ls.jc2r.build.cmake.conditions import Condition, is_true
from jarvis_ls.jc2r.build.cmake.lexer import (
    Command,
    commands_of,
    expand_words,
    short,
    split_list,
    words_of,
)
from jarvis_ls.jc2r.build.header_templates import fill_template
from jarvis_ls.jc2r.build.machine_probes import in_library, size_of

NAME = "CMakeLists.txt"
MAX_BYTES = 4_000_000
MAX_COMMANDS = 50_000
"""So many commands are examined; lists of lists would make more."""
_MAX_DEPTH = 32
_OF_BUILD = re.compile(r"\$<BUILD_INTERFACE:([^<>]*)>")
_VISIBLE = ("PUBLIC", "PRIVATE", "INTERFACE")
_CHANGED: dict[str, Callable[[str], str]] = {
    "TOUPPER": str.upper,
    "TOLOWER": str.lower,
    "STRIP": str.strip,
}
_AROUND: dict[str, Callable[[str, str], str]] = {
    "PREPEND": lambda values, more: more + values,
    "APPEND": lambda values, more: values + more,
}
_KINDS = (
    "STATIC",
    "SHARED",
    "MODULE",
    "OBJECT",
    "INTERFACE",
    "EXCLUDE_FROM_ALL",
    "WIN32",
    "MACOSX_BUNDLE",
)


@dataclass(slots=True)
class Target:
    """A library or program."""

    folder: str
    sources: list[str] = field(default_factory=list)
    """Relative to the project; empty when they are not known."""
    words: list[str] = field(default_factory=list)
    """What its files are compiled with."""
    offered: list[str] = field(default_factory=list)
    """What files of those that are linked with it are compiled with."""
    linked: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Scope:
    folder: str
    known: dict[str, str]
    words: list[str]
    parent: _Scope | None = None


@dataclass(frozen=True, slots=True)
class ConfiguredFile:
    """A file that is made of a template."""

    template: str
    """Relative to the project."""
    known: Mapping[str, str]
    """The variables of the moment."""
    at_only: bool
    """Whether `${NAME}` stays as it is."""

    def fill(self, text: str, otherwise: Mapping[str, str]) -> str:
        """Return the text of the template as CMake would write it; `otherwise` says what the
        machine has of what no command asked for that could be understood.
        """

        def define(directive: str, name: str, rest: str) -> str | None:
            there = is_true(self.known.get(name, otherwise.get(name, "")))
            if directive == "cmakedefine01":
                return f"define {name} {int(there)}"
            return f"define {name}{self._put_in(rest, otherwise)}" if there else None

        directives = ("cmakedefine", "cmakedefine01")
        return fill_template(text, directives, define, lambda line: self._put_in(line, otherwise))

    def _put_in(self, line: str, otherwise: Mapping[str, str]) -> str:
        def value(match: re.Match[str]) -> str:
            name = match[1] or match[2]
            if match[2] and self.at_only:
                return match[0]
            return self.known.get(name, otherwise.get(name, "").strip('"'))

        return _PUT_IN.sub(value, line)


_PUT_IN = re.compile(r"@([\w.+/-]+)@|\$\{([\w.+/-]+)\}")


@functools.lru_cache(maxsize=8)
def set_up(root: Path) -> CMakeInterpreter:
    """Return what the project at `root` says; each `CMakeLists.txt` that no other one adds is
    examined, from the outside in.
    """
    found = CMakeInterpreter(root)
    own = (
        Path(folder).relative_to(root).as_posix()
        for folder, folders, files in os.walk(root)
        if not _left_out(folders) and NAME in files
    )
    for folder in sorted(own, key=lambda folder: (folder.count("/") + (folder != "."), folder)):
        found.look_at(folder)
    return found


def _left_out(folders: list[str]) -> bool:
    """Remove hidden folders and `node_modules` from the folders to walk; return False."""
    folders[:] = [
        folder for folder in folders if not folder.startswith(".") and folder != "node_modules"
    ]
    return False


class CMakeInterpreter:
    """What all `CMakeLists.txt` of a project say together."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._left = MAX_COMMANDS
        self._functions: dict[str, Command] = {}
        self._read: dict[Path, Sequence[Command]] = {}
        self._files: dict[str, list[str]] = {}
        """What single files are compiled with."""
        self._folders: dict[str, list[str]] = {}
        """By each folder with a `CMakeLists.txt`, what its files are compiled with."""
        self.known: dict[str, str] = {}
        """Its variables; what is set further out goes before what is further in."""
        self.targets: dict[str, Target] = {}
        self.written: dict[str, ConfiguredFile] = {}
        """What is made of templates, by its name."""

    def look_at(self, folder: str) -> None:
        """Read the file of a folder, unless another one has added it already."""
        if folder not in self._folders:
            known = {"CMAKE_SOURCE_DIR": str(self._root / folder)}
            for place in PurePosixPath(folder).parents:  # then it is one that no one asked for
                if place.as_posix() in self._folders:
                    known = {**self.known, **known}
                    break
            self._enter(_Scope(folder, {**_machine(), **known}, []))

    def ways_of(self, file: str) -> list[list[str]]:
        """Return what a file is compiled with for each target that names it, or for all of its
        folder.
        """
        own = self._files.get(file, [])
        ways = [
            [*self._folders[target.folder], *target.words, *self._linked_words(target), *own]
            for target in self.targets.values()
            if file in target.sources
        ]
        if ways:
            return ways
        found: list[str] = []
        for place in reversed(PurePosixPath(file).parents):
            folder = place.as_posix()
            found += self._folders.get(folder, [])
            for target in self.targets.values():
                if target.folder == folder and not target.sources:
                    found += [*target.words, *target.offered]
        return [[*found, *own]]

    def _linked_words(self, target: Target) -> Iterator[str]:
        waiting, seen = list(target.linked), set()
        while waiting:
            name = waiting.pop(0)
            if name not in seen and (other := self.targets.get(name)) is not None:
                yield from other.offered
                waiting += other.linked
            seen.add(name)

    def _enter(self, scope: _Scope) -> None:
        """Look at the file of a scope's folder."""
        self._folders[scope.folder] = scope.words
        here = str(self._root / scope.folder)
        scope.known |= {"CMAKE_CURRENT_SOURCE_DIR": here, "CMAKE_CURRENT_LIST_DIR": here}
        self._run(self._commands(self._root / scope.folder / NAME), scope, 0)
        if flags := scope.known.get("CMAKE_C_FLAGS", ""):
            scope.words += _words_in(flags)
        if (standard := scope.known.get("CMAKE_C_STANDARD", "")).isdigit():
            gnu = is_true(scope.known.get("CMAKE_C_EXTENSIONS", "ON"))
            scope.words.append(f"-std={'gnu' if gnu else 'c'}{standard}")
        self.known = {**scope.known, **self.known}

    def _commands(self, path: Path) -> Sequence[Command]:
        """Return the commands of a file, which may be included many times."""
        if path not in self._read:
            self._read[path] = commands_of(_text(path))
        return self._read[path]

    def _run(self, commands: Sequence[Command], scope: _Scope, depth: int) -> bool:
        """Do what commands say; False when one of them ends the file."""
        for command in commands:
            self._left -= 1
            if self._left < 0 or depth > _MAX_DEPTH or command.name == "return":
                return False
            if command.name == "if":
                for asked, body in command.bodies:
                    if not asked or Condition(self._root, scope.known).holds(asked):
                        if not self._run(body, scope, depth + 1):
                            return False
                        break
            elif command.name == "foreach":
                if not self._each(command, scope, depth):
                    return False
            elif command.name == "include":
                words = expand_words(command.words, scope.known)
                for path in self._included_files(words, scope):
                    before = scope.known["CMAKE_CURRENT_LIST_DIR"]
                    scope.known["CMAKE_CURRENT_LIST_DIR"] = str(path.parent)
                    self._run(self._commands(path), scope, depth + 1)
                    scope.known["CMAKE_CURRENT_LIST_DIR"] = before
            elif command.name in ("function", "macro"):
                for name in expand_words(command.bodies[0][0][:1], scope.known):
                    self._functions[name.lower()] = command
            elif command.name in self._functions:
                self._call(self._functions[command.name], command, scope, depth)
            elif (method := getattr(self, f"_on_{command.name}", None)) is not None:
                method(expand_words(command.words, scope.known), scope)
        return True

    def _each(self, command: Command, scope: _Scope, depth: int) -> bool:
        asked, body = command.bodies[0]
        name, *values = expand_words(asked, scope.known) or [""]
        if values[:2] == ["IN", "LISTS"]:
            values = [
                value for word in values[2:] for value in split_list(scope.known.get(word, ""))
            ]
        elif values[:1] in (["IN"], ["RANGE"]):
            values = values[2:] if values[:2] == ["IN", "ITEMS"] else []
        for value in values:
            scope.known[name] = value
            if not self._run(body, scope, depth + 1):
                return False
        return True

    def _call(self, function: Command, command: Command, scope: _Scope, depth: int) -> None:
        """Do what a function or a macro of the project does, which sets variables of its own, or
        those of its caller."""
        asked, body = function.bodies[0]
        names = expand_words(asked, scope.known)[1:]
        given = expand_words(command.words, scope.known)
        values = {
            **dict(zip(names, given, strict=False)),
            "ARGC": str(len(given)),
            "ARGV": ";".join(given),
            "ARGN": ";".join(given[len(names) :]),
        }
        before = {name: scope.known[name] for name in values if name in scope.known}
        if function.name == "function":
            inner = _Scope(scope.folder, {**scope.known, **values}, scope.words, scope)
            self._run(body, inner, depth + 1)
            return
        scope.known |= values
        self._run(body, scope, depth + 1)
        for name in values:
            scope.known.pop(name, None)
        scope.known |= before

    def _included_files(self, words: Sequence[str], scope: _Scope) -> Iterator[Path]:
        """Yield the file of the project that is included; modules of CMake are not."""
        for word in words[:1]:
            folders = [*split_list(scope.known.get("CMAKE_MODULE_PATH", "")), ""]
            for place in (f"{folder}/{word}.cmake" if folder else word for folder in folders):
                path = Path(os.path.normpath(self._root / scope.folder / place))
                if path.is_relative_to(self._root) and path.is_file():
                    yield path
                    return

    def _on_project(self, words: list[str], scope: _Scope) -> None:
        name = words[0] if words else ""
        version = _behind(words, "VERSION")
        numbers = dict(zip(("MAJOR", "MINOR", "PATCH", "TWEAK"), version.split("."), strict=False))
        for prefix in ("PROJECT", "CMAKE_PROJECT", name):
            scope.known |= {
                f"{prefix}_NAME": name,
                f"{prefix}_VERSION": version,
                f"{prefix}_DESCRIPTION": _behind(words, "DESCRIPTION"),
                f"{prefix}_SOURCE_DIR": str(self._root / scope.folder),
                **{f"{prefix}_VERSION_{key}": value for key, value in numbers.items()},
            }

    def _on_set(self, words: list[str], scope: _Scope) -> None:
        if not words:
            return
        name, values = words[0], words[1:]
        if "CACHE" in values:
            values = values[: values.index("CACHE")]
            if name in scope.known:
                return
        target: _Scope | None = scope
        if values[-1:] == ["PARENT_SCOPE"]:
            values, target = values[:-1], scope.parent
        if target is not None and values:
            target.known[name] = short(";".join(values))
        elif target is not None:
            target.known[name] = ""

    def _on_unset(self, words: list[str], scope: _Scope) -> None:
        for name in words[:1]:
            scope.known.pop(name, None)

    def _on_option(self, words: list[str], scope: _Scope) -> None:
        if words:
            scope.known.setdefault(words[0], words[2] if len(words) > 2 else "OFF")

    def _on_cmake_dependent_option(self, words: list[str], scope: _Scope) -> None:
        if len(words) == 5:
            asked = [words_of(condition) for condition in split_list(words[3])]
            holds = all(Condition(self._root, scope.known).holds(condition) for condition in asked)
            scope.known.setdefault(words[0], words[2] if holds else words[4])

    def _on_list(self, words: list[str], scope: _Scope) -> None:
        if len(words) > 1 and words[0].upper() == "APPEND":
            before = scope.known.get(words[1], "")
            scope.known[words[1]] = short(";".join([*([before] if before else []), *words[2:]]))
        elif len(words) == 4 and words[0].upper() == "TRANSFORM" and words[2] in _AROUND:
            parts = split_list(scope.known.get(words[1], ""))
            made = (_AROUND[words[2]](part, words[3]) for part in parts)
            scope.known[words[1]] = short(";".join(made))

    def _on_string(self, words: list[str], scope: _Scope) -> None:
        kind = words[0].upper() if words else ""
        if kind in _CHANGED and len(words) == 3:
            scope.known[words[2]] = _CHANGED[kind](words[1])
        elif kind == "REPLACE" and len(words) > 4 and words[1]:
            scope.known[words[3]] = short("".join(words[4:]).replace(words[1], words[2]))
        elif kind == "REGEX" and len(words) > 4:
            self._search(words[1].upper(), words[2], words[3:], scope)
        elif kind in ("APPEND", "CONCAT") and len(words) > 1:
            before = scope.known.get(words[1], "") if kind == "APPEND" else ""
            scope.known[words[1]] = short(before + "".join(words[2:]))

    def _search(self, how: str, pattern: str, rest: list[str], scope: _Scope) -> None:
        """Look for a pattern, or put something in its place."""
        try:
            regex = compile_regex(pattern)
        except ValueError:
            return
        if how == "REPLACE" and len(rest) > 2:
            made = regex.sub(rest[0].encode(), "".join(rest[2:]).encode())
            scope.known[rest[1]] = short(made.decode("utf-8", "replace"))
        elif how == "MATCH":
            found = regex.search("".join(rest[1:]).encode())
            groups = () if found is None else (found[0], *found.groups())
            texts = [(group or b"").decode("utf-8", "replace") for group in groups]
            scope.known[rest[0]] = texts[0] if texts else ""
            scope.known |= {f"CMAKE_MATCH_{n}": text for n, text in enumerate(texts)}

    def _on_file(self, words: list[str], scope: _Scope) -> None:
        kind = words[0].upper() if words else ""
        if kind == "READ" and len(words) > 2:
            path = Path(os.path.normpath(self._root / scope.folder / words[1]))
            if path.is_relative_to(self._root):
                scope.known[words[2]] = short(_text(path))
        elif kind == "STRINGS" and len(words) > 2:
            self._on_file(["READ", *words[1:3]], scope)
            lines = scope.known.get(words[2], "").splitlines()
            if pattern := _behind(words, "REGEX"):
                with contextlib.suppress(ValueError):
                    regex = compile_regex(pattern)
                    lines = [line for line in lines if regex.search(line.encode())]
            scope.known[words[2]] = ";".join(line for line in lines if line)
        elif kind in ("GLOB", "GLOB_RECURSE") and len(words) > 2:
            found = [path for word in words[2:] for path in self._matching(word, scope)]
            scope.known[words[1]] = short(";".join(dict.fromkeys(found)))

    def _matching(self, pattern: str, scope: _Scope) -> Iterator[str]:
        path = os.path.normpath(self._root / scope.folder / pattern)
        folder, _, name = path.rpartition("/")
        if Path(path).is_relative_to(self._root) and "*" not in folder:
            yield from (str(path) for path in sorted(Path(folder).glob(name)) if path.is_file())

    def _on_execute_process(self, words: list[str], scope: _Scope) -> None:
        if (name := _behind(words, "OUTPUT_VARIABLE")) and "git" in words:
            places = (self._root, *self._root.parents)
            scope.known[name] = (
                "unknown" if any((place / ".git").exists() for place in places) else ""
            )

    def _on_find_package(self, words: list[str], scope: _Scope) -> None:
        if words[:1] == ["Threads"]:
            scope.known |= {"Threads_FOUND": "1", "CMAKE_USE_PTHREADS_INIT": "1"}

    def _on_check_include_file(self, words: list[str], scope: _Scope) -> None:
        if len(words) > 1:
            there = all(map(_header, split_list(words[0])))
            scope.known[words[1]] = "1" if there else ""

    _on_check_include_files = _on_check_include_file

    def _on_check_function_exists(self, words: list[str], scope: _Scope) -> None:
        if len(words) > 1:
            scope.known[words[-1]] = "1" if in_library(words[:1]) else ""

    def _on_check_symbol_exists(self, words: list[str], scope: _Scope) -> None:
        headers = [
            path
            for name in split_list(words[1] if len(words) == 3 else "")
            if (path := _header(name))
        ]
        if any(
            re.search(rf"#\s*define\s+{re.escape(words[0])}\b", _text(header)) for header in headers
        ):
            scope.known[words[2]] = "1"
        elif headers:
            self._on_check_function_exists(words, scope)

    def _on_check_library_exists(self, words: list[str], scope: _Scope) -> None:
        self._on_check_function_exists(words[1:], scope)

    def _on_check_type_size(self, words: list[str], scope: _Scope) -> None:
        if len(words) > 1 and (size := size_of(words[0])) is not None:
            scope.known |= {f"HAVE_{words[1]}": "1", words[1]: str(size)}

    def _on_check_c_compiler_flag(self, words: list[str], scope: _Scope) -> None:
        if len(words) > 1:
            scope.known[words[1]] = "1"

    def _on_configure_file(self, words: list[str], scope: _Scope) -> None:
        if len(words) > 1 and "COPYONLY" not in words:
            template = self._relative(words[0], scope)
            if template and (self._root / template).is_file():
                name = PurePosixPath(words[1]).name or PurePosixPath(template).name
                made = ConfiguredFile(template, dict(scope.known), "@ONLY" in words)
                self.written.setdefault(name, made)

    def _on_add_subdirectory(self, words: list[str], scope: _Scope) -> None:
        folder = self._relative(words[0], scope) if words else None
        if folder and folder not in self._folders and (self._root / folder / NAME).is_file():
            self._enter(_Scope(folder, dict(scope.known), list(scope.words), scope))

    def _on_add_definitions(self, words: list[str], scope: _Scope) -> None:
        scope.words += words

    _on_add_compile_options = _on_add_definitions

    def _on_add_compile_definitions(self, words: list[str], scope: _Scope) -> None:
        scope.words += _definitions(words)

    def _on_include_directories(self, words: list[str], scope: _Scope) -> None:
        scope.words += self._directories(words, scope)

    def _on_add_library(self, words: list[str], scope: _Scope) -> None:
        if not words or {"IMPORTED", "ALIAS"} & set(words):
            return
        target = self.targets.setdefault(words[0], Target(scope.folder))
        self._on_target_sources(words, scope)
        if not target.sources:
            target.folder = scope.folder

    _on_add_executable = _on_add_library

    def _on_target_sources(self, words: list[str], scope: _Scope) -> None:
        target = self._target(words, scope)
        for word in (part for written in words[1:] for part in split_list(written)):
            path = self._relative(word, scope)
            if word not in (*_VISIBLE, *_KINDS) and path and (self._root / path).is_file():
                target.sources.append(path)

    def _on_set_source_files_properties(self, words: list[str], scope: _Scope) -> None:
        at = words.index("PROPERTIES") if "PROPERTIES" in words else len(words)
        for word in words[:at]:
            if (path := self._relative(word, scope)) is not None:
                self._files.setdefault(path, []).extend(_of_properties(words[at + 1 :]))

    def _on_set_target_properties(self, words: list[str], scope: _Scope) -> None:
        at = words.index("PROPERTIES") if "PROPERTIES" in words else len(words)
        for name in words[:at]:
            self._target([name], scope).words += _of_properties(words[at + 1 :])

    def _on_set_property(self, words: list[str], scope: _Scope) -> None:
        at = words.index("PROPERTY") if "PROPERTY" in words else len(words)
        names = [word for word in words[1:at] if word not in ("APPEND", "APPEND_STRING")]
        given = [*words[at + 1 : at + 2], ";".join(words[at + 2 :])]
        if words[:1] == ["TARGET"]:
            self._on_set_target_properties([*names, "PROPERTIES", *given], scope)
        elif words[:1] == ["SOURCE"]:
            self._on_set_source_files_properties([*names, "PROPERTIES", *given], scope)

    def _on_target_compile_definitions(self, words: list[str], scope: _Scope) -> None:
        self._give(words, scope, _definitions)

    def _on_target_compile_options(self, words: list[str], scope: _Scope) -> None:
        self._give(words, scope, list)

    def _on_target_include_directories(self, words: list[str], scope: _Scope) -> None:
        self._give(words, scope, lambda given: self._directories(given, scope))

    def _on_target_link_libraries(self, words: list[str], scope: _Scope) -> None:
        self._target(words, scope).linked += [word for word in words[1:] if word not in _VISIBLE]

    def _give(
        self, words: Sequence[str], scope: _Scope, made: Callable[[list[str]], list[str]]
    ) -> None:
        """Give a target what a command sets for itself or for those that link with it."""
        target, seen = self._target(words, scope), "PUBLIC"
        for word in words[1:]:
            if word in _VISIBLE:
                seen = word
            elif word not in ("SYSTEM", "BEFORE", "AFTER"):
                given = made([word])
                target.words += given if seen != "INTERFACE" else []
                target.offered += given if seen != "PRIVATE" else []

    def _target(self, words: Sequence[str], scope: _Scope) -> Target:
        return self.targets.setdefault(words[0] if words else "", Target(scope.folder))

    def _directories(self, words: Iterable[str], scope: _Scope) -> list[str]:
        plain = (_OF_BUILD.sub(r"\1", word) for word in words)
        found = (self._relative(word, scope) for word in plain if "$" not in word)
        return [
            f"-I{os.path.normpath(self._root / folder)}"
            for folder in found
            if folder and (self._root / folder).is_dir()
        ]

    def _relative(self, word: str, scope: _Scope) -> str | None:
        """Return a path of the project; None where it leads out of it."""
        path = Path(os.path.normpath(self._root / scope.folder / word))
        return path.relative_to(self._root).as_posix() if path.is_relative_to(self._root) else None


def _definitions(words: Iterable[str]) -> list[str]:
    return [f"-D{word.removeprefix('-D')}" for word in words]


def _of_properties(words: Sequence[str]) -> list[str]:
    """Return what properties, each with its value, give the compiler."""
    found: list[str] = []
    for name, value in zip(words[::2], words[1::2], strict=False):
        if name == "COMPILE_DEFINITIONS":
            found += _definitions(split_list(value))
        elif name in ("COMPILE_FLAGS", "COMPILE_OPTIONS"):
            found += _words_in(value.replace(";", " "))
        elif name == "C_STANDARD" and value.isdigit():
            found.append(f"-std=gnu{value}")
    return found


def _words_in(flags: str) -> list[str]:
    try:
        return shlex.split(flags)
    except ValueError:  # a text in it is torn
        return flags.split()


def _behind(words: Sequence[str], name: str) -> str:
    """Return the word that follows another one; none when that is not there."""
    return next((after for word, after in itertools.pairwise(words) if word == name), "")


def _header(name: str) -> Path | None:
    """Return a header of the machine."""
    paths = (Path(folder, name) for folder in clang.system_includes())
    return next((path for path in paths if path.is_file()), None)


def _machine() -> dict[str, str]:
    own = platform.uname()
    return {
        "UNIX": "1",
        own.system.upper(): "1",
        "CMAKE_SYSTEM_NAME": own.system,
        "CMAKE_HOST_SYSTEM_NAME": own.system,
        "CMAKE_SYSTEM_PROCESSOR": own.machine,
        "CMAKE_HOST_SYSTEM_PROCESSOR": own.machine,
        "CMAKE_C_COMPILER_ID": "GNU",
        "CMAKE_COMPILER_IS_GNUCC": "1",
        "CMAKE_SIZEOF_VOID_P": "8",
        "CMAKE_VERSION": "3.25.1",
        "CMAKE_BUILD_TYPE": "",
        "CMAKE_C_BYTE_ORDER": "LITTLE_ENDIAN",
    }


def _text(path: Path) -> str:
    with contextlib.suppress(SkippedFile):
        return read_regular(path, limit=MAX_BYTES).decode("utf-8", "replace")
    return ""
