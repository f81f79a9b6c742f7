"""A hundred folders nobody would want to scan, each made of a few bad ideas."""

from __future__ import annotations

import contextlib
import os
import random
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

from folders import FLAWED

Idea = Callable[[Path, random.Random], None]

CANARY = "canary_outside"
"""Stands in files outside the root; no report may hold it."""


@contextlib.contextmanager
def workspace(base: Path, seed: int) -> Iterator[Path]:
    """A folder with `good.c`, whose one finding must be told, and four bad ideas around it."""
    generator = random.Random(seed)
    root = base / f"w{seed}"
    root.mkdir()
    (base / "outside").mkdir(exist_ok=True)
    (base / "outside" / "secret.c").write_text(f"char *{CANARY} = gets(0);\n")
    (root / "good.c").write_text(FLAWED)
    for idea in generator.sample(IDEAS, 4):
        idea(root, generator)
    if not (root / "good.c").is_file():
        (root / "good.c").write_text(FLAWED)
    yield root


def _loops(root: Path, _generator: random.Random) -> None:
    (root / "loop").symlink_to(root)
    (root / "self.c").symlink_to("self.c")
    (root / "ping.c").symlink_to("pong.c")
    (root / "pong.c").symlink_to("ping.c")


def _escapes(root: Path, _generator: random.Random) -> None:
    outside = root.parent / "outside"
    (root / "escape.c").symlink_to(outside / "secret.c")
    (root / "escape").symlink_to(outside)
    (root / "up").symlink_to("../outside")
    (root / "passwd.h").symlink_to("/etc/passwd")
    (root / "include.c").write_text('#include "../outside/secret.c"\n#include "/etc/passwd"\n')


def _pipes_and_devices(root: Path, _generator: random.Random) -> None:
    os.mkfifo(root / "pipe.c")
    os.mkfifo(root / ".gitignore.c")
    here = Path.cwd()
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as listening:
        os.chdir(root)  # names of sockets are short
        try:
            listening.bind("socket.c")
        finally:
            os.chdir(here)
    (root / "zero.c").symlink_to("/dev/zero")
    with contextlib.suppress(PermissionError):  # only root may make devices
        os.mknod(root / "device.c", 0o20644, os.makedev(1, 5))


def _ignore_pipe(root: Path, _generator: random.Random) -> None:
    if not (root / ".gitignore").exists():
        os.mkfifo(root / ".gitignore")


def _large(root: Path, generator: random.Random) -> None:
    with (root / "large.c").open("wb") as file:
        file.truncate(50_000_000 + generator.randrange(1000))
    with (root / "sparse.h").open("wb") as file:
        file.truncate(5_000_000_000)


def _deep_folders(root: Path, _generator: random.Random) -> None:
    here = os.open(root, os.O_RDONLY)
    for _ in range(300):
        os.mkdir("d" * 20, dir_fd=here)
        below = os.open("d" * 20, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(os.open("deep.c", os.O_CREAT | os.O_WRONLY, dir_fd=here))
    os.close(here)


def _deep_code(root: Path, generator: random.Random) -> None:
    depth = generator.choice((2_000, 10_000, 30_000))
    opened = generator.choice(("(", "{", "[", "f(", "if(x){", "/*", "((int)", "a->b(", "#if 1\n"))
    (root / "deep.c").write_text("void f(void) {" + opened * depth)
    (root / "deep.rs").write_text("fn f() {" + opened * depth)


def _encodings(root: Path, generator: random.Random) -> None:
    (root / "latin.c").write_bytes(FLAWED.replace("copy", "f\xfcr").encode("latin-1"))
    (root / "wide.c").write_bytes(FLAWED.encode("utf-16"))
    (root / "wide_be.c").write_bytes(b"\xfe\xff" + FLAWED.encode("utf-16-be"))
    (root / "odd.c").write_bytes(b"\xff\xfe" + FLAWED.encode("utf-16-le") + b"\x41")
    (root / "marked.c").write_bytes(FLAWED.encode("utf-8-sig"))
    (root / "random.c").write_bytes(generator.randbytes(50_000))
    (root / "surrogate.c").write_bytes(b"int \xed\xa0\x80; " + FLAWED.encode())


def _nuls(root: Path, _generator: random.Random) -> None:
    (root / "binary.c").write_bytes(b"\0ELF" + b"\0" * 5000)
    (root / "late.c").write_bytes(FLAWED.encode() * 200 + b"\0" * 100 + FLAWED.encode())
    (root / "empty.c").write_bytes(b"")
    (root / "ends.c").write_bytes(b"\f\v\x85\xe2\x80\xa8\r" + FLAWED.encode())


def _names(root: Path, _generator: random.Random) -> None:
    for name in (
        b"new\nline.c",
        b"quote'\".c",
        b"$(touch x).c",
        b"-rf.c",
        b" .c",
        b"\xff\xfe.c",
        b"%s%n.c",
        b"a\x1b[2J.c",
        "\u202ec.exe.c".encode(),
        b"<img src=x>.c",
        b"..c",
        b"|pipe|.c",
        b"a" * 250 + b".c",
        b"\\..\\x.c",
    ):
        Path(os.fsdecode(os.fsencode(root) + b"/" + name)).write_text(FLAWED)


def _unreadable(root: Path, _generator: random.Random) -> None:
    (root / "locked").mkdir()
    (root / "locked" / "a.c").write_text(FLAWED)
    (root / "locked").chmod(0)
    (root / "secret.c").write_text(FLAWED)
    (root / "secret.c").chmod(0)


def _long_lines(root: Path, generator: random.Random) -> None:
    word = generator.choice(
        ("a,", "f(", "x+", '"', "\\", "'", "b ", "\t", "/", "*", "<", "#", 'R"(')
    )
    (root / "long.c").write_text("int x = " + word * 100_000)
    (root / "long.cpp").write_text("auto x = " + word * 50_000 + ";")
    (root / "long.rs").write_text("fn f() { " + word * 50_000)


def _state_is_a_file(root: Path, _generator: random.Random) -> None:
    if not (root / ".jarvis").exists():
        (root / ".jarvis").write_text("no folder")


def _state_leads_out(root: Path, _generator: random.Random) -> None:
    if not (root / ".jarvis").exists():
        (root / ".jarvis").symlink_to(root.parent / "outside")


def _state_is_full_of_traps(root: Path, _generator: random.Random) -> None:
    if (root / ".jarvis").exists():
        return
    (root / ".jarvis" / "cache").mkdir(parents=True)
    (root / ".jarvis" / "sec").mkdir()
    (root / ".jarvis" / "cache" / "scan.jsonl").symlink_to("/dev/zero")
    os.mkfifo(root / ".jarvis" / "sec" / "candidates.jsonl")
    (root / ".jarvis" / "sec" / "scanned.jsonl").mkdir()


def _ignores(root: Path, generator: random.Random) -> None:
    if (root / ".gitignore").exists():
        return
    lines = [
        "*a" * 60 + "b",
        "**/" * 80,
        "[" * 900,
        "[z-a]",
        "!",
        "\\",
        "#",
        "!" * 300,
        "\0",
        "(" * 300,
        "{a,b}" * 50,
        "?" * 900,
        "/" * 500,
    ]
    text = "\n".join(generator.choices(lines, k=3000))
    (root / ".gitignore").write_bytes(text.encode() + b"\n\xff\xfe\n!good.c\n")
    (root / "sub").mkdir()
    (root / "sub" / ".gitignore").symlink_to("/dev/zero")


def _settings(root: Path, generator: random.Random) -> None:
    if (root / ".jarvis").exists() or (root / ".jarvis").is_symlink():
        return
    (root / ".jarvis").mkdir()
    pattern = "[[pattern]]\nid = 'p%d'\nmessage = 'm'\nregex = '%s'\n"
    texts = [
        "exclude = [" + "'" + "*a" * 60 + "b'," * 1 + "]\n",
        pattern % (1, "(a+)+$") + pattern % (2, "((x{30}){30}){30}"),
        "".join(pattern % (n, "(.*)*" * 40) for n in range(50)),
        "a = " + "[" * 100_000,
        "[a" + ".a" * 50_000 + "]\nb = 1\n",
        "\0" * 10_000,
        "max_file_size = 99999999999999999999\n",
    ]
    (root / ".jarvis" / "jsec.toml").write_text(generator.choice(texts))


def _many(root: Path, _generator: random.Random) -> None:
    folder = root / "many"
    folder.mkdir()
    for number in range(300):
        (folder / f"{number}.h").write_text(f'#include "{(number + 1) % 300}.h"\n' * 20)
    (root / "uses.c").write_text("".join(f'#include "many/{n}.h"\n' for n in range(300)))


def _macros(root: Path, _generator: random.Random) -> None:
    chain = "".join(f"#define A{n} A{n + 1} A{n + 1}\n" for n in range(2000))
    loop = "#define X Y\n#define Y X\n#define F(a) F(F(a))\n"
    (root / "macros.c").write_text(chain + loop + "void f(void) { A0; X(1); F(F(2)); }\n")


def _comments(root: Path, _generator: random.Random) -> None:
    names = "a" * 100_000
    (root / "comments.c").write_text(
        f"// jsec-ignore: {names}\n"
        + "/* jsec-ignore-file: " * 3000
        + "\n"
        + "// jsec-ignore\n" * 500
    )
    (root / "nested.rs").write_text("/*" * 50_000 + " jsec-ignore: x")


IDEAS: list[Idea] = [
    _loops,
    _escapes,
    _pipes_and_devices,
    _ignore_pipe,
    _large,
    _deep_folders,
    _deep_code,
    _encodings,
    _nuls,
    _names,
    _unreadable,
    _long_lines,
    _state_is_a_file,
    _state_leads_out,
    _state_is_full_of_traps,
    _ignores,
    _many,
    _macros,
    _comments,
    _settings,
]
