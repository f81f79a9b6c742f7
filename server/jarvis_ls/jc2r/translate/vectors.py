"""Vectors of x86-64: types and functions of `immintrin.h` and those of Rust have the same names.

gcc's headers make macros of what takes a number that is part of the instruction, unless it
optimises: read as if it did, each is a function that is declared.
"""

from __future__ import annotations

import platform
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from jarvis_ls.jc2r.translate.names import Unsupported

MODULE = "core::arch::x86_64"
_HEADER = re.compile(r"[a-z0-9_]*intrin\.h")
_TYPES = {"LONGLONG": "i", "FLOAT": "", "DOUBLE": "d"}
_NUMBER_LAST = re.compile(
    r"_mm(?:256|512)?_(?:maskz?_)?(?:"
    r"shuffle(?:lo|hi)?_(?:epi(?:16|32)|p[sd]|[fi]\d+x\d+)|s(?:ll|rl|ra)i_(?:epi(?:16|32|64)|si\d+)"
    r"|bs[lr]li_epi128|ro[lr]_epi\d+|alignr_epi\d+|blend_(?:epi(?:16|32)|p[sd])"
    r"|(?:extract|insert)(?:_(?:epi\d+|ps)|[fi]\d+(?:x\d+)?_\w+)"
    r"|permute(?:_p[sd]|2[fx]\d+_\w+|4x64_\w+|x_\w+)|round_[ps][sd]|dp_p[sd]|mpsadbw_epu8"
    r"|cmp[ei]str[a-z]|clmulepi64_si128|aeskeygenassist_si128|prefetch|cmp_(?:[ps][sd]|ep[iu]\d+)\w*"
    r"|i(?:32|64)gather_\w+|ternarylogic_epi\d+|sha1rnds4_epu32)"
)
"""Functions whose last argument is part of the instruction."""
_SHIFT = re.compile(r"(_mm(?:256|512)?_)(s(?:ll|rl|ra))i(_epi(?:16|32|64))")
_TARGET = re.compile(r'\btarget\("([^"]+)"\)')
_OF_CLANG = "#define __rdtsc rdtsc__\n"
"""A function of gcc's headers that clang has of itself, and lets no one define."""
_FEATURES = {
    **{
        feature: feature
        for feature in tuple(
            "sse sse2 sse3 ssse3 sse4.1 sse4.2 popcnt avx avx2 fma bmi2 lzcnt aes sha "
            "f16c avx512f avx512bw avx512dq avx512vl avx512cd adx".split()
        )
    },
    "sse4": "sse4.2",
    "bmi": "bmi1",
    "pclmul": "pclmulqdq",
    "rdrnd": "rdrand",
}
"""What gcc and Rust call the parts of a processor."""


def is_header(path: str) -> bool:
    """Return whether a header of the system declares such functions."""
    return platform.machine() in ("x86_64", "AMD64") and bool(_HEADER.fullmatch(Path(path).name))


def first(headers: Iterable[str]) -> str:
    """Return what makes all such functions of these headers known as functions, when it is read
    first.
    """
    included = "".join(f"#include <{Path(fromkey).name}>\n" for fromkey in dict.fromkeys(headers))
    return (
        f"#define __OPTIMIZE__ 1\n#define _MM_MALLOC_H_INCLUDED 1\n{_OF_CLANG}{included}"
        "#undef __OPTIMIZE__\n#undef _MM_MALLOC_H_INCLUDED\n"
    )


def vector(type_: Any) -> str:
    """Return the Rust type of a vector. Raises `Unsupported` for those that no header names."""
    letter = _TYPES.get(type_.element_type.get_canonical().kind.name)
    bits = type_.get_size() * 8
    if letter is None or bits not in (128, 256, 512) or not is_header("immintrin.h"):
        raise Unsupported("vector types")
    return f"{MODULE}::__m{bits}{letter}"


def is_instruction(declared: Any) -> bool:
    """Return whether a function is one of those of the headers."""
    file = declared.location.file
    return declared.spelling.startswith("_mm") and file is not None and is_header(file.name)


def is_plain(declared: Any) -> bool:
    """Return whether a function of the headers is no instruction, but made of what every processor
    has:
    `__bsrd`, `__rolq`."""
    file = declared.location.file
    own = not declared.spelling.startswith("_mm") and declared.kind.name == "FUNCTION_DECL"
    return own and file is not None and is_header(file.name)


def takes_number(name: str) -> bool:
    """Return whether the last argument of such a function is part of the instruction."""
    return _NUMBER_LAST.fullmatch(name) is not None


def by_register(name: str) -> str:
    """Return what shifts like a function whose last argument is part of the instruction, by what a
    register holds; empty when it shifts nothing.
    """
    match = _SHIFT.fullmatch(name)
    return "" if match is None else f"{MODULE}::{match[1]}{match[2]}{match[3]}"


def part(name: str) -> str:
    """Return what Rust calls a part of the processor that gcc asks for; empty when it has no
    name.
    """
    return _FEATURES.get(name, "") if is_header("immintrin.h") else ""


def features(written: str, arguments: Iterable[str]) -> list[str]:
    """Return what a function as it is `written`, of a file compiled with `arguments`, asks of the
    processor, in Rust's words.
    """
    words = [word.removeprefix("-m") for word in arguments if word.startswith("-m")]
    words += [word.strip() for found in _TARGET.findall(written) for word in found.split(",")]
    return list(dict.fromkeys(_FEATURES[word] for word in words if word in _FEATURES))
