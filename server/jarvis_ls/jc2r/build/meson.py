"""What the `meson.build` files of a project give the compiler whatever is asked for. They are
read, never run: what is below an `if` is left out, and so is what a variable only gets there.
"""

from __future__ import annotations

import contextlib
import functools
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from jarvis_ls.core.errors import SkippedFile
from jarvis_ls.core.files import read_regular
from jarvis_ls.jc2r.build.header_templates import fill_template

NAME = "meson.build"
MAX_BYTES = 4_000_000
_LINES = re.compile(r"^[ \t]*(if|foreach|endif|endforeach)\b.*$|^.*$", re.MULTILINE)
_COMMENT = re.compile(r"'(?:\\.|[^'\\\n])*'|#[^\n]*")
_STEP = re.compile(
    r"^[ \t]*(?P<name>\w{1,200})[ \t]*(?P<more>\+?)=[ \t]*(?:(?P<list>\[)|(?P<text>'[^\n]*)"
    r"|(?P<array>\w{1,200})\[(?P<at>\d{1,3})\](?:\.to_int\(\))?[ \t]*$)"
    r"|(?:\b(?P<made>\w{1,200})\s{0,100}=\s{0,100})?\b(?P<called>[\w.]{1,200})\s{0,100}\(",
    re.MULTILINE,
)
"""A variable that is given texts or an element, or a call."""
_SETTERS = (".set", ".set10", ".set_quoted")
_IS_KNOWN = re.compile(
    r"\s*'[^'\n]*'\s*,\s*(?:'(?:\\.|[^'\\\n])*'(?:\.format\((?:[\w.,\s]|\(\)){0,500}\))?"
    r"|[\w.]+(?:\(\))?)\s*[,)]"
)
"""What is set to a text, or to the value of a name: other expressions only Meson works out."""
_PART = re.compile(r"'(?:\\.|[^'\\\n])*'|[()\[\],]")
_TEXT = re.compile(
    r"'((?:\\.|[^'\\\n])*)'(?:\.format\(([^()]{0,500}(?:\(\))?[^()]{0,500})\))?|\b(\w[\w.]*)"
)
_KEYWORD = re.compile(r"\s*(\w+)\s*:(.*)\Z", re.DOTALL)
_GIVING = ("add_project_arguments", "add_global_arguments")
_TARGETS = ("executable", "library", "static_library", "shared_library", "both_libraries")
_STANDARD = re.compile(r"c_std=((?:c|gnu)\d\w)\Z")
_PUT_IN = re.compile(r"@(\w+)@")
_LARGEST = 4_096
"""Values that a variable may have."""


@dataclass(slots=True)
class _Read:
    """What the files say together."""

    general: list[str] = field(default_factory=list)
    """What all files are compiled with."""
    targets: list[tuple[str, list[str], list[str]]] = field(default_factory=list)
    """The folder of each target, its sources and what they are compiled with."""
    known: dict[str, list[str]] = field(default_factory=dict)
    data: dict[str, dict[str, str | None]] = field(default_factory=dict)
    """What is put into templates, by the variable that holds it; None is known by no one."""
    written: dict[str, tuple[str, Mapping[str, str | None]]] = field(default_factory=dict)


def words_of(root: Path, file: str) -> list[str]:
    """Return the compiler arguments of a file."""
    found = _read(root)
    own = [words for _, sources, words in found.targets if file in sources]
    if not own:
        folders = {parent.as_posix() for parent in PurePosixPath(file).parents}
        own = [
            words for folder, sources, words in found.targets if not sources and folder in folders
        ]
    return [*found.general, *(word for words in own[:1] for word in words)]


def header_templates(root: Path) -> dict[str, tuple[str, Mapping[str, str | None]]]:
    """Headers that are made, each with its template and what is put into that; None is what only
    Meson works out."""
    return _read(root).written


def fill_header(template: str, known: Mapping[str, str | None]) -> str:
    """Return a template as Meson would write it; 0 for what is not known."""

    def define(_directive: str, name: str, _rest: str) -> str:
        value = known.get(name)
        if value is None or value == "false":
            return f"undef {name}"
        return fill_line(f"define {name} {'' if value == 'true' else value}".rstrip())

    def fill_line(line: str) -> str:
        return _PUT_IN.sub(
            lambda match: (known[match[1]] or "0") if match[1] in known else match[0], line
        )

    return fill_template(template, ("mesondefine",), define, fill_line)


@functools.lru_cache(maxsize=8)
def _read(root: Path) -> _Read:
    found = _Read()
    if (root / NAME).is_file():
        _look_at(root, "", found, set())
    return found


def _look_at(root: Path, folder: str, found: _Read, seen: set[str]) -> None:
    if folder in seen:
        return
    seen.add(folder)
    text = _outside(_text(root / folder / NAME))
    at = 0
    while (step := _STEP.search(text, at)) is not None:
        if step["array"]:
            values, place = found.known.get(step["array"], []), int(step["at"])
            found.known[step["name"]] = values[place : place + 1]
            at = step.end()
            continue
        if step["called"]:
            arguments, keywords, at = _arguments(text, step.end(), found)
            if step["called"].endswith(_SETTERS) and not _IS_KNOWN.match(text, step.end()):
                arguments = arguments[:1]
            called = step["made"] or "", step["called"]
            _follow(root, folder, found, seen, called, arguments, keywords)
            continue
        end = text.find("]", step.end()) if step["list"] else step.end()
        if end < 0:  # it is not closed, nor is anything behind it
            return
        more = [*_values(step["text"] or text[step.end() : end], found)]
        before = found.known.get(step["name"], []) if step["more"] else []
        found.known[step["name"]] = [*before, *more][-_LARGEST:]
        at = end


def _follow(
    root: Path,
    folder: str,
    found: _Read,
    seen: set[str],
    called: tuple[str, str],
    arguments: list[str],
    keywords: Mapping[str, list[str]],
) -> None:
    """Do what one call says."""
    made, name = called
    variable, _, method = name.rpartition(".")
    if name == "project":
        version = keywords.get("version", [])[:1]
        if version and (root / version[0]).is_file():  # version : files('…')
            version = [_text(root / version[0]).strip()]
        found.known["meson.project_version"] = version
        found.known["meson.project_name"] = arguments[:1]
        found.general += [
            f"-std={match[1]}"
            for option in keywords.get("default_options", ())
            if (match := _STANDARD.match(option))
        ]
    elif name == "subdir" and arguments:
        _look_at(root, PurePosixPath(folder, arguments[0]).as_posix(), found, seen)
    elif name in _GIVING:
        found.general += arguments
    elif name == "files":
        found.known[made] = arguments
    elif name == "configuration_data":
        found.data[made] = {}
    elif method == "split" and variable in found.known:
        whole, sign = "".join(found.known[variable][:1]), "".join(arguments[:1])
        found.known[made] = whole.split(sign) if sign else []
    elif name == "meson.project_version":
        found.known[made] = found.known.get(name, [])
    elif f".{method}" in _SETTERS and variable in found.data:
        _set(found.data[variable], method, arguments)
    elif name == "configure_file" and keywords.get("input") and keywords.get("output"):
        template = PurePosixPath(folder, keywords["input"][0]).as_posix()
        data = found.data.get("".join(keywords.get("configuration", [])), {})
        found.written[PurePosixPath(keywords["output"][0]).name] = (template, data)
    elif name in _TARGETS:
        named = (
            PurePosixPath(folder, source).as_posix()
            for source in [*arguments[1:], *keywords.get("sources", ())]
        )
        sources = [file for file in named if (root / file).is_file()]
        found.targets.append((folder or ".", sources, list(keywords.get("c_args", ()))))


def _set(data: dict[str, str | None], method: str, arguments: list[str]) -> None:
    """Set what is put into a template under a name."""
    if len(arguments) < 2:
        data["".join(arguments)] = "0" if method == "set10" else None
        return
    name, value = arguments[:2]
    if method == "set10":
        value = "1" if value in ("true", "1") else "0"
    data[name] = f'"{value}"' if method == "set_quoted" else value


def _arguments(text: str, at: int, found: _Read) -> tuple[list[str], dict[str, list[str]], int]:
    """Return what is given in a call that begins there, and what by its name, and where it ends."""
    depth, start = 1, at
    parts: list[str] = []
    for match in _PART.finditer(text, at):
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(match[0], 0)
        if depth == 0 or (depth == 1 and match[0] == ","):
            parts.append(text[start : match.start()])
            start = match.end()
        if depth == 0:
            break
    else:
        start = len(text)
    keywords: dict[str, list[str]] = {}
    plain: list[str] = []
    for part in parts:
        if (keyword := _KEYWORD.match(part)) is not None:
            given = [*_values(keyword[2], found)]
            whole = keyword[2].strip()
            keywords[keyword[1]] = [whole] if whole in found.data else given
        else:
            plain += _values(part, found)
    return plain, keywords, start


def _values(text: str, found: _Read) -> Iterator[str]:
    """Yield the strings of an expression: literals, and values of known variables."""
    for match in _TEXT.finditer(text):
        if match[3] is None:
            word = re.sub(r"\\(.)", r"\1", match[1])
            for n, value in enumerate(_of_names(match[2] or "", found)):
                word = word.replace(f"@{n}@", value)
            yield word
        elif match[3] in found.known:
            yield from found.known[match[3]]
        elif match[3] in ("true", "false") or re.fullmatch(r"\d+", match[3]):
            yield match[3]


def _of_names(text: str, found: _Read) -> Iterable[str]:
    for name in text.split(","):
        yield "".join(found.known.get(name.strip().removesuffix("()"), [])[:1])


def _outside(text: str) -> str:
    """Return a text without comments and what is in branches and loops."""
    plain = _COMMENT.sub(lambda match: match[0] if match[0][0] == "'" else "", text)
    depth, kept = 0, []
    for match in _LINES.finditer(plain):
        depth += {"if": 1, "foreach": 1}.get(match[1], 0)
        if depth == 0:
            kept.append(match[0])
        depth -= {"endif": 1, "endforeach": 1}.get(match[1], 0)
    return "\n".join(kept)


def _text(path: Path) -> str:
    with contextlib.suppress(SkippedFile):
        return read_regular(path, limit=MAX_BYTES).decode("utf-8", "replace")
    return ""
