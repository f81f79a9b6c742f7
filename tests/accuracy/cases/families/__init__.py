"""One module per group of weakness families; each has a list `SHAPES`."""

from __future__ import annotations

import importlib
import pkgutil

from cases.shape import Shape


def all_shapes() -> list[Shape]:
    """Every shape of every family, in a fixed order."""
    found: list[Shape] = []
    for info in sorted(pkgutil.iter_modules(__path__), key=lambda info: info.name):
        found += importlib.import_module(f"{__name__}.{info.name}").SHAPES
    return sorted(found, key=lambda shape: (shape.cwe, shape.name))
