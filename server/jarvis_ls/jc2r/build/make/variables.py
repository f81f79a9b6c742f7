"""How files are compiled when nothing says so: from what they include, and from makefiles read as
text. Nothing is run.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

from jarvis_ls.codeintel import clang
from jarvis_ls.core.errors import SkippedFile
from jarvis_ls.core.files import read_regular, replace_file
from jarvis_ls.jc2r.build import meson
from jarvis_ls.jc2r.build.autoconf.automake import OF_TARGET, flags_of_files, targets
from jarvis_ls.jc2r.build.autoconf.configure_script import set_by_hand
from jarvis_ls.jc2r.build.autoconf.defaults import PLACES
from jarvis_ls.jc2r.build.cmake.interpreter import set_up
from jarvis_ls.jc2r.build.make.conditionals import Conditionals, in_shell
from jarvis_ls.jc2r.build.make.rules import (
    defined_by_default,
    handed_down,
    is_rule,
    makefile,
    set_for_targets,
    ways_by_default,
)
from jarvis_ls.jc2r.build.project_files import MAX_BYTES, content
from jarvis_ls.jc2r.build.variants import meaning

_MAX_FOLDERS = 64
_HEADERS = (".h", ".hpp", ".hh", ".inc", ".def", ".inl", ".tbl", ".c")
_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"]', re.MULTILINE)
_SYSTEM = (
    "unistd.h",
    "stdint.h",
    "inttypes.h",
    "stdbool.h",
    "dirent.h",
    "strings.h",
    "stdio.h",
    "getopt.h",
    "stdlib.h",
    "string.h",
)
"""Where a folder has one of these, it has them for systems without."""
MAKEFILES = ("GNUmakefile", "makefile", "Makefile", "Makefile.am", "Makefile.in")
_SET_UP = re.compile(r"@(\w+)@")
_ASSIGNED = re.compile(r"^(?:override\s+|export\s+)?([\w.-]+)\s*(\+|:|\?|::)?=\s*(.*)$")
_VARIABLE = re.compile(r"\$[({](\w+)[)}]")
_REFERENCE = re.compile(r"\$[({](\w+)(?::([^\s:=(){}%]*)=([^\s:=(){}%]*))?[)}]")
"""A variable, or one whose words get another ending: `$(TESTS:.test=)`."""
_CHANGED = re.compile(r"\$([({])(\w+):[^(){}]*[)}]")
_OF_LETTER = re.compile(r"(?<!\$)\$([A-Za-z])")
"""A variable of one letter needs no parentheses."""
_COMPUTED = re.compile(r"\$\([^()]*\s[^()]*\)|`[^`]*`")
_ASKED = re.compile(
    r"\$\(shell[ \t]+((?:cat|git|date|uname|echo)\b(?:[^()\n]|\([^()\n]*\))*)\)"
    r"|`[ \t]*((?:cat|git|date|uname|echo)\b[^`\n]*)`"
)
"""What makefiles ask of the shell: mostly which version they build."""
_OWN_FOLDER = re.compile(r"\$[({](?:(?:top_)?srcdir|CURDIR)[)}]/")
_OR_ELSE = re.compile(r"\|\|\s*echo\s+[\"']?([\w.-]*)")
"""What is said where git knows nothing."""
_INCLUDED = re.compile(r"(-|s)?include\s+([^#]*)")
_MAX_DEPTH = 8
"""How deep makefiles that include each other are read."""
_LONGEST = 65_536
"""Characters that the variables in a variable may represent."""
_FLAGS = re.compile(r"(?:.*FLAGS|DEFS?|DEFINES?|INCS?|INCLUDES?|INCDIRS?|OPTS?|C?OPTIONS)\Z")
_OTHERS = re.compile(r"(?:LD|CXX|MAKE|TEST|DEBUG|DBG).*|(?:AS|AR|RM|Y|L)_?(?:FLAGS|OPT).*")
"""Flags for other programs, or for those who ask for them."""
_COMPILES = re.compile(
    r"\t[@\s-]*(?:\$[({]\w+[)}])?(?:\$[({](?:CC|(?:LT)?COMPILE)[)}]|cc|gcc)(?=\s)"
    r"(?!.*\s-(?:MM?|E)\s).*\s(?:-c\b|\$<)"
)
_FOR_EVERY = re.compile(
    r"(?:\.c(?:\.l?o)?|(?:[^\s:]*/)?%\.l?o|[^\s:]*%(?=\s*:[^=:]*%\.c\b))[ \t]*:"
    r"(?:[ \t]*([^\s%:]*/)%\.c\b)?"
)
"""Rules that are for every file, some only for those of one folder."""
_SET_TO = re.compile(
    r"(?<=\s)-D\w+=(?:\\.|'[^'`\n]*'|\"(?:[^\"`\\\n]|\\.)*\"|[^\s'\"`\\])+(?=\s|$)"
)
_ALONE = re.compile(r"(?<=\s)-(?:D\w+|std=\w+|ansi)(?=\s|$)")
_RULES = "the rules"
"""Among the variables: macros that rules give a value to. Those without one may belong to one of
several ways to compile a file."""
_ALL_RULES = "all rules"
"""Those without one that all rules for every file give."""
_OF_FOLDER = "the rule of "
"""Followed by a folder: the only command for all of its files."""
_SHELL = re.compile(r"\S*`[^`]*`\S*")
_WITH_VALUE = ("-D", "-U", "-include", "-isystem", "-iquote", "-I")
_MACRO = re.compile(r"[A-Za-z_]\w*(?:=|\(|$)")
_WANTED = tuple("-D -U -I -std= -include -isystem -iquote -f -ansi -pthread".split())
_NEVER = (
    "-fsanitize",
    "-fprofile",
    "-flto",
    "-fstack",
    "-fdiagnostics",
    "-fno-",
    "-fanalyzer",
    "-fini",
)


class Includes:
    """Which folders hold what the files of a project include."""

    def __init__(self, root: Path, files: Sequence[str]) -> None:
        self._root = root
        by_name: dict[str, list[PurePosixPath]] = {}
        for file in files:
            if file.endswith(_HEADERS):
                by_name.setdefault(PurePosixPath(file).name, []).append(PurePosixPath(file))
        included = {
            file: list(_included_texts(root / file)) for file in files if file.endswith(_HEADERS)
        }
        wanted = {path for found in included.values() for path in found}
        self._wrapping = {
            PurePosixPath(file).parent
            for file, found in included.items()
            if ("<", PurePosixPath(file).name) in found
            and is_of_the_system(PurePosixPath(file).name)
        }
        self._found: list[list[PurePosixPath]] = []
        """For each inclusion, the folders from which it is found."""
        self._elsewhere: dict[str, dict[str, PurePosixPath | None]] = {}
        """By folders that are not there: what is included of them, and the only file so called."""
        for mark, text in sorted(wanted):
            if mark == "<" and is_of_the_system(text):
                continue
            tail = PurePosixPath(text).parts
            folders = [
                PurePosixPath(*path.parts[: -len(tail)])
                for path in by_name.get(tail[-1], [])
                if path.parts[-len(tail) :] == tail
            ]
            if folders:
                self._found.append(folders)
            elif len(tail) > 1 and tail[0] != "/" and ".." not in tail:  # it is written to below
                only = by_name.get(tail[-1], [])
                of_folder = self._elsewhere.setdefault(str(PurePosixPath(*tail[:-1])), {})
                of_folder[text] = only[0] if len(only) == 1 else None

    def words(self, file: str) -> list[str]:
        """Arguments that name the folders to look into for the file, its own first, then the
        nearest. Those with headers of the system come after the system's."""
        own = PurePosixPath(file).parent
        chosen = dict.fromkeys([own])
        for folders in self._found:
            chosen.setdefault(min(folders, key=lambda folder: (_apart(own, folder), str(folder))))
        ordered = sorted(chosen, key=lambda folder: (_apart(own, folder), str(folder)))
        return [
            ("-idirafter" if self._shadows(folder) else "-I")
            + os.path.normpath(self._root / folder)
            for folder in ordered[:_MAX_FOLDERS]
        ]

    def installed(self, made: Path) -> list[str]:
        """Arguments with which headers are found where an installation puts them, as
        `<library/header.h>`, when the project has most of such a folder; written to `made`."""
        written = False
        for wanted in self._elsewhere.values():
            known = {text: file for text, file in wanted.items() if file is not None}
            if 2 * len(known) < len(wanted):
                continue
            for text, file in known.items():
                place = made / text
                place.parent.mkdir(parents=True, exist_ok=True)
                there = os.path.relpath(self._root / file, place.parent)
                replace_file(place, f'#include "{there}"\n'.encode())
                written = True
        return [f"-idirafter{made}"] if written else []

    def _shadows(self, folder: PurePosixPath) -> bool:
        """Return whether a folder has headers that represent the system's, or that are called like
        one of them which they include.
        """
        return folder in self._wrapping or any(
            (self._root / folder / name).is_file() and is_of_the_system(name) for name in _SYSTEM
        )


def makefile_words(root: Path, file: str, package: Mapping[str, str]) -> tuple[str, ...]:
    """Arguments for the compiler that the makefile of the folder of a file, or of one above it,
    names in its variables; paths are made absolute. `package` says what the project is called."""
    place = PurePosixPath(file).parent
    path = _makefile(root, str(place))
    if path is not None:
        called = tuple(package.items())
        own = os.path.normpath(root / file) in _ways_of_targets(root, path, called)
        return _words_of(root, path, called, os.path.normpath(root / place), own)
    return ()  # see `makefile_ways`


def makefile_ways(root: Path, file: str, package: Mapping[str, str]) -> list[tuple[str, ...]]:
    """Return what that makefile has for a file alone, once for each way in which it is compiled:
    what commands define that name it, or the flags of its targets; where CMake builds, all it has.
    """
    path = _makefile(root, str(PurePosixPath(file).parent))
    if path is None:
        return _cmake_ways(root, file)
    called, own = tuple(package.items()), os.path.normpath(root / file)
    ways = _ways_of_targets(root, path, called).get(own)
    return ways or _ways_of(root, path, called).get(own, [()])


def _makefile(root: Path, folder: str) -> Path | None:
    """Return the makefile of a folder, or of the next one above it."""
    place = PurePosixPath(folder)
    paths = (root / folder / name for folder in [place, *place.parents] for name in MAKEFILES)
    return next((path for path in paths if path.is_file() and not _calls_cmake(path)), None)


@functools.lru_cache(maxsize=512)
def _calls_cmake(path: Path) -> bool:
    """Return whether a makefile leaves everything to CMake."""
    there = (path.parent / "CMakeLists.txt").is_file()
    return there and re.search(rb"^\t.*\bcmake\b", content(path), re.MULTILINE) is not None


def _cmake_ways(root: Path, file: str) -> list[tuple[str, ...]]:
    """Return what the `CMakeLists.txt` of the project give a file, or the `meson.build`, but for
    what only a run would tell; once for each way to compile it.
    """
    if not (root / "CMakeLists.txt").is_file() and (root / meson.NAME).is_file():
        return [tuple(dict.fromkeys(_of_cmake(meson.words_of(root, file), root)))]
    found: dict[frozenset[str], tuple[str, ...]] = {}
    for words in set_up(root).ways_of(file):
        way = tuple(dict.fromkeys(_of_cmake(words, root)))
        found.setdefault(meaning(way), way)
    return list(found.values())


def _of_cmake(words: Iterable[str], root: Path) -> Iterator[str]:
    for word in words:
        if word.startswith(("-D", "-U", "-I")):
            plain = re.sub(r'\A-D"(.*)"\Z', r"-D\1", word)
            if "$" not in word and (word[1] == "I" or _MACRO.match(plain[2:])):
                yield plain
        else:
            yield from _compiler_words(word, root)


@functools.lru_cache(maxsize=512)
def _words_of(
    root: Path, path: Path, package: tuple[tuple[str, str], ...], folder: str, of_targets: bool
) -> tuple[str, ...]:
    """Return what a makefile gives the files of a folder; with `of_targets` without what it has for
    targets of automake.
    """
    known = _variables(root, path, package)
    fill = _filler(known)
    targets = [
        _answering(value, path.parent)
        for name, value in set_for_targets(path, fill)
        if name == "CC" or (_FLAGS.match(name) and not _OTHERS.match(name))
    ]
    if own := _only_command(path, folder, known):
        return tuple(
            dict.fromkeys(_compiler_words(" ".join([fill(own), *map(fill, targets)]), path.parent))
        )
    rules = (known.get(name, "") for name in (_RULES, _ALL_RULES))
    known = {**known, _RULES: " ".join([*rules, *defined_by_default(path, fill), *targets])}
    ways_of_files = _ways_of(root, path, package).values()
    of_one_way = {
        word
        for ways in ways_of_files
        for way in ways
        for word in way
        if any(word not in other for other in ways)
    }
    found: dict[str, None] = {}
    for name in known:
        wanted = (
            _FLAGS.match(name)
            and not _OTHERS.match(name)
            and not (of_targets and OF_TARGET.fullmatch(name))
            and _is_used(name, path, known)
        )
        if name == _RULES or wanted:
            found.update(dict.fromkeys(_compiler_words(_expand(known, name, 8), path.parent)))
    return tuple(word for word in found if word not in of_one_way)


def _only_command(path: Path, folder: str, known: Mapping[str, str]) -> str:
    """Return the command that a makefile has for the files of one folder; empty when it has none,
    or several.
    """
    fill = _filler(known)
    return next(
        (
            command
            for name, command in known.items()
            if name.startswith(_OF_FOLDER)
            and os.path.normpath(path.parent / fill(name.removeprefix(_OF_FOLDER))) == folder
        ),
        "",
    )


def _is_used(name: str, path: Path, known: Mapping[str, str]) -> bool:
    """Return whether flags are for what a makefile compiles: automake has them for all, or of a
    target; others only where those name them.
    """
    match = OF_TARGET.fullmatch(name)
    if path.suffix != ".am" or match is None:
        return True
    if match[2] not in ("C", "CPP"):
        return False
    return (
        match[1] == "AM"
        or f"{match[1]}_SOURCES" in known
        or match[1] in targets(known, _filler(known))
    )


@functools.lru_cache(maxsize=512)
def _ways_of_targets(
    root: Path, path: Path, package: tuple[tuple[str, str], ...]
) -> dict[str, list[tuple[str, ...]]]:
    """By each file, what targets of automake give it that differ in what they define."""
    if path.suffix != ".am":
        return {}
    known = _variables(root, path, package)
    fill = _filler(known)
    found = {}
    for file, every in flags_of_files(known, fill).items():
        ways = (tuple(dict.fromkeys(_compiler_words(fill(flags), path.parent))) for flags in every)
        own = os.path.normpath(path.parent / file)
        found[own] = list({meaning(way): way for way in reversed(list(ways))}.values())[::-1]
    return found


@functools.lru_cache(maxsize=512)
def _ways_of(
    root: Path, path: Path, package: tuple[tuple[str, str], ...]
) -> dict[str, list[tuple[str, ...]]]:
    known = _variables(root, path, package)
    ways = ways_by_default(path, _filler(known))
    return {
        os.path.normpath(path.parent / file): [tuple(flags) for flags in found]
        for file, found in ways.items()
    }


def _filler(known: Mapping[str, str]) -> Callable[[str], str]:
    """Return a function that expands variables in a line; what only a command would say is left
    out."""
    return lambda text: _expand({**known, "": text}, "", _MAX_DEPTH)


def expander(root: Path, path: Path, package: Mapping[str, str]) -> Callable[[str], str]:
    """Return a function that expands variables as the makefile at `path` sets them."""
    known = _variables(root, path, tuple(package.items()))
    return lambda text: _VARIABLE.sub(lambda match: _expand(known, match[1], _MAX_DEPTH), text)


def assignments(
    root: Path, path: Path, package: Mapping[str, str]
) -> tuple[dict[str, str], Callable[[str], str]]:
    """Return what the makefile at `path` sets variables to, and what fills them into a text, where
    the ends of words stay as they are: `$(SOURCES:.c=.o)` is `$(SOURCES)`.
    """
    known = {
        name: _CHANGED.sub(r"$(\2)", value)
        for name, value in _variables(root, path, tuple(package.items())).items()
    }
    fill = _filler(known)
    return known, lambda text: fill(_CHANGED.sub(r"$(\2)", text))


@functools.lru_cache(maxsize=512)
def _variables(root: Path, path: Path, package: tuple[tuple[str, str], ...]) -> dict[str, str]:
    """Return the variables set by a makefile, by those it includes and by its caller."""
    made = path.suffix in (".am", ".in")  # by a set-up, which sets more than they do
    known = {**(set_by_hand(path.parent) if made else {}), **PLACES, **dict(package)}
    given: dict[str, str] = {}
    if path.parent != root and path.suffix != ".am":
        above = _makefile(root, path.parent.parent.relative_to(root).as_posix())
        if above is not None:
            given = handed_down(above, path.parent, _filler(_variables(root, above, package)))
    known |= given
    _read(path, path.parent, known, Conditionals(known, path.parent, whole=not made), 0)
    return {**known, **given}


def _read(path: Path, folder: Path, known: dict[str, str], asked: Conditionals, depth: int) -> None:
    """Read the variables that a makefile and those it includes set."""
    if not path.is_file():
        asked.whole = False
        return
    text = _answering(makefile(path), folder)
    inside = ruled = False
    rule = None
    for line in text.replace("\\\n", " ").splitlines():
        if line.startswith(("define ", "endef")):
            inside = line.startswith("define ")
        if not ruled:  # then a tab begins no command
            line = line.lstrip("\t")
        if inside or asked.takes(line):
            continue
        if asked.counts is False:  # for another machine, or when someone asks for it
            continue
        if line.strip() and not line.startswith("\t"):
            rule = _FOR_EVERY.match(line)
            ruled = ruled or is_rule(line)
        if line.startswith("\t") and _COMPILES.match(line) and asked.counts:
            _take(line, rule, known)
        if (included := _INCLUDED.match(line)) is not None:
            _include(included, folder, known, asked, depth)
            continue
        match = None if line.startswith("\t") else _ASSIGNED.match(line.partition(" #")[0].strip())
        if match is not None:
            _set(match, known, asked)


def _take(command: str, rule: re.Match[str] | None, known: dict[str, str]) -> None:
    """Add the flags of a compile command, of a rule for every file or of another one."""
    named = _VARIABLE.finditer(command) if rule else ()
    known[_RULES] = " ".join(
        [
            known.get(_RULES, ""),
            *_SET_TO.findall(command),
            *(assignment[0] for assignment in named if not _OTHERS.match(assignment[1])),
        ]
    )
    if rule and rule[1]:
        own = f"{_OF_FOLDER}{rule[1]}"
        command = _SHELL.sub(" ", command)
        known[own] = command if known.get(own, command) == command else ""
    elif rule:
        alone = _ALONE.findall(command)
        before = known.get(_ALL_RULES, " ".join(alone)).split()
        known[_ALL_RULES] = " ".join(word for word in alone if word in before)


def _include(
    line: re.Match[str], folder: Path, known: dict[str, str], asked: Conditionals, depth: int
) -> None:
    names = asked.said(line[2]) if asked.counts and depth < _MAX_DEPTH else None
    for name in ("?",) if names is None else names.split():
        place = Path(os.path.normpath(folder / name))
        if names is not None and place.is_relative_to(folder) and place.is_file():
            _read(place, folder, known, asked, depth + 1)
        elif names is None or not line[1]:
            asked.whole = False  # it may set what is not set here


def _set(match: re.Match[str], known: dict[str, str], asked: Conditionals) -> None:
    """Follow an assignment."""
    name, how, value = match[1], match[2], match[3]
    if asked.counts is None:
        asked.doubt(name)
    elif how == "+":
        known[name] = f"{known.get(name, '')} {value}"
    elif _SET_UP.fullmatch(value) is not None:
        asked.doubt(name)
    elif how != "?" or name not in known:
        known[name] = _SET_UP.sub(r"$(\1)", value)


def _answering(text: str, folder: Path) -> str:
    """Return a text with what makefiles ask of the shell put in, where that is known."""
    return _ASKED.sub(lambda match: shell_output(match[1] or match[2], folder) or match[0], text)


def shell_output(command: str, folder: Path) -> str | None:
    """Return what a command of the shell would say, without running it: files are read."""
    if command.startswith(("uname", "echo")):
        return in_shell(command.strip())
    match = re.fullmatch(r"cat\s+(?!/)([\w./-]+)\s*", _OWN_FOLDER.sub("", command))
    with contextlib.suppress(SkippedFile):
        if match is not None:
            lines = read_regular(folder / match[1], limit=MAX_BYTES).decode("utf-8", "replace")
            return lines.partition("\n")[0].strip().replace("$", "")
    if command.startswith("git") and not any(
        (parent / ".git").exists() for parent in (folder, *folder.parents)
    ):
        other = _OR_ELSE.search(command)
        return other[1] if other else ""
    return "unknown"


def _expand(
    known: dict[str, str],
    name: str,
    depth: int,
    done: dict[tuple[str, int], str] | None = None,
    within: frozenset[str] = frozenset(),
) -> str:
    """Return a variable with the others in it filled in; what would make it too long is left out,
    and so is one inside of itself: `CFLAGS = @CFLAGS@` has what a set-up was given.
    """
    if depth == 0 or name in within:
        return ""
    done = {} if done is None else done
    if (name, depth) in done:
        return done[name, depth]
    left = _LONGEST

    def put(match: re.Match[str]) -> str:
        nonlocal left
        if match[1] in ("srcdir", "top_srcdir", "CURDIR"):
            return "."
        value = _expand(known, match[1], depth - 1, done, within | {name})
        if match[2] is not None:
            value = " ".join(_with_ending(word, match[2], match[3]) for word in value.split())
        left -= len(value)
        return value if left >= 0 else ""

    text = _OF_LETTER.sub(r"$(\1)", _COMPUTED.sub(_left_out, known.get(name, "")))
    found = done[name, depth] = "" if text.isspace() else _REFERENCE.sub(put, text)
    return found


def _with_ending(word: str, old: str, new: str) -> str:
    """Return a word with another ending, where it has the old one."""
    return f"{word.removesuffix(old)}{new}" if word.endswith(old) else word


def _left_out(computed: re.Match[str]) -> str:
    """Return what represents something that only a run would tell: within a word nothing, so that
    the word stays one.
    """
    around = computed.string[: computed.start()][-1:] + computed.string[computed.end() :][:1]
    return "" if around.strip() else " "


def _compiler_words(value: str, folder: Path) -> list[str]:
    try:
        words = shlex.split(value.replace("\\#", "#"))
    except ValueError:  # a text in it is torn
        words = [word for word in value.split() if not {"'", '"'} & set(word)]
    found: list[str] = []
    for word, after in itertools.zip_longest(words, words[1:], fillvalue=""):
        if "$" in word or word.startswith(_NEVER) or not word.startswith(_WANTED):
            continue
        option = next((option for option in _WITH_VALUE if word.startswith(option)), None)
        if option is None:
            found.append(word)
            continue
        value = word[len(option) :] or after
        if option in ("-D", "-U"):
            if _MACRO.match(value):  # not what follows `-D$(OS)`, which only `make` knows
                found.append(option + value)
            continue
        path = os.path.normpath(folder / value)
        if Path(path).exists():
            found.append(option + path)
    return found


def _included_texts(path: Path) -> Iterable[tuple[str, str]]:
    for mark, text in _INCLUDE.findall(content(path)):
        name = os.path.normpath(text.decode("utf-8", "replace"))
        while name.startswith("../"):
            name = name[3:]
        yield mark.decode(), name


@functools.cache
def is_of_the_system(text: str) -> bool:
    """Return whether the machine has a header of that name."""
    return any(Path(folder, text).is_file() for folder in clang.system_includes())


def _apart(folder: PurePosixPath, other: PurePosixPath) -> int:
    """Return how many steps through folders lead from one to the other."""
    shared = 0
    for left, right in zip(folder.parts, other.parts, strict=False):
        if left != right:
            break
        shared += 1
    return len(folder.parts) + len(other.parts) - 2 * shared
