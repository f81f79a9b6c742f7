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
