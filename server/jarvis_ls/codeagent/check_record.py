"""Which checks cannot be run in a repository: `.jarvis/build_validation_config.yaml`.

Written when a check turns out to be impossible, so that later runs do not try again. People delete
a line, or the file, when it should be tried again, or add one to switch a check off.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from jarvis_ls.core.errors import SkippedFile
from jarvis_ls.core.files import STATE, keep_out_of_git, replace_file, state_folder
from jarvis_ls.core.words import Words
from jarvis_ls.runtime.base.yaml_files import read_settings

FILE = "build_validation_config.yaml"
_HEAD = (
    "# Checks that jca does not run after an edit, with the reason.\n"
    "# Delete a line to have it tried again; add one to switch a check off.\n"
)


class CheckRecord:
    """The file of one repository."""

    def __init__(self, root: Path) -> None:
        """Read it; `problem` says in words why it could not be understood."""
        self._root = root
        self.problem = ""
        self.disabled: dict[str, str] = {}
        """Reasons by the name of the check."""
        file = root / STATE / FILE
        if not os.path.lexists(file):
            return
        try:
            self.disabled = _read(read_settings(file, root))
        except (SkippedFile, ValueError) as error:
            self.problem = Words("{path}: {why}.", path=file, why=error)

    def disable(self, name: str, reason: str) -> None:
        """Keep that a check cannot be run. Raises `JarvisError` when the file cannot be written."""
        import yaml

        self.disabled[name] = str.__str__(reason)  # YAML knows no template
        if self.problem:  # what a person wrote is not overwritten
            return
        table = {"disabled": dict(sorted(self.disabled.items()))}
        text = _HEAD + yaml.safe_dump(table, allow_unicode=True, width=1000)
        folder = state_folder(self._root)
        keep_out_of_git(folder, FILE, ".gitignore")
        replace_file(folder / FILE, text.encode())


def _read(value: Any) -> dict[str, str]:
    if value is None:
        return {}
    table = value.get("disabled") if isinstance(value, dict) else None
    if not isinstance(table, dict):
        raise ValueError("it must hold a mapping `disabled` of checks to reasons")
    return {str(name): str(reason) for name, reason in table.items()}
