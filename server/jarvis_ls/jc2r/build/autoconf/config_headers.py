"""Headers that `configure` or CMake would write, guessed when neither is run.

`AC_CONFIG_HEADERS` and files such as `config.h.in` say which they are. What they ask of the
machine is answered as their tests would: whether a header is there, whether a function is in the C
library, which one call of the linker says for all of them. Nothing of the project is run.

First all that the project says is read (`_look`), then the macros get their values (`_decide`),
then the headers are written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from jarvis_ls.core.files import replace_file
from jarvis_ls.jc2r.build import meson
from jarvis_ls.jc2r.build.autoconf.configure_script import (
    HEADERS,
    SCRIPTS,
    defined_macros,
    expand_macros,
    linked_headers,
    machine_triple,
    project_macros,
    prune_branches,
    substituted_lines,
    verbatim_text,
)
from jarvis_ls.jc2r.build.cmake import interpreter
from jarvis_ls.jc2r.build.cmake.conditions import TRUE, is_true
from jarvis_ls.jc2r.build.header_templates import fill_template
from jarvis_ls.jc2r.build.machine_probes import answers
from jarvis_ls.jc2r.build.project_files import content, text_of

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
"""What represents a header that is made."""
_EXPORT = re.compile(
    rb'^[ \t]*#[ \t]*include[ \t]*["<](?:[^">\n]*/)?([\w-]*export[\w-]*\.h)[">]', re.MULTILINE
)
_OFFERING = re.compile(rb"\b[A-Z]\w*_(?:NO_)?(?:EXPORT|DEPRECATED)\b")
_NOTICE = re.compile(rb"^(__(?:COPYRIGHT|RCSID|FBSDID|SCCSID|KERNEL_RCSID))\b", re.MULTILINE)
"""Macros of the BSDs that only name a version."""
_ASKED = re.compile(rb"\b(?:HAVE_\w+|STDC_HEADERS|TIME_WITH_SYS_TIME|SIZEOF_\w+)\b")
_CONFIG = re.compile(
    rb'^[ \t]*#[ \t]*include[ \t]*"((?:[^"\n]*/)?[\w-]*config[\w-]*\.h)"', re.MULTILINE
)
"""Headers that are configured, by their name: some projects bring a `configure` of their own."""
_OF_CONFIGURE = re.compile(rb"^[ \t]*#[ \t]*include[ \t]*<((?:\.\./)*config\.h)>", re.MULTILINE)
"""The same, of those that have one."""
_SUBSTITUTED = re.compile(r"@(\w+)@|\$\{(\w+)\}")
_ENDINGS = (".h.in", ".h.cmake", ".h.cmakein", ".h.cmake.in")


@dataclass(frozen=True, slots=True)
class _SetUp:
    """What a project says of the headers that its set-up would write. Headers are named as they are
    included or configured; files are relative to the project."""

    root: Path
    scripts: Sequence[str]
    """The scripts for autoconf, one by one."""
    script: str
    """All of them, with their own macros expanded."""
    configured: Sequence[str]
    """Headers that the scripts name."""
    templates: Mapping[str, str]
    """Headers with a template of their own name, or one that the scripts give them."""
    examples: Mapping[str, str]
    """Headers that users make of an example, such as `config.def.h`."""
    shipped: Mapping[str, str]
    """Headers that somebody made by hand for some systems, with the file for this one."""
    exporting: Mapping[str, str]
    """Headers with macros for what a library offers, and their text."""
    by_cmake: Mapping[str, interpreter.ConfiguredFile]
    by_meson: Mapping[str, tuple[str, Mapping[str, str | None]]]
    """Templates, with what is put into them."""
    missing: Sequence[str]
    """Headers that are to be written."""
    sources: Sequence[bytes]
    """Texts that include headers."""
    notices: frozenset[str]
    """Macros that only name a version."""
    asked: Sequence[str]
    """Macros by which the sources ask what the machine has, in order."""
    bare: bool
    """Whether no file says how the project is built."""

    @property
    def answers_nothing(self) -> bool:
        """Return whether no one asks what the set-up would have found."""
        asks = self.script or (self.bare and self.asked)
        return not self.missing and bool(self.configured or not asks)


@dataclass(frozen=True, slots=True)
class _Macros:
    """The macros that a set-up would define."""

    script: str
    """The scripts for autoconf without branches that are off by default."""
    project: Mapping[str, str]
    """The project's name and version."""
    known: Mapping[str, str]
    """All, with their values."""


def config_header_arguments(root: Path, files: Sequence[str], made: Path) -> list[str]:
    """Return arguments with which the C files of the project at `root` find the headers that its
    own set-up would have written; these are written to `made`. None where nothing is missing."""
    set_up = _look(root, files)
    words = [f"-D{name}(...)=" for name in sorted(set_up.notices)]
    if set_up.answers_nothing:
        return words
    macros = _decide(set_up)
    if not set_up.missing:  # then all of it is in the compiler's arguments
        return [*words, *_include_always(made, _unless_defined(macros.known))]
    _write_headers(set_up, macros, made)
    return [*words, f"-idirafter{made}", *_included_always(set_up, macros, made)]


def _look(root: Path, files: Sequence[str]) -> _SetUp:
    """Return what the files of a project say."""
    scripts = [text_of(root / file) for file in files if PurePosixPath(file).name in SCRIPTS]
    script = expand_macros("\n".join(scripts)) + machine_triple(root, files)
    entries = _configured_entries(script)
    configured = tuple(dict.fromkeys(entry.partition(":")[0] for entry in entries))
    templates = _templates(files, entries, script)
    sources = [
        content(root / file)
        for file in files
        if file.endswith((".c", ".h", *_ENDINGS)) or file in templates.values()
    ]
    names = {PurePosixPath(file).name for file in files}
    exporting = _exporting(root, files, sources)
    shipped = {
        name: file
        for name, file in _by_name(_SHIPPED, files, "{}").items()
        if is_included(name, sources)
    }
    by_cmake = {
        name: header
        for name, header in interpreter.set_up(root).written.items()
        if header.template in files and is_included(name, sources)
    }
    by_meson = {
        name: header
        for name, header in meson.header_templates(root).items()
        if header[0] in files and is_included(name, sources)
    }
    included = sorted(_configured_includes(sources, has_configure="configure" in files))
    expected = dict.fromkeys(
        [*configured, *templates, *included, *exporting, *shipped, *by_cmake, *by_meson]
    )
    return _SetUp(
        root=root,
        scripts=scripts,
        script=script,
        configured=configured,
        templates=templates,
        examples=_by_name(_DEFAULTS, files, "{}.h"),
        shipped=shipped,
        exporting=exporting,
        by_cmake=by_cmake,
        by_meson=by_meson,
        missing=[header for header in expected if PurePosixPath(header).name not in names],
        sources=sources,
        notices=frozenset(_words(_NOTICE, sources)),
        asked=sorted(_words(_ASKED, sources)),
        bare=not script and names.isdisjoint(_BUILDS),
    )


def _configured_entries(script: str) -> list[str]:
    """Return the headers that a script for autoconf names, some with their template behind `:`."""
    words = (word for match in HEADERS.findall(script) for word in re.split(r"[\s,]+", match))
    return list(dict.fromkeys(word for word in words if word))


def _templates(files: Sequence[str], entries: Iterable[str], script: str) -> dict[str, str]:
    found = {match[1]: file for file in files if (match := _TEMPLATE.fullmatch(file))}
    for name, _, template in (entry.partition(":") for entry in entries):
        if template in files:
            found[name] = template
    return found | linked_headers(script, files)


def _by_name(pattern: re.Pattern[str], files: Iterable[str], form: str) -> dict[str, str]:
    """Return the files whose name has a pattern, by the header they represent."""
    return {
        form.format(match[1]): file
        for file in files
        if (match := pattern.fullmatch(PurePosixPath(file).name))
    }


def _configured_includes(sources: Iterable[bytes], *, has_configure: bool) -> set[str]:
    """Return included headers that are configured, by their name."""
    found = _words(_CONFIG, sources)
    return found | _words(_OF_CONFIGURE, sources) if has_configure else found


def _words(pattern: re.Pattern[bytes], sources: Iterable[bytes]) -> set[str]:
    return {word.decode() for text in sources for word in pattern.findall(text)}


def _decide(set_up: _SetUp) -> _Macros:
    """Return the macros that the set-up would define on this machine."""
    script = prune_branches(set_up.script)
    project = project_macros(script, set_up.root.name)
    known = answers(set_up.asked)
    if not set_up.bare:
        known = {**project, **known, **defined_macros(script, project)}
    return _Macros(script, project, known)


def _write_headers(set_up: _SetUp, macros: _Macros, made: Path) -> None:
    """Write the missing headers below `made`, by each path that includes them."""
    known = {**macros.known, **_by_cmake(set_up.root)}
    of_script = {name: _like(macros.known.get(name), value) for name, value in known.items()}
    lines = substituted_lines(macros.script)
    plain = _unless_defined(macros.known)
    plain += _fill_template(verbatim_text(macros.script), macros.known, {})
    by_name = {PurePosixPath(header).name: file for header, file in set_up.templates.items()}
    for header in set_up.missing:
        name = PurePosixPath(header).name
        template = (
            set_up.templates.get(header)
            or by_name.get(name)
            or set_up.examples.get(name)
            or set_up.shipped.get(name)
        )
        text = set_up.exporting.get(header, plain)
        if name in set_up.by_cmake:
            configured = set_up.by_cmake[name]
            template = configured.template
            text = configured.fill(text_of(set_up.root / template), known)
        elif name in set_up.by_meson:
            template, values = set_up.by_meson[name]
            values = {
                key: macros.known.get(key) if value is None else value
                for key, value in values.items()
            }
            text = meson.fill_header(text_of(set_up.root / template), values)
        elif template is not None:
            text = _fill_template(text_of(set_up.root / template), of_script, lines)
        if header in set_up.configured and template is not None:  # it may be older than the set-up
            text += _unless_defined(macros.project)
        for place in _included_as(name, set_up.sources):
            replace_file(_folder((made / place).parent) / place.name, text.encode())


def _included_always(set_up: _SetUp, macros: _Macros, made: Path) -> list[str]:
    """Return arguments for what no header holds that is found by its name."""
    words = []
    if macros.script and not set_up.configured:  # what is asked of the machine is in no header
        words += _include_always(made, _unless_defined(macros.known))
    elif set_up.configured and (without := [t for t in set_up.scripts if not HEADERS.search(t)]):
        project = project_macros(expand_macros(without[0]), set_up.root.name)
        text = "".join(f"#define {name} {value}\n" for name, value in project.items())
        words += _include_always(made, text)
    if set(set_up.missing) - set_up.shipped.keys():
        words.append("-DHAVE_CONFIG_H")
    if any(header.startswith("../") for header in set_up.missing):
        beside = _folder(made / "beside") / "beside.h"
        replace_file(beside, b"/* From this folder, ../config.h is found. */\n")
        words += ["-include", str(beside), f"-idirafter{beside.parent}"]
    return words


def _include_always(made: Path, text: str) -> list[str]:
    """Return arguments that put a text before each file."""
    header = _folder(made) / "defined.h"
    replace_file(header, text.encode())
    return ["-include", str(header)]


def _unless_defined(macros: Mapping[str, str]) -> str:
    """Return definitions that leave alone what is defined already."""
    return "".join(
        f"#ifndef {name}\n#define {name} {value}\n#endif\n" for name, value in macros.items()
    )


def stand_ins(root: Path, files: Sequence[str]) -> set[str]:
    """Headers called like one that a set-up writes elsewhere: they were made by hand for systems
    on which it does not run."""
    scripts = [file for file in files if PurePosixPath(file).name in SCRIPTS]
    found: set[str] = set()
    for script in scripts:
        text = text_of(root / script)
        own = PurePosixPath(script).parent
        for match in HEADERS.findall(text):
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


def _folder(path: Path) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    return path


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


def _like(defined: str | None, value: str) -> str:
    """Return the value of a variable of CMake as the macro of that name has it in a script for
    autoconf: quoted where that one is."""
    quoted = defined is not None and defined.startswith('"') and not value.startswith('"')
    return f'"{value}"' if quoted else value


def _fill_template(template: str, known: Mapping[str, str], put_in: Mapping[str, str]) -> str:
    """Return a template as the set-up would write it; `put_in` are lines that a name alone is
    for.
    """

    def define(directive: str, name: str, _rest: str) -> str | None:
        value = known.get(name)
        if value is not None and (value or directive == "undef"):
            return f"define {name} {value}"
        return f"define {name} 0" if directive == "cmakedefine01" else None

    def fill_line(line: str) -> str:
        alone = _SUBSTITUTED.fullmatch(line.strip())
        if alone is not None:  # it represents lines, or none
            return put_in.get(alone[1] or alone[2], "")
        return _SUBSTITUTED.sub(lambda match: _plain(known, match[1] or match[2]), line)

    return fill_template(template, ("undef", "cmakedefine", "cmakedefine01"), define, fill_line)


def _plain(known: Mapping[str, str], name: str) -> str:
    for key in (name, f"PACKAGE_{name.removeprefix('PROJECT_')}"):
        if key in known:
            return known[key].strip('"')
    return "0"
