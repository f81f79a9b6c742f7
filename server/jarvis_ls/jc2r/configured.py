"""Headers that `configure` or CMake would write, guessed when neither is run.

`AC_CONFIG_HEADERS` and files such as `config.h.in` say which they are. What they ask of the
machine is answered as their tests would: whether a header is there, whether a function is in the C
library, which one call of the linker says for all of them. Nothing of the project is run.
"""

from __future__ import annotations

import contextlib
import platform
import re
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath

from jarvis_ls.codeintel import clang
from jarvis_ls.core.errors import SkippedFile
from jarvis_ls.core.files import read_regular, replace_file
from jarvis_ls.jc2r import cmake, meson
from jarvis_ls.jc2r.answers import TYPES, answers, in_library
from jarvis_ls.jc2r.branches import taken
from jarvis_ls.jc2r.choices import (
    CHOICE,
    as_shell,
    assigned,
    by_default,
    calls,
    decided,
    found_out,
    in_shell,
    otherwise,
    parts,
    short,
)
from jarvis_ls.jc2r.cmake_conditions import TRUE, is_true

MAX_BYTES = 16_000_000
_SCRIPTS = ("configure.ac", "configure.in")
_BUILDS = ("GNUmakefile", "makefile", "Makefile", "CMakeLists.txt", "meson.build", "SConstruct",
           "Makefile.in", "Makefile.am", "wscript", "configure")  # fmt: skip
"""Files that say how a project is built."""
_TEMPLATE = re.compile(r"(.+\.h)(?:\.in|\.cmake|\.cmakein|\.cmake\.in)\Z")
_DEFAULTS = re.compile(r"([\w-]*config[\w-]*)\.(?:def|default|sample|example|dist)\.h")
"""What is copied to make a header that users change."""
_SHIPPED = re.compile(
    r"([\w-]+\.h)[._-](?:prebuilt|default|def|dist|sample|example|generic|linux|unix|posix)"
)
"""What stands for a header that is made."""
_EXPORT = re.compile(
    rb'^[ \t]*#[ \t]*include[ \t]*["<](?:[^">\n]*/)?([\w-]*export[\w-]*\.h)[">]', re.MULTILINE
)
_OFFERING = re.compile(rb"\b[A-Z]\w*_(?:NO_)?(?:EXPORT|DEPRECATED)\b")
_NOTICE = re.compile(rb"^(__(?:COPYRIGHT|RCSID|FBSDID|SCCSID|KERNEL_RCSID))\b", re.MULTILINE)
"""Macros of the BSDs that only name a version."""
_HEADERS = re.compile(r"\bA[CM]_CONFIG_HEADERS?\(\s*\[?\s*([^])]+)")
_INIT = re.compile(
    r"\bAC_INIT\(\s*\[?([\w .+-]+)\]?\s*,\s*\[?([\w .+~-]+)\]?\s*(?:,\s*\[?([\w.@+:/<> -]*)\]?)?"
)
_OLD_INIT = re.compile(r"\bAM_INIT_AUTOMAKE\(\s*\[?([\w.+-]+)\]?\s*,\s*\[?([\w.+~-]+)\]?")
_WORD = r"\w+|\"(?:[^\"\\\n$`]|\\.)*\""
_VALUE = rf"\[*({_WORD})\]*"
_DEFINED = re.compile(
    rf"^AC_DEFINE(?:_UNQUOTED(?=\([^,()\n]*,\s*\[*(?:{_WORD})\]*\s*[,)]))?"
    rf"\(\s*\[?(\w+)\]?\s*(?:,\s*{_VALUE})?\s*[,)]",
    re.MULTILINE,
)
_FOR_TYPE = re.compile(
    rf"\bAC_CHECK_TYPE\(\s*\[?(\w+)\]?,\s*\[?AC_DEFINE\(\[?(\w+)\]?,\s*{_VALUE}", re.MULTILINE
)
"""What is defined when a type is there."""
_FOR_NAME = re.compile(
    r"\bAC_CHECK_(?:FUNC|HEADER)S?\(\s*\[?([\w./-]+)\]?\s*,\s*\[?\s*"
    rf"AC_DEFINE\(\s*\[?(\w+)\]?\s*(?:,\s*{_VALUE})?"
)
"""What is defined when a function, or a header, is there."""
_FROM_SHELL = re.compile(
    r"^AC_DEFINE_UNQUOTED\(\s*\[?(\w+)\]?,\s*\[?((\"?)[\w${}/.: -]*\$[\w${}/.: -]*\3)\]?\s*[,)]",
    re.MULTILINE,
)
_LINKS = re.compile(r"\bAC_CONFIG_LINKS\(\s*\[?\s*([^])]+)")
_WORD_OF_M4 = re.compile(
    r"\b(?:m4_)?define\(\[?(\w+)\]?,\s*(?:([\w.:/@+-]*)|\[{1,2}([^][`$\\\n]*)\]{1,2})\s*\)"
    r"(?![ \t]*\[)"
)
"""What stands for something else in a script for autoconf."""
_AS_WRITTEN = re.compile(r"\bAH_(?:TOP|BOTTOM|VERBATIM)(?=\()")
"""What is put into the header as it is."""
_BODY = re.compile(r"(?:\[?[\w -]+\]?\s*,)?\s*\[(.*)\]\s*\Z", re.DOTALL)
_IF_DECIDED = re.compile(r"\bAM_COND_IF(?=\()")
_CACHED = re.compile(r"\$\{?(ac_cv_(?:func|header)_(\w+))")
"""What was found of a function or header."""
_PUT_IN = re.compile(r"\bAC_SUBST\(\s*\[?(\w+)")
_ASKED = re.compile(rb"\b(?:HAVE_\w+|STDC_HEADERS|TIME_WITH_SYS_TIME|SIZEOF_\w+)\b")
_CONFIG = re.compile(
    rb'^[ \t]*#[ \t]*include[ \t]*"((?:[^"\n]*/)?[\w-]*config[\w-]*\.h)"', re.MULTILINE
)
"""Headers that are configured, by their name: some projects bring a `configure` of their own."""
_OF_CONFIGURE = re.compile(rb"^[ \t]*#[ \t]*include[ \t]*<((?:\.\./)*config\.h)>", re.MULTILINE)
"""The same, of those that have one."""
_LINE = re.compile(r"^([ \t]*#[ \t]*)(undef|cmakedefine01|cmakedefine)[ \t]+(\w+)(.*)$")
_SUBSTITUTED = re.compile(r"@(\w+)@|\$\{(\w+)\}")


def configured(root: Path, files: Sequence[str], made: Path) -> list[str]:
    """Arguments with which the C files of the project at `root` find the headers that its own
    set-up would have written; these are written to `made`. None where nothing is missing."""
    scripts = [one for one in files if PurePosixPath(one).name in _SCRIPTS]
    texts = [content(root / one).decode("utf-8", "replace") for one in scripts]
    script = _filled_in("\n".join(texts)) + _machine(root, files)
    templates = {match[1]: one for one in files if (match := _TEMPLATE.fullmatch(one))}
    named = dict.fromkeys(word for match in _HEADERS.findall(script)
                          for word in re.split(r"[\s,]+", match) if word)  # fmt: skip
    templates |= {name: template for name, _, template in (one.partition(":") for one in named)
                  if template in files}  # fmt: skip
    templates |= _linked(script, files)
    named = dict.fromkeys(one.partition(":")[0] for one in named)
    defaults = {f"{match[1]}.h": one for one in files
                if (match := _DEFAULTS.fullmatch(PurePosixPath(one).name))}  # fmt: skip
    shipped = {match[1]: one for one in files
               if (match := _SHIPPED.fullmatch(PurePosixPath(one).name))}  # fmt: skip
    there = {PurePosixPath(one).name for one in files}
    sources = [content(root / one) for one in files
               if one.endswith((".c", ".h", *_ENDINGS)) or one in templates.values()]  # fmt: skip
    asking = [_CONFIG, _OF_CONFIGURE] if "configure" in files else [_CONFIG]
    wanted = {name.decode(): "" for text in sources for one in asking for name in one.findall(text)}
    exporting = _exporting(root, files, sources)
    shipped = {name: one for name, one in shipped.items() if is_included(name, sources)}
    written = {
        name: one
        for name, one in cmake.set_up(root).written.items()
        if one.template in files and is_included(name, sources)
    }
    by_meson = {name: one for name, one in meson.written(root).items()
                if one[0] in files and is_included(name, sources)}  # fmt: skip
    missing = [one for one in {**named, **templates, **dict(sorted(wanted.items())), **exporting,
                               **shipped, **written, **by_meson}
               if PurePosixPath(one).name not in there]  # fmt: skip
    notices = {name.decode() for text in sources for name in _NOTICE.findall(text)}
    nothing = [f"-D{name}(...)=" for name in sorted(notices)]
    asked = sorted({word.decode() for text in sources for word in _ASKED.findall(text)})
    bare = not script and not any(name in _BUILDS for name in there)
    if not missing and (named or not (script or (bare and asked))):
        return nothing
    script = _chosen(script)
    names = names_of(script, root.name)
    known = answers(asked) if bare else {**names, **answers(asked), **_set(script, names)}
    plain = "".join(f"#ifndef {name}\n#define {name} {value}\n#endif\n"
                    for name, value in known.items())  # fmt: skip
    answered = plain
    if not missing:  # then all of it stands in the compiler's arguments
        replace_file(_folder(made) / "defined.h", plain.encode())
        return [*nothing, "-include", str(made / "defined.h")]
    called = "".join(f"#ifndef {name}\n#define {name} {value}\n#endif\n"
                     for name, value in names.items())  # fmt: skip
    plain += _filled(_as_written(script), known, {})
    known |= _by_cmake(root)
    lines = _put_in(script)
    by_name = {PurePosixPath(one).name: template for one, template in templates.items()}
    for one in missing:
        name = PurePosixPath(one).name
        template = (templates.get(one) or by_name.get(name) or defaults.get(name)
                    or shipped.get(name))  # fmt: skip
        text = exporting.get(one, plain)
        if name in written:
            template = written[name].template
            text = written[name].filled(content(root / template).decode("utf-8", "replace"), known)
        elif name in by_meson:
            template, values = by_meson[name]
            text = meson.filled(content(root / template).decode("utf-8", "replace"), values)
        elif template is not None:
            text = _filled(content(root / template).decode("utf-8", "replace"), known, lines)
        if one in named:  # its template may be older than the set-up
            text += called if template is not None else ""
        for place in _included_as(name, sources):
            replace_file(_folder((made / place).parent) / place.name, text.encode())
    words = [*nothing, f"-idirafter{made}"]
    if script and not named:  # then what is asked of the machine stands in no header
        replace_file(_folder(made) / "defined.h", answered.encode())
        words += ["-include", str(made / "defined.h")]
    elif without := [one for one in texts if not _HEADERS.search(one) and named]:
        said = names_of(_filled_in(without[0]), root.name)
        text = "".join(f"#define {name} {value}\n" for name, value in said.items())
        replace_file(_folder(made) / "defined.h", text.encode())
        words += ["-include", str(made / "defined.h")]
    if set(missing) - shipped.keys():
        words.append("-DHAVE_CONFIG_H")
    if any(one.startswith("../") for one in missing):
        beside = _folder(made / "beside") / "beside.h"
        replace_file(beside, b"/* From this folder, ../config.h is found. */\n")
        words += ["-include", str(beside), f"-idirafter{beside.parent}"]
    return words


def stand_ins(root: Path, files: Sequence[str]) -> set[str]:
    """Headers called like one that a set-up writes elsewhere: they were made by hand for systems
    on which it does not run."""
    scripts = [one for one in files if PurePosixPath(one).name in _SCRIPTS]
    found: set[str] = set()
    for script in scripts:
        text = content(root / script).decode("utf-8", "replace")
        own = PurePosixPath(script).parent
        for match in _HEADERS.findall(text):
            for word in (one.partition(":")[0] for one in re.split(r"[\s,]+", match) if one):
                places = {PurePosixPath(word).as_posix(), (own / word).as_posix()}
                if not places & set(files):
                    name = PurePosixPath(word).name
                    found.update(one for one in files if PurePosixPath(one).name == name)
    return found


def _exporting(root: Path, files: Sequence[str], sources: Sequence[bytes]) -> dict[str, str]:
    """Headers that CMake would write with macros for what a library offers, and their texts:
    nothing is hidden here."""
    scripts = [one for one in files if PurePosixPath(one).name == "CMakeLists.txt"]
    if not any(b"generate_export_header" in content(root / one).lower() for one in scripts):
        return {}
    words = sorted({word.decode() for text in sources for word in _OFFERING.findall(text)})
    text = "".join(f"#ifndef {word}\n#define {word}\n#endif\n" for word in words)
    names = {name.decode() for source in sources for name in _EXPORT.findall(source)}
    return dict.fromkeys(sorted(names), text)


def is_included(name: str, sources: Iterable[bytes]) -> bool:
    """Whether some text includes a header of that name."""
    including = re.compile(rb'#[ \t]*include[ \t]*["<](?:[\w./-]+/)?%s[">]'
                           % re.escape(name).encode())  # fmt: skip
    return any(including.search(text) for text in sources)


def _included_as(name: str, sources: Iterable[bytes]) -> set[PurePosixPath]:
    """The paths by which a header of that name is included, and the plain one."""
    including = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*["<]((?:[\w.-]+/)*%s)[">]'
                           % re.escape(name).encode(), re.MULTILINE)  # fmt: skip
    found = {PurePosixPath(one.decode()) for text in sources for one in including.findall(text)}
    return {PurePosixPath(name), *(one for one in found if ".." not in one.parts)}


_ENDINGS = (".h.in", ".h.cmake", ".h.cmakein", ".h.cmake.in")


def _folder(path: Path) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    return path


def package(root: Path) -> dict[str, str]:
    """What the project at `root` is called, by the names that makefiles know, without quotes, and
    what its set-up decides for them when nobody chooses: `if NAME` is yes or no."""
    script = _filled_in("".join(content(root / one).decode("utf-8", "replace")
                                for one in _SCRIPTS))  # fmt: skip
    named = names_of(script, root.name) if script else {}
    names = {name: value.strip('"') for name, value in named.items()}
    script = _chosen(script)
    return {**names, **decided(script)}


def _machine(root: Path, files: Iterable[str]) -> str:
    """What the project's own `config.guess` calls a machine of this kind, as lines of the shell;
    older ones know no vendor."""
    own = platform.uname()
    for file in files:
        if own.system == "Linux" and PurePosixPath(file).name == "config.guess":
            text = content(root / file).decode("utf-8", "replace")
            if (match := re.search(rf"^ *(?:{own.machine}|\S*\|{own.machine}):Linux:[^;]*?"
                                   r"-(\w+)-linux", text, re.MULTILINE)) is not None:  # fmt: skip
                triple = f"{own.machine}-{match[1]}-linux-gnu"
                return "".join(f"\n{one}={triple}\n{one}_vendor={match[1]}\n"
                               for one in ("build", "host", "target"))  # fmt: skip
    return ""


def set_by_hand(folder: Path) -> dict[str, str]:
    """What a `configure` that somebody wrote puts into the makefiles of its folder; those of
    autoconf ask the machine first."""
    script = content(folder / "configure")
    if not script.startswith(b"#!") or b"utoconf" in script:
        return {}
    return assigned(script.decode("utf-8", "replace"))


def _filled_in(script: str) -> str:
    """A script for autoconf with the words that it defines itself put in."""
    known: dict[str, str] = {}

    def put_in(text: str) -> str:
        return re.sub(r"\w+", lambda one: known.get(one[0], one[0]), text)

    for match in _WORD_OF_M4.finditer(script):
        known[match[1]] = short(put_in(match[2] or match[3] or ""))
    return put_in(script) if known else script


def names_of(script: str, name: str) -> dict[str, str]:
    """What a project is called that `script` sets up, as macros."""
    match = _INIT.search(script) or _OLD_INIT.search(script)
    package, version = (match[1].strip(), match[2].strip()) if match else (name, "0")
    address = (match[3] or "").strip() if match and match.re is _INIT else ""
    words = {"PACKAGE": package, "PACKAGE_NAME": package, "PACKAGE_TARNAME": package,
             "VERSION": version, "PACKAGE_VERSION": version, "PACKAGE_URL": "",
             "PACKAGE_STRING": f"{package} {version}", "PACKAGE_BUGREPORT": address}  # fmt: skip
    return {"RETSIGTYPE": "void", **{name: f'"{value}"' for name, value in words.items()}}


def _by_cmake(root: Path) -> dict[str, str]:
    """What the project is called and what is set, where CMake sets up."""
    known = cmake.set_up(root).known
    found = {name: "1" if value.upper() in TRUE else value
             for name, value in known.items() if not value or is_true(value)}  # fmt: skip
    for key in ("NAME", "VERSION"):
        if f"PROJECT_{key}" in found:
            found[f"PROJECT_{key}"] = found[f"PACKAGE_{key}"] = f'"{found[f"PROJECT_{key}"]}"'
    return found


def _linked(script: str, files: Sequence[str]) -> dict[str, str]:
    """Headers that a set-up makes of another one which it chooses, with that of this system."""
    found: dict[str, str] = {}
    for name, _, source in (word.partition(":") for one in _LINKS.findall(script)
                            for word in re.split(r"[\s,]+", one)):  # fmt: skip
        form = re.compile(r"([\w.-]+)".join(
            re.escape(part) for part in re.split(r"\$\{?\w+\}?", source)))  # fmt: skip
        fitting = [one for one in files if form.fullmatch(one)]
        fitting = [one for one in fitting if "linux" in one.lower()] or fitting
        if name.endswith(".h") and len(fitting) == 1:
            found[name] = fitting[0]
    return found


def _set(script: str, names: dict[str, str]) -> dict[str, str]:
    """Macros that are defined whatever the machine is; `names` say what the project is called."""
    found = {name: value or "1" for name, value in _DEFINED.findall(script)
             if not TYPES.fullmatch(name)}  # fmt: skip
    for type_, name, value in _FOR_TYPE.findall(script):
        if TYPES.fullmatch(type_):
            found.setdefault(name, value)
    asked = [match.groups() for match in _FOR_NAME.finditer(script)]
    there = in_library(sorted({word for word, _, _ in asked}))
    for word, name, value in asked:
        if word in there or any(Path(one, word).is_file() for one in clang.system_includes()):
            found.setdefault(name, value or "1")
    variables = {name: value.strip('"') for name, value in names.items()} | assigned(script)
    for text in calls(CHOICE, script):
        if (choice := by_default(text)) is not None:
            variables.setdefault(*choice)
    for name, value, quote in _FROM_SHELL.findall(script):
        value = in_shell(value, variables)
        if quote or value:  # a text is one, whatever only a run could tell of it
            found.setdefault(name, value)
    if "AC_USE_SYSTEM_EXTENSIONS" in script or "AC_GNU_SOURCE" in script:
        found["_GNU_SOURCE"] = "1"
    return found


def _as_written(script: str) -> str:
    """What a script for autoconf puts into the header as it is."""
    bodies = (_BODY.match(text) for text in calls(_AS_WRITTEN, script))
    return "\n".join(one[1] for one in bodies if one is not None)


def _chosen(script: str) -> str:
    """A script for autoconf without the branches that are not taken when nobody chooses."""
    asked = {name: f"HAVE_{word.upper()}" for name, word in _CACHED.findall(script)}
    there = answers(asked.values())
    known = {name: "yes" if word in there else "no" for name, word in asked.items()}
    known |= otherwise(script) | found_out(script)
    written = as_shell(script)
    found = taken(written, known, calls(CHOICE, written))
    if found == written:  # its branches do not close
        found = taken(script, known, calls(CHOICE, script))
    conditions = decided(found)
    for text in calls(_IF_DECIDED, found):
        name, *ways = parts(text)
        if (answer := conditions.get(f"if {name}")) is not None:
            chosen = ways[:1] if answer == "yes" else ways[1:2]
            found = found.replace(f"AM_COND_IF({text})", "\n".join(["", *chosen, ""]), 1)
    return found


def _put_in(script: str) -> dict[str, str]:
    """Directives that a script for autoconf puts into its templates, by their names there."""
    subst = set(_PUT_IN.findall(script))
    return {name: line for name, line in assigned(script).items()
            if line[:1] == "#" and name in subst}  # fmt: skip


def _filled(template: str, known: dict[str, str], put_in: dict[str, str]) -> str:
    """A template as the set-up would write it; `put_in` are lines that a name alone stands for."""
    lines = []
    for line in template.splitlines():
        match = _LINE.match(line)
        if match is None:
            alone = _SUBSTITUTED.fullmatch(line.strip())
            if alone is not None:  # it stands for lines, or none
                lines.append(put_in.get(alone[1] or alone[2], ""))
            else:
                line = _SUBSTITUTED.sub(lambda one: _plain(known, one[1] or one[2]), line)
                lines.append(line)
        elif match[3] in known and (known[match[3]] or match[2] == "undef"):
            lines.append(f"{match[1]}define {match[3]} {known[match[3]]}")
        elif match[2] == "cmakedefine01":
            lines.append(f"{match[1]}define {match[3]} 0")
    return "\n".join([*lines, ""])


def _plain(known: dict[str, str], name: str) -> str:
    for one in (name, f"PACKAGE_{name.removeprefix('PROJECT_')}"):
        if one in known:
            return known[one].strip('"')
    return "0"


def content(path: Path) -> bytes:
    """What is in a file of the project; nothing when it cannot be read."""
    with contextlib.suppress(SkippedFile):
        return read_regular(path, limit=MAX_BYTES)
    return b""
