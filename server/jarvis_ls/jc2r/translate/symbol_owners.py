"""Which module offers what to the others, and under which name the linker knows it."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from jarvis_ls.jc2r.translate.c_remainder import symbol


@dataclass(frozen=True, slots=True)
class Offer:
    """A function or variable that a file defines for others."""

    module: str
    file: str
    place: str
    """Where it is defined; the same for a variable of a header that several files include."""
    signature: str
    """Its Rust type."""
    in_rust: bool


@dataclass
class Homes:
    """Offers by name, in the order of the files. Those of programs are their own."""

    offers: dict[str, list[Offer]] = field(default_factory=dict)
    apart: set[tuple[str, str]] = field(default_factory=set)
    """Modules and what they define under a name that the C library has for another thing."""

    def add(self, name: str, offer: Offer) -> None:
        """Another file offers `name`."""
        self.offers.setdefault(name, []).append(offer)

    def nearest(self, name: str, file: str) -> Offer | None:
        """Return the offer a file means: that of its folder, or the one with most folders in
        common.
        """
        found = self.offers.get(name)
        if not found:
            return None
        own = PurePosixPath(file).parent.parts

        def distance(offer: Offer) -> tuple[bool, int]:
            parts = PurePosixPath(offer.file).parent.parts
            pairs = zip(own, parts, strict=False)
            shared = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))
            return parts != own, -shared

        return min(found, key=distance)

    def first_of(self, module: str, name: str, place: str) -> str:
        """Return the module that defines a variable of a header for all that include it."""
        for offer in self.offers.get(name, []):
            if offer.place == place:
                return offer.module
        return module

    def linked_as(self, module: str, name: str) -> str:
        """Return the linker's name of what a module defines for others: two of one name in two
        files cannot both have it.
        """
        if (module, name) in self.apart:
            return symbol(module, name)
        found = self.offers.get(name)
        if not found or found[0].module == module:
            return name
        return symbol(module, name)
