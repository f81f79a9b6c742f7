use std::ptr::NonNull;

pub fn node(p: *mut u8) -> NonNull<u8> {
    unsafe { NonNull::new_unchecked(p) } // expect: unchecked-constructor
}

pub fn letter(bytes: [u8; 4]) -> char {
    let code = u32::from_le_bytes(bytes);
    unsafe { char::from_u32_unchecked(code) } // expect: unchecked-constructor
}

pub fn first(list: &[u8]) -> u8 {
    unsafe { *list.first().unwrap_unchecked() } // expect: unchecked-constructor
}

pub fn other(kind: u8) -> u8 {
    match kind {
        0 => 1,
        _ => unsafe { std::hint::unreachable_unchecked() }, // expect: unchecked-constructor
    }
}

pub fn tested(p: *mut u8) -> Option<NonNull<u8>> {
    if p.is_null() {
        return None;
    }
    Some(unsafe { NonNull::new_unchecked(p) }) // ok
}

pub fn from_box(value: Box<u8>) -> NonNull<u8> {
    unsafe { NonNull::new_unchecked(Box::into_raw(value)) } // ok
}

pub fn argued(code: u32) -> char {
    // SAFETY: `code` came out of a char.
    unsafe { char::from_u32_unchecked(code) } // ok
}

pub fn checked(code: u32) -> Option<char> {
    char::from_u32(code) // ok
}
