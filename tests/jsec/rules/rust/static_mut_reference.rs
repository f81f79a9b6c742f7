use std::ptr::addr_of_mut;

static mut LOG: Vec<u8> = Vec::new();
static SAFE: u32 = 0;

pub fn log() -> &'static mut Vec<u8> {
    unsafe { &mut LOG } // expect: static-mut-reference
}

pub fn look() -> usize {
    let log = unsafe { &LOG }; // expect: static-mut-reference
    log.len()
}

pub fn pointer() -> *mut Vec<u8> {
    unsafe { addr_of_mut!(LOG) } // ok
}

pub unsafe fn raw() -> *mut Vec<u8> {
    let _look = (&raw const LOG as *const u8).cast::<u32>(); // ok
    &raw mut LOG // ok
}

pub fn shared() -> &'static u32 {
    &SAFE // ok
}

pub fn shadowed() -> usize {
    let LOG = 3;
    use_it(&LOG); // ok
    0
}
