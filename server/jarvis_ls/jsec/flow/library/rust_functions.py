"""What functions of Rust's core and standard library do, as data.

A function is its result and its effect with the effect's parameters; `rust_model` carries effects
out. A result is a type of `rust_types` in which a number represents the type of that argument,
`"0*"` for what the argument holds, `"T"` for the first type that is written behind the name, or,
where none is, for what the value wanted holds, and `"W"` for what is wanted.
"""

from __future__ import annotations

from typing import Any

from jarvis_ls.jsec.flow.ir.c_types import ANY, CHAR
from jarvis_ls.jsec.flow.ir.rust_types import NEVER, STRING, UNIT, USIZE

Entry = tuple[Any, ...]
_U8 = ("i", 1, False)
_TAINTED = ("res", STRING)


def _each(names: str, *entry: Any) -> dict[str, Entry]:
    return dict.fromkeys(names.split(), entry)


FUNCTIONS: dict[str, Entry] = {
    # ownership
    **_each("Box::new Box::pin", ("box", 0), "@own", "Box", 0),
    **_each("Box::from Rc::new Arc::new Rc::from Arc::from", ("W",), "@like"),
    **_each("Box::into_raw Box::leak", ("p", "0*"), "@release"),
    **_each("Box::from_raw", ("box", "0*"), "@take", "Box"),
    **_each("CString::new", ("res", ("box", CHAR)), "@cstring"),
    **_each("CString::from_raw", ("box", CHAR), "@take", "CString"),
    **_each("Rc::into_raw Arc::into_raw", ("p", ANY), "@like"),
    **_each("Rc::from_raw Arc::from_raw", ANY, "@unknown"),
    **_each("CStr::from_ptr", ANY, "@reads"),
    **_each("mem::drop drop", UNIT, "@dropped"),
    **_each("mem::forget forget", UNIT, "@keep"),
    **_each("ManuallyDrop::new", ("keep", 0), "@keep"),
    **_each("NonNull::new_unchecked NonNull::from", ("p", "0*"), "@same"),
    **_each("NonNull::dangling ptr::dangling ptr::dangling_mut", ("p", "T"), "@unknown"),
    **_each("NonNull::new", ("opt", ("p", "0*")), "@optional"),
    # raw memory
    **_each("ptr::null ptr::null_mut null null_mut", ("p", "T"), "@null"),
    **_each("alloc::alloc alloc::alloc_zeroed alloc alloc_zeroed", ("p", _U8), "@alloc", "alloc"),
    **_each("alloc::dealloc dealloc", UNIT, "@free", "alloc"),
    **_each("alloc::realloc realloc", ("p", _U8), "@unknown"),
    **_each("Layout::new", ("layout",), "@layout of"),
    **_each("Layout::array", ("res", ("layout",)), "@layout of"),
    **_each("Layout::from_size_align", ("res", ("layout",)), "@layout"),
    **_each("Layout::from_size_align_unchecked", ("layout",), "@layout"),
    **_each("ptr::read ptr::read_unaligned ptr::read_volatile", "0*", "@fetch"),
    **_each("ptr::write ptr::write_unaligned ptr::write_volatile", UNIT, "@write"),
    **_each("ptr::copy_nonoverlapping ptr::copy copy_nonoverlapping", UNIT, "@copy", 0, 1),
    **_each("ptr::write_bytes write_bytes", UNIT, "@set"),
    **_each("ptr::drop_in_place drop_in_place", UNIT, "@drop in place"),
    **_each(
        "slice::from_raw_parts from_raw_parts slice::from_raw_parts_mut from_raw_parts_mut",
        ("&", ("slice", "0*")),
        "@parts",
    ),
    **_each("Vec::from_raw_parts", ("vec", "0*"), "@take", "Vec"),
    **_each("Vec::new Vec::default", ("vec", "T"), "@vector"),
    **_each("Vec::with_capacity", ("vec", "T"), "@vector"),
    **_each("MaybeUninit::uninit", ("mu", "T"), "@uninit"),
    **_each("MaybeUninit::zeroed mem::zeroed zeroed", ANY, "@unknown"),
    **_each("mem::size_of size_of", USIZE, "@size"),
    **_each("mem::replace replace", "0*", "@replace"),
    **_each("mem::take take", "0*", "@takes"),
    **_each("mem::swap swap", UNIT, "@swap"),
    # input
    **_each("env::args args", ("args",), "@source", "argv"),
    **_each("env::args_os args_os", ("args",), "@source", "argv"),
    **_each("env::var env::var_os", _TAINTED, "@source", "env::var()"),
    **_each("fs::read_to_string fs::read", _TAINTED, "@opened source", "fs::read()"),
    **_each("io::read_to_string", _TAINTED, "@source", "read_to_string()"),
    # commands and paths
    **_each("Command::new", ("cmd",), "@command"),
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
    **_each("u16::from_be_bytes u16::from_le_bytes u16::from_ne_bytes", ("i", 2, False), "@decode"),
    **_each("u32::from_be_bytes u32::from_le_bytes u32::from_ne_bytes", ("i", 4, False), "@decode"),
    **_each("u64::from_be_bytes u64::from_le_bytes u64::from_ne_bytes", USIZE, "@decode"),
    **_each("usize::from_be_bytes usize::from_le_bytes usize::from_ne_bytes", USIZE, "@decode"),
    **_each("i32::from_be_bytes i32::from_le_bytes i32::from_ne_bytes", ("i", 4, True), "@decode"),
    **_each("i64::from_be_bytes i64::from_le_bytes i64::from_ne_bytes", ("i", 8, True), "@decode"),
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
    **_each("unwrap expect unwrap_unchecked", "0*", "@unwrap"),
    **_each("unwrap_or unwrap_or_else unwrap_or_default", "0*", "@unwrap or"),
    **_each("unwrap_err expect_err err", ANY, "@like"),
    **_each("ok map_err", ("opt", "0*"), "@same tag"),
    **_each("ok_or ok_or_else", ("res", "0*"), "@same tag"),
    **_each("copied cloned as_deref as_deref_mut", 0, "@whole"),
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
    **_each("into as_ref as_mut borrow borrow_mut try_into", "W", "@like"),
    **_each("parse", ("res", "T"), "@parse"),
    **_each(
        "contains starts_with ends_with eq eq_ignore_ascii_case is_match all any matches "
        "is_absolute is_relative components file_name extension",
        ANY,
        "@checked",
    ),
    **_each("push_str push extend insert_str", UNIT, "@adds"),
    # input
    **_each("read_line read_to_string read_to_end", ("res", USIZE), "@fills", "{}()"),
    **_each("read read_exact recv recv_from peek", ("res", USIZE), "@fills", "{}()"),
    # commands
    **_each("arg args", ("&", 0), "@argument"),
    **_each("current_dir env envs stdin stdout stderr arg0 env_clear", ("&", 0), "@chain"),
    **_each("spawn output status exec", ANY, "@unknown"),
}
"""Methods, by name: the receiver is the first argument, as the address where it is."""

TESTS = ("is_some", "is_ok", "is_none", "is_err")

VALID = frozenset("valid safe check sanit allow escape quote verify clean canonical normal".split())
"""Parts of the names of functions that examine what they are given, or make it harmless."""
