"""Prints what Jarvis LS needs for a Python and a platform, one requirement a line.

``python closure.py 3.10 linux x86_64``: the installed project is followed through the metadata of
the installed packages, with the conditions of each requirement read for that Python and platform.
(``pip download --python-version`` reads them for the Python it runs on, and so forgets what only
an older one needs.) Versions are those installed here; what only another Python needs is not
installed and keeps the range that its requirement names.
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


def closure(root: str, environment: dict[str, str]) -> list[str]:
    """The requirements of ``root`` and of everything it needs, without ``root`` itself."""
    found: dict[str, str] = {}
    queue = _needs(root, environment)
    while queue:
        requirement = queue.pop()
        name = canonicalize_name(requirement.name)
        if name in found:
            continue
        try:
            found[name] = f"{name}=={version(name)}"
            queue += _needs(name, environment)
        except PackageNotFoundError:
            found[name] = f"{name}{requirement.specifier}"
    return sorted(found.values())


def _needs(name: str, environment: dict[str, str]) -> list[Requirement]:
    requirements = [Requirement(text) for text in requires(name) or []]
    return [
        requirement
        for requirement in requirements
        if requirement.marker is None or requirement.marker.evaluate({"extra": "", **environment})
    ]


def main(python: str, platform: str, machine: str) -> None:
    """Print the requirements of the installed ``jarvis-ls``."""
    system, os_name = SYSTEMS[platform]
    environment = {
        "python_version": python,
        "python_full_version": f"{python}.0",
        "sys_platform": platform,
        "platform_system": system,
        "platform_machine": machine,
        "os_name": os_name,
    }
    print("\n".join(closure("jarvis-ls", environment)))


if __name__ == "__main__":
    main(*sys.argv[1:])
