"""What makefiles make when nothing is asked for: what commands define, which files are named."""

from __future__ import annotations

import platform
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from jarvis_ls.jc2r.build.autoconf.configure_script import set_by_hand
from jarvis_ls.jc2r.build.machine_probes import in_library
from jarvis_ls.jc2r.build.project_files import content

_NAMING = ("GNUmakefile", "makefile", "Makefile", "Makefile.am", "Makefile.in", "CMakeLists.txt")
_EVERY = re.compile(r"\bwildcard\b|\bGLOB|\*\.c\b")
"""How makefiles name files by a pattern."""
_WORD = re.compile(r"[\w.+-]+")
_TARGETS = re.compile(r"([^\t#=:][^#=:]*):(?![=:])([^=#;]*)(?:[#;].*)?\Z")
_MAKES = re.compile(
    r"\t[@\s-]*(?:\$[({]CC(?:_\w+)?[)}]|cc|gcc|clang)(?=\s).*(?:\.c\b|\s-c\b|\$[<^])"
)
_TELLS = re.compile(r"\t[@\s-]*(?:echo\b|cat\b|exit\b|false\b|:|\Z)")
"""A command that makes nothing."""
_FOR_TARGET = re.compile(r"([^\t#=:][^#=:]*):[ \t]*([\w.-]+)[ \t]*(\+|::?|\?)?=(.*)\Z")
"""What a variable is set to for one target."""
_CALLS_BELOW = re.compile(r"(?:\bcd\s+([^\s;&|)]+)[^#\n]*?)?\$[({]MAKE[)}](?:\s+-C\s*(\S+))?(.*)")
"""`make` that is begun in another folder."""
_HANDS_OVER = re.compile(
    r"^\t[@-]*\$[({]MAKE[)}](?:\s+-C\s+(\w[\w./-]*))?\s+-f\s+(\w(?:[\w./-]|\$[({]\w+[)}])*)",
    re.MULTILINE,
)
_PLAIN = re.compile(r"^(\w+)[ \t]*[:?]?=[ \t]*([\w.-]+)[ \t]*$", re.MULTILINE)
_SED = re.compile(
    r"\bsed\b((?:\s|\\\n|-e|\"[^\"\n]*\"|'[^'\n]*')+)(?:<\s*)?([\w./-]+)\s*>\s*([\w./-]+)"
)
"""`sed` that makes one file of another."""
_SUBSTITUTES = re.compile(r"""(["'])s([|:,#!%/~])((?:(?!\2)[^\n])+)\2((?:(?!\2)[^\n])*)\2g?\1""")
_OF_MAKE = re.compile(r"\$[({](\w+)[)}]")
_OF_SHELL = re.compile(r"\$(?:\{(\w+)\}|(\w+))")
_DEFINES = re.compile(r"-[DU]\w+(?:=[^$`\n]*)?")
_DIALECT = re.compile(r"-std=\w+|-ansi")


def defined_by_default(path: Path, expanded: Callable[[str], str]) -> list[str]:
    """Return what all commands define that compile what the makefile at `path` makes when nothing
    is asked for, and the version of C that they all name, quoted for the shell; `expanded` fills
    the variables of a text in.
    """
    every = [_words(expanded(line)) for line, _ in _commands(path, expanded)]
    found = [[*_definitions(command), *filter(_DIALECT.fullmatch, command)] for command in every]
    first = [word for word in found[0] if not word.startswith("-U")] if found else []
    return [shlex.quote(word) for word in first if all(word in words for words in found)]


def ways_by_default(path: Path, expanded: Callable[[str], str]) -> dict[str, list[list[str]]]:
    """For each file that those commands name, the ways in which they compile it: what it is given
    by each of them. Files are named as the makefile does."""
    found: dict[str, list[list[str]]] = {}
    for line, needs in _commands(path, expanded):
        line = line.replace("$<", " ".join(needs[:1])).replace("$^", " ".join(needs))
        words = _words(expanded(line))
        defined = _definitions(words)
        for file in dict.fromkeys(word for word in words if word.endswith(".c")):
            ways = found.setdefault(file, [])
            if defined not in ways:
                ways.append(defined)
    return found


def set_for_targets(path: Path, expanded: Callable[[str], str]) -> list[tuple[str, str]]:
    """Variables that the makefile at `path` sets for what is made when nothing is asked for, with
    what they are set to where that is the same for all such targets; of a compiler only what it is
    given besides."""
    lines = makefile(path).replace("\\\n", " ").splitlines()
    goals = _goals(_rules(lines, expanded))
    found: dict[str, set[str]] = {}
    for match in filter(None, map(_FOR_TARGET.match, lines)):
        if not goals.isdisjoint(expanded(match[1]).split()) and (
            match[2] != "CC" or match[3] == "+"
        ):
            found.setdefault(match[2], set()).add(match[4].strip())
    return [(name, values.pop()) for name, values in found.items() if len(values) == 1]


def named_by_default(path: Path, expanded: Callable[[str], str]) -> list[str]:
    """Return what is needed for what the makefile at `path` makes when nothing is asked for, and
    the commands that make it, rule by rule.
    """
    rules = _rules(makefile(path).replace("\\\n", " ").splitlines(), expanded)
    goals = _goals(rules)
    return [
        text
        for rule in rules
        if not goals.isdisjoint(rule.targets)
        for text in (" ".join(rule.needs), *map(expanded, rule.commands))
    ]


def handed_down(path: Path, folder: Path, expanded: Callable[[str], str]) -> dict[str, str]:
    """Variables that the makefile at `path` gives the one in a folder below wherever it calls it,
    with their values where these are the same; what only the machine would say is left out."""
    found: dict[str, set[str]] = {}
    for line in makefile(path).replace("\\\n", " ").splitlines():
        match = _CALLS_BELOW.search(line)
        if match is None or not (match[1] or match[2]):
            continue
        place = expanded((match[1] or match[2]).strip("\"'"))
        if "$" not in place and (path.parent / place).resolve() != folder:
            continue
        for word in _words(re.split(r";|&&|\|", match[3])[0]):
            name, equals, value = word.partition("=")
            if equals and name.isidentifier():
                value = value[: -1 if value.count(")") > value.count("(") else None]
                found.setdefault(name, set()).add(expanded(value))
    return {
        name: value
        for name, values in found.items()
        for value in values
        if len(values) == 1 and value.strip() and not re.search(r"[$`@]", value)
    }


def is_rule(line: str) -> bool:
    """Return whether commands may follow a line."""
    return _TARGETS.match(line) is not None


@dataclass(frozen=True, slots=True)
class _Rule:
    targets: Sequence[str]
    needs: Sequence[str]
    commands: list[str]


def _rules(lines: Sequence[str], expanded: Callable[[str], str]) -> list[_Rule]:
    """Return the rules of a makefile."""
    found: list[_Rule] = []
    for line in lines:
        if line.startswith("\t"):
            if found:
                found[-1].commands.append(line)
        elif (match := _TARGETS.match(line)) is not None:
            targets, needs = (expanded(group).split() for group in match.groups())
            found.append(_Rule(targets, needs, []))
    return found


def _goals(rules: Sequence[_Rule]) -> set[str]:
    """Return what is made when nothing is asked for: the targets of the first rule, and what they
    need. Where that only tells what may be asked for, it is what is called like the system.
    """
    first = next((list(rule.targets) for rule in rules if _may_be_first(rule)), [])
    goals = _prerequisites(rules, first)
    commands = [
        line for rule in rules if not goals.isdisjoint(rule.targets) for line in rule.commands
    ]
    if commands and all(map(_TELLS.match, commands)):
        system = platform.system().lower()
        called = [name for rule in rules for name in rule.targets if name.startswith(system)]
        goals |= _prerequisites(rules, sorted(called, key=len)[:1])
    return goals


def _prerequisites(rules: Sequence[_Rule], targets: Sequence[str]) -> set[str]:
    """Targets with all that they need."""
    waiting = list(targets)
    by_target: dict[str, list[_Rule]] = {}
    for rule in rules:
        for target in rule.targets:
            by_target.setdefault(target, []).append(rule)
    goals = set(waiting)
    followed: set[int] = set()
    while waiting:
        for rule in by_target.get(waiting.pop(), ()):
            if id(rule) not in followed:
                followed.add(id(rule))
                new = set(rule.needs) - goals
                goals |= new
                waiting += new
    return goals


def _may_be_first(rule: _Rule) -> bool:
    return bool(rule.targets) and not rule.targets[0].startswith(".") and "%" not in rule.targets[0]


def _words(line: str) -> list[str]:
    """Return a command as the shell takes it apart."""
    try:
        return shlex.split(line)
    except ValueError:  # what is left of it when something in it was to be asked for
        return line.split()


def _definitions(words: Sequence[str]) -> list[str]:
    """Of the words of a command, those that define something, but for texts that are torn."""
    apart = zip(["", *words], words, strict=False)
    whole = [f"{before}{word}" if before in ("-D", "-U") else word for before, word in apart]
    return [word for word in whole if _DEFINES.fullmatch(word) and word.count('"') % 2 == 0]


def _commands(path: Path, expanded: Callable[[str], str]) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield the commands that compile what is made when nothing is asked for, with what each of
    them needs.
    """
    rules = _rules(makefile(path).replace("\\\n", " ").splitlines(), expanded)
    goals = _goals(rules)
    for rule in rules:
        if not goals.isdisjoint(rule.targets):
            yield from ((line, rule.needs) for line in rule.commands if _MAKES.match(line))


def for_other_systems(root: Path, files: Sequence[str]) -> list[str]:
    """C files that no makefile names, though others are named, and that bring a function which the
    C library has: `getopt.c` is compiled where there is none."""
    unnamed = without_name(root, files)
    there = in_library(sorted({PurePosixPath(file).stem for file in unnamed}))
    return [
        source
        for source in unnamed
        if (stem := PurePosixPath(source).stem) in there
        and re.search(rf"\b{stem}\s*\(", _text(root / source))
    ]


def without_name(root: Path, files: Sequence[str]) -> list[str]:
    """C files among all `files` of a project that no makefile names, though others are named."""
    texts = [
        _text(root / file)
        for file in files
        if PurePosixPath(file).name in _NAMING and not is_generated(file, files)
    ]
    if not texts or any(_EVERY.search(text) for text in texts):
        return []
    words = {word.rstrip(".") for text in texts for word in _WORD.findall(text)}
    named = words | {PurePosixPath(word).stem for word in words if word}
    sources = {file: PurePosixPath(file).stem for file in files if file.endswith(".c")}
    if named.isdisjoint(sources.values()):
        return []
    return [file for file, stem in sources.items() if stem not in named]


def is_generated(file: str, files: Sequence[str]) -> bool:
    """Return whether automake wrote a makefile; it names what replaces the C library, too."""
    return file.endswith("Makefile.in") and f"{file[:-3]}.am" in files


def makefile(path: Path) -> str:
    """Return the text of a makefile, as the `configure` that somebody wrote makes it with `sed`,
    and with the makefiles that it hands its work to by their names, which it may make in this way,
    too; so also for a folder below that has none of its own.
    """
    folder, text = path.parent, _text(path)
    for place in (folder, folder.parent) if path.suffix == ".in" else ():
        known = set_by_hand(place)
        for change in _SED.finditer(_text(place / "configure")) if known else ():
            if place / change[2] == path:
                text = _apply_sed(text, change[1], known)
    assigned = dict(_PLAIN.findall(text))
    for below, written in dict.fromkeys(_HANDS_OVER.findall(text)):
        name = _OF_MAKE.sub(lambda match: assigned.get(match[1], match[0]), written)
        other = folder / below / name
        made = next(
            (match for match in _SED.finditer(text) if not below and match[3] == name), None
        )
        has_own = below and any((folder / below / name).is_file() for name in _NAMING)
        if other.is_file() and other != path and not has_own:
            text += f"\n{_text(other)}"
        elif made is not None:
            text += f"\n{_apply_sed(_text(folder / made[2]), made[1], {})}"
    return text


def _apply_sed(text: str, commands: str, known: Mapping[str, str]) -> str:
    """Return a text as commands of `sed` change it that look for words, not for patterns; `known`
    are variables of the shell.
    """
    for command in _SUBSTITUTES.finditer(commands):
        value = _OF_SHELL.sub(lambda match: known.get(match[1] or match[2], match[0]), command[4])
        if not set("\\[]*^$") & set(command[3]) and "$" not in value and "`" not in value:
            text = text.replace(command[3], value)
    return text


def _text(path: Path) -> str:
    return content(path).decode("utf-8", "replace")
