use std::ffi::CString;

pub fn buffer() -> *const u8 {
    let buffer = [0u8; 64];
    buffer.as_ptr() // expect: pointer-to-local-returned
}

pub fn number() -> *mut u32 {
    let mut number = 5u32;
    return &mut number as *mut u32; // expect: pointer-to-local-returned
}

#[no_mangle]
pub extern "C" fn name() -> *const i8 {
    let name = CString::new("x").unwrap_or_default();
    name.as_ptr() // expect: pointer-to-local-returned
}

pub fn given_back() -> *mut i8 {
    let name = CString::new("x").unwrap_or_default();
    name.into_raw() // ok
}

pub fn of_slice(bytes: &[u8]) -> *const u8 {
    bytes.as_ptr() // ok
}

pub fn of_field(&self) -> *const u8 {
    let bytes = &self.bytes;
    bytes.as_ptr() // ok
}

pub fn of_static() -> *const u8 {
    TABLE.as_ptr() // ok
}
