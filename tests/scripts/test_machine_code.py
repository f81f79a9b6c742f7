"""Machine code that `npm start` left is imported only where it is that of the sources there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts" / "package"
FIND = """
import sys
sys.path.insert(0, sys.argv[1])
import machine_code
machine_code.install(sys.argv[2])
sys.path.insert(0, sys.argv[3])
import jarvis_ls.codeintel.nodes
print(jarvis_ls.codeintel.nodes.MADE)
"""
LIST = """
import json, sys
sys.path.insert(0, sys.argv[1])
import machine_code
root, made, watched = sys.argv[2], sys.argv[3], ["jarvis_ls/codeintel"]
sources = machine_code.sources_below(root, watched)
modules = {"jarvis_ls.codeintel.nodes": made}
keys = ("python", "root", "watched", "sources", "modules")
print(json.dumps(dict(zip(keys, (sys.version, root, watched, sources, modules)))))
"""


class Checkout:
    """Sources, what stands for their machine code, and the list of it."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "server"
        self.module = write_sources(self.root)
        self.made = folder / "made.py"
        self.made.write_text("MADE = 'machine code'\n")
        self.listing = folder / "current.json"
        self.listing.write_text(run(LIST, SCRIPTS, self.root, self.made))

    def imports(self, root: Path | None = None, **environment: str) -> str:
        """Return what a Python imports with these sources in front, by default those listed."""
        return run(FIND, SCRIPTS, self.listing, root or self.root, **environment).strip()


def write_sources(root: Path) -> Path:
    package = root / "jarvis_ls" / "codeintel"
    package.mkdir(parents=True)
    for folder in (package, package.parent):
        (folder / "__init__.py").touch()
    module = package / "nodes.py"
    module.write_text("MADE = 'source'\n")
    return module


def run(program: str, *arguments: Path, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": "", "JARVIS_COMPILED": "", **environment},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


def test_it_is_imported(checkout: Checkout) -> None:
    assert checkout.imports() == "machine code"


def test_not_when_it_is_switched_off(checkout: Checkout) -> None:
    assert checkout.imports(JARVIS_COMPILED="0") == "source"


def test_not_in_another_checkout(checkout: Checkout, tmp_path: Path) -> None:
    write_sources(tmp_path / "other")
    assert checkout.imports(tmp_path / "other") == "source"


def edit(checkout: Checkout) -> None:
    checkout.module.write_text("MADE = 'source'  \n")


def touch(checkout: Checkout) -> None:
    os.utime(checkout.module, ns=(1, 1))


def add(checkout: Checkout) -> None:
    checkout.module.with_name("more.py").touch()


def remove_made(checkout: Checkout) -> None:
    checkout.made.unlink()


def remove_listing(checkout: Checkout) -> None:
    checkout.listing.unlink()


def tear(checkout: Checkout) -> None:
    checkout.listing.write_bytes(checkout.listing.read_bytes()[:-9])


def forget(checkout: Checkout) -> None:
    checkout.listing.write_text("[]")


def garble(checkout: Checkout) -> None:
    listing = json.loads(checkout.listing.read_text())
    checkout.listing.write_text(json.dumps({**listing, "modules": ["nodes"]}))


def come_from_another_python(checkout: Checkout) -> None:
    listing = json.loads(checkout.listing.read_text())
    checkout.listing.write_text(json.dumps({**listing, "python": "3.9"}))


CHANGES = (
    edit,
    touch,
    add,
    remove_made,
    remove_listing,
    tear,
    forget,
    garble,
    come_from_another_python,
)


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_not_after(change: Callable[[Checkout], None], checkout: Checkout) -> None:
    change(checkout)
    assert checkout.imports() == "source"
