use std::ffi::{CStr, CString};
use std::os::raw::c_char;

#[no_mangle]
pub unsafe extern "C" fn set_name(name: *const c_char) {
    let name = CStr::from_ptr(name); // expect: cstr-from-unchecked-pointer
    store(name);
}

#[no_mangle]
pub unsafe extern "C" fn set_name_checked(name: *const c_char) {
    if name.is_null() {
        return;
    }
    store(CStr::from_ptr(name)); // ok
}

#[no_mangle]
pub unsafe extern "C" fn release(name: *mut c_char) {
    drop(CString::from_raw(name)); // expect: cstr-from-unchecked-pointer
}

pub fn home() -> String {
    unsafe { CStr::from_ptr(libc::getenv(b"HOME\0".as_ptr().cast())) } // expect: cstr-from-unchecked-pointer
        .to_string_lossy()
        .into_owned()
}

pub fn home_checked() -> Option<String> {
    let p = unsafe { libc::getenv(b"HOME\0".as_ptr().cast()) };
    if p.is_null() {
        return None;
    }
    Some(unsafe { CStr::from_ptr(p) }.to_string_lossy().into_owned()) // ok
}

pub fn boxed(p: *mut u8) -> Box<u8> {
    unsafe { Box::from_raw(p) } // ok
}
