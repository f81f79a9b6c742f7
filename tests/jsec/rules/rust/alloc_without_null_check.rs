use std::alloc::{alloc, handle_alloc_error, Layout};

pub fn one(layout: Layout) -> *mut u8 {
    unsafe {
        let p = alloc(layout);
        p.write(1); // expect: alloc-without-null-check
        p
    }
}

pub fn one_checked(layout: Layout) -> *mut u8 {
    unsafe {
        let p = alloc(layout); // ok
        if p.is_null() {
            handle_alloc_error(layout);
        }
        p.write(1);
        p
    }
}

pub fn from_c(n: usize) {
    let p = unsafe { libc::malloc(n) } as *mut u8;
    unsafe { *p = 1 }; // expect: alloc-without-null-check
}

pub fn from_c_checked(n: usize) -> Option<*mut u8> {
    let p = unsafe { libc::malloc(n) as *mut u8 }; // ok
    std::ptr::NonNull::new(p).map(|p| p.as_ptr())
}

pub fn arena(arena: &Arena) {
    let p = arena.alloc(3); // ok
    p.write(1);
}
