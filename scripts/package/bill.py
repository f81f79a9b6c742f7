"""Write what a package holds: an SBOM (CycloneDX) and the licences of everything that is bundled.

    python bill.py VERSION TARGET LIBRARIES PACKAGES FOLDER

LIBRARIES is the folder with the Python libraries of the extension (their metadata says name,
version and licence), PACKAGES the list of npm packages that are in its scripts. `sbom.cdx.json` and
`THIRD-PARTY-LICENSES.md` go to FOLDER. A licence that is missing, no SPDX expression or not among
`ALLOWED` ends it with status 1, and so does an SBOM that is not valid by its schema.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timezone
from email.parser import HeaderParser
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5

from cyclonedx.factory.license import LicenseFactory
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from license_expression import ExpressionError, LicenseSymbol, get_spdx_licensing
from packageurl import PackageURL

ALLOWED = frozenset(
    "0BSD Apache-2.0 BlueOak-1.0.0 BSD-2-Clause BSD-3-Clause CC-BY-4.0 ISC MIT MIT-0 "
    "MIT-CMU MPL-2.0 PSF-2.0 Python-2.0 Unlicense Zlib LLVM-exception".split()
)
"""What may be bundled: licences that let us pass the package on unchanged beside ours."""
OLDER_NAMES = {
    "Apache 2.0": "Apache-2.0",
    "Apache License 2.0": "Apache-2.0",
    "Apache License, Version 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "Apache License 2.0 with LLVM Exceptions": "Apache-2.0 WITH LLVM-exception",
    "BSD": "BSD-3-Clause",
    "BSD License": "BSD-3-Clause",
    "3-Clause BSD License": "BSD-3-Clause",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "PSF": "PSF-2.0",
    "Python Software Foundation License": "PSF-2.0",
}
"""Names that metadata used before SPDX expressions, of licences that were looked up."""
UNNAMED = {"agent-client-protocol": "Apache-2.0"}
"""Licences of packages whose metadata names none, by the licence file that they bring."""
EPOCH = 1577836800
"""1 January 2020, where SOURCE_DATE_EPOCH says nothing: what hatchling takes."""


@dataclass(frozen=True, slots=True, order=True)
class Part:
    """A package that is bundled."""

    ecosystem: str
    """`pypi` or `npm`, as package URLs have it."""
    name: str
    version: str
    licence: str
    """As its metadata has it; empty when it says nothing."""


def python_parts(folder: Path) -> Iterator[Part]:
    """Yield the libraries below a folder, by their metadata."""
    for path in sorted(folder.rglob("*.dist-info/METADATA")):
        fields = HeaderParser().parsestr(path.read_text(encoding="utf-8"))
        classifiers = fields.get_all("Classifier", [])
        named = [line.split(" :: ")[-1] for line in classifiers if line.startswith("License :: ")]
        text = fields["License-Expression"] or fields["License"] or ""
        if not text or "\n" in text or (text not in OLDER_NAMES and not _is_expression(text)):
            text = next((name for name in named if name != "OSI Approved"), text)
        name = fields["Name"].lower()
        text = text or UNNAMED.get(name, "")
        yield Part("pypi", name, fields["Version"], OLDER_NAMES.get(text, text))


def npm_parts(file: Path) -> Iterator[Part]:
    """Yield the packages whose code is in the scripts of the extension."""
    for known in json.loads(file.read_text(encoding="utf-8")):
        yield Part("npm", known["name"], known["version"], known["license"])


def problem_of(part: Part) -> str:
    """Return why a part may not be bundled; empty when it may."""
    if not _is_expression(part.licence):
        return f"its licence is unknown: {part.licence[:60]!r}"
    known = get_spdx_licensing().parse(part.licence)
    return "" if _allows(known) else f"its licence is not allowed: {part.licence}"


def _is_expression(text: str) -> bool:
    try:
        return bool(text) and get_spdx_licensing().parse(text, validate=True) is not None
    except ExpressionError:
        return False


def _allows(expression: object) -> bool:
    """Return whether an expression is met by allowed licences: all of `AND`, one of `OR`."""
    if isinstance(expression, LicenseSymbol):
        return all(symbol.key in ALLOWED for symbol in expression.decompose())
    met = [_allows(operand) for operand in expression.args]  # type: ignore[attr-defined]
    return any(met) if type(expression).__name__ == "OR" else all(met)


def sbom(version: str, target: str, parts: list[Part]) -> str:
    """Return the SBOM of an extension as JSON. Raise `ValueError` when it is not valid."""
    licences = LicenseFactory()
    root = Component(
        name="jarvis-ls",
        version=version,
        type=ComponentType.APPLICATION,
        licenses=[licences.make_from_string("MIT")],
        bom_ref=f"jarvis-ls@{version}?target={target}",
    )
    components = [
        Component(
            name=part.name,
            version=part.version,
            type=ComponentType.LIBRARY,
            licenses=[licences.make_from_string(part.licence)],
            purl=(purl := _package_url(part)),
            bom_ref=purl.to_string(),
        )
        for part in parts
    ]
    names = "\n".join(component.bom_ref.value or "" for component in [root, *components])
    bom = Bom(components=components, serial_number=uuid5(NAMESPACE_URL, names))
    bom.metadata.component = root
    seconds = int(os.environ.get("SOURCE_DATE_EPOCH", EPOCH))
    bom.metadata.timestamp = datetime.fromtimestamp(seconds, timezone.utc)
    bom.register_dependency(root, components)
    text = JsonV1Dot6(bom).output_as_string(indent=2)
    if (wrong := JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)) is not None:
        raise ValueError(f"the SBOM is not valid: {wrong}")
    return text + "\n"


def _package_url(part: Part) -> PackageURL:
    scope, _, name = part.name.rpartition("/")
    return PackageURL(part.ecosystem, scope or None, name, part.version)


def table(parts: list[Part]) -> str:
    """Return name, version and licence of all parts as Markdown."""
    lines = [f"| {p.name} | {p.version} | {p.ecosystem} | {p.licence} |" for p in parts]
    head = ["# Licences of what is bundled", "", "| package | version | from | licence |"]
    return "\n".join([*head, "| --- | --- | --- | --- |", *lines, ""])


def main(version: str, target: str, libraries: str, packages: str, folder: str) -> int:
    """Write both files; return the exit status."""
    own = {Part("pypi", "jarvis-ls", version, "MIT")}
    parts = sorted({*python_parts(Path(libraries)), *npm_parts(Path(packages))} - own)
    wrong = [f"{part.name} {part.version}: {why}" for part in parts if (why := problem_of(part))]
    if wrong:
        print("\n".join(wrong), file=sys.stderr)
        return 1
    Path(folder, "sbom.cdx.json").write_text(sbom(version, target, parts), encoding="utf-8")
    Path(folder, "THIRD-PARTY-LICENSES.md").write_text(table(parts), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
