use std::slice;

#[no_mangle]
pub unsafe extern "C" fn sum(p: *const u8, n: usize) -> u32 {
    slice::from_raw_parts(p, n).iter().map(|b| *b as u32).sum() // expect: slice-from-unchecked-parts
}

#[no_mangle]
pub unsafe extern "C" fn sum_checked(p: *const u8, n: usize) -> u32 {
    if p.is_null() {
        return 0;
    }
    slice::from_raw_parts(p, n).iter().map(|b| *b as u32).sum() // ok
}

pub unsafe fn payload(packet: *const u8) -> &'static [u8] {
    let length = u16::from_be_bytes([*packet, *packet.add(1)]) as usize;
    slice::from_raw_parts(packet.add(2), length) // expect: slice-from-unchecked-parts
}

pub unsafe fn payload_checked(packet: *const u8, size: usize) -> &'static [u8] {
    let length = u16::from_be_bytes([*packet, *packet.add(1)]) as usize;
    if length + 2 > size {
        return &[];
    }
    slice::from_raw_parts(packet.add(2), length) // ok
}

pub fn bytes_of(words: &[u32]) -> &[u8] {
    // SAFETY: any four bytes are valid u8.
    unsafe { slice::from_raw_parts(words.as_ptr().cast(), words.len() * 4) } // ok
}

pub fn too_long() -> u8 {
    let table = [1u8; 10];
    let all = unsafe { slice::from_raw_parts(table.as_ptr(), 20) }; // expect: slice-from-unchecked-parts
    all[0]
}

pub fn part() -> u8 {
    let table = [1u8; 10];
    let all = unsafe { slice::from_raw_parts(table.as_ptr(), 10) }; // ok
    all[0]
}

#[repr(C)]
pub struct Blob {
    size: u32,
    data: *const u8,
}

#[no_mangle]
pub extern "C" fn blob_sum(blob: Blob) -> u32 {
    let all = unsafe { slice::from_raw_parts(blob.data, blob.size as usize) }; // expect: slice-from-unchecked-parts
    all.iter().map(|b| *b as u32).sum()
}

#[no_mangle]
pub extern "C" fn blob_sum_checked(blob: Blob) -> u32 {
    if blob.data.is_null() || blob.size > 4096 {
        return 0;
    }
    let all = unsafe { slice::from_raw_parts(blob.data, blob.size as usize) }; // ok
    all.iter().map(|b| *b as u32).sum()
}

fn own_blob_sum(blob: Blob) -> u32 {
    let all = unsafe { slice::from_raw_parts(blob.data, blob.size as usize) }; // ok
    all.iter().map(|b| *b as u32).sum()
}
