"""The settings of a project: `.tester/config.yaml`, and what is known of a task."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from jarvis_ls.core.errors import ConfigError, SkippedFile
from jarvis_ls.runtime.base.yaml_files import read_settings

FOLDER = ".tester"
FILE = f"{FOLDER}/config.yaml"
Read = TypeVar("Read", bound=BaseModel)


class Section(BaseModel):
    """A part of the file; a key that is not known is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class Container(Section):
    """What tests run with."""

    runtime: str = "auto"
    """Language and version, such as `python-3.12`; `auto` takes what the project shows."""


class RecursiveFix(Section):
    """What may be changed."""

    enabled: bool = True
    """Whether code that the failing code calls may change; else only the files where it fails."""
    allowed_paths: tuple[str, ...] = ()
    """Folders and files, from the root, or patterns as in `.gitignore`; none allow all."""
    denied_paths: tuple[str, ...] = ()
    """The same for what may not be changed; they win."""


class Validation(Section):
    """How a patch is validated."""

    run_type_check: bool = True
    impact_analysis_scope: Literal["in_range_only", "project"] = "in_range_only"
    """Whose calls must stay possible: those in the scope, or all."""
    timeout: float = Field(default=60, gt=0, le=3600)
    """Seconds for the tests of one patch."""
    max_patch_attempts: int = Field(default=3, ge=1, le=20)
    test_command: str = ""
    """How the tests are run where that is not recognised; it runs in the root."""
    junit: tuple[str, ...] = ()
    """JUnit XML reports that this command writes, as patterns of a shell."""


class Safety(Section):
    """What a patch may not do."""

    allow_new_imports: bool = False
    enable_impact_analysis: bool = True


class Config(Section):
    """The file."""

    container: Container = Container()
    recursive_fix: RecursiveFix = RecursiveFix()
    validation: Validation = Validation()
    safety: Safety = Safety()


class TaskNotes(Section):
    """What is known of a task: `.tester/tasks/ID.json`, `.yaml` or `.yml`."""

    change_description: str = ""
    """What was changed, or is wanted, in words."""
    functionality: str = ""
    """What the code should do."""
    error_log: str = ""
    """What was printed when it failed."""
    definitions: tuple[str, ...] = ()
    """Functions it is about, such as `src/math.py::divide`."""
    dependencies: tuple[str, ...] = ()
    """Files it depends on."""


def read_config(root: Path) -> Config:
    """Return the settings of a project, or the defaults. Raises `ConfigError`."""
    if not os.path.lexists(root / FILE):
        return Config()
    return _read(root, FILE, Config)


def read_task(root: Path, task: str) -> TaskNotes:
    """Return what is known of a task; nothing when there is no file. Raises `ConfigError`."""
    for suffix in ("json", "yaml", "yml"):
        path = f"{FOLDER}/tasks/{task}.{suffix}"
        if os.path.lexists(root / path):
            return _read(root, path, TaskNotes)
    return TaskNotes()


def _read(root: Path, path: str, model: type[Read]) -> Read:
    try:
        value: Any = read_settings(root / path, root)
        return model.model_validate({} if value is None else value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(map(str, first["loc"])) or "-"
        raise ConfigError("{file}: {key}: {why}", file=path, key=key, why=first["msg"]) from None
    except (SkippedFile, ValueError) as error:
        raise ConfigError("{file}: {why}", file=path, why=error) from None
