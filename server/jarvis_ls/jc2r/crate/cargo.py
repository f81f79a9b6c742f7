"""What cargo needs: to be there, to be new enough, a name for the crate, and nobody's orders.

cargo and rustup act on files they find in the current folder and in all folders above it:
`.cargo/config.toml` names programs that are run in place of compilers, `rust-toolchain.toml` a
folder that holds the compilers themselves. So both are asked once, in the topmost folder, where the
real programs are, and these are run there too, with the crate named to them.
"""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from jarvis_ls.core.errors import JarvisError
from jarvis_ls.core.words import Words
from jarvis_ls.jc2r.crate.keywords import KEYWORDS
from jarvis_ls.jc2r.crate.vendor import VENDOR, source_options

OLDEST = (1, 82)
"""The Rust that the crates are written for: `&raw` and `unsafe extern` came with it."""
ANSWER_SECONDS = 60
TOP = os.path.abspath(os.sep)  # noqa: PTH100 - of the drive, where there are drives
"""The folder that has none above it, where programs run that act on what is above them."""
_ORDERS = tuple(
    "CARGO_BUILD_ CARGO_TARGET_ CARGO_ENCODED_ RUSTUP_TOOLCHAIN RUSTC RUSTDOC RUSTFLAGS".split()
)
"""How variables begin that say which compiler builds what for whom: all of that is said here."""


def cargo() -> str:
    """Path of a cargo that can build our crates. Raises `JarvisError`."""
    found = program("cargo")
    if found is None:
        raise JarvisError(
            "cargo is not installed, and without it no Rust can be built: install Rust (rustup.rs,"
            " or on Debian the packages cargo-web, rustc-web and rustfmt-web) and run this again."
        )
    problem = _problem(found, os.environ.get("RUSTUP_TOOLCHAIN", ""))
    if problem is not None:
        raise JarvisError(problem)
    return found


def run_cargo(
    crate: Path,
    command: str,
    *words: str,
    seconds: float,
    flags: str = "",
    variables: Mapping[str, str] | None = None,
    crates: Path | None = None,
    offline: bool = True,
) -> subprocess.CompletedProcess[bytes]:
    """Run a command of cargo on a crate, offline, with `flags` for rustc and more environment
    `variables`. No file of the crate, of the folders above it or of the current folder says which
    programs take part. What the crate needs comes from the folder `crates`, by default its own
    `vendor`.

    Raises `JarvisError` when there is no cargo, `subprocess.TimeoutExpired` after `seconds`.
    """
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(_ORDERS)
    }
    environment |= {
        "CARGO_TERM_COLOR": "never",
        "CARGO_TARGET_DIR": str(crate / "target"),
        "RUSTFLAGS": flags,
        "RUSTC_WRAPPER": "",
        "RUSTC_WORKSPACE_WRAPPER": "",
        "LC_ALL": "C",
        **(variables or {}),
    }
    compiler = program("rustc")
    if compiler is not None:
        environment["RUSTC"] = compiler
    manifest = ["--manifest-path", str(crate / "Cargo.toml")]
    if crates is None and (crate / VENDOR).is_dir():
        crates = crate / VENDOR
    source = [] if crates is None else source_options(crates)
    alone = ["--offline"] if offline else []
    return subprocess.run(
        [cargo(), command, *manifest, *alone, *source, "--quiet", *words],
        cwd=TOP,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=seconds,
        check=False,
        env=environment,
    )


def program(name: str) -> str | None:
    """Path of a program of Rust, or None: one on the PATH, or where rustup puts them, because an
    editor that was started from a desktop often has no PATH of a shell. Of rustup's stand-ins it is
    the program they represent: they would look for orders wherever they are run.
    """
    found = _find_installed(name)
    if found is None or not _is_stand_in(found):
        return found
    return _behind(found, name, os.environ.get("RUSTUP_TOOLCHAIN", "")) or found


def _find_installed(name: str) -> str | None:
    own = Path(os.environ.get("CARGO_HOME") or "~/.cargo", "bin").expanduser()
    return shutil.which(name) or shutil.which(name, path=own)


def _is_stand_in(path: str) -> bool:
    """Return whether a program is rustup under another name: a link to it, or the same file."""
    if Path(os.path.realpath(path)).stem.startswith("rustup"):
        return True
    beside = Path(path).with_name(f"rustup{Path(path).suffix}")
    return beside.is_file() and beside.stat().st_size == Path(path).stat().st_size


@functools.cache
def _behind(stand_in: str, name: str, _toolchain: str) -> str | None:
    """Return the program of the user's own toolchain that a stand-in of rustup would run; None when
    there is none, which the stand-in says better.
    """
    compiler = Path(stand_in).with_name(f"rustc{Path(stand_in).suffix}")
    try:
        told = _ask(str(compiler), "--print", "sysroot")
    except (OSError, subprocess.TimeoutExpired):
        return None
    real = Path(told.stdout.strip(), "bin", name)
    return str(real) if told.returncode == 0 and real.is_file() else None


def _ask(*command: str) -> subprocess.CompletedProcess[str]:
    """Return what a program says of itself, asked where no file gives it orders."""
    return subprocess.run(
        command,
        cwd=TOP,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=ANSWER_SECONDS,
        check=False,
    )


def version_of(path: str) -> tuple[int, int] | None:
    """Return the version of a cargo or rustc; None when it does not tell one."""
    said = _ask(path, "--version")
    version = re.match(r"(?:cargo|rustc) (\d+)\.(\d+)", said.stdout)
    return None if version is None else (int(version[1]), int(version[2]))


_BUILT_IN = frozenset("alloc core proc_macro std test".split())


def crate_name(folder: Path) -> str:
    """Return the name of the crate in a folder, as Rust writes it: ASCII, no digit first, neither a
    keyword nor the name of a crate that comes with Rust."""
    name = re.sub(r"[^A-Za-z0-9]", "_", folder.name)
    if not name.strip("_"):
        return "project"
    if name in KEYWORDS or name in _BUILT_IN:
        return f"{name}_"
    return f"p{name}" if name[0].isdigit() else name


@functools.cache
def host_target() -> str:
    """Return what rustc calls the machine it builds for; empty when it does not say."""
    compiler = program("rustc")
    said = "" if compiler is None else _ask(compiler, "--version", "--verbose").stdout
    found = re.search(r"^host: (\S+)$", said, re.MULTILINE)
    return "" if found is None else found[1]


@functools.cache
def _problem(path: str, _toolchain: str) -> Words | None:
    """Return why this cargo cannot build our crates: rustup's is there without a toolchain too,
    and distributions have old ones.
    """
    try:
        said = _ask(path, "--version")
    except (OSError, subprocess.TimeoutExpired) as error:
        return Words("{cargo} does not run: {error}", cargo=path, error=error)
    if said.returncode != 0:
        reason = said.stderr.strip().partition("\n\n")[0]
        return Words("{cargo} does not run: {error}", cargo=path, error=reason)
    version = re.match(r"cargo (\d+)\.(\d+)", said.stdout)
    if version is not None and (int(version[1]), int(version[2])) < OLDEST:
        return Words(
            "{cargo} is of Rust {found}; {oldest} or newer is needed: rustup update, or a newer"
            " package, and run this again.",
            cargo=path,
            found=f"{version[1]}.{version[2]}",
            oldest=f"{OLDEST[0]}.{OLDEST[1]}",
        )
    return None
