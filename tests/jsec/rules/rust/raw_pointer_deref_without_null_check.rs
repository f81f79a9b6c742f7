use std::ptr;

pub struct List { len: usize }

#[no_mangle]
pub unsafe extern "C" fn length(list: *const List) -> usize {
    (*list).len // expect: raw-pointer-deref-without-null-check
}

#[no_mangle]
pub unsafe extern "C" fn length_checked(list: *const List) -> usize {
    if list.is_null() {
        return 0;
    }
    (*list).len // ok
}

pub unsafe extern "C" fn length_ref(list: *const List) -> usize {
    match list.as_ref() {
        Some(list) => list.len, // ok
        None => 0,
    }
}

pub unsafe extern "C" fn asserted(list: *const List) -> usize {
    assert!(!list.is_null());
    (*list).len // ok
}

pub unsafe fn undocumented(p: *mut u32) {
    *p = 4; // expect: raw-pointer-deref-without-null-check
}

/// # Safety
/// `p` must be valid.
pub unsafe fn documented(p: *mut u32) {
    *p = 4; // ok
}

pub fn null_local() -> u32 {
    let p: *const u32 = ptr::null();
    unsafe { *p } // expect: raw-pointer-deref-without-null-check
}

pub fn set_local(value: &u32) -> u32 {
    let mut p: *const u32 = ptr::null();
    p = value;
    unsafe { *p } // ok
}

pub fn filled_local() -> u32 {
    let mut p: *mut u32 = ptr::null_mut();
    unsafe {
        fill(&mut p);
        *p // ok
    }
}

pub fn reference(p: &u32) -> u32 {
    *p // ok
}

pub fn null_in_macro() {
    let p: *const u32 = ptr::null();
    unsafe { println!("{}", *p) }; // expect: raw-pointer-deref-without-null-check
}
