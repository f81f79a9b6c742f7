#[no_mangle]
pub fn checksum(p: *const u8, n: usize) -> u32 { 0 } // expect: no-mangle-without-extern-c

#[unsafe(no_mangle)]
pub unsafe fn reset() {} // expect: no-mangle-without-extern-c

#[no_mangle]
pub extern "C" fn add(a: u32, b: u32) -> u32 { a.wrapping_add(b) } // ok

#[export_name = "js_add"]
pub extern "system" fn exported(a: u32) -> u32 { a } // ok

#[inline]
pub fn plain() {} // ok
