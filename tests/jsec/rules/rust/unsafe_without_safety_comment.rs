pub fn first(bytes: &[u8]) -> u8 {
    unsafe { *bytes.as_ptr() } // expect: unsafe-without-safety-comment
}

pub fn above(bytes: &[u8]) -> u8 {
    // SAFETY: the caller of this module never passes an empty slice.
    unsafe { *bytes.as_ptr() } // ok
}

pub fn inside(bytes: &[u8]) -> u8 {
    unsafe { // ok
        // SAFETY: checked by the constructor.
        *bytes.as_ptr()
    }
}

pub fn chinese(bytes: &[u8]) -> u8 {
    // 安全性：调用者保证切片非空
    let first = unsafe { *bytes.as_ptr() }; // ok
    first
}

/// Reads the first byte.
///
/// # Safety
/// `p` must point to a readable byte.
pub unsafe fn documented(p: *const u8) -> u8 {
    unsafe { *p } // ok
}

pub fn in_arm(kind: u8, p: *const u8) -> u8 {
    match kind {
        // SAFETY: kind 0 always carries a valid pointer.
        0 => unsafe { *p }, // ok
        _ => unsafe { *p.add(1) }, // expect: unsafe-without-safety-comment
    }
}

pub fn behind_let(p: *const u8) -> u8 {
    let value =
        // SAFETY: valid for reads.
        unsafe { *p }; // ok
    value
}

pub fn outer_once(p: *const u8) -> u8 {
    unsafe { // expect: unsafe-without-safety-comment
        let inner = unsafe { *p };
        inner
    }
}

const RAW: &str = r#"unsafe { /* only text */ }"#; // ok
