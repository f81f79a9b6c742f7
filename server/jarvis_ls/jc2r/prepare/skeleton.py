"""The plan as a crate of its own: types and functions with `unimplemented!()`, which compiles."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from jarvis_ls.core.errors import JarvisError
from jarvis_ls.core.files import replace_file
from jarvis_ls.jc2r.crate.cargo import run_cargo
from jarvis_ls.jc2r.crate.keywords import KEYWORDS, NEVER_RAW
from jarvis_ls.jc2r.prepare.proposals import Group
from jarvis_ls.jc2r.translate.manifest import format_source

FOLDER = "interface"
"""Below `.jarvis/c2rust`."""
SECONDS = 300.0
_MOST = 4000


def write_skeleton(folder: Path, groups: Sequence[Group]) -> None:
    """Write the crate of a plan to `folder`, in place of what is there. Raises `JarvisError`."""
    shutil.rmtree(folder / "src", ignore_errors=True)
    (folder / "src").mkdir(parents=True, exist_ok=True)
    replace_file(
        folder / "Cargo.toml",
        b'[package]\nname = "interface"\nversion = "0.1.0"\nedition = "2021"\npublish = false\n\n'
        b"[workspace]\n",
    )
    modules: dict[str, list[Group]] = {}
    for group in groups:
        modules.setdefault(group.module, []).append(group)
    top = ["//! Interfaces that were planned; nothing is implemented.", "#![allow(unused)]"]
    for module, members in sorted(modules.items()):
        stem = Path(module).stem
        top.append(f"pub mod {_identifier(stem)};")
        top += [f"pub use {_identifier(stem)}::{group.name};" for group in members if group.name]
        text = "\n\n".join(part for group in members for part in _parts(group))
        replace_file(folder / module, format_source(f"{text}\n").encode())
    replace_file(folder / "src" / "lib.rs", "\n".join([*top, ""]).encode())


def check_skeleton(folder: Path) -> str:
    """Return what the compiler objects to in the crate of a plan; empty when it is clean. Raises
    `JarvisError` when cargo cannot be run."""
    try:
        done = run_cargo(folder, "check", seconds=SECONDS)
    except subprocess.TimeoutExpired:
        raise JarvisError(
            "{command} took longer than {seconds} s", command="cargo check", seconds=SECONDS
        ) from None
    said = done.stderr.decode(errors="replace").strip()
    return (said or "cargo check failed")[:_MOST] if done.returncode != 0 else ""


def _parts(group: Group) -> Iterator[str]:
    functions = [
        f"{_documentation(planned.c_name, planned.c_file, planned.start_line, planned.notes)}\n"
        f"{planned.rust_signature} {{\n    unimplemented!()\n}}"
        for planned in group.interfaces
        if planned.rust_signature
    ]
    if not group.name:
        yield from functions
        return
    yield (
        f"/// `{group.c_type}` of the C.\n{group.definition}" if group.c_type else group.definition
    )
    if functions:
        inner = "\n\n".join(functions)
        yield f"impl {group.name} {{\n{inner}\n}}"


def _documentation(name: str, file: str, line: int, notes: str) -> str:
    told = " ".join(notes.split())
    return "\n".join([f"/// `{name}` of {file}:{line}.", *([f"/// {told}"] if told else [])])


def _identifier(name: str) -> str:
    """Return a module's name as Rust takes it."""
    return f"r#{name}" if name in KEYWORDS - NEVER_RAW else re.sub(r"\W", "_", name)
