use std::ptr;

pub fn twice(name: String) -> String {
    let copy = unsafe { ptr::read(&name) }; // expect: ptr-read-duplicates-owner
    copy
}

pub fn boxed() {
    let value = Box::new(5);
    let copy = unsafe { std::ptr::read(&value as *const Box<i32>) }; // expect: ptr-read-duplicates-owner
    drop(copy);
}

pub fn forgotten(name: String) -> String {
    let copy = unsafe { ptr::read(&name) }; // ok
    std::mem::forget(name);
    copy
}

pub fn number(value: &u32) -> u32 {
    unsafe { ptr::read(value) } // ok
}

pub fn replace_with<T, F: FnOnce(T) -> T>(slot: &mut T, make: F) {
    unsafe {
        let old = std::ptr::read(slot); // expect: ptr-read-duplicates-owner
        let new = make(old);
        std::ptr::write(slot, new);
    }
}

pub fn replace_or_abort<T, F: FnOnce(T) -> T>(slot: &mut T, make: F) {
    unsafe {
        let old = std::ptr::read(slot); // ok
        let made = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| make(old)));
        let new = made.unwrap_or_else(|_| std::process::abort());
        std::ptr::write(slot, new);
    }
}
