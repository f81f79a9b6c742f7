"""Functions of the C library that projects bring themselves, and what Rust's own library has for
them: these are decided without a model."""

from __future__ import annotations

from dataclasses import dataclass

STD = "std"
"""Rust's own library, which every crate has."""


@dataclass(frozen=True, slots=True)
class Known:
    """One function of the C library."""

    parameters: int
    """How many it has; a function of that name with another number is something else."""
    apis: tuple[str, ...]
    """What does it in Rust."""


_TABLE = """\
strlen 1 core::ffi::CStr::count_bytes
strnlen 2 slice::iter slice::Iter::position
strcmp 2 core::ffi::CStr::to_bytes slice::cmp
strncmp 3 slice::cmp
strcasecmp 2 u8::to_ascii_lowercase Iterator::cmp
strncasecmp 3 u8::to_ascii_lowercase Iterator::cmp
strchr 2 slice::Iter::position
strrchr 2 slice::Iter::rposition
strstr 2 slice::windows
strcasestr 2 slice::windows slice::eq_ignore_ascii_case
strspn 2 slice::Iter::position slice::contains
strcspn 2 slice::Iter::position slice::contains
strpbrk 2 slice::Iter::position slice::contains
strdup 1 slice::to_vec
strndup 2 slice::to_vec
strcpy 2 slice::copy_from_slice
strncpy 3 slice::copy_from_slice slice::fill
strlcpy 3 slice::copy_from_slice
strcat 2 slice::copy_from_slice
strlcat 3 slice::copy_from_slice
stpcpy 2 slice::copy_from_slice
strsep 2 slice::Iter::position slice::split_at
strtok_r 3 slice::Iter::position slice::split_at
memcpy 3 slice::copy_from_slice
memmove 3 slice::copy_within
memset 3 slice::fill
memcmp 3 slice::cmp
memchr 3 slice::Iter::position
memrchr 3 slice::Iter::rposition
memmem 4 slice::windows
qsort 4 slice::sort_by
bsearch 5 slice::binary_search_by
strtol 3 u8::is_ascii_digit i64::saturating_mul
strtoul 3 u8::is_ascii_digit u64::saturating_mul
strtod 2 str::parse
atoi 1 u8::is_ascii_digit
abs 1 i32::wrapping_abs
isdigit 1 u8::is_ascii_digit
toupper 1 u8::to_ascii_uppercase
tolower 1 u8::to_ascii_lowercase
"""
KNOWN = {
    name: Known(int(parameters), tuple(apis))
    for name, parameters, *apis in (line.split() for line in _TABLE.splitlines())
}
"""By name."""
