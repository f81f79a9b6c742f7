"""Which libraries of the machine programs are linked with."""

from __future__ import annotations

import functools
import re
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

SECONDS = 60
_INPUT = re.compile(r"\b(?:INPUT|GROUP)\s*\(\s*(\S+)")
"""What a library that is only a script for the linker represents."""
_NEVER = re.compile(r"c|m|gcc_s|stdc\+\+|[a-z]+san|.*(?:_preinit|_db)")
"""Every program has them, or none but on demand."""
_SYSTEM = {
    "curses.h": "ncurses",
    "ncurses.h": "ncurses",
    "ncurses/ncurses.h": "ncurses",
    "ncursesw/ncurses.h": "ncursesw",
    "term.h": "tinfo",
    "panel.h": "panel",
    "menu.h": "menu",
    "form.h": "form",
    "zlib.h": "z",
    "bzlib.h": "bz2",
    "lzma.h": "lzma",
    "zstd.h": "zstd",
    "readline/readline.h": "readline",
    "editline/readline.h": "edit",
    "X11/Xlib.h": "X11",
    "SDL2/SDL.h": "SDL2",
    "SDL/SDL.h": "SDL",
    "GL/gl.h": "GL",
    "GL/glut.h": "glut",
    "GLFW/glfw3.h": "glfw",
    "openssl/ssl.h": "ssl",
    "openssl/evp.h": "crypto",
    "openssl/sha.h": "crypto",
    "openssl/md5.h": "crypto",
    "openssl/rand.h": "crypto",
    "openssl/bn.h": "crypto",
    "openssl/aes.h": "crypto",
    "openssl/hmac.h": "crypto",
    "expat.h": "expat",
    "png.h": "png",
    "jpeglib.h": "jpeg",
    "uuid/uuid.h": "uuid",
    "crypt.h": "crypt",
    "sqlite3.h": "sqlite3",
    "curl/curl.h": "curl",
    "pcre.h": "pcre",
    "gmp.h": "gmp",
    "mpfr.h": "mpfr",
    "check.h": "check",
    "cmocka.h": "cmocka",
    "CUnit/Basic.h": "cunit",
    "CUnit/CUnit.h": "cunit",
    "event.h": "event",
    "ev.h": "ev",
    "uv.h": "uv",
    "ffi.h": "ffi",
    "lua.h": "lua",
    "yaml.h": "yaml",
    "libxml/parser.h": "xml2",
    "allegro.h": "alleg",
    "ao/ao.h": "ao",
    "pcap.h": "pcap",
    "security/pam_appl.h": "pam",
    "sys/capability.h": "cap",
    "libusb.h": "usb-1.0",
    "bluetooth/bluetooth.h": "bluetooth",
}
"""Libraries by a header that only they have."""


def libraries(headers: Iterable[str], named: Sequence[str]) -> list[str]:
    """Return what programs are linked with: the libraries of `named` and those whose system
    `headers` are included, as far as the machine has them: a project names libraries of its own as
    well.
    """
    wanted = dict.fromkeys(named)
    for header in sorted(set(headers)):
        for tail, name in _SYSTEM.items():
            if header.endswith(f"/{tail}"):
                wanted.setdefault(name)
    return [name for name in wanted if _is_there(name)]


@functools.cache
def _is_there(library: str) -> bool:
    compiler = shutil.which("cc")
    if compiler is None:
        return False
    for name in (f"lib{library}.so", f"lib{library}.a"):
        asked = subprocess.run(
            [compiler, f"-print-file-name={name}"],
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
        if asked.stdout.strip() not in ("", name):
            return True
    return False


def providers(names: Iterable[str]) -> list[str]:
    """Libraries of the machine that define most of `names`, until all are there that any has."""
    missing = {name.partition("@")[0] for name in names}
    known = _defined_by_libraries()
    found: list[str] = []
    while missing:
        best = min(
            known,
            key=lambda member: (-len(known[member] & missing), len(member), member),
            default="",
        )
        if not best or not known[best] & missing:
            break
        found.append(best)
        missing -= known[best]
    return found


@functools.cache
def _defined_by_libraries() -> dict[str, frozenset[str]]:
    """Functions of each shared library that can be linked with, as `nm` lists them."""
    compiler, lister = shutil.which("cc"), shutil.which("nm")
    if compiler is None or lister is None:
        return {}
    asked = subprocess.run(
        [compiler, "-print-search-dirs"],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    listed = next(
        (
            line.partition("=")[2]
            for line in asked.stdout.splitlines()
            if line.startswith("libraries:")
        ),
        "",
    )
    files: dict[str, Path] = {}
    for folder in listed.split(":"):
        for path in sorted(Path(folder).glob("lib*.so")) if folder else ():
            name = path.name[len("lib") : -len(".so")]
            if _NEVER.fullmatch(name) is None:
                files.setdefault(name, _real(path))
    done = subprocess.run(
        [lister, "-D", "--defined-only", "-A", *map(str, files.values())],
        capture_output=True,
        text=True,
        errors="replace",
        timeout=SECONDS,
        check=False,
    )
    by_file: dict[str, set[str]] = {}
    for line in done.stdout.splitlines():
        file, _, rest = line.partition(":")
        words = rest.split()
        if len(words) == 3 and words[1] in "TWBDRVi":
            by_file.setdefault(file, set()).add(words[2].partition("@")[0])
    return {name: frozenset(by_file.get(str(path), ())) for name, path in files.items()}


def _real(path: Path) -> Path:
    """Return the library itself where the file is a script for the linker."""
    with path.open("rb") as file:
        head = file.read(4096)
    match = None if head.startswith(b"\x7fELF") else _INPUT.search(head.decode("utf-8", "replace"))
    return path if match is None else path.parent / match[1]
