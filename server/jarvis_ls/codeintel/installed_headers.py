"""What headers outside of a project declare: those installed on this machine, and those in folders
that the project's `compile_commands.json` names.

They are only read, as text. What a file reaches of them is followed through their `#include` lines
up to a limit; each header is read once for its content, and what one declares is worked out when
somebody asks for its name (`header_text`). A name that is declared in several ways, or in a way
that cannot be read, stays unknown.
"""

from __future__ import annotations

import hashlib
import os
import posixpath
import re
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from jarvis_ls.codeintel.header_cache import HeaderCache
from jarvis_ls.codeintel.header_text import Chunk, HeaderText, Template, read_header
from jarvis_ls.core.errors import SkippedFile
from jarvis_ls.core.files import read_regular

MAX_BYTES = 2_000_000
"""Larger headers are not read: they are data."""
MAX_REACHED = 400
"""Most headers that are followed from one file."""
_MAX_TOTAL = 24_000_000
"""Bytes of the headers that one process holds."""
_FRESH = 2.0
"""Seconds for which it is not asked again whether a header has changed."""
_ENDS = (".h", ".hh", ".hpp", ".hxx", ".inc", ".def")
_BARRED = ("/proc/", "/sys/", "/dev/")
_MAX_VIEWS = 512
_MAX_FOUND = 50_000
"""Places of headers that are held."""

_MOST_WAYS = 6
"""Declarations of one name that are compared."""
_DEEPEST = 24
_FUEL = 5_000
"""Texts whose macros are replaced for one name."""
_LONGEST = 20_000
"""Characters of a declaration with its macros replaced."""

_WORD = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|\n#[^\n]*|[A-Za-z_]\w*')
_PLACE = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|[A-Za-z_]\w*')
_MEMBER = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")
_SPECIFIERS = frozenset({"extern", "static", "inline", "const"})
_ATTRIBUTE = re.compile(
    r"\b(?:__attribute__|__attribute|__declspec|__asm__|__asm|asm|noexcept|_Alignas|throw)\s*(?=\()"
)
_LAYOUT = re.compile(r"\b(?:__)?(packed|aligned)(?:__)?\b(?:\s*\(\s*(\d+)\s*\))?")
_DROPPED = frozenset(
    "__extension__ __restrict __restrict__ __restrict_arr __inline __inline__ _Noreturn noexcept "
    "__THROW __THROWNL __NTH __LEAF __LEAF_ATTR __wur __BEGIN_DECLS __END_DECLS __cdecl __stdcall "
    "_Nonnull _Nullable _Null_unspecified __CLANG_SUPPORT_DYN_ANNOTATION__".split()
)
_RENAMED = {
    "__const": "const",
    "__signed": "signed",
    "__signed__": "signed",
    "__volatile__": "volatile",
}
_KEPT = frozenset({"__attribute__", "__attribute", "__asm__", "__declspec", "asm", "__asm"})


def standard_folders() -> tuple[str, ...]:
    """Return the folders in which headers are installed on this machine."""
    machine = os.uname().machine if hasattr(os, "uname") else ""
    folders = ("/usr/local/include", f"/usr/include/{machine}-linux-gnu", "/usr/include")
    return tuple(folder for folder in folders if Path(folder).is_dir())


@dataclass(slots=True)
class _Header:
    """One header as it is on disk."""

    stamp: tuple[int, int, int, int]
    digest: str
    data: bytes | None
    """Its text, until somebody has asked for what is in it."""
    includes: tuple[str, ...]


class InstalledHeaders:
    """The headers of a machine, each read once."""

    def __init__(self, folders: Sequence[str] | None = None) -> None:
        """`folders` are those in which headers are looked for; by default the usual ones."""
        self._folders = standard_folders() if folders is None else tuple(folders)
        self._headers: dict[str, _Header | None] = {}
        self._found: dict[tuple[str, str], str] = {}
        self._following: dict[tuple[str, tuple[str, ...]], Sequence[str]] = {}
        """Headers that one includes."""
        self._views: dict[tuple[tuple[str, ...], tuple[str, ...]], tuple[float, View]] = {}
        self._declaring: dict[str, list[tuple[str, HeaderText]]] = {}
        self._defining: dict[str, list[tuple[str, HeaderText]]] = {}
        self._cache = HeaderCache()
        self._total = 0
        self._since = 0.0

    def view(self, names: Iterable[str], folders: Sequence[str] = ()) -> View:
        """Return what the headers with these names and those that they include declare.

        `folders` are looked into before the usual ones.
        """
        key = tuple(dict.fromkeys(names)), tuple(folders)
        now = time.monotonic()
        if now - self._since > _FRESH:
            self._forget_changed(now)
        known = self._views.get(key)
        if known is None:
            if len(self._views) > _MAX_VIEWS:
                self._views.clear()
            known = self._views[key] = now, View(self, list(self._reach(*key)))
        return known[1]

    def finds(self, name: str, folders: Sequence[str] = ()) -> bool:
        """Return whether there is a header of that name."""
        return bool(self._find("", name, folders))

    def declaring(self, name: str) -> Sequence[tuple[str, HeaderText]]:
        """Return the headers that may declare a name, and what they hold."""
        return self._declaring.get(name, ())

    def defining(self, name: str) -> Sequence[tuple[str, HeaderText]]:
        """Return the headers that define a macro, and what they hold."""
        return self._defining.get(name, ())

    def read(self, paths: Iterable[str]) -> None:
        """Have it known what is in headers."""
        for path in paths:
            header = self._headers.get(path)
            if header is not None and header.data is not None:
                text = self._cut(path, header.digest, header.data)
                header.data = None  # all that is asked of it is known by now
                for name in text.names:
                    self._declaring.setdefault(name, []).append((path, text))
                for name in (*text.macros, *text.function_macros):
                    self._defining.setdefault(name, []).append((path, text))

    def _cut(self, path: str, digest: str, data: bytes) -> HeaderText:
        """Return what a header holds; of those that are installed it is kept."""
        kept = self._cache if path.startswith(self._folders) else None
        text = kept.get(digest) if kept is not None else None
        if text is None:
            text = read_header(data)
            if kept is not None:
                kept.put(digest, text)
        return text

    def digest(self, path: str) -> str:
        """Return what names the content of a header."""
        header = self._headers.get(path)
        return header.digest if header is not None else ""

    def _reach(self, names: tuple[str, ...], folders: tuple[str, ...]) -> Iterator[str]:
        """Yield the paths of headers, the nearest first."""
        level = self._load_all("", names, folders)
        reached: set[str] = set()
        while level:
            following: list[str] = []
            for path in level:
                if path in reached:
                    continue
                reached.add(path)
                yield path
                if len(reached) >= MAX_REACHED:
                    return
                known = self._following.get((path, folders))
                if known is None:
                    header = self._headers[path]
                    inner = header.includes if header is not None else ()
                    known = self._load_all(posixpath.dirname(path), inner, folders)
                    self._following[path, folders] = known
                following += known
            level = following

    def _load_all(
        self, beside: str, names: Iterable[str], folders: tuple[str, ...]
    ) -> Sequence[str]:
        """Return the paths of headers that can be read, looked for beside another first."""
        paths = (self._find(beside, name, folders) for name in names)
        return [path for path in paths if path and self._load(path) is not None]

    def _find(self, beside: str, name: str, folders: Sequence[str]) -> str:
        """Return the path of a header; empty when it is in none of the folders."""
        for folder in (*((beside,) if beside else ()), *folders, *self._folders):
            key = folder, name
            found = self._found.get(key)
            if found is None:
                found = self._found[key] = _path_of(folder, name)
            if found:
                return found
        return ""

    def _load(self, path: str) -> _Header | None:
        if path not in self._headers:
            self._headers[path] = self._read(path)
        return self._headers[path]

    def _read(self, path: str) -> _Header | None:
        try:
            stamp = _stamp(path)
            if stamp is None or self._total + stamp[1] > _MAX_TOTAL:
                return None
            data = read_regular(os.path.realpath(path), limit=MAX_BYTES)
        except (SkippedFile, OSError):  # as if it were not there: its names stay unknown
            return None
        self._total += len(data)
        digest = hashlib.blake2b(data, digest_size=16).hexdigest()
        return _Header(stamp, digest, data, _includes_of(data))

    def _forget_changed(self, now: float) -> None:
        """Forget headers that are others by now, and what followed from them."""
        self._since = now
        if len(self._found) > _MAX_FOUND:
            self._found.clear()
            self._following.clear()
        changed = {
            path
            for path, header in self._headers.items()
            if _stamp(path) != (header.stamp if header is not None else None)
        }
        gone = [key for key, path in self._found.items() if path != _path_of(*key)]
        for path in changed:
            header = self._headers.pop(path)
            self._total -= header.stamp[1] if header is not None else 0
        if changed or gone:
            self._found.clear()
            self._following.clear()
            self._views.clear()
        for index in (self._declaring, self._defining) if changed else ():
            for name, places in list(index.items()):
                index[name] = [place for place in places if place[0] not in changed]


class View:
    """What the headers that one file reaches declare, by name."""

    def __init__(self, headers: InstalledHeaders, paths: list[str]) -> None:
        self._headers = headers
        self.paths = paths
        """The headers, the nearest first."""
        digest = hashlib.blake2b(digest_size=16)
        for path in paths:
            digest.update(headers.digest(path).encode())
        self.digest = digest.hexdigest() if paths else ""
        """Names their contents."""
        self._places = {path: at for at, path in enumerate(paths)}
        self._is_read = False
        self._fuel = 0
        self._declared: dict[str, tuple[str, ...]] = {}
        self._macros: dict[str, str | None] = {}

    def declarations(self, name: str) -> tuple[str, ...]:
        """Return the declarations that may declare a name, as plain C, each that differs once; none
        when too many do."""
        known = self._declared.get(name)
        if known is None:
            texts = self._those(self._headers.declaring, name)
            chunks = [chunk for text in texts for chunk in text.names.get(name, ())]
            known = self._declared[name] = self._plain(chunks)
        return known

    def constant(self, name: str) -> str | None:
        """Return what a macro without parameters represents; None for what is no such macro, and
        when headers do not agree."""
        if any(name in text.undefined for text in self._those(self._headers.defining, name)):
            return None
        return self._macro(name)

    def member(self, name: str) -> tuple[str, ...]:
        """Return the members that the name of one represents, the outermost first."""
        body = self.constant(name) or ""
        return tuple(body.split(".")) if _MEMBER.fullmatch(body) else ()

    def _those(
        self, ask: Callable[[str], Sequence[tuple[str, HeaderText]]], name: str
    ) -> list[HeaderText]:
        """Return what those of the headers hold that may say something of a name."""
        if not self._is_read:
            self._is_read = True
            self._headers.read(self.paths)
        found = [place for place in ask(name) if place[0] in self._places]
        found.sort(key=lambda place: self._places[place[0]])
        return [text for _, text in found]

    def _plain(self, chunks: Sequence[Chunk]) -> tuple[str, ...]:
        sure = [chunk for chunk in chunks if not chunk.is_open]
        written = dict.fromkeys(chunk.text for chunk in (sure or chunks))
        if len(written) > 4 * _MOST_WAYS:
            return ()
        self._fuel = _FUEL
        plain = dict.fromkeys(map(self._replace, written))
        if self._fuel < 0:
            return ()
        return tuple(plain) if len(plain) <= _MOST_WAYS else ()

    def _macro(self, name: str) -> str | None:
        if name not in self._macros:
            texts = self._those(self._headers.defining, name)
            bodies = [entry for text in texts for entry in text.macros.get(name, ())]
            sure = {_normal(body) for body, is_open in bodies if not is_open} - {name}
            found = sure or {_normal(body) for body, _ in bodies} - {name}
            body = next(iter(found)) if len(found) == 1 else None
            # another name, in some builds
            unsure = not sure and body is not None and body.isidentifier()
            self._macros[name] = None if unsure else body
        return self._macros[name]

    def _says_nothing(self, name: str, inside: frozenset[str]) -> bool:
        """Return whether a macro represents nothing that a declaration needs, in some builds."""
        texts = self._those(self._headers.defining, name)
        bodies = {body for text in texts for body, _ in text.macros.get(name, ())}
        if len(inside) > _MOST_WAYS or len(bodies) > _MOST_WAYS:
            return False
        plain = (_normal(self._expand(body, inside | {name})) for body in bodies)
        return any(_SPECIFIERS.issuperset(body.split()) for body in plain)

    def _function_macro(self, name: str) -> Template | None:
        found = {
            (macro.parameters, _normal(macro.body))
            for text in self._those(self._headers.defining, name)
            for macro in text.function_macros.get(name, ())
        }
        if len(found) != 1:
            return None
        return Template(*found.pop())

    def _replace(self, written: str) -> str:
        """Return a declaration with its macros replaced, and without what compilers alone read."""
        has_body = "{" in written
        return without_attributes(self._expand(written, frozenset()), layout=has_body).strip()

    def _expand(self, written: str, inside: frozenset[str]) -> str:
        """Return text with its macros replaced; those of `inside` are being replaced already."""
        self._fuel -= 1
        if len(written) > _LONGEST or len(inside) > _DEEPEST or self._fuel < 0:
            return written
        parts: list[str] = []
        at = length = 0
        while (match := _WORD.search(written, at)) is not None and length < _LONGEST:
            parts.append(written[at : match.start()])
            word, at = match.group(), match.end()
            put = word
            if word in _DROPPED:
                put = ""
            elif word in _RENAMED:
                put = _RENAMED[word]
            elif word[0] not in "\"'\n" and word not in inside and word not in _KEPT:
                given = _arguments(written, at)
                macro = self._function_macro(word) if given is not None else None
                if macro is not None and given is not None:
                    arguments, at = given
                    deeper = inside | {f"({len(inside)}"}
                    body = _put_in(macro, [self._expand(a, deeper) for a in arguments])
                    put = self._expand(body, inside | {word})
                elif (known := self._macro(word)) is not None:
                    named = _MEMBER.fullmatch(known) is not None
                    put = word if named else self._expand(known, inside | {word})
                elif self._says_nothing(word, inside):
                    put = ""
            parts.append(put)
            length += len(put)
        parts.append(written[at:])
        return "".join(parts)


def without_attributes(written: str, *, layout: bool = False) -> str:
    """Return a declaration without attributes; with `layout` those stay that say how the members of
    a structure are placed."""
    parts: list[str] = []
    at = 0
    while (match := _ATTRIBUTE.search(written, at)) is not None:
        parts.append(written[at : match.start()])
        end = _closing(written, match.end())
        if layout and "attribute" in match.group():
            words = [
                f"{word}({number})" if number else word
                for word, number in _LAYOUT.findall(written[match.end() : end])
            ]
            parts += [f" __attribute__(({', '.join(words)})) "] if words else []
        at = end
    parts.append(written[at:])
    return "".join(parts)


def _normal(body: str) -> str:
    """Return what a macro represents without what compilers alone read; a lone brace is dropped."""
    plain = " ".join(without_attributes(body).split())
    return "" if plain in _DROPPED or re.fullmatch(r'extern "C" \{|\}', plain) else plain


def _closing(written: str, at: int) -> int:
    """Return where the brackets that are opened at `at` or behind end."""
    depth = 0
    for match in re.compile(r"[()]").finditer(written, at):
        depth += 1 if match.group() == "(" else -1
        if depth <= 0:
            return match.end()
    return len(written)


def _arguments(written: str, at: int) -> tuple[list[str], int] | None:
    """Return the arguments in brackets that follow `at`, and where they end."""
    start = at
    while written[start : start + 1].isspace():
        start += 1
    if written[start : start + 1] != "(":
        return None
    found: list[str] = []
    depth, begin = 0, start + 1
    for match in re.compile(r"[(),]").finditer(written, start):
        mark = match.group()
        if mark == "(":
            depth += 1
        elif mark == ")":
            depth -= 1
            if not depth:
                found.append(written[begin : match.start()].strip())
                return found, match.end()
        elif depth == 1:
            found.append(written[begin : match.start()].strip())
            begin = match.end()
    return None


def _put_in(macro: Template, arguments: list[str]) -> str:
    places = dict(zip(macro.parameters, arguments, strict=False))
    if macro.parameters[-1:] == ("...",):
        places["__VA_ARGS__"] = ", ".join(arguments[len(macro.parameters) - 1 :])
    body = _PLACE.sub(lambda match: places.get(match.group(), match.group()), macro.body)
    return re.sub(r"\s*##\s*", "", body)


_INCLUDED = re.compile(
    rb'^[ \t]*#[ \t]*include(?:_next)?[ \t]*[<"]([^>"\n]{1,400})[>"]', re.MULTILINE
)


def _includes_of(data: bytes) -> tuple[str, ...]:
    """Return what a header includes, for whatever platform."""
    named = dict.fromkeys(_INCLUDED.findall(data))
    return tuple(os.fsdecode(name) for name in list(named)[:MAX_REACHED])


def _path_of(folder: str, name: str) -> str:
    """Return the path of a header below a folder; empty when there is none that may be read."""
    if not name.endswith(_ENDS) or name.startswith("/") or "\0" in name:
        return ""
    path = posixpath.normpath(posixpath.join(folder, name))
    if not path.startswith("/") or f"{path}/".startswith(_BARRED):
        return ""
    try:
        status = os.stat(path)  # noqa: PTH116 - asked very often
    except (OSError, ValueError):
        return ""
    return path if stat.S_ISREG(status.st_mode) and status.st_size <= MAX_BYTES else ""


def _stamp(path: str) -> tuple[int, int, int, int] | None:
    try:
        status = os.stat(path)  # noqa: PTH116 - asked very often
    except (OSError, ValueError):
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino, status.st_dev
