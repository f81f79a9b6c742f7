"""How each file of a C project is compiled: which files there are, with which arguments.

In this order: a `compile_commands.json` that is there; one that CMake writes; a `make` that is
recorded by stand-ins for the compilers, after `configure` where there is one; or plain arguments
for every C file. Building runs the project's own programs, so it is done only when the caller says
so, and always in a copy: there are projects whose set-up renames their own files.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path

from jarvis_ls.core.errors import JarvisError, SkippedFile
from jarvis_ls.core.files import read_regular, replace_file
from jarvis_ls.core.words import Words, from_json, to_json
from jarvis_ls.jc2r.build.archives import members
from jarvis_ls.jc2r.build.arguments import harmless_arguments
from jarvis_ls.jc2r.build.autoconf.config_headers import config_header_arguments, stand_ins
from jarvis_ls.jc2r.build.autoconf.configure_script import package
from jarvis_ls.jc2r.build.autoconf.foreign_headers import made_elsewhere
from jarvis_ls.jc2r.build.header_only import header_units
from jarvis_ls.jc2r.build.make.generated_headers import echo_header_arguments
from jarvis_ls.jc2r.build.make.link_order import as_recorded, as_written
from jarvis_ls.jc2r.build.make.rules import for_other_systems, without_name
from jarvis_ls.jc2r.build.make.variables import Includes, makefile_ways, makefile_words
from jarvis_ls.jc2r.build.recorded_commands import record_commands
from jarvis_ls.jc2r.build.variants import called_from, meaning, notes_of, way_of

MAX_BYTES = 256_000_000
"""Larger `compile_commands.json` are not read."""
BUILD_SECONDS = 600
"""How long a build that is recorded may take."""

SUFFIXES = {".c": "c", ".cc": "c++", ".cpp": "c++", ".cxx": "c++", ".c++": "c++"}
_ARCHIVE = b"!<arch>\n"
_BINARY = (b"\x7fELF", _ARCHIVE)
"""How objects, programs and archives begin."""
_SOURCES = {*SUFFIXES, ".s", ".asm", ".m", ".f", ".f90", ".l", ".y"}
"""Of what objects are made."""
_OBJECTION = re.compile(r"(?i)\berror\b|\*\*\*")
"""What the line of a build has that says why it stopped."""
_GENERATED = ("aclocal.m4", "Makefile.in", "config.h.in", "configure")
"""What autoconf and automake make, each of those before it at most."""
_CONFIGURES = ("configure", "configure.sh")
_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
_PLACES = ("", "build", "out", "cmake-build-debug", "cmake-build-release", "_build", "builddir")
_KEPT_PREFIXES = (
    "-I",
    "-D",
    "-U",
    "-std=",
    "-isystem",
    "-iquote",
    "-include",
    "-imacros",
    "-f",
    "-m",
    "-ansi",
    "-pthread",
    "-x",
)
_WITH_VALUE = ("-I", "-D", "-U", "-isystem", "-iquote", "-include", "-imacros", "-x", "-idirafter")
_PATHS = ("-I", "-isystem", "-iquote", "-include", "-imacros", "-idirafter")
_NEVER = tuple(
    "-fno- -fplugin -march=native -mtune -fprofile -fuse-ld -flto -fsanitize -fdiagnostics "
    "-fstack -fcf-protection -fanalyzer -ffat-lto".split()
)
_IGNORED = {".git", ".hg", ".svn", ".jarvis", "node_modules", "target", "CMakeFiles"}


@dataclass(frozen=True, slots=True)
class Unit:
    """One file that is compiled."""

    path: str
    """Relative to the project, with forward slashes."""
    arguments: tuple[str, ...]
    """What the preprocessor and the parser must know; no output, no warnings, no optimisation."""
    of: str = ""
    """The file that this one includes, to compile it in another way; mostly none."""
    place: int = 0
    """Its place among the files that are linked; 0 when that is not known."""

    @property
    def language(self) -> str:
        """`c` or `c++`, which `.C` is for compilers as well."""
        suffix = Path(self.path).suffix
        return "c++" if suffix == ".C" else SUFFIXES.get(suffix.lower(), "c")


@dataclass(frozen=True, slots=True)
class Units:
    """The units of a project and where they are known from."""

    units: tuple[Unit, ...]
    origin: str
    """In words: `compile_commands.json`, `cmake`, `make`, `every C file`."""
    notes: tuple[str, ...] = ()
    """What was tried and did not do, in words."""
    libraries: tuple[str, ...] = ()
    """What programs are linked with, as `-l` names it; known from a build only."""


def find_units(root: Path, *, build: bool, folder: Path) -> Units:
    """Return the units of the project at `root` (a real path).

    With `build`, CMake or make may be run; what they write goes below `folder`. Raises
    `JarvisError` when there is no C or C++ file.
    """
    return _with_harmless_arguments(_find_units(root, build=build, folder=folder))


def _with_harmless_arguments(found: Units) -> Units:
    return replace(
        found,
        units=tuple(
            replace(unit, arguments=tuple(harmless_arguments(unit.arguments)))
            for unit in found.units
        ),
    )


def _find_units(root: Path, *, build: bool, folder: Path) -> Units:
    notes: list[str] = []
    for place in _PLACES:
        database = root / place / "compile_commands.json"
        if database.is_file():
            units = _read(database, root, root, folder.parent / "units", notes)
            if units:
                return Units(units, f"{place}/compile_commands.json".lstrip("/"), tuple(notes))
    if build:
        known = _Known(root, folder)
        found = known.read() or _by_cmake(root, folder, notes) or _by_make(root, folder, notes)
        if found is not None:
            known.keep(found)
            return found
    units = _plain(root, folder.parent / "units", folder, notes)
    return Units(units, "every C file", tuple(notes))


def units_of(root: Path, *, build: bool, folder: Path) -> Units:
    """Return the units as the last run knew them: what a build told is used again without a build.

    With `build`, and when the sources have changed since, one is run. Raises `JarvisError`.
    """
    known = None if build else _Known(root, folder).read()
    if known is not None:
        return _with_harmless_arguments(known)  # it may have come with the project
    return find_units(root, build=build, folder=folder)


class _Known:
    """What an earlier build told, as long as the same files are there and none that steers a
    build has changed."""

    def __init__(self, root: Path, folder: Path) -> None:
        self._root = root
        self._path = folder / "units.json"
        digest = hashlib.blake2b(digest_size=16)
        for file in sorted(_files(root)):
            name = Path(file).name.lower()
            digest.update(file.encode("utf-8", "surrogateescape") + b"\0")
            if name.startswith(("makefile", "gnumakefile", "configure", "cmakelists")) or (
                name.endswith((".mk", ".cmake", ".in", ".am", ".ac"))
            ):
                with contextlib.suppress(SkippedFile):
                    digest.update(read_regular(root / file, limit=MAX_BYTES))
        self._stamp = digest.hexdigest()

    def read(self) -> Units | None:
        try:
            record = json.loads(read_regular(self._path, limit=MAX_BYTES))
            if record["stamp"] != self._stamp:
                return None
            units = tuple(
                Unit(path, tuple(words), of, place) for path, words, of, place in record["units"]
            )
            if not all((self._root / unit.path).is_file() for unit in units):
                return None
            return Units(
                units,
                record["origin"],
                tuple(from_json(record["notes"])),
                tuple(record["libraries"]),
            )
        except (SkippedFile, ValueError, KeyError, TypeError):
            return None  # none, or damaged: the build is done again

    def keep(self, found: Units) -> None:
        units = [(unit.path, unit.arguments, unit.of, unit.place) for unit in found.units]
        record = {
            "stamp": self._stamp,
            "origin": found.origin,
            "notes": to_json(found.notes),
            "libraries": found.libraries,
            "units": units,
        }
        replace_file(self._path, json.dumps(record).encode())


def _read(
    database: Path, root: Path, built: Path, made: Path, notes: list[str]
) -> tuple[Unit, ...]:
    """Units of a compilation database; `built` represents `root` in it."""
    try:
        entries = json.loads(read_regular(database, limit=MAX_BYTES))
        if not isinstance(entries, list):
            raise ValueError("it is not a list")
    except (SkippedFile, ValueError, RecursionError) as error:
        notes.append(
            Words("{database} cannot be used: {error}", database=database.name, error=error)
        )
        return ()
    return _units(entries, root, built, made, notes)


def _units(
    entries: Sequence[object], root: Path, built: Path, made: Path, notes: list[str]
) -> tuple[Unit, ...]:
    """One unit for each way to compile a file, the first of which is the file itself; `notes` says
    where there are more. Those others are written to `made`."""
    found: dict[str, dict[frozenset[str], tuple[str, ...]]] = {}
    commands: list[tuple[Path, Sequence[str]]] = []
    made_from: dict[str, str] = {}
    for entry in entries:
        if not isinstance(entry, dict):
            continue
        words = entry.get("arguments")
        if not isinstance(words, list):
            with contextlib.suppress(ValueError):
                words = shlex.split(str(entry.get("command", "")))
        if not words or not all(isinstance(word, str) for word in words):
            continue
        directory = Path(str(entry.get("directory", built)))
        directory = directory if directory.is_absolute() else built / directory
        commands.append((directory, words))
        files = [str(entry["file"])] if "file" in entry else _sources(words)
        arguments = _arguments(words[1:], directory, root, built)
        for file in files:
            path = _relative(directory / file, root, built)
            if path is None:
                continue
            own = arguments
            if not (root / path).is_file() and (built / path).is_file():
                own = (f"-I{root / Path(path).parent}", *arguments)
                made_from[path], path = (kept := _keep_file(path, root, built, made)), kept
            if (root / path).is_file():
                found.setdefault(path, {}).setdefault(meaning(own), own)
    notes += notes_of({path: list(ways) for path, ways in found.items()})
    named = {
        word.removeprefix("-I") for ways in found.values() for way in ways.values() for word in way
    }
    headers = tuple(f"-idirafter{folder}" for folder in _made_headers(root, built, named))
    places = {
        made_from.get(path, path): place for path, place in as_recorded(commands, built).items()
    }
    if not places and any(isinstance(entry, dict) and "file" in entry for entry in entries):
        places = {path: place for place, path in enumerate(found, 1)}  # such name targets in turn
    return tuple(
        _in_ways(
            root,
            made,
            {
                path: [arguments + headers for arguments in found[path].values()]
                for path in sorted(found)
            },
            places,
        )
    )


def _in_ways(
    root: Path, made: Path, ways: Mapping[str, Sequence[tuple[str, ...]]], places: Mapping[str, int]
) -> Iterator[Unit]:
    own = called_from(root, root)
    for path, every in ways.items():
        place = places.get(path, 0)
        yield Unit(path, (*every[0], own), place=place)
        for number, arguments in enumerate(every[1:], 2):
            other = way_of(root, made, path, number)
            beside = called_from(root, (root / other).parent)
            yield Unit(other, (*arguments, own, beside), path, place)


def _keep_file(path: str, root: Path, built: Path, made: Path) -> str:
    """Return a file that only the build has made, kept below `made`: from there it sees the headers
    of the project as the others do.
    """
    place = made / path
    place.parent.mkdir(parents=True, exist_ok=True)
    replace_file(place, (built / path).read_bytes())
    return place.relative_to(root).as_posix()


def _sources(words: Sequence[str]) -> list[str]:
    if "-E" in words or "-M" in words or "-MM" in words:
        return []
    before = ["", *words]
    return [
        word
        for previous, word in zip(before, words, strict=False)
        if Path(word).suffix.lower() in SUFFIXES
        and not word.startswith("-")
        and previous not in ("-o", *_WITH_VALUE)
    ]


def _arguments(words: Sequence[str], directory: Path, root: Path, built: Path) -> tuple[str, ...]:
    """Those that matter to a parser, paths made absolute in the real project."""
    kept: list[str] = []
    rest = iter(words)
    for word in rest:
        if word in _WITH_VALUE:
            value = next(rest, "")
            kept += [word, _place(value, directory, root, built) if word in _PATHS else value]
            continue
        if not word.startswith(_KEPT_PREFIXES) or word.startswith(_NEVER):
            continue
        option = next((name for name in _PATHS if word.startswith(name)), None)
        if option is not None:
            word = option + _place(word[len(option) :], directory, root, built)
        kept.append(word)
    return tuple(kept)


def _place(value: str, directory: Path, root: Path, built: Path) -> str:
    path = Path(os.path.normpath(directory / value))
    if path.is_relative_to(built):
        own = root / path.relative_to(built)
        return str(own if own.exists() or not path.exists() else path)  # made by the build
    return str(path)


def _made_headers(root: Path, built: Path, named: Set[str]) -> list[str]:
    """Folders of the copy with headers that only the build has made, and those above them that
    commands have `named`: an `#include` begins in one of these."""
    if built == root:
        return []
    folders: set[Path] = set()
    for file in _files(built):
        if file.endswith((".h", ".hpp", ".inc")) and not (root / file).exists():
            own, *above = Path(file).parents
            folders |= {own, *(folder for folder in above if str(root / folder) in named)}
    return sorted(str(built / folder) for folder in folders)


def _relative(path: Path, root: Path, built: Path) -> str | None:
    normal = Path(os.path.normpath(path))
    for base in (built, root):
        if normal.is_relative_to(base):
            return normal.relative_to(base).as_posix()
    return None


def unnamed_files(root: Path) -> list[str]:
    """Return the C files that no makefile names, though others are named."""
    return without_name(root, sorted(_files(root)))


def has_build(root: Path) -> bool:
    """Return whether the project says itself how it is built, in a way that can be run."""
    return any((root / name).is_file() for name in ("CMakeLists.txt", *_CONFIGURES, *_MAKEFILES))


def _by_cmake(root: Path, folder: Path, notes: list[str]) -> Units | None:
    if not (root / "CMakeLists.txt").is_file():
        return None
    if shutil.which("cmake") is None:
        notes.append("CMakeLists.txt is there, but cmake is not installed")
        return None
    copy, build = _copy(root, folder), folder / "cmake"
    shutil.rmtree(build, ignore_errors=True)
    command = ["cmake", "-S", str(copy), "-B", str(build), "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"]
    if (failed := _run(command, copy, None)) is not None:
        notes.append(Words("cmake failed: {why}", why=failed))
        return None
    units = _read(build / "compile_commands.json", root, copy, folder.parent / "units", notes)
    links = [
        word
        for path in sorted(build.rglob("link.txt"))
        for word in path.read_text(errors="replace").split()
    ]
    return Units(units, "cmake", tuple(notes), _libraries(links)) if units else None


def _by_make(root: Path, folder: Path, notes: list[str]) -> Units | None:
    configure = next((name for name in _CONFIGURES if (root / name).is_file()), None)
    if configure is None and not any((root / name).is_file() for name in _MAKEFILES):
        return None
    if shutil.which("make") is None:
        notes.append("a makefile is there, but make is not installed")
        return None
    copy = _copy(root, folder)
    _unmake(copy)
    _date_generated(copy)
    if configure and (failed := _run(["sh", f"./{configure}"], copy, None)) is not None:
        notes.append(Words("configure failed: {why}", why=failed))
    with record_commands() as recorded:
        making = ["make", "--keep-going", "-j2"]
        failed = _run(making, copy, recorded.path)
        if failed is None and not recorded.entries():  # it names its compiler by the whole path
            _unmake(copy)
            failed = _run([*making, "CC=cc"], copy, recorded.path)
        entries = recorded.entries()
    libraries = _libraries([word for entry in entries for word in entry["arguments"]])
    # Files are compiled beside each other: which comes first must not be left to the machine.
    entries.sort(
        key=lambda command: (len(command["arguments"]), command["arguments"], command["directory"])
    )
    units = _units(entries, root, copy, folder.parent / "units", notes)
    if failed is not None:
        notes.append(
            Words("make failed partway: {why}", why=failed)
            if units
            else Words("make failed: {why}", why=failed)
        )
    return Units(units, "make", tuple(notes), libraries) if units else None


def _libraries(words: Sequence[str]) -> tuple[str, ...]:
    """Names of libraries of the system in the words of link commands."""
    found: dict[str, None] = {}
    for word in words:
        match = re.fullmatch(r"-l([\w+.-]+)|/.*/lib([\w+-]+)\.so(?:\.[\d.]+)?", word)
        if match is not None:
            found[match[1] or match[2]] = None
    return tuple(found)


def _copy(root: Path, folder: Path) -> Path:
    """Return the project once more, where a build may do as it likes. Raises `JarvisError`."""
    folder.mkdir(parents=True, exist_ok=True)
    copy = folder / "copy"
    shutil.rmtree(copy, ignore_errors=True)
    try:
        shutil.copytree(root, copy, symlinks=True, ignore=shutil.ignore_patterns(*_IGNORED))
    except (OSError, shutil.Error) as error:
        raise JarvisError(
            "The project cannot be copied to {copy}: {error}", copy=copy, error=error
        ) from None
    return copy


def _date_generated(copy: Path) -> None:
    """Have what autoconf and automake made of their sources look newer than these: a checkout or a
    patch leaves any order, and `make` would make it again by tools that may not be there."""
    now = time.time()
    for age, name in enumerate(reversed(_GENERATED)):
        for path in copy.rglob(name):
            if path.is_file() and not path.is_symlink():
                os.utime(path, (now - age / 1000, now - age / 1000))


def _unmake(copy: Path) -> None:
    """Take what was built already out of a copy, where `make` would have nothing left to do.
    Objects and archives of which the project has no source are shipped with it and stay."""
    files = list(_files(copy))
    sources = {Path(file).stem for file in files if Path(file).suffix.lower() in _SOURCES}
    for file in files:
        path = copy / file
        if path.is_symlink() or not path.is_file():
            continue
        with path.open("rb") as opened:
            start = opened.read(8)
        if path.suffix in (".lo", ".la"):
            path.unlink()
        elif start.startswith(_BINARY):
            objects = [path.name] if path.suffix == ".o" else []
            if start == _ARCHIVE:
                with contextlib.suppress(SkippedFile):
                    objects = members(read_regular(path, limit=MAX_BYTES))
            if not objects or any(_source_of(object_file) in sources for object_file in objects):
                path.unlink()


def _source_of(name: str) -> str:
    """Return what the source of an object is called; libtool puts the library's name before it."""
    return name.split(".")[0].rpartition("-")[2]


def _run(command: list[str], folder: Path, path: str | None) -> str | None:
    """Return why a build failed, in one line; None when it did not. `path` is another `PATH`."""
    environment = {**os.environ, "LC_ALL": "C"}
    if path is not None:
        environment["PATH"] = path
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=BUILD_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"it took longer than {BUILD_SECONDS} s"
    except OSError as error:
        return str(error)
    if done.returncode == 0:
        return None
    lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
    if not lines:
        return f"exit status {done.returncode}"
    told = next((at for at, line in enumerate(lines) if _OBJECTION.search(line)), len(lines) - 1)
    return " ".join(lines[told : told + 3])[:300]  # the reason often is behind it


def _plain(root: Path, made: Path, folder: Path, notes: list[str]) -> tuple[Unit, ...]:
    """Every C and C++ file, with the folders that hold what it includes, with what makefiles name,
    and with headers that would be configured. Links to files outside are no part of the project."""
    files = []
    for file in sorted(_files(root)):
        path = root / file
        if not path.is_symlink() or path.resolve().is_relative_to(root):
            files.append(file)
        elif path.suffix.lower() in SUFFIXES:
            notes.append(Words("{file} points outside the project and is skipped", file=file))
    for file in for_other_systems(root, files):
        files.remove(file)
        notes.append(
            Words(
                "{file} is skipped: no makefile names it, and the C library provides it", file=file
            )
        )
    notes += made_elsewhere(root, files)
    elsewhere = stand_ins(root, files)
    known = [file for file in files if file not in elsewhere]
    includes = Includes(root, known)
    called = package(root)
    headers = [
        *echo_header_arguments(root, known, called, folder / "echoed"),
        *config_header_arguments(root, known, folder / "configured"),
        *includes.installed(folder / "installed"),
    ]
    ways = {
        file: [
            (*makefile_words(root, file, called), *way, *includes.words(file), *headers)
            for way in makefile_ways(root, file, called)
        ]
        for file in [*files, *header_units(root, files, made)]
        if Path(file).suffix.lower() in SUFFIXES
    }
    units = list(_in_ways(root, made, ways, as_written(root, known, called)))
    notes += notes_of({path: [meaning(word) for word in every] for path, every in ways.items()})
    if not units:
        raise JarvisError("There is no C or C++ file in {root}.", root=root)
    return tuple(units)


def _files(root: Path) -> Iterator[str]:
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(
            name for name in folders if name not in _IGNORED and not name.startswith(".")
        )
        for name in files:
            yield Path(folder, name).relative_to(root).as_posix()
