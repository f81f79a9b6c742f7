"""The compiler's own functions, as what Rust or the C library offers."""

from __future__ import annotations

import platform
import re

from jarvis_ls.jc2r.translate.rust_text import parenthesise

_METHODS = {
    "bswap16": "swap_bytes",
    "bswap32": "swap_bytes",
    "bswap64": "swap_bytes",
    "bitreverse8": "reverse_bits",
    "bitreverse16": "reverse_bits",
    "bitreverse32": "reverse_bits",
    "bitreverse64": "reverse_bits",
}
_COUNTS = {"clz": "leading_zeros", "ctz": "trailing_zeros", "popcount": "count_ones"}
_ASKING = {
    "isnan": "{0}.is_nan()",
    "isinf": "{0}.is_infinite()",
    "isfinite": "{0}.is_finite()",
    "isnormal": "{0}.is_normal()",
    "signbit": "{0}.is_sign_negative()",
    "signbitf": "{0}.is_sign_negative()",
    "finite": "{0}.is_finite()",
    "isgreater": "{0} > {1}",
    "isgreaterequal": "{0} >= {1}",
    "isless": "{0} < {1}",
    "islessequal": "{0} <= {1}",
    "islessgreater": "{0} < {1} || {0} > {1}",
    "isunordered": "{0}.is_nan() || {1}.is_nan()",
}
_FLOATS = {
    "nan": "f64::NAN",
    "nanf": "f32::NAN",
    "inf": "f64::INFINITY",
    "inff": "f32::INFINITY",
    "huge_val": "f64::INFINITY",
    "huge_valf": "f32::INFINITY",
}
_LIBRARY = frozenset(
    "memcpy memset memmove memcmp memchr strlen strcmp strncmp strcpy strncpy strcat "
    "strncat strchr strrchr strstr strdup strndup strspn strcspn strpbrk stpcpy bcmp "
    "bzero index rindex abort exit _exit malloc calloc realloc free printf fprintf "
    "sprintf snprintf vprintf vfprintf vsprintf vsnprintf puts putchar fputs fputc fwrite "
    "fabs fabsf sqrt sqrtf sin sinf cos cosf tan tanf asin acos atan atan2 atan2f sinh "
    "cosh tanh exp expf exp2 exp2f log logf log2 log2f log10 log10f pow powf floor floorf "
    "ceil ceilf round roundf trunc truncf rint rintf nearbyint fmod fmodf fmax fmaxf fmin "
    "fminf fma copysign copysignf ldexp frexp modf hypot cbrt lround llround lrint llrint "
    "abs labs llabs ffs ffsl ffsll isalpha isdigit isalnum isspace isupper islower "
    "isprint ispunct isxdigit iscntrl isgraph toupper tolower isblank expm1 log1p erf "
    "lgamma tgamma remainder nextafter ilogb logb scalbn".split()
)
_PROCESSOR = {
    "ia32_pause": "_mm_pause()",
    "ia32_rdtsc": "_rdtsc()",
    "ia32_rdtscp": "__rdtscp({} as _)",
    "ia32_lfence": "_mm_lfence()",
    "ia32_mfence": "_mm_mfence()",
    "ia32_sfence": "_mm_sfence()",
    **{
        f"ia32_crc32{letters}": f"_mm_crc32_u{bits}(({{}}) as _, ({{}}) as u{bits})"
        for letters, bits in (("qi", 8), ("hi", 16), ("si", 32), ("di", 64))
    },
}
"""Words of the compiler for the processor, and what Rust has for them."""


def value_of(name: str, values: list[str], rust: str) -> str | None:
    """Return what a builtin is worth, of Rust type `rust`; None when Rust has nothing for it."""
    word = name.removeprefix("__builtin_")
    if name == "__builtin_unreachable":
        return "core::hint::unreachable_unchecked()"
    if name in ("__builtin_trap", "__builtin_debugtrap"):
        return "std::process::abort()"
    if word in _METHODS:
        return f"{parenthesise(values[0])}.{_METHODS[word]}()"
    if match := re.fullmatch(r"rotate(left|right)(?:8|16|32|64)", word):
        return f"{parenthesise(values[0])}.rotate_{match[1]}({parenthesise(values[1])} as u32)"
    match = re.fullmatch(r"(clz|ctz|popcount)(?:l|ll|g)?", word)
    if match is not None:
        return f"{parenthesise(values[0])}.{_COUNTS[match[1]]}() as {rust}"
    if re.fullmatch(r"ffs(l|ll)?", word):
        return (
            f"{{ let __bits = {values[0]}; if __bits == 0 {{ 0 }} else"
            f" {{ __bits.trailing_zeros() as {rust} + 1 }} }}"
        )
    if re.fullmatch(r"parity(l|ll)?", word):
        return f"({parenthesise(values[0])}.count_ones() & 1) as {rust}"
    if re.fullmatch(r"clrsb(l|ll)?", word):
        return (
            f"{{ let __bits = {values[0]};"
            f" (__bits ^ (__bits >> 1)).leading_zeros() as {rust} - 1 }}"
        )
    if word in ("isinf_sign", "isinf_signf"):
        return (
            f"{{ let __float = {values[0]}; if !__float.is_infinite() {{ 0 }} else if"
            f" __float > 0.0 {{ 1 }} else {{ -1 }} }}"
        )
    if word == "fpclassify":
        nan, infinite, normal, subnormal, zero, asked = values
        return (
            f"match ({asked}).classify() {{ core::num::FpCategory::Nan => {nan},"
            f" core::num::FpCategory::Infinite => {infinite},"
            f" core::num::FpCategory::Zero => {zero},"
            f" core::num::FpCategory::Subnormal => {subnormal}, _ => {normal} }}"
        )
    if word in _ASKING:
        form = _ASKING[word].format(*(f"({value})" for value in values))
        return f"({form}) as {rust}"
    if word in _FLOATS:
        return _FLOATS[word]
    if match := re.fullmatch(r"ia32_bsr([sd])i", word):
        bits = 32 if match[1] == "s" else 64
        return f"({bits - 1} - ({parenthesise(values[0])} as u{bits}).leading_zeros() as {rust})"
    if word in _PROCESSOR and platform.machine() in ("x86_64", "AMD64"):
        code = f"core::arch::x86_64::{_PROCESSOR[word].format(*values)}"
        return code if rust == "()" else f"{code} as {rust}"
    return None


def library_name(name: str) -> str | None:
    """Return the function of the C library a builtin represents."""
    word = name.removeprefix("__builtin_")
    return word if word in _LIBRARY else None
