use std::alloc::{alloc, Layout};

pub fn image(width: usize, height: usize) -> *mut u8 {
    let layout = Layout::from_size_align(width * height, 8).unwrap(); // expect: multiplied-allocation-size
    unsafe { alloc(layout) }
}

pub fn image_checked(width: usize, height: usize) -> Option<Layout> {
    let size = width.checked_mul(height)?;
    Layout::from_size_align(size, 8).ok() // ok
}

pub fn c_block(count: usize, text: &str) -> *mut libc::c_void {
    let size: usize = text.parse().unwrap();
    unsafe { libc::malloc(count * size) } // expect: multiplied-allocation-size
}

pub fn vector(rows: usize, columns: usize) -> Vec<u8> {
    Vec::with_capacity(rows * columns) // expect: multiplied-allocation-size
}

pub fn doubled(text: &str) -> String {
    String::with_capacity(text.len() * 2) // ok
}

pub fn bounded(width: usize, height: usize) -> Vec<u8> {
    if width > 4096 || height > 4096 {
        return Vec::new();
    }
    Vec::with_capacity(width * height) // ok
}
