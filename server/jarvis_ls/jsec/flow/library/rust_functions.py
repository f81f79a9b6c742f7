"""What functions of Rust's core and standard library do, as data.

A function is its result and its effect with the effect's parameters; `rust_model` carries effects
out. A result is a type in which the placeholders of `rust_types` may stand.
"""

from __future__ import annotations

from typing import Any

from jarvis_ls.jsec.flow.ir.c_types import ANY, CHAR
from jarvis_ls.jsec.flow.ir.rust_types import (
    COMMAND,
    FIRST,
    HELD,
    NAMED,
    NEVER,
    STRING,
    UNIT,
    USIZE,
    WANTED,
)
from jarvis_ls.jsec.flow.ir.types import (
    Box,
    Kept,
    Option,
    Result,
    Slice,
    Uninit,
    Vector,
    integer,
    opaque,
    pointer_to,
    reference_to,
    wrapped,
)

Entry = tuple[Any, ...]
_U8 = integer(1, False)
_LAYOUT = opaque("layout")
_ARGUMENTS = opaque("args")
_TAINTED = wrapped(Result, STRING)


def _each(names: str, *entry: Any) -> dict[str, Entry]:
    return dict.fromkeys(names.split(), entry)


FUNCTIONS: dict[str, Entry] = {
    # ownership
    **_each("Box::new Box::pin", wrapped(Box, FIRST), "@own", "Box", 0),
    **_each("Box::from Rc::new Arc::new Rc::from Arc::from", WANTED, "@like"),
    **_each("Box::into_raw Box::leak", pointer_to(HELD), "@release"),
    **_each("Box::from_raw", wrapped(Box, HELD), "@take", "Box"),
    **_each("CString::new", wrapped(Result, wrapped(Box, CHAR)), "@cstring"),
    **_each("CString::from_raw", wrapped(Box, CHAR), "@take", "CString"),
    **_each("Rc::into_raw Arc::into_raw", pointer_to(ANY), "@like"),
    **_each("Rc::from_raw Arc::from_raw", ANY, "@unknown"),
    **_each("CStr::from_ptr", ANY, "@reads"),
    **_each("mem::drop drop", UNIT, "@dropped"),
    **_each("mem::forget forget", UNIT, "@keep"),
    **_each("ManuallyDrop::new", wrapped(Kept, FIRST), "@keep"),
    **_each("NonNull::new_unchecked NonNull::from", pointer_to(HELD), "@same"),
    **_each("NonNull::dangling ptr::dangling ptr::dangling_mut", pointer_to(NAMED), "@unknown"),
    **_each("NonNull::new", wrapped(Option, pointer_to(HELD)), "@optional"),
    # raw memory
    **_each("ptr::null ptr::null_mut null null_mut", pointer_to(NAMED), "@null"),
    **_each(
        "alloc::alloc alloc::alloc_zeroed alloc alloc_zeroed", pointer_to(_U8), "@alloc", "alloc"
    ),
    **_each("alloc::dealloc dealloc", UNIT, "@free", "alloc"),
    **_each("alloc::realloc realloc", pointer_to(_U8), "@unknown"),
    **_each("Layout::new", _LAYOUT, "@layout of"),
    **_each("Layout::array", wrapped(Result, _LAYOUT), "@layout of"),
    **_each("Layout::from_size_align", wrapped(Result, _LAYOUT), "@layout"),
    **_each("Layout::from_size_align_unchecked", _LAYOUT, "@layout"),
    **_each("ptr::read ptr::read_unaligned ptr::read_volatile", HELD, "@fetch"),
    **_each("ptr::write ptr::write_unaligned ptr::write_volatile", UNIT, "@write"),
    **_each("ptr::copy_nonoverlapping ptr::copy copy_nonoverlapping", UNIT, "@copy", 0, 1),
    **_each("ptr::write_bytes write_bytes", UNIT, "@set"),
    **_each("ptr::drop_in_place drop_in_place", UNIT, "@drop in place"),
    **_each(
        "slice::from_raw_parts from_raw_parts slice::from_raw_parts_mut from_raw_parts_mut",
        reference_to(wrapped(Slice, HELD)),
        "@parts",
    ),
    **_each("Vec::from_raw_parts", wrapped(Vector, HELD), "@take", "Vec"),
    **_each("Vec::new Vec::default", wrapped(Vector, NAMED), "@vector"),
    **_each("Vec::with_capacity", wrapped(Vector, NAMED), "@vector"),
    **_each("MaybeUninit::uninit", wrapped(Uninit, NAMED), "@uninit"),
    **_each("MaybeUninit::zeroed mem::zeroed zeroed", ANY, "@unknown"),
    **_each("mem::size_of size_of", USIZE, "@size"),
    **_each("mem::replace replace", HELD, "@replace"),
    **_each("mem::take take", HELD, "@takes"),
    **_each("mem::swap swap", UNIT, "@swap"),
    # input
    **_each("env::args args", _ARGUMENTS, "@source", "argv"),
    **_each("env::args_os args_os", _ARGUMENTS, "@source", "argv"),
    **_each("env::var env::var_os", _TAINTED, "@source", "env::var()"),
    **_each("fs::read_to_string fs::read", _TAINTED, "@opened source", "fs::read()"),
    **_each("io::read_to_string", _TAINTED, "@source", "read_to_string()"),
    # commands and paths
    **_each("Command::new", COMMAND, "@command"),
    **_each(
        "File::open File::create fs::remove_file fs::remove_dir_all fs::write fs::create_dir "
        "fs::create_dir_all fs::remove_dir fs::rename fs::copy fs::metadata fs::read_dir "
        "remove_file OpenOptions::open",
        ANY,
        "@path",
    ),
    **_each(
        "Path::new PathBuf::from String::from OsString::from String::from_utf8_lossy "
        "str::from_utf8 String::from_utf8 OsStr::new Cow::from Cow::Borrowed String::from_iter "
        "from_utf8",
        ANY,
        "@like",
    ),
    **_each("fs::canonicalize", ANY, "@unknown"),
    # numbers
    **_each(
        "u16::from_be_bytes u16::from_le_bytes u16::from_ne_bytes", integer(2, False), "@decode"
    ),
    **_each(
        "u32::from_be_bytes u32::from_le_bytes u32::from_ne_bytes", integer(4, False), "@decode"
    ),
    **_each("u64::from_be_bytes u64::from_le_bytes u64::from_ne_bytes", USIZE, "@decode"),
    **_each("usize::from_be_bytes usize::from_le_bytes usize::from_ne_bytes", USIZE, "@decode"),
    **_each(
        "i32::from_be_bytes i32::from_le_bytes i32::from_ne_bytes", integer(4, True), "@decode"
    ),
    **_each(
        "i64::from_be_bytes i64::from_le_bytes i64::from_ne_bytes", integer(8, True), "@decode"
    ),
    # ends
    **_each(
        "process::exit process::abort exit abort handle_alloc_error panic_any "
        "alloc::handle_alloc_error resume_unwind",
        NEVER,
        "@stop",
    ),
    **_each("hint::unreachable_unchecked unreachable_unchecked", NEVER, "@stop"),
    **_each(
        "thread::sleep hint::black_box thread::yield_now io::stdout io::stderr io::stdin "
        "Instant::now",
        ANY,
        "@unknown",
    ),
}
"""By the last two names of the path, or the last one where that is written alone."""
FUNCTIONS.update({name: (*entry, name) for name, entry in FUNCTIONS.items() if entry[1] == "@path"})

METHODS: dict[str, Entry] = {
    # of options and results
    **_each("unwrap expect unwrap_unchecked", HELD, "@unwrap"),
    **_each("unwrap_or unwrap_or_else unwrap_or_default", HELD, "@unwrap or"),
    **_each("unwrap_err expect_err err", ANY, "@like"),
    **_each("ok map_err", wrapped(Option, HELD), "@same tag"),
    **_each("ok_or ok_or_else", wrapped(Result, HELD), "@same tag"),
    **_each("copied cloned as_deref as_deref_mut", FIRST, "@whole"),
    **_each("map and_then filter or or_else map_or map_or_else then then_some", ANY, "@like"),
    # of texts and iterators
    **_each(
        "to_string to_owned to_lowercase to_uppercase to_str to_string_lossy as_str as_bytes "
        "trim trim_end trim_start trim_matches into_string into_os_string as_os_str as_path "
        "to_path_buf replace chars lines split split_whitespace splitn rsplit split_once nth "
        "next last skip take collect join strip_prefix strip_suffix into_bytes into_boxed_str "
        "concat repeat get first chunks into_owned display rev as_mut_str split_at bytes "
        "into_iter iter peekable enumerate as_slice to_vec",
        ANY,
        "@like",
    ),
    **_each("into as_ref as_mut borrow borrow_mut try_into", WANTED, "@like"),
    **_each("parse", wrapped(Result, NAMED), "@parse"),
    **_each(
        "contains starts_with ends_with eq eq_ignore_ascii_case is_match all any matches "
        "is_absolute is_relative components file_name extension",
        ANY,
        "@checked",
    ),
    **_each("push_str push extend insert_str", UNIT, "@adds"),
    # input
    **_each("read_line read_to_string read_to_end", wrapped(Result, USIZE), "@fills", "{}()"),
    **_each("read read_exact recv recv_from peek", wrapped(Result, USIZE), "@fills", "{}()"),
    # commands
    **_each("arg args", reference_to(FIRST), "@argument"),
    **_each(
        "current_dir env envs stdin stdout stderr arg0 env_clear", reference_to(FIRST), "@chain"
    ),
    **_each("spawn output status exec", ANY, "@unknown"),
}
"""Methods, by name: the receiver is the first argument, as the address where it is."""

TESTS = ("is_some", "is_ok", "is_none", "is_err")

VALID = frozenset("valid safe check sanit allow escape quote verify clean canonical normal".split())
"""Parts of the names of functions that examine what they are given, or make it harmless."""
