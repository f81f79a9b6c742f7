use std::ffi::CString;
use std::os::raw::c_char;

pub extern "C" fn version() -> *mut c_char {
    CString::new("1.0").unwrap_or_default().into_raw() // expect: into-raw-never-taken-back
}

pub fn handle(state: Box<State>) -> *mut State {
    Box::into_raw(state) // expect: into-raw-never-taken-back
}

pub fn plain(value: u32) -> *const u32 {
    &value // ok
}

pub fn kept(statement: Statement) -> RawStatement {
    statement.into_raw() // ok
}
