"""Keep the SBOM (CycloneDX) of the wheels, which hatchling lays into their `.dist-info/sboms/`.

    python wheel_bill.py            write it: npm run lock
    python wheel_bill.py --check    fail when it is not in step

A wheel bundles nothing: what it names are the packages it needs, at the versions of the lock, on
any Python and platform; those of extras alone are optional.
"""

from __future__ import annotations

import sys
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5

sys.path[:0] = [str(Path(__file__).resolve().parents[1])]  # so that `lock` is found

from closure import closure  # noqa: E402
from cyclonedx.contrib.license.factories import LicenseFactory  # noqa: E402
from cyclonedx.model.bom import Bom  # noqa: E402
from cyclonedx.model.component import Component, ComponentScope, ComponentType  # noqa: E402
from cyclonedx.output.json import JsonV1Dot6  # noqa: E402
from cyclonedx.schema import SchemaVersion  # noqa: E402
from cyclonedx.validation.json import JsonStrictValidator  # noqa: E402
from lock import (  # noqa: E402
    LOCK,
    PLATFORMS,
    PYTHONS,
    ROOT,
    environment_of,
    read_pins,
    read_project,
)
from packageurl import PackageURL  # noqa: E402
from packaging.requirements import Requirement  # noqa: E402

SBOM = ROOT / "server" / "sbom.cdx.json"


def needed(extras: str) -> set[tuple[str, str]]:
    """Return names and versions of what the project needs with some extras, anywhere. Raise
    `KeyError` for what the lock does not have."""
    pins = read_pins(LOCK.read_text(encoding="utf-8"))
    found: set[tuple[str, str]] = set()
    for python in PYTHONS:
        for platform in PLATFORMS:
            environment = environment_of(python, platform)
            for name in closure(Requirement(f"jarvis-ls[{extras}]"), environment):
                held = [pin for pin in pins.get(name, []) if pin.holds(environment)]
                if held:
                    found.add((name, held[0].version))
                elif name not in pins:  # else only other versions than the installed ones need it
                    raise KeyError(f"{name} is not in {LOCK.name}: npm run lock")
    return found


def text() -> str:
    """Return the SBOM as JSON. Raise `ValueError` when it is not valid."""
    project = read_project()["project"]
    always = needed("")
    parts = sorted(needed(",".join(sorted(project["optional-dependencies"]))))
    purl = PackageURL("pypi", None, project["name"], project["version"])
    root = Component(
        name=project["name"],
        version=project["version"],
        type=ComponentType.APPLICATION,
        licenses=[LicenseFactory().make_from_string("MIT")],
        purl=purl,
        bom_ref=purl.to_string(),
    )
    components = [
        Component(
            name=name,
            version=version,
            type=ComponentType.LIBRARY,
            scope=(
                ComponentScope.REQUIRED if (name, version) in always else ComponentScope.OPTIONAL
            ),
            purl=(place := PackageURL("pypi", None, name, version)),
            bom_ref=place.to_string(),
        )
        for name, version in parts
    ]
    names = "\n".join(component.bom_ref.value or "" for component in [root, *components])
    bom = Bom(components=components, serial_number=uuid5(NAMESPACE_URL, names))
    bom.metadata.component = root
    bom.metadata.timestamp = None  # the same lock gives the same bytes
    bom.register_dependency(root, components)
    written = JsonV1Dot6(bom).output_as_string(indent=2)
    if (wrong := JsonStrictValidator(SchemaVersion.V1_6).validate_str(written)) is not None:
        raise ValueError(f"the SBOM is not valid: {wrong}")
    return written + "\n"


def main() -> int:
    """Write or check; return the exit status."""
    if "--check" not in sys.argv:
        SBOM.write_text(text(), encoding="utf-8")
    elif not SBOM.exists() or SBOM.read_text(encoding="utf-8") != text():
        print(f"{SBOM.relative_to(ROOT)} is not in step with {LOCK.name}\nrenew it: npm run lock")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
