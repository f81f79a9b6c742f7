"""What a `configure` script, or what autoconf makes one of, says of a project, without running it.

Macros of m4 that the script defines itself are expanded, branches that are off by default are left
out, and what the machine has is asked of its headers and of the C library.
"""

from __future__ import annotations

import platform
import re
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath

from jarvis_ls.codeintel import clang
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
from jarvis_ls.jc2r.build.machine_probes import TYPES, answers, in_library
from jarvis_ls.jc2r.build.project_files import content

SCRIPTS = ("configure.ac", "configure.in")
HEADERS = re.compile(r"\bA[CM]_CONFIG_HEADERS?\(\s*\[?\s*([^])]+)")
_INIT = re.compile(
    r"\bAC_INIT\(\s*\[?([\w .+-]+)\]?\s*,\s*\[?([\w .+~-]+)\]?\s*(?:,\s*\[?([\w.@+:/<> -]*)\]?)?"
)
_OLD_INIT = re.compile(r"\bAM_INIT_AUTOMAKE\(\s*\[?([\w.+-]+)\]?\s*,\s*\[?([\w.+~-]+)\]?")
_WORD = r"-?\w+|'(?:[^'\\\n$`]|\\.)'|\"(?:[^\"\\\n$`]|\\.)*\""
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
"""What represents something else in a script for autoconf."""
_AS_WRITTEN = re.compile(r"\bAH_(?:TOP|BOTTOM|VERBATIM)(?=\()")
"""What is put into the header as it is."""
_BODY = re.compile(r"(?:\[?[\w -]+\]?\s*,)?\s*\[(.*)\]\s*\Z", re.DOTALL)
_IF_DECIDED = re.compile(r"\bAM_COND_IF(?=\()")
_CACHED = re.compile(r"\$\{?(ac_cv_(?:func|header)_(\w+))")
"""What was found of a function or header."""
_PUT_IN = re.compile(r"\bAC_SUBST\(\s*\[?(\w+)")


def package(root: Path) -> dict[str, str]:
    """Return the project's name and version by the names that makefiles use, without quotes, and
    the defaults of its `configure`: `if NAME` is yes or no.
    """
    script = expand_macros(
        "".join(content(root / file).decode("utf-8", "replace") for file in SCRIPTS)
    )
    named = project_macros(script, root.name) if script else {}
    names = {name: value.strip('"') for name, value in named.items()}
    script = prune_branches(script)
    return {**names, **automake_conditions(script)}


def machine_triple(root: Path, files: Iterable[str]) -> str:
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


def expand_macros(script: str) -> str:
    """Return a script for autoconf with the words that it defines itself put in."""
    known: dict[str, str] = {}

    def put_in(text: str) -> str:
        return re.sub(r"\w+", lambda match: known.get(match[0], match[0]), text)

    for match in _WORD_OF_M4.finditer(script):
        known[match[1]] = short(put_in(match[2] or match[3] or ""))
    return put_in(script) if known else script


def project_macros(script: str, name: str) -> dict[str, str]:
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


def linked_headers(script: str, files: Sequence[str]) -> dict[str, str]:
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


def defined_macros(script: str, names: dict[str, str]) -> dict[str, str]:
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


def verbatim_text(script: str) -> str:
    """Return what a script for autoconf puts into the header as it is."""
    bodies = (_BODY.match(text) for text in calls(_AS_WRITTEN, script))
    return "\n".join(body[1] for body in bodies if body is not None)


def prune_branches(script: str) -> str:
    """Return a script for autoconf without the branches that are not taken with the default
    options."""
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


def substituted_lines(script: str) -> dict[str, str]:
    """Directives that a script for autoconf puts into its templates, by their names there."""
    subst = set(_PUT_IN.findall(script))
    return {
        name: line
        for name, line in shell_assignments(script).items()
        if line[:1] == "#" and name in subst
    }
