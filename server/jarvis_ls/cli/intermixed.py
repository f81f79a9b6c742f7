"""A parser that takes names and folders behind options too: `jsec prove ID --trust FOLDER`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

_REST = (argparse.PARSER, argparse.REMAINDER)


class IntermixedParser(argparse.ArgumentParser):
    """Parses as `argparse` does, but does not close a list of names at the first option."""

    _mixes = False

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Return what was given, and the words that are not understood."""
        has_rest = any(action.nargs in _REST for action in self._get_positional_actions())
        if self._mixes or has_rest or args is None or "--" in args:
            return super().parse_known_args(args, namespace)
        own, shown = self.usage, self.format_usage()
        # What is called below takes the usage for one in English, and comes back here.
        self.usage = own or shown[shown.index(self.prog) :].replace("%", "%%")
        self._mixes = True
        try:
            return self.parse_known_intermixed_args(args, namespace)
        finally:
            self._mixes = False
            self.usage = own
