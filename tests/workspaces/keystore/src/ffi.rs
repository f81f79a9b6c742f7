//! What C programs call.

use std::ffi::{c_char, c_int, CStr, CString};
use std::path::Path;

use crate::file::KeyFile;
use crate::record::KEY_LENGTH;

/// Copies the key called `name` to `key`, which has room for `length` bytes; 0 when there is one.
#[no_mangle]
pub extern "C" fn keystore_get(
    path: *const c_char,
    name: *const c_char,
    key: *mut u8,
    length: usize,
) -> c_int {
    let path = unsafe { CStr::from_ptr(path) }.to_str().unwrap();
    let name = unsafe { CStr::from_ptr(name) }.to_string_lossy();
    let records = KeyFile::new(Path::new(path)).load();
    let Some(record) = records.iter().find(|record| record.name == name) else {
        return -1;
    };
    if length < KEY_LENGTH {
        return -2;
    }
    unsafe { std::ptr::copy_nonoverlapping(record.key.as_ptr(), key, length) };
    0
}

/// How many keys there are.
#[no_mangle]
pub extern "C" fn keystore_count(path: *const c_char) -> u8 {
    if path.is_null() {
        return 0;
    }
    // SAFETY: not null, and the caller passes a string that ends with a zero byte.
    let path = unsafe { CStr::from_ptr(path) };
    let Ok(path) = path.to_str() else {
        return 0;
    };
    KeyFile::new(Path::new(path)).load().len() as u8
}

/// The version; to be given back to `keystore_free`.
#[no_mangle]
pub extern "C" fn keystore_version() -> *mut c_char {
    CString::new(env!("CARGO_PKG_VERSION")).map_or(std::ptr::null_mut(), CString::into_raw)
}

/// Frees what `keystore_version` returned.
///
/// # Safety
/// `text` comes from `keystore_version` and was not freed before.
#[no_mangle]
pub unsafe extern "C" fn keystore_free(text: *mut c_char) {
    if !text.is_null() {
        // SAFETY: the caller keeps the promise of this function.
        drop(unsafe { CString::from_raw(text) });
    }
}
