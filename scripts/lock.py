"""Keep requirements.lock: every Python package at one version, with the hashes of its files.

    python scripts/lock.py            resolve anew and write it: npm run lock
    python scripts/lock.py --check    fail when it is not in step with pyproject.toml

One file serves every Python and platform; set-up and packaging install nothing that is not in it.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "requirements.lock"
HEADER = """\
# Every Python package that set-up, tests and packaging install, for every Python and platform.
# Written by `npm run lock`; checked against pyproject.toml by `npm run check`.
"""
OLDEST = "3.10"
PYTHONS = (OLDEST, "3.11", "3.12", "3.13", "3.14")
PLATFORMS = {
    "linux": {"sys_platform": "linux", "platform_system": "Linux", "os_name": "posix"},
    "darwin": {"sys_platform": "darwin", "platform_system": "Darwin", "os_name": "posix"},
    "win32": {"sys_platform": "win32", "platform_system": "Windows", "os_name": "nt"},
}


@dataclass(frozen=True, slots=True)
class Pin:
    """One version of a package."""

    requirement: Requirement
    """With `==` and the condition under which it holds."""
    hashes: tuple[str, ...]
    """Of its files, as `sha256:…`."""

    @property
    def version(self) -> str:
        """Return the version."""
        return next(iter(self.requirement.specifier)).version

    def holds(self, environment: dict[str, str]) -> bool:
        """Return whether this is the version to take there."""
        marker = self.requirement.marker
        return marker is None or marker.evaluate(environment)


def environment_of(python: str, platform: str) -> dict[str, str]:
    """Return what markers are read with for a Python and a platform, such as `linux`."""
    return {
        **{name: str(value) for name, value in default_environment().items()},
        **PLATFORMS[platform],
        "python_version": python,
        "python_full_version": f"{python}.9",
        "implementation_name": "cpython",
        "platform_python_implementation": "CPython",
        "extra": "",
    }


def read_pins(text: str) -> dict[str, list[Pin]]:
    """Return the pins of a lock by the canonical name of their package."""
    found: dict[str, list[Pin]] = {}
    for line in re.sub(r"\\\n\s*", "", text).splitlines():
        if not line or line.lstrip().startswith("#"):
            continue
        requirement = Requirement(line.split("--hash", 1)[0].strip())
        pin = Pin(requirement, tuple(re.findall(r"--hash=(\S+)", line)))
        found.setdefault(canonicalize_name(requirement.name), []).append(pin)
    return found


def problems(project: dict[str, Any], pins: dict[str, list[Pin]]) -> Iterator[str]:
    """Yield why a lock is not in step with the project's requirements."""
    yield from (
        f"{pin.requirement} has no hash"
        for known in pins.values()
        for pin in known
        if not pin.hashes
    )
    for requirement in sorted(set(_requirements(project)), key=str):
        known = pins.get(canonicalize_name(requirement.name), [])
        for python in PYTHONS:
            for platform in PLATFORMS:
                environment = environment_of(python, platform)
                if requirement.marker is not None and not requirement.marker.evaluate(environment):
                    continue
                held = [pin for pin in known if pin.holds(environment)]
                if len(held) != 1:
                    yield f"{requirement}: {len(held)} versions for {python} on {platform}"
                elif not requirement.specifier.contains(held[0].version, prereleases=True):
                    yield f"{requirement}: the lock has {held[0].version}"


def _requirements(project: dict[str, Any]) -> Iterator[Requirement]:
    metadata = project["project"]
    lists = [
        project["build-system"]["requires"],
        metadata["dependencies"],
        *metadata["optional-dependencies"].values(),
        *project["dependency-groups"].values(),
    ]
    yield from (Requirement(text) for texts in lists for text in texts)


def write() -> int:
    """Resolve for every Python and platform, and write the lock."""
    uv = Path(sys.executable).with_name("uv")
    extras = ("--all-extras", "--group", "dev", "--universal", "--python-version", OLDEST)
    shape = ("--generate-hashes", "--no-header", "--no-emit-index-url", "--no-annotate")
    command = [str(uv), "pip", "compile", "pyproject.toml", *extras, *shape, "--quiet", "--upgrade"]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode == 0:
        LOCK.write_text(HEADER + done.stdout, encoding="utf-8")
    return done.returncode


def read_project() -> dict[str, Any]:
    """Return what pyproject.toml says."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def main() -> int:
    """Write or check; return the exit status."""
    if "--check" not in sys.argv:
        return write()
    found = list(
        dict.fromkeys(problems(read_project(), read_pins(LOCK.read_text(encoding="utf-8"))))
    )
    for problem in found:
        print(f"requirements.lock: {problem}")
    if found:
        print("renew it: npm run lock")
    return int(bool(found))


if __name__ == "__main__":
    raise SystemExit(main())
