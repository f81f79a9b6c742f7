pub fn read(p: *const u8) -> u8 {
    unsafe { *p } // expect: raw-pointer-deref-in-safe-fn
}

pub fn read_at(p: *const u8, i: usize) -> u8 {
    unsafe { *p.add(i) } // expect: raw-pointer-deref-in-safe-fn
}

pub fn view<'a>(p: *const u8, n: usize) -> &'a [u8] {
    unsafe { std::slice::from_raw_parts(p, n) } // expect: raw-pointer-deref-in-safe-fn
}

/// # Safety
/// `p` must be valid.
pub unsafe fn read_unsafe(p: *const u8) -> u8 {
    *p // ok
}

pub fn compare(p: *const u8, q: *const u8) -> bool {
    p == q // ok
}

pub fn times(p: usize, q: usize) -> usize {
    p * q // ok
}

fn helper(p: *mut u32) {
    unsafe { p.write(1) } // expect: raw-pointer-deref-in-safe-fn
}

cfg_if::cfg_if! {
    if #[cfg(unix)] {
        pub fn first(p: *const u8) -> u8 {
            unsafe { *p } // expect: raw-pointer-deref-in-safe-fn
        }
    } else {
        pub fn first(p: *const u8, q: *const u8) -> bool {
            p == q // ok
        }
    }
}
