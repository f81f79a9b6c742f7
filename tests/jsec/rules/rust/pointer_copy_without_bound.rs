use std::ptr;

pub fn name(input: &[u8]) -> [u8; 16] {
    let mut name = [0u8; 16];
    unsafe {
        ptr::copy_nonoverlapping(input.as_ptr(), name.as_mut_ptr(), input.len()); // expect: pointer-copy-without-bound
    }
    name
}

pub fn too_many(input: &[u8; 64]) -> [u8; 16] {
    let mut name = [0u8; 16];
    unsafe { ptr::copy(input.as_ptr(), name.as_mut_ptr(), 32) }; // expect: pointer-copy-without-bound
    name
}

pub fn name_checked(input: &[u8]) -> [u8; 16] {
    let mut name = [0u8; 16];
    if input.len() > 16 {
        return name;
    }
    unsafe { ptr::copy_nonoverlapping(input.as_ptr(), name.as_mut_ptr(), input.len()) }; // ok
    name
}

pub fn fits(input: &[u8; 16]) -> [u8; 16] {
    let mut name = [0u8; 16];
    unsafe { ptr::copy_nonoverlapping(input.as_ptr(), name.as_mut_ptr(), 16) }; // ok
    name
}

pub unsafe fn decoded(packet: *const u8, out: *mut u8) {
    let length = u16::from_be_bytes([*packet, *packet.add(1)]) as usize;
    ptr::copy_nonoverlapping(packet.add(2), out, length); // expect: pointer-copy-without-bound
}

pub fn streams(reader: &mut R, writer: &mut W) {
    std::io::copy(reader, writer); // ok
}

pub fn into_any(dst: &mut [u8], src: &[u8]) {
    unsafe { std::ptr::copy_nonoverlapping(src.as_ptr(), dst.as_mut_ptr(), src.len()) } // expect: pointer-copy-without-bound
}

pub fn into_equal(dst: &mut [u8], src: &[u8]) {
    assert_eq!(src.len(), dst.len());
    unsafe { std::ptr::copy_nonoverlapping(src.as_ptr(), dst.as_mut_ptr(), src.len()) } // ok
}
