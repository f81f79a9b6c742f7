use std::mem;

pub fn id(tag: u32) -> u64 {
    unsafe { mem::transmute_copy(&tag) } // expect: transmute-copy
}

pub fn id_checked(tag: u32) -> u64 {
    u64::from(tag) // ok
}
