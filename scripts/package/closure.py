"""Prints what Jarvis LS needs for a Python and a platform, one requirement a line.

``python closure.py 3.11 linux x86_64 agent,migrate``: the installed project (with the extras that
are named) is followed through the metadata of the installed packages, with the conditions of each
requirement read for that Python and platform. (``pip download --python-version`` reads them for
the Python it runs on, and so forgets what only an older one needs.) Versions are those installed
here; what another Python needs in another version, or only another Python needs, keeps the range
that its requirement names.
"""

from __future__ import annotations

import sys
from importlib.metadata import PackageNotFoundError, requires, version

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

SYSTEMS = {
    "linux": ("Linux", "posix"),
    "darwin": ("Darwin", "posix"),
    "win32": ("Windows", "nt"),
}


def closure(root: Requirement, environment: dict[str, str]) -> list[str]:
    """The requirements of ``root`` and of everything it needs, without ``root`` itself."""
    found: dict[str, str] = {}
    seen: set[tuple[str, str]] = set()
    queue = _needs(root, environment)
    while queue:
        requirement = queue.pop()
        name = canonicalize_name(requirement.name)
        asked = {(name, extra) for extra in ("", *requirement.extras)}
        if asked <= seen:
            continue
        seen |= asked
        try:
            here = version(name)
            fits = requirement.specifier.contains(here, prereleases=True)
            found[name] = f"{name}=={here}" if fits else f"{name}{requirement.specifier}"
            queue += _needs(requirement, environment)
        except PackageNotFoundError:
            found[name] = f"{name}{requirement.specifier}"
    return sorted(found.values())


def _needs(wanted: Requirement, environment: dict[str, str]) -> list[Requirement]:
    """What a package needs, with the extras that are wanted of it."""
    found = [Requirement(text) for text in requires(wanted.name) or []]
    extras = ("", *wanted.extras)
    return [
        one
        for one in found
        if one.marker is None
        or any(one.marker.evaluate({"extra": extra, **environment}) for extra in extras)
    ]


def main(python: str, platform: str, machine: str, extras: str = "") -> None:
    """Print the requirements of the installed ``jarvis-ls``, with the extras that are named."""
    system, os_name = SYSTEMS[platform]
    environment = {
        "python_version": python,
        "python_full_version": f"{python}.0",
        "sys_platform": platform,
        "platform_system": system,
        "platform_machine": machine,
        "os_name": os_name,
    }
    root = Requirement(f"jarvis-ls[{extras}]")
    print("\n".join(closure(root, environment)))


if __name__ == "__main__":
    main(*sys.argv[1:])
