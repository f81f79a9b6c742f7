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
from jarvis_ls.jc2r.build import meson
from jarvis_ls.jc2r.build.autoconf.defaults import (
    CHOICE,
    as_shell,
    automake_conditions,
    by_default,
    calls,
    found_out,
    in_shell,
    otherwise,
    parts,
    shell_assignments,
    short,
)
from jarvis_ls.jc2r.build.autoconf.taken_branches import drop_untaken_branches
from jarvis_ls.jc2r.build.cmake import interpreter
from jarvis_ls.jc2r.build.cmake.conditions import TRUE, is_true
from jarvis_ls.jc2r.build.machine_probes import TYPES, answers, in_library

MAX_BYTES = 16_000_000
_SCRIPTS = ("configure.ac", "configure.in")
_BUILDS = (
    "GNUmakefile",
    "makefile",
    "Makefile",
    "CMakeLists.txt",
    "meson.build",
    "SConstruct",
    "Makefile.in",
    "Makefile.am",
    "wscript",
    "configure",
)
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


def config_header_arguments(root: Path, files: Sequence[str], made: Path) -> list[str]:
    """Arguments with which the C files of the project at `root` find the headers that its own
    set-up would have written; these are written to `made`. None where nothing is missing."""
    scripts = [file for file in files if PurePosixPath(file).name in _SCRIPTS]
    texts = [content(root / script).decode("utf-8", "replace") for script in scripts]
    script = _filled_in("\n".join(texts)) + _machine(root, files)
    templates = {match[1]: file for file in files if (match := _TEMPLATE.fullmatch(file))}
    named = dict.fromkeys(
        word for match in _HEADERS.findall(script) for word in re.split(r"[\s,]+", match) if word
    )
    templates |= {
        name: template
        for name, _, template in (entry.partition(":") for entry in named)
        if template in files
    }
    templates |= _linked_headers(script, files)
    named = dict.fromkeys(entry.partition(":")[0] for entry in named)
    defaults = {
        f"{match[1]}.h": file
        for file in files
        if (match := _DEFAULTS.fullmatch(PurePosixPath(file).name))
    }
    shipped = {
        match[1]: file for file in files if (match := _SHIPPED.fullmatch(PurePosixPath(file).name))
    }
    there = {PurePosixPath(file).name for file in files}
    sources = [
        content(root / file)
        for file in files
        if file.endswith((".c", ".h", *_ENDINGS)) or file in templates.values()
    ]
    asking = [_CONFIG, _OF_CONFIGURE] if "configure" in files else [_CONFIG]
    wanted = {
        name.decode(): ""
        for text in sources
        for pattern in asking
        for name in pattern.findall(text)
    }
    exporting = _exporting(root, files, sources)
    shipped = {name: template for name, template in shipped.items() if is_included(name, sources)}
    written = {
        name: header
        for name, header in interpreter.set_up(root).written.items()
        if header.template in files and is_included(name, sources)
    }
    by_meson = {
        name: header
        for name, header in meson.header_templates(root).items()
        if header[0] in files and is_included(name, sources)
    }
    missing = [
        header
        for header in {
            **named,
            **templates,
            **dict(sorted(wanted.items())),
            **exporting,
            **shipped,
            **written,
            **by_meson,
        }
        if PurePosixPath(header).name not in there
    ]
    notices = {name.decode() for text in sources for name in _NOTICE.findall(text)}
    nothing = [f"-D{name}(...)=" for name in sorted(notices)]
    asked = sorted({word.decode() for text in sources for word in _ASKED.findall(text)})
    bare = not script and not any(name in _BUILDS for name in there)
    if not missing and (named or not (script or (bare and asked))):
        return nothing
    script = _prune_branches(script)
    names = names_of(script, root.name)
    known = answers(asked) if bare else {**names, **answers(asked), **_set(script, names)}
    plain = "".join(
        f"#ifndef {name}\n#define {name} {value}\n#endif\n" for name, value in known.items()
    )
    answered = plain
    if not missing:  # then all of it stands in the compiler's arguments
        replace_file(_folder(made) / "defined.h", plain.encode())
        return [*nothing, "-include", str(made / "defined.h")]
    called = "".join(
        f"#ifndef {name}\n#define {name} {value}\n#endif\n" for name, value in names.items()
    )
    plain += _fill_template(_as_written(script), known, {})
    known |= _by_cmake(root)
    lines = _put_in(script)
    by_name = {PurePosixPath(header).name: template for header, template in templates.items()}
    for header in missing:
        name = PurePosixPath(header).name
        template = (
            templates.get(header) or by_name.get(name) or defaults.get(name) or shipped.get(name)
        )
        text = exporting.get(header, plain)
        if name in written:
            template = written[name].template
            text = written[name].filled(content(root / template).decode("utf-8", "replace"), known)
        elif name in by_meson:
            template, values = by_meson[name]
            text = meson.fill_template(content(root / template).decode("utf-8", "replace"), values)
        elif template is not None:
            text = _fill_template(content(root / template).decode("utf-8", "replace"), known, lines)
        if header in named:  # its template may be older than the set-up
            text += called if template is not None else ""
        for place in _included_as(name, sources):
            replace_file(_folder((made / place).parent) / place.name, text.encode())
    words = [*nothing, f"-idirafter{made}"]
    if script and not named:  # then what is asked of the machine stands in no header
        replace_file(_folder(made) / "defined.h", answered.encode())
        words += ["-include", str(made / "defined.h")]
    elif without := [text for text in texts if not _HEADERS.search(text) and named]:
        said = names_of(_filled_in(without[0]), root.name)
        text = "".join(f"#define {name} {value}\n" for name, value in said.items())
        replace_file(_folder(made) / "defined.h", text.encode())
        words += ["-include", str(made / "defined.h")]
    if set(missing) - shipped.keys():
        words.append("-DHAVE_CONFIG_H")
    if any(header.startswith("../") for header in missing):
        beside = _folder(made / "beside") / "beside.h"
        replace_file(beside, b"/* From this folder, ../config.h is found. */\n")
        words += ["-include", str(beside), f"-idirafter{beside.parent}"]
    return words


def stand_ins(root: Path, files: Sequence[str]) -> set[str]:
    """Headers called like one that a set-up writes elsewhere: they were made by hand for systems
    on which it does not run."""
    scripts = [file for file in files if PurePosixPath(file).name in _SCRIPTS]
    found: set[str] = set()
    for script in scripts:
        text = content(root / script).decode("utf-8", "replace")
        own = PurePosixPath(script).parent
        for match in _HEADERS.findall(text):
            for word in (word.partition(":")[0] for word in re.split(r"[\s,]+", match) if word):
                places = {PurePosixPath(word).as_posix(), (own / word).as_posix()}
                if not places & set(files):
                    name = PurePosixPath(word).name
                    found.update(file for file in files if PurePosixPath(file).name == name)
    return found


def _exporting(root: Path, files: Sequence[str], sources: Sequence[bytes]) -> dict[str, str]:
    """Headers that CMake would write with macros for what a library offers, and their texts:
    nothing is hidden here."""
    scripts = [file for file in files if PurePosixPath(file).name == "CMakeLists.txt"]
    if not any(b"generate_export_header" in content(root / script).lower() for script in scripts):
        return {}
    words = sorted({word.decode() for text in sources for word in _OFFERING.findall(text)})
    text = "".join(f"#ifndef {word}\n#define {word}\n#endif\n" for word in words)
    names = {name.decode() for source in sources for name in _EXPORT.findall(source)}
    return dict.fromkeys(sorted(names), text)


def is_included(name: str, sources: Iterable[bytes]) -> bool:
    """Return whether some text includes a header of that name."""
    including = re.compile(
        rb'#[ \t]*include[ \t]*["<](?:[\w./-]+/)?%s[">]' % re.escape(name).encode()
    )
    return any(including.search(text) for text in sources)


def _included_as(name: str, sources: Iterable[bytes]) -> set[PurePosixPath]:
    """Return the paths by which a header of that name is included, and the plain one."""
    including = re.compile(
        rb'^[ \t]*#[ \t]*include[ \t]*["<]((?:[\w.-]+/)*%s)[">]' % re.escape(name).encode(),
        re.MULTILINE,
    )
    found = {PurePosixPath(match.decode()) for text in sources for match in including.findall(text)}
    return {PurePosixPath(name), *(path for path in found if ".." not in path.parts)}


_ENDINGS = (".h.in", ".h.cmake", ".h.cmakein", ".h.cmake.in")


def _folder(path: Path) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    return path


def package(root: Path) -> dict[str, str]:
    """Return the project's name and version by the names that makefiles use, without quotes, and
    the defaults of its `configure`: `if NAME` is yes or no.
    """
    script = _filled_in(
        "".join(content(root / file).decode("utf-8", "replace") for file in _SCRIPTS)
    )
    named = names_of(script, root.name) if script else {}
    names = {name: value.strip('"') for name, value in named.items()}
    script = _prune_branches(script)
    return {**names, **automake_conditions(script)}


def _machine(root: Path, files: Iterable[str]) -> str:
    """Return what the project's own `config.guess` calls a machine of this kind, as lines of the
    shell; older ones know no vendor.
    """
    own = platform.uname()
    for file in files:
        if own.system == "Linux" and PurePosixPath(file).name == "config.guess":
            text = content(root / file).decode("utf-8", "replace")
            if (
                match := re.search(
                    rf"^ *(?:{own.machine}|\S*\|{own.machine}):Linux:[^;]*?"
                    r"-(\w+)-linux",
                    text,
                    re.MULTILINE,
                )
            ) is not None:
                triple = f"{own.machine}-{match[1]}-linux-gnu"
                return "".join(
                    f"\n{kind}={triple}\n{kind}_vendor={match[1]}\n"
                    for kind in ("build", "host", "target")
                )
    return ""


def set_by_hand(folder: Path) -> dict[str, str]:
    """Return what a `configure` that somebody wrote puts into the makefiles of its folder; those of
    autoconf ask the machine first.
    """
    script = content(folder / "configure")
    if not script.startswith(b"#!") or b"utoconf" in script:
        return {}
    return shell_assignments(script.decode("utf-8", "replace"))


def _filled_in(script: str) -> str:
    """Return a script for autoconf with the words that it defines itself put in."""
    known: dict[str, str] = {}

    def put_in(text: str) -> str:
        return re.sub(r"\w+", lambda match: known.get(match[0], match[0]), text)

    for match in _WORD_OF_M4.finditer(script):
        known[match[1]] = short(put_in(match[2] or match[3] or ""))
    return put_in(script) if known else script


def names_of(script: str, name: str) -> dict[str, str]:
    """Return the name and version macros of the project that `script` configures."""
    match = _INIT.search(script) or _OLD_INIT.search(script)
    package, version = (match[1].strip(), match[2].strip()) if match else (name, "0")
    address = (match[3] or "").strip() if match and match.re is _INIT else ""
    words = {
        "PACKAGE": package,
        "PACKAGE_NAME": package,
        "PACKAGE_TARNAME": package,
        "VERSION": version,
        "PACKAGE_VERSION": version,
        "PACKAGE_URL": "",
        "PACKAGE_STRING": f"{package} {version}",
        "PACKAGE_BUGREPORT": address,
    }
    return {"RETSIGTYPE": "void", **{name: f'"{value}"' for name, value in words.items()}}


def _by_cmake(root: Path) -> dict[str, str]:
    """Return what the project is called and what is set, where CMake sets up."""
    known = interpreter.set_up(root).known
    found = {
        name: "1" if value.upper() in TRUE else value
        for name, value in known.items()
        if not value or is_true(value)
    }
    for key in ("NAME", "VERSION"):
        if f"PROJECT_{key}" in found:
            found[f"PROJECT_{key}"] = found[f"PACKAGE_{key}"] = f'"{found[f"PROJECT_{key}"]}"'
    return found


def _linked_headers(script: str, files: Sequence[str]) -> dict[str, str]:
    """Headers that a set-up makes of another one which it chooses, with that of this system."""
    found: dict[str, str] = {}
    for name, _, source in (
        word.partition(":")
        for links in _LINKS.findall(script)
        for word in re.split(r"[\s,]+", links)
    ):
        form = re.compile(
            r"([\w.-]+)".join(re.escape(part) for part in re.split(r"\$\{?\w+\}?", source))
        )
        fitting = [file for file in files if form.fullmatch(file)]
        fitting = [file for file in fitting if "linux" in file.lower()] or fitting
        if name.endswith(".h") and len(fitting) == 1:
            found[name] = fitting[0]
    return found


def _set(script: str, names: dict[str, str]) -> dict[str, str]:
    """Macros that are defined whatever the machine is; `names` say what the project is called."""
    found = {
        name: value or "1" for name, value in _DEFINED.findall(script) if not TYPES.fullmatch(name)
    }
    for type_, name, value in _FOR_TYPE.findall(script):
        if TYPES.fullmatch(type_):
            found.setdefault(name, value)
    asked = [match.groups() for match in _FOR_NAME.finditer(script)]
    there = in_library(sorted({word for word, _, _ in asked}))
    for word, name, value in asked:
        if word in there or any(
            Path(system_include, word).is_file() for system_include in clang.system_includes()
        ):
            found.setdefault(name, value or "1")
    variables = {name: value.strip('"') for name, value in names.items()} | shell_assignments(
        script
    )
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
    """Return what a script for autoconf puts into the header as it is."""
    bodies = (_BODY.match(text) for text in calls(_AS_WRITTEN, script))
    return "\n".join(body[1] for body in bodies if body is not None)


def _prune_branches(script: str) -> str:
    """Return a script for autoconf without the branches that are not taken when nobody chooses."""
    asked = {name: f"HAVE_{word.upper()}" for name, word in _CACHED.findall(script)}
    there = answers(asked.values())
    known = {name: "yes" if word in there else "no" for name, word in asked.items()}
    known |= otherwise(script) | found_out(script)
    written = as_shell(script)
    found = drop_untaken_branches(written, known, calls(CHOICE, written))
    if found == written:  # its branches do not close
        found = drop_untaken_branches(script, known, calls(CHOICE, script))
    conditions = automake_conditions(found)
    for text in calls(_IF_DECIDED, found):
        name, *ways = parts(text)
        if (answer := conditions.get(f"if {name}")) is not None:
            chosen = ways[:1] if answer == "yes" else ways[1:2]
            found = found.replace(f"AM_COND_IF({text})", "\n".join(["", *chosen, ""]), 1)
    return found


def _put_in(script: str) -> dict[str, str]:
    """Directives that a script for autoconf puts into its templates, by their names there."""
    subst = set(_PUT_IN.findall(script))
    return {
        name: line
        for name, line in shell_assignments(script).items()
        if line[:1] == "#" and name in subst
    }


def _fill_template(template: str, known: dict[str, str], put_in: dict[str, str]) -> str:
    """Return a template as the set-up would write it; `put_in` are lines that a name alone stands
    for.
    """
    lines = []
    for line in template.splitlines():
        match = _LINE.match(line)
        if match is None:
            alone = _SUBSTITUTED.fullmatch(line.strip())
            if alone is not None:  # it stands for lines, or none
                lines.append(put_in.get(alone[1] or alone[2], ""))
            else:
                line = _SUBSTITUTED.sub(lambda match: _plain(known, match[1] or match[2]), line)
                lines.append(line)
        elif match[3] in known and (known[match[3]] or match[2] == "undef"):
            lines.append(f"{match[1]}define {match[3]} {known[match[3]]}")
        elif match[2] == "cmakedefine01":
            lines.append(f"{match[1]}define {match[3]} 0")
    return "\n".join([*lines, ""])


def _plain(known: dict[str, str], name: str) -> str:
    for key in (name, f"PACKAGE_{name.removeprefix('PROJECT_')}"):
        if key in known:
            return known[key].strip('"')
    return "0"


def content(path: Path) -> bytes:
    """Return the content of a file of the project; empty when it cannot be read."""
    with contextlib.suppress(SkippedFile):
        return read_regular(path, limit=MAX_BYTES)
    return b""
