pub fn from_c() -> Box<u8> {
    let p = unsafe { libc::malloc(16) } as *mut u8;
    unsafe { Box::from_raw(p) } // expect: box-from-foreign-memory
}

pub fn from_strdup(text: *const i8) -> CString {
    unsafe { CString::from_raw(libc::strdup(text)) } // expect: box-from-foreign-memory
}

pub fn from_stack() -> Box<u32> {
    let mut value = 5u32;
    let p = &mut value as *mut u32;
    unsafe { Box::from_raw(p) } // expect: box-from-foreign-memory
}

pub fn from_live_vec(mut bytes: Vec<u8>) -> Vec<u8> {
    let p = bytes.as_mut_ptr();
    unsafe { Vec::from_raw_parts(p, bytes.len(), bytes.capacity()) } // expect: box-from-foreign-memory
}

pub fn from_forgotten(mut bytes: Vec<u8>) -> Vec<u8> {
    let p = bytes.as_mut_ptr();
    let (length, capacity) = (bytes.len(), bytes.capacity());
    std::mem::forget(bytes);
    unsafe { Vec::from_raw_parts(p, length, capacity) } // ok
}

pub fn round_trip(value: Box<u32>) -> Box<u32> {
    let p = Box::into_raw(value);
    unsafe { Box::from_raw(p) } // ok
}

pub unsafe fn given(p: *mut u32) -> Box<u32> {
    Box::from_raw(p) // ok
}
