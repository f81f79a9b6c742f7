#[no_mangle]
pub unsafe extern "C" fn release(p: *mut u8, len: usize) {
    drop(Vec::from_raw_parts(p, len, len)); // expect: vec-from-raw-parts
}

pub unsafe fn text(p: *mut u8, len: usize, capacity: usize) -> String {
    String::from_raw_parts(p, len, capacity) // expect: vec-from-raw-parts
}

pub unsafe fn argued(p: *mut u8, len: usize, capacity: usize) -> Vec<u8> {
    // SAFETY: all three come from `into_parts` below.
    Vec::from_raw_parts(p, len, capacity) // ok
}

pub fn same_function(bytes: Vec<u8>) -> Vec<u8> {
    let mut bytes = std::mem::ManuallyDrop::new(bytes);
    unsafe { Vec::from_raw_parts(bytes.as_mut_ptr(), bytes.len(), bytes.capacity()) } // ok
}

pub unsafe fn slice<'a>(p: *const u8, len: usize) -> &'a [u8] {
    std::slice::from_raw_parts(p, len) // ok
}

pub fn capacity_forgotten(mut v: Vec<u8>) -> Vec<u8> {
    let p = v.as_mut_ptr();
    let n = v.len();
    std::mem::forget(v);
    unsafe { Vec::from_raw_parts(p, n, n) } // expect: vec-from-raw-parts
}
