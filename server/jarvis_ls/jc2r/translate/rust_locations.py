"""Where the Rust of a C function is, and which C function a message of rustc is about.

Every module of a crate begins with the name of its C file, `//! src/store.c`; functions keep their
names, or have them as Rust writes them. So nothing needs to be kept besides the crate, and a crate
that was edited by hand is read as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from jarvis_ls.core.errors import SkippedFile
from jarvis_ls.core.files import read_regular
from jarvis_ls.core.generated import MARK
from jarvis_ls.jc2r.translate.names import spellings

MAX_BYTES = 64_000_000
_HEAD = "//! "
_MADE = ".jarvis/"
"""Where C files are that include others: headers, or files that are compiled in several ways."""
_FUNCTION = re.compile(
    r'^(?:pub(?:\([\w ]+\))? )?(?:(?:const|async|unsafe|extern "C"|extern) )*fn ((?:r#)?\w+)\b',
    re.MULTILINE,
)
_MESSAGE = re.compile(
    r"^error(?:\[E\d+\])?: (?P<text>[^\n]+)\n\s*--> (?P<file>[^\n:]+):(?P<line>\d+):\d+$",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class RustPlace:
    """A function in the crate."""

    path: Path
    line: int
    """Of `fn`, from 1."""
    end_line: int


@dataclass(frozen=True, slots=True)
class BuildError:
    """An error of rustc and the C it comes from."""

    file: str
    """The C file."""
    function: str
    """Empty when it is in no function."""
    text: str
    rust: Path
    line: int


def is_ours(crate: Path) -> bool:
    """Return whether a folder holds a crate that jc2r has made."""
    try:
        manifest = read_regular(crate / "Cargo.toml", limit=1_000_000)
    except SkippedFile:
        return False
    return manifest.startswith(MARK.encode())


def modules(crate: Path) -> dict[str, Path]:
    """Return the Rust file of each C file."""
    source = crate / "src"
    found: dict[str, Path] = {}
    for path in sorted([*source.glob("*.rs"), *source.glob("bin/*.rs")]):
        head = _text(path).partition("\n")[0]
        if head.startswith(_HEAD):
            found[head.removeprefix(_HEAD).strip()] = path
    return found


def place_of(crate: Path, file: str, name: str) -> RustPlace | None:
    """Return where the Rust of function `name` of the C file `file` is; None when it is not in
    Rust.

    A function of a header is in every module that uses it: the first is taken.
    """
    known = modules(crate)
    wanted = (*spellings(name), *(("main_0",) if name == "main" else ()))
    others = [
        path for module, path in known.items() if file not in known or module.startswith(_MADE)
    ]
    for path in [*([known[file]] if file in known else []), *others]:
        found = {named: place for named, *place in functions_in(_text(path))}
        for spelling in wanted:
            if spelling in found:
                return RustPlace(path, *found[spelling])
    return None


def functions_in(text: str) -> Iterator[tuple[str, int, int]]:
    """Name, first and last line of the functions of a module that rustfmt has written."""
    for match in _FUNCTION.finditer(text):
        first = text.count("\n", 0, match.start()) + 1
        end = text.find("\n}", match.end())
        one_line = text.find("\n", match.end())
        if end < 0 or (one_line > 0 and text[match.end() : one_line].rstrip().endswith("}")):
            yield match[1], first, first
        else:
            yield match[1], first, text.count("\n", 0, end + 1) + 1


def build_errors(crate: Path, log: str) -> list[BuildError]:
    """Return what rustc objected to, as it is in the output of cargo, each with its C
    function.
    """
    homes = {path: file for file, path in modules(crate).items()}
    found = []
    for match in _MESSAGE.finditer(log):
        path, line = crate / match["file"], int(match["line"])
        inside = [n for n, first, last in functions_in(_text(path)) if first <= line <= last]
        name = inside[-1].removeprefix("r#") if inside else ""
        function = "main" if name == "main_0" else name
        found.append(BuildError(homes.get(path, ""), function, match["text"], path, line))
    return found


def _text(path: Path) -> str:
    try:
        return read_regular(path, limit=MAX_BYTES).decode("utf-8", "replace")
    except SkippedFile:
        return ""
