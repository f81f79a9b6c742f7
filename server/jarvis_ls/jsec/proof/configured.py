"""What the project's own build says of how its files are compiled: the headers and sources that it
makes, the options of each file, and which files are linked together.

It is configured once, in the sandbox, and then "built" by compilers that only note what they are
asked for. What it has made is kept beside the workspace, never in it.
"""

from __future__ import annotations

import io
import re
import tarfile
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path, PurePosixPath

from jarvis_ls.codeintel.languages import language_of
from jarvis_ls.jsec.proof.budget import Budget
from jarvis_ls.jsec.proof.workbench import Workbench

SHARE = 6.0
"""CPU seconds that configuring a project may take, once, for each second of a finding's budget."""
_KEY = "configured"
_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
_MOST_MADE = 400
_LARGEST = 2_000_000
_FOLDER = "jsec-configured"
"""Folder of the copy that CMake writes to."""
_NO_PROGRAM = frozenset(("-shared", "-dynamiclib", "-bundle", "-r"))
_LIBRARY = re.compile(r"-l[\w+.-]+")
_NAMES = "cc gcc clang c99 c89 c++ g++ clang++"
_NOTING = r"""#!/bin/bash
for word in "$@"; do
    case $word in
    -E|-M|-MM|--version|-v|-V|-dump*|-print*)
        exec "$(PATH=/usr/local/bin:/usr/bin:/bin command -v @CC@)" "$@" ;;
    esac
done
{ printf '%s' "$PWD"; printf '\037%s' "$@"; printf '\n'; } >>"$BENCH/commands"
made= before= compile=
for word in "$@"; do
    [ "$before" != -o ] || made=$word
    [ "$word" != -c ] || compile=1
    before=$word
done
if [ -z "$made" ] && [ -n "$compile" ]; then
    for word in "$@"; do
        case $word in *.c|*.cc|*.cpp|*.cxx) made=${word##*/}; made=${made%.*}.o ;; esac
    done
fi
[ -z "$made" ] || : >"$made"
"""

_CHOOSING = r"""#!/bin/bash
[ -z "$JSEC_NOTE" ] || exec "@W@/noting" "$@"
exec "@REAL@" "$@"
"""


@dataclass(frozen=True, slots=True)
class Linked:
    """What a command links."""

    files: frozenset[str]
    """Those whose objects it names; what it takes from libraries is not among them."""
    libraries: tuple[str, ...]
    """Those of the system, as options."""


@dataclass(frozen=True, slots=True)
class Configured:
    """What was found; empty where a project needs no configuring, or cannot be configured."""

    options: Mapping[str, tuple[str, tuple[str, ...]]] = field(default_factory=dict)
    """Folder and words of the command that compiles each file."""
    made: Mapping[str, bytes] = field(default_factory=dict)
    """Texts of headers and sources by path, those of the workspace itself not among them."""
    folder: str = ""
    """Where these are on this machine, for those who parse; empty without any."""
    linked: tuple[Linked, ...] = ()
    """What is linked by each command that does."""


_NOTHING = Configured()


def configured(bench: Workbench) -> Configured:
    """Return what is known of how a project is compiled; nothing before it was `configure`d."""
    known = bench.results.get(_KEY)
    return known if isinstance(known, Configured) else _NOTHING


async def configure(bench: Workbench, budget: Budget) -> None:
    """Configure the project of a workbench, unless that was done or there is nothing to configure.

    It is not paid for by the finding that comes first, but bounded by its budget. Raises
    `NoSandbox`.
    """
    if _KEY in bench.results:
        return
    ways = _ways(bench.root)
    if not ways or not bench.tools.compiler:
        bench.results[_KEY] = _NOTHING
        return
    output = await bench.run(
        _script(ways, bench.tools.linker), Budget(SHARE * budget.seconds, budget.stop)
    )
    left = dict(output.made)
    made = _texts(left.get("made.tar", b""))
    commands = list(_commands(left.get("commands", b"")))
    bench.results[_KEY] = Configured(
        _options(commands, str(bench.root)),
        made,
        _write(bench, made),
        tuple(_linked(commands, str(bench.root))),
    )
    bench.add(made)


def _ways(root: Path) -> list[tuple[str, str]]:
    """Return what may configure a project and what then builds it, the likeliest first."""
    made = any((root / name).is_file() for name in _MAKEFILES)
    ways = [("make clean", "make -k -i")] if made else []
    if (root / "configure").is_file():
        ways.append(("sh ./configure", "make -k -i"))
    if (root / "CMakeLists.txt").is_file():
        by_cmake = f"cmake -S . -B {_FOLDER} -DCMAKE_BUILD_TYPE=None"
        ways.append((by_cmake, f"make -k -i -C {_FOLDER}"))
    if (root / "configure.ac").is_file():  # what `configure` calls may have been left out
        ways.append(("autoreconf -fi && sh ./configure", "make -k -i"))
    return ways


def configuring_lines(root: Path) -> list[str]:
    """Return the lines of a script that configure a project, as a regression test needs it."""
    ways = [f"{{ {first}; }}" for first, _ in _ways(root) if first != "make clean"]
    return [f"{' || '.join(ways)} >/dev/null 2>&1"] if ways else []


def _script(ways: list[tuple[str, str]], compiler: str) -> str:
    """Return a script that leaves the commands, and the files that are new, in `$BENCH`."""
    noting = _NOTING.replace("@CC@", compiler)
    lines = [
        "W=$(mktemp -d) || exit 1",
        'mkdir "$W/bin"; touch "$W/begin"; : >"$BENCH/commands"',
        f"cat >\"$W/noting\" <<'JSEC_END'\n{noting}JSEC_END",
        f"cat >\"$W/choosing\" <<'JSEC_END'\n{_CHOOSING}JSEC_END",
        'chmod +x "$W/noting"',
        f"for name in {_NAMES}; do",
        f'    real=$(command -v "$name" || command -v {compiler})',
        '    sed "s|@REAL@|$real|; s|@W@|$W|" "$W/choosing" >"$W/bin/$name"',
        '    chmod +x "$W/bin/$name"',
        "done",
        'PATH="$W/bin:$PATH"; export PATH',
    ]
    for first, then in ways:
        lines += [
            '[ -s "$BENCH/commands" ] || {',
            f"    {{ {first}; }} >/dev/null 2>&1 </dev/null",
            f"    JSEC_NOTE=1 {then} >/dev/null 2>&1 </dev/null",
            "}",
        ]
    lines += [
        "find . -type f -newer \"$W/begin\" -size -2000k \\( -name '*.h' -o -name '*.inc' "
        "-o -name '*.def' -o -name '*.c' -o -name '*.cc' -o -name '*.cpp' \\) | "
        f'head -n {_MOST_MADE} >"$W/list"',
        'tar -cf "$BENCH/made.tar" -T "$W/list" 2>/dev/null',
        'find . -type f -newer "$W/begin" -delete',
        "exit 0",
    ]
    return "\n".join(lines)


def _texts(data: bytes) -> dict[str, bytes]:
    """Return the files of an archive, by path."""
    found: dict[str, bytes] = {}
    try:
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            for member in archive:
                path = PurePosixPath(member.name)
                file = archive.extractfile(member) if member.isfile() else None
                if file is None or path.is_absolute() or ".." in path.parts:
                    continue
                if member.size <= _LARGEST:
                    found[str(path)] = file.read()
    except (tarfile.TarError, EOFError):
        return found
    return found


def _commands(data: bytes) -> Iterator[tuple[str, list[str]]]:
    """Yield the folder and the words of each command of a compiler."""
    for line in data.decode("utf-8", "replace").splitlines():
        folder, *words = line.split("\x1f")
        yield folder, words


def _options(
    commands: Sequence[tuple[str, list[str]]], root: str
) -> dict[str, tuple[str, tuple[str, ...]]]:
    """Return the command of each file that was compiled, by its path; the first counts."""
    found: dict[str, tuple[str, tuple[str, ...]]] = {}
    for folder, words in commands:
        if "-c" in words:
            for path in _sources_in(folder, words, root):
                found.setdefault(path, (folder, tuple(words)))
    return found


def _linked(commands: Sequence[tuple[str, list[str]]], root: str) -> Iterator[Linked]:
    """Yield what each command is of that links a program."""
    source_of: dict[Path, str] = {}
    for folder, words in commands:
        found = set(_sources_in(folder, words, root))
        if "-c" in words:
            made = next((after for word, after in pairwise(words) if word == "-o"), "")
            for path in found:
                place = made or PurePosixPath(path).with_suffix(".o").name
                source_of[Path(folder, place).resolve()] = path
            continue
        if not _NO_PROGRAM.isdisjoint(words):
            continue
        for word in words:
            if (
                word.endswith((".o", ".obj"))
                and (known := Path(folder, word).resolve()) in source_of
            ):
                found.add(source_of[known])
        if found:
            libraries = dict.fromkeys(word for word in words if _LIBRARY.fullmatch(word))
            yield Linked(frozenset(found), tuple(libraries))


def _sources_in(folder: str, words: Iterable[str], root: str) -> Iterator[str]:
    """Yield the files of C and C++ that a command names, by their path in the workspace."""
    for word in words:
        if not word.startswith("-") and language_of(word) in ("c", "cpp"):
            path = str(Path(folder, word).resolve())
            if path.startswith(f"{root}/"):
                yield path[len(root) + 1 :]


def _write(bench: Workbench, made: Mapping[str, bytes]) -> str:
    """Write files into a folder that is gone with the workbench; returns it."""
    if not made:
        return ""
    folder = tempfile.TemporaryDirectory(prefix="jsec-configured-")
    bench.keep(folder)
    for path, data in made.items():
        place = Path(folder.name, path)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
    return str(Path(folder.name).resolve())
