"""What a workspace or a user wants of jsec: `.jarvis/jsec.toml`, or the editor's settings.

exclude = ["tests/**"]             # as in .gitignore
min_confidence = 0.4
flow = true                        # follow values through and across functions
installed_headers = true           # ask the headers of this machine for what nothing else declares

[rules]
double-free = "off"                # or "low", "medium", "high"

[paths."examples/**"]
min_confidence = 0.8
rules = { weak-random = "off" }

[[pattern]]                        # a rule of your own
id = "no-legacy-log"
regex = '\\blegacy_log\\s*\\('
languages = ["c", "cpp"]
message = "legacy_log is not safe in signal handlers."

[[source]]                         # what it returns, or puts into an argument, comes from outside
function = "read_packet"
argument = 1                       # the memory it fills; without it: what it returns
size = 2                           # the argument that says how many bytes

[[sink]]                           # input must not get there
function = "run_tool"
argument = 1
kind = "command"                   # or "path", "format"

[[sanitizer]]                      # what comes out of it is harmless
function = "quote_for_shell"
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, get_args

from jarvis_ls.codeintel.languages import LanguageName
from jarvis_ls.core.errors import ConfigError, SkippedFile
from jarvis_ls.core.files import NOT_READABLE, STATE, read_regular
from jarvis_ls.core.finding import Finding, Severity
from jarvis_ls.core.globs import Globs
from jarvis_ls.core.toml import read_toml
from jarvis_ls.core.words import Words
from jarvis_ls.jsec.findings.sanitizer_findings import Observed, read_observed
from jarvis_ls.jsec.flow.library.user_models import Danger, Gives, OwnFunction
from jarvis_ls.jsec.settings import value_reader
from jarvis_ls.jsec.settings.rule_names import known_rules, unknown_rule
from jarvis_ls.jsec.settings.value_reader import Level

FILE = f"{STATE}/jsec.toml"
"""Where a workspace keeps its settings, relative to its root."""

SHOWN_CONFIDENCE = 0.3
"""Findings below this confidence are not shown to people who do not ask for them."""

_MAX_BYTES = 64_000


@dataclass(frozen=True, slots=True)
class Pattern:
    """A rule of the user's own: a regular expression that no line should match."""

    id: str
    """Id of the findings it gives."""
    regex: str
    """Pattern in RE2 syntax; it is matched within single lines."""
    message: str
    """What is wrong where it matches."""
    languages: tuple[LanguageName, ...] = ("c", "cpp", "rust")
    """Languages it examines."""
    severity: Severity = "medium"
    """How bad a match is."""
    confidence: float = 0.7
    """How sure a match is a flaw."""
    cwe: tuple[int, ...] = ()
    """Weakness numbers."""
    suggestion: str = ""
    """What to do about it."""
    strings: bool = False
    """Whether text inside string and character literals is matched too."""
    comments: bool = False
    """Whether comments are matched too."""


@dataclass(frozen=True, slots=True)
class PathRules:
    """Settings of the files below some paths."""

    path: str
    """Glob as in `.gitignore`."""
    min_confidence: float | None = None
    """As `Settings.min_confidence`, for these files."""
    rules: tuple[tuple[str, Level], ...] = ()
    """As `Settings.rules`, for these files."""


_MOST_FILES = 4_096
"""Files whose settings are held: an editor may open any number in its life."""


@dataclass(frozen=True)
class Settings:
    """What is scanned and what is reported."""

    exclude: tuple[str, ...] = ()
    """Globs, as in `.gitignore`, of files that are not scanned."""
    default_excludes: bool = True
    """Whether folders such as `build` and `third_party` are left out."""
    max_file_size: int = 8_000_000
    """Files with more bytes are not scanned; the summary names them."""
    min_confidence: float = 0.0
    """Findings below this confidence are not told."""
    rules: tuple[tuple[str, Level], ...] = ()
    """Rules that are off, or whose findings have another severity."""
    paths: tuple[PathRules, ...] = ()
    """Settings for some paths; the last that matches a file and names the key wins."""
    patterns: tuple[Pattern, ...] = ()
    """The user's own rules."""
    flow: bool = True
    """Whether values are followed through and across functions (C and C++)."""
    installed_headers: bool = True
    """Whether headers installed on the machine are asked for what nothing else declares."""
    functions: tuple[OwnFunction, ...] = ()
    """Sources, sinks and sanitizers of the user's own."""
    observed: tuple[Observed, ...] = ()
    """What runs of the code have shown; read beside the settings, not from them."""

    def judge(self, finding: Finding) -> Finding | None:
        """Return the finding as it is reported with these settings, or None when it is not."""
        if not self._strict:
            return finding
        levels, least = self._for_file(finding.file)
        level = levels.get(finding.rule)
        if level == "off" or finding.confidence < least:
            return None
        return finding if level is None else replace(finding, severity=level)

    def is_unsure(self, finding: Finding) -> bool:
        """Return whether it is its confidence alone for which a finding is not reported."""
        if not self._strict:
            return False
        levels, least = self._for_file(finding.file)
        return finding.confidence < least and levels.get(finding.rule) != "off"

    @cached_property
    def _strict(self) -> bool:
        return bool(self.rules or self.paths or self.min_confidence > 0)

    @cached_property
    def _globs(self) -> list[tuple[Globs, PathRules]]:
        return [(Globs((table.path,)), table) for table in self.paths]

    @cached_property
    def _by_file(self) -> dict[str, tuple[dict[str, Level], float]]:
        return {}

    def _for_file(self, file: str) -> tuple[dict[str, Level], float]:
        if not self.paths:  # the same for all: kept once
            file = ""
        elif len(self._by_file) > _MOST_FILES:
            self._by_file.clear()
        known = self._by_file.get(file)
        if known is not None:
            return known
        levels, least = dict(self.rules), self.min_confidence
        for globs, table in self._globs:
            if globs.match_below(file):
                levels.update(table.rules)
                least = least if table.min_confidence is None else table.min_confidence
        self._by_file[file] = levels, least
        return levels, least


def load_settings(root: Path, base: Settings | None = None) -> Settings:
    """Load the settings of the workspace at `root`, over those of `base`.

    Raises `ConfigError` naming the file and the key when something in it is wrong.
    """
    base = replace(base or Settings(), observed=read_observed(root))
    path = root / FILE
    try:
        path.lstat()
    except PermissionError:
        raise ConfigError(f"{FILE}: {NOT_READABLE}") from None
    except OSError:
        return base
    try:
        data = read_regular(path, limit=_MAX_BYTES)
    except SkippedFile as skipped:
        raise ConfigError(f"{FILE}: {skipped.reason}") from None
    settings = settings_from(_toml(data), FILE, base)
    for why in unknown_names(settings):
        raise ConfigError("{file}: rules: {why}", file=FILE, why=why)
    return settings


def unknown_names(settings: Settings) -> list[Words]:
    """Return a message about each name in tables of rules that no rule and no pattern has."""
    named = {*dict(settings.rules), *(name for table in settings.paths for name, _ in table.rules)}
    if not named:
        return []
    known = known_rules().union(pattern.id for pattern in settings.patterns)
    return [unknown_rule(name, known) for name in sorted(named - known)]


def settings_from(values: Mapping[str, Any], name: str, base: Settings | None = None) -> Settings:
    """Read settings from a table, such as a parsed TOML file or what an editor sends.

    `name` says in errors where the values come from; what is not named keeps the value of
    `base`, lists and tables are added to its own. Raises `ConfigError`.
    """
    base = base or Settings()
    reader = value_reader.Reader(values, name, "")
    settings = replace(
        base,
        exclude=base.exclude + reader.take("exclude", value_reader.texts, ()),
        default_excludes=reader.take("default_excludes", value_reader.flag, base.default_excludes),
        max_file_size=reader.take("max_file_size", value_reader.size, base.max_file_size),
        min_confidence=reader.take("min_confidence", value_reader.share, base.min_confidence),
        rules=_later_wins(base.rules, reader.take("rules", value_reader.levels, ())),
        paths=base.paths + reader.tables("paths", _path_rules),
        patterns=base.patterns + reader.list_of_tables("pattern", _pattern),
        flow=reader.take("flow", value_reader.flag, base.flow),
        installed_headers=reader.take(
            "installed_headers", value_reader.flag, base.installed_headers
        ),
        functions=base.functions
        + sum((reader.list_of_tables(role, make) for role, make in _ROLES), ()),
    )
    reader.finish()
    ids = [pattern.id for pattern in settings.patterns]
    for repeated in {each for each in ids if ids.count(each) > 1}:
        raise ConfigError(f"{name}: pattern: two patterns have the id '{repeated}'")
    return settings


def _path_rules(path: str, reader: value_reader.Reader) -> PathRules:
    try:
        Globs((path,))
    except ValueError as error:
        raise reader.error("", str(error)) from None
    return PathRules(
        path=path,
        min_confidence=reader.take("min_confidence", value_reader.share, None),
        rules=reader.take("rules", value_reader.levels, ()),
    )


def _pattern(reader: value_reader.Reader) -> Pattern:
    default = Pattern("", "", "")
    return Pattern(
        id=reader.need("id", value_reader.identifier),
        regex=reader.need("regex", value_reader.regex),
        message=reader.need("message", value_reader.text),
        languages=reader.take("languages", value_reader.languages, default.languages),
        severity=reader.take("severity", value_reader.severity, default.severity),
        confidence=reader.take("confidence", value_reader.share, default.confidence),
        cwe=reader.take("cwe", value_reader.numbers, ()),
        suggestion=reader.take("suggestion", value_reader.text, ""),
        strings=reader.take("strings", value_reader.flag, False),
        comments=reader.take("comments", value_reader.flag, False),
    )


def _source(reader: value_reader.Reader) -> OwnFunction:
    argument = reader.take("argument", value_reader.position, 0)
    if argument:
        size = reader.take("size", value_reader.position, 0)
        return OwnFunction(reader.need("function", value_reader.name), "source", argument, size)
    gives: Gives = reader.take("returns", value_reader.one_of(get_args(Gives)), "text")
    return OwnFunction(reader.need("function", value_reader.name), "source", gives=gives)


def _sink(reader: value_reader.Reader) -> OwnFunction:
    return OwnFunction(
        reader.need("function", value_reader.name),
        "sink",
        reader.need("argument", value_reader.position),
        danger=reader.need("kind", value_reader.one_of(get_args(Danger))),
    )


def _sanitizer(reader: value_reader.Reader) -> OwnFunction:
    argument = reader.take("argument", value_reader.position, 0)
    return OwnFunction(reader.need("function", value_reader.name), "sanitizer", argument)


_ROLES = (("source", _source), ("sink", _sink), ("sanitizer", _sanitizer))


def _toml(data: bytes) -> dict[str, Any]:
    try:
        return read_toml(data.decode("utf-8"))
    except ValueError as error:
        raise ConfigError(f"{FILE}: {error}") from None


def _later_wins(
    first: tuple[tuple[str, Level], ...], second: tuple[tuple[str, Level], ...]
) -> tuple[tuple[str, Level], ...]:
    return tuple({**dict(first), **dict(second)}.items())
