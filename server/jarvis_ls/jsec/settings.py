"""What a workspace or a user wants of jsec: `.jarvis/jsec.toml`, or the editor's settings.

exclude = ["tests/**"]             # as in .gitignore
min_confidence = 0.4
flow = true                        # follow values through and across functions

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

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

from jarvis_ls.codeintel.languages import LanguageName
from jarvis_ls.core.errors import ConfigError, SkippedFile
from jarvis_ls.core.files import STATE, read_regular
from jarvis_ls.core.finding import SEVERITIES, Finding, Severity
from jarvis_ls.core.globs import Globs
from jarvis_ls.core.regex import compile_regex
from jarvis_ls.jsec.flow.own import Danger, Gives, OwnFunction
from jarvis_ls.jsec.observed import Observed, read_observed

Level = Literal["off", "high", "medium", "low"]

FILE = f"{STATE}/jsec.toml"
"""Where a workspace keeps its settings, relative to its root."""

_MAX_BYTES = 64_000
T = TypeVar("T")
D = TypeVar("D")


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
    """Languages it looks at."""
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


@dataclass(frozen=True)
class Settings:
    """What is scanned and what is told."""

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
    functions: tuple[OwnFunction, ...] = ()
    """Sources, sinks and sanitizers of the user's own."""
    observed: tuple[Observed, ...] = ()
    """What runs of the code have shown; read beside the settings, not from them."""

    def judge(self, finding: Finding) -> Finding | None:
        """The finding as it is told with these settings, or None when it is not."""
        if not self._strict:
            return finding
        levels, least = self._for_file(finding.file)
        level = levels.get(finding.rule)
        if level == "off" or finding.confidence < least:
            return None
        return finding if level is None else replace(finding, severity=level)

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
    """Settings of the workspace at `root`, over those of `base`.

    Raises `ConfigError` naming the file and the key when something in it is wrong.
    """
    base = replace(base or Settings(), observed=read_observed(root))
    path = root / FILE
    if not path.is_symlink() and not path.exists():
        return base
    try:
        data = read_regular(path, limit=_MAX_BYTES)
        return settings_from(_toml(data), FILE, base)
    except SkippedFile as skipped:
        raise ConfigError(f"{FILE}: {skipped.reason}") from None


def settings_from(values: Mapping[str, Any], name: str, base: Settings | None = None) -> Settings:
    """Settings from a table, such as a parsed TOML file or what an editor sends.

    `name` says in errors where the values come from; what is not named keeps the value of
    `base`, lists and tables are added to its own. Raises `ConfigError`.
    """
    base = base or Settings()
    reader = _Reader(values, name, "")
    settings = replace(
        base,
        exclude=base.exclude + reader.take("exclude", _texts, ()),
        default_excludes=reader.take("default_excludes", _flag, base.default_excludes),
        max_file_size=reader.take("max_file_size", _size, base.max_file_size),
        min_confidence=reader.take("min_confidence", _share, base.min_confidence),
        rules=_later_wins(base.rules, reader.take("rules", _levels, ())),
        paths=base.paths + reader.tables("paths", _path_rules),
        patterns=base.patterns + reader.list_of_tables("pattern", _pattern),
        flow=reader.take("flow", _flag, base.flow),
        functions=base.functions
        + sum((reader.list_of_tables(role, make) for role, make in _ROLES), ()),
    )
    reader.finish()
    ids = [pattern.id for pattern in settings.patterns]
    for repeated in {one for one in ids if ids.count(one) > 1}:
        raise ConfigError(f"{name}: pattern: two patterns have the id '{repeated}'")
    return settings


class _Reader:
    """Takes values out of a table, and complains with the place of what is wrong."""

    def __init__(self, values: Mapping[str, Any], name: str, prefix: str) -> None:
        self._values = dict(values)
        self._name = name
        self._prefix = prefix
        self._known: list[str] = []

    def take(self, key: str, check: Callable[[Any], T], default: D) -> T | D:
        """The checked value of `key`; `default` when it is absent."""
        self._known.append(key)
        if key not in self._values:
            return default
        try:
            return check(self._values.pop(key))
        except ValueError as error:
            raise self.error(key, str(error)) from None

    def need(self, key: str, check: Callable[[Any], T]) -> T:
        """The checked value of `key`, which must be there."""
        value = self.take(key, check, None)
        if value is None:
            raise self.error(key, "is missing")
        return value

    def tables(self, key: str, make: Callable[[str, _Reader], T]) -> tuple[T, ...]:
        """One value for each table below `key`."""
        made = []
        for name, values in self.take(key, _table, {}).items():
            reader = _Reader(_table_at(self, f"{key}.{name}", values), self._name,
                             f"{self._prefix}{key}.{name}.")  # fmt: skip
            made.append(make(name, reader))
            reader.finish()
        return tuple(made)

    def list_of_tables(self, key: str, make: Callable[[_Reader], T]) -> tuple[T, ...]:
        """One value for each `[[key]]`."""
        made = []
        for number, values in enumerate(self.take(key, _list, []), 1):
            place = f"{key}[{number}]"
            reader = _Reader(_table_at(self, place, values), self._name, f"{self._prefix}{place}.")
            made.append(make(reader))
            reader.finish()
        return tuple(made)

    def finish(self) -> None:
        """Complain about keys nobody asked for."""
        for key in self._values:
            known = ", ".join(sorted(self._known))
            raise self.error(key, f"is not known; known here: {known}")

    def error(self, key: str, what: str) -> ConfigError:
        """What is told about a key."""
        return ConfigError(f"{self._name}: {self._prefix}{key}: {what}")


def _table_at(reader: _Reader, place: str, value: Any) -> dict[str, Any]:
    try:
        return _table(value)
    except ValueError as error:
        raise reader.error(place, str(error)) from None


def _path_rules(path: str, reader: _Reader) -> PathRules:
    try:
        Globs((path,))
    except ValueError as error:
        raise reader.error("", str(error)) from None
    return PathRules(
        path=path,
        min_confidence=reader.take("min_confidence", _share, None),
        rules=reader.take("rules", _levels, ()),
    )


def _pattern(reader: _Reader) -> Pattern:
    default = Pattern("", "", "")
    return Pattern(
        id=reader.need("id", _identifier),
        regex=reader.need("regex", _regex),
        message=reader.need("message", _text),
        languages=reader.take("languages", _languages, default.languages),
        severity=reader.take("severity", _severity, default.severity),
        confidence=reader.take("confidence", _share, default.confidence),
        cwe=reader.take("cwe", _numbers, ()),
        suggestion=reader.take("suggestion", _text, ""),
        strings=reader.take("strings", _flag, False),
        comments=reader.take("comments", _flag, False),
    )


def _source(reader: _Reader) -> OwnFunction:
    argument = reader.take("argument", _position, 0)
    if argument:
        size = reader.take("size", _position, 0)
        return OwnFunction(reader.need("function", _name), "source", argument, size)
    gives: Gives = reader.take("returns", _one_of(get_args(Gives)), "text")
    return OwnFunction(reader.need("function", _name), "source", gives=gives)


def _sink(reader: _Reader) -> OwnFunction:
    return OwnFunction(
        reader.need("function", _name), "sink", reader.need("argument", _position),
        danger=reader.need("kind", _one_of(get_args(Danger))),
    )  # fmt: skip


def _sanitizer(reader: _Reader) -> OwnFunction:
    argument = reader.take("argument", _position, 0)
    return OwnFunction(reader.need("function", _name), "sanitizer", argument)


_ROLES = (("source", _source), ("sink", _sink), ("sanitizer", _sanitizer))


def _toml(data: bytes) -> dict[str, Any]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        return tomllib.loads(data.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ConfigError(f"{FILE}: {error or 'nested too deeply'}") from None


def _later_wins(
    first: tuple[tuple[str, Level], ...], second: tuple[tuple[str, Level], ...]
) -> tuple[tuple[str, Level], ...]:
    return tuple({**dict(first), **dict(second)}.items())


def _table(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise ValueError("must be a table")
    return value


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list | tuple):
        raise ValueError("must be a list")
    return list(value)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("must be a text")
    return value


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("must be true or false")
    return value


def _texts(value: Any) -> tuple[str, ...]:
    texts = tuple(_text(one) for one in _list(value))
    Globs(texts)
    return texts


def _share(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise ValueError("must be a number from 0 to 1")
    return float(value)


def _size(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value <= 1 << 30:
        raise ValueError("must be a number of bytes from 1 to 1073741824")
    return value


def _levels(value: Any) -> tuple[tuple[str, Level], ...]:
    levels: tuple[str, ...] = get_args(Level)
    for rule, level in _table(value).items():
        if level not in levels:
            raise ValueError(f"'{rule}' must be one of {', '.join(levels)}")
    return tuple(value.items())


def _severity(value: Any) -> Severity:
    if value not in SEVERITIES:
        raise ValueError(f"must be one of {', '.join(SEVERITIES)}")
    return value  # type: ignore[no-any-return]


def _languages(value: Any) -> tuple[LanguageName, ...]:
    names: tuple[str, ...] = get_args(LanguageName)
    chosen = _list(value)
    if not chosen or not all(name in names for name in chosen):
        raise ValueError(f"must be a list of {', '.join(names)}")
    return tuple(chosen)


def _numbers(value: Any) -> tuple[int, ...]:
    numbers = [value] if isinstance(value, int) else _list(value)
    if not all(isinstance(one, int) and not isinstance(one, bool) and one > 0 for one in numbers):
        raise ValueError("must be a list of CWE numbers")
    return tuple(numbers)


def _position(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 99:
        raise ValueError("must be the number of an argument, from 1")
    return value


def _name(value: Any) -> str:
    if not _text(value).isidentifier():
        raise ValueError("must be the name of a function, without namespace or class")
    return _text(value)


def _one_of(allowed: tuple[str, ...]) -> Callable[[Any], Any]:
    def check(value: Any) -> Any:
        if value not in allowed:
            raise ValueError(f"must be one of {', '.join(allowed)}")
        return value

    return check


def _identifier(value: Any) -> str:
    text = _text(value)
    allowed = text.isascii() and text.replace("-", "").replace("_", "").isalnum()
    if not allowed or len(text) > 80:
        raise ValueError("must be letters, digits, '-' and '_', at most 80")
    return text


def _regex(value: Any) -> str:
    compile_regex(_text(value))
    return _text(value)
