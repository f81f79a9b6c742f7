"""`jsec init`: settings of a project to begin with."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from jarvis_ls.cli.exit_status import ExitStatus
from jarvis_ls.cli.language import language, speak
from jarvis_ls.core.errors import UsageError
from jarvis_ls.core.files import STATE, replace_file, state_folder, write_error
from jarvis_ls.core.words import Words
from jarvis_ls.jsec.scan.folder import project_root
from jarvis_ls.jsec.settings.settings import FILE

_TEMPLATES = Path(__file__).resolve().parent / "templates"
SCHEMA = _TEMPLATES / "jsec.schema.json"
"""What editors check the settings by; the first line of the settings names it."""


def run_init(options: argparse.Namespace) -> ExitStatus:
    """Write a commented `.jarvis/jsec.toml` that changes nothing. Raises `UsageError` when the
    folder, or a project it is in, has one."""
    folder = Path(os.path.realpath(options.folder or project_root(Path.cwd())))
    if not folder.is_dir():
        raise UsageError("{path}: no such folder.", path=options.folder)
    for place in (folder, project_root(folder)):
        if os.path.lexists(place / FILE):
            raise UsageError("{file} is there already; it was not changed", file=place / FILE)
    state_folder(folder)
    replace_file(folder / STATE / SCHEMA.name, SCHEMA.read_bytes())
    _write_new(folder / FILE, (_TEMPLATES / f"jsec.{language()}.toml").read_bytes())
    said = Words("{file} was written; each setting in it is commented out", file=folder / FILE)
    print(speak(said))
    return ExitStatus.SUCCESS


def _write_new(path: Path, data: bytes) -> None:
    """Write a file that is not there yet. Raises `JarvisError`."""
    try:
        with path.open("xb") as file:
            file.write(data)
    except FileExistsError:
        raise UsageError("{file} is there already; it was not changed", file=path) from None
    except OSError as error:
        raise write_error(path, error) from None
