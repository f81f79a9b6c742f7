"""What translated code needs that Rust's core does not offer, each only where it is used."""

from __future__ import annotations

from collections.abc import Iterable

from jarvis_ls.jc2r.translate import complex_numbers

_BITS = {
    "get_bits": """
/// The `width` bits from bit `offset` of a record on.
#[inline(always)]
pub const unsafe fn get_bits(record: *const u8, offset: usize, width: usize) -> u64 {
    let mut value: u128 = 0;
    let first = offset / 8;
    let last = (offset + width + 7) / 8;
    let mut at = first;
    while at < last {
        value |= (*record.add(at) as u128) << (8 * (at - first));
        at += 1;
    }
    ((value >> (offset % 8)) as u64) & (u64::MAX >> (64 - width))
}
""",
    "set_bits": """
/// Sets the `width` bits from bit `offset` of a record on.
#[inline(always)]
pub const unsafe fn set_bits(record: *mut u8, offset: usize, width: usize, value: u64) {
    let mut bit = 0;
    while bit < width {
        let byte = record.add((offset + bit) / 8);
        let take = if width - bit < 8 - (offset + bit) % 8 {
            width - bit
        } else {
            8 - (offset + bit) % 8
        };
        let shift = (offset + bit) % 8;
        let mask = (((1u16 << take) - 1) << shift) as u8;
        *byte = (*byte & !mask) | ((((value >> bit) << shift) as u8) & mask);
        bit += take;
    }
}
""",
}

_SIZES = ((1, "U8", "u8"), (2, "U16", "u16"), (4, "U32", "u32"), (8, "U64", "u64"))


def _arms(form: str) -> str:
    return (
        "\n".join(
            f"        {size} => {{ let at = core::sync::atomic::Atomic{name}::from_ptr(at as *mut "
            f"{rust}); {form.replace('RUST', rust)} }}"
            for size, name, rust in _SIZES
        )
        + "\n        _ => std::process::abort(),"
    )


_ORDER = "core::sync::atomic::Ordering::SeqCst"
_ATOMIC = {
    "atomic_load": f"""
/// The `size` bytes at an address, read as one.
#[inline(always)]
pub unsafe fn atomic_load(at: *mut core::ffi::c_void, size: usize) -> u64 {{
    match size {{
{_arms(f"at.load({_ORDER}) as u64")}
    }}
}}
""",
    "atomic_store": f"""
/// Sets the `size` bytes at an address as one.
#[inline(always)]
pub unsafe fn atomic_store(at: *mut core::ffi::c_void, size: usize, value: u64) {{
    match size {{
{_arms(f"at.store(value as RUST, {_ORDER})")}
    }}
}}
""",
    "atomic_compare": f"""
/// Sets the `size` bytes at an address to `new` if they are `old`; gives what they were.
#[inline(always)]
pub unsafe fn atomic_compare(
    at: *mut core::ffi::c_void, size: usize, old: u64, new: u64,
) -> Result<u64, u64> {{
    match size {{
{
        _arms(
            f"at.compare_exchange(old as RUST, new as RUST, {_ORDER}, {_ORDER})"
            ".map(|one| one as u64).map_err(|one| one as u64)"
        )
    }
    }}
}}
""",
    "atomic_update": """
/// Changes the `size` bytes at an address as one; gives what they were and what they are.
#[inline(always)]
pub unsafe fn atomic_update(
    at: *mut core::ffi::c_void, size: usize, change: impl Fn(u64) -> u64,
) -> (u64, u64) {
    let mut old = atomic_load(at, size);
    loop {
        let new = change(old);
        match atomic_compare(at, size, old, new) {
            Ok(_) => return (old, new),
            Err(other) => old = other,
        }
    }
}
""",
    "atomic_expect": """
/// Sets the `size` bytes at an address to `new` if they are those at `old`, or else the latter.
#[inline(always)]
pub unsafe fn atomic_expect(
    at: *mut core::ffi::c_void, size: usize, old: *mut core::ffi::c_void, new: u64,
) -> bool {
    match atomic_compare(at, size, atomic_load(old, size), new) {
        Ok(_) => true,
        Err(other) => {
            atomic_store(old, size, other);
            false
        }
    }
}
""",
}
_ATOMIC_NEEDS = {
    "atomic_update": ("atomic_load", "atomic_compare"),
    "atomic_expect": ("atomic_load", "atomic_store", "atomic_compare"),
}

_VARIADIC = {
    "va_word": """
/// Where the next `size` bytes of arguments lie that travel in whole registers.
pub unsafe fn va_word(list: *mut __va_list_tag, size: usize) -> *mut core::ffi::c_void {
    let take = (size + 7) / 8 * 8;
    if (*list).gp_offset as usize + take <= 48 {
        let at = ((*list).reg_save_area as *mut u8).add((*list).gp_offset as usize);
        (*list).gp_offset += take as u32;
        return at as *mut core::ffi::c_void;
    }
    va_memory(list, size, 8)
}
""",
    "va_float": """
/// Where the next floating argument lies.
pub unsafe fn va_float(list: *mut __va_list_tag) -> *mut core::ffi::c_void {
    if ((*list).fp_offset as usize) < 176 {
        let at = ((*list).reg_save_area as *mut u8).add((*list).fp_offset as usize);
        (*list).fp_offset += 16;
        return at as *mut core::ffi::c_void;
    }
    va_memory(list, 8, 8)
}
""",
    "va_memory": """
/// Where the next argument lies that was passed in memory.
pub unsafe fn va_memory(
    list: *mut __va_list_tag, size: usize, align: usize,
) -> *mut core::ffi::c_void {
    let mut at = (*list).overflow_arg_area as usize;
    if align > 8 {
        at = (at + align - 1) / align * align;
    }
    (*list).overflow_arg_area = (at + (size + 7) / 8 * 8) as *mut core::ffi::c_void;
    at as *mut core::ffi::c_void
}
""",
}
_ALIGNED = {
    f"Aligned{to}": f"""
/// A variable that is aligned to {to} bytes.
#[repr(C, align({to}))]
#[derive(Clone, Copy)]
pub struct Aligned{to}<T>(pub T);
"""
    for to in (2**n for n in range(1, 17))
}
_LEAVING = {
    "OnLeave": """
/// Does something when it is left.
pub struct OnLeave<F: FnMut()>(pub F);

impl<F: FnMut()> Drop for OnLeave<F> {
    fn drop(&mut self) {
        (self.0)()
    }
}
""",
}
_TEXTS = {
    name: f"""
/// The {said} of a text, with zeros behind them.
pub const fn {name}<const N: usize>(text: &[u8]) -> [{kind}; N] {{
    let mut found = [0; N];
    let mut at = 0;
    while at < text.len() {{
        found[at] = text[at]{cast};
        at += 1;
    }}
    found
}}
"""
    for name, said, kind, cast in (
        ("letters", "letters", "i8", " as i8"),
        ("bytes", "bytes", "u8", ""),
    )
}
_ALL = {
    **_TEXTS,
    **_LEAVING,
    **_ALIGNED,
    **_BITS,
    **_ATOMIC,
    **_VARIADIC,
    **complex_numbers.SUPPORT,
}
_NEEDS = {
    **_ATOMIC_NEEDS,
    **complex_numbers.NEEDS,
    "va_word": ("va_memory",),
    "va_float": ("va_memory",),
}


def support(needed: Iterable[str]) -> str:
    """Definitions of what modules use, and of what these use in turn."""
    wanted: set[str] = set()
    queue = list(needed)
    while queue:
        name = queue.pop()
        if name not in wanted:
            wanted.add(name)
            queue += _NEEDS.get(name, ())
    return "".join(code for name, code in _ALL.items() if name in wanted)
