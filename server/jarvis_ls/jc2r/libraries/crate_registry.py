"""The crates a user has: a folder of crates (Debian's `librust-*-dev`, or one made by `cargo
vendor`), or the registry that cargo is set up for. What is not there is never written down."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jarvis_ls.core.errors import JarvisError, SkippedFile
from jarvis_ls.core.files import read_regular
from jarvis_ls.core.words import Words
from jarvis_ls.jc2r.crate.cargo import run_cargo
from jarvis_ls.runtime.base.toml_files import parse_toml

DEBIAN = Path("/usr/share/cargo/registry")
"""Where Debian's `librust-*-dev` are."""
SECONDS = 300.0
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}\Z")
_MOST = 4_000
"""Crates of a folder that are read at most."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A crate of a folder."""

    name: str
    version: str
    about: str


class CrateRegistry:
    """Where crates come from."""

    def __init__(self, folder: Path | None, *, online: bool = False) -> None:
        """`folder` holds crates; None: those of cargo's registry, which `online` lets it ask; what
        was downloaded before is there without."""
        self.folder, self._online = folder, online

    @property
    def name(self) -> str:
        """Return what it is called in records."""
        if self.folder is not None:
            return str(self.folder)
        return "registry" if self._online else "downloaded crates"

    def listed(self) -> list[Listed]:
        """Return the crates of the folder; none of a registry, which has too many."""
        if self.folder is None or not self.folder.is_dir():
            return []
        found: dict[str, Listed] = {}
        for path in sorted(self.folder.iterdir())[:_MOST]:
            package = _package(path / "Cargo.toml")
            name, version = package.get("name"), package.get("version")
            if isinstance(name, str) and isinstance(version, str):
                about = package.get("description")
                about = " ".join(about.split())[:120] if isinstance(about, str) else ""
                found[name] = Listed(name, version, about)
        return list(found.values())

    def find_version(self, name: str) -> str:
        """Return the version of a crate that would be used, with all that it needs; empty when it
        is not there. Raises `JarvisError` when there is no cargo."""
        if not NAME.match(name):
            return ""
        with tempfile.TemporaryDirectory(prefix="jc2r-crates-") as place:
            crate = _write_probe(Path(place), [(name, "*")])
            if self._run(crate, "generate-lockfile").returncode != 0:
                return ""
            return _locked(crate).get(name, "")

    def vendor(self, wanted: Sequence[tuple[str, str]], target: Path) -> None:
        """Copy crates, each name and version, and all that they need to the folder `target`, in
        place of what is there. Raises `JarvisError` with what cargo said."""
        with tempfile.TemporaryDirectory(prefix="jc2r-crates-") as place:
            crate = _write_probe(Path(place), wanted)
            made = crate / "made"
            done = self._run(crate, "vendor", "--respect-source-config", str(made))
            if done.returncode != 0 or not made.is_dir():
                said = done.stderr.decode(errors="replace").strip()[:1000]
                raise JarvisError("The crates cannot be copied: {said}", said=said)
            target.parent.mkdir(parents=True, exist_ok=True)
            new = target.with_name(f".{target.name}.new")
            shutil.rmtree(new, ignore_errors=True)
            shutil.copytree(made, new, symlinks=True)
            shutil.rmtree(target, ignore_errors=True)
            new.rename(target)

    def _run(self, crate: Path, command: str, *words: str) -> subprocess.CompletedProcess[bytes]:
        try:
            return run_cargo(
                crate,
                command,
                *words,
                seconds=SECONDS,
                variables={"CARGO_TARGET_DIR": str(crate / "target")},
                crates=self.folder,
                offline=not self._online,
            )
        except subprocess.TimeoutExpired:
            raise JarvisError(
                "{command} took longer than {seconds} s",
                command=f"cargo {command}",
                seconds=SECONDS,
            ) from None


def describe_missing(name: str, registry: CrateRegistry) -> Words:
    """Return what is said of a crate that is not there."""
    return Words("the crate {name} is not in {place}", name=name, place=registry.name)


def _write_probe(place: Path, wanted: Sequence[tuple[str, str]]) -> Path:
    lines = "".join(f"{json.dumps(name)} = {json.dumps(version)}\n" for name, version in wanted)
    (place / "src").mkdir()
    (place / "src" / "lib.rs").touch()
    (place / "Cargo.toml").write_text(
        '[package]\nname = "jc2r_probe"\nversion = "0.1.0"\nedition = "2021"\n\n'
        f"[dependencies]\n{lines}\n[workspace]\n"
    )
    return place


def _locked(crate: Path) -> dict[str, str]:
    try:
        lock = parse_toml(read_regular(crate / "Cargo.lock", limit=64_000_000))
    except (SkippedFile, ValueError):
        return {}
    return {str(package["name"]): str(package["version"]) for package in lock.get("package", ())}


def _package(path: Path) -> dict[str, Any]:
    try:
        manifest = parse_toml(read_regular(path, limit=4_000_000))
    except (SkippedFile, ValueError):
        return {}
    package = manifest.get("package") if isinstance(manifest, dict) else None
    return package if isinstance(package, dict) else {}
