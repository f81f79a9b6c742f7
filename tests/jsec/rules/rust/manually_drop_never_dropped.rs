use std::mem::ManuallyDrop;

pub fn leak(size: usize) {
    let buffer = ManuallyDrop::new(vec![0u8; size]); // expect: manually-drop-never-dropped
    process(&buffer);
}

pub fn dropped(size: usize) {
    let mut buffer = ManuallyDrop::new(vec![0u8; size]); // ok
    process(&buffer);
    unsafe { ManuallyDrop::drop(&mut buffer) };
}

pub fn returned(size: usize) -> ManuallyDrop<Vec<u8>> {
    let buffer = ManuallyDrop::new(vec![0u8; size]); // ok
    buffer
}

pub fn parts(bytes: Vec<u8>) -> *const u8 {
    let bytes = ManuallyDrop::new(bytes); // ok
    bytes.as_ptr()
}
