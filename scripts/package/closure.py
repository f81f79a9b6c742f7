"""Print what Jarvis LS needs for a Python and a platform: a line of requirements.lock for each.

``PYTHONPATH=scripts python closure.py 3.11 linux x86_64 agent,migrate``: the installed project,
with the extras that are named, is followed through the metadata of the installed packages, with
the conditions of each requirement read for that Python and platform. (``pip download
--python-version`` reads them for the Python it runs on, and so forgets what only an older one
needs.) Versions and hashes are those of the lock.
"""

from __future__ import annotations

import sys
from importlib.metadata import PackageNotFoundError, requires

from lock import LOCK, environment_of, read_pins
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name


def closure(root: Requirement, environment: dict[str, str]) -> list[str]:
    """Return the names of all that ``root`` needs, without its own."""
    found: set[str] = set()
    seen: set[tuple[str, str]] = set()
    queue = _needs(root, environment)
    while queue:
        requirement = queue.pop()
        name = canonicalize_name(requirement.name)
        asked = {(name, extra) for extra in ("", *requirement.extras)}
        if asked <= seen:
            continue
        seen |= asked
        found.add(name)
        queue += _needs(requirement, environment)
    return sorted(found)


def _needs(wanted: Requirement, environment: dict[str, str]) -> list[Requirement]:
    """Return what a package needs, with the extras that are wanted of it."""
    try:
        found = [Requirement(text) for text in requires(wanted.name) or []]
    except PackageNotFoundError:
        return []  # for another Python or platform only; such packages need nothing themselves
    extras = ("", *wanted.extras)
    return [
        requirement
        for requirement in found
        if requirement.marker is None
        or any(requirement.marker.evaluate({**environment, "extra": extra}) for extra in extras)
    ]


def main(python: str, platform: str, machine: str, extras: str = "") -> None:
    """Print name, version and hashes of what ``jarvis-ls`` needs. Raise `KeyError` for what the
    lock does not have.
    """
    environment = environment_of(python, platform) | {"platform_machine": machine}
    pins = read_pins(LOCK.read_text(encoding="utf-8"))
    for name in closure(Requirement(f"jarvis-ls[{extras}]"), environment):
        pin = next((pin for pin in pins.get(name, []) if pin.holds(environment)), None)
        if pin is None:
            raise KeyError(f"{name} is not in {LOCK.name}: npm run lock")
        hashes = " ".join(f"--hash={digest}" for digest in pin.hashes)
        print(f"{name}=={pin.version} {hashes}")


if __name__ == "__main__":
    main(*sys.argv[1:])
