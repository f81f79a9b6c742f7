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

pub fn told_once(p: *const u8) -> u8 {
    let one = unsafe { *p }; // expect: unsafe-without-safety-comment
    let two = unsafe { *p.add(1) }; // ok
    // SAFETY: the third byte is always there.
    let three = unsafe { *p.add(2) }; // ok
    fn inner(p: *const u8) -> u8 {
        unsafe { *p } // expect: unsafe-without-safety-comment
    }
    one + two + three + inner(p)
}

pub fn argued(p: *const u8, flag: bool) -> u8 {
    // The flag was seen, therefore it is now safe to read the value.
    let one = unsafe { *p }; // ok
    // u8 has no invalid values, so safe to read.
    let two = unsafe { *p.add(1) }; // ok
    // Safe: `p` comes from a slice.
    let three = unsafe { *p.add(2) }; // ok
    one + two + three + u8::from(flag)
}

pub fn argued_against(p: *const u8) -> u8 {
    // This is not safe to call twice.
    unsafe { *p } // expect: unsafe-without-safety-comment
}

static FIRST: u8 = unsafe { *BYTES.as_ptr() }; // expect: unsafe-without-safety-comment

const RAW: &str = r#"unsafe { /* only text */ }"#; // ok
