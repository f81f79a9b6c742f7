"""Which linter reads which file; the user's `lint_tools.yaml` adds to the table or replaces rows.

".py": [ruff, mypy]                      # tools of the table below, by name
".proto":                                # or a command of one's own
  - {name: buf, command: "buf lint {files}", project: true}
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jarvis_ls.core.errors import ConfigError, SkippedFile
from jarvis_ls.core.files import read_regular
from jarvis_ls.runtime.base.yaml_files import read_settings

FILE = "lint_tools.yaml"
_FILES = "{files}"
_LARGEST = 1_000_000


@dataclass(frozen=True, slots=True)
class LintTool:
    """One linter."""

    name: str
    """As it is named in the record of checks."""
    command: str
    """A command line; `{files}` are the changed files."""
    is_project: bool = False
    """Whether it reads the whole project, so that it runs once."""
    needs: tuple[str, ...] = ()
    """Files, any of which must be there, as `NAME`, or `NAME:TEXT` for one that holds a text:
    without its settings it would say what nobody wants."""

    @property
    def program(self) -> str:
        """Return the program that must be there."""
        return shlex.split(self.command)[0]

    def line(self, files: Sequence[str]) -> str:
        """Return the command line for some files."""
        return self.command.replace(_FILES, " ".join(shlex.quote(f"./{file}") for file in files))


_TOOLS = {
    tool.name: tool
    for tool in (
        LintTool("ruff", "ruff check --no-cache --output-format concise {files}"),
        LintTool(
            "mypy",
            "mypy --no-error-summary --hide-error-context {files}",
            needs=("mypy.ini", ".mypy.ini", "pyproject.toml:[tool.mypy", "setup.cfg:[mypy"),
        ),
        LintTool("pylint", "pylint -sn {files}", needs=(".pylintrc", "pylintrc", "pylintrc.toml")),
        LintTool("flake8", "flake8 {files}", needs=(".flake8",)),
        LintTool("black", "black --check {files}", needs=("pyproject.toml:[tool.black]",)),
        LintTool(
            "clippy", "cargo clippy --offline --quiet --message-format short", is_project=True
        ),
        LintTool("rustfmt", "rustfmt --check {files}", needs=("rustfmt.toml", ".rustfmt.toml")),
        LintTool("go-vet", "go vet ./...", is_project=True),
        LintTool("golint", "golint {files}"),
        LintTool("clang-tidy", "clang-tidy --quiet {files}", needs=(".clang-tidy",)),
        LintTool("cppcheck", "cppcheck --quiet --template=gcc {files}"),
        LintTool(
            "eslint",
            "eslint --format unix {files}",
            needs=tuple(
                f"{stem}.{end}"
                for stem, ends in (
                    (".eslintrc", ("js", "cjs", "json", "yml", "yaml")),
                    ("eslint.config", ("js", "mjs", "cjs", "ts")),
                )
                for end in ends
            ),
        ),
        LintTool("tsc", "tsc --noEmit --pretty false", is_project=True, needs=("tsconfig.json",)),
        LintTool("pmd", "pmd check -d . -R pmd.xml", is_project=True, needs=("pmd.xml",)),
        LintTool("checkstyle", "checkstyle -c checkstyle.xml {files}", needs=("checkstyle.xml",)),
        LintTool(
            "phpstan",
            "phpstan analyse --no-progress --error-format raw {files}",
            needs=("phpstan.neon", "phpstan.neon.dist"),
        ),
        LintTool("rubocop", "rubocop --format emacs {files}", needs=(".rubocop.yml",)),
        LintTool("swiftlint", "swiftlint lint --quiet {files}", needs=(".swiftlint.yml",)),
        LintTool("shellcheck", "shellcheck -f gcc {files}"),
    )
}
_C = ("clang-tidy", "cppcheck")
_SCRIPT = ("eslint", "tsc")
_BY_SUFFIX: Mapping[str, tuple[str, ...]] = {
    ".py": ("ruff", "mypy", "pylint", "flake8", "black"),
    ".rs": ("clippy", "rustfmt"),
    ".go": ("go-vet", "golint"),
    **dict.fromkeys((".c", ".cc", ".cpp", ".cxx", ".h", ".hpp"), _C),
    **dict.fromkeys((".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx"), _SCRIPT),
    ".java": ("pmd", "checkstyle"),
    ".php": ("phpstan",),
    ".rb": ("rubocop",),
    ".swift": ("swiftlint",),
    ".sh": ("shellcheck",),
}

LintTable = Mapping[str, Sequence[LintTool]]
"""Linters by the end of a file's name."""


def read_table(home: Path) -> LintTable:
    """Return the table with the user's changes. Raises `ConfigError` saying what is wrong."""
    table = {suffix: [_TOOLS[name] for name in names] for suffix, names in _BY_SUFFIX.items()}
    file = home / FILE
    if not file.is_file():
        return table
    try:
        own = read_settings(file)
        if not isinstance(own, dict):
            raise ValueError("it must be a mapping of ends of names to tools")
        for suffix, tools in own.items():
            if not isinstance(tools, list):
                raise ValueError(f"{suffix} must hold a list of tools")
            table[str(suffix)] = [_tool(entry) for entry in tools]
    except (SkippedFile, ValueError) as error:
        raise ConfigError("{path}: {why}.", path=file, why=error) from None
    return table


def _tool(entry: Any) -> LintTool:
    if isinstance(entry, str):
        if entry not in _TOOLS:
            raise ValueError(f"there is no tool {entry!r}; there are {', '.join(sorted(_TOOLS))}")
        return _TOOLS[entry]
    if not isinstance(entry, dict) or not {"name", "command"} <= entry.keys():
        raise ValueError("a tool is a name, or a mapping with name and command")
    name, command = entry["name"], entry["command"]
    if not isinstance(name, str) or not isinstance(command, str):
        raise ValueError("name and command of a tool must be texts")
    if not shlex.split(command):
        raise ValueError(f"the command of {name!r} is empty")
    return LintTool(name, command, entry.get("project") is True)


def tools_for(
    table: LintTable, root: Path, paths: Iterable[str]
) -> list[tuple[LintTool, tuple[str, ...]]]:
    """Return each linter with the files it reads, those whose settings are missing left out."""
    files: dict[LintTool, list[str]] = {}
    for path in paths:
        for suffix, tools in table.items():
            if path.endswith(suffix):
                for tool in tools:
                    files.setdefault(tool, []).append(path)
    return [
        (tool, tuple(sorted(held)))
        for tool, held in files.items()
        if not tool.needs or any(_is_there(root, need) for need in tool.needs)
    ]


def _is_there(root: Path, need: str) -> bool:
    name, _, text = need.partition(":")
    try:
        data = read_regular(root / name, limit=_LARGEST, root=root)
    except SkippedFile:
        return False
    return text.encode() in data
