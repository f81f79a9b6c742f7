use std::os::raw::c_char;

#[no_mangle]
pub extern "C" fn count(text: *const c_char) -> u32 {
    parse(text).unwrap() // expect: panic-across-ffi
}

#[no_mangle]
pub unsafe extern "C" fn mode(kind: u32) -> u32 {
    match kind {
        0 => 1,
        _ => panic!("unknown kind"), // expect: panic-across-ffi
    }
}

#[no_mangle]
pub extern "C" fn caught(text: *const c_char) -> u32 {
    std::panic::catch_unwind(|| parse(text).unwrap()).unwrap_or(0) // ok
}

#[no_mangle]
pub extern "C" fn table(i: usize) -> u32 {
    TABLE[i] // expect: panic-across-ffi
}

#[no_mangle]
pub extern "C" fn table_checked(i: usize) -> u32 {
    if i >= TABLE.len() {
        return 0;
    }
    TABLE[i] // ok
}

pub extern "C-unwind" fn unwinding(text: *const c_char) -> u32 {
    parse(text).unwrap() // ok
}

pub fn in_rust(text: *const c_char) -> u32 {
    parse(text).unwrap() // ok
}
