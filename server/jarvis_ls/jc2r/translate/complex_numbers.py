"""Complex numbers: records of two floats in Rust, which travel like those of C.

The System V ABI for x86-64 passes and returns a `double _Complex` like a record of two doubles and
a `float _Complex` like one of two floats. Other machines differ in places, and are not tried.

As gcc has it, a real operand has no imaginary part: it is not made complex first, unless it is
divided by something complex.
"""

from __future__ import annotations

import platform
import sys
from typing import Any

from jarvis_ls.codeintel import clang
from jarvis_ls.core.words import Words
from jarvis_ls.jc2r.translate.c_types import FLOATS, is_integer, kind, plain
from jarvis_ls.jc2r.translate.names import Unsupported
from jarvis_ls.jc2r.translate.rust_text import parenthesise

_NAMES = {"f32": "Complex32", "f64": "Complex64"}
_METHODS = {"+": "plus", "-": "minus", "*": "times", "/": "over"}


def is_complex(type_: Any) -> bool:
    """Complex numbers of any width."""
    return kind(type_) == "COMPLEX"


def name_of(type_: Any) -> str:
    """Return the name of the record in `support` that a complex type is. Raises `Unsupported`."""
    if not sys.platform.startswith("linux") or platform.machine() not in ("x86_64", "AMD64"):
        raise Unsupported("_Complex, which is supported on x86-64 Linux only")
    part = FLOATS.get(kind(plain(type_).element_type))
    if part is None:
        raise Unsupported("_Complex")
    return _NAMES[part]


def as_real(cursor: Any) -> Any:
    """Return an operand without the imaginary part that only the parser gave it."""
    while cursor.kind.name == "UNEXPOSED_EXPR" and is_complex(cursor.type):
        (inner,) = clang.children(cursor)
        if not is_complex(inner.type):
            return inner
        cursor = inner
    return cursor


def wider(left: Any, right: Any) -> str:
    """Return the name of the record in which two operands are computed, of which one is complex."""
    names = {name_of(type_) for type_ in (left, right) if is_complex(type_)}
    return "Complex64" if "DOUBLE" in (kind(left), kind(right)) else max(names)


def convert_to_complex(code: str, source: Any, name: str) -> str:
    """Return a number as a complex one of the record called `name`."""
    if not is_complex(source):
        return f"types::{name}::real({_part(code, source, name)})"
    return resize_complex(code, name_of(source), name)


def resize_complex(code: str, old: str, new: str) -> str:
    """Return a complex number of one width as one of another."""
    if old == new:
        return code
    return f"{parenthesise(code)}.{'widened' if new == 'Complex64' else 'narrowed'}()"


def arithmetic(operator: str, left: tuple[str, Any], right: tuple[str, Any], name: str) -> str:
    """Return what an operator makes of two numbers, given with their types, one of them complex, in
    the record called `name`.
    """
    if operator not in _METHODS:
        raise Unsupported("`{word}` of complex numbers", word=operator)
    method = _METHODS[operator]
    (first, first_type), (second, second_type) = left, right
    if is_complex(first_type):
        held = parenthesise(convert_to_complex(first, first_type, name))
        if is_complex(second_type):
            return f"{held}.{method}({convert_to_complex(second, second_type, name)})"
        return f"{held}.{method}_real({_part(second, second_type, name)})"
    other = convert_to_complex(second, second_type, name)
    if operator == "/":
        return f"{convert_to_complex(first, first_type, name)}.over({other})"
    return f"types::{name}::real_{method}({_part(first, first_type, name)}, {other})"


def _part(code: str, source: Any, name: str) -> str:
    """Return a real number as what the record called `name` is made of."""
    part = next(rust for rust, long_name in _NAMES.items() if long_name == name)
    if FLOATS.get(kind(source)) == part:
        return code
    if not is_integer(source) and kind(source) not in FLOATS:
        raise Unsupported(
            "a conversion of {source} to {target}",
            source=source.spelling,
            target=Words("a complex number"),
        )
    return f"{parenthesise(code)} as {'i32 as ' if kind(source) == 'BOOL' else ''}{part}"


_FORM = """
/// A complex number.
#[repr(C)]
#[derive(Clone, Copy, PartialEq)]
pub struct NAME {
    pub re: PART,
    pub im: PART,
}

impl NAME {
    pub const fn real(re: PART) -> Self {
        Self { re, im: 0.0 }
    }
    pub const fn is_zero(self) -> bool {
        self.re == 0.0 && self.im == 0.0
    }
    pub const fn negated(self) -> Self {
        Self { re: -self.re, im: -self.im }
    }
    pub const fn conjugated(self) -> Self {
        Self { re: self.re, im: -self.im }
    }
    pub const fn plus(self, other: Self) -> Self {
        Self { re: self.re + other.re, im: self.im + other.im }
    }
    pub const fn plus_real(self, other: PART) -> Self {
        Self { re: self.re + other, im: self.im }
    }
    pub const fn real_plus(one: PART, other: Self) -> Self {
        Self { re: one + other.re, im: other.im }
    }
    pub const fn minus(self, other: Self) -> Self {
        Self { re: self.re - other.re, im: self.im - other.im }
    }
    pub const fn minus_real(self, other: PART) -> Self {
        Self { re: self.re - other, im: self.im }
    }
    pub const fn real_minus(one: PART, other: Self) -> Self {
        Self { re: one - other.re, im: -other.im }
    }
    pub const fn times_real(self, other: PART) -> Self {
        Self { re: self.re * other, im: self.im * other }
    }
    pub const fn real_times(one: PART, other: Self) -> Self {
        Self { re: one * other.re, im: one * other.im }
    }
    pub const fn over_real(self, other: PART) -> Self {
        Self { re: self.re / other, im: self.im / other }
    }
    /// The product; where it is no number though a factor is infinite, C has it infinite.
    pub const fn times(self, other: Self) -> Self {
        let (a, b, c, d) = (self.re, self.im, other.re, other.im);
        let (ac, bd, ad, bc) = (a * c, b * d, a * d, b * c);
        let (re, im) = (ac - bd, ad + bc);
        if re == re || im == im {
            return Self { re, im };
        }
        let (left, right) = (self.is_infinite(), other.is_infinite());
        let over = is_endless_PART(ac) || is_endless_PART(bd);
        if !left && !right && !over && !is_endless_PART(ad) && !is_endless_PART(bc) {
            return Self { re, im };
        }
        let (a, b) = self.bounded();
        let (c, d) = other.bounded();
        Self { re: PART::INFINITY * (a * c - b * d), im: PART::INFINITY * (a * d + b * c) }
    }
    /// The parts; of what is infinite only the signs of those that are.
    const fn bounded(self) -> (PART, PART) {
        if self.is_infinite() {
            return (unit_PART(self.re), unit_PART(self.im));
        }
        (known_PART(self.re), known_PART(self.im))
    }
    const fn is_infinite(self) -> bool {
        is_endless_PART(self.re) || is_endless_PART(self.im)
    }
    /// The quotient, as gcc's library works it out.
    pub unsafe fn over(self, other: Self) -> Self {
        extern "C" {
            #[link_name = "DIVIDE@GCC_4.0.0"] // that of gcc: Rust brings one that rounds otherwise
            fn divided(a: PART, b: PART, c: PART, d: PART) -> NAME;
        }
        divided(self.re, self.im, other.re, other.im)
    }
}

const fn is_endless_PART(one: PART) -> bool {
    one == PART::INFINITY || one == -PART::INFINITY
}

/// 1 or -1 for what is infinite, and no more than a sign for the rest.
const fn unit_PART(one: PART) -> PART {
    if one == PART::INFINITY {
        1.0
    } else if one == -PART::INFINITY {
        -1.0
    } else {
        0.0
    }
}

/// 0 for what is no number.
const fn known_PART(one: PART) -> PART {
    if one == one {
        one
    } else {
        0.0
    }
}
"""

_WIDTHS = """
impl Complex32 {
    pub const fn widened(self) -> Complex64 {
        Complex64 { re: self.re as f64, im: self.im as f64 }
    }
}

impl Complex64 {
    pub const fn narrowed(self) -> Complex32 {
        Complex32 { re: self.re as f32, im: self.im as f32 }
    }
}
"""

SUPPORT = {
    name: (
        _FORM.replace("NAME", name)
        .replace("PART", part)
        .replace("DIVIDE", "__divdc3" if part == "f64" else "__divsc3")
    )
    for part, name in _NAMES.items()
} | {"complex_widths": _WIDTHS}
NEEDS = {"complex_widths": ("Complex32", "Complex64")}
